#pragma once
// Pictures of one request, lane by lane, and of a kernel's place below its roofs.

#include <vector>

#include "lab/explain.hpp"
#include "lab/html.hpp"

namespace warpladder::lab {

// 32 lanes x 32 banks of shared memory. Red: lanes that wait, because others of their group ask the
// same bank for another word.
Figure bank_map(const executor::AccessCounts& access, const executor::Request& request);

// The lines of 128 bytes that a request to global memory touches, in sectors of 32 bytes. Shown are
// the sectors that come, and the bytes in them that a lane asked for.
Figure sector_map(const executor::AccessCounts& access, const executor::Request& request);

// For explanations with arithmetic, on one GPU; no svg where none has any.
Figure roofline(const std::vector<const Explanation*>& explanations);

}  // namespace warpladder::lab
