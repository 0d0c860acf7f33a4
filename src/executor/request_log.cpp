#include "executor/request_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warpladder::executor {

namespace {

// The widths of a site's requests in one memory space, as in CompiledAccess; 0 for that of the
// source. An access of a line that has none in the machine code may have become part of any other
// line's. Stores are known to be parted where all of their line's are narrower. A wide load beside
// narrow ones may have come to another line.
unsigned widths_of(const SiteTable& table, const Site& site, MemorySpace space,
                   const std::vector<CompiledAccess>& compiled) {
  if (site.kind != SiteKind::load && site.kind != SiteKind::store) return 0;
  const SourceLine& at = table.lines()[site.source_line];
  unsigned own = 0, any = 0;
  for (const CompiledAccess& c : compiled) {
    if (c.space != space || c.kind != access_kind(site, space)) continue;
    any |= c.widths;
    if (c.line == at.line && c.file == at.file) own |= c.widths;
  }
  const bool may_part = own && site.kind == SiteKind::store;
  const unsigned all = own ? own : any;
  return may_part || all >= site.bytes ? all : 0;
}

}  // namespace

void RequestLog::prepare(const std::vector<CompiledAccess>* compiled) {
  table_ = &SiteTable::instance();
  if (!pcs_) {
    pcs_ = std::make_unique_for_overwrite<std::uint32_t[]>(32 * kPcStride);
    addresses_ = std::make_unique_for_overwrite<std::uint64_t[]>(32 * kAddressStride);
  }
  forget_sums();
  compiled_ = compiled;
  if (compiled) widths_ = ZeroedArray<std::uint8_t>(2 * table_->sites().size());
  begin_block(0);
}

void RequestLog::forget_sums() {
  if (tallies_.size() == 0) {
    tallies_ = ZeroedArray<SiteTally>(2 * table_->sites().size());
    site_lanes_ = ZeroedArray<std::uint64_t>(table_->sites().size());
  }
  for (const std::size_t key : tallies_in_use_) tallies_[key] = SiteTally();
  for (const std::uint32_t site : sites_in_use_) site_lanes_[site] = 0;
  tallies_in_use_.clear();
  last_requests_.clear();
  sites_in_use_.clear();
  resized_.clear();
  worst_.clear();
}

inline void RequestLog::add_lanes(std::uint32_t site, unsigned lanes) {
  if (lanes == 0) return;
  std::uint64_t& sum = site_lanes_[site];
  if (sum == 0) sites_in_use_.push_back(site);
  sum += lanes;
}

// For a request: a tally with one is in use.
inline RequestLog::SiteTally& RequestLog::tally_of(std::size_t key) {
  SiteTally& at = tallies_[key];
  if (at.tally.requests == 0) {
    tallies_in_use_.push_back(key);
    at.last = static_cast<std::uint32_t>(last_requests_.size());
    last_requests_.emplace_back();
  }
  return at;
}

void RequestLog::begin_block(std::uint64_t block) {
  block_ = block;
  for (unsigned lane = 0; lane < 32; ++lane) {
    pc_end_[lane] = pcs_.get() + lane * kPcStride;
    address_end_[lane] = addresses_.get() + lane * kAddressStride;
  }
}

// A request as wide as all of its site.
inline void RequestLog::add(std::size_t key, const std::uint64_t* address, const std::uint8_t* lane,
                            int n, unsigned bytes, bool is_load) {
  SiteTally& at = tally_of(key);
  const unsigned before = at.tally.worst;
  LastRequest& last = last_requests_[at.last];
  if (key % 2) {
    last.add_shared(at.tally, address, lane, n, bytes, is_load);
  } else {
    last.add_global(at.tally, address, lane, n, bytes);
  }
  if (at.tally.worst > before) keep({key, bytes}, at.tally.worst, address, lane, n);
}

void RequestLog::add_resized(std::size_t key, const std::uint64_t* address,
                             const std::uint8_t* lane, int n, unsigned bytes, bool is_load) {
  Tally& tally = resized_[{key, bytes}];
  const unsigned before = tally.worst;
  if (key % 2) {
    tally.add_shared(address, lane, n, bytes, is_load);
  } else {
    tally.add_global(address, n, bytes);
  }
  if (tally.worst > before) keep({key, bytes}, tally.worst, address, lane, n);
}

// A request that costs more than all before it at its place: seldom, so it may take its time.
void RequestLog::keep(const Width& where, unsigned cost, const std::uint64_t* address,
                      const std::uint8_t* lane, int n) {
  constexpr std::uint64_t kOrigin = ~std::uint64_t{127};
  const std::uint64_t origin = *std::min_element(address, address + n) & kOrigin;
  WorstRequest& worst = worst_[where];
  worst = {block_, cost, {}};
  for (int i = 0; i < n; ++i) worst.request.push_back({lane[i], address[i] - origin});
}

