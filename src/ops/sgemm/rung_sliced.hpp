#pragma once
// Tiles of C whose sums along k are parted: among the warps of a CTA, and among CTAs, the slices.
// Operands pass through a ring of stages in shared memory, brought there by asynchronous copies.
//
// Both operands are seen as lines of length k: A's rows and B's columns. X's are those of which
// there are fewer, Y's the others.

#include "ops/sgemm/join_slices.hpp"
#include "ops/sgemm/place_along.hpp"
#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/slices.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/shares.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Element (line, k) lies at line·ld + k where lines lie along k in memory, else at k·ld + line.
// vectors: four neighbours in memory may be copied at once.
struct LineOperand {
  const float* data;
  std::int64_t ld, lines;
  bool vectors;
};

// C's element (x, y) lies at x·c_x + y·c_y. Slices write their sums to `partial`, a compact C for
// each, where element (x, y) lies at x·partial_x + y·partial_y.
struct SlicedGemm {
  LineOperand x, y;
  std::int64_t k;
  float alpha, beta;
  float* c;
  std::int64_t c_x, c_y;
  float* partial;
  std::int64_t partial_x, partial_y;
  parts::Divisor tiles_x, tiles_y;
  int slices, rounds;
  parts::EvenParts of_rounds;  // a slice each
  bool x_in_lines;  // C's neighbours along x are neighbours in memory, else those along y
};

// What a CTA computes: tile (x0, y0), of the rounds from `first` to `end`. In a round each warp
// group of the CTA multiplies C::depth of k.
struct SlicedTile {
  std::int64_t x0, y0;
  int first, end, slice;
};
template <class C>
__device__ __forceinline__ SlicedTile sliced_tile(const SlicedGemm& g, unsigned block) {
  const auto [tile, x] = g.tiles_x(block);
  const auto [of_c, y] = g.tiles_y(tile);
  const auto slice = static_cast<int>(of_c);
  return {std::int64_t{x} * C::tile_x, std::int64_t{y} * C::tile_y, g.of_rounds.first(slice),
          g.of_rounds.first(slice + 1), slice};
}

// kThreads threads copy kDepth of k of kLines lines to where Places says: of `lines`, what lies
// within `depths` of k, and zeros beyond. Lines that do not exist become zeros too (kZeros), or
// keep what they held.
//
// A thread's rows are `first` and multiples of kStep, which share no bit, and a row's bits go into
// its place by XOR alone. So the place of their sum is the XOR of their places, and the compiler
// knows the second one.
template <class Places, int kLines, int kDepth, int kThreads, bool kAlong, bool kZeros>
struct PieceCopier {
  static constexpr int row_length = kAlong ? kDepth : kLines, rows = kAlong ? kLines : kDepth;

  // kWidth neighbours a copy. kWhole: all of the tile lies within `lines` and `depths`.
  template <int kWidth, bool kWhole = false>
  __device__ __forceinline__ static void copy(float* to, const float* from, std::int64_t ld,
                                              int lines, int depths) {
    constexpr int kAtOnce = kThreads * kWidth,
                  kStep = kAtOnce > row_length ? kAtOnce / row_length : 1,
                  kParts = row_length > kAtOnce ? row_length / kAtOnce : 1,
                  kSteps = rows > kStep ? rows / kStep : 1;
    static_assert(row_length % kAtOnce == 0 || kAtOnce % row_length == 0);
    const int thread = static_cast<int>(threadIdx.x) % kThreads,
              first = thread * kWidth / row_length, column0 = thread * kWidth % row_length,
              left = (kAlong ? lines : depths) - first,
              steps = kWhole || left > kStep * (kSteps - 1) ? kSteps : (left + kStep - 1) / kStep;
    if (kStep > rows && first >= rows) return;
    WARPLADDER_UNROLL_ON_GPU
    for (int part = 0; part < kParts; ++part) {
      const int column = column0 + part * kAtOnce, columns = (kAlong ? depths : lines) - column,
                bytes = kWhole ? 4 * kWidth : 4 * max(0, min(kWidth, columns));
      if (!kZeros && !kAlong && columns <= 0) return;
      copy_rows<kWidth, kStep, kSteps>(to, from + first * ld + column, kStep * ld,
                                       Places::at(first, column / 4), column % 4, bytes, steps);
    }
  }

