#include "lab/svg.hpp"

#include <gtest/gtest.h>

namespace warpladder::lab {
namespace {

TEST(Svg, XmlHoldsAnyBytes) {
  EXPECT_EQ(xml_text("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
  EXPECT_EQ(xml_text("größe"), "größe");
  EXPECT_EQ(xml_text("a\x1b\n\x7f"
                     "b"),
            "a   b");
  EXPECT_EQ(xml_text("a\xff"), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace warpladder::lab
