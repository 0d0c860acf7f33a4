#pragma once
// Launching a product whose kernel is compiled at run time, from a rung.

#include "ops/sgemm/compiled_product.hpp"
#include "ops/sgemm/compiled_text.hpp"
#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/rung_parity.hpp"
#if defined(__CUDACC__)
#include "runtime/compiled_kernel.hpp"
#endif

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <int kTile>
using CompiledConfig =
    ParityTileOf<ParityConfig{kCompiledTiles[kTile].rows, kCompiledTiles[kTile].columns,
                              CompiledTile::depth, kCompiledTiles[kTile].resident}>;

// run.template operator()<C>() with the tile of compiled_tile().
template <class Run>
auto with_compiled_tile(std::int64_t m, std::int64_t n, const runtime::Machine& machine,
                        const Run& run) {
  static_assert(std::size(kCompiledTiles) == 3);
  const int tile = compiled_tile(m, n, machine);
  return tile == 0   ? run.template operator()<CompiledConfig<0>>()
         : tile == 1 ? run.template operator()<CompiledConfig<1>>()
                     : run.template operator()<CompiledConfig<2>>();
}

#if defined(__CUDACC__)
// Compiles the kernel first, where this process has not done so. A failure becomes the stream's
// error.
inline void launch_constant_product(const Gemm& g, bool trans_a, bool trans_b,
                                    runtime::StreamView& stream) {
  if (stream.error) return;
  const Problem p{g.m,   g.n,   g.k,  Layout::row_major, trans_a, trans_b, g.alpha, g.beta,
                  g.lda, g.ldb, g.ldc};
  const CompiledTile& tile = kCompiledTiles[compiled_tile(g.m, g.n, *stream.machine)];
  const KernelName name = constant_product(p, vector_of({p, g.a, g.b, g.c}), tile);
  const void* kernel = nullptr;
  const runtime::Status status =
      runtime::compiled_kernel(kCompiledSource, name.text, true, &kernel);
  if (!status.ok()) {
    stream.error = status.code == runtime::Code::no_compiler ? cudaErrorJitCompilerNotFound
                                                             : cudaErrorInvalidSource;
    return;
  }
  ProductData data{g.a, g.b, g.c, g.alpha, g.beta};
  void* arguments[] = {&data};
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(tile.ctas(g.m, g.n))),
                                   dim3(static_cast<unsigned>(tile.threads()))};
  runtime::gpu_launch(stream, kernel, shape.config(), arguments);
}
#endif

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
