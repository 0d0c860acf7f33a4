#pragma once
// cuda::barrier and cuda::pipeline. A barrier is three words in shared memory: threads wait by
// letting others run until the phase has changed. Asynchronous copies are the executor's cp.async
// where they go to shared memory in 4, 8 or 16 bytes; others have landed when the call returns.

#include <chrono>

#include "simt/vectors.hpp"
#include "simt/warp.hpp"

namespace cuda {
enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};

template <std::size_t alignment>
struct aligned_size_t {
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t v) : value(v) {}
  constexpr operator std::size_t() const { return value; }
};

namespace simt_detail {
// What all threads that call it see at once: atomics need no order of the block's own.
SIMT_INLINE unsigned read_word(unsigned* word) { return atomicAdd(word, 0u); }

// `count` pieces, as cp.async if it can copy them.
template <class T>
SIMT_INLINE bool copy_async(T* to, const T* from, std::size_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const std::size_t all = places | bytes;
  if (!program_is_shared(to) || program_is_shared(from)) {
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) to[i] = from[i];
    return false;
  }
  auto* out = reinterpret_cast<unsigned char*>(to);
  const auto* in = reinterpret_cast<const unsigned char*>(from);
  const std::size_t step = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
  if (step == 0) {
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) to[i] = from[i];
    return false;
  }
  for (std::size_t at = 0; at < bytes; at += step) {
    if (step == 16) simt_cp_async16(out + at, in + at, 16);
    if (step == 8) simt_cp_async8(out + at, in + at, 8);
    if (step == 4) simt_cp_async4(out + at, in + at, 4);
  }
  return true;
}
}  // namespace simt_detail

template <thread_scope Scope = thread_scope_system, class Completion = void>
class barrier {
 public:
  using arrival_token = unsigned;
  barrier() = default;
  SIMT_INLINE explicit barrier(std::ptrdiff_t count) { set(static_cast<unsigned>(count)); }
  friend SIMT_INLINE void init(barrier* b, std::ptrdiff_t count) {
    b->set(static_cast<unsigned>(count));
  }
  // The copies that a thread has begun land when it arrives.
  SIMT_INLINE arrival_token arrive(std::ptrdiff_t update = 1) {
    simt_cp_async_commit();
    simt_cp_async_wait(0);
    const unsigned phase = simt_detail::read_word(&phase_);
    count_arrivals(static_cast<unsigned>(update));
    return phase;
  }
  SIMT_INLINE void wait(arrival_token phase) const {
    while (simt_detail::read_word(&phase_) == phase) program_yield();
  }
  SIMT_INLINE void wait_parity(bool parity) const {
    while ((simt_detail::read_word(&phase_) & 1) == parity) program_yield();
  }
  SIMT_INLINE bool try_wait(arrival_token phase) const {
    if (simt_detail::read_word(&phase_) != phase) return true;
    program_yield();
    return false;
  }
  SIMT_INLINE void arrive_and_wait() { wait(arrive()); }
  SIMT_INLINE void arrive_and_drop() {
    atomicSub(&expected_, 1u);
    arrive();
  }

 private:
  // Plain stores: what nobody has written cannot be exchanged.
  SIMT_INLINE void set(unsigned count) {
    expected_ = count;
    arrived_ = phase_ = 0;
  }
  SIMT_INLINE void count_arrivals(unsigned update) {
    if (atomicAdd(&arrived_, update) + update < simt_detail::read_word(&expected_)) return;
    program_threads_have_met();
    atomicExch(&arrived_, 0u);
    atomicAdd(&phase_, 1u);
  }
  mutable unsigned expected_, arrived_, phase_;
};

enum class pipeline_role { producer, consumer };
template <thread_scope Scope, std::uint8_t stages>
struct pipeline_shared_state {
  unsigned producers, consumers;
  unsigned full[stages], empty[stages];  // threads that have committed or released, since the start
};

