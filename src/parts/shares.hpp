#pragma once
// Shares of work that a CTA finds by its number, without a division: the host divides. A GPU takes
// some 30 instructions for a division of 32 bits and over 100 for one of 64. Each waits for the one
// before it, and a small product is over after a few thousand.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Divides numbers below 2³¹ by one from 1 to 2³¹, by a multiplication and a shift. `factor` is
// 2^shift / by, rounded up, which is too much by less than 2^(shift - 31) / by.
struct Divisor {
  unsigned by, factor, shift;

  __host__ __device__ __forceinline__ static Divisor of(std::int64_t by) {
    unsigned shift = 31;
    while (std::int64_t{1} << (shift - 31) < by) ++shift;
    const auto divisor = static_cast<std::uint64_t>(by);
    const std::uint64_t factor = ((std::uint64_t{1} << shift) + divisor - 1) / divisor;
    return {static_cast<unsigned>(by), static_cast<unsigned>(factor), shift};
  }

  struct Divided {
    unsigned quotient, remainder;
  };
  __host__ __device__ __forceinline__ Divided operator()(unsigned number) const {
    const auto quotient = static_cast<unsigned>(std::uint64_t{number} * factor >> shift);
    return {quotient, number - quotient * by};
  }
};

// Parts of so many pieces, as even as they can be: the first `more` have one more.
struct EvenParts {
  int each, more;

  __host__ __device__ __forceinline__ static EvenParts of(int pieces, int count) {
    return {pieces / count, pieces % count};
  }

  // The number of a part's first piece, and of its end that of the next part.
  __host__ __device__ __forceinline__ int first(int part) const {
    return part * each + (part < more ? part : more);
  }
  // Which part has it.
  __host__ __device__ __forceinline__ int part_of(int piece) const {
    const int longer = more * (each + 1);
    return piece < longer ? piece / (each + 1) : more + (piece - longer) / each;
  }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
