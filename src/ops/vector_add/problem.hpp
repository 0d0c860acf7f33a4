#pragma once
// c[i] = a[i] + b[i] for i in 0 … n-1, fp32. The smallest operator: it has nothing but the
// parts that every operator has.

#include <cstdint>

namespace warpladder::vector_add {

struct Call {
  std::int64_t n = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

}  // namespace warpladder::vector_add
