#pragma once
// What the verbs share. One small file per verb: parse → call the lab → print. Each has a function
// add_<verb>() that declares its flags with CLI11 and a callback that does the work; main() calls
// them all and turns what they throw into an exit code.

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text_table.hpp"
#include "device/device.hpp"
#include "lab/verify.hpp"

namespace warpladder::app {

struct Context {
  std::span<const char* const> argv;
  int exit_code = 0;  // a verb sets 1 when a check failed; errors are thrown as warpladder::Error
};

// --device cpu|gpu (environment: WARPLADDER_DEVICE) and --threads N (WARPLADDER_THREADS).
struct DeviceFlags {
  std::string device;
  unsigned threads = 0;
  void add_to(CLI::App& verb);
  runtime::Target target() const;  // throws as device::choose_target does
};

// --json FILE|-: the report goes there. With "-" standard output holds the JSON and nothing else.
struct JsonFlag {
  std::string path;
  void add_to(CLI::App& verb);
  bool asked() const { return !path.empty(); }
  bool to_stdout() const { return path == "-"; }
  // Adds provenance ("schema_version", argv, commit, device, …) and writes it whole or not at all.
  void write(const Context& context, nlohmann::json report) const;
};

// Prints to standard output: boxed on a terminal, Markdown in a pipe.
void print(const TextTable& table);
void print_line(const std::string& line);

// Prose, broken at spaces where the tables end; no newline at the end.
std::string wrapped(const std::string& text);

// Refuses --matrix for an operator that takes none.
void require_takes_matrix(const ops::Operator& op, const std::string& matrix);
std::string matrix_help();  // of --matrix
inline constexpr const char* kMatricesFooter =
    "Environment: WARPLADDER_MATRICES=DIR adds every .mtx and .mtx.gz there to spmv's matrices.";

// Refuses flags that would give the problem once more.
struct OtherFlag {
  const char* name;
  bool is_given;
};
void require_alone(const char* flag, std::initializer_list<OtherFlag> others);

// A flag whose FILE is refused at once where it cannot be written. `path` must outlive the parsing.
void add_output_file(CLI::App& verb, const std::string& flag, std::string& path, const char* what);

// Whether --out /dev/stdout, or its like, made standard output the file's.
bool is_stdout(const std::string& path);

// Refuses two outputs in one file, of which one would be lost; those not asked for are empty. "-"
// is standard output.
struct OutputFlag {
  const char* name;
  const std::string& path;
};
void require_apart(std::initializer_list<OutputFlag> outputs);

// A line on standard error that overwrites itself, when that is a terminal; otherwise silent.
lab::Progress progress_on_stderr();
void end_progress();

void add_list(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_accuracy(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_build(CLI::App& app, Context& context);

}  // namespace warpladder::app
