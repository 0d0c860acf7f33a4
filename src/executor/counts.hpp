#pragma once
// What one kernel launch asked of the machine, per source line: the executor's counts, in the
// terms Nsight Compute uses. ncu_metrics() in lab gives the totals under Nsight Compute's names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/stream.hpp"

namespace warpladder::executor {

enum class MemorySpace { global, shared };
enum class AccessKind { load, store, atomic };

// One source line's accesses of one kind and one width.
struct AccessCounts {
  std::string file;
  int line = 0;
  MemorySpace space = MemorySpace::global;
  AccessKind kind = AccessKind::load;
  int bytes = 0;                       // per lane
  std::uint64_t requests = 0;          // warp-level instructions
  std::uint64_t lanes = 0;             // active lanes, summed over requests
  std::uint64_t sectors = 0;           // global: distinct 32-byte sectors, summed over requests
  std::uint64_t ideal_sectors = 0;     // the fewest that could hold the distinct bytes asked for
  std::uint64_t wavefronts = 0;        // shared: passes through the 32 banks
  std::uint64_t ideal_wavefronts = 0;  // the passes that the width alone demands
  unsigned worst = 0;                  // most sectors (global) or wavefronts (shared) in a request

  std::uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
  bool operator==(const AccessCounts&) const = default;
};

// Where one lane of a request goes, from an address that is a multiple of 128. offset / 32 is a
// sector, offset / 4 % 32 a bank.
struct LaneAddress {
  unsigned lane = 0;
  std::uint64_t offset = 0;
  bool operator==(const LaneAddress&) const = default;
};
using Request = std::vector<LaneAddress>;  // its active lanes, ascending

struct EventCounts {
  std::string file;
  int line = 0;
  std::uint64_t fmas = 0;      // fused multiply-adds of single threads
  std::uint64_t barriers = 0;  // __syncthreads and barriers of clusters, once per warp that arrives
  std::uint64_t shuffles = 0;  // shuffles, votes and warp reductions, once per warp
  // Of boxes that the copy engine brought, their zeros included; once if to several blocks.
  std::uint64_t bulk_bytes = 0;
  std::uint64_t tensor_fmas = 0;  // of the tensor cores: a warpgroup's 64 · N · K, a warp's 512

  bool operator==(const EventCounts&) const = default;
};

struct KernelCounts {
  std::string kernel;
  runtime::Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<AccessCounts> accesses;  // sorted by file, line, space, kind, bytes
  std::vector<EventCounts> events;     // sorted by file, line
  // Of each of `accesses`, a request that cost the worst: the first one of the lowest block.
  std::vector<Request> worst_requests;

  bool operator==(const KernelCounts&) const = default;
};

}  // namespace warpladder::executor
