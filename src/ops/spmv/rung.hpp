#pragma once
// The only project header that an spmv rung includes, parts/ apart.

#include "ladder/rung.hpp"
#include "ops/spmv/problem.hpp"
#include "parts/csr.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::spmv {
inline namespace WARPLADDER_FLAVOUR {

using parts::Csr;

template <class Offset>
Csr<Offset> csr_of(const Call& call) {
  const Problem& p = call.problem;
  return {p.rows,
          p.nnz,
          static_cast<const Offset*>(call.row_offsets),
          call.column_indices,
          call.values,
          call.x,
          call.y,
          p.alpha,
          p.beta};
}

inline unsigned to_grid(std::int64_t blocks) { return static_cast<unsigned>(blocks); }
inline std::int64_t mean_row(const Problem& p) { return p.rows > 0 ? p.nnz / p.rows : 0; }

// The kernel that finds where the rows of each tile begin. It looks at every row where that reads
// little, else it searches for each of the `count` starts.
constexpr int kSearchThreads = 256;
inline bool looks_at_every_row(std::int64_t rows, std::int64_t count) {
  return rows <= std::min(std::int64_t{1} << 22, 512 * count);
}
template <class Tile, class Offset>
__device__ __forceinline__ void find_starts_of(const Tile& shape, const Csr<Offset>& m,
                                               parts::TileStart<Offset>* starts, std::int64_t count,
                                               bool every_row) {
  every_row ? parts::collect_starts(shape, m, starts, count)
            : parts::search_starts(shape, m, starts, count);
}
template <class Tile, class Offset>
void launch_search(runtime::StreamView& stream,
                   void (*find_starts)(Tile, Csr<Offset>, parts::TileStart<Offset>*, std::int64_t,
                                       bool),
                   const Tile& shape, const Csr<Offset>& m, parts::TileStart<Offset>* starts) {
  const std::int64_t count = tiles_of(shape, m.nnz) + 1;
  const bool every_row = looks_at_every_row(m.rows, count);
  const std::int64_t blocks = every_row ? ceil_div(m.rows, kSearchThreads * parts::kRowsOfThread)
                                        : ceil_div(count, kSearchThreads / 32);
  runtime::launch(stream, {dim3(to_grid(blocks)), dim3(kSearchThreads)}, find_starts, shape, m,
                  starts, count, every_row);
}
inline std::uint64_t barriers_of_entry_tiles(const Problem& p) {
  return with_entry_tile(p, [&]<class Tile>() { return entry_tiles(p) * Tile::kThreads / 32; });
}

// What is left to do where no entry counts.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) scale_y(float* y, std::int64_t rows, float beta) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < rows) y[i] = beta == 0.0f ? 0.0f : beta * y[i];
}

// `launch` is called with at least one entry.
template <class Offset>
using LaunchRung = void (*)(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream);
template <LaunchRung<std::int32_t> narrow, LaunchRung<std::int64_t> wide>
void launch_call(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  constexpr int kThreads = 256;
  if (p.rows == 0) return;
  if (p.nnz == 0 || p.alpha == 0.0f) {
    return runtime::launch(stream, {dim3(to_grid(ceil_div(p.rows, kThreads))), dim3(kThreads)},
                           scale_y<kThreads>, call.y, p.rows, p.beta);
  }
  p.wide_offsets ? wide(csr_of<std::int64_t>(call), call, stream)
                 : narrow(csr_of<std::int32_t>(call), call, stream);
}

// The same for what a rung prepares; where no entry counts there is nothing.
template <LaunchRung<std::int32_t> narrow, LaunchRung<std::int64_t> wide>
void prepare_call(const Call& call, runtime::StreamView& stream) {
  if (call.problem.rows == 0 || call.problem.nnz == 0) return;
  call.problem.wide_offsets ? wide(csr_of<std::int64_t>(call), call, stream)
                            : narrow(csr_of<std::int32_t>(call), call, stream);
}

// What a header cannot say in numbers: all but what its rung then sets.
inline ladder::Totals nothing_predicted() {
  constexpr std::uint64_t kOpen = ladder::kNotPredicted;
  return {kOpen, kOpen, kOpen, kOpen, kOpen, kOpen, kOpen, kOpen, 0, kOpen, kOpen};
}

// Of a warp to each row, which takes 32 neighbouring entries at a time.
inline ladder::Totals predict_warp_per_row(const Problem& p) {
  const std::uint64_t rows = p.rows, steps = p.nnz / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * rows + 3 * steps;
  t.global_load_sectors = 2 * rows + (4 + 4 + 4) * steps;
  t.global_store_requests = t.global_store_sectors = rows;
  t.shuffles = 5 * rows;
  t.fmas = p.nnz;
  return t;
}

// Predictions count for the matrix of a shape (lab/cases.hpp). It has rows of neighbouring columns,
// the same in 32 neighbouring rows, and all sizes are multiples of 32. Offsets have 32 bits,
// alpha = 1, beta = 0.
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(call.problem, machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::spmv
