#pragma once
// The kernel of row_07_register_parity: FP32 multiply-adds in an order that spares the register
// banks. Also compiled at run time, so it includes nothing of the host.

#include <type_traits>

#include "ops/sgemm/product_part.hpp"
#include "parts/double_buffer.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// From four rows of a thread to its next four, which are beyond those of the warp's other lanes.
template <class C>
constexpr int kNextRows = 4 * C::lanes_down;
template <class C>
constexpr int kNextColumns = 4 * (32 / C::lanes_down);
// What a warp and a thread multiply: of a warp's lanes kLanesDown lie below each other.
template <int kThreadRows, int kThreadColumns, int kLanesDown>
struct WarpShape {
  static constexpr int thread_rows = kThreadRows, thread_columns = kThreadColumns,
                       lanes_down = kLanesDown, warp_rows = lanes_down * thread_rows,
                       warp_columns = 32 / lanes_down * thread_columns;
  // Whether a thread sums parts of k apart. With more sums it lacks the registers.
  static constexpr bool parted = thread_rows * thread_columns <= 16;
};
using ParityWarp = WarpShape<8, 8, 4>;
// A CTA's tile of C, its step along k, and the CTAs that are resident on a multiprocessor. Each of
// its groups of warps multiplies a part of k.
template <int kRows, int kColumns, int kDepth, int kResident, int kGroups = 1,
          class Warp = ParityWarp>
struct ParityShape : Warp {
  static constexpr int rows = kRows, columns = kColumns, depth = kDepth, resident = kResident,
                       warps_across = columns / Warp::warp_columns, groups = kGroups,
                       group_threads = 32 * (rows / Warp::warp_rows) * warps_across,
                       threads = groups * group_threads;
  static_assert(rows % Warp::warp_rows == 0 && columns % Warp::warp_columns == 0);
  static_assert(depth % 8 == 0);
};

// What a product does with an element of C before it stores it (parts::store4): `Product::Finish`,
// where it names one.
template <class Product>
struct FinishOfProduct {
  using Type = parts::AsItIs;
};
template <class Product>
requires requires { typename Product::Finish; }
struct FinishOfProduct<Product> {
  using Type = typename Product::Finish;
};
template <class Product>
using FinishOf = typename FinishOfProduct<Product>::Type;

// Where a thread's first 4×4 lies in the block's tile. The 4×8 lanes, or 8×4, lie on a Z-curve. The
// bits of the lane's number belong in turn to its column and its row, or to its row and its column.
struct ParityPlace {
  int row, column;
};
template <class C>
__device__ __forceinline__ ParityPlace parity_place(int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int first_bits = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4),
            second_bits = (lane >> 1 & 1) | (lane >> 2 & 2);
  static_assert(C::lanes_down == 4 || C::lanes_down == 8);
  const int lane_column = C::lanes_down == 4 ? first_bits : second_bits,
            lane_row = C::lanes_down == 4 ? second_bits : first_bits;
  return {warp / C::warps_across * C::warp_rows + lane_row * 4,
          warp % C::warps_across * C::warp_columns + lane_column * 4};
}

// From a step of k to the next one in a tile of shared memory. Lanes that store what they loaded
// along k are several steps apart: padding keeps them from meeting on a bank.
template <class C>
constexpr int parity_stride(int outer, bool along_depth) {
  constexpr int kPadding = 4, kMostShared = 48 << 10;
  constexpr bool kFits = 8 * C::depth * (C::rows + C::columns + 2 * kPadding) <= kMostShared;
  return outer + (along_depth && kFits ? kPadding : 0);
}

// A thread's sums on their way to C. kTurned: C's rows are the tile's columns.
template <class C, bool kTurned>
struct SumsOfThread {
  static constexpr int rows = kTurned ? C::thread_columns : C::thread_rows,
                       columns = kTurned ? C::thread_rows : C::thread_columns,
                       next_row = kTurned ? kNextColumns<C> : kNextRows<C>,
                       next_column = kTurned ? kNextRows<C> : kNextColumns<C>,
                       lanes_down = next_row / 4;
  const float (&sum)[C::thread_rows][C::thread_columns];
  __device__ __forceinline__ float operator()(int i, int j) const {
    return kTurned ? sum[j][i] : sum[i][j];
  }
};

