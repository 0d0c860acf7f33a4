#pragma once
// Shared by the verbs. One small file per verb: parse → call the lab → print. Its function
// add_<verb>() declares flags with CLI11 and a callback that does the work. main() calls all of
// them and turns exceptions into an exit code.

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// A flag that names an output, which appears whole or not at all. With "-" it is standard output,
// which then holds nothing else. A file that cannot be written, or that two flags name, is refused
// at once. `path` must outlive the parsing.
CLI::Option* add_output_file(CLI::App& verb, const std::string& flag, std::string& path,
                             const char* what);
// Refuses in the same way a file that no flag names.
void register_output(const std::string& what, const std::string& path);
// Writes to the output that such a flag named.
void write_output(const std::string& path, std::string_view contents, const char* flag);
// The file that such a flag named, for code that writes it itself.
std::string file_of_output(const std::string& path);
// Whether such a flag named standard output. Valid after parsing.
bool stdout_is_taken();

// --json FILE|-: the report goes there.
struct JsonFlag {
  std::string path;
  const char* flag = "--json";
  void add_to(CLI::App& verb);
  bool asked() const { return !path.empty(); }
  // Adds provenance ("schema_version", argv, commit, device, …) and writes the whole report or
  // none.
  void write(const Context& context, nlohmann::json report) const;
};

// Print to standard output, unless an output file takes it. A table is a box on a terminal and
// Markdown in a pipe. A line is wrapped at the terminal's width, or at 100 columns. A text stays
// unchanged.
void print(const TextTable& table);
void print_line(const std::string& line);
void print_text(const std::string& text);
// To standard error: wrapped on a terminal, while files keep a line a sentence.
void print_to_stderr(const std::string& text);
// CLI11's help, wrapped at the terminal's width.
void print_help(const std::string& help);

// Prose for a file, wrapped as by print_line(), without a newline at the end.
inline constexpr std::size_t kFileWidth = 100;
std::string wrapped(const std::string& text, std::size_t width);

// Refuses --matrix for an operator that takes none.
void require_takes_matrix(const ops::Operator& op, const std::string& matrix);
std::string matrix_help();  // of --matrix
inline constexpr const char* kMatricesFooter =
    "Environment: WARPLADDER_MATRICES=DIR adds every .mtx and .mtx.gz there to spmv's matrices.";

// --timeout: the processor time that a thread block may take in the executor; 0: no limit.
double seconds_of_timeout(const std::string& text);
std::string timeout_help(const char* default_value);

// Refuses flags that give the problem a second time.
struct OtherFlag {
  const char* name;
  bool is_given;
};
void require_alone(const char* flag, std::initializer_list<OtherFlag> others);

// Where finished lines go at once: beside the report that --json names, if that is a file, and then
// refused like an output. Empty otherwise, which --resume refuses.
std::string journal_path_of(const JsonFlag& json, bool resume, const char* ending);

// The shapes that --shape or -a ask for, of which one is given.
std::vector<std::vector<std::int64_t>> shapes_asked_for(const ops::Operator& op,
                                                        const std::optional<std::string>& shape,
                                                        const std::vector<std::string>& axes);
// Declares -a and --shape.
void add_sizes(CLI::App& verb, std::optional<std::string>& shape, std::vector<std::string>& axes);
// Declares --budget and --resume, for verbs that measure many problems.
void add_parts(CLI::App& verb, std::optional<std::string>& budget, bool& resume);

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
void add_tune(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
// run and explain, if their argument is a CUDA program.
void add_run_program(CLI::App& app, Context& context);
void add_explain_program(CLI::App& app, Context& context);
void add_exercise(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);

}  // namespace warpladder::app
