#include "programs/runtime/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "base/error.hpp"
#include "executor/arena.hpp"
#include "executor/memory_map.hpp"
#include "executor/own_elf.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/api.hpp"
#include "programs/runtime/deferred.hpp"
#include "programs/runtime/errors.hpp"
#include "programs/runtime/repeats.hpp"

namespace warpladder::programs {
namespace {

using executor::Arena;
using executor::MappedSpace;
using executor::MemoryMap;

struct Allocation {
  std::size_t bytes = 0;
  int kind = simt::kDevice;
  const void* made_at = nullptr;  // the return address: its line is looked up only for a report
};
struct Books {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> live;
  std::map<std::uintptr_t, std::size_t> variables;  // sections of them
};
// Never destroyed: the person's destructors free memory at exit.
Books& books() {
  static Books& instance = *new Books;
  return instance;
}

bool is_ours(const void* pointer) {
  const executor::ArenaView view = Arena::instance().view();
  return reinterpret_cast<std::uintptr_t>(pointer) - view.begin < view.size;
}

// Host code that reads or writes what only kernels may touch; found by its instrumentation.
void refuse_host_access(std::uintptr_t address, unsigned bytes, std::uintptr_t pc) {
  Allocation of;
  {
    Books& b = books();
    std::lock_guard lock(b.mutex);
    const auto after = b.live.upper_bound(address);
    if (after == b.live.begin()) return;
    const auto& [begin, allocation] = *std::prev(after);
    if (address - begin >= allocation.bytes || allocation.kind != simt::kDevice) return;
    of = allocation;
  }
  report_finding("device pointer on the host", caller_of(reinterpret_cast<const void*>(pc)),
                 fmt::format("host code touches {} bytes of a cudaMalloc of {} bytes; copy them "
                             "with cudaMemcpy",
                             bytes, of.bytes));
  stop(1);
}

// False, with a finding, if [pointer, pointer + bytes) leaves its allocation.
bool range_is_good(const void* pointer, std::size_t bytes, const char* verb, const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!is_ours(pointer)) return true;
  const Arena::Allocation in = Arena::instance().allocation_of(address);
  if (in.bytes && in.holds(address, bytes)) return true;
  if (in.bytes) {
    report_finding("copy of the wrong size", caller_of(caller),
                   fmt::format("{} {} bytes from byte {} on of an allocation of {} bytes", verb,
                               bytes, address - in.begin, in.bytes));
  } else if (Arena::instance().retired_of(address).bytes) {
    report_finding("use after free", caller_of(caller),
                   fmt::format("{} {} bytes {}", verb, bytes, Arena::instance().describe(address)));
  } else {
    report_finding("copy of the wrong size", caller_of(caller),
                   fmt::format("{} {} bytes {}", verb, bytes, Arena::instance().describe(address)));
  }
  return false;
}

// Host memory that is neither allocated with CUDA nor a variable is no kernel's.
bool kernels_may_read(const void* pointer) {
  if (is_ours(pointer)) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Books& b = books();
  std::lock_guard lock(b.mutex);
  const auto after = b.variables.upper_bound(address);
  return after != b.variables.begin() &&
         address - std::prev(after)->first < std::prev(after)->second;
}

// What an operation of the API has written. `from`: what it copied, which may be uninitialised,
// too.
void note_written(const void* to, const void* from, std::size_t bytes) {
  const executor::ArenaView arena = Arena::instance().view();
  if (!arena.written || !is_ours(to)) return;
  const auto target = reinterpret_cast<std::uintptr_t>(to),
             source = reinterpret_cast<std::uintptr_t>(from);
  const bool copies_words = from && is_ours(from) && (target - source) % 4 == 0;
  if (!copies_words) return arena.set_written(target, bytes);
  const std::size_t first = (target - arena.begin) / 4,
                    last = (target - arena.begin + bytes - 1) / 4;
  std::memmove(arena.written + first, arena.written + (source - arena.begin) / 4, last - first + 1);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, const void* caller) {
  if (bytes == 0) return cudaSuccess;
  if (!to || !from) return failed(cudaErrorInvalidValue);
  if (!range_is_good(to, bytes, "writes", caller)) return failed(cudaErrorInvalidValue);
  if (!range_is_good(from, bytes, "reads", caller)) return failed(cudaErrorInvalidValue);
  note_written(to, from, bytes);
  if (!kernels_may_read(to)) {
    std::memmove(to, from, bytes);
  } else if (!repeats().has_settled() || std::memcmp(to, from, bytes) != 0) {
    std::memmove(to, from, bytes);
    repeats().forget();
  }
  return cudaSuccess;
}

bool holds_only(const void* at, int value, std::size_t bytes) {
  const auto* const p = static_cast<const unsigned char*>(at);
  return p[0] == static_cast<unsigned char>(value) && std::memcmp(p, p + 1, bytes - 1) == 0;
}

cudaError_t fill(void* to, int value, std::size_t bytes, const void* caller) {
  if (bytes == 0) return cudaSuccess;
  if (!range_is_good(to, bytes, "sets", caller)) return failed(cudaErrorInvalidValue);
  note_written(to, nullptr, bytes);
  // To look at what the host may have changed must not cost more than to fill.
  if (bytes < memory_bytes(Part::host_accessible)) {
    std::memset(to, value, bytes);
    repeats().forget();
    return cudaSuccess;
  }
  const std::string key = fmt::format("fill {} {} {}", to, value, bytes);
  if (repeats().may_skip(key)) return cudaSuccess;
  if (!repeats().has_settled() || !holds_only(to, value, bytes)) {
    std::memset(to, value, bytes);
    repeats().forget();
  }
  repeats().settle(key);
  return cudaSuccess;
}

// Bytes that kernels may write: the allocations, then the program's variables.
template <class Use>
void for_each_range(Part part, const Use& use) {
  Books& b = books();
  std::lock_guard lock(b.mutex);
  for (const auto& [begin, allocation] : b.live) {
    if (part == Part::all || allocation.kind != simt::kDevice) use(begin, allocation.bytes);
  }
  for (const auto& [begin, bytes] : b.variables) use(begin, bytes);
}

// Four chains of multiplications, so that memory is the limit.
std::uint64_t mixed(std::uint64_t sum, std::uintptr_t begin, std::size_t bytes) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  std::uint64_t chain[4] = {sum, ~sum, begin, bytes};
  const auto* at = reinterpret_cast<const unsigned char*>(begin);
  const auto next = [&](int i) {
    std::uint64_t word;
    std::memcpy(&word, at + 8 * i, sizeof word);
    chain[i] = (chain[i] ^ word) * kFactor;
    chain[i] ^= chain[i] >> 29;
  };
  for (; bytes >= 32; bytes -= 32, at += 32) {
    for (int i = 0; i < 4; ++i) next(i);
  }
  for (; bytes > 0; --bytes, ++at) chain[0] = (chain[0] ^ *at) * kFactor;
  for (const std::uint64_t part : chain) sum = (sum ^ part ^ part >> 31) * kFactor;
  return sum;
}

