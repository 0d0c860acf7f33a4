#pragma once
// What the lab knows of an operator: its name, its cases, how to prepare one, run a rung on it and
// judge the result. Each operator implements Operator once. Only some have the capabilities.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/lab/accuracy.hpp"

namespace warpladder::ops {

// The verdict on one result. Errors are counted in units of their bound: up to 1 passes.
struct Verdict {
  double worst_error_over_bound = 0.0;
  std::string failure;  // one sentence; empty if the result passed
  bool passed() const { return failure.empty(); }
};

// One problem with its operands on one target, and the truth about it.
class Trial {
 public:
  virtual ~Trial() = default;
  // Lets the call have a workspace of at least so many bytes, where the operator's calls have one.
  // What a larger workspace replaces is lost.
  virtual void provide_workspace(std::size_t) {}
  // Puts the operands back and poisons what the rung must write.
  virtual void reset() = 0;
  // The operator's Call, for launchers and predictors.
  virtual ladder::AnyCall call() const = 0;
  // What the next result to be judged was computed with; FP32 arithmetic, unless told.
  virtual void expect(const ladder::Arithmetic&) {}
  // Compares outputs with the float64 reference and looks at guard bands, gaps and inputs.
  virtual Verdict judge() = 0;
  // Half a sentence on what judge() compares, if that is not every element; else empty.
  virtual std::string judged_in_part() const { return ""; }
  // What of this problem explains its times, for people; else empty.
  virtual std::string remark() const { return ""; }
  virtual double flops() const = 0;
  virtual double minimal_bytes() const = 0;
};

// What the speed of an operator is measured in: operations a second, or minimal bytes a second.
enum class Measure { flops, bytes };

struct Case {
  std::string name;
  std::function<std::unique_ptr<Trial>(runtime::Target)> prepare;
};

// For operators whose problem may be a matrix that no shape describes: a file, or a generator's
// text. The shape of such a problem is empty, and the text replaces the variant.
struct MatrixCapability {
  // What bench runs by default.
  std::vector<std::string> (*bench_matrices)();
  // A sentence for each matrix of the user that cases() and bench_matrices() leave out, with the
  // reason.
  std::vector<std::string> (*left_out)();
  Case (*case_of)(const std::string& matrix);
};

struct RunCapability;

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::string name() const = 0;
  virtual std::string idea() const = 0;        // one line: what it computes
  virtual std::string shape_form() const = 0;  // how --shape is written, e.g. "MxNxK"
  virtual std::vector<std::int64_t> default_shape() const = 0;  // for explain and bench
  // For explain: the first one that a rung takes, in the first variant in which it does.
  virtual std::vector<std::vector<std::int64_t>> explained_shapes() const {
    return {default_shape()};
  }
  // What a shape alone leaves open (a layout, which function), a word each; the first goes without
  // saying. An operator that leaves nothing open has the one variant "".
  virtual std::vector<std::string> variants() const { return {""}; }
  // Words that may follow a variant, each behind a space, and say more of the problem ("batch=64"),
  // for people; empty where there are none.
  virtual std::string details() const { return ""; }
  // What bench runs unless it is told.
  virtual std::vector<std::vector<std::int64_t>> bench_shapes() const { return {default_shape()}; }
  virtual std::vector<std::string> bench_variants() const { return {variants().front()}; }
  virtual Measure measure() const = 0;
  // At which the serial rung on the CPU, the 1x of every speed-up, ends in about a second.
  virtual std::vector<std::int64_t> baseline_shape() const { return default_shape(); }
  // Odd, tiny, ragged, strided, poisoned: one list for tests, verify and bench.
  virtual std::vector<Case> cases() const = 0;
  // More than 2^31 elements: for a GPU, and hosts with some 40 GiB.
  virtual std::vector<Case> large_cases() const { return {}; }
  // The problems that rungs' predictions are made for: each shape in each variant that has it.
  virtual std::vector<std::vector<std::int64_t>> predicted_shapes() const {
    return {default_shape()};
  }
  virtual std::vector<std::string> predicted_variants() const { return variants(); }

  // Null where the operator has no such capability.
  virtual const MatrixCapability* matrices() const { return nullptr; }
  virtual const AccuracyCapability* accuracy() const { return nullptr; }
  virtual const RunCapability* run() const { return nullptr; }

  // Throws Error(bad_input) unless it is one of variants(), with or without details.
  void require_variant(const std::string& variant) const;
  // The plain problem of a shape, in one of variants() (empty: the first); or that of a matrix.
  // Throws Error(bad_input) if the shape or the variant is not one of this operator,
  // Error(resource) when it needs more memory than there is.
  Case case_of_shape(const std::vector<std::int64_t>& shape, const std::string& variant) const;
  // The same problem for timing alone: nothing of it takes long on the host, and of a large result
  // only a sample is judged.
  Case sampled_case_of_shape(const std::vector<std::int64_t>& shape,
                             const std::string& variant) const;
  Case case_of_shape(const std::vector<std::int64_t>& shape) const {
    return case_of_shape(shape, variants().front());
  }

 private:
  // Of a shape with as many sizes as default_shape(), and one of variants().
  virtual Case plain_case(const std::vector<std::int64_t>& shape,
                          const std::string& variant) const = 0;
  // Of the same; an operator whose plain cases are prepared in a moment has no other.
  virtual Case sampled_case(const std::vector<std::int64_t>& shape,
                            const std::string& variant) const {
    return plain_case(shape, variant);
  }
  void require_shape(const std::vector<std::int64_t>& shape) const;
};

// Called by static initialisation of each operator's operator.cpp.
bool declare(std::unique_ptr<Operator> op);
const std::vector<std::unique_ptr<Operator>>& all_operators();
// Throws Error(bad_input), naming the operators that there are.
const Operator& find_operator(std::string_view name);

}  // namespace warpladder::ops
