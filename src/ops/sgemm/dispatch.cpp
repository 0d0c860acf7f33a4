#include "ops/sgemm/dispatch.hpp"

#include "base/error.hpp"

namespace warpladder::sgemm {

const ladder::Rung& choose(const Problem&, device::Target target) {
  // The executor pays for loads and barriers, too: tiles in registers help it as they help a GPU.
  // What the later rungs add hides latencies that it does not have.
  if (target == device::Target::cpu) return ladder::find_rung("sgemm", "row_04_vector_load");

  // On a GPU each row_ rung is there for being faster than the last, and all accept every problem.
  const ladder::Rung* fastest = nullptr;
  for (const ladder::Rung* rung : ladder::rungs_of("sgemm")) {
    if (rung->id.starts_with("row_") && rung->launcher(device::Flavour::gpu)) fastest = rung;
  }
  if (!fastest) throw_resource("this program holds no sgemm rung for a GPU");
  return *fastest;
}

}  // namespace warpladder::sgemm