void RequestLog::replay_run(Reader** readers, int n, std::size_t records) {
  std::uint64_t address[32];
  std::uint8_t lane[32];
  const std::uint64_t* from[32];
  for (int i = 0; i < n; ++i) {
    lane[i] = readers[i]->lane;
    from[i] = readers[i]->address;
  }
  const std::uint32_t* pcs = readers[0]->pc;
  std::size_t accesses = 0;
  for (std::size_t r = 0; r < records; ++r) {
    const std::uint32_t pc = pcs[r], offset = pc & ~kSharedBit;
    const std::uint32_t index = table_->site_of(offset);
    const Site& site = table_->sites()[index];
    if (site.kind == SiteKind::block) {
      if (index == 0) unknown_ = offset ? offset : 1;
      add_lanes(index, static_cast<unsigned>(n));
      continue;
    }
    for (int i = 0; i < n; ++i) address[i] = from[i][accesses];
    ++accesses;
    count(index, (pc & kSharedBit) != 0, address, lane, n);
  }
  for (int i = 0; i < n; ++i) {
    readers[i]->pc += records;
    readers[i]->address += accesses;
  }
}

inline unsigned RequestLog::widths_at(std::size_t key) {
  constexpr std::uint8_t kIsKnown = 0x80;
  std::uint8_t& widths = widths_[key];
  if (widths == 0) {
    const MemorySpace space = key % 2 ? MemorySpace::shared : MemorySpace::global;
    widths = static_cast<std::uint8_t>(
        widths_of(*table_, table_->sites()[key / 2], space, *compiled_) | kIsKnown);
  }
  return widths & ~kIsKnown;
}

inline void RequestLog::count(std::uint32_t index, bool shared, const std::uint64_t* address,
                              const std::uint8_t* lane, int n) {
  const Site& site = table_->sites()[index];
  const std::size_t key = 2 * std::size_t{index} + shared;
  if (compiled_) {
    const unsigned widths = widths_at(key);
    if (widths >= 2u * site.bytes) {
      const std::uint32_t kind = 2 * static_cast<std::uint32_t>(site.kind) + shared;
      return merger_.add(kind, static_cast<std::uint32_t>(key), address, lane, n, site.bytes,
                         widths, [this](auto... request) { count_resized(request...); });
    }
    if (widths != 0 && widths < site.bytes) return count_parts(key, address, lane, n);
  }
  add(key, address, lane, n, site.bytes, site.kind == SiteKind::load);
}

void RequestLog::count_resized(std::size_t key, const std::uint64_t* address,
                               const std::uint8_t* lane, int n, unsigned bytes) {
  const Site& site = table_->sites()[key / 2];
  const bool is_load = site.kind == SiteKind::load;
  bytes == site.bytes ? add(key, address, lane, n, bytes, is_load)
                      : add_resized(key, address, lane, n, bytes, is_load);
}

// A request that the compiler made several of, each of the widest that the machine code has there.
void RequestLog::count_parts(std::size_t key, const std::uint64_t* address,
                             const std::uint8_t* lane, int n) {
  const unsigned whole = table_->sites()[key / 2].bytes, part = std::bit_floor(widths_at(key));
  std::uint64_t at[32];
  for (unsigned offset = 0; offset < whole; offset += part) {
    for (int i = 0; i < n; ++i) at[i] = address[i] + offset;
    count_resized(key, at, lane, n, part);
  }
}

void RequestLog::flush_merged() {
  if (!compiled_) return;
  merger_.flush([this](auto... request) { count_resized(request...); });
}

