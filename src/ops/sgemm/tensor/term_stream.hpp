#pragma once
// The products of a batch as one stream of rounds (rung_streamed.hpp), multiplied in three bfloat16
// terms (term_tiles.hpp). X are B's columns and Y A's rows, so that a lane's sums of neighbouring
// columns are neighbours in C.

#include "ops/sgemm/rung_streamed.hpp"
#include "ops/sgemm/tensor/term_part.hpp"
#include "ops/sgemm/tensor/term_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The producers copy and split round after round of tile after tile.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void produce_stream(TermShared<C>& shared, const StreamedGemm& s,
                                               DealtTile at) {
  using CopierX = CopierOf<C, C::tile_x, kXAlong, true, false>;
  using CopierY = CopierOf<C, C::tile_y, kYAlong, false, false>;
  const Gemm& g = s.gemm;
  LineOperand x{nullptr, g.ldb, g.n, false}, y{nullptr, g.lda, g.m, false};
  CopierX copier_x(x, 0, 0);
  CopierY copier_y(y, 0, 0);
  int round = s.rounds;
  const auto copy_next = [&](float* to_x, float* to_y) {
    if (round == s.rounds) {
      const ProductOperands operands = operands_of(g, s.batch, at.product);
      const TileOrigin tile = origin_of<C::tile_y, C::tile_x>(s, at);
      x.data = operands.b;
      y.data = operands.a;
      x.vectors = width_of(x.data, s.width_b) == 4;
      y.vectors = width_of(y.data, s.width_a) == 4;
      copier_x = CopierX(x, tile.column, 0);
      copier_y = CopierY(y, tile.row, 0);
      at.advance(s.tiles);
      round = 0;
    }
    const std::int64_t left = g.k - std::int64_t{round++} * C::depth;
    const int depths = left < C::depth ? static_cast<int>(left) : C::depth;
    copier_x.copy_next(to_x, x, depths);
    copier_y.copy_next(to_y, y, depths);
    return row_shifts(x.data, x.ld).first;
  };
  const std::int64_t tiles = s.own_tiles + (blockIdx.x < s.more ? 1 : 0);
  produce_terms<C, kXAlong>(shared, tiles * s.rounds, s.rounds, shift_step(x.ld), copy_next);
}

// A consumer's part of a tile of C: two rows of a lane, neighbours. Of each row it has the pairs of
// neighbours that lie 8 columns apart. Bit j of `pairs` stands for pair j of the first row; the
// second row's follow.
template <class C>
struct LanePart {
  static constexpr int count = C::tile_x / 8;
  float* c;
  std::int64_t rows, columns;  // from the lane's first ones on
  unsigned pairs, wrong;       // those within C, and those that are to be multiplied again
};

// The right pairs: at once (kTwo), where all lie at multiples of 8 bytes, or word by word.
template <class C, bool kTwo, bool kAdds>
__device__ WARPLADDER_INLINE_ON_GPU void store_pairs(const LanePart<C>& part, const Gemm& g,
                                                     const float (&sum)[C::tile_x / 2]) {
  constexpr int kPairs = LanePart<C>::count;
  const unsigned right = part.pairs & ~part.wrong;
  WARPLADDER_UNROLL_ON_GPU
  for (int h = 0; h < 2; ++h) {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < kPairs; ++j) {
      if ((right >> (kPairs * h + j) & 1) == 0) continue;
      float* const to = part.c + h * g.ldc + 8 * j;
      const float first = g.alpha * sum[4 * j + 2 * h], second = g.alpha * sum[4 * j + 2 * h + 1];
      if constexpr (kTwo) {
        auto* const two = reinterpret_cast<float2*>(to);
        const float2 old = kAdds ? *two : make_float2(0, 0);
        *two = kAdds ? make_float2(first + g.beta * old.x, second + g.beta * old.y)
                     : make_float2(first, second);
      } else {
        *to = kAdds ? first + g.beta * *to : first;
        if (8 * j + 1 < part.columns) to[1] = kAdds ? second + g.beta * to[1] : second;
      }
    }
  }
}

