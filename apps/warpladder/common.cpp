#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "lab/origin.hpp"
#include "verb.hpp"
#include "writable.hpp"

namespace warpladder::app {
namespace {

constexpr std::int64_t kMostThreads = 4096;

// Past the buffers of stdio, so that a full disk is found out here and can be said.
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

bool progress_is_shown = false;

std::size_t columns_of_stderr() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

void DeviceFlags::add_to(CLI::App& verb) {
  verb.add_option("--device", device, "Where kernels run (default: gpu if one answers, else cpu)")
      ->type_name("cpu|gpu")
      ->envname("WARPLADDER_DEVICE");
  const auto set_threads = [this, &verb](const std::string& text) {
    // The environment's value arrives at every verb; only the one that was asked for may complain.
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

void JsonFlag::add_to(CLI::App& verb) {
  const auto set_path = [this](const std::string& text) {
    if (text != "-") require_writable(text, "--json");
    path = text;
  };
  verb.add_option_function<std::string>("--json", set_path,
                                        "Write the report as JSON; with - nothing else is printed")
      ->type_name("FILE|-");
}

void JsonFlag::write(const Context& context, nlohmann::json report) const {
  using nlohmann::json;
  const json origin = lab::origin(context.argv);
  report.insert(origin.begin(), origin.end());
  // Names may come from the user, and JSON holds UTF-8 only.
  const std::string text = report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  to_stdout() ? write_to_stdout(text) : write_file(path, text, "--json");
}

void print(const TextTable& table) {
  write_to_stdout(table.render(table_format_for(STDOUT_FILENO)));
}

void print_line(const std::string& line) { write_to_stdout(line + "\n"); }

std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 100;
  std::string lines, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > kWidth) {
      lines += std::exchange(line, "") + "\n";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + line;
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
  return fmt::format("Of {}: a Matrix Market file, or a generator's text (see inspect)",
                     fmt::join(names, ", "));
}

void require_alone(const char* flag, std::initializer_list<OtherFlag> others) {
  for (const OtherFlag& other : others) {
    if (!other.is_given) continue;
    throw_bad_input(
        fmt::format("{} and {} both give the problem; give one of them", flag, other.name));
  }
}

void add_output_file(CLI::App& verb, const std::string& flag, std::string& path, const char* what) {
  const auto set_path = [flag, &path](const std::string& text) {
    require_writable(text, flag);
    path = text;
  };
  verb.add_option_function<std::string>(flag, set_path, what)->type_name("FILE");
}

bool is_stdout(const std::string& path) {
  struct stat file {
  }, out{};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 &&
         file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

void require_apart(std::initializer_list<OutputFlag> outputs) {
  const auto is_same = [](const std::string& one, const std::string& other) {
    std::error_code absent;
    if (one == "-" || other == "-") return one == other || is_stdout(one == "-" ? other : one);
    const std::filesystem::path place = std::filesystem::weakly_canonical(one, absent);
    if (place == "/dev/null") return false;  // takes any number
    return place == std::filesystem::weakly_canonical(other, absent) ||
           std::filesystem::equivalent(one, other, absent);
  };
  for (const OutputFlag& one : outputs) {
    for (const OutputFlag& other : outputs) {
      if (&other >= &one || one.path.empty() || other.path.empty()) continue;
      if (!is_same(one.path, other.path)) continue;
      throw_bad_input(fmt::format("{} and {} name the same file, {}; give each its own", other.name,
                                  one.name, in_quotes(one.path)));
    }
  }
}

lab::Progress progress_on_stderr() {
  if (::isatty(STDERR_FILENO) != 1) return [](const std::string&, double) {};
  return [](const std::string& what, double done) {
    std::string line = fmt::format("{:3.0f}% {}", 100.0 * done, what);
    line.resize(std::min(line.size(), columns_of_stderr() - 1));  // a wrapped line stays behind
    std::fputs(("\r" + line + "\x1b[K").c_str(), stderr);
    progress_is_shown = true;
  };
}

void end_progress() {
  if (std::exchange(progress_is_shown, false)) std::fputs("\r\x1b[K", stderr);
}

}  // namespace warpladder::app
