// XORWOW far ahead (simt/random.hpp). A step is a linear map of 160 bits, so that n steps are a
// product of its powers.

#include <array>
#include <cstdint>

namespace warpladder::programs {
namespace {

constexpr int kWords = 5, kBits = 32 * kWords, kPowers = 64, kLog2Sequence = 67;
using Words = std::array<std::uint32_t, kWords>;
using Map = std::array<Words, kBits>;  // what each bit becomes

void add(Words& sum, const Words& more) {
  for (int i = 0; i < kWords; ++i) sum[i] ^= more[i];
}

Words apply(const Map& map, const Words& words) {
  Words result{};
  for (int i = 0; i < kWords; ++i) {
    for (std::uint32_t left = words[i]; left != 0; left &= left - 1) {
      add(result, map[32 * i + __builtin_ctz(left)]);
    }
  }
  return result;
}

Words step(const Words& w) {
  const std::uint32_t t = w[0] ^ w[0] >> 2;
  return {w[1], w[2], w[3], w[4], w[4] ^ w[4] << 4 ^ t ^ t << 1};
}

// The maps of 2^0, 2^1, … steps.
std::array<Map, kLog2Sequence + kPowers> powers() {
  std::array<Map, kLog2Sequence + kPowers> maps;
  for (int bit = 0; bit < kBits; ++bit) {
    Words one{};
    one[bit / 32] = 1u << bit % 32;
    maps[0][bit] = step(one);
  }
  for (std::size_t i = 1; i < maps.size(); ++i) {
    for (int bit = 0; bit < kBits; ++bit) maps[i][bit] = apply(maps[i - 1], maps[i - 1][bit]);
  }
  return maps;
}

}  // namespace
}  // namespace warpladder::programs

extern "C" void program_skip_random(unsigned* words, unsigned long long n, int in_sequences) {
  using namespace warpladder::programs;
  static const auto maps = powers();
  const int first = in_sequences ? kLog2Sequence : 0;
  Words moved;
  for (int i = 0; i < kWords; ++i) moved[i] = words[i];
  for (; n != 0; n &= n - 1) moved = apply(maps[first + __builtin_ctzll(n)], moved);
  for (int i = 0; i < kWords; ++i) words[i] = moved[i];
}
