#pragma once
// Sums in twice the precision of float64: for references whose sums are long or cancel. It needs no
// exact product, because the product of two fp32 numbers is exact in float64.

namespace warpladder {

// The rounded sum and its round-off: sum + error is a + b exactly, in either order (Knuth, The Art
// of Computer Programming 2, 4.2.2, theorem B).
struct TwoSum {
  double sum, error;
};
constexpr TwoSum two_sum(double a, double b) {
  const double sum = a + b;
  const double b_in_sum = sum - a;
  return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
}

// The unevaluated high + low, about 106 bits: low is at most half a unit in high's last place.
struct DoubleDouble {
  double high = 0, low = 0;

  constexpr void add(double x) {
    const TwoSum rounded = two_sum(high, x);
    // Half a unit in the last place of the old `high` is no more than rounded.sum, unless that
    // is 0. So the short form of two_sum() is exact.
    const double rest = low + rounded.error;
    high = rounded.sum + rest;
    low = rest - (high - rounded.sum);
  }
};

}  // namespace warpladder