void map_section(std::string_view name, MappedSpace space, std::uintptr_t base) {
  const executor::ElfSection section = executor::own_section(name);
  if (space == MappedSpace::global && section.bytes) {
    books().variables[base + section.begin] = section.bytes;
  }
  if (section.variables.empty()) {
    if (section.bytes) MemoryMap::instance().add({base + section.begin, section.bytes, space, {}});
    return;
  }
  for (const executor::ElfVariable& v : section.variables) {
    MemoryMap::instance().add({base + v.begin, v.bytes, space, v.name});
  }
}

}  // namespace

extern "C" const char __executable_start[];

void map_variables() {
  static const bool done = [] {
    const auto base = reinterpret_cast<std::uintptr_t>(__executable_start);
    map_section("program_variables", MappedSpace::global, base);
    map_section("program_zeros", MappedSpace::global, base);
    map_section("program_constants", MappedSpace::constant, base);
    const executor::ElfSection texts = executor::own_section("program_texts");
    if (texts.bytes) {
      MemoryMap::instance().add({base + texts.begin, texts.bytes, MappedSpace::constant, {}});
    }
    const executor::ArenaView arena = Arena::instance().view();
    executor::host_guard = {arena.begin, arena.size, &refuse_host_access};
    if (settings().uninitialised) Arena::instance().remember_written();
    return true;
  }();
  static_cast<void>(done);
}

void note_all_written() {
  const executor::ArenaView arena = Arena::instance().view();
  if (!arena.written) return;
  Books& b = books();
  std::lock_guard lock(b.mutex);
  for (const auto& [begin, allocation] : b.live) {
    if (allocation.bytes) arena.set_written(begin, allocation.bytes);
  }
}

std::uint64_t memory_state(Part part) {
  std::uint64_t sum = 0;
  for_each_range(part,
                 [&](std::uintptr_t begin, std::size_t bytes) { sum = mixed(sum, begin, bytes); });
  return sum;
}

std::size_t memory_bytes(Part part) {
  std::size_t sum = 0;
  for_each_range(part, [&](std::uintptr_t, std::size_t bytes) { sum += bytes; });
  return sum;
}

void report_leaks() {
  Books& b = books();
  std::lock_guard lock(b.mutex);
  std::map<const void*, std::pair<std::size_t, std::size_t>> places;  // number, bytes
  for (const auto& [begin, allocation] : b.live) {
    auto& [number, bytes] = places[allocation.made_at];
    ++number;
    bytes += allocation.bytes;
  }
  for (const auto& [place, sum] : places) {
    const std::string sentence =
        sum.first == 1 ? fmt::format("{} bytes are never freed", sum.second)
                       : fmt::format("{} allocations of {} bytes in all are never freed", sum.first,
                                     sum.second);
    settings().leaks ? report_finding("leak", caller_of(place), sentence)
                     : report_note(caller_of(place), sentence);
  }
}

}  // namespace warpladder::programs

using namespace warpladder::programs;
using warpladder::executor::Arena;
using warpladder::executor::this_worker;

