#pragma once
// Another program, run to its end.

#include <string>
#include <vector>

namespace warpladder {

struct FinishedProcess {
  int exit_code = 0;  // 128 + N for signal N
  std::string output, errors;
  double seconds = 0;
};

// `argv[0]` is a path, or a name that PATH knows. Standard input is empty. Throws Error(resource)
// if the program cannot be started.
FinishedProcess run_process(const std::vector<std::string>& argv);

// The path of a program that PATH knows, or empty.
std::string find_program(const std::string& name);

}  // namespace warpladder
