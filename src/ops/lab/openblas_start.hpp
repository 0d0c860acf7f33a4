#pragma once
// How OpenBLAS starts.

namespace warpladder::ops {

// OpenBLAS is told to start without threads, in the environment. main() takes that back, so that no
// program that it starts is told the same.
void openblas_has_started() noexcept;

}  // namespace warpladder::ops
