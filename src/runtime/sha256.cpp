#include "runtime/sha256.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace warpladder::runtime {
namespace {

using Block = std::array<unsigned char, 64>;

constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct State {
  std::uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

  void add(const Block& block) {
    std::uint32_t w[64];
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
             std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    }
    using std::rotr;
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[i - 7] +
             (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    std::uint32_t v[8];
    std::copy(std::begin(h), std::end(h), v);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]),
                          majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]),
                          s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25),
                          s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22),
                          t1 = v[7] + s1 + choice + kRound[i] + w[i], t2 = s0 + majority;
      std::copy_backward(v, v + 7, v + 8);
      v[4] += t1;
      v[0] = t1 + t2;
    }
    for (std::size_t i = 0; i < 8; ++i) h[i] += v[i];
  }
};

}  // namespace

std::string sha256(std::string_view text) {
  State state;
  Block block;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (; text.size() >= block.size(); text.remove_prefix(block.size())) {
    std::memcpy(block.data(), text.data(), block.size());
    state.add(block);
  }
  block.fill(0);
  std::copy(text.begin(), text.end(), block.begin());
  block[text.size()] = 0x80;
  if (text.size() >= 56) {  // no room for the length
    state.add(block);
    block.fill(0);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    block[63 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  state.add(block);
  std::string digits;
  for (const std::uint32_t word : state.h) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  return digits;
}

std::string sha256_of_parts(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
  }
  return sha256(text);
}

}  // namespace warpladder::runtime
