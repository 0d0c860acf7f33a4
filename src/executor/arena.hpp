#pragma once
// The device memory of the CPU side: pieces of one reserved range of addresses. A table tells in
// one look-up whether an access lies in an allocation.

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpladder::executor {

// The table, as the check of every access sees it.
struct ArenaView {
  static constexpr std::size_t kUnit = 256;
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  const std::uint16_t* legal_bytes = nullptr;  // of each unit, from the unit's start
  // One for each word of 4 bytes that something has been written to; null where nobody asks. A
  // whole byte each, so that several threads may set them.
  unsigned char* written = nullptr;

  // True when [address, address + bytes) lies in one allocation. The range must not cross a
  // 256-byte line; naturally aligned accesses of up to 16 bytes never do.
  bool legal(std::uintptr_t address, unsigned bytes) const {
    const std::size_t offset = address - begin;
    return offset < size && legal_at(offset, bytes);
  }
  bool legal_at(std::size_t offset, unsigned bytes) const {
    return (offset & (kUnit - 1)) + bytes <= legal_bytes[offset / kUnit];
  }
  // Of a range in the arena: whether any word of it has been written. What lies between a
  // structure's members is read with them, and nobody writes it.
  bool any_written(std::uintptr_t address, std::size_t bytes) const {
    for (std::size_t w = (address - begin) / 4; w <= (address - begin + bytes - 1) / 4; ++w) {
      if (written[w]) return true;
    }
    return false;
  }
  void set_written(std::uintptr_t address, std::size_t bytes, bool is = true) const {
    const std::size_t first = (address - begin) / 4, last = (address - begin + bytes - 1) / 4;
    __builtin_memset(written + first, is, last - first + 1);
  }
};

class Arena {
 public:
  static Arena& instance();
  ArenaView view() const { return {begin_, size_, legal_bytes_, written_}; }
  // From now on it is known what has been written; of what is allocated already, all.
  void remember_written();

  // `bytes` of legal memory, at an address that is a multiple of 256. A fault report calls it
  // `name` ("A, 400 bytes"). A wide gap follows a name, so that the report names the right one.
  // Throws Error(resource) when the machine has too little memory.
  void* allocate(std::size_t bytes, std::string name = {});
  void release(void* pointer);
  // Illegal from now on, but not given to anybody else soon: an access to it is told from one to
  // memory that was never allocated.
  void retire(void* pointer);

  struct Allocation {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    bool holds(std::uintptr_t address, std::size_t count) const {
      return address - begin <= bytes && count <= bytes - (address - begin);
    }
  };
  // The one that holds the address; of 0 bytes if there is none.
  Allocation allocation_of(std::uintptr_t address) const;
  // The same, of those that were retired.
  Allocation retired_of(std::uintptr_t address) const;

  // For a fault report: where the address lies relative to the nearest allocation.
  std::string describe(std::uintptr_t address) const;

 private:
  Arena();
  std::size_t forbid(std::size_t offset);
  void give_back(std::size_t offset, std::size_t bytes);
  static constexpr std::size_t kUnit = ArenaView::kUnit;
  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint16_t* legal_bytes_ = nullptr;
  unsigned char* written_ = nullptr;
};

// While it lives, the thread allocates in its own one of equal parts of the arena, as long as that
// has room. So an access past an allocation's end does not meet one of another thread.
class ArenaPart {
 public:
  ArenaPart(unsigned part, unsigned of);
  ~ArenaPart();
  ArenaPart(const ArenaPart&) = delete;
  ArenaPart& operator=(const ArenaPart&) = delete;
};

}  // namespace warpladder::executor
