#include "runtime/remembered.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace warpladder::runtime {
namespace {

struct Double;
struct Triple;

struct Question {
  Asked asked = {1, 2, 3, 4, 5};
  Machine machine = {};
  std::int64_t made = 0;  // how often an answer was worked out

  template <class Name = Double, About kAbout = About::tiles>
  std::int64_t answer(std::int64_t factor = 2) {
    return remembered<kAbout, Name>(asked, machine, [&] {
      ++made;
      return factor * (asked[0] + asked[4]) + machine.multiprocessors;
    });
  }
};

TEST(Remembered, WorksAnAnswerOutOnce) {
  Question q;
  q.asked[0] = 101;
  const std::int64_t first = q.answer();
  EXPECT_EQ(q.answer(), first);
  EXPECT_EQ(q.made, 1);
}

TEST(Remembered, TellsQuestionsApart) {
  Question q;
  q.asked[0] = 102;
  q.answer();
  EXPECT_EQ(q.answer<Triple>(3), 3 * (102 + 5) + 132);
  for (std::size_t word = 0; word < q.asked.size(); ++word) {
    ++q.asked[word];
    const std::int64_t before = q.made;
    EXPECT_EQ(q.answer(), 2 * (q.asked[0] + q.asked[4]) + 132);
    EXPECT_EQ(q.made, before + 1) << word;
  }
}

// Handles of two GPUs ask for the same products in turns.
TEST(Remembered, TellsMachinesApart) {
  Question q;
  q.asked[0] = 103;
  for (const int multiprocessors : {132, 78, 132}) {
    q.machine.multiprocessors = multiprocessors;
    EXPECT_EQ(q.answer(), 2 * (103 + 5) + multiprocessors);
  }
}

TEST(Remembered, MoreThanItHolds) {
  Question q;
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t m = 0; m < 5000; ++m) {
      q.asked[0] = m;
      ASSERT_EQ(q.answer(), 2 * (m + 5) + 132);
    }
  }
}

TEST(Remembered, TilesTakeNoPlansPlace) {
  Question plan, tile;
  plan.answer<Triple, About::plans>();
  for (std::int64_t m = 0; m < 5000; ++m) {
    tile.asked[0] = m;
    tile.answer();
  }
  plan.answer<Triple, About::plans>();
  EXPECT_EQ(plan.made, 1);
}

TEST(Remembered, AnAnswerMayNeedAnother) {
  Question outer, inner;
  for (std::int64_t m = 0; m < 5000; ++m) {  // some lie in the same place
    outer.asked[0] = inner.asked[0] = m;
    inner.asked[1] = 7;
    const auto both = [&] {
      return remembered<About::tiles, Triple>(outer.asked, outer.machine,
                                              [&] { return 1000 + inner.answer(); });
    };
    const std::int64_t expected = 1000 + 2 * (m + 5) + 132;
    ASSERT_EQ(both(), expected);
    ASSERT_EQ(both(), expected);
    ASSERT_EQ(inner.answer(), expected - 1000);
  }
}

TEST(Remembered, ThreadsRememberForThemselves) {
  Question q;
  q.asked[0] = 104;
  q.answer();
  std::thread([&] { q.answer(); }).join();
  EXPECT_EQ(q.made, 2);
  q.answer();
  EXPECT_EQ(q.made, 2);
}

}  // namespace
}  // namespace warpladder::runtime
