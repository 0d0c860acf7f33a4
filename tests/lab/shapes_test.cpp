// Files of many shapes, and what a bench of them comes to.

#include "lab/shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "lab/shapes_picture.hpp"
#include "lab/shapes_view.hpp"

namespace warpladder::lab {
namespace {

class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "warpladder_shapes_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<ShapeLine> read(const std::string& op, const std::string& text) {
  const File file(text);
  return read_shapes(ops::find_operator(op), file.path(), "--shapes");
}

std::string refusal(const std::string& op, const std::string& text) {
  try {
    read(op, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

TEST(Shapes, AreReadLineByLine) {
  const std::vector<ShapeLine> lines =
      read("sgemm",
           "# all of it\n\n  few row_nt 1x4096x11008  # a decoder\r\n"
           "\tbatches\trow_nn 8x8x8   batch=3    stride_b=0\nfew col_tt 2,3,4");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].line, 3u);
  EXPECT_EQ(lines[0].shape_class, "few");
  EXPECT_EQ(lines[0].variant, "row_nt");
  EXPECT_EQ(lines[0].shape, (std::vector<std::int64_t>{1, 4096, 11008}));
  EXPECT_EQ(lines[1].variant, "row_nn batch=3 stride_b=0");
  EXPECT_EQ(lines[2].shape, (std::vector<std::int64_t>{2, 3, 4}));
}

TEST(Shapes, OfEveryOperatorThatHasThem) {
  EXPECT_EQ(read("sgemv", "thin row_n 3x5\n").size(), 1u);
  EXPECT_EQ(read("transpose", "thin - 3x5\n").at(0).variant, "");
  EXPECT_NE(refusal("spmv", "a row 3\n").find("are matrices, which have no shape"),
            std::string::npos);
}

TEST(Shapes, ABadLineIsNamed) {
  for (const auto& [text, words] :
       {std::pair{"few row_nn 1x2x3\nfew row_nn\n", ", line 2: 'few row_nn' is not a class"},
        {"few row_nn 1x2\n", ", line 1: the shape"},
        {"few row_nn 1x2x-3\n", ", line 1: the shape"},
        {"\n\nfew row_xx 1x2x3\n", ", line 3: sgemm has no variant 'row_xx'"},
        {"few row_nn 1x2x3 batch=0\n", ", line 1: sgemm: a batch has at least 1"},
        {"few row_nn 1x2x3 bath=2\n", ", line 1: sgemm: 'bath=2' is no detail"},
        {"few row_nn 4611686018427387904x4x4\n", ", line 1: sgemm: "},
        {"# nothing\n", " holds no shape"},
        {"\x01\xff row\n", ", line 1: "}}) {
    const std::string sentence = refusal("sgemm", text);
    EXPECT_TRUE(sentence.starts_with("--shapes '")) << sentence;
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  }
  EXPECT_NE(refusal("transpose", "a in_place 2x2 c=1\n").find("is no detail"), std::string::npos);
  EXPECT_NE(refusal("reduce_axis", "a row_sum 2x2 c=1\n").find("nothing may follow"),
            std::string::npos);
  const auto missing = [] {
    read_shapes(ops::find_operator("sgemm"), "/none/shapes.txt", "--shapes");
  };
  EXPECT_THROW(missing(), Error);
  EXPECT_THROW(read_shapes(ops::find_operator("sgemm"), "/", "--shapes"), Error);
}

TEST(Shapes, OfTheBenchmarkAreAllThere) {
  const std::string folder = std::string(WARPLADDER_SOURCE_DIR) + "/benchmarks/every_shape/";
  const ops::Operator& sgemm = ops::find_operator("sgemm");
  const std::vector<ShapeLine> shapes = read_shapes(sgemm, folder + "shapes.txt", "");
  EXPECT_GE(shapes.size(), 150u);
  std::set<std::string> classes, problems;
  for (const ShapeLine& line : shapes) {
    classes.insert(line.shape_class);
    problems.insert(fmt::format("{} {}", line.variant, fmt::join(line.shape, "x")));
  }
  EXPECT_GE(classes.size(), 9u);
  EXPECT_EQ(problems.size(), shapes.size()) << "each once";
  EXPECT_EQ(read_shapes(sgemm, folder + "accuracy.txt", "").size(), 20u);
}

BenchRow row_of(std::size_t group, const std::string& shape_class, const std::string& name,
                double hot, double cold) {
  BenchRow row;
  row.op = "sgemm";
  row.rung = name;
  row.group = group;
  row.shape_class = shape_class;
  row.shape = {1, 2, static_cast<std::int64_t>(group)};
  row.variant = "row_nn";
  row.verified = true;
  if (hot > 0) row.samples_s = {hot};
  if (cold > 0) row.cold_samples_s = {cold};
  row.flops = 100;
  row.bytes = 10;
  return row;
}
BenchRow rival_of(std::size_t group, const std::string& shape_class, const std::string& name,
                  double hot, double cold) {
  BenchRow row = row_of(group, shape_class, name, hot, cold);
  row.rival = true;
  return row;
}

TEST(ShapesView, ByHand) {
  BenchReport report;
  report.cache_bytes = 10;  // holds 10 bytes, not 20
  report.rows = {row_of(0, "x", "mine", 2, 4),    rival_of(0, "x", "cublas", 4, 4),
                 row_of(1, "x", "mine", 1, 1),    rival_of(1, "x", "cublas", 8, 0.5),
                 row_of(2, "y", "mine", 2, 2),    rival_of(2, "y", "cublas", 1, 6),
                 rival_of(2, "y", "other", 3, 2), row_of(3, "y", "mine", 0, 0),
                 rival_of(3, "y", "cublas", 1, 1)};
  BenchRow probe = rival_of(1, "x", "read", 0.9, 0.6);
  probe.probe = true;
  report.rows.insert(report.rows.begin() + 4, probe);
  report.rows[2].bytes = 20;
  report.rows[8].skipped = "no memory";

  const std::vector<ContestantView> views = views_of(report);
  ASSERT_EQ(views.size(), 1u);
  const ContestantView& view = views[0];
  EXPECT_EQ(view.rung, "mine");
  EXPECT_EQ(view.not_compared, 1u);
  ASSERT_EQ(view.shapes.size(), 3u);
  EXPECT_EQ(view.shapes[0].hot, 2);
  EXPECT_EQ(view.shapes[0].cold, 1);
  EXPECT_EQ(view.shapes[0].of_probe, 0);
  EXPECT_FALSE(view.shapes[0].beyond_cache);
  EXPECT_EQ(view.shapes[0].intensity(), 10);
  EXPECT_EQ(view.shapes[1].of_probe, 0.6) << "the lesser one";
  EXPECT_TRUE(view.shapes[1].beyond_cache);
  EXPECT_EQ(view.shapes[2].hot, 0.5);
  EXPECT_EQ(view.shapes[2].cold, 1) << "beside the rival that is fastest cold";
  EXPECT_EQ(view.shapes[2].rival->rung, "cublas");

  ASSERT_EQ(view.classes.size(), 2u);
  const Speedups& x = view.classes[0].speedups;
  EXPECT_EQ(x.shapes, 2u);
  EXPECT_DOUBLE_EQ(x.hot_mean, 4);
  EXPECT_EQ(x.hot_least, 2);
  EXPECT_DOUBLE_EQ(x.cold_mean, std::sqrt(0.5));
  EXPECT_EQ(x.cold_least, 0.5);
  EXPECT_EQ(x.of_probe_least, 0.6);
  EXPECT_EQ(x.least(), 0.5);
  EXPECT_DOUBLE_EQ(view.all.hot_mean, 2);
  EXPECT_EQ(view.worst, (std::vector<std::size_t>{1, 2, 0}));
}

TEST(ShapesView, WithoutColdTimes) {
  BenchReport report;
  report.rows = {row_of(0, "x", "mine", 2, 0), rival_of(0, "x", "openblas", 1, 0)};
  const ContestantView view = views_of(report).at(0);
  EXPECT_EQ(view.all.hot_mean, 0.5);
  EXPECT_EQ(view.all.cold_mean, 0);
  EXPECT_EQ(view.all.least(), 0.5);
  EXPECT_EQ(view.shapes[0].slower(), 0.5);
}

TEST(ShapesView, WhatIsInvalidIsNotCompared) {
  BenchReport report;
  report.rows = {row_of(0, "x", "mine", 2, 2), rival_of(0, "x", "cublas", 1, 1)};
  report.rows[0].invalid = "too fast";
  const ContestantView view = views_of(report).at(0);
  EXPECT_TRUE(view.shapes.empty());
  EXPECT_EQ(view.not_compared, 1u);
}

TEST(ShapesPicture, HasAPointForEachTimeAndShape) {
  BenchReport report;
  report.rows = {row_of(0, "<x>", "mine", 2, 4), rival_of(0, "<x>", "cublas", 4, 4),
                 row_of(1, "y", "mine", 1, 1), rival_of(1, "y", "cublas", 8, 0.5)};
  const std::string picture = svg(views_of(report).at(0), "sgemm");
  const auto count = [&](const std::string& words) {
    std::size_t found = 0;
    for (std::size_t at = picture.find(words); at != picture.npos;
         at = picture.find(words, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(" hot\"/>"), 2u + 2u) << "and the legend";
  EXPECT_EQ(count(" cold\"/>"), 2u);
  EXPECT_EQ(count("<x>"), 0u);
  EXPECT_EQ(count("prefers-color-scheme: dark"), 1u);
}

}  // namespace
}  // namespace warpladder::lab