// The first 4×4 of a thread's sums begin at C's element (row0, column0), of `rows` and `columns`.
template <class C, class Finish, bool kTurned>
__device__ __forceinline__ void store_by_parity(const Gemm& g, SumsOfThread<C, kTurned> sums,
                                                std::int64_t row0, std::int64_t column0) {
  const std::int64_t rows = kTurned ? g.n : g.m, columns = kTurned ? g.m : g.n;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < sums.rows; ++i) {
    const std::int64_t row = row0 + i % 4 + i / 4 * sums.next_row;
    if (row >= rows) break;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < sums.columns; j += 4) {
      const std::int64_t column = column0 + j / 4 * sums.next_column;
      const float four[4] = {sums(i, j), sums(i, j + 1), sums(i, j + 2), sums(i, j + 3)};
      parts::store4<4>(&g.c[row * g.ldc + column], columns - column, g.alpha, four, g.beta,
                       Finish());
    }
  }
}

// The same where C takes no float4: a warp lays down its lanes' fours, and neighbouring lanes store
// neighbouring words. `staged` is the warp's own; (row0, column0) is its first element in C,
// `in_warp` the thread's place from there.
constexpr int kStagedWords = 4 * 48;
template <class C, class Finish, bool kTurned>
__device__ __forceinline__ void store_by_rows(const Gemm& g, SumsOfThread<C, kTurned> sums,
                                              std::int64_t row0, std::int64_t column0,
                                              ParityPlace in_warp, float* staged) {
  constexpr int kDown = sums.lanes_down, kColumns = sums.next_column,
                kAtOnce = 32 / kColumns;            // rows
  constexpr int kStagedRow = kDown == 4 ? 48 : 24;  // a request's rows meet on no bank
  static_assert(kDown * kStagedRow <= kStagedWords);
  const int lane_row = threadIdx.x % 32 / kColumns, lane_column = threadIdx.x % kColumns;
  const std::int64_t rows = kTurned ? g.n : g.m, columns = kTurned ? g.m : g.n;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < sums.rows; ++i) {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < sums.columns; j += 4) {
      *reinterpret_cast<float4*>(staged + in_warp.row / 4 * kStagedRow + in_warp.column) =
          make_float4(sums(i, j), sums(i, j + 1), sums(i, j + 2), sums(i, j + 3));
      __syncwarp();  // all lanes have laid down theirs
      const std::int64_t column = column0 + j / 4 * kColumns + lane_column;
      WARPLADDER_UNROLL_ON_GPU
      for (int r = lane_row; r < kDown; r += kAtOnce) {
        const std::int64_t row = row0 + 4 * r + i % 4 + i / 4 * sums.next_row;
        if (row < rows && column < columns) {
          parts::store1(&g.c[row * g.ldc + column], g.alpha, staged[r * kStagedRow + lane_column],
                        g.beta, Finish());
        }
      }
      __syncwarp();  // all rows have been read
    }
  }
}

// Stores a thread's sums, of which the first 4×4 lie at `at` in the CTA's tile. kTurned: C's rows
// are the tile's columns. `staging` is shared memory that other threads may still read. All threads
// call it; `stores`: whether this one has sums.
template <class C, class Finish, bool kTurned = false>
__device__ WARPLADDER_INLINE_ON_GPU void store_part(
    const ProductPart& part, ParityPlace at, const float (&sum)[C::thread_rows][C::thread_columns],
    float* staging, bool stores = true) {
  if (!part.vectors) __syncthreads();  // all threads have read the last tile
  if (!stores) return;
  const SumsOfThread<C, kTurned> sums{sum};
  const std::int64_t row0 = kTurned ? part.column : part.row,
                     column0 = kTurned ? part.row : part.column;
  const ParityPlace here = kTurned ? ParityPlace{at.column, at.row} : at;
  if (part.vectors) {
    store_by_parity<C, Finish>(part.gemm, sums, row0 + here.row, column0 + here.column);
    return;
  }
  const int warp = threadIdx.x / 32, down = warp / C::warps_across * C::warp_rows,
            across = warp % C::warps_across * C::warp_columns, row = kTurned ? across : down,
            column = kTurned ? down : across;
  store_by_rows<C, Finish>(part.gemm, sums, row0 + row, column0 + column,
                           {here.row - row, here.column - column}, staging + warp * kStagedWords);
}

