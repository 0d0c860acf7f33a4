#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/transpose/lab/run.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {
namespace {

struct TransposeCase {
  Problem problem;
  std::size_t misalign_in = 0, misalign_out = 0;
  const char* remark = "";
  bool in_place = false;
};

class TransposeTrial final : public ops::Trial {
 public:
  TransposeTrial(const TransposeCase& c, runtime::Target target) : problem_(c.problem) {
    const Problem::Footprint f = ops::footprint(problem_);
    in_host_.resize(static_cast<std::size_t>(f.in_elements));
    fill_uniform(in_host_, 1, -1.0f, 1.0f);
    if (in_host_.size() > 4) in_host_[3] = std::numeric_limits<float>::quiet_NaN();
    in_ = device::Buffer<float>(target, in_host_.size(), c.misalign_in,
                                c.in_place ? "the matrix" : "the input");
    fill_input(target);
    call_ = {problem_, in_.data(), in_.data()};
    if (c.in_place) return;
    out_host_.resize(static_cast<std::size_t>(f.out_elements));
    fill_uniform(out_host_, 2, -1.0f, 1.0f);  // the gaps keep this
    visit_out([&](std::size_t at, std::size_t) { out_host_[at] = ops::poison(); });
    out_ = device::Buffer<float>(target, out_host_, c.misalign_out, "out");
    call_.out = out_.data();
  }

  void reset() override {
    if (call_.in_place()) {
      in_.upload(in_host_);
    } else {
      out_.upload(out_host_);
    }
  }
  ladder::AnyCall call() const override { return call_; }

  // Nothing is computed, so that every bit must be as it was. A NaN need only be one, and not the
  // poison: cuBLAS multiplies by one, which changes a NaN's bits.
  ops::Verdict judge() override {
    ops::Verdict verdict;
    const bool in_place = call_.in_place();
    const std::vector<float>& before = in_place ? in_host_ : out_host_;
    std::vector<float> after = in_place ? in_.download() : out_.download();
    std::uint64_t wrong = 0;
    visit_out([&](std::size_t at, std::size_t from) {
      const float is = after[at], should_be = in_host_[from];
      const auto is_bits = std::bit_cast<std::uint32_t>(is);
      const bool right = std::isnan(should_be) ? std::isnan(is) && is_bits != ops::kPoisonBits
                                               : is_bits == std::bit_cast<std::uint32_t>(should_be);
      if (!right && wrong++ == 0) {
        verdict.failure =
            fmt::format("element {} of out is {:.9g}, but should be {:.9g}", at, is, should_be);
      }
      after[at] = before[at];  // what is left to look at are the gaps
    });
    if (wrong) {
      verdict.worst_error_over_bound = std::numeric_limits<double>::infinity();
      verdict.failure += fmt::format(" ({} elements are wrong)", wrong);
    }
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(before, after, "a gap between two lines of out"));
    if (!in_place) also(ops::first_changed(in_host_, in_.download(), "the input"));
    if (!in_.guards_intact()) also("something was written outside the input");
    if (!out_.guards_intact()) also("something was written outside out");
    return verdict;
  }

  double flops() const override { return 0; }
  double minimal_bytes() const override { return transpose::minimal_bytes(problem_); }

 private:
  // What in_host_ has, made where the device has its memory; but for the first elements.
  void fill_input(runtime::Target target) {
    device::Stream stream(target);
    device::fill_uniform(stream, in_.data(), in_.size(), 1, -1.0f, 1.0f);
    const std::size_t first = std::min<std::size_t>(in_host_.size(), 4);
    in_.upload({in_host_.begin(), in_host_.begin() + static_cast<std::ptrdiff_t>(first)});
  }

  // visit(index into out, index into in that belongs there), block by block for the caches' sake.
  template <class Visit>
  void visit_out(const Visit& visit) const {
    const Problem& p = problem_;
    constexpr std::int64_t kBlock = 64;
    for (std::int64_t matrix = 0; matrix < p.batch; ++matrix) {
      for (std::int64_t i0 = 0; i0 < p.rows; i0 += kBlock) {
        for (std::int64_t j0 = 0; j0 < p.columns; j0 += kBlock) {
          for (std::int64_t j = j0; j < std::min(j0 + kBlock, p.columns); ++j) {
            for (std::int64_t i = i0; i < std::min(i0 + kBlock, p.rows); ++i) {
              visit(static_cast<std::size_t>(matrix * p.stride_out + j * p.ld_out + i),
                    static_cast<std::size_t>(matrix * p.stride_in + i * p.ld_in + j));
            }
          }
        }
      }
    }
  }

  Problem problem_;
  std::vector<float> in_host_, out_host_;
  device::Buffer<float> in_, out_;
  Call call_;
};

// Behind a variant: so many matrices, without gaps.
std::int64_t batch_of(std::string_view detail) {
  constexpr std::string_view kBatch = "batch=";
  if (!detail.starts_with(kBatch)) {
    throw_bad_input(fmt::format("transpose: {} is no detail of a problem",
                                in_quotes(std::string(detail), kShownBytes)));
  }
  const std::string text(detail.substr(kBatch.size()));
  const std::int64_t batch = parse_size(text, "transpose: batch");
  if (batch < 1) throw_bad_input("transpose: a batch has at least 1 matrix");
  return batch;
}

ops::Case to_case(const TransposeCase& c) {
  const Problem& p = c.problem;
  std::string name = fmt::format("{}x{}", p.rows, p.columns);
  if (p.batch != 1) name += fmt::format(", {} of them", p.batch);
  if (c.in_place) name += ", in place";
  if (*c.remark) name += fmt::format(", {}", c.remark);
  return {name, [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<TransposeTrial>(c, target);
          }};
}

