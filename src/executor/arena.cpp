#include "executor/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"

namespace warpladder::executor {
namespace {

constexpr std::size_t kGap = 1024;                      // illegal bytes between allocations
constexpr std::size_t kWideGap = std::size_t{1} << 20;  // behind one with a name

struct Books {
  std::mutex mutex;
  std::map<std::size_t, std::size_t> live;  // offset → legal bytes
  std::map<std::size_t, std::size_t> free;  // offset → bytes, never adjacent
  std::map<std::size_t, std::size_t> retired;
  std::map<std::size_t, std::string> names;  // offset → name, of those that have one
  std::deque<std::size_t> retired_first;     // offsets, in the order in which they were retired
};
Books& books() {
  static Books instance;
  return instance;
}

void* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

// See ArenaPart.
thread_local unsigned own_part = 0, part_count = 1;

// What an allocation takes in the arena: whole units and the gap behind it.
std::size_t footprint(std::size_t bytes, bool named) {
  return (bytes + 255) / 256 * 256 + (named ? kWideGap : kGap);
}

// Takes the first free bytes that lie no lower than `lowest`. Returns their offset, or 0.
std::size_t take(std::map<std::size_t, std::size_t>& free, std::size_t bytes, std::size_t lowest) {
  for (auto it = free.begin(); it != free.end(); ++it) {
    const std::size_t end = it->first + it->second, offset = std::max(it->first, lowest);
    if (offset + bytes > end) continue;
    if (offset + bytes < end) free[offset + bytes] = end - offset - bytes;
    it->second = offset - it->first;
    if (it->second == 0) free.erase(it);
    return offset;
  }
  return 0;
}

// The one of the allocations that holds the address; of 0 bytes if none does.
Arena::Allocation holder_of(std::uintptr_t address,
                            const std::map<std::size_t, std::size_t>& allocations,
                            std::uintptr_t arena) {
  const std::size_t offset = address - arena;
  const std::lock_guard lock(books().mutex);
  const auto after = allocations.upper_bound(offset);
  if (after == allocations.begin()) return {};
  const auto& [start, bytes] = *std::prev(after);
  return offset - start < bytes ? Arena::Allocation{arena + start, bytes} : Arena::Allocation{};
}

}  // namespace

ArenaPart::ArenaPart(unsigned part, unsigned of) {
  own_part = part;
  part_count = of;
}
ArenaPart::~ArenaPart() {
  own_part = 0;
  part_count = 1;
}

Arena& Arena::instance() {
  static Arena arena;
  return arena;
}

Arena::Arena() {
  // Addresses only; a limit on virtual memory may refuse the large range.
  for (size_ = std::size_t{1} << 40; size_ >= (std::size_t{1} << 30); size_ /= 2) {
    if (void* p = reserve(size_)) {
      legal_bytes_ = static_cast<std::uint16_t*>(reserve(size_ / kUnit * sizeof(std::uint16_t)));
      if (legal_bytes_) {
        begin_ = (reinterpret_cast<std::uintptr_t>(p) + kUnit - 1) / kUnit * kUnit;
        size_ -= kUnit;
        books().free[kGap] = size_ - kGap;
        return;
      }
      munmap(p, size_);
    }
  }
  throw_resource("cannot reserve 1 GiB of addresses for the CPU side's device memory");
}

void Arena::remember_written() {
  Books& b = books();
  std::lock_guard lock(b.mutex);
  if (written_) return;
  written_ = static_cast<unsigned char*>(reserve(size_ / 4 + 1));
  if (!written_) throw_resource("cannot reserve addresses for what has been written");
  for (const auto& [offset, bytes] : b.live) view().set_written(begin_ + offset, bytes);
}

void* Arena::allocate(std::size_t bytes, std::string name) {
  require_memory(static_cast<double>(bytes), fmt::format("an allocation of {} bytes", bytes));
  const std::size_t need = footprint(bytes, !name.empty());
  Books& b = books();
  std::lock_guard lock(b.mutex);
  constexpr std::size_t kPage = 4096;
  const std::size_t own = size_ / part_count * own_part / kPage * kPage + kGap;
  std::size_t offset = take(b.free, need, own);
  if (!offset) offset = take(b.free, need, kGap);
  if (!offset) {
    throw_resource(fmt::format("no room for {} bytes among the CPU side's allocations", bytes));
  }
  b.live[offset] = bytes;
  if (!name.empty()) b.names[offset] = std::move(name);
  for (std::size_t at = 0; at < bytes; at += kUnit) {
    legal_bytes_[(offset + at) / kUnit] = static_cast<std::uint16_t>(std::min(kUnit, bytes - at));
  }
  if (written_ && bytes) view().set_written(begin_ + offset, bytes, false);
  return reinterpret_cast<void*>(begin_ + offset);
}

void Arena::release(void* pointer) {
  if (!pointer) return;
  Books& b = books();
  std::lock_guard lock(b.mutex);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - begin_;
  give_back(offset, forbid(offset));
}

void Arena::retire(void* pointer) {
  constexpr std::size_t kMost = 256;
  Books& b = books();
  std::lock_guard lock(b.mutex);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - begin_;
  b.retired[offset] = forbid(offset);
  b.retired_first.push_back(offset);
  if (b.retired_first.size() <= kMost) return;
  const auto oldest = b.retired.find(b.retired_first.front());
  give_back(oldest->first, oldest->second);
  b.retired.erase(oldest);
  b.retired_first.pop_front();
}

// No longer live, nor legal to touch. The bytes of the allocation.
std::size_t Arena::forbid(std::size_t offset) {
  Books& b = books();
  const auto it = b.live.find(offset);
  if (it == b.live.end()) throw std::logic_error("release of a pointer that was not allocated");
  const std::size_t bytes = it->second;
  b.live.erase(it);
  for (std::size_t at = 0; at < bytes; at += kUnit) legal_bytes_[(offset + at) / kUnit] = 0;

  // Give whole pages back; what shares a page with a neighbour stays.
  const std::uintptr_t first = (begin_ + offset + 4095) / 4096 * 4096;
  const std::uintptr_t last = (begin_ + offset + bytes) / 4096 * 4096;
  if (last > first + (std::size_t{1} << 20)) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  return bytes;
}

void Arena::give_back(std::size_t offset, std::size_t bytes) {
  Books& b = books();
  const std::size_t need = footprint(bytes, b.names.erase(offset) != 0);
  auto [here, inserted] = b.free.emplace(offset, need);
  if (const auto next = std::next(here); next != b.free.end() && next->first == offset + need) {
    here->second += next->second;
    b.free.erase(next);
  }
  if (here != b.free.begin()) {
    const auto previous = std::prev(here);
    if (previous->first + previous->second == offset) {
      previous->second += here->second;
      b.free.erase(here);
    }
  }
}

Arena::Allocation Arena::allocation_of(std::uintptr_t address) const {
  return holder_of(address, books().live, begin_);
}

Arena::Allocation Arena::retired_of(std::uintptr_t address) const {
  return holder_of(address, books().retired, begin_);
}

std::string Arena::describe(std::uintptr_t address) const {
  if (const Allocation old = retired_of(address); old.bytes) {
    return fmt::format("{} bytes into an allocation of {} bytes that has been freed",
                       address - old.begin, old.bytes);
  }
  const std::size_t offset = address - begin_;
  Books& b = books();
  std::lock_guard lock(b.mutex);
  // Farther away than half a wide gap, another one may be meant.
  const auto described = [&](const std::pair<const std::size_t, std::size_t>& allocation,
                             std::size_t distance) {
    const auto name = b.names.find(allocation.first);
    if (name == b.names.end() || distance > kWideGap / 2) {
      return fmt::format("an allocation of {} bytes", allocation.second);
    }
    return name->second;
  };
  const auto after = b.live.upper_bound(offset);
  if (after != b.live.begin()) {
    const auto& before = *std::prev(after);
    const std::size_t end = before.first + before.second;
    if (offset < end) return fmt::format("across the end of {}", described(before, 0));
    // Nearer to the next allocation than to the end of this one: an access in front of that one.
    if (after == b.live.end() || offset - end <= after->first - offset) {
      return fmt::format("{} bytes past the end of {}", offset - end,
                         described(before, offset - end));
    }
  }
  if (after != b.live.end()) {
    const std::size_t distance = after->first - offset;
    return fmt::format("{} bytes before the start of {}", distance, described(*after, distance));
  }
  return "where nothing is allocated";
}

}  // namespace warpladder::executor
