// parts/split: the pass that writes an operand's lines as float pairs, one operand at a time.

#include "device/kernels/kernel.hpp"
#include "parts/split.hpp"

namespace warpladder::device_tests {
namespace {

// Lines of k elements, along memory or across it, as the blocks of the grid share them out; across
// memory each cluster of two has 32 lines. A line's pairs take a whole number of groups of 64.
template <class Pairs>
__device__ __forceinline__ void split_lines(const float* data, unsigned char* pairs, float* factor,
                                            unsigned* spread, int ld, int lines, int k,
                                            bool along) {
  parts::SplitOperand x{data, ld, lines, k, along};
  x.pairs = pairs;
  const std::int64_t depth = parts::padded_depth(k);
  constexpr auto kMedium = parts::LineLength::medium;
  x.line_bytes = depth * Pairs::kBytes;
  x.span = parts::split_span<kMedium>(depth, 2);
  x.factor = factor;
  x.spread = reinterpret_cast<parts::Spread*>(spread);
  x.blocks = gridDim.x;
  unsigned char* const shared = runtime::dynamic_shared<unsigned char>();
  parts::BlockCrew crew;
  if (along) {
    parts::with_length(depth, [&]<parts::LineLength length>() {
      parts::split_along<Pairs, length>(x, blockIdx.x, shared, crew);
    });
  } else {
    parts::split_across<Pairs, kMedium>(x, blockIdx.x, ptx::cluster_rank(), 2, shared, crew);
  }
}

template <class Pairs>
__global__ void __launch_bounds__(parts::kSplitThreads)
    split_along_memory(const float* data, unsigned char* pairs, float* factor, unsigned* spread,
                       int ld, int lines, int k) {
  split_lines<Pairs>(data, pairs, factor, spread, ld, lines, k, true);
}
template <class Pairs>
__global__ void __launch_bounds__(parts::kSplitThreads)
    split_across_memory(const float* data, unsigned char* pairs, float* factor, unsigned* spread,
                        int ld, int lines, int k) {
  split_lines<Pairs>(data, pairs, factor, spread, ld, lines, k, false);
}
WARPLADDER_TEST_KERNEL(split_along_memory<parts::HalfPairs>);
WARPLADDER_TEST_KERNEL(split_along_memory<parts::Tf32Pairs>);
WARPLADDER_TEST_KERNEL(split_along_memory<parts::Tf32Once>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::HalfPairs>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::Tf32Pairs>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::Tf32Once>);

// What a product makes of the spreads of A's blocks and, behind them, of B's.
__global__ void halves_fit(unsigned* spread, unsigned* answer, int a_blocks, int b_blocks) {
  __shared__ unsigned most[4];
  parts::SplitOperand a{}, b{};
  a.spread = reinterpret_cast<parts::Spread*>(spread);
  b.spread = a.spread + a_blocks;
  a.blocks = static_cast<unsigned>(a_blocks);
  b.blocks = static_cast<unsigned>(b_blocks);
  if (threadIdx.x < 4) most[threadIdx.x] = 0;
  __syncthreads();  // zeros are there
  parts::gather_spreads<128>(a, b, threadIdx.x, most);
  __syncthreads();  // all warps' most are there
  answer[threadIdx.x] = parts::fits_half_pairs(most) ? 1 : 0;
}
WARPLADDER_TEST_KERNEL(halves_fit);

}  // namespace
}  // namespace warpladder::device_tests
