#pragma once
// A person's program: built, run, and what was found and counted.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/counts.hpp"
#include "programs/told_device.hpp"

namespace warpladder::programs {

struct Request {
  std::string mode = "run";  // or "check", "explain", "judge": check and explain at once
  std::vector<std::string> files, include_folders, defines, arguments;
  std::string kernel;        // the only one to look at; empty: all
  std::string compiled;      // the file that says how machine code has the accesses; or empty
  std::uint64_t launch = 0;  // the only launch of it, from 1; 0: those that differ
  unsigned threads = 0;
  ToldDevice device;     // that the program sees
  double budget_s = 20;  // after which advice is given
  // Processor time of a thread block, or of host code between launches; 0: any. "run" has no limit.
  double timeout_s = 60;
  bool all_launches = false;   // those that repeat an earlier one, too
  bool leaks = false;          // are findings
  bool uninitialised = false;  // reads of global memory that nothing has written are findings
  bool hide_output = false;    // the program's standard output goes to standard error
};

struct Finding {
  std::string kind, file;
  int line = 0;
  std::string kernel, block, thread;  // of a kernel's; block and thread as "x,y,z"
  std::string sentence;
  std::uint64_t times = 1;
};
// "block (0,0,0) thread (1,0,0) of k: sentence", or "k: sentence" where it is no thread's.
std::string text_of(const Finding& finding);

struct KernelUse {
  std::string name;
  // Left out are launches that would have changed nothing.
  std::uint64_t launched = 0, looked_at = 0, left_out = 0;
  double seconds = 0;
  bool is_running = false;  // the last one had not ended when the program did
};

struct Outcome {
  int status = 0, signal = 0;     // the program's own end
  std::vector<Finding> findings;  // one a fault
  std::vector<Finding> notes;
  std::vector<Finding> advice;  // what costs more than it must; no fault
  std::vector<KernelUse> kernels;
  std::vector<executor::KernelCounts> counts;
};

// Throws Error(bad_input) for sources that are refused, Error(resource) for missing tools.
Outcome run_program(const Request& request);

// Of the report that the program wrote.
Outcome parse_report(const std::string& text);

}  // namespace warpladder::programs
