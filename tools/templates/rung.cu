// {{op}}/{{stem}}: {{idea}}
//
// What bound the rung before it: <the resource, with its number>.
// The idea: <how this rung asks less of that resource>.
// Prediction: <requests, sectors, wavefronts or FMAs, as numbers; the tests hold the rung to them>.
// Accepts: <shapes, strides, alignments>.
// What binds it now: <the next rung's first line>.

#include "ops/{{op}}/rung.hpp"

namespace warpladder::{{op}} {
namespace {

struct Config {
  int block_threads = 256;
  constexpr int warps() const { return block_threads / 32; }
};

constexpr bool valid(Config config) {
  return config.block_threads % 32 == 0 && config.block_threads <= 1024;
}

// The config travels as a type: a struct passed by value as a kernel's template argument does not
// survive nvcc's stub.
struct Chosen {
  static constexpr Config config{};
  static_assert(valid(config));
};

// Each barrier says what it protects; each tile states its shape.
template <class Choice>
__global__ void __launch_bounds__(Choice::config.block_threads) kernel(Arguments arguments) {
}

void launch_rung(device::Stream& stream, const Arguments& arguments) {
  const device::LaunchShape shape{
      .grid = grid_of(arguments, Chosen::config),
      .block = dim3(Chosen::config.block_threads),
  };
  device::launch(stream, shape, kernel<Chosen>, arguments);
}

const Registration registration = {
    .stem = "{{stem}}",
    .idea = "{{idea}}",
    .launch = launch_rung,
};

}  // namespace
}  // namespace warpladder::{{op}}
