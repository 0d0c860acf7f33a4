#include "base/temporary_name.hpp"

#include <linux/limits.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace warpladder {
namespace {

// Fixed memory: a signal's handler may neither allocate nor wait for a lock.
struct Slot {
  std::atomic<bool> taken{false}, ready{false};
  char path[PATH_MAX];
};
constexpr std::size_t kSlots = 16;  // more files at a time are written by nobody
Slot slots[kSlots];

}  // namespace

TemporaryName::TemporaryName(std::string path) : path_(std::move(path)) {
  if (path_.size() >= sizeof Slot::path) return;
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slot_ = i;
    std::memcpy(slots[i].path, path_.c_str(), path_.size() + 1);
    slots[i].ready = true;
    return;
  }
}

TemporaryName::~TemporaryName() {
  if (!path_.empty()) ::unlink(path_.c_str());
  disown();
}

void TemporaryName::disown() noexcept {
  path_.clear();
  if (slot_ == kNoSlot) return;
  slots[slot_].ready = false;
  slots[slot_].taken = false;
  slot_ = kNoSlot;
}

void TemporaryName::remove_all() noexcept {
  for (const Slot& slot : slots) {
    if (slot.ready) ::unlink(slot.path);
  }
}

}  // namespace warpladder
