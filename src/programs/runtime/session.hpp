#pragma once
// What `warpladder` asked of the program that it started, and the report that the program writes
// for it: a line for each finding, kernel and count, fields apart by tabs.

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
// `left_out`: launches that would have changed nothing.
void report_launches(const std::string& kernel, std::uint64_t launched, std::uint64_t looked_at,
                     std::uint64_t left_out, double seconds);
void report_counts(const executor::KernelCounts& counts);

// Ends the program at once: what it would do next says nothing more.
[[noreturn]] void stop(int exit_code);

}  // namespace warpladder::programs
