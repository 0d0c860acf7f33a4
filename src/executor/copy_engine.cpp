// The copy engine, and stores and copies that count like it: the executor's side of
// parts/ptx/tma.hpp, store_async.hpp and cp_async.hpp. A box, or a store, is queued at its barrier.
// It lands when someone waits there and nobody can go on without it, the latest moment that PTX
// allows. So a thread that reads without having waited reads what was there before.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "executor/arena.hpp"
#include "executor/hooks.hpp"
#include "executor/mbarriers.hpp"
#include "executor/worker.hpp"

namespace warpladder::executor {
namespace {

constexpr int kChunk = 16, kChunks = 8;  // of a line that is swizzled
constexpr int kMostColumns = 256, kMostLine = 4 * kMostColumns;
// Where a box may lie: eight swizzled lines, after which the swizzle begins anew, or any.
constexpr unsigned kSwizzleBytes = 1024, kPlainBytes = 128;

// The part of a line of the box that lies in the matrix, in bytes of the line.
struct Span {
  std::int64_t begin, end;
  bool empty() const { return begin >= end; }
};
Span columns_within(const Box& c) {
  const std::int64_t width = c.matrix.element_bytes, line = c.matrix.box_row_bytes();
  return {std::clamp<std::int64_t>(-std::int64_t{c.column} * width, 0, line),
          std::clamp<std::int64_t>((c.matrix.columns - c.column) * width, 0, line)};
}
bool row_within(const Box& c, std::int64_t row) { return row >= 0 && row < c.matrix.rows; }
// The byte of device memory that the line's byte `at` is.
std::uintptr_t source(const Box& c, std::int64_t row, std::int64_t at) {
  const std::int64_t elements = row * c.matrix.row_elements + c.column;
  return reinterpret_cast<std::uintptr_t>(c.matrix.data) +
         static_cast<std::uintptr_t>(elements * c.matrix.element_bytes + at);
}

void bring(const Box& c, unsigned char* to) {
  const Span within = columns_within(c);
  const int bytes = c.matrix.box_row_bytes();
  unsigned char line[kMostLine];
  for (int r = 0; r < c.matrix.box_rows; ++r, to += bytes) {
    std::memset(line, 0, static_cast<std::size_t>(bytes));
    const std::int64_t row = std::int64_t{c.row} + r;
    if (!within.empty() && row_within(c, row)) {
      std::memcpy(line + within.begin, reinterpret_cast<const void*>(source(c, row, within.begin)),
                  static_cast<std::size_t>(within.end - within.begin));
    }
    const int turn = c.matrix.is_swizzled() ? r % kChunks : 0;
    for (int chunk = 0; chunk < bytes / kChunk; ++chunk) {
      std::memcpy(to + (chunk ^ turn) * kChunk, line + chunk * kChunk, kChunk);
    }
  }
}

// What the box reads of device memory lies in one allocation.
void check_source(Worker& w, const Box& c, std::uintptr_t pc) {
  const Span within = columns_within(c);
  const std::int64_t first = std::max<std::int64_t>(c.row, 0),
                     end = std::min(std::int64_t{c.row} + c.matrix.box_rows, c.matrix.rows);
  if (within.empty() || first >= end) return;
  const std::uintptr_t begin = source(c, first, within.begin),
                       bytes = source(c, end - 1, within.end) - begin;
  if (w.allocation.holds(begin, bytes)) return;
  w.allocation = Arena::instance().allocation_of(begin);
  if (w.allocation.holds(begin, bytes)) return;
  if (begin - w.arena.begin >= w.arena.size) {
    w.fail(FaultKind::host_pointer, pc, [&] {
      return fmt::format(
          "the box at row {}, column {} reads {} bytes at {:#x}, which is not device "
          "memory",
          c.row, c.column, bytes, begin);
    });
  }
  w.fail(FaultKind::out_of_bounds, pc, [&] {
    const std::uintptr_t end_of_first = w.allocation.begin + w.allocation.bytes;
    return fmt::format(
        "the box at row {}, column {} reads {} bytes that do not lie in one "
        "allocation: it reads {}",
        c.row, c.column, bytes,
        Arena::instance().describe(w.allocation.bytes ? end_of_first : begin));
  });
}

void check_map(Worker& w, const Box& c, std::uintptr_t pc) {
  const runtime::TiledMatrix& m = c.matrix;
  const bool sound = (m.element_bytes == 2 || m.element_bytes == 4) && m.box_rows >= 1 &&
                     m.box_rows <= 256 && m.rows > 0 && m.columns > 0 && m.box_columns >= 0 &&
                     m.box_columns <= kMostColumns && m.box_row_bytes() % kChunk == 0 &&
                     m.row_elements >= m.columns && m.row_elements * m.element_bytes % 16 == 0 &&
                     reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0;
  if (sound) return;
  w.fail(FaultKind::copy_engine_misuse, pc, [&] {
    return fmt::format(
        "a map of {}x{} elements of {} bytes, {} apart, in boxes of {} rows of {} bytes, which "
        "the copy engine does not take",
        m.rows, m.columns, m.element_bytes, m.row_elements, m.box_rows, m.box_row_bytes());
  });
}

// A thread's own copies, and the arrival that they are.
bool land_copies(Worker& w, Mbarrier& b, const std::vector<AsyncCopy>& copies, const Delivery& d) {
  for (const AsyncCopy& copy : copies) {
    if (!land_copy(w, copy, d.fiber)) return false;
  }
  if (b.missing == 0) {
    return w.blame(FaultKind::mbarrier_misuse, d.pc, d.fiber,
                   fmt::format("an arrival too many: {} has had the {} of this phase",
                               describe(w, b), b.arrivals));
  }
  --b.missing;
  return settle(w, b, d.fiber, d.pc);
}

// Lets land what the barrier's queue holds.
bool land(Worker& w, Mbarrier& b) {
  while (!b.due.empty()) {
    const Delivery d = std::move(b.due.front());
    b.due.pop_front();
    if (const auto* copies = std::get_if<std::vector<AsyncCopy>>(&d.what)) {
      if (!land_copies(w, b, *copies, d)) return false;
      continue;
    }
    if (const Box* box = std::get_if<Box>(&d.what)) {
      bring(*box, d.to);
    } else {
      std::memcpy(d.to, &std::get<StoredBytes>(d.what), d.bytes);
    }
    if (w.check_shared) {
      w.shadow.write_from_outside(reinterpret_cast<std::uintptr_t>(d.to) - w.shared_begin, d.bytes);
    }
    b.bytes -= d.bytes;
    if (b.bytes < -std::int64_t{Mbarrier::kMost}) {
      return w.blame(FaultKind::mbarrier_misuse, d.pc, d.fiber,
                     fmt::format("{} bytes have come to {} that nobody has announced; it counts up "
                                 "to {}",
                                 -b.bytes, describe(w, b), Mbarrier::kMost));
    }
    if (!settle(w, b, d.fiber, d.pc)) return false;
  }
  return true;
}

// That at byte `at` of the dynamic shared memory of block `rank`.
Mbarrier& barrier_in_block(Worker& w, unsigned rank, std::size_t at, std::uintptr_t pc) {
  Mbarrier* const b =
      w.mbarriers.find(reinterpret_cast<std::uintptr_t>(w.dynamic_shared(rank) + at));
  if (!b || w.block(rank).done == w.block_threads()) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      return fmt::format(
          "the mbarrier at byte {} of dynamic shared memory of block {} of the "
          "cluster {}",
          at, rank, b ? "is gone with the block" : "has not been initialised");
    });
  }
  return *b;
}

}  // namespace