extern "C" {

cudaError_t program_allocate(void** pointer, std::size_t bytes, int kind) {
  constexpr int kFresh = 0xcd;  // so that what nobody has written is no zero
  map_variables();
  try {
    void* const p = Arena::instance().allocate(std::max<std::size_t>(bytes, 1));
    std::memset(p, kind == simt::kDevice ? kFresh : 0, bytes);
    if (kind != simt::kDevice) note_written(p, nullptr, bytes);  // by the host, unseen
    Books& b = books();
    std::lock_guard lock(b.mutex);
    b.live[reinterpret_cast<std::uintptr_t>(p)] = {bytes, kind, __builtin_return_address(0)};
    *pointer = p;
    repeats().forget();
    return cudaSuccess;
  } catch (const warpladder::Error&) {
    return failed(cudaErrorMemoryAllocation);
  }
}

void program_note_written(void* pointer, std::size_t bytes) {
  if (bytes) note_written(pointer, nullptr, bytes);
}

static cudaError_t release(void* pointer, const char* function, const void* caller) {
  // A by-value argument's destructor runs in each thread here, once in all on a GPU.
  if (!pointer || this_worker) return cudaSuccess;
  Books& b = books();
  std::lock_guard lock(b.mutex);
  const auto found = b.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found != b.live.end()) {
    b.live.erase(found);
    repeats().forget();
    Arena::instance().retire(pointer);
    return cudaSuccess;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (is_ours(pointer) && Arena::instance().retired_of(address).begin == address) {
    report_finding("double free", caller_of(caller),
                   fmt::format("{} of {} bytes that have been freed before", function,
                               Arena::instance().retired_of(address).bytes));
  } else {
    report_finding("free of a foreign pointer", caller_of(caller),
                   fmt::format("{} of {:#x}, which no allocation begins at", function, address));
  }
  return failed(cudaErrorInvalidValue);
}
cudaError_t cudaFree(void* pointer) {
  return release(pointer, "cudaFree", __builtin_return_address(0));
}
cudaError_t cudaFreeHost(void* pointer) {
  return release(pointer, "cudaFreeHost", __builtin_return_address(0));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return release(pointer, "cudaFreeAsync", __builtin_return_address(0));
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  Books& b = books();
  std::lock_guard lock(b.mutex);
  b.variables[reinterpret_cast<std::uintptr_t>(pointer)] = bytes;
  MemoryMap::instance().add(
      {reinterpret_cast<std::uintptr_t>(pointer), bytes, MappedSpace::global, {}});
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  Books& b = books();
  std::lock_guard lock(b.mutex);
  b.variables.erase(reinterpret_cast<std::uintptr_t>(pointer));
  const bool known = MemoryMap::instance().remove(reinterpret_cast<std::uintptr_t>(pointer));
  return known ? cudaSuccess : failed(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  const void* const caller = __builtin_return_address(0);
  if (defer([=] { copy(to, from, bytes, caller); })) return cudaSuccess;
  return copy(to, from, bytes, caller);
}
cudaError_t program_memcpy_2d(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind) {
  const void* const caller = __builtin_return_address(0);
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
  const auto rows = [=] {
    for (std::size_t y = 0; y < height; ++y) {
      const cudaError_t error =
          copy(static_cast<char*>(to) + y * to_pitch,
               static_cast<const char*>(from) + y * from_pitch, width, caller);
      if (error) return error;
    }
    return cudaSuccess;
  };
  return defer([=] { rows(); }) ? cudaSuccess : rows();
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  const void* const caller = __builtin_return_address(0);
  if (defer([=] { fill(to, value, bytes, caller); })) return cudaSuccess;
  return fill(to, value, bytes, caller);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  const void* const caller = __builtin_return_address(0);
  for (std::size_t y = 0; y < height; ++y) {
    const cudaError_t error = fill(static_cast<char*>(to) + y * pitch, value, width, caller);
    if (error) return error;
  }
  return cudaSuccess;
}
cudaError_t program_copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset,
                                std::size_t size, int to_symbol) {
  if (offset > size || bytes > size - offset) {
    report_finding("copy of the wrong size", caller_of(__builtin_return_address(0)),
                   fmt::format("{} {} bytes from byte {} on of a variable of {} bytes",
                               to_symbol ? "writes" : "reads", bytes, offset, size));
    return failed(cudaErrorInvalidValue);
  }
  if (to_symbol) {
    to = static_cast<char*>(to) + offset;
  } else {
    from = static_cast<const char*>(from) + offset;
  }
  return copy(to, from, bytes, __builtin_return_address(0));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  void* const p = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, 0, nullptr, p};
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Books& b = books();
  std::lock_guard lock(b.mutex);
  const auto after = b.live.upper_bound(address);
  if (after == b.live.begin()) return cudaSuccess;
  const auto& [begin, allocation] = *std::prev(after);
  if (address - begin >= allocation.bytes) return cudaSuccess;
  const cudaMemoryType type = allocation.kind == simt::kDevice    ? cudaMemoryTypeDevice
                              : allocation.kind == simt::kManaged ? cudaMemoryTypeManaged
                                                                  : cudaMemoryTypeHost;
  *attributes = {type, 0, p, type == cudaMemoryTypeDevice ? nullptr : p};
  return cudaSuccess;
}
}
