#pragma once
// What `warpladder` asked of the program that it started, and the report that the program writes
// for it. The report has a line for each finding, kernel and count, fields apart by tabs.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/compiled_code.hpp"
#include "executor/counts.hpp"
#include "executor/fault.hpp"
#include "programs/told_device.hpp"

namespace warpladder::programs {

enum class Mode { run, check, explain, judge };  // the last one checks and counts

struct Settings {
  Mode mode = Mode::run;
  std::string report;               // the file; empty: findings go to standard error
  std::string kernel;               // the only one to look at; empty: all
  executor::CompiledCode compiled;  // how machine code has the kernels' accesses, if it is known
  std::uint64_t launch = 0;         // the only launch of it, from 1; 0: all
  unsigned threads = 0;
  ToldDevice device;           // that the program sees
  double budget_s = 20;        // after which advice is given
  double timeout_s = 0;        // of a thread block, or of host code between launches; 0: none
  bool all_launches = false;   // repeats too
  bool leaks = false;          // are findings
  bool uninitialised = false;  // global memory: reads of it are findings
};
const Settings& settings();

// A line of the person's source, of the code that called the API.
struct Caller {
  std::string file;
  int line = 0;
};
Caller caller_of(const void* return_address);

void report_finding(const std::string& kind, const Caller& at, const std::string& sentence);
void report_fault(const executor::KernelFault& fault);
void report_note(const Caller& at, const std::string& sentence);

struct Launches {
  std::uint64_t launched = 0, looked_at = 0;
  std::uint64_t left_out = 0;  // that would have changed nothing
  bool is_running = false;     // the last one
  double seconds = 0;
};
// A kernel's row of the report. It is true at any time, however the program ends.
class LaunchesRow {
 public:
  explicit LaunchesRow(std::string kernel);
  void update(const Launches& launches) const;

 private:
  std::string kernel_;
  std::int64_t at_ = -1;  // in the report's file
};
void report_counts(const executor::KernelCounts& counts);

// Ends the program at once: what it would do next says nothing more.
[[noreturn]] void stop(int exit_code);

}  // namespace warpladder::programs