bool land_copy(Worker& w, const AsyncCopy& copy, unsigned fiber) {
  if (w.check_shared) {
    const std::size_t to = reinterpret_cast<std::uintptr_t>(copy.shared) - w.shared_begin;
    w.shadow.end_async_write(to, copy.bytes);
    if (const auto* problem =
            w.shadow.check(to, copy.bytes, w.shadow_name(fiber), AccessKind::store)) {
      return w.blame(problem->kind, copy.pc, fiber, problem->sentence);
    }
  }
  std::memcpy(copy.shared, copy.global, copy.source_bytes);
  std::memset(static_cast<char*>(copy.shared) + copy.source_bytes, 0,
              copy.bytes - copy.source_bytes);
  w.note_doubts(copy.pc);
  return w.settle_doubts(fiber);
}

bool land_awaited(Worker& w, bool& landed) {
  for (std::size_t i = 0; i < w.mbarriers.size(); ++i) {
    Mbarrier& b = w.mbarriers[i];
    if (b.waiting.empty() || b.due.empty()) continue;
    landed = true;
    if (!land(w, b)) return false;
  }
  return true;
}

}  // namespace warpladder::executor

using namespace warpladder::executor;
using warpladder::runtime::TiledMatrix;

extern "C" void simt_tma_load(void* shared, const void* map, std::uint64_t* full, int row,
                              int column, unsigned ranks) {
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Box box{{}, row, column};
  std::memcpy(&box.matrix, map, sizeof box.matrix);
  check_map(w, box, pc);
  const auto bytes = static_cast<unsigned>(box.matrix.box_rows * box.matrix.box_row_bytes());

  const unsigned own = w.rank_of(w.current);
  const std::size_t to = w.dynamic_offset(reinterpret_cast<std::uintptr_t>(shared), bytes, own);
  const std::size_t barrier =
      w.dynamic_offset(reinterpret_cast<std::uintptr_t>(full), sizeof *full, own);
  if (to == Worker::kNowhere || barrier == Worker::kNowhere) {
    w.fail(FaultKind::copy_engine_misuse, pc, [&] {
      return fmt::format(
          "{} does not lie in the block's dynamic shared memory of {} bytes",
          to == Worker::kNowhere ? fmt::format("a destination of {} bytes", bytes) : "the mbarrier",
          w.launch->config.dynamic_shared_bytes);
    });
  }
  if (const unsigned unit = box.matrix.is_swizzled() ? kSwizzleBytes : kPlainBytes; to % unit) {
    w.fail(FaultKind::copy_engine_misuse, pc, [&] {
      return fmt::format(
          "the destination is byte {} of dynamic shared memory, which is no multiple "
          "of {}",
          to, unit);
    });
  }
  if (column * box.matrix.element_bytes % kChunk) {
    w.fail(FaultKind::copy_engine_misuse, pc, [&] {
      return fmt::format("the box begins at byte {} of its rows, which is no multiple of {}",
                         column * box.matrix.element_bytes, kChunk);
    });
  }
  check_source(w, box, pc);
  if (ranks >> w.cluster()) {
    w.fail(FaultKind::copy_engine_misuse, pc, [&] {
      return fmt::format("to the blocks {:#b} of a cluster of {}", ranks, w.cluster());
    });
  }
  if (w.logs) w.log.count_event(pc, bytes);
  for (unsigned rank = 0; rank < w.cluster(); ++rank) {
    if (!(ranks ? ranks >> rank & 1 : rank == own)) continue;
    barrier_in_block(w, rank, barrier, pc)
        .due.push_back({box, w.dynamic_shared(rank) + to, bytes, pc, w.current});
  }
}