// A thread's sums, and the factors of two steps of k.
template <class C>
struct ParitySums {
  float sum[C::thread_rows][C::thread_columns] = {};
  float a[2][C::thread_rows], b[2][C::thread_columns];

  // The sums row by row.
  __device__ __forceinline__ float& operator[](int i) {
    return sum[i / C::thread_columns][i % C::thread_columns];
  }
  __device__ __forceinline__ float operator[](int i) const {
    return sum[i / C::thread_columns][i % C::thread_columns];
  }
  // The factors of step k, which lie in row `from` of the tiles.
  template <class ATile, class BTile>
  __device__ __forceinline__ void load(const ATile& a_tile, const BTile& b_tile, ParityPlace at,
                                       int from, int k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < C::thread_rows; i += 4) {
      parts::load4(&a[k % 2][i], &a_tile[from][at.row + i / 4 * kNextRows<C>]);
    }
    WARPLADDER_UNROLL
    for (int j = 0; j < C::thread_columns; j += 4) {
      parts::load4(&b[k % 2][j], &b_tile[from][at.column + j / 4 * kNextColumns<C>]);
    }
  }
  __device__ WARPLADDER_INLINE_ON_GPU void multiply(int k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < C::thread_rows; ++i) {
      WARPLADDER_UNROLL
      for (int step = 0; step < C::thread_columns; ++step) {
        const int j = i % 2 ? C::thread_columns - 1 - step : step;
        sum[i][j] += a[k % 2][i] * b[k % 2][j];
      }
    }
  }
};

// A sum of all k loses more than cublasSgemm's, whose warps share k where tiles are small. So a
// thread sums parts of k apart, where C::parted says so.
template <class C>
class PartsOfSums {
 public:
  // Adds the products of step k of a tile.
  __device__ __forceinline__ void multiply(ParitySums<C>& sums, int k) {
    if (k % kPart == 0) {
      WARPLADDER_UNROLL
      for (int i = 0; i < kAll; ++i) sums[i] = 0;
    }
    sums.multiply(k);
    if ((k + 1) % kPart == 0) {
      WARPLADDER_UNROLL
      for (int i = 0; i < kAll; ++i) sum_[i] += sums[i];
    }
  }
  __device__ __forceinline__ void join(ParitySums<C>& sums) const {
    WARPLADDER_UNROLL
    for (int i = 0; i < kAll; ++i) sums[i] = sum_[i];
  }

 private:
  static constexpr int kPart = 8, kCount = C::thread_rows * C::thread_columns,
                       kAll = C::parted ? kCount : 0;
  float sum_[kCount] = {};
};

// Where a thread works.
template <class C>
__device__ __forceinline__ int group_of_thread() {
  return C::groups > 1 ? static_cast<int>(threadIdx.x) / C::group_threads : 0;
}
template <class C>
__device__ __forceinline__ int thread_of_group() {
  return static_cast<int>(C::groups > 1 ? threadIdx.x % C::group_threads : threadIdx.x);
}
template <class C>
struct GroupBarrier {
  __device__ __forceinline__ void operator()() const {
    if constexpr (C::groups == 1) {
      __syncthreads();
    } else if constexpr (C::group_threads == 32) {
      __syncwarp();
    } else {
      ptx::named_barrier_together<C::group_threads>(1 + group_of_thread<C>());
    }
  }
};

// Narrows what a CTA multiplies to a group's part of k.
template <class C, bool kARows, bool kBRows>
__device__ __forceinline__ void take_part_of_group(Gemm& g) {
  if constexpr (C::groups > 1) {
    const std::int64_t rounds = tiles(g.k, C::depth), group = group_of_thread<C>();
    const auto first_of = [&](std::int64_t of) { return tiles(rounds * of, C::groups); };
    take_rounds<C, kARows, kBRows>(g, first_of(group), first_of(group + 1), rounds);
  }
}

// Sums that each thread of all groups but one can lay down in so many floats of shared memory.
// These are all, or the largest power of two of them.
template <class C>
constexpr int sums_at_once(int floats) {
  int at_once = C::thread_rows * C::thread_columns;
  while ((C::groups - 1) * C::group_threads * at_once > floats) at_once /= 2;
  return at_once;
}

