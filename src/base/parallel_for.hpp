#pragma once
// A loop shared among threads.

#include <cstdint>
#include <functional>

namespace warpladder {

// Calls work(first, last) on pieces of at most `piece` that together are 0 ... count - 1, on
// `threads` threads (0: one per core). A thread that is done takes the next piece, so that costly
// ones do not hold up the rest: what work() leaves must not depend on who does which piece, or
// when. One exception of work() is thrown again when all threads have stopped.
void parallel_for(std::int64_t count, std::int64_t piece, unsigned threads,
                  const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace warpladder
