#pragma once
// Work that is recorded into a graph instead of being done.

#include <functional>

namespace warpladder::programs {

// Whether a stream is being captured.
bool is_capturing();
// True if a stream is being captured: the work then belongs to the graph.
bool defer(std::function<void()> work);

}  // namespace warpladder::programs
