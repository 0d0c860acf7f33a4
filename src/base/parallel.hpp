#pragma once
// Work for several host threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace warpladder {

inline unsigned host_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

// For so many multiply-adds: one thread where another would take longer to start than to work. It
// begins with a copy of the program's __shared__ variables, which takes it milliseconds.
inline unsigned threads_for(double operations) { return operations < 3e7 ? 1 : host_threads(); }

// Calls work() once on each of `threads` threads, the caller's among them, and waits for all of
// them; the first exception is thrown here. If the system has no more threads, fewer call it.
template <typename Work>
void run_on_threads(unsigned threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      others.reserve(threads);
      while (others.size() + 1 < threads) others.emplace_back(guarded);
    } catch (const std::system_error&) {
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

// Calls body(i) for every i below `count`, each once, in ascending order of their starts.
template <typename Body>
void parallel_for(std::size_t count, unsigned threads, const Body& body) {
  std::atomic<std::size_t> next{0};
  run_on_threads(static_cast<unsigned>(std::min<std::size_t>(threads, count)), [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;  // nobody begins another
      throw;
    }
  });
}

// Calls work(first, last) on pieces of at most `piece` that together are 0 … count - 1, on
// `threads` threads (0: one per core). A thread takes the next piece when it is done, which
// balances uneven pieces. So the result of work() must not depend on which thread does a piece, or
// when.
template <typename Work>
void parallel_for(std::int64_t count, std::int64_t piece, unsigned threads, const Work& work) {
  if (count <= 0) return;
  const std::int64_t pieces = (count - 1) / piece + 1;
  parallel_for(static_cast<std::size_t>(pieces), threads ? threads : host_threads(),
               [&](std::size_t i) {
                 const std::int64_t first = static_cast<std::int64_t>(i) * piece;
                 work(first, first + std::min(piece, count - first));
               });
}

}  // namespace warpladder
