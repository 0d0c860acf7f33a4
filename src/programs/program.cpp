#include "programs/program.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "programs/process.hpp"
#include "programs/toolchain.hpp"

namespace warpladder::programs {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> split(std::string_view row, char separator) {
  std::vector<std::string> fields;
  for (;;) {
    const std::size_t end = row.find(separator);
    fields.emplace_back(row.substr(0, end));
    if (end == row.npos) return fields;
    row.remove_prefix(end + 1);
  }
}

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

runtime::Dim3 dims(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 3) return {0, 0, 0};
  const auto part = [&](std::size_t i) { return static_cast<unsigned>(number(parts[i])); };
  return {part(0), part(1), part(2)};
}

// As the person wrote it: relative to where they are.
std::string shown(const std::string& file) {
  if (file.empty() || file.front() != '/') return file;
  std::error_code error;
  const fs::path relative = fs::path(file).lexically_relative(fs::current_path(error));
  const std::string text = relative.string();
  return text.empty() || text.starts_with("../..") ? file : text;
}

void add_grouped(std::vector<Finding>& list, Finding finding) {
  for (Finding& known : list) {
    if (known.kind == finding.kind && known.file == finding.file && known.line == finding.line &&
        known.kernel == finding.kernel) {
      ++known.times;
      return;
    }
  }
  list.push_back(std::move(finding));
}

// "0:0 1:4 …", as the program's report has lanes and offsets.
executor::Request request_of(const std::string& text) {
  executor::Request request;
  for (const std::string& lane : split(text, ' ')) {
    const std::size_t colon = lane.find(':');
    if (colon == lane.npos) continue;
    request.push_back({static_cast<unsigned>(number(lane)), number(lane.substr(colon + 1))});
  }
  return request;
}

void parse_counts(const std::vector<std::string>& f, Outcome& outcome) {
  if (f[0] == "launch" && f.size() == 5) {
    executor::KernelCounts& k = outcome.counts.emplace_back();
    k.kernel = f[1];
    k.grid = dims(f[2]);
    k.block = dims(f[3]);
    k.dynamic_shared_bytes = number(f[4]);
  } else if (f[0] == "access" && f.size() == 14 && !outcome.counts.empty()) {
    executor::AccessCounts a;
    a.file = shown(f[1]);
    a.line = static_cast<int>(number(f[2]));
    a.space = static_cast<executor::MemorySpace>(number(f[3]));
    a.kind = static_cast<executor::AccessKind>(number(f[4]));
    a.bytes = static_cast<int>(number(f[5]));
    a.requests = number(f[6]);
    a.lanes = number(f[7]);
    a.sectors = number(f[8]);
    a.ideal_sectors = number(f[9]);
    a.wavefronts = number(f[10]);
    a.ideal_wavefronts = number(f[11]);
    a.worst = static_cast<unsigned>(number(f[12]));
    outcome.counts.back().accesses.push_back(std::move(a));
    outcome.counts.back().worst_requests.push_back(request_of(f[13]));
  } else if (f[0] == "event" && f.size() == 8 && !outcome.counts.empty()) {
    outcome.counts.back().events.push_back({shown(f[1]), static_cast<int>(number(f[2])),
                                            number(f[3]), number(f[4]), number(f[5]), number(f[6]),
                                            number(f[7])});
  }
}

std::string settings_of(const Request& r, const fs::path& report) {
  return fmt::format(
      "mode={}\nreport={}\nkernel={}\nlaunch={}\nthreads={}\nbudget={}\ntimeout={}\nall={}\n"
      "leaks={}\nuninitialised={}\ncompiled={}\ndevice={}\n",
      r.mode, report.string(), r.kernel, r.launch, r.threads, r.budget_s, r.timeout_s,
      int{r.all_launches}, int{r.leaks}, int{r.uninitialised}, r.compiled, line_of(r.device));
}

}  // namespace

std::string text_of(const Finding& f) {
  const std::string place =
      f.kernel.empty() ? ""
      : f.block.empty()
          ? f.kernel + ": "
          : fmt::format("block ({}) thread ({}) of {}: ", f.block, f.thread, f.kernel);
  return place + f.sentence;
}

Outcome parse_report(const std::string& text) {
  Outcome outcome;
  for (const std::string& row : split(text, '\n')) {
    const std::vector<std::string> f = split(row, '\t');
    if (f[0] == "finding" && f.size() == 8) {
      add_grouped(outcome.findings,
                  {f[1], shown(f[2]), static_cast<int>(number(f[3])), f[4], f[5], f[6], f[7]});
    } else if (f[0] == "note" && f.size() == 4) {
      add_grouped(outcome.notes,
                  {"note", shown(f[1]), static_cast<int>(number(f[2])), {}, {}, {}, f[3]});
    } else if (f[0] == "kernel" && f.size() == 7) {
      outcome.kernels.push_back({f[1], number(f[2]), number(f[3]), number(f[4]),
                                 std::strtod(f[6].c_str(), nullptr), f[5] == "1"});
    } else {
      parse_counts(f, outcome);
    }
  }
  return outcome;
}

namespace {

// An interrupt ends the person's program; what was found until then is reported.
Outcome run_in_scratch(const Request& request) {
  const SignalsToProgram signals;
  const ScratchFolder scratch;
  const fs::path program = build_program(
      {request.files, request.include_folders, request.defines, request.mode != "run"},
      scratch.path());
  const fs::path report = scratch.path() / "report";
  std::vector<std::string> argv{program.string()};
  argv.insert(argv.end(), request.arguments.begin(), request.arguments.end());
  const Ended ended = run_on_terminal(argv, "WARPLADDER_PROGRAM", settings_of(request, report),
                                      request.hide_output);
  std::ifstream file(report, std::ios::binary);
  Outcome outcome = parse_report(std::string(std::istreambuf_iterator<char>(file), {}));
  outcome.status = ended.status;
  outcome.signal = ended.signal;
  return outcome;
}

}  // namespace

Outcome run_program(const Request& request) {
  int signal = 0;
  try {
    return run_in_scratch(request);
  } catch (const Interrupted& interrupted) {
    signal = interrupted.signal;
  }
  ::raise(signal);  // which ends this program, now that the files are gone
  throw_resource("interrupted");
}

}  // namespace warpladder::programs
