// Cooperative launches: all blocks are there at once and meet at barriers of the grid. One OS
// thread runs them in turns. A block hands over when all of its threads wait for others, so that
// its shared memory is exchanged rarely.

#include <algorithm>
#include <cstring>

#include "executor/hooks.hpp"
#include "executor/own_elf.hpp"
#include "executor/worker.hpp"

namespace warpladder::executor {

bool Worker::run_grid() {
  begin_blocks();
  images_.assign(cluster_, {});
  for (;;) {
    unsigned done = 0;
    for (unsigned rank = 0; rank < cluster_; ++rank) {
      swap_in(rank);
      if (!run_until_stuck(blocks_[rank])) return false;
      done += blocks_[rank].done;
    }
    if (done == cluster_ * threads_) return finish_blocks();
    if (at_cluster_barrier_ == cluster_ * threads_) {
      if (logs) log.count_event(cluster_barrier_pc_, cluster_ * ((threads_ + kWarp - 1) / kWarp));
      if (!pass_barrier()) return false;
      at_cluster_barrier_ = 0;
      for (const Block& block : blocks_) make_ready(block);
    } else if (yielding_ == 0) {
      return blame_standstill();
    }
  }
}

// Until each thread has exited, waits at the grid's barrier, or has nothing to do but look again
// whether another block has come further.
bool Worker::run_until_stuck(Block& block) {
  enter_block(block);
  const unsigned end = block.first + threads_;
  unsigned idle_rounds = 0;
  for (;;) {
    woken_ = false;
    resume_yielding(block.first, end);
    for (unsigned first = block.first; first < end; first += kWarp) {
      const unsigned warp_last = std::min(first + kWarp, end);
      if (any_ready(first, warp_last) && !run_warp(first, warp_last)) return false;
    }
    bool goes_on = woken_;
    if (is_complete(block)) {
      goes_on = true;
      if (!release(block)) return false;
    }
    if (goes_on) {
      idle_rounds = 0;
      continue;
    }
    const auto is = [&](LaneState s) {
      return std::count(state.begin() + block.first, state.begin() + end, s);
    };
    constexpr unsigned kPatience = 4;
    const auto yielding = is(LaneState::yielding);
    if (yielding && ++idle_rounds < kPatience) continue;
    if (yielding || is(LaneState::done) + is(LaneState::at_cluster_barrier) == threads_)
      return true;
    if (!land_awaited(*this, goes_on)) return false;
    if (!goes_on) return blame_standstill();
  }
}

// The shared memory of block `rank` takes the place of the one that ran before. Both met a barrier.
void Worker::swap_in(unsigned rank) {
  if (rank == swapped_in_) return;
  static const ElfSection variables = own_section("warpladder_shared");
  auto* const statics = reinterpret_cast<unsigned char*>(tls_begin_) + variables.begin;
  const std::size_t dynamic = launch->config.dynamic_shared_bytes;
  std::vector<unsigned char>& old = images_[swapped_in_];
  old.resize(variables.bytes + dynamic);
  std::memcpy(old.data(), statics, variables.bytes);
  std::memcpy(old.data() + variables.bytes, areas_, dynamic);
  const std::vector<unsigned char>& own = images_[rank];
  if (!own.empty()) {
    std::memcpy(statics, own.data(), variables.bytes);
    std::memcpy(areas_, own.data() + variables.bytes, dynamic);
  }
  swapped_in_ = rank;
  if (check_shared) shadow.pass_barrier();
}

}  // namespace warpladder::executor
