#include "programs/runtime/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "executor/hooks.hpp"
#include "executor/site_table.hpp"

namespace warpladder::programs {
namespace {

// "mode=check\nreport=FILE\n…", as the driver writes it.
Settings read_settings() {
  Settings s;
  const char* const text = std::getenv("WARPLADDER_PROGRAM");
  std::string_view left = text ? text : "";
  while (!left.empty()) {
    const std::string_view row = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), row.size() + 1));
    const std::size_t equals = row.find('=');
    if (equals == row.npos) continue;
    const std::string_view key = row.substr(0, equals);
    const std::string value(row.substr(equals + 1));
    if (key == "mode") {
      s.mode = value == "check"     ? Mode::check
               : value == "explain" ? Mode::explain
               : value == "judge"   ? Mode::judge
                                    : Mode::run;
    } else if (key == "report") {
      s.report = value;
    } else if (key == "kernel") {
      s.kernel = value;
    } else if (key == "launch") {
      s.launch = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "threads") {
      s.threads = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (key == "device") {
      s.device = told_device_of(value);
    } else if (key == "budget") {
      s.budget_s = std::strtod(value.c_str(), nullptr);
    } else if (key == "timeout") {
      s.timeout_s = std::strtod(value.c_str(), nullptr);
    } else if (key == "all") {
      s.all_launches = value == "1";
    } else if (key == "leaks") {
      s.leaks = value == "1";
    } else if (key == "uninitialised") {
      s.uninitialised = value == "1";
    } else if (key == "compiled" && !value.empty()) {
      s.compiled = executor::read_compiled_code(value);
    }
  }
  return s;
}

// Tabs and ends of lines separate fields and rows.
std::string field(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n') c = ' ';
  }
  return text;
}

// Returns where in the report the row begins; -1 where that is no file.
std::int64_t write(const std::string& row) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  static std::FILE* const file =
      settings().report.empty() ? stderr : std::fopen(settings().report.c_str(), "a");
  if (!file) return -1;
  std::fputs(row.c_str(), file);
  std::fflush(file);
  const std::int64_t end = std::ftell(file);
  return end < 0 ? -1 : end - static_cast<std::int64_t>(row.size());
}

std::string dims(const runtime::Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

}  // namespace

const Settings& settings() {
  // Never destroyed: the report is finished at exit.
  static const Settings& instance = *new Settings(read_settings());
  return instance;
}

Caller caller_of(const void* return_address) {
  const auto pc = reinterpret_cast<std::uintptr_t>(return_address);
  const executor::SourceLine& at = executor::SiteTable::instance().line_of(executor::offset_of(pc));
  return {at.file, at.line};
}

void report_finding(const std::string& kind, const Caller& at, const std::string& sentence) {
  write(fmt::format("finding\t{}\t{}\t{}\t\t\t\t{}\n", kind, at.file, at.line, field(sentence)));
}

void report_fault(const executor::KernelFault& fault) {
  const executor::KernelFault::Place& p = fault.place();
  write(fmt::format("finding\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", name(fault.kind()), p.file, p.line,
                    field(p.kernel), dims(p.block), dims(p.thread), field(fault.sentence())));
}

void report_note(const Caller& at, const std::string& sentence) {
  write(fmt::format("note\t{}\t{}\t{}\n", at.file, at.line, field(sentence)));
}

namespace {

// Of the same length whatever the numbers are.
std::string row_of(const std::string& kernel, const Launches& l) {
  return fmt::format("kernel\t{}\t{:20}\t{:20}\t{:20}\t{:d}\t{:20.3f}\n", kernel, l.launched,
                     l.looked_at, l.left_out, l.is_running, l.seconds);
}

}  // namespace

LaunchesRow::LaunchesRow(std::string kernel) : kernel_(field(std::move(kernel))) {
  // `run` says nothing of launches, which a row would cost microseconds each.
  if (!settings().report.empty() && settings().mode != Mode::run) at_ = write(row_of(kernel_, {}));
}

void LaunchesRow::update(const Launches& launches) const {
  // Not the file that rows are added to: the system would put this row at its end, too.
  static const int file = ::open(settings().report.c_str(), O_WRONLY | O_CLOEXEC);
  if (at_ < 0) return;
  const std::string row = row_of(kernel_, launches);
  [[maybe_unused]] const ssize_t ignored = ::pwrite(file, row.data(), row.size(), at_);
}

void report_counts(const executor::KernelCounts& k) {
  std::string rows = fmt::format("launch\t{}\t{}\t{}\t{}\n", field(k.kernel), dims(k.grid),
                                 dims(k.block), k.dynamic_shared_bytes);
  for (std::size_t i = 0; i < k.accesses.size(); ++i) {
    const executor::AccessCounts& a = k.accesses[i];
    rows +=
        fmt::format("access\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t", a.file, a.line,
                    static_cast<int>(a.space), static_cast<int>(a.kind), a.bytes, a.requests,
                    a.lanes, a.sectors, a.ideal_sectors, a.wavefronts, a.ideal_wavefronts, a.worst);
    for (const executor::LaneAddress& at : k.worst_requests[i]) {
      rows += fmt::format("{}:{} ", at.lane, at.offset);
    }
    rows += '\n';
  }
  for (const executor::EventCounts& e : k.events) {
    rows += fmt::format("event\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", e.file, e.line, e.fmas, e.barriers,
                        e.shuffles, e.bulk_bytes, e.tensor_fmas);
  }
  write(rows);
}

void stop(int exit_code) {
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace warpladder::programs