// Adds up what the groups of warps have summed, in the first of them. `shared`: kFloats of shared
// memory that other threads may still read.
template <class C, int kFloats>
__device__ __forceinline__ void join_groups(ParitySums<C>& own, float* shared) {
  constexpr int kCount = C::thread_rows * C::thread_columns, kAtOnce = sums_at_once<C>(kFloats);
  const int thread = thread_of_group<C>(), group = group_of_thread<C>();
  const auto place = [&](int of, int i) {
    return &shared[(of * kAtOnce + i) * C::group_threads + thread];
  };
  WARPLADDER_UNROLL_ON_GPU
  for (int first = 0; first < kCount; first += kAtOnce) {
    __syncthreads();  // all threads have read what lay there
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kAtOnce; ++i) {
      if (group > 0) *place(group - 1, i) = own[first + i];
    }
    __syncthreads();  // the sums are there
    if (group > 0) continue;
    WARPLADDER_UNROLL_ON_GPU
    for (int of = 0; of + 1 < C::groups; ++of) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kAtOnce; ++i) own[first + i] += *place(of, i);
    }
  }
}

// Floats of the larger operand's tiles, of all groups: there they are joined.
template <class C, bool kARows, bool kBRows>
constexpr int floats_of_groups() {
  const int line = C::rows > C::columns ? parity_stride<C>(C::rows, kARows)
                                        : parity_stride<C>(C::columns, !kBRows);
  return 2 * C::groups * C::depth * line;
}

// Product: all of it (Gemm, or with constants), or slices of k (PartlySliced, BatchSlices).
template <class C, bool kARows, bool kBRows, int kVector, class Product>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_by_parity(Product product) {
  constexpr int kAStride = parity_stride<C>(C::rows, kARows),
                kBStride = parity_stride<C>(C::columns, !kBRows);
  // Two arrays: with one of both, ptxas spills more.
  __shared__ __align__(16) float a_tiles[C::groups][2][C::depth][kAStride];  // transposed
  __shared__ __align__(16) float b_tiles[C::groups][2][C::depth][kBStride];
  auto [g, row0, column0, vectors] = part_of_block<C, kARows, kBRows, kVector>(product);
  take_part_of_group<C, kARows, kBRows>(g);
  auto& a_tile = a_tiles[group_of_thread<C>()];
  auto& b_tile = b_tiles[group_of_thread<C>()];
  const ParityPlace at = parity_place<C>(thread_of_group<C>());
  constexpr int kThreads = C::group_threads;
  constexpr bool kSpares = kThreads <= 64;  // a thread fetches eight words of each operand

  parts::TileFetch<C::rows, C::depth, kThreads, kARows, kVector, kSpares, C::groups> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<C::columns, C::depth, kThreads, !kBRows, kVector, kSpares, C::groups> b_fetch(
      g.b, g.ldb, g.n, column0);
  ParitySums<C> sums;
  PartsOfSums<C> of_parts;
  const auto fetch = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
  };
  const auto store = [&](int tile) {
    a_fetch.store(a_tile[tile]);
    b_fetch.store(b_tile[tile]);
  };
  fetch(a_fetch.first_depth(g.k));
  parts::double_buffered<C::depth>(
      static_cast<unsigned>(tiles(g.k, C::depth)), [&] { fetch(C::depth); }, store,
      [&](int tile, int k) { sums.load(a_tile[tile], b_tile[tile], at, k, k); },
      [&](int k) { of_parts.multiply(sums, k); }, GroupBarrier<C>());
  of_parts.join(sums);
  if constexpr (requires { product.slices; }) ptx::allow_next_kernel();  // the join
  if constexpr (C::groups > 1) {
    join_groups<C, floats_of_groups<C, kARows, kBRows>()>(
        sums, C::rows > C::columns ? &a_tiles[0][0][0][0] : &b_tiles[0][0][0][0]);
  }
  store_part<C, FinishOf<Product>>({g, row0, column0, vectors}, at, sums.sum, &a_tiles[0][0][0][0],
                                   group_of_thread<C>() == 0);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
