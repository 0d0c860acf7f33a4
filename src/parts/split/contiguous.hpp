#pragma once
// Splits lines that lie along memory.

#include "parts/split/loss.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

struct SplitContiguousShared {
  alignas(16) float piece_of_warp[kSplitWarps][kSplitPiece];
  Range range_of_warp[kSplitWarps];
  unsigned loss_of_warp[2 * kSplitWarps];
};

// Lines along memory: a lane has eight neighbours, a warp a piece of 256, one to eight warps a
// line.
template <class Pairs, SplitShape shape, class Sync>
__device__ __forceinline__ void split_contiguous(const SplitOperand& x, unsigned block,
                                                 void* shared, Sync& sync) {
  if (sync.skips) {
    if (threadIdx.x == 0) sync.record(x, block, PrecisionLoss());
    return;
  }
  constexpr int kPieces = SplitTraits<shape>::pieces;
  auto& s = *static_cast<SplitContiguousShared*>(shared);
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            warps_log2 = warps_of_line_log2<shape>(depth), warps = 1 << warps_log2,
            of_line = warp & (warps - 1);
  const int pieces = static_cast<int>((depth + kSplitPiece - 1) / kSplitPiece),
            whole = static_cast<int>(x.k / kSplitPiece);
  const std::int64_t line = (std::int64_t{block} * kSplitWarps + warp) >> warps_log2;
  const int direct = x.in_vectors() ? whole : 0;  // whole pieces whose addresses allow it
  const bool here = line < x.lines;
  const float* const from = x.data + (here ? line : x.lines - 1) * x.ld;
  float v[kPieces][8];
  const int own_first = Pairs::element(lane, 0);  // and from the fifth on kApart float4 behind
  constexpr int kApart = Pairs::element(0, 4) / 4;

  // A lane loads its own neighbours directly; else what makes a warp's loads neighbours, and
  // own_neighbours() hands them over.
  const auto load_words = [&](int piece, float(&words)[8]) {
    const std::int64_t k0 = std::int64_t{piece} * kSplitPiece;
    const int left = piece < whole ? kSplitPiece : static_cast<int>(x.k - k0);
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) {
      words[i] = i * 32 + lane < left ? load_once<shape>(from + k0 + i * 32 + lane) : 0.0f;
    }
  };
  const auto load = [&](int first) {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      const int piece = first + p * warps;
      if (piece >= pieces) break;
      if (piece < direct) {
        const std::int64_t k0 = std::int64_t{piece} * kSplitPiece;
        const auto* const quads = reinterpret_cast<const float4*>(from + k0 + own_first);
        const float4 left = load_once<shape>(quads), right = load_once<shape>(quads + kApart);
        v[p][0] = left.x, v[p][1] = left.y, v[p][2] = left.z, v[p][3] = left.w;
        v[p][4] = right.x, v[p][5] = right.y, v[p][6] = right.z, v[p][7] = right.w;
      } else {
        load_words(piece, v[p]);
      }
    }
  };
  const auto own_neighbours = [&](int piece, float(&own)[8]) {
    if (piece < direct) return;
    float* const exchange = s.piece_of_warp[warp];
    __syncwarp();  // nobody reads the piece before any more
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) exchange[i * 32 + lane] = own[i];
    __syncwarp();  // the piece is there
    const auto* const quads = reinterpret_cast<const float4*>(exchange + own_first);
    const float4 left = quads[0], right = quads[kApart];
    own[0] = left.x, own[1] = left.y, own[2] = left.z, own[3] = left.w;
    own[4] = right.x, own[5] = right.y, own[6] = right.z, own[7] = right.w;
  };
  const int step = kPieces * warps;
  Range range;
  for (int first = of_line; first < pieces; first += step) {
    load(first);
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      if (first + p * warps >= pieces) break;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 8; ++i) range.template add_element<Pairs>(v[p][i]);
    }
  }
  range.template add_of_warp<Pairs>();
  if constexpr (shape != SplitShape::short_lines) {  // of those a warp has a whole line
    if (lane == 0) s.range_of_warp[warp] = range;
    sync();  // each warp's range is there before they are joined
    for (int w = 0; w < warps; ++w) range.add(s.range_of_warp[warp - of_line + w]);
  }

  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (here && lane == 0 && of_line == 0) x.factor[line] = factor_of(Pairs(), range, exponent);
  PrecisionLoss loss = loss_of_line(here, range.largest);
  unsigned char* const to = x.pairs + line * x.line_bytes;
  const bool counts = Pairs::kCounted && here && range.largest != 0;
  bool closer = false;  // whether there is a piece of which a quick does not tell all
  for (int first = of_line; first < pieces; first += step) {
    if (pieces > step) load(first);
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      const int piece = first + p * warps;
      if (piece >= pieces) break;
      const std::int64_t k = std::int64_t{piece} * kSplitPiece + lane * 8;
      own_neighbours(piece, v[p]);
      float scaled[8];
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 8; ++i) scaled[i] = v[p][i] * scale;
      unsigned hi[4] = {};
      if (here && k < depth) Pairs::write8(to, k, scaled, hi);
      if (!counts || piece >= whole) continue;
      QuickCount quick;
      quick.add(hi);
      closer |= __any_sync(0xffffffffu, quick.may_be_small());
      include_whole<kSplitPiece>(loss, 0, __reduce_add_sync(0xffffffffu, quick.large));
    }
  }
  if (counts) {
    // Then, and where the line ends, pieces are loaded once more: code that counts in the registers
    // of each would be long.
    WARPLADDER_NO_UNROLL
    for (int piece = of_line; piece < pieces; piece += warps) {
      const std::int64_t left = x.k - std::int64_t{piece} * kSplitPiece;
      if ((piece < whole && !closer) || left <= 0) continue;
      float words[8];
      load_words(piece, words);
      LossCount count;
      count.add(words, range.largest);
      count.small = __reduce_add_sync(0xffffffffu, count.small);
      count.large = __reduce_add_sync(0xffffffffu, count.large);
      if (piece < whole) {
        include_whole<kSplitPiece>(loss, count.small, kSplitPiece);
      } else {
        include_rest<kSplitPiece>(loss, count, x.k, static_cast<int>(left));
      }
    }
  }
  record_loss<Pairs>(x, block, loss, s.loss_of_warp, sync);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