 private:
  // A thread's `steps` rows, of kSteps. The others become zeros: lines only if kZeros. A choice for
  // each copy takes an instruction more of it, but fewer in all where there are few copies.
  template <int kWidth, int kStep, int kSteps>
  __device__ __forceinline__ static void copy_rows(float* to, const float* line, std::int64_t next,
                                                   int own, int behind, int bytes, int steps) {
    constexpr int kUnrolled = kSteps < 8 ? kSteps : 8;
    to += behind;
    int i = 0;
    WARPLADDER_NO_UNROLL
    for (; i + kUnrolled <= (kZeros ? kSteps : steps); i += kUnrolled) {
      const int place = own ^ Places::at(i * kStep, 0);
      WARPLADDER_UNROLL_ON_GPU
      for (int u = 0; u < kUnrolled; ++u, line += next) {
        ptx::cp_async<4 * kWidth>(to + (place ^ Places::at(u * kStep, 0)), line,
                                  kZeros && i + u >= steps ? 0 : bytes);
      }
    }
    if constexpr (!kZeros) {
      WARPLADDER_NO_UNROLL
      for (; i < (kAlong ? steps : kSteps); ++i, line += next) {
        ptx::cp_async<4 * kWidth>(to + (own ^ Places::at(i * kStep, 0)), line,
                                  i < steps ? bytes : 0);
      }
    }
  }
};

template <int kLines, int kDepth, bool kAlong>
struct SlicedPlaces {
  __device__ __forceinline__ static int at(int row, int piece) {
    return kAlong ? place_along<kDepth>(row, piece) : row * kLines + piece * 4;
  }
};

// The threads copy k0 … k0 + kDepth - 1 of kLines lines from line0 on. Zeros are laid down from
// k_end on, and where there is no line.
template <int kLines, int kDepth, int kThreads, bool kAlong>
__device__ __forceinline__ void copy_lines(float* to, const LineOperand& x, std::int64_t line0,
                                           std::int64_t k0, std::int64_t k_end) {
  using Copier =
      PieceCopier<SlicedPlaces<kLines, kDepth, kAlong>, kLines, kDepth, kThreads, kAlong, true>;
  const auto within = [](std::int64_t left, int most) {
    return left < 0 ? 0 : left < most ? static_cast<int>(left) : most;
  };
  const int lines = within(x.lines - line0, kLines), depths = within(k_end - k0, kDepth);
  const float* const from = x.data + (kAlong ? line0 * x.ld + k0 : k0 * x.ld + line0);
  x.vectors ? Copier::template copy<4>(to, from, x.ld, lines, depths)
            : Copier::template copy<1>(to, from, x.ld, lines, depths);
}

// Which line of its warp's tile is `lane`'s number i: neighbouring lanes have neighbouring lines,
// or neighbouring fours of them.
template <int kLanes, bool kAlong>
__device__ __forceinline__ int line_of(int lane, int i) {
  return kAlong ? i * kLanes + lane : i / 4 * (4 * kLanes) + 4 * lane + i % 4;
}

// A lane's lines of a tile, at step·4 … step·4 + 3 of its depth. `first`: of the warp's. Lines
// along k are dealt singly.
template <int kLines, int kDepth, int kLanes, bool kAlong, bool kSingly, int kCount>
__device__ __forceinline__ void load_lines(float (&part)[4][kCount], const float* tile, int first,
                                           int lane, int step) {
  static_assert(kSingly || !kAlong);
  if constexpr (kAlong) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      float four[4];
      parts::load4(four, tile + place_along<kDepth>(first + line_of<kLanes, true>(lane, i), step));
      WARPLADDER_UNROLL
      for (int k = 0; k < 4; ++k) part[k][i] = four[k];
    }
  } else {
    WARPLADDER_UNROLL
    for (int k = 0; k < 4; ++k) {
      const float* const from = tile + (4 * step + k) * kLines + first;
      WARPLADDER_UNROLL
      for (int i = 0; i < kCount; i += kSingly ? 1 : 4) {
        const float* const at = from + line_of<kLanes, kSingly>(lane, i);
        if constexpr (kSingly) {
          part[k][i] = *at;
        } else {
          parts::load4(&part[k][i], at);
        }
      }
    }
  }
}

// Where a thread stands: its lane within the warp's tile, and the warp within the CTA's.
template <class C>
struct SlicedPlace {
  int lane_x, lane_y, first_x, first_y, group;
  __device__ __forceinline__ SlicedPlace() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, in_group = warp % C::group_warps;
    lane_x = lane / C::lanes_y;
    lane_y = lane % C::lanes_y;
    first_x = in_group / C::warps_y * (C::lanes_x * C::lane_x);
    first_y = in_group % C::warps_y * (C::lanes_y * C::lane_y);
    group = warp / C::group_warps;
  }
};

