#include "patterns.hpp"

#include <random>

namespace warpladder::agreement {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;

class List {
 public:
  explicit List(int bytes) : bytes_(bytes) {}

  template <class At>
  void add(At at, std::uint32_t lanes = kAll) {
    Pattern p{.bytes = bytes_, .lanes = lanes};
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lanes >> lane & 1) p.at[static_cast<std::size_t>(lane)] = at(lane);
    }
    list_.push_back(p);
  }
  std::vector<Pattern> take() { return std::move(list_); }

 private:
  int bytes_;
  std::vector<Pattern> list_;
};

// The lane's number without one of its bits: lanes that differ in that bit alone share a word.
int without(int lane, int bit) {
  const int low = lane & ((1 << bit) - 1);
  return low | lane >> (bit + 1) << bit;
}

void add_regular(List& list) {
  for (const int stride : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32}) {
    list.add([=](int lane) { return lane * stride; });
  }
  for (const int bit : {0, 1, 2, 3, 4}) {
    for (const int stride : {1, 2, 4, 8, 32}) {
      list.add([=](int lane) { return without(lane, bit) * stride; });
    }
  }
  for (const int share : {2, 4, 8, 16}) {
    list.add([=](int lane) { return lane / share; });
    list.add([=](int lane) { return lane / share * 8; });
    list.add([=](int lane) { return lane % share; });
    list.add([=](int lane) { return lane % share * 8; });
  }
  list.add([](int lane) { return 31 - lane; });
  list.add([](int lane) { return lane * 5 % 32; });
  // A warp's lanes as a grid of 4×8 on a Z-curve: its rows, its columns.
  list.add([](int lane) { return (lane >> 1 & 1) | (lane >> 2 & 2); });
  list.add([](int lane) { return (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4); });
}

// Lanes that share words in some parts of the warp and not in others.
void add_mixed(List& list) {
  list.add([](int lane) { return lane < 16 ? without(lane, 0) : 16 + without(lane, 1); });
  list.add([](int lane) { return lane < 16 ? without(lane, 1) : 16 + without(lane, 0); });
  list.add([](int lane) { return lane / 8 % 2 ? 32 + without(lane, 1) : without(lane, 0); });
  list.add([](int lane) { return lane / 8 % 2 ? lane : without(lane, 0); });
  list.add([](int lane) { return lane < 8 ? without(lane, 0) : 32 + lane; });
  list.add([](int lane) { return lane < 16 ? without(lane, 0) : 32 + lane; });
  list.add([](int lane) { return lane < 24 ? without(lane, 0) : 32 + lane; });
  list.add([](int lane) { return lane < 16 ? lane % 8 : lane; });
  list.add([](int lane) { return lane < 16 ? lane : lane % 8 + 16; });
  list.add([](int lane) { return lane / 8 % 2 * 8 + lane % 8; });
  list.add([](int lane) { return lane % 2 + lane / 8 * 2; });
  list.add([](int lane) { return lane / 4 % 2 + lane / 8 * 2; });
  list.add([](int lane) { return without(lane, 0) % 4 + lane / 8 * 8; });
  for (const int odd : {0, 1, 5, 14, 21, 30}) {  // one lane that shares with none
    list.add([=](int lane) { return lane == odd ? 100 : without(lane, 0); });
    list.add([=](int lane) { return lane == odd ? 100 : without(lane, 1); });
  }
}

void add_with_idle_lanes(List& list) {
  for (const std::uint32_t lanes :
       {0x55555555u, 0xaaaaaaaau, 0x33333333u, 0x0f0f0f0fu, 0x000000ffu, 0x0000ffffu, 0xff0000ffu,
        0x00ff00ffu, 0x01010101u, 0x00000001u, 0x80000000u, 0x66666666u, 0x7fffffffu, 0xfffffffeu,
        0x55551111u, 0x5555ffffu}) {
    list.add([](int lane) { return lane; }, lanes);
    list.add([](int lane) { return without(lane, 0) * 3; }, lanes);
    list.add([](int lane) { return without(lane, 1); }, lanes);
  }
}

void add_random(List& list, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const int range : {2, 4, 8, 16, 64, 512}) {
    for (int time = 0; time < 3; ++time) {
      std::array<int, kLanes> at{};
      for (int& element : at) element = below(range);
      const auto shared = [&](int bit) {
        list.add([&](int lane) { return at[static_cast<std::size_t>(lane & ~(1 << bit))]; });
      };
      list.add([&](int lane) { return at[static_cast<std::size_t>(lane)]; });
      for (const int bit : {0, 1, 2}) shared(bit);
      list.add([&](int lane) { return at[static_cast<std::size_t>(lane)]; },
               static_cast<std::uint32_t>(random() | 1));
      list.add([&](int lane) { return at[static_cast<std::size_t>(lane & ~1)]; },
               static_cast<std::uint32_t>(random() & random()) | 1);
    }
  }
}

}  // namespace

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  std::mt19937 random(20240229);
  for (const int bytes : {4, 8, 16}) {
    List list(bytes);
    add_regular(list);
    add_mixed(list);
    if (bytes > 4) {
      add_with_idle_lanes(list);
      add_random(list, random);
    }
    for (const Pattern& p : list.take()) all.push_back(p);
  }
  return all;
}

}  // namespace warpladder::agreement
