#pragma once
// What the lab knows of an operator: its name, its cases, and how to set one up, run a rung on it
// and judge the result. Each room implements this once.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "ladder/ladder.hpp"

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
  // Puts the operands back and poisons what the rung must write.
  virtual void reset() = 0;
  // The operator's Call, for launchers and predictors.
  virtual const void* call() const = 0;
  // Compares outputs with the float64 reference and looks at guard bands, gaps and inputs.
  virtual Verdict judge() = 0;
  // Half a sentence on what judge() compares, if that is not every element; else empty.
  virtual std::string judged_in_part() const { return ""; }
  virtual double flops() const = 0;
  virtual double minimal_bytes() const = 0;
};

// What the speed of an operator is measured in: operations a second, or minimal bytes a second.
enum class Measure { flops, bytes };

struct Case {
  std::string name;
  std::function<std::unique_ptr<Trial>(device::Target)> prepare;
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::string name() const = 0;
  virtual std::string idea() const = 0;        // one line: what it computes
  virtual std::string shape_form() const = 0;  // how --shape is written, e.g. "MxNxK"
  virtual std::vector<std::int64_t> default_shape() const = 0;  // for explain and bench
  virtual Measure measure() const = 0;
  // At which the serial rung on the CPU, the 1x of every speed-up, ends in about a second.
  virtual std::vector<std::int64_t> baseline_shape() const { return default_shape(); }
  // Odd, tiny, ragged, strided, poisoned: one list for tests, verify and bench.
  virtual std::vector<Case> cases() const = 0;
  // The plain problem of a shape. Throws Error(bad_input) if the shape is not one of this operator,
  // Error(resource) when it needs more memory than there is.
  virtual Case case_of_shape(const std::vector<std::int64_t>& shape) const = 0;
};

// Called by static initialisation of each room's operator.cpp.
bool declare(std::unique_ptr<Operator> op);
const std::vector<std::unique_ptr<Operator>>& all_operators();
// Throws Error(bad_input), naming the operators that there are.
const Operator& find_operator(std::string_view name);

}  // namespace warpladder::ops