// Adds up four of k apart, then to the sums: an addition more, and the long sum is rounded a
// quarter as often. For tiles that wait for memory.
template <int kLaneX, int kLaneY>
__device__ __forceinline__ void add_parts(float (&sum)[kLaneX][kLaneY], const float (&x)[4][kLaneX],
                                          const float (&y)[4][kLaneY]) {
  WARPLADDER_UNROLL
  for (int i = 0; i < kLaneX; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < kLaneY; ++j) {
      float part = 0;
      WARPLADDER_UNROLL
      for (int k = 0; k < 4; ++k) part += x[k][i] * y[k][j];
      sum[i][j] += part;
    }
  }
}

// Every other row is gone through backwards, which spares the register banks
// (row_07_register_parity).
template <int kLaneX, int kLaneY>
__device__ __forceinline__ void add_turning(float (&sum)[kLaneX][kLaneY],
                                            const float (&x)[4][kLaneX],
                                            const float (&y)[4][kLaneY]) {
  WARPLADDER_UNROLL_ON_GPU
  for (int k = 0; k < 4; ++k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kLaneX; ++i) {
      WARPLADDER_UNROLL
      for (int turn = 0; turn < kLaneY; ++turn) {
        const int j = i % 2 ? kLaneY - 1 - turn : turn;
        sum[i][j] += x[k][i] * y[k][j];
      }
    }
  }
}

// Adds up four of k.
template <class C, bool kXAlong, bool kYAlong, bool kYSingly>
__device__ __forceinline__ void multiply_step(float (&sum)[C::lane_x][C::lane_y],
                                              const float* x_tile, const float* y_tile,
                                              const SlicedPlace<C>& at, int step) {
  float x[4][C::lane_x], y[4][C::lane_y];
  load_lines<C::tile_x, C::depth, C::lanes_x, kXAlong, kXAlong>(x, x_tile, at.first_x, at.lane_x,
                                                                step);
  load_lines<C::tile_y, C::depth, C::lanes_y, kYAlong, kYSingly>(y, y_tile, at.first_y, at.lane_y,
                                                                 step);
  C::lanes_x == 1 ? add_parts(sum, x, y) : add_turning(sum, x, y);
}

// Each warp group has a ring of its own: no warp waits for another group's.
template <class C>
struct SlicedStage {
  float x[C::tile_x * C::depth], y[C::tile_y * C::depth];
};
template <class C>
union SlicedShared {
  static constexpr int pitch = C::tile_y + 4;
  SlicedStage<C> ring[C::groups][C::stages];
  float sums[C::groups][C::tile_x][pitch];  // once all is multiplied
};

template <class C>
__device__ __forceinline__ void sync_group() {
  if constexpr (C::group_warps == 1) {
    __syncwarp();
  } else {
    __syncthreads();  // all groups walk through as many rounds
  }
}

template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void add_slice(float (&sum)[C::lane_x][C::lane_y],
                                          SlicedShared<C>& shared, const SlicedGemm& g,
                                          const SlicedTile& tile, const SlicedPlace<C>& at) {
  constexpr int kThreads = 32 * C::group_warps;
  const auto copy = [&](int round) {
    if (round < tile.end) {
      SlicedStage<C>& stage = shared.ring[at.group][(round - tile.first) % C::stages];
      const std::int64_t k = (std::int64_t{round} * C::groups + at.group) * C::depth;
      copy_lines<C::tile_x, C::depth, kThreads, kXAlong>(stage.x, g.x, tile.x0, k, g.k);
      copy_lines<C::tile_y, C::depth, kThreads, kYAlong>(stage.y, g.y, tile.y0, k, g.k);
    }
    ptx::cp_async_commit();
  };
  WARPLADDER_UNROLL
  for (int ahead = 0; ahead < C::stages - 1; ++ahead) copy(tile.first + ahead);
  WARPLADDER_NO_UNROLL
  for (int round = tile.first; round < tile.end; ++round) {
    ptx::cp_async_wait<C::stages - 2>();
    sync_group<C>();  // the round is there for all, and the stage to be filled is read no more
    copy(round + C::stages - 1);
    const SlicedStage<C>& stage = shared.ring[at.group][(round - tile.first) % C::stages];
    WARPLADDER_UNROLL
    for (int step = 0; step < C::depth / 4; ++step) {
      multiply_step<C, kXAlong, kYAlong, kYAlong>(sum, stage.x, stage.y, at, step);
    }
  }
  ptx::cp_async_wait<0>();
}

