#pragma once
// How far results lie from the truth, in the measures of error analysis. It is for comparing rungs
// that are all right within their bounds, yet not equally near.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/double_double.hpp"
#include "ladder/ladder.hpp"

namespace warpladder::ops {

// A family of operands that errors are measured on.
struct Distribution {
  std::string name, what;
};

// Of a result C with the truth R, over the elements that are judged.
struct Errors {
  // ||C - R|| / ||R|| in the Frobenius norm. Where R is zero throughout: 0 if C is, else infinite.
  double frobenius = 0;
  // The largest |C - R| / M, M being what the truth's terms sum to without their signs, |A||B| of a
  // product. An element with M = 0 counts 0 if it is right, else infinite.
  double componentwise = 0;
  // Elements that are infinite or NaN, though every truth here is finite. One of them makes both
  // errors infinite.
  std::uint64_t not_finite = 0;
};

// Takes the elements one by one.
class ErrorMeter {
 public:
  void look_at(float actual, DoubleDouble truth, double magnitude);
  Errors errors() const;

 private:
  double squared_error_ = 0, squared_truth_ = 0;
  double componentwise_ = 0;
  std::uint64_t not_finite_ = 0;
};

struct AccuracyProblem {
  std::string distribution;
  std::vector<std::int64_t> shape;
  std::uint64_t seed = 1;
  std::string variant = {};  // with details; empty: the operator's first
};

// One such problem with its operands on one target, and the truth about it.
class AccuracyTrial {
 public:
  virtual ~AccuracyTrial() = default;
  // As of a Trial.
  virtual void provide_workspace(std::size_t) {}
  // Poisons what the rung must write.
  virtual void reset() = 0;
  // The operator's Call, for launchers.
  virtual ladder::AnyCall call() const = 0;
  virtual Errors measure() = 0;
  // Half a sentence on what measure() compares, if that is not every element; else empty.
  virtual std::string judged_in_part() const { return ""; }
};

// For operators that `accuracy` measures.
struct AccuracyCapability {
  std::vector<Distribution> (*distributions)();
  // The default values of each size. All together they take about a minute.
  std::vector<std::vector<std::int64_t>> (*sizes)(runtime::Target target);
  // Throws Error(bad_input) unless the problem has one of distributions() and as many sizes as the
  // operator's default shape, Error(resource) when there is too little memory.
  std::unique_ptr<AccuracyTrial> (*trial)(const AccuracyProblem& problem, runtime::Target target);
};

}  // namespace warpladder::ops
