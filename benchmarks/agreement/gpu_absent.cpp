#include "base/error.hpp"
#include "gpu_side.hpp"

// For a build without CUDA, where no GPU is ever found and nothing of this is called.
namespace warpladder::agreement {
namespace {

[[noreturn]] void refuse() { throw_resource("this build has no GPU code"); }

}  // namespace

void begin_profile() { refuse(); }
void end_profile() { refuse(); }
void launch_mark(unsigned) { refuse(); }
void launch_patterns(const std::vector<Pattern>&) { refuse(); }

}  // namespace warpladder::agreement