// Lays a lane's sums down, for the CTA to add up those of its groups.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void lay_down_sums(SlicedShared<C>& shared,
                                              const float (&sum)[C::lane_x][C::lane_y],
                                              const SlicedPlace<C>& at) {
  WARPLADDER_UNROLL
  for (int i = 0; i < C::lane_x; ++i) {
    float* const line =
        shared.sums[at.group][at.first_x + line_of<C::lanes_x, kXAlong>(at.lane_x, i)] + at.first_y;
    WARPLADDER_UNROLL
    for (int j = 0; j < C::lane_y; j += kYAlong ? 1 : 4) {
      float* const to = line + line_of<C::lanes_y, kYAlong>(at.lane_y, j);
      if constexpr (kYAlong) {
        *to = sum[i][j];
      } else {
        *reinterpret_cast<float4*>(to) =
            make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      }
    }
  }
}

// The groups' sums are added in their order. Neighbouring threads store neighbours in memory.
template <class C>
__device__ __forceinline__ void store_tile(const SlicedShared<C>& shared, const SlicedGemm& g,
                                           const SlicedTile& tile) {
  const std::int64_t elements = g.x.lines * g.y.lines;
  WARPLADDER_UNROLL_BY(4)
  for (int e = threadIdx.x; e < C::tile_x * C::tile_y; e += C::threads) {
    const int x = g.x_in_lines ? e % C::tile_x : e / C::tile_y,
              y = g.x_in_lines ? e / C::tile_x : e % C::tile_y;
    const std::int64_t to_x = tile.x0 + x, to_y = tile.y0 + y;
    if (to_x >= g.x.lines || to_y >= g.y.lines) continue;
    float sum = shared.sums[0][x][y];
    WARPLADDER_UNROLL
    for (int group = 1; group < C::groups; ++group) sum += shared.sums[group][x][y];
    if (g.slices == 1) {
      store_scaled(&g.c[to_x * g.c_x + to_y * g.c_y], g.alpha, sum, g.beta);
    } else {
      g.partial[tile.slice * elements + to_x * g.partial_x + to_y * g.partial_y] = sum;
    }
  }
}

template <class C, bool kXAlong, bool kYAlong>
static __global__ void __launch_bounds__(C::threads, C::resident) multiply_slices(SlicedGemm g) {
  auto& shared = *runtime::dynamic_shared<SlicedShared<C>>();
  const SlicedTile tile = sliced_tile<C>(g, blockIdx.x);
  const SlicedPlace<C> at;
  float sum[C::lane_x][C::lane_y] = {};
  add_slice<C, kXAlong, kYAlong>(sum, shared, g, tile, at);
  ptx::allow_next_kernel();  // which waits for this one's end, but for its own launch
  __syncthreads();           // nobody reads the ring any more
  lay_down_sums<C, kXAlong, kYAlong>(shared, sum, at);
  __syncthreads();  // the sums of all groups are there
  store_tile<C>(shared, g, tile);
}

// The product as lines X and Y: rows of A are X if they are fewer, or shall be. Lines of A lie
// along k by rows, those of B if it is transposed.
struct Lines {
  SlicedGemm gemm;
  bool x_along, y_along;
};
inline LineOperand line_operand(const float* data, std::int64_t ld, std::int64_t lines) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0;
  return {data, ld, lines, vectors};
}
inline Lines lines_of(const Gemm& g, bool trans_a, bool trans_b, bool rows_are_x) {
  const LineOperand a = line_operand(g.a, g.lda, g.m), b = line_operand(g.b, g.ldb, g.n);
  SlicedGemm s{};
  s.x = rows_are_x ? a : b;
  s.y = rows_are_x ? b : a;
  s.k = g.k;
  s.alpha = g.alpha;
  s.beta = g.beta;
  s.c = g.c;
  s.c_x = rows_are_x ? g.ldc : 1;
  s.c_y = rows_are_x ? 1 : g.ldc;
  s.partial = static_cast<float*>(g.workspace);
  s.partial_x = rows_are_x ? g.n : 1;
  s.partial_y = rows_are_x ? 1 : g.n;
  s.x_in_lines = !rows_are_x;
  return {s, rows_are_x ? !trans_a : trans_b, rows_are_x ? trans_b : !trans_a};
}

