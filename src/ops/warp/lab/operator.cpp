#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/judge.hpp"
#include "ops/warp/problem.hpp"

namespace warpladder::warp {
namespace {

struct WarpCase {
  std::int64_t tiles;
  std::size_t misalign_in = 0, misalign_out = 0;
};

class WarpTrial final : public ops::Trial {
 public:
  WarpTrial(const WarpCase& c, runtime::Target target)
      : in_host_(static_cast<std::size_t>(c.tiles) * kTileWords), expected_(in_host_.size()) {
    fill_uniform(in_host_, 1, -1.0f, 1.0f);
    if (c.tiles > 0) in_host_[3] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t i = 0; i < in_host_.size(); ++i) {
      const std::size_t word = i % kTileWords;
      expected_[i - word + word % kColumns * kRows + word / kColumns] = in_host_[i];
    }
    in_ = device::Buffer<float>(target, in_host_, c.misalign_in, "the input");
    out_ = device::Buffer<float>(target, in_host_.size(), c.misalign_out, "out");
    call_ = {c.tiles, in_.data(), out_.data()};
  }

  void reset() override { out_.upload(std::vector<float>(out_.size(), ops::poison())); }
  ladder::AnyCall call() const override { return call_; }

  // Nothing is computed, so that every bit must be as it was.
  ops::Verdict judge() override {
    ops::Verdict verdict;
    const std::vector<float> out = out_.download();
    for (std::size_t i = 0; i < out.size() && verdict.passed(); ++i) {
      if (std::bit_cast<std::uint32_t>(out[i]) != std::bit_cast<std::uint32_t>(expected_[i])) {
        verdict.worst_error_over_bound = std::numeric_limits<double>::infinity();
        verdict.failure = fmt::format("word {} of tile {} of out is {:.9g}, but should be {:.9g}",
                                      i % kTileWords, i / kTileWords, out[i], expected_[i]);
      }
    }
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(in_host_, in_.download(), "the input"));
    if (!in_.guards_intact()) also("something was written outside the input");
    if (!out_.guards_intact()) also("something was written outside out");
    return verdict;
  }

  double flops() const override { return 0; }
  double minimal_bytes() const override { return 8.0 * static_cast<double>(in_host_.size()); }

 private:
  std::vector<float> in_host_, expected_;
  device::Buffer<float> in_, out_;
  Call call_;
};

ops::Case to_case(const WarpCase& c) {
  const bool aligned = c.misalign_in == 0 && c.misalign_out == 0;
  return {fmt::format("{}{}", c.tiles, aligned ? "" : ", operands off alignment"),
          [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<WarpTrial>(c, target);
          }};
}

class Warp final : public ops::Operator {
 public:
  std::string name() const override { return "warp"; }
  std::string idea() const override { return "n tiles of 32x4 transposed to 4x32, a warp each"; }
  std::string shape_form() const override { return "TILES"; }
  std::vector<std::int64_t> default_shape() const override { return {1 << 15}; }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    // None, one, and around the tiles of a block; then addresses that no float4 may be at.
    for (const WarpCase& c : {WarpCase{0},
                              {1},
                              {2},
                              {7},
                              {8},
                              {9},
                              {31},
                              {500},
                              {1003},
                              {1, 1, 1},
                              {9, 1, 0},
                              {20, 0, 3},
                              {33, 2, 5},
                              {40, 4, 8}}) {
      list.push_back(to_case(c));
    }
    return list;
  }
  std::vector<ops::Case> large_cases() const override { return {to_case({(1 << 24) + 3})}; }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{256}, {8192}};
  }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s, const std::string&) const override {
    if (s[0] < 0) throw_bad_input(fmt::format("warp: tiles must not be negative, it is {}", s[0]));
    require_memory(6.0 * sizeof(float) * kTileWords * static_cast<double>(s[0]),
                   fmt::format("warp of {} tiles", s[0]));
    return to_case({s[0]});
  }
};

const bool declared = ops::declare(std::make_unique<Warp>());

}  // namespace
}  // namespace warpladder::warp
