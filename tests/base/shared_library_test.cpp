#include "base/shared_library.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warpladder {
namespace {

TEST(SharedLibrary, TakesTheFirstThatLoads) {
  const SharedLibrary libc({"libno-such-library.so.1", "libc.so.6"});
  EXPECT_EQ(libc.why_not(), "");
  const auto length = libc.find<std::size_t (*)(const char*)>("strlen");
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(length("four"), 4);
  EXPECT_EQ(libc.find<void (*)()>("no_such_function_at_all"), nullptr);
}

TEST(SharedLibrary, SaysWhatIsMissing) {
  const SharedLibrary none({"libno-such-library.so.1", "/nowhere/libno-such-library.so.1"});
  EXPECT_EQ(none.why_not(), "libno-such-library.so.1 cannot be loaded");
  EXPECT_EQ(none.find<void (*)()>("strlen"), nullptr);
}

}  // namespace
}  // namespace warpladder
