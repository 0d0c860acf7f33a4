// Requests to neighbouring words become the wide ones that a compiler makes of them.

#include "executor/request_merger.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace warpladder::kernel_tests {
namespace {

using executor::RequestMerger;

struct Emitted {
  std::uint32_t site;
  std::uint64_t first;  // of the first lane
  unsigned bytes;
  bool operator==(const Emitted&) const = default;
};

class Merging {
 public:
  // 32 lanes, `apart` bytes from each other.
  void ask(std::uint32_t site, std::uint64_t first, unsigned bytes, unsigned widths,
           std::uint64_t apart = 128, int lanes = 32) {
    std::uint64_t address[32];
    std::uint8_t lane[32];
    for (int i = 0; i < lanes; ++i) {
      address[i] = first + static_cast<std::uint64_t>(i) * apart;
      lane[i] = static_cast<std::uint8_t>(i);
    }
    merger_.add(0, site, address, lane, lanes, bytes, widths, emit());
  }
  std::vector<Emitted> end() {
    merger_.flush(emit());
    return std::move(emitted_);
  }

 private:
  std::function<void(std::uint32_t, const std::uint64_t*, const std::uint8_t*, int, unsigned)>
  emit() {
    return [this](std::uint32_t site, const std::uint64_t* address, const std::uint8_t*, int,
                  unsigned bytes) {
      emitted_.push_back({site, address[0], bytes});
    };
  }
  RequestMerger merger_;
  std::vector<Emitted> emitted_;
};

TEST(RequestMerger, JoinsFourWordsIntoOneRequest) {
  Merging m;
  for (std::uint32_t k = 0; k < 4; ++k) m.ask(7 + k, 1024 + 4 * k, 4, 4 + 16);
  EXPECT_EQ(m.end(), (std::vector<Emitted>{{7, 1024, 16}}));
}

TEST(RequestMerger, JoinsOnlyWhatTheMachineCodeHas) {
  Merging pairs;
  for (std::uint32_t k = 0; k < 4; ++k) pairs.ask(7, 1024 + 4 * k, 4, 4 + 8);
  EXPECT_EQ(pairs.end(), (std::vector<Emitted>{{7, 1024, 8}, {7, 1032, 8}}));
  Merging three;
  for (std::uint32_t k = 1; k < 4; ++k) three.ask(7, 1024 + 4 * k, 4, 4 + 8 + 16);
  EXPECT_EQ(three.end(), (std::vector<Emitted>{{7, 1032, 8}, {7, 1028, 4}}));
}

TEST(RequestMerger, KeepsApartWhatIsNoNeighbour) {
  Merging m;
  m.ask(1, 1024, 4, 16);
  m.ask(2, 1028, 4, 16, 256);      // other lines of the other lanes
  m.ask(3, 1028, 4, 16, 128, 16);  // other lanes
  m.ask(4, 1036, 4, 16, 4);        // lanes at different places of their 16 bytes: at once
  EXPECT_EQ(m.end(),
            (std::vector<Emitted>{{4, 1036, 4}, {1, 1024, 4}, {2, 1028, 4}, {3, 1028, 4}}));
}

TEST(RequestMerger, JoinsAsFarAsLanesAreEquallyAligned) {
  Merging pairs;  // two words of 8 bytes a lane: every second lane is in the middle of 16
  pairs.ask(1, 1024, 4, 4 + 8, 8);
  pairs.ask(2, 1028, 4, 4 + 8, 8);
  EXPECT_EQ(pairs.end(), (std::vector<Emitted>{{1, 1024, 8}}));
  Merging wider;
  wider.ask(1, 1024, 4, 16, 8);
  wider.ask(2, 1028, 4, 16, 8);
  EXPECT_EQ(wider.end(), (std::vector<Emitted>{{1, 1024, 4}, {1, 1028, 4}}));
}

TEST(RequestMerger, CountsARepeatedRequestAgain) {
  Merging m;
  for (int time = 0; time < 3; ++time) m.ask(5, 1024, 4, 16);
  EXPECT_EQ(m.end().size(), 3u);
}

}  // namespace
}  // namespace warpladder::kernel_tests