// The same, cut into tiles of C and slices of k. X are the fewer lines, if nothing else is said.
template <class C>
Lines tiled_lines(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                  bool rows_are_x) {
  Lines lines = lines_of(g, trans_a, trans_b, rows_are_x);
  SlicedGemm& s = lines.gemm;
  s.tiles_x = parts::Divisor::of(tiles(s.x.lines, C::tile_x));
  s.tiles_y = parts::Divisor::of(tiles(s.y.lines, C::tile_y));
  s.slices = slices.count;
  s.rounds = slices.rounds;
  s.of_rounds = parts::EvenParts::of(s.rounds, s.slices);
  return lines;
}
template <class C>
Lines tiled_lines(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices) {
  return tiled_lines<C>(g, trans_a, trans_b, slices, g.m <= g.n);
}

// Launches kernel<whether X lies along k, whether Y does>(), in tiles of C; it gets the arguments
// behind the lines. Then, of several slices, calls add_up of the same. CTAs that stay (C::stays)
// are one for each multiprocessor, or fewer.
template <class C, class Kernel, class AddUp, class... Arguments>
void launch_lines_in_slices(const Lines& lines, std::size_t shared_bytes,
                            runtime::StreamView& stream, const Kernel& kernel, const AddUp& add_up,
                            const Arguments&... arguments) {
  const SlicedGemm& s = lines.gemm;
  std::int64_t blocks = std::int64_t{s.tiles_x.by} * s.tiles_y.by * s.slices;
  if constexpr (requires { requires C::stays; }) {
    blocks = std::min<std::int64_t>(blocks, stream.machine->multiprocessors);
  }
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(blocks)), dim3(C::threads),
                                   shared_bytes};
  for_transposes(!lines.x_along, lines.y_along, [&]<bool kXAlong, bool kYAcross>() {
    runtime::launch(stream, shape, kernel.template operator()<kXAlong, !kYAcross>(), s,
                    arguments...);
    if (s.slices > 1) add_up.template operator()<kXAlong, !kYAcross>();
  });
}

template <class C>
static void launch_slices(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                          runtime::StreamView& stream) {
  // The roundings of a few lines' join would be their largest errors, and float64 costs nothing.
  using Sum = std::conditional_t<C::tile_x == 8, double, float>;
  launch_lines_in_slices<C>(
      tiled_lines<C>(g, trans_a, trans_b, slices), sizeof(SlicedShared<C>), stream,
      [&]<bool kXAlong, bool kYAlong>() { return multiply_slices<C, kXAlong, kYAlong>; },
      [&]<bool, bool>() { launch_join<Sum>(g, slices.count, g.n, stream); });
}

// Of C::tile_y columns and up, and no more than kManySlices slices.
template <class C>
ladder::Totals predict_slices(const Problem& p, const Slices& slices) {
  const bool y_along = p.m > p.n;  // Y's lines are A's rows
  const std::uint64_t tiles_of_c = p.m * p.n / (C::tile_x * C::tile_y),
                      ctas = tiles_of_c * slices.count, warps = ctas * (C::threads / 32),
                      group_rounds = tiles_of_c * slices.rounds * C::groups,
                      steps = group_rounds * C::group_warps * (C::depth / 4),
                      stores = ctas * (C::tile_x * C::tile_y / 32);
  ladder::Totals t;
  t.global_load_requests = group_rounds * ((C::tile_x + C::tile_y) * C::depth / 128);
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_store_requests = t.global_load_requests;
  t.shared_store_wavefronts = 4 * t.shared_store_requests;
  t.shared_load_requests = (C::lane_x + C::lane_y) * steps;
  t.shared_load_wavefronts = (2 * C::lane_x + 4 * C::lane_y) * steps;  // neighbours share x
  // Sums are laid down four at a time where Y's lines lie across k.
  const std::uint64_t sums = warps * C::lane_x * C::lane_y;
  t.shared_store_requests += y_along ? sums : sums / 4;
  t.shared_store_wavefronts += y_along ? 2 * sums : sums;
  t.shared_load_requests += C::groups * stores;
  t.shared_load_wavefronts += (y_along ? 4 : 1) * C::groups * stores;
  t.barriers = 2 * warps;
  if (C::group_warps > 1) t.barriers += tiles_of_c * slices.rounds * (C::threads / 32);
  t.global_store_requests = stores;
  t.global_store_sectors = 4 * t.global_store_requests;
  predict_join(t, p, slices.count);
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
