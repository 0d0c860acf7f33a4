#pragma once
// Memory that kernels may touch and that is no allocation of the arena: variables of a whole
// program, host memory that was registered. Rungs have none.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

namespace warpladder::executor {

enum class MappedSpace : std::uint8_t { none, global, constant };

struct MappedRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  MappedSpace space = MappedSpace::none;
  std::string name;  // of the variable; empty where it has none

  bool holds(std::uintptr_t address, std::size_t count) const {
    return address - begin < bytes && count <= bytes - (address - begin);
  }
};

class MemoryMap {
 public:
  static MemoryMap& instance();
  void add(MappedRange range);
  bool remove(std::uintptr_t begin);
  // The range that holds the access; null if none does. Stays valid until it is removed.
  const MappedRange* find(std::uintptr_t address, std::size_t bytes) const;
  // For a fault report, of an address shortly behind a range; empty if there is none nearby.
  std::string describe(std::uintptr_t address) const;

 private:
  const MappedRange* at_or_before(std::uintptr_t address) const;

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, MappedRange> ranges_;
};

// What host code may not touch: instrumented host code that accesses the arena calls `refuse`.
struct HostGuard {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  void (*refuse)(std::uintptr_t address, unsigned bytes, std::uintptr_t pc) = nullptr;
};
extern constinit HostGuard host_guard;

}  // namespace warpladder::executor
