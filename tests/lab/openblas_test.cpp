// How OpenBLAS starts: without threads of its own, and without a word to other programs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ops/lab/openblas_start.hpp"

namespace warpladder {
namespace {

TEST(Openblas, IsToldToStartWithoutThreadsAndOtherProgramsAreNot) {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  const char* const told = std::getenv(kThreads);
  ASSERT_NE(told, nullptr);
  const std::string before = told;
  ops::openblas_has_started();
  // What this program's caller has set stays.
  if (const char* const after = std::getenv(kThreads)) {
    EXPECT_EQ(after, before);
  } else {
    EXPECT_EQ(before, "1");
  }
}

}  // namespace
}  // namespace warpladder