// Of one thread: the groups of its own copies. Of a block: stages that producers fill and consumers
// empty, each counted by those who are done with it.
template <thread_scope Scope = thread_scope_thread>
class pipeline {
 public:
  pipeline() = default;
  template <std::uint8_t stages>
  SIMT_INLINE pipeline(pipeline_shared_state<Scope, stages>* state, unsigned producers,
                       unsigned consumers)
      : producers_(producers),
        consumers_(consumers),
        stages_(stages),
        full_(state->full),
        empty_(state->empty) {}
  SIMT_INLINE void producer_acquire() {
    if (!full_ || filled_ < stages_) return;
    wait_for(&empty_[filled_ % stages_], filled_ / stages_ * consumers_);
  }
  SIMT_INLINE void producer_commit() {
    simt_cp_async_commit();
    ++filled_;
    if (!full_) return;
    simt_cp_async_wait(0);
    program_threads_have_met();
    atomicAdd(&full_[(filled_ - 1) % stages_], 1u);
  }
  SIMT_INLINE void consumer_wait() {
    if (full_) {
      wait_for(&full_[emptied_ % stages_], (emptied_ / stages_ + 1) * producers_);
    } else {
      simt_cp_async_wait(static_cast<int>(filled_ - emptied_) - 1);
    }
  }
  template <class Period>
  SIMT_INLINE bool consumer_wait_for(const Period&) {
    return consumer_wait(), true;
  }
  SIMT_INLINE void consumer_release() {
    if (full_) {
      program_threads_have_met();
      atomicAdd(&empty_[emptied_ % stages_], 1u);
    }
    ++emptied_;
  }
  SIMT_INLINE bool quit() { return true; }

 private:
  static SIMT_INLINE void wait_for(unsigned* counter, unsigned count) {
    while (simt_detail::read_word(counter) < count) program_yield();
  }
  unsigned producers_ = 0, consumers_ = 0, stages_ = 0, filled_ = 0, emptied_ = 0;
  unsigned *full_ = nullptr, *empty_ = nullptr;
};
SIMT_INLINE pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope Scope, std::uint8_t stages>
SIMT_INLINE pipeline<Scope> prepared(const Group& group,
                                     pipeline_shared_state<Scope, stages>* state, bool produces,
                                     bool consumes) {
  if (group.thread_rank() == 0) {
    state->producers = state->consumers = 0;
    for (int i = 0; i < stages; ++i) state->full[i] = state->empty[i] = 0;
  }
  group.sync();
  if (produces) atomicAdd(&state->producers, 1u);
  if (consumes) atomicAdd(&state->consumers, 1u);
  group.sync();
  return {state, simt_detail::read_word(&state->producers),
          simt_detail::read_word(&state->consumers)};
}
template <class Group, thread_scope Scope, std::uint8_t stages>
SIMT_INLINE pipeline<Scope> make_pipeline(const Group& group,
                                          pipeline_shared_state<Scope, stages>* state) {
  return prepared(group, state, true, true);
}
template <class Group, thread_scope Scope, std::uint8_t stages>
SIMT_INLINE pipeline<Scope> make_pipeline(const Group& group,
                                          pipeline_shared_state<Scope, stages>* state,
                                          pipeline_role role) {
  return prepared(group, state, role == pipeline_role::producer, role == pipeline_role::consumer);
}
template <std::uint8_t prior>
SIMT_INLINE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
  simt_cp_async_wait(prior);
}

#define SIMT_COPIES(Sync, parameters)                                                          \
  template <class T, class Size, parameters>                                                   \
  SIMT_INLINE void memcpy_async(T* to, const T* from, Size bytes, Sync&) {                     \
    simt_detail::copy_async(to, from, bytes);                                                  \
  }                                                                                            \
  template <class Group, class T, class Size, parameters>                                      \
  SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, Size bytes, Sync&) { \
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(T);                     \
    for (std::size_t i = group.thread_rank(); i < count; i += group.size()) {                  \
      simt_detail::copy_async(to + i, from + i, sizeof(T));                                    \
    }                                                                                          \
  }
SIMT_COPIES(barrier<Scope>, thread_scope Scope)
SIMT_COPIES(pipeline<Scope>, thread_scope Scope)
#undef SIMT_COPIES
}  // namespace cuda
