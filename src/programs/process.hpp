#pragma once
// Starting other programs: g++, binutils, the person's.

#include <signal.h>

#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace warpladder::programs {

struct Ended {
  int status = 0;  // exit code, or 128 plus the signal
  int signal = 0;  // that ended it; 0 if none
};

// A signal that should end this program came before the person's program began.
struct Interrupted {
  int signal = 0;
};

// While it lives, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this program, which has files to
// remove first. The person's program gets them. A tool ends, then Interrupted is thrown.
class SignalsToProgram {
 public:
  SignalsToProgram();
  ~SignalsToProgram();
  SignalsToProgram(const SignalsToProgram&) = delete;
  SignalsToProgram& operator=(const SignalsToProgram&) = delete;

 private:
  std::vector<struct sigaction> before_;
};

// run_process() for a tool of g++ or binutils. Throws Error(resource), with what to install, if
// there is no such tool.
FinishedProcess run_tool(const std::vector<std::string>& argv);

// Runs the person's program on our own standard streams, with one more variable in its
// environment. `hide_output`: its standard output goes to standard error.
Ended run_on_terminal(const std::vector<std::string>& argv, const std::string& variable,
                      const std::string& value, bool hide_output);

// The calls as they go, several at a time; the outcomes in the order of the calls.
std::vector<FinishedProcess> run_tools(const std::vector<std::vector<std::string>>& calls,
                                       unsigned at_once);

}  // namespace warpladder::programs
