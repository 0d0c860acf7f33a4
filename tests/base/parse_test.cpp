#include "base/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/testing.hpp"

namespace warpladder {
namespace {

using testing::sentence_of;
using Shape = std::vector<std::int64_t>;

std::string size_refusal(std::string_view text) {
  return sentence_of([&] { parse_size(text, "--m"); });
}
std::string shape_refusal(std::string_view text, std::size_t count = 3) {
  return sentence_of([&] { parse_shape(text, count, "--shape"); });
}
std::string float_refusal(std::string_view text) {
  return sentence_of([&] { parse_float(text, "--alpha"); });
}

TEST(ParseSize, TakesDigits) {
  EXPECT_EQ(parse_size("0", "--m"), 0);
  EXPECT_EQ(parse_size("1024", "--m"), 1024);
  EXPECT_EQ(parse_size("007", "--m"), 7);
  EXPECT_EQ(parse_size("9223372036854775807", "--m"), std::numeric_limits<std::int64_t>::max());
}

TEST(ParseSize, RefusesTheRest) {
  EXPECT_SAYS("--m is empty", size_refusal(""));
  EXPECT_SAYS("--m is '-3', but a size cannot be negative", size_refusal("-3"));
  EXPECT_SAYS("--m is '9223372036854775808', which overflows", size_refusal("9223372036854775808"));
  for (const char* junk : {"abc", "12k", "1.5", "1e3", "+5", " 5", "5 ", "0x10", "-", "--3", "٣"}) {
    EXPECT_SAYS("digits only", size_refusal(junk));
    EXPECT_SAYS(junk, size_refusal(junk));
  }
}

TEST(ParseShape, TakesAnySeparator) {
  EXPECT_EQ(parse_shape("512x256x64", 3, "--shape"), (Shape{512, 256, 64}));
  EXPECT_EQ(parse_shape("512X256,64", 3, "--shape"), (Shape{512, 256, 64}));
  EXPECT_EQ(parse_shape("0,0", 2, "--shape"), (Shape{0, 0}));
  EXPECT_EQ(parse_shape("5", 1, "--shape"), (Shape{5}));
}

TEST(ParseShape, RefusesTheRest) {
  EXPECT_SAYS("--shape is empty; write it as in 512x512x512", shape_refusal(""));
  EXPECT_SAYS("has 2 sizes where 3 are needed, as in 512x512x512", shape_refusal("1x2"));
  EXPECT_SAYS("has 4 sizes where 3", shape_refusal("1x2x3x4"));
  EXPECT_SAYS("has 1 size where 2", shape_refusal("17", 2));
  for (const char* gap : {"1xx3", "x1x2", "1x2x", "x"}) {
    EXPECT_SAYS("a size is missing", shape_refusal(gap));
  }
  EXPECT_SAYS("--shape is '1x-2x3', but a size cannot be negative", shape_refusal("1x-2x3"));
  EXPECT_SAYS("digits only", shape_refusal("1 x 2 x 3"));
  EXPECT_SAYS("overflows", shape_refusal("1x2x99999999999999999999"));
}

TEST(ParseFloat, TakesWhatFp32Holds) {
  EXPECT_EQ(parse_float("1", "--alpha"), 1.0f);
  EXPECT_EQ(parse_float("-0.5", "--alpha"), -0.5f);
  EXPECT_EQ(parse_float("+2e3", "--alpha"), 2000.0f);
  EXPECT_EQ(parse_float(".25", "--alpha"), 0.25f);
  EXPECT_EQ(parse_float("1e-45", "--alpha"), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(parse_float("16777217", "--alpha"), 16777216.0f);
  EXPECT_TRUE(std::signbit(parse_float("-0", "--alpha")));
  EXPECT_EQ(parse_float("inf", "--alpha"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(parse_float("-INF", "--alpha"), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(parse_float("nan", "--alpha")));
}

TEST(ParseFloat, RefusesTheRest) {
  EXPECT_SAYS("--alpha is empty", float_refusal(""));
  EXPECT_SAYS("--alpha is '1e39', which is outside the range of fp32", float_refusal("1e39"));
  EXPECT_SAYS("outside the range", float_refusal("1e-60"));
  for (const char* junk : {"x", "1.0f", "1,5", " 1", "1 ", "+", "-", "+-1", "++1", "0x1p3", "1e"}) {
    EXPECT_SAYS("which is not a number", float_refusal(junk));
    EXPECT_SAYS(junk, float_refusal(junk));
  }
}

TEST(ParseDuration, TakesSecondsMinutesAndHours) {
  EXPECT_EQ(parse_duration("90", "--budget"), 90);
  EXPECT_EQ(parse_duration("60s", "--budget"), 60);
  EXPECT_EQ(parse_duration("5m", "--budget"), 300);
  EXPECT_EQ(parse_duration("1.5h", "--budget"), 5400);
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* junk :
       {"0", "0s", "s", "5x", "5 m", "-1s", "1e3", "nan", "inf", "1.2.3", "99999h"}) {
    EXPECT_SAYS("must be a time above 0, as in 60s, 5m or 1h",
                testing::sentence_of([&] { parse_duration(junk, "--budget"); }));
  }
}

TEST(Parse, ASentenceStaysOnOneShortLine) {
  EXPECT_SAYS("'1\\x0a2'", size_refusal("1\n2"));
  EXPECT_LT(size_refusal(std::string(100'000, '7')).size(), 200u);
}

}  // namespace
}  // namespace warpladder
