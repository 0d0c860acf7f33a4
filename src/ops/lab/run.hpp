#pragma once
// An operator on the user's own arrays: the flags that it asks for, and what it needs to
// run. The caller turns flags into values, and writes the result.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/npy.hpp"
#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/lab/operator.hpp"

namespace warpladder::ops {

struct RunFlag {
  std::string name;  // without the dashes
  std::string type;  // how help names the value; empty: the flag takes none
  std::string help;
  bool required = false;
  std::string default_value = {};  // empty: the flag has none
};
// The flags that several operators have.
RunFlag array_flag(std::string name);  // required
RunFlag alpha_flag();
RunFlag beta_flag();
RunFlag old_flag(std::string name);  // the array that --beta multiplies

struct NamedArray {
  std::string name;  // how a sentence about it begins, e.g. "--a 'A.npy'"
  NpyArray array;
};

// What the user gave, by the names of flags.
class RunValues {
 public:
  void set(std::string flag, std::string value) { values_[std::move(flag)] = std::move(value); }
  // Whether the flag was given, or has a default.
  bool has(std::string_view flag) const { return values_.contains(flag); }
  // These need has(flag). The last two throw Error(bad_input) for what cannot be read.
  const std::string& text(std::string_view flag) const { return values_.find(flag)->second; }
  float number(std::string_view flag) const;
  NamedArray array(std::string_view flag) const;
  // Empty unless has(flag).
  std::optional<NamedArray> optional_array(std::string_view flag) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

struct RunOptions {
  runtime::Target target = runtime::Target::cpu;
  std::string rung;  // ID or OP/ID; empty: the operator chooses
  unsigned executor_threads = 0;
  bool has_out = true;  // whether the result goes to a file
};

// A value in the operator's own part of the report.
using RunDetail = std::variant<std::string, double, std::int64_t, bool>;

struct RunResult {
  const ladder::AnyRung* rung = nullptr;
  runtime::Flavour flavour = runtime::Flavour::plain;
  // As shape_form() says. Rows and columns of a sparse matrix.
  std::vector<std::int64_t> shape;
  double time_s = 0.0;  // of the launch, without copies
  NpyArray out;
  std::vector<std::int64_t> places = {};  // replaces out.data where not empty
  double preparation_s = 0.0;             // of the rung's preparation, if it has one
  std::map<std::string, RunDetail> details = {};
};

// For operators that `run` offers. Several operators may share a command: the flag `selected_by`
// selects the operator that names it. A flag that several of them list is one flag.
struct RunCapability {
  std::string command;  // the word after `run`
  std::string summary;  // one line of help
  std::vector<RunFlag> flags;
  bool needs_out = true;
  std::string selected_by = {};  // empty: the operator that runs when no such flag is given
  // Reads all inputs before it returns. Throws Error(bad_input) for arrays that do not fit
  // together, Error(resource) for too little memory or a rung that cannot run on the target.
  RunResult (*run)(const RunValues& values, const RunOptions& options) = nullptr;
};

// ---- what operators share

struct Matrix {
  std::int64_t rows, columns;
  Matrix transposed_if(bool condition) const { return condition ? Matrix{columns, rows} : *this; }
  std::string text() const;  // "3x4"
};
// Both throw Error(bad_input) for another number of dimensions.
Matrix matrix_of(const NamedArray& x);
std::int64_t size_of_vector(const NamedArray& x);
// "--a 'A.npy' is 3x4, transposed 4x3": the shape in the file, then the shape that is multiplied.
std::string describe(const NamedArray& x, bool transposed);

// Throws Error(bad_input) unless the old output is there exactly if beta is not 0. `argument` names
// its flag.
void require_old(const std::optional<NamedArray>& old, const char* argument, float beta);

// On the CPU, device memory counts as host memory.
double host_bytes(runtime::Target target, double device_elements, double host_elements);

// The rung that the user forces; null if the operator chooses.
const ladder::AnyRung* forced_rung(const RunOptions& options, std::string_view op);
// The flavour that runs on the target. Throws Error(resource) if the rung does not have it.
runtime::Flavour flavour_of(const ladder::AnyRung& rung, runtime::Target target);

struct Seconds {
  double launch = 0.0, preparation = 0.0;
};
// Prepares, if the rung does so, and launches. Throws Error(bad_input) for a call that the rung
// does not accept.
Seconds timed(const ladder::AnyRung& rung, runtime::Flavour flavour, ladder::AnyCall call,
              const RunOptions& options);

}  // namespace warpladder::ops
