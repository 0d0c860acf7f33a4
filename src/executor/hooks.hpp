#pragma once
// The path of one memory access of the counted flavour. Internal to device/cpu.

#include <fmt/format.h>

#include "executor/arena.hpp"
#include "executor/worker.hpp"

extern "C" const char warpladder_kernels_begin[], warpladder_kernels_end[];

namespace warpladder::executor {

inline std::uint32_t offset_of(std::uintptr_t pc) {
  return static_cast<std::uint32_t>(pc -
                                    reinterpret_cast<std::uintptr_t>(warpladder_kernels_begin));
}

// True for memory that is mapped besides the arena; `logged` says whether its accesses count.
bool find_mapped(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                 std::uintptr_t pc, bool& logged);
[[noreturn]] void refuse_access(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                                std::uintptr_t pc);
[[noreturn]] void refuse_alignment(Worker& w, std::uintptr_t address, unsigned bytes,
                                   std::uintptr_t pc);
// Of a legal access to the arena, where it is known what has been written.
void check_written(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                   std::uintptr_t pc);
// Of an access to shared memory that is no mere repetition.
void look_into_shared_access(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                             std::uintptr_t pc);
inline void check_shared_access(Worker& w, std::uintptr_t address, unsigned bytes, AccessKind kind,
                                std::uintptr_t pc) {
  if (kind != AccessKind::load ||
      !w.shadow.repeats(address - w.shared_begin, bytes, w.shadow_name(w.current))) {
    look_into_shared_access(w, address, bytes, kind, pc);
  }
}

inline void log_access(Worker& w, std::uintptr_t address, std::uint32_t record) {
  if (!w.cursor.pc) return;
  *w.cursor.pc = record;
  *w.cursor.address++ = address;
  if (++w.cursor.pc >= w.cursor.pc_limit) w.pause_lane();
}

// Checks the access and logs it; kernels of the counted flavour only. Accesses to a fiber's own
// stack and to the kernel's arguments are registers and constant memory on a GPU: they are not
// logged. The address is to be a multiple of `bytes`, of which the first `touched` must be there.
inline __attribute__((always_inline)) void on_access(Worker& w, std::uintptr_t address,
                                                     unsigned bytes, AccessKind kind,
                                                     std::uintptr_t pc, unsigned touched) {
  std::uint32_t record = offset_of(pc);
  if (address - w.shared_begin < w.shared_bytes) {
    if (__builtin_expect(address & (bytes - 1), 0)) refuse_alignment(w, address, bytes, pc);
    if (w.check_shared) check_shared_access(w, address, bytes, kind, pc);
    record |= kSharedBit;
  } else {
    if (__builtin_expect(!w.arena.legal(address, touched) || address & (bytes - 1), 0)) {
      const auto arguments = reinterpret_cast<std::uintptr_t>(w.launch->arguments);
      if (w.on_fiber_stack(address) || address - arguments < w.launch->argument_bytes) return;
      if (bool logged; find_mapped(w, address, touched, kind, pc, logged)) {
        if (logged) log_access(w, address, record);
        return;
      }
      // The order matters: a misaligned access in an allocation may also cross its end.
      if (address & (bytes - 1)) refuse_alignment(w, address, bytes, pc);
      refuse_access(w, address, touched, kind, pc);
    }
    if (__builtin_expect(w.arena.written != nullptr, 0)) {
      check_written(w, address, touched, kind, pc);
    }
  }
  log_access(w, address, record);
}
inline __attribute__((always_inline)) void on_access(Worker& w, std::uintptr_t address,
                                                     unsigned bytes, AccessKind kind,
                                                     std::uintptr_t pc) {
  on_access(w, address, bytes, kind, pc, bytes);
}

}  // namespace warpladder::executor
