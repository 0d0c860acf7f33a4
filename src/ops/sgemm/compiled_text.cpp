#include "ops/sgemm/compiled_text.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace warpladder::sgemm {
namespace {

const char* factor(float value, bool may_be_zero) {
  if (value == 1.0f) return "Factor::one";
  return may_be_zero && value == 0.0f ? "Factor::zero" : "Factor::any";
}

// "multiply_by_parity<ParityShape<128, 128, 8, 2>, true, true, 4, ", and where the text goes on.
int begin(KernelName* name, const Problem& p, int vector, const CompiledTile& tile) {
  return std::snprintf(name->text, sizeof name->text,
                       "multiply_by_parity<ParityShape<%d, %d, %d, %d>, %s, %s, %d, ", tile.rows,
                       tile.columns, tile.depth, tile.resident, p.trans_a ? "false" : "true",
                       p.trans_b ? "false" : "true", vector);
}

}  // namespace

int compiled_tile(std::int64_t m, std::int64_t n, const runtime::Machine& machine) noexcept {
  // The share of a large tile's rate that each reaches: smaller ones load more for each product.
  constexpr double kShare[] = {1.0, 0.84, 0.75};
  // So many elements keep a multiprocessor busy; with fewer, time falls half as fast as they do.
  constexpr double kFill = 1.2 * 128 * 128;
  int best = 0;
  double best_time = 0;
  for (int i = 0; i < static_cast<int>(std::size(kCompiledTiles)); ++i) {
    const CompiledTile& tile = kCompiledTiles[i];
    const std::int64_t on_one =
        (tile.ctas(m, n) + machine.multiprocessors - 1) / machine.multiprocessors;
    const double elements = static_cast<double>(on_one * tile.rows * tile.columns) / kShare[i];
    const double time = std::max(elements, (elements + kFill) / 2);
    if (i > 0 && time >= best_time) continue;
    best = i;
    best_time = time;
  }
  return best;
}

int vector_of(const Call& call) noexcept {
  const Problem& p = call.problem;
  const auto address = reinterpret_cast<std::uintptr_t>(call.a) |
                       reinterpret_cast<std::uintptr_t>(call.b) |
                       reinterpret_cast<std::uintptr_t>(call.c);
  const std::int64_t lines = (p.trans_a ? p.m : p.k) | (p.trans_b ? p.k : p.n);
  return address % 16 == 0 && (lines | p.lda | p.ldb | p.ldc) % 4 == 0 ? 4 : 1;
}

KernelName constant_product(const Problem& p, int vector, const CompiledTile& tile) noexcept {
  KernelName name;
  const int at = begin(&name, p, vector, tile);
  const bool reads = p.alpha != 0.0f;
  std::snprintf(name.text + at, sizeof name.text - static_cast<std::size_t>(at),
                "ConstantProduct<%lldL, %lldL, %lldL, %lldL, %lldL, %lldL, %s, %s>>",
                runtime::number(p.m), runtime::number(p.n), runtime::number(reads ? p.k : 0),
                runtime::number(p.lda), runtime::number(p.ldb), runtime::number(p.ldc),
                factor(p.alpha, false), factor(p.beta, true));
  return name;
}

KernelName finished_product(const Problem& p, int vector, const CompiledTile& tile) noexcept {
  KernelName name;
  const int at = begin(&name, p, vector, tile);
  std::snprintf(name.text + at, sizeof name.text - static_cast<std::size_t>(at),
                "FinishedProduct<Function>>");
  return name;
}

}  // namespace warpladder::sgemm
