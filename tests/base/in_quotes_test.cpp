#include "base/in_quotes.hpp"

#include <gtest/gtest.h>

namespace warpladder {
namespace {

TEST(InQuotes, ShowsWhatCanBeShown) {
  EXPECT_EQ(in_quotes("größe ≤ 𝄞 x"), "'größe ≤ 𝄞 x'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("abcdef", 3), "'abc...'");
}

TEST(InQuotes, SpellsControlCharactersAndWhatIsNoUtf8) {
  EXPECT_EQ(in_quotes("a\x1b[31m\n\x7f"), "'a\\x1b[31m\\x0a\\x7f'");
  EXPECT_EQ(in_quotes("\xc2\x9b"
                      "31m"),
            "'\\xc2\\x9b31m'");  // C1's CSI
  EXPECT_EQ(in_quotes("\x9b\xff\xfe"), "'\\x9b\\xff\\xfe'");
  EXPECT_EQ(in_quotes("\xc0\xaf"), "'\\xc0\\xaf'");                    // longer than it must be
  EXPECT_EQ(in_quotes("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");           // a surrogate
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'");  // beyond Unicode
  EXPECT_EQ(in_quotes("x\xe2\x89"), "'x\\xe2\\x89'");                  // cut short
}

TEST(InQuotes, LeavesItsOwnSpellingAsItIs) {
  const std::string once = in_quotes("\xff\x01ö");
  EXPECT_EQ(in_quotes(once), "'" + once + "'");
}

}  // namespace
}  // namespace warpladder
