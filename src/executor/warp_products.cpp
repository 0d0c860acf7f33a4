// What the lanes of a warp do together: the executor's side of parts/ptx/mma.hpp and ldmatrix.hpp.

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "executor/hooks.hpp"
#include "executor/tensor_core.hpp"
#include "executor/worker.hpp"

namespace warpladder::executor {
namespace {

template <class Part>
const Part& part_of(const ExchangeSlot& slot) {
  return *reinterpret_cast<const Part*>(slot.value);
}

// The sums are where each lane's part says.
void multiply_f64(const ExchangeSlot* slots) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int s = 0; s < 4; ++s) {
      const int row = lane / 4, column = lane % 4 * 2 + s % 2;
      double& sum = part_of<WarpProduct>(slots[lane]).sums[s];
      for (int k = 0; k < 4; ++k) {
        sum = std::fma(part_of<WarpProduct>(slots[row * 4 + k]).a[s / 2],
                       part_of<WarpProduct>(slots[column * 4 + k]).b, sum);
      }
    }
  }
}

// Returns the multiply-adds.
unsigned multiply(const ExchangeSlot* slots) {
  const WarpFactors* parts[kWarp];
  for (unsigned lane = 0; lane < kWarp; ++lane) parts[lane] = &part_of<WarpFactors>(slots[lane]);
  multiply_warp(parts);
  constexpr unsigned kDepthBytes = 32;
  return kWarpRows * kWarpColumns * kDepthBytes / static_cast<unsigned>(parts[0]->element_bytes);
}

void load_matrices(const ExchangeSlot* slots) {
  const auto half = [&](unsigned matrix, unsigned row, unsigned column) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, part_of<MatrixRow>(slots[8 * matrix + row]).row + 2 * column, sizeof bits);
    return std::uint32_t{bits};
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const MatrixRow& own = part_of<MatrixRow>(slots[lane]);
    const unsigned g = lane / 4, t = lane % 4 * 2;
    for (unsigned m = 0; m < static_cast<unsigned>(own.count); ++m) {
      own.to[m] = own.transposed ? half(m, t, g) | half(m, t + 1, g) << 16
                                 : half(m, g, t) | half(m, g, t + 1) << 16;
    }
  }
}

}  // namespace

bool Worker::perform_aligned(unsigned first, Exchange op) {
  const ExchangeSlot* slots = &slot_of_[first];
  const auto line_of = [&](unsigned lane) {
    const std::uintptr_t offset = slots[lane].pc - SiteTable::text_begin();
    return SiteTable::instance().line_of(static_cast<std::uint32_t>(offset));
  };
  for (unsigned lane = 1; lane < kWarp; ++lane) {
    // The compiler may have copied the instruction to two places; two source lines are an error.
    if (slots[lane].pc == slots[0].pc || line_of(lane) == line_of(0)) continue;
    return blame(FaultKind::tensor_core_misuse, slots[lane].pc, first + lane,
                 fmt::format("the lanes of the warp are not together: lane 0 is at {}:{}",
                             line_of(0).file, line_of(0).line));
  }
  unsigned events = 0;
  switch (op) {
    case Exchange::multiply_f64:
      multiply_f64(slots);
      events = kWarpRows * kWarpColumns * 4;
      break;
    case Exchange::multiply:
      events = multiply(slots);
      break;
    default:
      load_matrices(slots);
  }
  if (!logs) return true;
  if (events) {
    log.count_event(slots[0].pc, events);
  } else {
    std::uint64_t address[kWarp];
    const int rows = 8 * part_of<MatrixRow>(slots[0]).count;
    for (int i = 0; i < rows; ++i) {
      address[i] = reinterpret_cast<std::uintptr_t>(part_of<MatrixRow>(slots[i]).row);
    }
    log.count_shared(slots[0].pc, address, rows);
  }
  return true;
}

}  // namespace warpladder::executor

using namespace warpladder::executor;

namespace {

template <class Part>
void exchange(Exchange op, const Part& part, void* return_address) {
  const auto pc = reinterpret_cast<std::uintptr_t>(return_address);
  this_worker->exchange({op, 0, 0, 32, 0xffffffffu, pc, reinterpret_cast<std::uintptr_t>(&part)});
}

}  // namespace

extern "C" {

void simt_mma_f64(double* sums, double a0, double a1, double b) {
  exchange(Exchange::multiply_f64, WarpProduct{sums, {a0, a1}, b}, __builtin_return_address(0));
}

void simt_mma(float* sums, const std::uint32_t* a, const std::uint32_t* b, int element_bytes,
              int add) {
  exchange(Exchange::multiply, WarpFactors{sums, a, b, element_bytes, add != 0},
           __builtin_return_address(0));
}

// `row` as simt_shared_address() gives it; the first 8·count lanes name a row each.
void simt_ldmatrix(std::uint32_t* to, unsigned row, int count, int transposed) {
  constexpr unsigned kRowBytes = 16;
  Worker& w = *this_worker;
  const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  MatrixRow part{to, nullptr, count, transposed != 0};
  if (w.current % kWarp < 8 * static_cast<unsigned>(count)) {
    // A __shared__ variable may lie in front of the dynamic shared memory.
    part.row = w.dynamic_shared(w.rank_of(w.current)) + static_cast<std::int32_t>(row);
    const auto address = reinterpret_cast<std::uintptr_t>(part.row);
    const bool is_static = w.cluster() == 1 && w.in_static_shared(address);
    if (!is_static &&
        w.dynamic_offset(address, kRowBytes, w.rank_of(w.current)) == Worker::kNowhere) {
      w.fail(FaultKind::out_of_bounds, pc, [&] {
        return fmt::format("a matrix's row at byte {} of {} bytes of dynamic shared memory", row,
                           w.launch->config.dynamic_shared_bytes);
      });
    }
    if (row % kRowBytes) refuse_alignment(w, address, kRowBytes, pc);
    if (w.counted && w.check_shared)
      check_shared_access(w, address, kRowBytes, AccessKind::load, pc);
  }
  exchange(Exchange::load_matrices, part, __builtin_return_address(0));
}
}
