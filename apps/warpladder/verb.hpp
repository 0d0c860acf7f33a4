#pragma once
// What the verbs share. One small file per verb: parse → call the lab → print. Each has a function
// add_<verb>() that declares its flags with CLI11 and a callback that does the work; main() calls
// them all and turns what they throw into an exit code.

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text_table.hpp"
#include "device/device.hpp"
#include "terminal.hpp"

namespace warpladder::app {

struct Context {
  std::span<const char* const> argv;
  std::span<const char* const> program_arguments = {};  // behind "--", of a person's program
  int exit_code = 0;  // a verb sets 1 when a check failed; errors are thrown as warpladder::Error
};

// --device cpu|gpu (environment: WARPLADDER_DEVICE) and --threads N (WARPLADDER_THREADS).
struct DeviceFlags {
  std::string device;
  unsigned threads = 0;
  void add_to(CLI::App& verb);
  runtime::Target target() const;  // throws as device::choose_target does
};

// A flag that names where something is written, whole or not at all. "-" is standard output, which
// then holds that and nothing else. A file that cannot be written, or that another such flag names
// too, is refused at once. `path` must outlive the parsing.
CLI::Option* add_output_file(CLI::App& verb, const std::string& flag, std::string& path,
                             const char* what);
// Refuses a file in the same way, which no flag names.
void register_output(const std::string& what, const std::string& path);
// Writes to what such a flag named.
void write_output(const std::string& path, std::string_view contents, const char* flag);
// What such a flag named as a file, for those who write it themselves.
std::string file_of_output(const std::string& path);
// Whether such a flag named standard output. Ask once all flags are parsed.
bool stdout_is_taken();

// --json FILE|-: the report goes there.
struct JsonFlag {
  std::string path;
  const char* flag = "--json";
  void add_to(CLI::App& verb);
  bool asked() const { return !path.empty(); }
  // Adds provenance ("schema_version", argv, commit, device, …) and writes it whole or not at all.
  void write(const Context& context, nlohmann::json report) const;
};

// Print to standard output, unless an output file is there. A table is boxed on a terminal and
// Markdown in a pipe; a line is broken at spaces where the terminal ends, or after 100 columns; a
// text stays as it is.
void print(const TextTable& table);
void print_line(const std::string& line);
void print_text(const std::string& text);
// Help as CLI11 writes it, its descriptions broken where the terminal ends.
void print_help(const std::string& help);

// Prose for a file, broken as print_line() breaks it; no newline at the end.
inline constexpr std::size_t kFileWidth = 100;
std::string wrapped(const std::string& text, std::size_t width);

// Refuses --matrix for an operator that takes none.
void require_takes_matrix(const ops::Operator& op, const std::string& matrix);
std::string matrix_help();  // of --matrix
inline constexpr const char* kMatricesFooter =
    "Environment: WARPLADDER_MATRICES=DIR adds every .mtx and .mtx.gz there to spmv's matrices.";

// Of --timeout: the processor time that the executor lets a thread block have; 0: any.
double seconds_of_timeout(const std::string& text);
std::string timeout_help(const char* default_value);

// Refuses flags that would give the problem once more.
struct OtherFlag {
  const char* name;
  bool is_given;
};
void require_alone(const char* flag, std::initializer_list<OtherFlag> others);

// What the words of all reports mean.
void print_terms();

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
void add_check(CLI::App& app, Context& context);
// In the place of run and explain where a CUDA program is named.
void add_run_program(CLI::App& app, Context& context);
void add_explain_program(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);

}  // namespace warpladder::app
