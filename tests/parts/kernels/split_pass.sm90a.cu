// parts/split: the pass that writes an operand's lines as float pairs, one operand at a time.

#include "kernels/kernel.hpp"
#include "parts/split.hpp"

namespace warpladder::kernel_tests {
namespace {

// Lines of k elements, along memory or across it, as the blocks of the grid share them out. Across
// memory each cluster of two has 32 lines, or 16 long ones. Along memory a cluster has a line that
// its blocks share. A line's pairs take a whole number of groups of 64.
template <class Pairs>
__device__ __forceinline__ void split_lines(const float* data, unsigned char* pairs, float* factor,
                                            unsigned* loss, int ld, int lines, int k,
                                            bool contiguous) {
  parts::SplitOperand x{data, ld, lines, k, contiguous};
  x.pairs = pairs;
  const std::int64_t depth = parts::padded_depth(k);
  constexpr auto kMedium = parts::SplitShape::medium_lines, kLong = parts::SplitShape::long_lines;
  const bool is_long = parts::split_shape_of(depth) == kLong;
  x.line_bytes = depth * Pairs::kBytes;
  x.span = is_long ? parts::split_span<kLong>(depth, 2) : parts::split_span<kMedium>(depth, 2);
  if (contiguous) x.sharing = parts::blocks_of_contiguous_line(depth);
  x.factor = factor;
  x.loss = reinterpret_cast<parts::StoredLoss*>(loss);
  x.blocks = gridDim.x;
  unsigned char* const shared = runtime::dynamic_shared<unsigned char>();
  parts::BlockSplitSync sync;
  if (contiguous) {
    parts::with_split_shape(depth, [&]<parts::SplitShape shape>() {
      parts::split_contiguous<Pairs, shape>(x, blockIdx.x, ptx::cluster_rank(), shared, sync);
    });
  } else if (is_long) {
    parts::split_strided<Pairs, kLong>(x, blockIdx.x, ptx::cluster_rank(), 2, shared, sync);
  } else {
    parts::split_strided<Pairs, kMedium>(x, blockIdx.x, ptx::cluster_rank(), 2, shared, sync);
  }
}

template <class Pairs>
__global__ void __launch_bounds__(parts::kSplitThreads)
    split_along_memory(const float* data, unsigned char* pairs, float* factor, unsigned* loss,
                       int ld, int lines, int k) {
  split_lines<Pairs>(data, pairs, factor, loss, ld, lines, k, true);
}
template <class Pairs>
__global__ void __launch_bounds__(parts::kSplitThreads)
    split_across_memory(const float* data, unsigned char* pairs, float* factor, unsigned* loss,
                        int ld, int lines, int k) {
  split_lines<Pairs>(data, pairs, factor, loss, ld, lines, k, false);
}
WARPLADDER_TEST_KERNEL(split_along_memory<parts::HalfPairs>);
WARPLADDER_TEST_KERNEL(split_along_memory<parts::Tf32Pairs>);
WARPLADDER_TEST_KERNEL(split_along_memory<parts::Tf32Once>);
WARPLADDER_TEST_KERNEL(split_along_memory<parts::HalfOnce>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::HalfPairs>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::Tf32Pairs>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::Tf32Once>);
WARPLADDER_TEST_KERNEL(split_across_memory<parts::HalfOnce>);

// What a product makes of the losses of A's blocks and, behind them, of B's. `contiguous`: 1 for A,
// 2 for B.
__global__ void halves_fit(unsigned* loss, unsigned* answer, int a_blocks, int b_blocks, int k,
                           int contiguous) {
  __shared__ parts::PrecisionLoss most[2];
  parts::SplitOperand a{}, b{};
  a.k = b.k = k;
  a.contiguous = contiguous & 1, b.contiguous = contiguous & 2;
  a.loss = reinterpret_cast<parts::StoredLoss*>(loss);
  b.loss = a.loss + a_blocks;
  a.blocks = static_cast<unsigned>(a_blocks);
  b.blocks = static_cast<unsigned>(b_blocks);
  if (threadIdx.x < 2) most[threadIdx.x] = {};
  __syncthreads();  // zeros are there
  parts::gather_losses<128>(a, b, threadIdx.x, most);
  __syncthreads();  // all warps' most are there
  answer[threadIdx.x] = parts::fits_half_pairs(a, b, most) ? 1 : 0;
}
WARPLADDER_TEST_KERNEL(halves_fit);

}  // namespace
}  // namespace warpladder::kernel_tests
