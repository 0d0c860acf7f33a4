#include "ops/lab/run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/npy_header.hpp"
#include "base/parse.hpp"

namespace warpladder::ops {
namespace {

std::string argument_of(std::string_view flag) { return fmt::format("--{}", flag); }

void require_dimensions(const NamedArray& x, std::size_t dimensions, const char* kind) {
  const auto& shape = x.array.shape;
  if (shape.size() != dimensions) {
    throw_bad_input(fmt::format("{} has {} {} {}, but a {} has {}", x.name, shape.size(),
                                shape.size() == 1 ? "dimension:" : "dimensions:",
                                format_npy_shape(shape), kind, dimensions));
  }
}

}  // namespace

RunFlag array_flag(std::string name) {
  return {std::move(name), "FILE", "float32 .npy file", true};
}
RunFlag alpha_flag() { return {"alpha", "X", "Default: 1", false, "1"}; }
RunFlag beta_flag() { return {"beta", "X", "Default: 0", false, "0"}; }
RunFlag old_flag(std::string name) { return {std::move(name), "FILE", "What --beta multiplies"}; }

float RunValues::number(std::string_view flag) const {
  return parse_float(text(flag), argument_of(flag));
}
NamedArray RunValues::array(std::string_view flag) const {
  const std::string &path = text(flag), argument = argument_of(flag);
  return {file_subject(path, argument), read_npy(path, argument)};
}
std::optional<NamedArray> RunValues::optional_array(std::string_view flag) const {
  if (!has(flag)) return std::nullopt;
  return array(flag);
}

std::string Matrix::text() const { return fmt::format("{}x{}", rows, columns); }

Matrix matrix_of(const NamedArray& x) {
  require_dimensions(x, 2, "matrix");
  return {x.array.shape[0], x.array.shape[1]};
}

std::int64_t size_of_vector(const NamedArray& x) {
  require_dimensions(x, 1, "vector");
  return x.array.shape[0];
}

std::string describe(const NamedArray& x, bool transposed) {
  const Matrix stored = matrix_of(x);
  const std::string note = transposed ? ", transposed " + stored.transposed_if(true).text() : "";
  return fmt::format("{} is {}{}", x.name, stored.text(), note);
}

void require_old(const std::optional<NamedArray>& old, const char* argument, float beta) {
  if (!old && beta != 0.0f) {
    throw_bad_input(
        fmt::format("--beta is {:g}, so {} must say what it multiplies", beta, argument));
  }
  if (old && beta == 0.0f) throw_bad_input(old->name + " would be ignored, because --beta is 0");
}

double host_bytes(runtime::Target target, double device_elements, double host_elements) {
  const double on_device = target == runtime::Target::cpu ? device_elements : 0.0;
  return sizeof(float) * (on_device + host_elements);
}

const ladder::AnyRung* forced_rung(const RunOptions& options, std::string_view op) {
  if (options.rung.empty()) return nullptr;
  const std::string prefix = fmt::format("{}/", op);
  const bool has_operator = options.rung.starts_with(prefix);
  return &ladder::find_rung(op, options.rung.substr(has_operator ? prefix.size() : 0));
}

runtime::Flavour flavour_of(const ladder::AnyRung& rung, runtime::Target target) {
  const runtime::Flavour flavour =
      target == runtime::Target::gpu ? runtime::Flavour::gpu : runtime::Flavour::plain;
  if (const std::string why_not = ladder::why_not(rung, flavour); !why_not.empty()) {
    throw_resource(fmt::format("{} cannot run on the {}: {}", rung.full_name(),
                               device::name(target), why_not));
  }
  return flavour;
}

Seconds timed(const ladder::AnyRung& rung, runtime::Flavour flavour, ladder::AnyCall call,
              const RunOptions& options) {
  if (const std::string why_not = ladder::why_not(rung, call); !why_not.empty()) {
    throw_bad_input(fmt::format("{} cannot run this: {}", rung.full_name(), why_not));
  }
  device::Stream stream(options.target);
  stream.executor_threads = options.executor_threads;
  const auto seconds_of = [&](ladder::Launcher launch) {
    device::Timer timer(stream);
    timer.start();
    launch(call, stream);
    timer.stop();
    stream.synchronize();
    return timer.seconds();
  };
  Seconds seconds;
  const ladder::Launcher prepare = rung.preparation(flavour);
  if (prepare) seconds.preparation = seconds_of(prepare);
  seconds.launch = seconds_of(rung.launcher(flavour));
  return seconds;
}

}  // namespace warpladder::ops