// The destination and the barrier come from simt_in_block(), which has seen to it that they lie in
// a block of the cluster.
extern "C" void simt_store_async16(void* there, std::uint64_t* full, const void* value) {
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
             to = reinterpret_cast<std::uintptr_t>(there);
  if (w.cluster() == 1) {
    w.fail(FaultKind::mbarrier_misuse, pc, [] {
      return "a store that counts at an mbarrier, in a launch without clusters: a GPU calls it an "
             "illegal instruction there";
    });
  }
  StoredBytes stored;
  std::memcpy(&stored, value, sizeof stored);
  for (unsigned rank = 0; rank < w.cluster(); ++rank) {
    const std::size_t barrier =
        w.dynamic_offset(reinterpret_cast<std::uintptr_t>(full), sizeof *full, rank);
    if (barrier == Worker::kNowhere) continue;
    if (w.dynamic_offset(to, sizeof stored, rank) == Worker::kNowhere) break;
    if (w.counted) on_access(w, to, sizeof stored, AccessKind::store, pc);
    barrier_in_block(w, rank, barrier, pc)
        .due.push_back({stored, static_cast<unsigned char*>(there), sizeof stored, pc, w.current});
    return;
  }
  w.fail(FaultKind::mbarrier_misuse, pc, [] {
    return "a store that does not lie in the dynamic shared memory of the block whose mbarrier it "
           "counts at";
  });
}