// Calls put(column, sum) for each wrong sum of the lane's row h, which is multiplied again.
template <class C, class Put>
__device__ __forceinline__ void multiply_wrong(const LanePart<C>& part, const TermPart& x,
                                               const TermPart& y, int h, const Put& put) {
  constexpr int kPairs = LanePart<C>::count;
  unsigned wrong = part.wrong >> kPairs * h & ((1u << kPairs) - 1);
  WARPLADDER_NO_UNROLL
  for (int column = 0; wrong != 0; column += 8, wrong >>= 1) {
    if (wrong % 2 == 0) continue;
    for (int i = 0; i < 2 && column + i < part.columns; ++i) {
      put(column + i, multiply_again(x, y, column + i, h));
    }
  }
}

// Which of a lane's pairs are not what the terms' products are.
template <int kPairs>
__device__ WARPLADDER_INLINE_ON_GPU unsigned wrong_pairs(const float (&sum)[4 * kPairs],
                                                         float least) {
  bool all = true;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4 * kPairs; ++i) all = is_right(sum[i], 0.0f) && all;
  if (all && least == 0.0f) return 0;
  unsigned wrong = 0;
  WARPLADDER_UNROLL_ON_GPU
  for (int pair = 0; pair < 2 * kPairs; ++pair) {
    const int at = pair % kPairs * 4 + pair / kPairs * 2;
    if (!is_right(sum[at], least) || !is_right(sum[at + 1], least)) wrong |= 1u << pair;
  }
  return wrong;
}

template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void store_rows(TermRows<C>& staged, const LanePart<C>& part,
                                                    const Gemm& g,
                                                    const float (&sum)[C::tile_x / 2],
                                                    const TermPart& x, const TermPart& y) {
  const int lane = threadIdx.x % 32, own = lane / 4, place = lane % 4 * 2;
  const auto within = [](std::int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  };
  const int rows = within(part.rows + 2 * own, 16),
            columns = within(part.columns + place, C::tile_x);
  WARPLADDER_UNROLL_ON_GPU
  for (int h = 0; h < 2; ++h) {
    float* const to = staged.row[own] + place;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < LanePart<C>::count; ++j) {
      *reinterpret_cast<float2*>(to + 8 * j) =
          make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
    }
    multiply_wrong<C>(part, x, y, h, [&](int column, float right) { to[column] = right; });
    __syncwarp();  // the rows are laid down
    float* const c = part.c + (h - 2 * own) * g.ldc - place + lane;
    WARPLADDER_UNROLL_BY(4)
    for (int r = 0; r < TermRows<C>::count; ++r) {
      const int row = 2 * r + h;
      WARPLADDER_UNROLL_ON_GPU
      for (int column = 0; column < C::tile_x; column += 32) {
        if (row < rows && column + lane < columns) {
          store_scaled(c + 2 * r * g.ldc + column, g.alpha, staged.row[r][column + lane], g.beta);
        }
      }
    }
    __syncwarp();  // and have been read
  }
}

template <class C>
struct TermStreamShared {
  TermShared<C> tiles;
  TermRows<C> staged[C::has_room ? C::warps : 1];
};

