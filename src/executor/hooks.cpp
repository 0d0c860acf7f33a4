// What the compiler calls in the counted flavour. g++ -fsanitize=thread puts a call of __tsan_* in
// front of every real memory access. -fsanitize-coverage=trace-pc puts one of
// __sanitizer_cov_trace_pc at the start of every basic block. This file is what they are linked
// with instead of the sanitizers' run-time libraries.

#include "executor/hooks.hpp"

#include <cstddef>

#include "executor/memory_map.hpp"

namespace warpladder::executor {
namespace {

const char* verb_of(AccessKind kind) {
  return kind == AccessKind::load    ? "reads"
         : kind == AccessKind::store ? "writes"
                                     : "atomically changes";
}

}  // namespace

bool find_mapped(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                 std::uintptr_t pc, bool& logged) {
  if (!w.mapped || !w.mapped->holds(address, bytes)) {
    w.mapped = MemoryMap::instance().find(address, bytes);
    if (!w.mapped) return false;
  }
  if (address & (bytes - 1)) refuse_alignment(w, address, bytes, pc);
  logged = w.mapped->space == MappedSpace::global;
  if (!logged && kind != AccessKind::load) {
    w.fail(FaultKind::out_of_bounds, pc, [&] {
      return fmt::format("{} {} bytes of {}, which is constant", verb_of(kind), bytes,
                         w.mapped->name.empty() ? "memory" : w.mapped->name);
    });
  }
  return true;
}

void refuse_access(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                   std::uintptr_t pc) {
  const char* const verb = verb_of(kind);
  if (address - w.arena.begin < w.arena.size) {
    w.fail(FaultKind::out_of_bounds, pc, [&] {
      return fmt::format("{} {} bytes {}", verb, bytes, Arena::instance().describe(address));
    });
  }
  if (w.cluster() > 1 && w.in_static_shared(address)) {
    w.fail(FaultKind::out_of_bounds, pc, [&] {
      return fmt::format(
          "{} {} bytes of a __shared__ variable; the blocks of a cluster have only "
          "dynamic shared memory here",
          verb, bytes);
    });
  }
  if (const std::string where = MemoryMap::instance().describe(address); !where.empty()) {
    w.fail(FaultKind::out_of_bounds, pc,
           [&] { return fmt::format("{} {} bytes {}", verb, bytes, where); });
  }
  w.fail(FaultKind::host_pointer, pc, [&] {
    return fmt::format("{} {} bytes at {:#x}, which is not device memory", verb, bytes, address);
  });
}

void refuse_alignment(Worker& w, std::uintptr_t address, unsigned bytes, std::uintptr_t pc) {
  w.fail(FaultKind::misaligned_access, pc, [&] {
    return fmt::format("an access of {} bytes at an address that is {} bytes off a multiple of {}",
                       bytes, address % bytes, bytes);
  });
}

void check_written(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                   std::uintptr_t pc) {
  if (kind != AccessKind::store && !w.arena.any_written(address, bytes)) {
    const Arena::Allocation in = Arena::instance().allocation_of(address);
    w.fail(FaultKind::uninitialised_global_read, pc, [&] {
      return fmt::format("{} {} bytes that nothing has written, {} bytes into an allocation of {}",
                         verb_of(kind), bytes, address - in.begin, in.bytes);
    });
  }
  if (kind != AccessKind::load) w.arena.set_written(address, bytes);
}

void look_into_shared_access(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                             std::uintptr_t pc) {
  if (w.shadow.in_doubt() && !w.settle_doubts(w.current)) w.abandon();
  const std::size_t offset = address - w.shared_begin;
  const auto* problem = w.shadow.check(offset, bytes, w.shadow_name(w.current), kind);
  w.note_doubts(pc);
  if (!problem) return;
  if (problem->kind == FaultKind::uninitialised_shared_read) {
    w.suspect_early_read(pc, problem->sentence);
  } else if (problem->of_awaited) {
    w.blame_early_read(*problem);
    w.abandon();
  } else if (w.shadow.awaits_writer() && problem->kind == FaultKind::shared_memory_race) {
    return;  // the block has its fault; what is left to learn is who writes the awaited word
  } else if (problem->kind == FaultKind::out_of_bounds) {
    w.fail(problem->kind, pc, [&] {
      return fmt::format("{} {} bytes {}", verb_of(kind), bytes, w.describe_shared(address));
    });
  } else {
    w.fail(problem->kind, pc, [&] { return problem->sentence; });
  }
}

namespace {

// Aggregates larger than a machine vector: as many 4-byte accesses.
void on_range(void* p, std::size_t bytes, AccessKind kind, void* return_address) {
  Worker* w = this_worker;
  if (!w || !w->counted) return;
  for (std::size_t at = 0; at + 4 <= bytes; at += 4) {
    on_access(*w, reinterpret_cast<std::uintptr_t>(p) + at, 4, kind,
              reinterpret_cast<std::uintptr_t>(return_address));
  }
}

}  // namespace
}  // namespace warpladder::executor

