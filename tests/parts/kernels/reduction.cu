// parts/reduction: a place among the elements of a line, in words for short and for long lines.

#include "kernels/kernel.hpp"
#include "parts/reduction.hpp"

namespace warpladder::kernel_tests {
namespace {

// The place of `count` values whose first has the index `from`, by one block and more. Each block
// publishes that of its 64, the last one collects.
template <class F>
__global__ void find_place(const float* in, std::uint64_t* flags, std::int64_t* place,
                           std::int64_t from, int count) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const bool collects = blockIdx.x == gridDim.x - 1;
  auto v = F::none();
  if (collects) {
    v = parts::collect<F, 2>(flags, parts::kWordsOf<F>, threadIdx.x, 64,
                             static_cast<int>(gridDim.x) - 1);
  } else if (i < count) {
    v = F::of(in[i], from + i);
  }
  v = parts::block_reduce<F, 64>(v);
  if (threadIdx.x != 0) return;
  if (collects) {
    *place = v.index();
  } else {
    parts::publish(&flags[parts::kWordsOf<F> * blockIdx.x], v);
  }
}
WARPLADDER_TEST_KERNEL(find_place<parts::Place<true, std::uint64_t>>);
WARPLADDER_TEST_KERNEL(find_place<parts::Place<true, parts::WideWord>>);
WARPLADDER_TEST_KERNEL(find_place<parts::Place<false, std::uint64_t>>);
WARPLADDER_TEST_KERNEL(find_place<parts::Place<false, parts::WideWord>>);

}  // namespace
}  // namespace warpladder::kernel_tests
