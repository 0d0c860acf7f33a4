#include "lab/axes.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace warpladder::lab {
namespace {

using Sizes = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Shapes = std::vector<Sizes>;

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}
std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_axis(text); });
}

TEST(Axes, PowersOfTwo) {
  const Axis axis = parse_axis("m,n,k=[pow2:5:8]");
  EXPECT_EQ(axis.names, (Names{"m", "n", "k"}));
  EXPECT_EQ(axis.values, (Sizes{32, 64, 128, 256}));
  EXPECT_EQ(parse_axis("n=[pow2:0:0]").values, Sizes{1});
  EXPECT_EQ(parse_axis("n=[pow2:62:62]").values, Sizes{std::int64_t{1} << 62});
}

TEST(Axes, Lists) {
  EXPECT_EQ(parse_axis("m=[16,32]").values, (Sizes{16, 32}));
  EXPECT_EQ(parse_axis("m=[7]").values, Sizes{7});
  EXPECT_EQ(parse_axis("m=64").values, Sizes{64});
  EXPECT_EQ(parse_axis("m=[9,0,9]").values, (Sizes{9, 0, 9}));
  EXPECT_EQ(parse_axis(" m, n = [ 1, 2 ]").names, (Names{"m", "n"}));
}

TEST(Axes, RangesIncludeTheirStop) {
  EXPECT_EQ(parse_axis("m=[64:256:64]").values, (Sizes{64, 128, 192, 256}));
  EXPECT_EQ(parse_axis("m=[64:255:64]").values, (Sizes{64, 128, 192}));
  EXPECT_EQ(parse_axis("m=[5:5:1]").values, Sizes{5});
  EXPECT_EQ(parse_axis("m=[1:9223372036854775807:9223372036854775807]").values, Sizes{1});
}

TEST(Axes, RefusesInASentence) {
  EXPECT_EQ(refusal_of("m"), "-a 'm' has no '='; write it as in -a 'm,n,k=[pow2:5:8]'");
  EXPECT_EQ(refusal_of("=[1]"), "-a '=[1]' lacks a name in front of '='");
  EXPECT_EQ(refusal_of("m,=[1]"), "-a 'm,=[1]' lacks a name in front of '='");
  EXPECT_EQ(refusal_of("m=[1"), "-a 'm=[1' has a bracket without its pair");
  EXPECT_EQ(refusal_of("m=1]"), "-a 'm=1]' has a bracket without its pair");
  EXPECT_EQ(refusal_of("m=["), "-a 'm=[' has a bracket without its pair");
  EXPECT_EQ(refusal_of("m="), "-a 'm=' lacks a value");
  EXPECT_EQ(refusal_of("m=[]"), "-a 'm=[]' lacks a value");
  EXPECT_EQ(refusal_of("m=[1,,2]"), "-a 'm=[1,,2]' lacks a value");
  EXPECT_EQ(refusal_of("m=[4:8]"), "-a 'm=[4:8]' must give a range as START:STOP:STEP");
  EXPECT_EQ(refusal_of("m=[4:8:0]"), "-a 'm=[4:8:0]' has a step of 0");
  EXPECT_EQ(refusal_of("m=[8:4:1]"), "-a 'm=[8:4:1]' begins with 8 and ends with 4");
  EXPECT_EQ(refusal_of("m=[pow2:3]"), "-a 'm=[pow2:3]' must give powers of two as pow2:FIRST:LAST");
  EXPECT_EQ(refusal_of("m=[pow2:8:5]"), "-a 'm=[pow2:8:5]' begins with 2^8 and ends with 2^5");
  EXPECT_EQ(refusal_of("m=[pow2:5:63]"), "-a 'm=[pow2:5:63]' asks for 2^63; the greatest is 2^62");
  EXPECT_EQ(refusal_of("m=[1:1000000000000:1]"),
            "-a 'm=[1:1000000000000:1]' has 1000000000000 values; the most are 10000");
  EXPECT_NE(refusal_of("m=[x]").find("-a 'm=[x]': the value is 'x'"), std::string::npos);
  EXPECT_NE(refusal_of("m=[-4]").find("cannot be negative"), std::string::npos);
}

TEST(Axes, NamesComeFromTheShapesForm) {
  EXPECT_EQ(size_names("MxNxK"), (Names{"m", "n", "k"}));
  EXPECT_EQ(size_names("N"), Names{"n"});
}

Shapes shapes(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) axes.push_back(parse_axis(text));
  return shapes_of(axes, {"m", "n", "k"}, {10, 20, 30}, "sgemm");
}

TEST(Axes, MakeTheirProduct) {
  EXPECT_EQ(shapes({}), (Shapes{{10, 20, 30}}));
  EXPECT_EQ(shapes({"m,n,k=[1,2]"}), (Shapes{{1, 1, 1}, {2, 2, 2}}));
  EXPECT_EQ(shapes({"n=[1,2]"}), (Shapes{{10, 1, 30}, {10, 2, 30}}));
  EXPECT_EQ(shapes({"k=[1,2]", "m,n=[5,6]"}), (Shapes{{5, 5, 1}, {6, 6, 1}, {5, 5, 2}, {6, 6, 2}}));
}

TEST(Axes, RefusesNamesThatDoNotFit) {
  EXPECT_EQ(refusal([] { shapes({"q=[1]"}); }),
            "-a: 'q' is not a size of sgemm, whose sizes are: m, n, k");
  EXPECT_EQ(refusal([] { shapes({"m=[1]", "m=[2]"}); }), "-a: 'm' is given more than once");
  EXPECT_EQ(refusal([] { shapes({"m,m=[1]"}); }), "-a: 'm' is given more than once");
  EXPECT_EQ(refusal([] {
              shapes({"m=[1:101:1]", "n=[1:100:1]"});
            }),
            "-a: the axes make more than 10000 shapes");
}

TEST(ParseList, ListsWholeShapes) {
  EXPECT_EQ(parse_list("shape=[4x5,6x7]"), (Names{"4x5", "6x7"}));
  EXPECT_EQ(parse_list("shape=4x5"), Names{"4x5"});
  EXPECT_EQ(refusal([] { parse_list("shape=[4x5"); }),
            "-a 'shape=[4x5' has a bracket without its pair");
  EXPECT_EQ(refusal([] { parse_list("shape=["); }), "-a 'shape=[' has a bracket without its pair");
  EXPECT_EQ(refusal([] { parse_list("shape=[4x5,]"); }), "-a 'shape=[4x5,]' lacks a shape");
  EXPECT_EQ(refusal([] { parse_list("shape="); }), "-a 'shape=' lacks a shape");
}

}  // namespace
}  // namespace warpladder::lab