// A consumer's sums of a tile. `lost`: what its warp's terms of Y have.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void store_terms(TermStreamShared<C>& shared, const StreamedGemm& s,
                                            const DealtTile& at, const float (&sum)[C::tile_x / 2],
                                            unsigned lost) {
  constexpr int kPairs = LanePart<C>::count;
  const Gemm& g = s.gemm;
  const ProductOperands operands = operands_of(g, s.batch, at.product);
  const TileOrigin tile = origin_of<C::tile_y, C::tile_x>(s, at);
  const std::int64_t row = tile.row + fragment_line(), column = tile.column + threadIdx.x % 4 * 2,
                     rows = g.m - row, columns = g.n - column;
  const TermPart x = part_of_lines(operands.b, g.ldb, kXAlong, column, columns, 0, g.k),
                 y = part_of_lines(operands.a, g.lda, kYAlong, row, rows, 0, g.k);
  bool lossy = __any_sync(0xffffffffu, parts::has_lost(lost));
  WARPLADDER_UNROLL_ON_GPU
  for (int warp = C::warps; warp < C::threads / 32; ++warp) {
    lossy |= shared.tiles.lost[warp] != 0;
  }
  const float least = lossy ? least_exact<C>(x, y) : 0.0f;
  const unsigned there = columns <= 0              ? 0
                         : columns > C::tile_x - 8 ? (1u << kPairs) - 1
                                                   : (1u << (columns + 7) / 8) - 1,
                 pairs = rows <= 0   ? 0
                         : rows == 1 ? there
                                     : there | there << kPairs;
  float* const c = operands.c + row * g.ldc + column;
  const LanePart<C> part{c, rows, columns, pairs, wrong_pairs<kPairs>(sum, least) & pairs};
  constexpr int kFew = 16;  // columns, which rows do not pay for
  const bool two = g.n % 2 == 0 && width_of(operands.c, s.width_c) >= 2;
  if constexpr (C::has_room) {
    if (!two && g.n - tile.column > kFew) {
      store_rows<C>(shared.staged[threadIdx.x / 32], part, g, sum, x, y);
      return;
    }
  }
  if (g.beta == 0.0f) {
    two ? store_pairs<C, true, false>(part, g, sum) : store_pairs<C, false, false>(part, g, sum);
  } else {
    two ? store_pairs<C, true, true>(part, g, sum) : store_pairs<C, false, true>(part, g, sum);
  }
  for (int h = 0; h < 2; ++h) {
    multiply_wrong<C>(part, x, y, h, [&](int at_column, float right) {
      store_scaled(&c[h * g.ldc + at_column], g.alpha, right, g.beta);
    });
  }
}

// Of a product's Y.
template <class C>
__device__ __forceinline__ RowShifts shifts_of_y(const StreamedGemm& s, std::int64_t product) {
  if constexpr (!C::shifted) return {};
  return row_shifts(operands_of(s.gemm, s.batch, product).a, s.gemm.lda);
}

template <class C, bool kXAlong, bool kYAlong>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_term_stream(StreamedGemm s) {
  auto& all = *runtime::dynamic_shared<TermStreamShared<C>>();
  TermShared<C>& shared = all.tiles;
  shared.init();
  shared.clear(C::shifted || (s.gemm.n % C::tile_x == 0 && s.gemm.m % C::tile_y == 0));
  __syncthreads();  // the barriers are there
  DealtTile at(s.tiles, blockIdx.x);
  if (threadIdx.x >= C::consumers) {
    ptx::give_registers<C::producer_registers>();
    produce_stream<C, kXAlong, kYAlong>(shared, s, at);
    return;
  }
  ptx::take_registers<C::consumer_registers>();
  TermsRead<C> read;
  unsigned lost = 0;
  for (; at.product < s.batch.count; at.advance(s.tiles)) {
    TermSums<C> sums;
    add_terms<C, kYAlong>(sums, shared, read, s.rounds, lost, shifts_of_y<C>(s, at.product));
    sums.join_all();
    store_terms<C, kXAlong, kYAlong>(all, s, at, sums.first, lost);
  }
}

template <class C>
void launch_term_stream(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                        runtime::StreamView& stream) {
  const auto [gemm, ctas] = stream_of<C>(g, batch, C::tile_y, C::tile_x, *stream.machine);
  const runtime::LaunchShape shape{dim3(ctas), dim3(C::threads), sizeof(TermStreamShared<C>)};
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply_term_stream<C, !kBRows, kARows>, gemm);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
