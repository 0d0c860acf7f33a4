#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "base/terminal.hpp"
#include "lab/origin.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

constexpr std::int64_t kMostThreads = 4096;

// Flushes stdio's buffers, so that a full disk is detected and reported here.
void write_to_stdout(std::string_view text) {
  static bool reader_has_gone = false;  // as in `warpladder list | head -1`: no reason to complain
  while (!text.empty() && !reader_has_gone) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      reader_has_gone = true;
    } else if (errno != EINTR) {
      throw_resource("cannot write to standard output: " + std::generic_category().message(errno));
    }
  }
}

constexpr const char* kStandardOutput = "/dev/stdout";

// Whether a path is another name of standard output, such as /dev/fd/1.
bool is_stdout(const std::string& path) {
  struct stat file {
  }, out{};
  return path == "-" || (::stat(path.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 &&
                         file.st_dev == out.st_dev && file.st_ino == out.st_ino);
}

// The output files of this run.
struct Output {
  std::string flag, path;
};
std::vector<Output>& outputs() {
  static std::vector<Output> list;
  return list;
}

bool name_one_file(const std::string& one, const std::string& other) {
  if (file_behind(one) == "/dev/null") return false;  // takes any number
  if (is_stdout(one) || is_stdout(other)) return is_stdout(one) && is_stdout(other);
  std::error_code absent;
  return file_behind(one) == file_behind(other) || std::filesystem::equivalent(one, other, absent);
}

// Throws before minutes of work if the file cannot be written, and leaves no trace. Pipes and
// devices are tested only when they are written, because a pipe's reader would notice a second
// opening.
void require_writable(const std::string& path, const std::string& flag) {
  std::error_code absent;
  if (path == "-" || std::filesystem::is_other(std::filesystem::status(path, absent))) return;
  AtomicFile(path, flag);
}

// Words into lines of at most `width`; each but the first begins with `indent` blanks.
std::string filled(const std::string& text, std::size_t width, std::size_t indent) {
  std::string lines, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width - indent) {
      lines += std::exchange(line, "") + "\n" + std::string(indent, ' ');
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line;
}

std::size_t prose_width() { return std::min<std::size_t>(columns_of(STDOUT_FILENO), kFileWidth); }

// The column where a line's text begins, after blanks and a list's dash.
std::size_t text_of(const std::string& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return line.compare(begin, 2, "- ") == 0 ? begin + 2 : begin;
}

// The column where a help line's description begins: after two blanks, else the text's.
std::size_t description_of(const std::string& line) {
  const std::size_t begin = text_of(line);
  const std::size_t description = line.find_first_not_of(' ', line.find("  ", begin));
  return description == line.npos ? begin : description;
}

// Wraps the lines that are longer than the width, with an indent.
std::string broken(const std::string& text, std::size_t width,
                   std::size_t (*indent_of)(const std::string&)) {
  std::string out;
  for (std::size_t begin = 0, end; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (display_width(line) > width) {
      const std::size_t indent = indent_of(line);
      line = line.substr(0, indent) + filled(line.substr(indent), width, indent);
    }
    out += (begin ? "\n" : "") + line;
  }
  return out;
}

}  // namespace

void DeviceFlags::add_to(CLI::App& verb) {
  verb.add_option("--device", device, "Where kernels run (default: gpu if one answers, else cpu)")
      ->type_name("cpu|gpu")
      ->envname("WARPLADDER_DEVICE");
  const auto set_threads = [this, &verb](const std::string& text) {
    // Every verb gets the environment's value; only the verb in use may refuse it.
    if (!verb.parsed()) return;
    const std::int64_t count = parse_size(text, "--threads (WARPLADDER_THREADS)");
    if (count < 1 || count > kMostThreads) {
      throw_bad_input(fmt::format("--threads (WARPLADDER_THREADS) is {}, but must be 1 to {}",
                                  in_quotes(text, kShownBytes), kMostThreads));
    }
    threads = static_cast<unsigned>(count);
  };
  verb.add_option_function<std::string>("--threads", set_threads,
                                        "Threads of the CPU's executor (default: one per core)")
      ->type_name("N")
      ->envname("WARPLADDER_THREADS");
}

