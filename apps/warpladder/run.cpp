#include "lab/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/npy.hpp"
#include "base/parse.hpp"
#include "lab/selection.hpp"
#include "ops/sgemm/problem.hpp"
#include "ops/spmv/lab/matrix_source.hpp"
#include "verb.hpp"
#include "writable.hpp"

namespace warpladder::app {
namespace {

// What every operator's run takes; --b only those of two operands.
struct CommonFlags {
  std::string a, b, out, rung;
  DeviceFlags device;
  JsonFlag json;

  void add_to(CLI::App& verb, bool takes_b = true, bool needs_out = true) {
    verb.add_option("--a", a, "float32 .npy file")->type_name("FILE")->required();
    add_rest_to(verb, takes_b, needs_out);
  }
  void add_rest_to(CLI::App& verb, bool takes_b, bool needs_out) {
    if (takes_b) verb.add_option("--b", b, "float32 .npy file")->type_name("FILE")->required();
    verb.add_option("--out", out, "The .npy file to write, whole or not at all")
        ->type_name("FILE")
        ->required(needs_out);
    verb.add_option("--rung", rung, "Run this one (default: the fastest)")->type_name("ID");
    device.add_to(verb);
    json.add_to(verb);
  }
};

struct SgemmFlags : CommonFlags {
  std::string c, alpha = "1", beta = "0";
  bool trans_a = false, trans_b = false;
};

struct SgemvFlags : CommonFlags {
  std::string x, y, alpha = "1", beta = "0";
  bool trans_a = false;
};

struct SpmvFlags : CommonFlags {
  std::string x, y, alpha = "1", beta = "0";
};

lab::NamedArray read(const std::string& path, const char* argument) {
  return {file_subject(path, argument), read_npy(path, argument)};
}

lab::RunOptions options_of(const CommonFlags& flags, const std::string& op) {
  require_apart({{"--out", flags.out}, {"--json", flags.json.path}});
  lab::RunOptions options;
  options.target = flags.device.target();
  options.executor_threads = flags.device.threads;
  if (!flags.rung.empty()) {
    const bool has_operator = flags.rung.starts_with(op + "/");
    options.rung = &ladder::find_rung(op, flags.rung.substr(has_operator ? op.size() + 1 : 0));
  }
  return options;
}

std::string readable_time(double time_s) {
  if (time_s < 1e-3) return fmt::format("{:.3g} µs", time_s * 1e6);
  if (time_s < 1.0) return fmt::format("{:.3g} ms", time_s * 1e3);
  return fmt::format("{:.3g} s", time_s);
}

// Of a scalar result.
std::string only_value(const lab::RunResult& result) {
  return result.places.empty() ? fmt::format("{}", result.out.data.front())
                               : std::to_string(result.places.front());
}

// Writes the result, where there is a file for it, and says so. `details` are the operator's own
// part of the JSON.
void deliver(const lab::RunResult& result, const CommonFlags& flags, const Context& context,
             nlohmann::json details) {
  if (!flags.out.empty() && result.places.empty()) {
    write_npy(flags.out, result.out.shape, result.out.data, result.out.fortran_order, "--out");
  } else if (!flags.out.empty()) {
    write_npy_places(flags.out, result.out.shape, result.places, "--out");
  }
  const ladder::AnyRung& rung = *result.rung;
  const char* target = device::name(result.flavour == runtime::Flavour::gpu ? runtime::Target::gpu
                                                                            : runtime::Target::cpu);
  if (!flags.json.to_stdout() && !is_stdout(flags.out)) {
    const std::string preparation =
        result.preparation_s > 0
            ? fmt::format(" after {} of preparation", readable_time(result.preparation_s))
            : "";
    print_line(fmt::format("{} of {} ran as {} on the {} in {}{}; the result is {}", rung.op,
                           fmt::join(result.shape, "x"), rung.id, target,
                           readable_time(result.time_s), preparation,
                           flags.out.empty() ? only_value(result) : "in " + in_quotes(flags.out)));
  }
  if (flags.json.asked()) {
    details.update({{"verb", "run"},
                    {"op", rung.op},
                    {"rung", rung.id},
                    {"target", target},
                    {"shape", result.shape},
                    {"time_s", result.time_s},
                    {"out_shape", result.out.shape}});
    if (result.preparation_s > 0) details["preparation_s"] = result.preparation_s;
    flags.json.write(context, std::move(details));
  }
}

void run_sgemm(const SgemmFlags& flags, const Context& context) {
  lab::RunSgemmRequest request;
  request.options = options_of(flags, "sgemm");
  request.alpha = parse_float(flags.alpha, "--alpha");
  request.beta = parse_float(flags.beta, "--beta");
  request.trans_a = flags.trans_a;
  request.trans_b = flags.trans_b;
  // All inputs are in memory before anything is written: --out may name one of them.
  request.a = read(flags.a, "--a");
  request.b = read(flags.b, "--b");
  if (!flags.c.empty()) request.c = read(flags.c, "--c");
  require_writable(flags.out, "--out");

  deliver(lab::run_sgemm(request), flags, context,
          {{"alpha", request.alpha},
           {"beta", request.beta},
           {"trans_a", request.trans_a},
           {"trans_b", request.trans_b}});
}

void run_sgemv(const SgemvFlags& flags, const Context& context) {
  lab::RunSgemvRequest request;
  request.options = options_of(flags, "sgemv");
  request.alpha = parse_float(flags.alpha, "--alpha");
  request.beta = parse_float(flags.beta, "--beta");
  request.trans_a = flags.trans_a;
  request.a = read(flags.a, "--a");
  request.x = read(flags.x, "--x");
  if (!flags.y.empty()) request.y = read(flags.y, "--y");
  require_writable(flags.out, "--out");

  deliver(lab::run_sgemv(request), flags, context,
          {{"alpha", request.alpha}, {"beta", request.beta}, {"trans_a", request.trans_a}});
}

void run_spmv(const SpmvFlags& flags, const Context& context) {
  lab::RunSpmvRequest request;
  request.options = options_of(flags, "spmv");
  request.alpha = parse_float(flags.alpha, "--alpha");
  request.beta = parse_float(flags.beta, "--beta");
  request.a_name = file_subject(flags.a.substr(0, kShownBytes), "--a");
  request.a = spmv::load_matrix(flags.a, "--a");
  if (!flags.x.empty()) request.x = read(flags.x, "--x");
  if (!flags.y.empty()) request.y = read(flags.y, "--y");
  require_writable(flags.out, "--out");

  deliver(lab::run_spmv(request), flags, context,
          {{"alpha", request.alpha},
           {"beta", request.beta},
           {"matrix", flags.a},
           {"nnz", request.a.nnz()}});
}

void run_vector_add(const CommonFlags& flags, const Context& context) {
  lab::RunVectorAddRequest request;
  request.options = options_of(flags, "vector_add");
  request.a = read(flags.a, "--a");
  request.b = read(flags.b, "--b");
  require_writable(flags.out, "--out");
  deliver(lab::run_vector_add(request), flags, context, nlohmann::json::object());
}

void run_transpose(const CommonFlags& flags, const Context& context) {
  lab::RunTransposeRequest request;
  request.options = options_of(flags, "transpose");
  request.a = read(flags.a, "--a");
  require_writable(flags.out, "--out");
  deliver(lab::run_transpose(request), flags, context, nlohmann::json::object());
}

struct ReduceFlags : CommonFlags {
  std::string function = "sum";
  std::optional<std::string> axis;
};

parts::Function function_of(const std::string& text) {
  for (const parts::Function f : parts::kFunctions) {
    if (text == parts::name(f)) return f;
  }
  throw_bad_input(fmt::format("--op {} is not a reduction; those are: {}",
                              in_quotes(text, kShownBytes),
                              fmt::join(parts::kFunctionNames, ", ")));
}

void run_reduce(const ReduceFlags& flags, const Context& context) {
  lab::RunReduceRequest request;
  request.options = options_of(flags, flags.axis ? "reduce_axis" : "reduce");
  request.function = function_of(flags.function);
  if (flags.axis) {
    if (*flags.axis != "0" && *flags.axis != "1") {
      throw_bad_input(
          fmt::format("--axis must be 0 or 1, not {}", in_quotes(*flags.axis, kShownBytes)));
    }
    if (flags.out.empty()) throw_bad_input("--axis leaves a vector; --out must say where to");
    request.axis = *flags.axis == "1" ? 1 : 0;
  }
  request.a = read(flags.a, "--a");
  if (!flags.out.empty()) require_writable(flags.out, "--out");
  const lab::RunResult result = lab::run_reduce(request);
  nlohmann::json details{{"function", flags.function}};
  if (!flags.axis) {
    if (parts::is_place(request.function)) {
      details["place"] = result.places.front();
    } else {
      details["value"] = result.out.data.front();
    }
  }
  deliver(result, flags, context, std::move(details));
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("run", "An operator on your own data");
  verb->require_subcommand(1);

  auto* sgemm = verb->add_subcommand("sgemm", "C = alpha op(A) op(B) + beta C");
  const auto sgemm_flags = std::make_shared<SgemmFlags>();
  sgemm_flags->add_to(*sgemm);
  sgemm->add_option("--c", sgemm_flags->c, "What --beta multiplies")->type_name("FILE");
  sgemm->add_option("--alpha", sgemm_flags->alpha, "Default: 1")->type_name("X");
  sgemm->add_option("--beta", sgemm_flags->beta, "Default: 0")->type_name("X");
  sgemm->add_flag("--transa", sgemm_flags->trans_a, "Multiply by the transpose of A");
  sgemm->add_flag("--transb", sgemm_flags->trans_b, "Multiply by the transpose of B");
  sgemm->callback([sgemm_flags, &context] { run_sgemm(*sgemm_flags, context); });

  auto* sgemv = verb->add_subcommand("sgemv", "y = alpha op(A) x + beta y");
  const auto sgemv_flags = std::make_shared<SgemvFlags>();
  sgemv_flags->add_to(*sgemv, false);
  sgemv->add_option("--x", sgemv_flags->x, "float32 .npy file")->type_name("FILE")->required();
  sgemv->add_option("--y", sgemv_flags->y, "What --beta multiplies")->type_name("FILE");
  sgemv->add_option("--alpha", sgemv_flags->alpha, "Default: 1")->type_name("X");
  sgemv->add_option("--beta", sgemv_flags->beta, "Default: 0")->type_name("X");
  sgemv->add_flag("--transa", sgemv_flags->trans_a, "Multiply by the transpose of A");
  sgemv->callback([sgemv_flags, &context] { run_sgemv(*sgemv_flags, context); });

  auto* spmv = verb->add_subcommand("spmv", "y = alpha A x + beta y, A sparse");
  const auto spmv_flags = std::make_shared<SpmvFlags>();
  spmv->add_option("--a", spmv_flags->a,
                   "A Matrix Market file, or a generator's text (see inspect)")
      ->type_name("FILE|SPEC")
      ->required();
  spmv_flags->add_rest_to(*spmv, false, true);
  spmv->add_option("--x", spmv_flags->x, "float32 .npy file (default: ones)")->type_name("FILE");
  spmv->add_option("--y", spmv_flags->y, "What --beta multiplies")->type_name("FILE");
  spmv->add_option("--alpha", spmv_flags->alpha, "Default: 1")->type_name("X");
  spmv->add_option("--beta", spmv_flags->beta, "Default: 0")->type_name("X");
  spmv->callback([spmv_flags, &context] { run_spmv(*spmv_flags, context); });

  auto* transpose = verb->add_subcommand("transpose", "The transpose of a matrix, bit for bit");
  const auto transpose_flags = std::make_shared<CommonFlags>();
  transpose_flags->add_to(*transpose, false);
  transpose->callback([transpose_flags, &context] { run_transpose(*transpose_flags, context); });

  auto* reduce =
      verb->add_subcommand("reduce", "All elements of an array, or each line of a matrix");
  const auto reduce_flags = std::make_shared<ReduceFlags>();
  reduce_flags->add_to(*reduce, false, false);
  reduce->add_option("--op", reduce_flags->function, "sum, mean, min, max, argmin, argmax")
      ->type_name("NAME");
  reduce
      ->add_option("--axis", reduce_flags->axis,
                   "Of a matrix: 0 leaves a value for each column, 1 for each row")
      ->type_name("0|1");
  reduce->callback([reduce_flags, &context] { run_reduce(*reduce_flags, context); });

  auto* vector_add = verb->add_subcommand("vector_add", "C = A + B, element by element");
  const auto add_flags = std::make_shared<CommonFlags>();
  add_flags->add_to(*vector_add);
  vector_add->callback([add_flags, &context] { run_vector_add(*add_flags, context); });
}

}  // namespace warpladder::app
