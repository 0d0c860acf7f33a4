#pragma once
// C += beta · source, element by element: behind a product whose rung cannot add it on the way.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kAddColumns = 32, kAddRows = 8;  // threads of a block

// A thread adds kVector columns, in every gridDim.y·kAddRows-th row. One row for all is read once.
template <int kVector>
static __global__ void __launch_bounds__(kAddColumns* kAddRows) add_to_columns(Gemm g) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * kAddColumns + threadIdx.x) * kVector,
                     step = std::int64_t{gridDim.y} * kAddRows;
  if (column >= g.n) return;
  float added[kVector] = {};
  const auto read = [&](std::int64_t row) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kVector; ++i) added[i] = g.source[row * g.ld_source + column + i];
  };
  if (g.ld_source == 0) read(0);
  for (std::int64_t row = std::int64_t{blockIdx.y} * kAddRows + threadIdx.y; row < g.m;
       row += step) {
    if (g.ld_source != 0) read(row);
    float* const c = g.c + row * g.ldc + column;
    if constexpr (kVector == 4) {
      const float4 old = *reinterpret_cast<const float4*>(c);
      *reinterpret_cast<float4*>(c) =
          make_float4(old.x + g.beta * added[0], old.y + g.beta * added[1],
                      old.z + g.beta * added[2], old.w + g.beta * added[3]);
    } else {
      *c += g.beta * added[0];
    }
  }
}

inline void launch_add_source(const Gemm& g, runtime::StreamView& stream) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0 && (g.n | g.ldc) % 4 == 0;
  const std::int64_t blocks_x = tiles(g.n, kAddColumns * (vectors ? 4 : 1)),
                     wanted = std::int64_t{8} * stream.machine->multiprocessors,
                     most_y = tiles(g.m, kAddRows);
  const std::int64_t blocks_y = wanted / blocks_x + 1 < most_y ? wanted / blocks_x + 1 : most_y;
  runtime::launch(stream,
                  {dim3(static_cast<unsigned>(blocks_x), static_cast<unsigned>(blocks_y)),
                   dim3(kAddColumns, kAddRows)},
                  vectors ? add_to_columns<4> : add_to_columns<1>, g);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