using warpladder::executor::AccessKind;
using namespace warpladder::executor;

namespace {

// What the hooks do not decide at a glance. Out of line, so that they need no stack frame.
template <unsigned bytes, AccessKind kind>
[[gnu::noinline]] void on_other_access(std::uintptr_t address, std::uintptr_t pc) {
  if (Worker* w = this_worker) {
    on_access(*w, address, bytes, kind, pc);
  } else if (address - host_guard.begin < host_guard.size) {
    host_guard.refuse(address, bytes, pc);
  }
}

// The running thread's own frames: the most frequent answer, told without a load. Neither shared
// memory nor the arena lies so little above a stack pointer, for every stack has more above it.
inline __attribute__((always_inline)) bool is_in_a_frame(std::uintptr_t address) {
  std::uintptr_t stack_pointer;
  asm("movq %%rsp, %0" : "=r"(stack_pointer));
  return address - stack_pointer < kRoomAboveStacks;
}

}  // namespace

// A whole program is instrumented, too: its host code, and launches that nobody wants counted.
#define HOOK(name, bytes, kind)                                                      \
  extern "C" void name(void* p) {                                                    \
    const auto address = reinterpret_cast<std::uintptr_t>(p);                        \
    if (is_in_a_frame(address)) return;                                              \
    const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));   \
    if (Worker* w = this_worker) {                                                   \
      if (address % bytes == 0) {                                                    \
        const std::size_t offset = address - w->arena.begin;                         \
        if (offset < w->unwatched_arena_bytes && w->arena.legal_at(offset, bytes)) { \
          return log_access(*w, address, offset_of(pc));                             \
        }                                                                            \
        if (address - w->shared_begin < w->unchecked_shared_bytes) {                 \
          return log_access(*w, address, offset_of(pc) | kSharedBit);                \
        }                                                                            \
      }                                                                              \
      if (!w->counted || w->on_fiber_stack(address)) return;                         \
    }                                                                                \
    on_other_access<bytes, kind>(address, pc);                                       \
  }
#define HOOKS(bytes)                                            \
  HOOK(__tsan_read##bytes, bytes, AccessKind::load)             \
  HOOK(__tsan_write##bytes, bytes, AccessKind::store)           \
  HOOK(__tsan_unaligned_read##bytes, bytes, AccessKind::load)   \
  HOOK(__tsan_unaligned_write##bytes, bytes, AccessKind::store) \
  HOOK(__tsan_volatile_read##bytes, bytes, AccessKind::load)    \
  HOOK(__tsan_volatile_write##bytes, bytes, AccessKind::store)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

extern "C" {
void __tsan_read_range(void* p, std::size_t bytes) {
  on_range(p, bytes, AccessKind::load, __builtin_return_address(0));
}
void __tsan_write_range(void* p, std::size_t bytes) {
  on_range(p, bytes, AccessKind::store, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// The store of a virtual table's address, when an object is built.
void __tsan_vptr_update(void** p, void*) {
  if (Worker* w = this_worker; w && w->counted) {
    on_access(*w, reinterpret_cast<std::uintptr_t>(p), 8, AccessKind::store,
              reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  }
}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

void __sanitizer_cov_trace_pc() {
  Worker* w = this_worker;
  if (!w || !w->cursor.pc) return;
  *w->cursor.pc = offset_of(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  if (++w->cursor.pc >= w->cursor.pc_limit) w->pause_lane();
}
}