std::vector<TransposeCase> transpose_cases() {
  std::vector<TransposeCase> cases;
  // Tiny, whole tiles, one more and one less than a tile, thin either way.
  for (const std::int64_t size : {1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    cases.push_back({compact(size, size)});
  }
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1000},
                                      {1000, 1},
                                      {3, 517},
                                      {517, 3},
                                      {33, 700},
                                      {700, 33},
                                      {128, 64},
                                      {64, 128},
                                      {100, 300},
                                      {131, 257},
                                      {1500, 2100},
                                      {640, 47},
                                      {47, 640},
                                      {300, 20},
                                      {20, 300},
                                      {130, 12},
                                      {12, 130},
                                      {121, 130},
                                      {122, 129},
                                      {249, 257},
                                      {385, 270},
                                      {1000, 777},
                                      {777, 1000},
                                      {0, 5},
                                      {5, 0}}) {
    cases.push_back({compact(rows, columns)});
  }
  // Leading dimensions larger than the line: any, and such as float4 needs.
  for (const std::int64_t more : {1, 4}) {
    TransposeCase c{compact(68, 100), 0, 0, "ld larger than the line"};
    c.problem.ld_in += 3 * more;
    c.problem.ld_out += 5 * more;
    cases.push_back(c);
  }
  // Addresses that no vector access, and no line of 128 bytes, may assume anything of.
  for (const std::size_t shift : {1, 2, 3, 5}) {
    cases.push_back({compact(132, 200), shift, 2 * shift % 7, "operands off alignment"});
    cases.push_back({compact(256, 132), 2 * shift % 7, shift, "operands off alignment"});
  }
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{200, 33}, {33, 200}}) {
    cases.push_back({compact(rows, columns), 1, 0, "in off alignment"});
    cases.push_back({compact(rows, columns), 0, 1, "out off alignment"});
    TransposeCase gaps{compact(rows, columns), 0, 0, "ld larger than the line"};
    gaps.problem.ld_in += 3;
    gaps.problem.ld_out += 4;
    cases.push_back(gaps);
  }
  // Batches, compact and with gaps, and none at all.
  cases.push_back({compact(36, 44, 3)});
  cases.push_back({compact(35, 43, 5)});
  cases.push_back({compact(61, 7, 3)});
  cases.push_back({compact(20, 68, 3)});
  cases.push_back({compact(250, 131, 2)});
  cases.push_back({compact(99, 301, 2), 2, 1, "off alignment"});
  TransposeCase gaps{compact(65, 34, 4), 0, 0, "gaps between matrices"};
  gaps.problem.stride_in += 7;
  gaps.problem.stride_out += 11;
  cases.push_back(gaps);
  cases.push_back({compact(16, 16, 0)});
  // Many small ones, in pieces that begin on vectors and such that do not.
  for (const auto& [rows, columns, batch] : {std::array<std::int64_t, 3>{8, 8, 200},
                                             {7, 5, 301},
                                             {3, 3, 1000},
                                             {1, 6, 900},
                                             {33, 31, 9},
                                             {16, 64, 11},
                                             {64, 64, 3},
                                             {45, 91, 2}}) {
    cases.push_back({compact(rows, columns, batch)});
  }
  cases.push_back({compact(7, 9, 200), 3, 0, "in off alignment"});
  cases.push_back({compact(12, 8, 100), 0, 2, "out off alignment"});
  // In place: an even and an odd number of tiles, whole ones and cut ones.
  for (const std::int64_t size : {1, 5, 32, 33, 64, 95, 96, 200}) {
    cases.push_back({compact(size, size), 0, 0, "", true});
  }
  cases.push_back({compact(70, 70, 3), 1, 0, "off alignment", true});
  TransposeCase in_gaps{compact(40, 40, 4), 0, 0, "gaps", true};
  in_gaps.problem.ld_in = in_gaps.problem.ld_out = 43;
  in_gaps.problem.stride_in = in_gaps.problem.stride_out = 40 * 43 + 5;
  cases.push_back(in_gaps);
  return cases;
}

class Transpose final : public ops::Operator {
 public:
  std::string name() const override { return "transpose"; }
  std::string idea() const override { return "out = transpose of in, fp32, bit for bit"; }
  std::string shape_form() const override { return "ROWSxCOLUMNS"; }
  std::vector<std::int64_t> default_shape() const override { return {1024, 1024}; }
  std::vector<std::string> variants() const override { return {"", "in_place"}; }
  std::string details() const override { return "batch=N: N matrices, one behind the other"; }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const TransposeCase& c : transpose_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<ops::Case> large_cases() const override {
    return {to_case({compact(32769, 65539)}), to_case({compact(46344, 46344), 0, 0, "", true})};
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{128, 128}, {256, 128}, {1536, 2176}};
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s,
                       const std::string& variant) const override {
    const std::size_t end = variant.find(' ');
    const std::int64_t batch =
        end == variant.npos ? 1 : batch_of(std::string_view(variant).substr(end + 1));
    const TransposeCase c{compact(s[0], s[1], batch), 0, 0, "", variant.starts_with("in_place")};
    if (c.in_place && s[0] != s[1]) {
      throw_bad_input(fmt::format(
          "transpose: in place, a matrix must be square, but this one is {}x{}", s[0], s[1]));
    }
    const Problem::Footprint f = ops::footprint(c.problem);
    require_memory(3 * sizeof(float) * static_cast<double>(f.in_elements + f.out_elements),
                   fmt::format("transpose of {}x{}", s[0], s[1]));
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Transpose>());

}  // namespace
}  // namespace warpladder::transpose
