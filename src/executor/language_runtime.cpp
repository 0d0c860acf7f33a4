// The executor's side of cuda_language.hpp.

#include "executor/cuda_language.hpp"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#include <algorithm>
#include <utility>

#include "executor/hooks.hpp"
#include "executor/worker.hpp"

using warpladder::executor::AccessKind;
using warpladder::runtime::Dim3;
using namespace warpladder::executor;

namespace {

std::uintptr_t to_pc(void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address);
}
bool is_shared(const Worker& w, const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - w.shared_begin < w.shared_bytes;
}

// The counted flavour checks and logs the access. A global atomic waits until all lower blocks have
// finished, and all higher ones wait for this one. So a plain read-modify-write is atomic, and the
// order of floating-point sums does not depend on the number of OS threads.
void begin_atomic(Worker& w, void* address, unsigned bytes, std::uintptr_t pc) {
  if (w.counted)
    on_access(w, reinterpret_cast<std::uintptr_t>(address), bytes, AccessKind::atomic, pc);
  if (!is_shared(w, address)) w.wait_for_turn();
}

template <class Bits, class Signed, class Float>
Bits new_value(Bits old, Bits operand, Bits compare, int form) {
  const auto s_old = static_cast<Signed>(old), s_operand = static_cast<Signed>(operand);
  switch (form) {
    case simt::kAtomicAdd:
      return old + operand;
    case simt::kAtomicAddFloat:
      return std::bit_cast<Bits>(std::bit_cast<Float>(old) + std::bit_cast<Float>(operand));
    case simt::kAtomicExchange:
      return operand;
    case simt::kAtomicCompareSwap:
      return old == compare ? operand : old;
    case simt::kAtomicMinSigned:
      return static_cast<Bits>(std::min(s_old, s_operand));
    case simt::kAtomicMaxSigned:
      return static_cast<Bits>(std::max(s_old, s_operand));
    case simt::kAtomicMinUnsigned:
      return std::min(old, operand);
    case simt::kAtomicMaxUnsigned:
      return std::max(old, operand);
    case simt::kAtomicAnd:
      return old & operand;
    case simt::kAtomicOr:
      return old | operand;
    case simt::kAtomicXor:
      return old ^ operand;
    case simt::kAtomicIncrement:
      return old >= operand ? 0 : old + 1;
    default:
      return old == 0 || old > operand ? operand : old - 1;
  }
}

template <class Bits, class Signed, class Float>
Bits atomic(void* address, Bits operand, Bits compare, int form, std::uintptr_t pc) {
  begin_atomic(*this_worker, address, sizeof(Bits), pc);
  Bits old;
  std::memcpy(&old, address, sizeof old);
  const Bits changed = new_value<Bits, Signed, Float>(old, operand, compare, form);
  std::memcpy(address, &changed, sizeof changed);
  if (form == simt::kAtomicCompareSwap && old != compare) {
    std::uint64_t found = 0;
    std::memcpy(&found, &old, sizeof old);
    this_worker->on_failed_swap(address, found);
  }
  return old;
}

ExchangeSlot exchange_slot(Exchange op, unsigned mask, void* return_address) {
  return {op, 0, 0, 32, mask, to_pc(return_address), 0};
}

// Both sides of the copy are checked and logged when it is issued. The bytes move when the thread
// waits for them, the latest moment that PTX allows.
void cp_async(void* shared, const void* global, unsigned bytes, unsigned source_bytes,
              std::uintptr_t pc) {
  Worker& w = *this_worker;
  if (w.counted) {
    if (source_bytes) {
      on_access(w, reinterpret_cast<std::uintptr_t>(global), bytes, AccessKind::load, pc,
                source_bytes);
    }
    const auto to = reinterpret_cast<std::uintptr_t>(shared);
    on_access(w, to, bytes, AccessKind::store, pc);
    if (w.check_shared) w.shadow.begin_async_write(to - w.shared_begin, bytes);
  }
  w.async_queue().groups.back().push_back({shared, global, bytes, source_bytes, pc});
}

}  // namespace

extern "C" {

int simt_sync_block(int form, int predicate) {
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  if (form != simt::kBarrier) return this_worker->wait_at_barrier(form, predicate, pc);
  this_worker->wait_at_barrier(pc);
  return 0;
}
void simt_sync_warp(unsigned mask) {
  this_worker->exchange(exchange_slot(Exchange::sync, mask, __builtin_return_address(0)));
}
std::uint64_t simt_shuffle(unsigned mask, std::uint64_t value, int form, int argument, int width) {
  ExchangeSlot slot = exchange_slot(Exchange::shuffle, mask, __builtin_return_address(0));
  slot.value = value;
  slot.form = form;
  slot.argument = argument;
  slot.width = width;
  return this_worker->exchange(slot);
}
unsigned simt_vote(unsigned mask, int predicate, int form) {
  ExchangeSlot slot = exchange_slot(Exchange::vote, mask, __builtin_return_address(0));
  slot.value = predicate != 0;
  slot.form = form;
  return static_cast<unsigned>(this_worker->exchange(slot));
}
unsigned simt_reduce(unsigned mask, unsigned value, int form) {
  ExchangeSlot slot = exchange_slot(Exchange::reduce, mask, __builtin_return_address(0));
  slot.value = value;
  slot.form = form;
  return static_cast<unsigned>(this_worker->exchange(slot));
}
unsigned simt_active_mask() {
  return static_cast<unsigned>(
      this_worker->exchange(exchange_slot(Exchange::active_mask, 0, __builtin_return_address(0))));
}

std::uint32_t simt_atomic4(void* address, std::uint32_t operand, std::uint32_t compare, int form) {
  return atomic<std::uint32_t, std::int32_t, float>(address, operand, compare, form,
                                                    to_pc(__builtin_return_address(0)));
}
std::uint64_t simt_atomic8(void* address, std::uint64_t operand, std::uint64_t compare, int form) {
  return atomic<std::uint64_t, std::int64_t, double>(address, operand, compare, form,
                                                     to_pc(__builtin_return_address(0)));
}

void simt_cp_async4(void* shared, const void* global, unsigned source_bytes) {
  cp_async(shared, global, 4, source_bytes, to_pc(__builtin_return_address(0)));
}
void simt_cp_async8(void* shared, const void* global, unsigned source_bytes) {
  cp_async(shared, global, 8, source_bytes, to_pc(__builtin_return_address(0)));
}
void simt_cp_async16(void* shared, const void* global, unsigned source_bytes) {
  cp_async(shared, global, 16, source_bytes, to_pc(__builtin_return_address(0)));
}
void simt_cp_async_commit() { this_worker->async_queue().groups.emplace_back(); }
void simt_cp_async_wait(int groups_left) {
  Worker& w = *this_worker;
  auto& groups = w.async_queue().groups;
  while (static_cast<int>(groups.size()) - 1 > groups_left) {
    for (const AsyncCopy& copy : groups.front()) {
      if (!land_copy(w, copy, w.current)) w.abandon();
    }
    groups.erase(groups.begin());
  }
  if (groups.empty()) groups.emplace_back();  // cp.async.wait_all: the open group went too
}
}
