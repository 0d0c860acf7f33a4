#pragma once
// The pass of row_31_packed_operands and row_33_low_tiles, which lays operands across k.

#include "ops/sgemm/rung_even_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// An operand on its way to `to`, where element (line, k) lies at k·ld_to + line. Of its blocks of
// 64 lines by 32 of k, `down` lie behind each other along k. None: it stays where it is.
struct Packing {
  const float* from;
  std::int64_t ld;
  bool along;  // neighbours in memory are neighbours in k
  std::int64_t lines, depth;
  float* to = nullptr;
  std::int64_t ld_to = 0;
  parts::Divisor down;
  unsigned blocks = 0;
};
constexpr int kPackThreads = 256, kPackLines = 64, kPackDepth = 32;

// Lines that ld_to has beyond `lines` become zeros.
__device__ __forceinline__ void pack_block(const Packing& x, unsigned block) {
  __shared__ float tile[kPackLines][kPackDepth + 1];  // padded: lines begin on 32 banks
  constexpr int kWords = kPackLines * kPackDepth / kPackThreads;
  const auto [across, down] = x.down(block);
  const std::int64_t line0 = std::int64_t{across} * kPackLines,
                     k0 = std::int64_t{down} * kPackDepth;
  const auto thread = static_cast<int>(threadIdx.x);
  const int row_length = x.along ? kPackDepth : kPackLines, rows = kPackThreads / row_length;
  float word[kWords];
  WARPLADDER_UNROLL
  for (int i = 0; i < kWords; ++i) {
    const int in_row = thread % row_length, row = thread / row_length + i * rows;
    const std::int64_t line = line0 + (x.along ? row : in_row), k = k0 + (x.along ? in_row : row);
    const bool exists = line < x.lines && k < x.depth;
    word[i] = exists ? x.from[x.along ? line * x.ld + k : k * x.ld + line] : 0.0f;
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kWords; ++i) {
    const int in_row = thread % row_length, row = thread / row_length + i * rows;
    (x.along ? tile[row][in_row] : tile[in_row][row]) = word[i];
  }
  __syncthreads();  // the block is there
  constexpr int kFours = kPackLines / 4;
  const int line = thread % kFours * 4;
  WARPLADDER_UNROLL
  for (int k = thread / kFours; k < kPackDepth; k += kPackThreads / kFours) {
    if (k0 + k >= x.depth || line0 + line >= x.ld_to) continue;
    // Counted in fours: nvcc 13.0 stores the words of a float4 one by one at an address in words.
    const float4 four =
        make_float4(tile[line][k], tile[line + 1][k], tile[line + 2][k], tile[line + 3][k]);
    reinterpret_cast<float4*>(x.to + (k0 + k) * x.ld_to + line0)[line / 4] = four;
  }
}

static __global__ void __launch_bounds__(kPackThreads) pack_operands(Packing a, Packing b) {
  ptx::allow_next_kernel();  // which waits for this one's end, but for its own launch
  if (blockIdx.x < a.blocks) {
    pack_block(a, blockIdx.x);
  } else if (blockIdx.x - a.blocks < b.blocks) {
    pack_block(b, blockIdx.x - a.blocks);
  }
}

// Of all warps.
inline std::uint64_t barriers_of_packing(std::int64_t lines, std::int64_t k) {
  return static_cast<std::uint64_t>(tiles(lines, kPackLines) * tiles(k, kPackDepth)) *
         (kPackThreads / 32);
}

// An operand as it is, or as it shall be packed to `room`, which then begins behind it.
inline Packing packing_of(const float* data, std::int64_t ld, std::int64_t lines, std::int64_t k,
                          bool along, float*& room) {
  const std::int64_t down = tiles(k, kPackDepth);
  Packing x{.from = data,
            .ld = ld,
            .along = along,
            .lines = lines,
            .depth = k,
            .down = parts::Divisor::of(std::max<std::int64_t>(1, down))};
  if (!along && comes_by_fours(data, ld, lines, 0, {})) return x;
  x.to = room;
  x.ld_to = line_of_slice(lines);
  x.blocks = static_cast<unsigned>(down * tiles(lines, kPackLines));
  room += x.ld_to * k;
  return x;
}

// Packs in front of a product what is to be packed. False where there is nothing to do.
inline bool launch_pass(const Packing& a, const Packing& b, runtime::StreamView& stream) {
  const unsigned blocks = a.blocks + b.blocks;
  if (blocks == 0) return false;
  runtime::launch(stream, {dim3(blocks), dim3(kPackThreads)}, pack_operands, a, b);
  return true;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
