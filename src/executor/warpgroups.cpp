// The executor's side of parts/ptx/wgmma.hpp: lanes queue their products, and the warpgroup
// performs them when all of its lanes wait.

#include "executor/warpgroups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "executor/tensor_core.hpp"
#include "executor/worker.hpp"

namespace warpladder::executor {
namespace {

// A descriptor's fields beside the address, as ptx::tile_descriptor() writes them.
constexpr std::uint64_t kAddressField = 0x3fff, kOtherFields = std::uint64_t{1} << 62 |
                                                               std::uint64_t{1024 >> 4} << 32 |
                                                               std::uint64_t{1} << 16;
constexpr unsigned kSwizzleBytes = 1024, kLine = 128;

// The first fiber of the running lane's warpgroup.
unsigned warpgroup_of(Worker& w, std::uintptr_t pc) {
  const Block& block = w.block(w.rank_of(w.current));
  const unsigned first = (w.current - block.first) / kWarpgroup * kWarpgroup;
  if (first + kWarpgroup > w.block_threads()) {
    w.fail(FaultKind::tensor_core_misuse, pc, [&] {
      return fmt::format("the block's {} threads do not fill this warpgroup of {}",
                         w.block_threads(), kWarpgroup);
    });
  }
  return block.first + first;
}

// The offset of the tile in the block's dynamic shared memory.
unsigned tile_at(Worker& w, std::uint64_t descriptor, unsigned lines, std::uintptr_t pc) {
  if ((descriptor & ~kAddressField) != kOtherFields) {
    w.fail(FaultKind::tensor_core_misuse, pc, [&] {
      return fmt::format("the descriptor {:#018x} is not one that tile_descriptor() makes",
                         descriptor);
    });
  }
  const auto at = static_cast<unsigned>(descriptor & kAddressField) << 4;
  const unsigned in_line = at % kSwizzleBytes;
  if (in_line >= kLine || in_line % kTensorDepthBytes) {
    w.fail(FaultKind::tensor_core_misuse, pc, [&] {
      return fmt::format(
          "a tile at byte {} of dynamic shared memory; it must begin 0, 32, 64 or 96 "
          "bytes behind a multiple of {}",
          at, kSwizzleBytes);
    });
  }
  const std::size_t end = at - in_line + std::size_t{lines} * kLine;
  if (end > w.launch->config.dynamic_shared_bytes) {
    w.fail(FaultKind::out_of_bounds, pc, [&] {
      return fmt::format("a tile of {} lines at byte {} of {} bytes of dynamic shared memory",
                         lines, at, w.launch->config.dynamic_shared_bytes);
    });
  }
  return at;
}

// The first lane that has not asked for what lane 0 has, of the first `count` products.
unsigned first_dissenter(Worker& w, unsigned first, std::size_t count) {
  const ProductQueue& lead = w.warpgroups.of(first);
  for (unsigned lane = 1; lane < kWarpgroup; ++lane) {
    const ProductQueue& mine = w.warpgroups.of(first + lane);
    const bool agrees =
        mine.groups_left == lead.groups_left && mine.group_ends == lead.group_ends &&
        mine.products.size() == lead.products.size() &&
        std::equal(lead.products.begin(),
                   lead.products.begin() + static_cast<std::ptrdiff_t>(count),
                   mine.products.begin(),
                   [](const Product& a, const Product& b) { return a.is_the_same(b); });
    if (!agrees) return lane;
  }
  return kWarpgroup;
}

// Performs the first `count` products of the warpgroup.
void perform(Worker& w, unsigned first, std::size_t count) {
  alignas(32) static thread_local float sums[kTensorRows * kMostTensorColumns];
  float* of_lane[kWarpgroup];
  const std::uint32_t* words[kWarpgroup];
  const unsigned char* const shared = w.dynamic_shared(w.rank_of(first));
  const std::vector<Product>& lead = w.warpgroups.of(first).products;
  for (std::size_t i = 0; i < count; ++i) {
    const Product& p = lead[i];
    for (unsigned lane = 0; lane < kWarpgroup; ++lane) {
      const Product& of = w.warpgroups.of(first + lane).products[i];
      of_lane[lane] = of.sums;
      words[lane] = of.words;
    }
    if (p.add) gather(of_lane, p.columns, sums);
    multiply({shared, static_cast<unsigned>(p.a & kAddressField) << 4,
              static_cast<unsigned>(p.b & kAddressField) << 4, p.columns, p.element_bytes,
              p.from_registers ? words : nullptr},
             p.add, sums);
    scatter(of_lane, p.columns, sums);
    if (w.logs) {
      w.log.count_event(p.pc, static_cast<unsigned>(kTensorRows * p.columns * kTensorDepthBytes /
                                                    p.element_bytes));
    }
  }
}

}  // namespace
}  // namespace warpladder::executor

using namespace warpladder::executor;

extern "C" {

void simt_wgmma(float* sums, int columns, int element_bytes, std::uint64_t a, std::uint64_t b,
                int add) {
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const unsigned first = warpgroup_of(w, pc);
  if (w.current == first) {  // the others must agree with this lane
    tile_at(w, a, kTensorRows, pc);
    tile_at(w, b, static_cast<unsigned>(columns), pc);
  }
  w.warpgroups.of(w.current).products.push_back({sums, a, b, columns, element_bytes, add != 0, pc});
}

void simt_wgmma_words(float* sums, int columns, const std::uint32_t* a, std::uint64_t b, int add) {
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const unsigned first = warpgroup_of(w, pc);
  if (w.current == first) tile_at(w, b, static_cast<unsigned>(columns), pc);
  w.warpgroups.of(w.current).products.push_back(
      {sums, 0, b, columns, 2, add != 0, pc, true, {a[0], a[1], a[2], a[3]}});
}

void simt_wgmma_commit() {
  Worker& w = *this_worker;
  ProductQueue& queue = w.warpgroups.of(w.current);
  queue.group_ends.push_back(queue.products.size());
}

void simt_wgmma_wait(int groups_left) {
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const unsigned first = warpgroup_of(w, pc);
  w.warpgroups.of(w.current).groups_left = groups_left;
  unsigned& arrived = w.warpgroups.arrived(first);
  if (++arrived < kWarpgroup) {
    w.wait_as(LaneState::at_warpgroup, pc);
    return;
  }
  arrived = 0;
  const std::vector<std::size_t>& ends = w.warpgroups.of(first).group_ends;
  const std::size_t left = std::min(ends.size(), static_cast<std::size_t>(groups_left));
  const std::size_t groups = ends.size() - left, count = groups ? ends[groups - 1] : 0;
  if (const unsigned lane = first_dissenter(w, first, count); lane < kWarpgroup) {
    w.blame(FaultKind::tensor_core_misuse, pc, first + lane,
            fmt::format("the lanes of a warpgroup disagree: lane {} has not asked for the products "
                        "that lane 0 has asked for, or does not wait for the same",
                        lane));
    w.abandon();
  }
  perform(w, first, count);
  for (unsigned lane = 0; lane < kWarpgroup; ++lane) {
    ProductQueue& queue = w.warpgroups.of(first + lane);
    queue.products.erase(queue.products.begin(),
                         queue.products.begin() + static_cast<std::ptrdiff_t>(count));
    queue.group_ends.erase(queue.group_ends.begin(),
                           queue.group_ends.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : queue.group_ends) end -= count;
  }
  // The lanes go on in their order, this one among them.
  for (unsigned lane = 0; lane < kWarpgroup; ++lane) w.wake(first + lane);
  w.suspend();
}
}