std::uint32_t RequestLog::replay(unsigned lanes, std::uint32_t paused) {
  Reader all[32];
  Reader* live[32];
  int n = 0;
  std::size_t shortest = kCapacity;
  for (unsigned l = 0; l < lanes; ++l) {
    const std::uint32_t* begin = pcs_.get() + l * kPcStride;
    if (pc_end_[l] == begin) continue;
    all[l] = {begin, pc_end_[l], addresses_.get() + l * kAddressStride,
              static_cast<std::uint8_t>(l), (paused >> l & 1) != 0};
    live[n++] = &all[l];
    shortest = std::min(shortest, static_cast<std::size_t>(pc_end_[l] - begin));
  }
  if (n == 0) return 0;

  std::size_t common = shortest;
  for (int i = 1; i < n; ++i) {
    if (std::memcmp(live[0]->pc, live[i]->pc, common * sizeof(std::uint32_t)) == 0) continue;
    common = static_cast<std::size_t>(
        std::mismatch(live[0]->pc, live[0]->pc + common, live[i]->pc).first - live[0]->pc);
  }
  replay_run(live, n, common);

  // From here on the lanes have parted.
  bool stopped = false;
  while (!stopped) {
    int left = 0;
    for (int i = 0; i < n; ++i) {
      if (live[i]->pc != live[i]->pc_end) {
        live[left++] = live[i];
      } else if (live[i]->paused) {
        stopped = true;  // what this lane does next decides who is lowest
      }
    }
    n = left;
    if (n == 0 || stopped) break;
    std::uint32_t lowest = ~0u, second = ~0u;
    for (int i = 0; i < n; ++i) {
      const std::uint32_t pc = *live[i]->pc & ~kSharedBit;
      if (pc < lowest) {
        second = lowest;
        lowest = pc;
      } else if (pc > lowest && pc < second) {
        second = pc;
      }
    }
    Reader* group[32];
    int size = 0;
    std::size_t records = kCapacity;
    for (int i = 0; i < n; ++i) {
      if ((*live[i]->pc & ~kSharedBit) != lowest) continue;
      group[size++] = live[i];
      records = std::min(records, static_cast<std::size_t>(live[i]->pc_end - live[i]->pc));
    }
    // As far as the group stays together and behind the others.
    std::size_t run = 1;
    while (run < records) {
      const std::uint32_t pc = group[0]->pc[run];
      if ((pc & ~kSharedBit) >= second) break;
      bool together = true;
      for (int i = 1; i < size; ++i) together &= group[i]->pc[run] == pc;
      if (!together) break;
      ++run;
    }
    // One request has one memory space; lanes of a group that differ in it make two.
    const std::uint32_t space = *group[0]->pc & kSharedBit;
    int same = 1;
    for (int i = 1; i < size; ++i) {
      if ((*group[i]->pc & kSharedBit) == space) std::swap(group[same++], group[i]);
    }
    if (same != size) {
      run = 1;
      std::sort(group, group + same, [](auto* a, auto* b) { return a->lane < b->lane; });
    }
    replay_run(group, same, run);
  }

  flush_merged();
  for (unsigned l = 0; l < lanes; ++l) {
    std::uint32_t* pc_begin = pcs_.get() + l * kPcStride;
    std::uint64_t* address_begin = addresses_.get() + l * kAddressStride;
    if (pc_end_[l] == pc_begin) continue;
    const Reader& r = all[l];
    const auto pcs_left = static_cast<std::size_t>(pc_end_[l] - r.pc);
    const auto addresses_left = static_cast<std::size_t>(address_end_[l] - r.address);
    if (pcs_left != 0) {
      std::memmove(pc_begin, r.pc, pcs_left * sizeof *pc_begin);
      std::memmove(address_begin, r.address, addresses_left * sizeof *address_begin);
    }
    pc_end_[l] = pc_begin + pcs_left;
    address_end_[l] = address_begin + addresses_left;
  }
  return std::exchange(unknown_, 0);
}

void RequestLog::count_event(std::uintptr_t pc, unsigned times) {
  const auto offset = static_cast<std::uint32_t>(pc - SiteTable::text_begin());
  add_lanes(table_->site_of(offset), times);
}

void RequestLog::count_shared(std::uintptr_t pc, const std::uint64_t* address, int n) {
  constexpr unsigned kBytes = 16;
  std::uint8_t lane[32];
  for (int i = 0; i < n; ++i) lane[i] = static_cast<std::uint8_t>(i);
  const auto offset = static_cast<std::uint32_t>(pc - SiteTable::text_begin());
  const std::size_t key = 2 * table_->site_of(offset) + 1;
  add(key, address, lane, n, kBytes, false);
}

void RequestLog::add_to(Sums& sums) const {
  for (const std::size_t key : tallies_in_use_) sums.tallies[key].merge(tallies_[key].tally);
  for (const std::uint32_t site : sites_in_use_) sums.site_lanes[site] += site_lanes_[site];
  for (const auto& [where, tally] : resized_) sums.resized[where].merge(tally);
  // The lowest block's, so that it does not depend on the number of workers.
  for (const auto& [where, worst] : worst_) {
    const auto [at, is_new] = sums.worst.try_emplace(where, worst);
    WorstRequest& other = at->second;
    if (is_new || worst.cost < other.cost) continue;
    if (worst.cost > other.cost || worst.block < other.block) other = worst;
  }
}

}  // namespace warpladder::executor
