#pragma once
// Tiles of operands whose lines begin at any word, brought by copies of 16 bytes all the same. Such
// a copy reads from a multiple of 16 bytes. So a row of the tile is copied from the last one before
// its first element on. Its elements lie up to three words late in shared memory: its shift. A row
// has one piece of four words more for it.
//
// Tiles begin at multiples of 32 lines and of 32 along k. So a row's shift depends on the operand's
// address and on the row's number modulo 4.

#include "ops/sgemm/rung_sliced.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct RowShifts {
  unsigned first = 0, step = 0;
  __device__ __forceinline__ unsigned of(unsigned row) const { return (first + row * step) & 3; }
};
__device__ __forceinline__ unsigned shift_step(std::int64_t ld) {
  return static_cast<unsigned>(ld) & 3;
}
__device__ __forceinline__ RowShifts row_shifts(const float* data, std::int64_t ld) {
  return {static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(data) / sizeof(float)) & 3,
          shift_step(ld)};
}

// The rows of a tile are lines (kAlong) or those of one k. Eight k's rows are eight words further
// from the next eight's, so that threads that read them meet on fewer banks.
template <int kLines, int kDepth, bool kAlong>
struct ShiftedPlaces {
  static constexpr int rows = kAlong ? kLines : kDepth, length = kAlong ? kDepth : kLines,
                       pitch = length + 4;
  __device__ __forceinline__ static int at(int row) {
    return row * pitch + (kAlong ? 0 : row / 8 * 8);
  }
};
constexpr int shifted_words(int lines, int depth) {
  return std::max(lines * (depth + 4), depth * (lines + 4) + depth);
}

// The producers' copies of an operand, round after round. What does not exist becomes zeros.
template <class C, int kLines, bool kAlong>
class ShiftedCopier {
  using Places = ShiftedPlaces<kLines, C::depth, kAlong>;
  static constexpr int kPieces = Places::length / 4, kStep = C::producers / kPieces,
                       kSteps = Places::rows / kStep;
  static_assert(kStep % 4 == 0 && Places::rows % kStep == 0 && Places::rows <= C::producers);

 public:
  __device__ __forceinline__ ShiftedCopier(const LineOperand& x, std::int64_t line0,
                                           std::int64_t k0)
      : lines_(x.lines - line0 < kLines ? static_cast<int>(x.lines - line0) : kLines) {
    const float* const tile = x.data + (kAlong ? line0 * x.ld + k0 : k0 * x.ld + line0);
    const RowShifts shifts = row_shifts(x.data, x.ld);
    const int thread = static_cast<int>(threadIdx.x) % C::producers;
    column_ = thread % kPieces * 4 - static_cast<int>(shifts.of(thread / kPieces));
    last_column_ = Places::length - static_cast<int>(shifts.of(thread));
    from_ = tile + thread / kPieces * x.ld + column_;
    last_ = tile + thread * x.ld + last_column_;
    precedes_ = thread == 0 && column_ < 0 && tile == x.data;
  }
  // Of the next C::depth of k, `left` or more exist. A thread copies a piece of each of kSteps
  // rows, and of one row the last piece.
  __device__ __forceinline__ void copy_next(float* to, const LineOperand& x, int left) {
    const int thread = static_cast<int>(threadIdx.x) % C::producers, row = thread / kPieces,
              depths = left < C::depth ? left : C::depth,
              rows = kAlong && depths > 0 ? lines_ : depths, columns = kAlong ? depths : lines_,
              bytes = bytes_of(columns - column_);
    float* const piece = to + Places::at(row) + thread % kPieces * 4;
    if (precedes_) {
      copy_first(piece, rows > 0 ? columns : 0);
    } else {
      ptx::cp_async<16>(piece, from_, row < rows ? bytes : 0);
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 1; i < kSteps; ++i) {
      ptx::cp_async<16>(piece + Places::at(i * kStep), from_ + i * kStep * x.ld,
                        row + i * kStep < rows ? bytes : 0);
    }
    if (thread < Places::rows) {
      ptx::cp_async<16>(to + Places::at(thread) + Places::length, last_,
                        thread < rows ? bytes_of(columns - last_column_) : 0);
    }
    const std::int64_t next = kAlong ? C::depth : C::depth * x.ld;
    from_ += next;
    last_ += next;
  }

 private:
  __device__ __forceinline__ static int bytes_of(int words) { return 4 * max(0, min(4, words)); }
  // The operand's first words, without those before them.
  __device__ __forceinline__ void copy_first(float* to, int columns) {
    precedes_ = false;
    WARPLADDER_UNROLL_ON_GPU
    for (int w = 1; w < 4; ++w) {
      if (column_ + w < 0) continue;
      ptx::cp_async<4>(to + w, from_ + w, column_ + w < columns ? 4 : 0);
    }
  }

  const float *from_, *last_;
  int lines_, column_, last_column_;
  bool precedes_;
};

// Neighbours along k, from k on, of line `line` + i, of which the compiler knows i.
template <int kLines, int kDepth, bool kAlong, int kCount>
__device__ __forceinline__ void load_shifted(float (&value)[kCount], const float* tile,
                                             unsigned line, int i, unsigned k,
                                             const RowShifts& shifts) {
  using Places = ShiftedPlaces<kLines, kDepth, kAlong>;
  const float* const from = kAlong ? tile + line * Places::pitch + k + shifts.of(line + i)
                                   : tile + Places::at(static_cast<int>(k)) + line;
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < kCount; ++j) {
    value[j] = kAlong ? from[i * Places::pitch + j] : from[j * Places::pitch + i + shifts.of(j)];
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
