#pragma once
// What the lanes of the running warp did since they last stopped, and how it becomes warp-level
// requests.
//
// Each lane logs the pc of every basic block and every access it passes, and the address of every
// access. When all lanes of the warp have stopped, the logs are replayed as the hardware would have
// executed them. Lanes go together as long as all agree, then always those whose next pc is lowest.
// Lanes that left a loop or took the later branch wait for the others to catch up. A lane whose log
// is full pauses; the replay then stops where that lane's log ends and goes on later.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "executor/compiled_code.hpp"
#include "executor/counts.hpp"
#include "executor/request_merger.hpp"
#include "executor/site_table.hpp"
#include "executor/tally.hpp"
#include "executor/zeroed_array.hpp"

namespace warpladder::executor {

constexpr std::uint32_t kSharedBit = 1u << 31;  // in a logged pc: the access was to shared memory

// Where the running lane logs next; null in a launch that logs nothing.
struct LogCursor {
  std::uint32_t* pc = nullptr;
  std::uint32_t* pc_limit = nullptr;
  std::uint64_t* address = nullptr;
};

class RequestLog {
 public:
  // Once per launch of the counted flavour, before the first block. `compiled`: what the compiler
  // made of the kernel's accesses; null: count what the source asks for.
  void prepare(const std::vector<CompiledAccess>* compiled);
  void begin_block(std::uint64_t block);  // forgets what the lanes logged
  void load(unsigned lane, LogCursor& cursor) const {
    cursor.pc = pc_end_[lane];
    cursor.pc_limit = pcs_.get() + (lane + 1) * kPcStride - kMargin;
    cursor.address = address_end_[lane];
  }
  void store(unsigned lane, const LogCursor& cursor) {
    pc_end_[lane] = cursor.pc;
    address_end_[lane] = cursor.address;
  }
  // True when a paused lane may go on: what the replay left of its log leaves room for more.
  bool has_room(unsigned lane) const {
    return pc_end_[lane] <= pcs_.get() + lane * kPcStride + kCapacity / 2;
  }
  // Replays the logs of the warp's first `lanes` lanes; bit l of `paused` says that lane l will log
  // more. Returns the offset of unknown code met in the log, or 0.
  std::uint32_t replay(unsigned lanes, std::uint32_t paused);

  void count_event(std::uintptr_t pc, unsigned times);
  // A request of the first n lanes for 16 bytes of shared memory each.
  void count_shared(std::uintptr_t pc, const std::uint64_t* address, int n);
  struct WorstRequest {
    std::uint64_t block = 0;
    unsigned cost = 0;  // sectors or wavefronts
    Request request;
  };
  using Width = std::pair<std::size_t, unsigned>;  // 2 * site + shared, and bytes
  // Adds this log's sums, by source line, to those of other workers.
  struct Sums {
    std::map<std::size_t, Tally> tallies;               // by 2 * site + shared
    std::map<std::uint32_t, std::uint64_t> site_lanes;  // blocks: lanes that ran it; events: warps
    // Requests that the compiler made wider or narrower than their site's.
    std::map<Width, Tally> resized;
    std::map<Width, WorstRequest> worst;  // of each tally; `tallies` have their site's width
  };
  void add_to(Sums& sums) const;

 private:
  static constexpr std::size_t kCapacity = 1024;  // records of a lane
  static constexpr std::size_t kMargin = 32;      // room for the calls that log several records
  // Strides that put the lanes' logs on different cache sets.
  static constexpr std::size_t kPcStride = kCapacity + 16;
  static constexpr std::size_t kAddressStride = kCapacity + 8;

  struct Reader {
    const std::uint32_t* pc;
    const std::uint32_t* pc_end;
    const std::uint64_t* address;
    std::uint8_t lane;
    bool paused;
  };
  void forget_sums();
  void add_lanes(std::uint32_t site, unsigned lanes);
  // Of a site and a memory space. `last`: in last_requests_.
  struct SiteTally {
    Tally tally;
    std::uint32_t last = 0;
  };
  SiteTally& tally_of(std::size_t key);
  void replay_run(Reader** readers, int n, std::size_t records);
  void count(std::uint32_t index, bool shared, const std::uint64_t* address,
             const std::uint8_t* lane, int n);
  // The widths that the compiler gave a site's requests.
  unsigned widths_at(std::size_t key);
  void count_resized(std::size_t key, const std::uint64_t* address, const std::uint8_t* lane, int n,
                     unsigned bytes);
  void count_parts(std::size_t key, const std::uint64_t* address, const std::uint8_t* lane, int n);
  void flush_merged();
  void add(std::size_t key, const std::uint64_t* address, const std::uint8_t* lane, int n,
           unsigned bytes, bool is_load);
  void add_resized(std::size_t key, const std::uint64_t* address, const std::uint8_t* lane, int n,
                   unsigned bytes, bool is_load);
  void keep(const Width& where, unsigned cost, const std::uint64_t* address,
            const std::uint8_t* lane, int n);

  std::unique_ptr<std::uint32_t[]> pcs_;
  std::unique_ptr<std::uint64_t[]> addresses_;
  std::uint32_t* pc_end_[32] = {};
  std::uint64_t* address_end_[32] = {};
  const SiteTable* table_ = nullptr;
  // A kernel has few of the program's sites. Those that it passes are listed, so that a launch does
  // not go through all.
  ZeroedArray<SiteTally> tallies_;         // [2 * site + shared]
  ZeroedArray<std::uint64_t> site_lanes_;  // [site], as in Sums
  std::vector<std::size_t> tallies_in_use_;
  std::vector<LastRequest> last_requests_;
  std::vector<std::uint32_t> sites_in_use_;
  std::map<Width, Tally> resized_;
  std::map<Width, WorstRequest> worst_;
  const std::vector<CompiledAccess>* compiled_ = nullptr;
  ZeroedArray<std::uint8_t> widths_;  // [2 * site + shared], see widths_at()
  RequestMerger merger_;
  std::uint64_t block_ = 0;  // the running one
  std::uint32_t unknown_ = 0;
};

}  // namespace warpladder::executor
