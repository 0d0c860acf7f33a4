#pragma once
// The device memory of the CPU side: pieces of one reserved range of addresses, with a table that
// tells in one look-up whether an access lies in an allocation.

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpladder::device::cpu {

class Arena {
 public:
  static Arena& instance();

  // `bytes` of legal memory, at an address that is a multiple of 256. Throws Error(resource) when
  // the machine has too little memory.
  void* allocate(std::size_t bytes);
  void release(void* pointer);

  std::uintptr_t begin() const { return begin_; }
  std::size_t size() const { return size_; }

  // True when [address, address + bytes) lies in one allocation; the range must not cross a
  // 256-byte line, which naturally aligned accesses of up to 16 bytes never do.
  bool legal(std::uintptr_t address, unsigned bytes) const {
    const std::size_t offset = address - begin_;
    if (offset >= size_) return false;
    return (offset & (kUnit - 1)) + bytes <= legal_bytes_[offset / kUnit];
  }

  // For a fault report: where the address lies relative to the nearest allocation.
  std::string describe(std::uintptr_t address) const;

 private:
  Arena();
  static constexpr std::size_t kUnit = 256;
  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint16_t* legal_bytes_ = nullptr;  // of each unit, from the unit's start
};

}  // namespace warpladder::device::cpu
