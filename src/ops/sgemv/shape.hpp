#pragma once
// Which blocks make which sums: how sums are cut into pieces, and what 07_by_shape and
// 08_full_waves choose by shape. Blocks are counted by multiprocessors; the other numbers were
// measured on an H200.

#include "ladder/rung.hpp"
#include "ops/sgemv/gemv.hpp"

namespace warpladder::sgemv {
inline namespace WARPLADDER_FLAVOUR {

// How a sum's terms are cut into pieces of `size`, the last of which may be shorter.
struct Pieces {
  std::int64_t count, size;
};
// About `wanted` pieces, at most as many as the workspace has room for. No piece but the last is
// smaller than `least`; sizes are a multiple of `unit`.
inline Pieces cut(std::int64_t terms, std::int64_t wanted, std::int64_t least, std::int64_t unit,
                  std::int64_t most) {
  std::int64_t count = wanted < most ? wanted : most;
  if (terms < count * least) count = terms / least;
  if (count <= 1) return {1, terms};
  const std::int64_t size = ceil_div(ceil_div(terms, count), unit) * unit;
  return {ceil_div(terms, size), size};
}

// Along the lines: kLanes neighbouring threads share kLines lines, of each of which kInFlight
// pieces of kWidth elements are under way in each thread. kResident: blocks of a multiprocessor, to
// which the compiler is held. Left alone it keeps to 32 registers a thread, and uses the first
// loads before it asks for the next.
template <int kWidth, int kLanes, int kLines, int kInFlight, int kResident = 4>
struct Along {
  static constexpr int threads = 256, width = kWidth, lanes = kLanes, lines = kLines,
                       in_flight = kInFlight, resident = kResident,
                       lines_of_block = threads / kLanes * kLines;
  // Lines that a block has for itself may be cut into pieces.
  static constexpr bool may_split = lines_of_block == 1;
};

// Calls use(Along<…>()) for as many threads a line as leave each of them one to four pieces. Where
// lines are too short for that, a thread has more lines.
template <class Use>
auto with_along(const Gemv& g, const Use& use) {
  if (vectors_allowed(g)) {
    const std::int64_t quads = g.length / 4;
    if (quads <= 4) return use(Along<4, 4, 4, 1>());
    if (quads <= 8) return use(Along<4, 8, 4, 1>());
    if (quads <= 16) return use(Along<4, 16, 4, 1>());
    if (quads <= 32) return use(Along<4, 16, 2, 2>());
    if (quads <= 128) return use(Along<4, 32, 1, 4>());
    if (quads <= 256) return use(Along<4, 64, 1, 4>());
    if (quads <= 512) return use(Along<4, 128, 1, 4>());
    return use(Along<4, 256, 1, 4>());
  }
  if (g.length <= 64) return use(Along<1, 16, 4, 4>());
  if (g.length <= 256) return use(Along<1, 32, 4, 4>());
  if (g.length <= 1024) return use(Along<1, 64, 1, 8, 6>());
  return use(Along<1, 256, 1, 8, 6>());
}

// Four blocks a multiprocessor where lines alone would leave some idle.
template <class C>
Pieces pieces_along(const Gemv& g, const runtime::Machine& machine) {
  const bool few = C::may_split && g.lines < 2 * machine.multiprocessors;
  return cut(g.length, few ? 4 * machine.multiprocessors / g.lines : 1, 4096, 128, g.most_pieces);
}

constexpr int log2_of(int x) { return x > 1 ? 1 + log2_of(x / 2) : 0; }

// What lines of float4 cost.
template <class C>
ladder::Totals predict_lines(const Gemv& g, const runtime::Machine& machine) {
  constexpr int kInWarp = C::lanes < 32 ? C::lanes : 32, kStored = 32 / kInWarp * C::lines / 8;
  const std::uint64_t steps = g.lines * g.length / 128, pieces = pieces_along<C>(g, machine).count,
                      others = pieces - 1, warps = g.lines * pieces * C::lanes / C::lines / 32;
  ladder::Totals t;
  t.global_load_requests = steps + steps / C::lines;
  t.global_load_sectors = 16 * steps + steps / C::lines * kInWarp / 2;
  if constexpr (C::lanes > 32) {
    t.shared_store_requests = t.barriers = C::lines * warps;
    t.shared_load_requests = g.lines * pieces * (C::lanes / 32 - 1);
  }
  t.shared_store_wavefronts = t.shared_store_requests;
  t.shared_load_wavefronts = t.shared_load_requests;
  // A thread stores each of its lines with a request of its own.
  const std::uint64_t stores = C::lanes < 32 ? C::lines * warps : g.lines;
  t.global_store_requests = stores + g.lines * (others + (others + 31) / 32);
  t.global_store_sectors =
      stores * (kStored > 1 ? kStored : 1) + g.lines * (others + (others + 3) / 4);
  t.shuffles = C::lines * log2_of(kInWarp) * warps + (others ? 5 * g.lines : 0);
  t.fmas = 128 * steps;
  return t;
}

// Across a few lines no thread needs another's help. Where the whole matrix is small, it is latency
// that counts, and a column to a block is the shortest way.
inline bool few_lines(const Gemv& g) {
  return g.lines <= 16 && (g.length < 1 << 17 || !vectors_allowed(g));
}
inline bool small_matrix(const Gemv& g) {
  return g.length <= 512 && g.lines * g.length <= 1 << 17 && !few_lines(g);
}

// Across the lines: a block of `threads` has a strip of 4 << lanes_log2 columns, and a piece of the
// lines.
struct Across {
  int threads, lanes_log2;
  Pieces pieces;

  std::int64_t columns() const { return 4 << lanes_log2; }
  std::int64_t strips(const Gemv& g) const { return ceil_div(g.length, columns()); }
  std::int64_t blocks(const Gemv& g) const { return strips(g) * pieces.count; }
  int lines_at_once() const { return 4 * (threads >> lanes_log2); }
  std::int64_t blocks_at_once(const runtime::Machine& machine) const {
    return std::int64_t{1024} / threads * machine.multiprocessors;
  }
};
inline Across plan_across(const Gemv& g, const runtime::Machine& machine) {
  const std::int64_t multiprocessors = machine.multiprocessors;
  const std::int64_t quads = ceil_div(g.length, 4);
  const auto plan = [&](int threads, int lanes_log2, std::int64_t blocks) {
    const std::int64_t strips = ceil_div(quads, std::int64_t{1} << lanes_log2);
    Across across{threads, lanes_log2, {}};
    across.pieces =
        cut(g.lines, ceil_div(blocks, strips), across.lines_at_once(), 32, g.most_pieces);
    return across;
  };
  if (!vectors_allowed(g)) {
    if (g.lines < 256) return plan(256, g.length <= 4096 ? 3 : 5, 1);
    const int lanes_log2 = quads <= 64 ? 3 : quads <= 256 ? 4 : 5;
    const std::int64_t strips = ceil_div(quads, std::int64_t{1} << lanes_log2);
    // As many blocks as run at once, and none more.
    return plan(512, lanes_log2, 2 * multiprocessors / strips * strips);
  }
  if (quads <= 32) {  // one strip: threads enough to keep a multiprocessor busy, a block for each
    int lanes_log2 = 0;
    while (1 << lanes_log2 < quads) ++lanes_log2;
    return plan(1024, lanes_log2, multiprocessors);
  }
  if (quads < 1024) return plan(256, 4, 4 * multiprocessors);
  if (g.lines <= 256) return plan(256, 5, 1);
  if (quads < 2048) return plan(1024, 3, 1);
  return plan(512, quads < 4096 ? 3 : 4, 1);
}

// How full the multiprocessors are, by waves of so many blocks at once.
inline double fullness(std::int64_t blocks, std::int64_t at_once) {
  return static_cast<double>(blocks) / static_cast<double>(ceil_div(blocks, at_once) * at_once);
}
// Across a matrix of 32 MB or more, or of 12 MB whose strips are more blocks than run at once. It
// takes 512 neighbouring bytes of a line at a time, in as many pieces as run at once.
inline bool is_large(const Gemv& g, const Across& narrow, const runtime::Machine& machine) {
  constexpr std::int64_t kElements = 8 << 20, kElementsOfWaves = 3 << 20;
  const std::int64_t elements = g.lines * g.length;
  if (!vectors_allowed(g) || g.length < 896 || g.lines <= 256) return false;
  return elements >= kElements ||
         (elements >= kElementsOfWaves && narrow.blocks(g) > narrow.blocks_at_once(machine));
}
inline Across plan_large(const Gemv& g, const runtime::Machine& machine) {
  Across across{512, 5, {}};
  across.pieces = cut(g.lines, across.blocks_at_once(machine) / across.strips(g),
                      across.lines_at_once(), 32, g.most_pieces);
  return across;
}
// plan_large() or plan_across(), but where its waves are less than nine tenths full, with pieces
// that fill them. These are the fewest that come within a twentieth of it, else those that come
// closest.
inline Across plan_waves(const Gemv& g, const runtime::Machine& machine) {
  constexpr std::int64_t kMostWaves = 8;
  Across plan = plan_across(g, machine);
  const bool large = is_large(g, plan, machine);
  if (large) plan = plan_large(g, machine);
  const std::int64_t strips = plan.strips(g), at_once = plan.blocks_at_once(machine),
                     fewest = at_once / strips;
  double best = fullness(plan.blocks(g), at_once);
  // Half as many blocks keep memory busy with a large matrix.
  if (g.lines <= 256 || best >= 0.9 || (large && strips <= at_once)) return plan;
  for (std::int64_t wanted = fewest > 1 ? fewest : 1; wanted <= g.most_pieces; ++wanted) {
    const Pieces pieces = cut(g.lines, wanted, plan.lines_at_once(), 32, g.most_pieces);
    const std::int64_t blocks = pieces.count * strips;
    if (blocks > kMostWaves * at_once || pieces.count * 2 < wanted) break;
    if (fullness(blocks, at_once) > best) {
      best = fullness(blocks, at_once);
      plan.pieces = pieces;
    }
    if (best >= 0.95) break;
  }
  return plan;
}

// A matrix of one column without gaps is as well one line. What goes along its lines goes across
// that one, and what goes across them along it.
inline bool is_one_column(const Gemv& g) { return g.length == 1 && g.ld == 1; }
inline Gemv as_one_line(Gemv g) {
  g.length = g.ld = g.lines;
  g.lines = 1;
  return g;
}

// What strips of float4 cost.
inline ladder::Totals predict_strips(const Gemv& g, const Across& plan) {
  const std::uint64_t lanes = 1 << plan.lanes_log2, warps = plan.threads / 32,
                      steps = g.lines * g.length / 128, strips = g.length / plan.columns(),
                      blocks = strips * plan.pieces.count,
                      words = g.length * (plan.pieces.count - 1), last = words ? strips : 0,
                      groups = plan.threads / plan.columns(), others = plan.pieces.count - 1,
                      took = groups < others ? groups : others;
  ladder::Totals t;
  t.global_load_requests = steps + steps / 4;
  t.global_load_sectors = 16 * steps + steps / 4 * (lanes < 16 ? 16 / lanes : 1);
  t.shared_store_requests = t.barriers = warps * (blocks + last);
  t.shared_store_wavefronts = warps * (blocks * lanes / 8 + last);
  t.shared_load_requests = t.shared_load_wavefronts = (warps * blocks + took * last) * lanes / 8;
  t.global_store_requests = (2 * words + g.length) / 32;
  t.global_store_sectors = (2 * 8 * words + 4 * g.length) / 32;
  t.shuffles = 4 * (5 - plan.lanes_log2) * warps * blocks;
  t.fmas = 128 * steps;
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv
