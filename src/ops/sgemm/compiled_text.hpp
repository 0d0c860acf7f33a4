#pragma once
// What is compiled at run time for a product: which kernel, for which problem. Host code; no
// strings.

#include "ops/sgemm/problem.hpp"
#include "runtime/machine.hpp"

namespace warpladder::sgemm {

// A tile of C as ParityShape (rung_parity_kernel.hpp) has it.
struct CompiledTile {
  int rows, columns, resident;
  static constexpr int depth = 8;
  constexpr int threads() const { return 32 * (rows / 32) * (columns / 64); }
  constexpr std::int64_t ctas(std::int64_t m, std::int64_t n) const {
    return ((m + rows - 1) / rows) * ((n + columns - 1) / columns);
  }
};
inline constexpr CompiledTile kCompiledTiles[] = {{128, 128, 2}, {64, 128, 4}, {64, 64, 8}};
// The number of the tile with which an m×n product takes the shortest time, by a model.
int compiled_tile(std::int64_t m, std::int64_t n, const runtime::Machine& machine) noexcept;

// 4 where kernels may access A, B and C by float4, else 1. Of a product in row-major storage.
int vector_of(const Call& call) noexcept;

// The expression that instantiates a kernel.
struct KernelName {
  char text[400];
};
// Sizes, leading dimensions and the kinds of alpha and beta are constants. Takes a ConstantProduct.
KernelName constant_product(const Problem& row_major, int vector,
                            const CompiledTile& tile) noexcept;
// Its elements pass through the source's type `Function`. Takes a FinishedProduct.
KernelName finished_product(const Problem& row_major, int vector,
                            const CompiledTile& tile) noexcept;

// What both are compiled from.
inline constexpr const char* kCompiledSource =
    "#include \"ops/sgemm/compiled_product.hpp\"\nusing namespace warpladder::sgemm;\n";

}  // namespace warpladder::sgemm
