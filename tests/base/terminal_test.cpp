#include "base/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <cstdlib>

#include "base/file_descriptor.hpp"

namespace warpladder {
namespace {

TEST(Terminal, AFileHasAHundredColumns) {
  ::unsetenv("COLUMNS");
  const FileDescriptor null(::open("/dev/null", O_WRONLY));
  EXPECT_EQ(columns_of(null.get()), 100u);
}

TEST(Terminal, SaysItsWidth) {
  ::unsetenv("COLUMNS");
  const FileDescriptor ours(::posix_openpt(O_RDWR | O_NOCTTY));
  if (!ours.is_open() || ::grantpt(ours.get()) || ::unlockpt(ours.get())) {
    GTEST_SKIP() << "this machine has no pseudo-terminals";
  }
  const FileDescriptor theirs(::open(::ptsname(ours.get()), O_RDWR | O_NOCTTY));
  EXPECT_EQ(columns_of(theirs.get()), 80u);  // it does not say
  for (const unsigned short columns : {60, 132}) {
    const winsize size{24, columns, 0, 0};
    ASSERT_EQ(::ioctl(theirs.get(), TIOCSWINSZ, &size), 0);
    EXPECT_EQ(columns_of(theirs.get()), columns);
  }
  ::setenv("COLUMNS", "72", 1);
  EXPECT_EQ(columns_of(theirs.get()), 72u);
  for (const char* nonsense : {"", "0", "-3", "12x"}) {
    ::setenv("COLUMNS", nonsense, 1);
    EXPECT_EQ(columns_of(theirs.get()), 132u) << nonsense;
  }
  ::setenv("COLUMNS", "3", 1);
  EXPECT_EQ(columns_of(theirs.get()), 40u);  // fewer hold no table
  ::unsetenv("COLUMNS");
}

TEST(Terminal, ADumbOneSaysSo) {
  EXPECT_TRUE(is_dumb_terminal("dumb"));
  EXPECT_FALSE(is_dumb_terminal("xterm"));
  EXPECT_FALSE(is_dumb_terminal(nullptr));
}

}  // namespace
}  // namespace warpladder
