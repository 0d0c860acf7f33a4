// What the lanes of a warp hand each other: shuffles, votes, reductions and __syncwarp.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "executor/worker.hpp"

namespace warpladder::executor {

std::uint64_t Worker::exchange(const ExchangeSlot& slot) {
  const unsigned lane = current % kWarp;
  if (slot.op != Exchange::active_mask && !(slot.mask >> lane & 1)) {
    fail(FaultKind::bad_warp_mask, slot.pc, [&] {
      return fmt::format("lane {} calls with mask {:#010x}, which leaves it out", lane, slot.mask);
    });
  }
  slot_of_[current] = slot;
  state[current] = LaneState::at_exchange;
  ++at_exchange_;
  suspend_here();
  return slot_of_[current].value;
}

// Performs every exchange whose members have all arrived.
bool Worker::resolve_exchanges(unsigned first, unsigned end) {
  unsigned waiting = 0, gone = 0;
  for (unsigned t = first; t < first + kWarp; ++t) {
    const unsigned bit = 1u << (t - first);
    if (t >= end || state[t] == LaneState::done) {
      gone |= bit;
    } else if (state[t] == LaneState::at_exchange) {
      waiting |= bit;
    }
  }
  for (unsigned t = first; t < end; ++t) {
    const unsigned bit = 1u << (t - first);
    if (!(waiting & bit)) continue;
    const ExchangeSlot& mine = slot_of_[t];
    unsigned members = mine.mask;
    if (mine.op == Exchange::active_mask) {  // the threads that stopped at the same place
      members = 0;
      for (unsigned u = first; u < end; ++u) {
        if ((waiting >> (u - first) & 1) && slot_of_[u].op == Exchange::active_mask &&
            slot_of_[u].pc == mine.pc) {
          members |= 1u << (u - first);
        }
      }
    } else if (const unsigned lost = members & gone; lost && is_aligned(mine.op)) {
      return blame(
          FaultKind::bad_warp_mask, mine.pc, t,
          fmt::format("mask {:#010x} names lanes {:#010x}, which have exited or never were",
                      mine.mask, lost));
    } else {
      members &= ~gone;  // CUDA asks for the lanes that have not exited
    }
    if ((members & waiting) != members) continue;
    bool agreed = true;
    for (unsigned u = first; u < end && agreed; ++u) {
      if (!(members >> (u - first) & 1)) continue;
      agreed = slot_of_[u].op == mine.op &&
               (mine.op == Exchange::active_mask || slot_of_[u].mask == mine.mask);
    }
    if (!agreed) continue;
    if (!perform(first, members)) return false;
    waiting &= ~members;
  }
  return true;
}

namespace {

std::uint64_t reduce(int form, std::uint64_t a, std::uint64_t b) {
  const auto ua = static_cast<unsigned>(a), ub = static_cast<unsigned>(b);
  const auto sa = static_cast<int>(ua), sb = static_cast<int>(ub);
  switch (form) {
    case 0:
      return ua + ub;
    case 1:
      return static_cast<unsigned>(std::min(sa, sb));
    case 2:
      return static_cast<unsigned>(std::max(sa, sb));
    case 3:
      return std::min(ua, ub);
    case 4:
      return std::max(ua, ub);
    case 5:
      return ua & ub;
    case 6:
      return ua | ub;
    default:
      return ua ^ ub;
  }
}

// The lane that `lane` reads from, or itself where CUDA says that the value stays.
int shuffle_source(const ExchangeSlot& slot, int lane) {
  const int width = slot.width, segment = lane & ~(width - 1);
  switch (slot.form) {
    case 0:
      return segment + (slot.argument & (width - 1));
    case 1:
      return lane - slot.argument < segment ? lane : lane - slot.argument;
    case 2:
      return lane + slot.argument >= segment + width ? lane : lane + slot.argument;
    default: {
      const int source = lane ^ slot.argument;
      return source >= segment + width ? lane : source;
    }
  }
}

}  // namespace

bool Worker::perform(unsigned first, unsigned members) {
  ExchangeSlot* slots = &slot_of_[first];
  const unsigned leader = static_cast<unsigned>(std::countr_zero(members));
  const Exchange op = slots[leader].op;
  std::uint64_t in[kWarp];
  unsigned votes = 0;
  std::uint64_t reduced = slots[leader].value;
  for (unsigned l = 0; l < kWarp; ++l) {
    if (!(members >> l & 1)) continue;
    in[l] = slots[l].value;
    votes |= unsigned{in[l] != 0} << l;
    if (l != leader && op == Exchange::reduce) reduced = reduce(slots[l].form, reduced, in[l]);
  }
  // A warp's barrier and its active mask hand no lane another's value.
  const bool is_shuffle = op != Exchange::sync && op != Exchange::active_mask && !is_aligned(op);
  if (is_aligned(op) && !perform_aligned(first, op)) return false;
  if (logs && is_shuffle) log.count_event(slots[leader].pc, 1);
  for (unsigned l = 0; l < kWarp; ++l) {
    if (!(members >> l & 1)) continue;
    ExchangeSlot& slot = slots[l];
    switch (op) {
      case Exchange::sync:
      case Exchange::multiply_f64:
      case Exchange::multiply:
      case Exchange::load_matrices:
        break;
      case Exchange::active_mask:
        slot.value = members;
        break;
      case Exchange::reduce:
        slot.value = reduced;
        break;
      case Exchange::vote:
        slot.value = slot.form == 0 ? votes : slot.form == 1 ? votes != 0 : votes == members;
        break;
      case Exchange::shuffle: {
        if (slot.width < 1 || slot.width > 32 || !std::has_single_bit(unsigned(slot.width))) {
          return blame(FaultKind::bad_warp_mask, slot.pc, first + l,
                       fmt::format("shuffle width {} is not a power of two up to 32", slot.width));
        }
        const int source = shuffle_source(slot, static_cast<int>(l));
        if (source < 0 || source > 31 || !(members >> source & 1)) {
          if (shared_state_->options.goes_on) break;
          return blame(FaultKind::inactive_lane_shuffle, slot.pc, first + l,
                       fmt::format("lane {} reads from lane {}, which does not take part (mask "
                                   "{:#010x})",
                                   l, source, slot.mask));
        }
        slot.value = in[source];
      }
    }
    state[first + l] = LaneState::ready;
    forget_steps(first + l, first + l + 1);
    --at_exchange_;
  }
  if (op == Exchange::sync && check_shared) shadow.pass_warp_barrier(shadow_name(first) / kWarp);
  return true;
}

}  // namespace warpladder::executor
