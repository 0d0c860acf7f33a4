// parts/shares: division by multiplication, and even parts.

#include "kernels/kernel.hpp"
#include "parts/shares.hpp"

namespace warpladder::kernel_tests {
namespace {

// Block i divides by divisors[i]; of each number quotient and remainder.
__global__ void divide(const std::int64_t* divisors, const unsigned* numbers, int count,
                       unsigned* divided) {
  const parts::Divisor by = parts::Divisor::of(divisors[blockIdx.x]);
  divided += std::int64_t{2} * count * blockIdx.x;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const auto [quotient, remainder] = by(numbers[i]);
    divided[2 * i] = quotient;
    divided[2 * i + 1] = remainder;
  }
}
WARPLADDER_TEST_KERNEL(divide);

// Block i cuts i pieces into each number of parts; first(part) of all of them.
__global__ void cut(int most, int* first) {
  const auto pieces = static_cast<int>(blockIdx.x);
  for (int count = 1 + static_cast<int>(threadIdx.x); count <= most;
       count += static_cast<int>(blockDim.x)) {
    const parts::EvenParts even = parts::EvenParts::of(pieces, count);
    for (int part = 0; part <= count; ++part) {
      first[(pieces * (most + 1) + count) * (most + 1) + part] = even.first(part);
    }
  }
}
WARPLADDER_TEST_KERNEL(cut);

}  // namespace
}  // namespace warpladder::kernel_tests
