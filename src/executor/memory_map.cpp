#include "executor/memory_map.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace warpladder::executor {

constinit HostGuard host_guard;

MemoryMap& MemoryMap::instance() {
  static MemoryMap map;
  return map;
}

void MemoryMap::add(MappedRange range) {
  std::lock_guard lock(mutex_);
  const std::uintptr_t begin = range.begin;
  ranges_.insert_or_assign(begin, std::move(range));
}

bool MemoryMap::remove(std::uintptr_t begin) {
  std::lock_guard lock(mutex_);
  return ranges_.erase(begin) != 0;
}

const MappedRange* MemoryMap::at_or_before(std::uintptr_t address) const {
  const auto after = ranges_.upper_bound(address);
  return after == ranges_.begin() ? nullptr : &std::prev(after)->second;
}

const MappedRange* MemoryMap::find(std::uintptr_t address, std::size_t bytes) const {
  std::shared_lock lock(mutex_);
  const MappedRange* const range = at_or_before(address);
  return range && range->holds(address, bytes) ? range : nullptr;
}

std::string MemoryMap::describe(std::uintptr_t address) const {
  constexpr std::size_t kNear = 4096;
  std::shared_lock lock(mutex_);
  const MappedRange* const range = at_or_before(address);
  if (!range || address - range->begin - range->bytes >= kNear) return {};
  return fmt::format("{} bytes past the end of {}, {} bytes", address - range->begin - range->bytes,
                     range->name.empty() ? "registered memory" : range->name, range->bytes);
}

}  // namespace warpladder::executor
