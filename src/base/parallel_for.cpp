#include "base/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace warpladder {

void parallel_for(std::int64_t count, std::int64_t piece, unsigned threads,
                  const std::function<void(std::int64_t, std::int64_t)>& work) {
  if (count <= 0) return;
  const std::int64_t pieces = (count - 1) / piece + 1;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());

  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto take_pieces = [&] {
    try {
      for (std::int64_t at = next++; at < pieces; at = next++) {
        const std::int64_t first = at * piece;
        work(first, first + std::min(piece, count - first));
      }
    } catch (...) {
      next = pieces;  // nobody begins another
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto workers = std::min<std::int64_t>(threads, pieces);
    try {
      for (std::int64_t w = 1; w < workers; ++w) helpers.emplace_back(take_pieces);
    } catch (const std::system_error&) {
      // The system has no more threads: fewer do the work.
    }
    take_pieces();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace warpladder