runtime::Target DeviceFlags::target() const { return device::choose_target(device); }

void register_output(const std::string& what, const std::string& path) {
  require_writable(path, what);
  for (const Output& other : outputs()) {
    if (!name_one_file(other.path, path)) continue;
    throw_bad_input(fmt::format("{} and {} name the same file, {}; give each its own", other.flag,
                                what, in_quotes(path)));
  }
  outputs().push_back({what, path});
}

CLI::Option* add_output_file(CLI::App& verb, const std::string& flag, std::string& path,
                             const char* what) {
  const auto set_path = [flag, &path](const std::string& text) {
    register_output(flag, text);
    path = text;
  };
  return verb.add_option_function<std::string>(flag, set_path, what)->type_name("FILE|-");
}

bool stdout_is_taken() {
  static const bool taken =
      std::ranges::any_of(outputs(), [](const Output& output) { return is_stdout(output.path); });
  return taken;
}

std::string file_of_output(const std::string& path) { return path == "-" ? kStandardOutput : path; }

void write_output(const std::string& path, std::string_view contents, const char* flag) {
  path == "-" ? write_to_stdout(contents) : write_file(path, contents, flag);
}

void JsonFlag::add_to(CLI::App& verb) {
  add_output_file(verb, "--json", path, "Write the report as JSON; with - nothing else is printed");
}

void JsonFlag::write(const Context& context, nlohmann::json report) const {
  using nlohmann::json;
  const json origin = lab::origin(context.argv);
  report.insert(origin.begin(), origin.end());
  // Names may come from the user, and JSON holds UTF-8 only.
  const std::string text = report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  write_output(path, text, flag);
}

void print(const TextTable& table) {
  if (!stdout_is_taken()) write_to_stdout(table.render(table_format_for(STDOUT_FILENO)));
}

void print_text(const std::string& text) {
  if (!stdout_is_taken()) write_to_stdout(text + "\n");
}

void print_line(const std::string& line) {
  if (!stdout_is_taken()) write_to_stdout(wrapped(line, prose_width()) + "\n");
}

void print_help(const std::string& help) {
  write_to_stdout(broken(help, prose_width(), description_of));
}

void print_to_stderr(const std::string& text) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  const std::size_t width = std::min<std::size_t>(columns_of(STDERR_FILENO), kFileWidth);
  std::fputs((is_terminal ? wrapped(text, width) : text).c_str(), stderr);
}

std::string wrapped(const std::string& text, std::size_t width) {
  return broken(text, width, text_of);
}

void require_takes_matrix(const ops::Operator& op, const std::string& matrix) {
  if (op.matrices()) return;
  throw_bad_input(fmt::format("--matrix {} is not for {}, which takes no matrix",
                              in_quotes(matrix, kShownBytes), op.name()));
}

std::string matrix_help() {
  std::vector<std::string> names;
  for (const auto& op : ops::all_operators()) {
    if (op->matrices()) names.push_back(op->name());
  }
  if (names.empty()) return "A matrix: no operator of this program takes one";
  return fmt::format("Of {}: a Matrix Market file, or a generator's text (see inspect)",
                     fmt::join(names, ", "));
}

double seconds_of_timeout(const std::string& text) {
  const float seconds = parse_float(text, "--timeout");
  if (std::isfinite(seconds) && seconds >= 0) return static_cast<double>(seconds);
  throw_bad_input(fmt::format("--timeout is {}, but must be a number of seconds, or 0 for none",
                              in_quotes(text, kShownBytes)));
}

std::string timeout_help(const char* default_value) {
  return fmt::format(
      "Processor time of a thread block on the CPU, after which it counts as an endless loop; 0: "
      "any (default: {})",
      default_value);
}

void require_alone(const char* flag, std::initializer_list<OtherFlag> others) {
  for (const OtherFlag& other : others) {
    if (!other.is_given) continue;
    throw_bad_input(
        fmt::format("{} and {} both give the problem; give one of them", flag, other.name));
  }
}

}  // namespace warpladder::app
