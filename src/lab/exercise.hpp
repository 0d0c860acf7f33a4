#pragma once
// The exercises of the course (docs/course): what each asks of its kernel, beside right results.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/counts.hpp"

namespace warpladder::lab {

// A count of one kernel, or of all, that the exercise is about.
struct Goal {
  const char* what;  // "sectors a global request"
  double (*count)(const std::vector<executor::KernelCounts>& launches);
  double limit;
  bool is_at_most;   // else: at least
  const char* hint;  // what to change where it is not met
};

struct Exercise {
  std::int64_t number;
  const char* file;    // that is copied, without its folder
  const char* title;   // of the page, too
  const char* kernel;  // whose launches count; empty: all kernels'
  const char* hint;    // where the program itself says that its results are wrong
  std::span<const Goal> goals;
};

std::span<const Exercise> all_exercises();
// Throws Error(bad_input) if there is none of this number.
const Exercise& find_exercise(std::int64_t number);

struct GoalResult {
  const Goal* goal = nullptr;
  std::optional<double> counted;  // nothing where no such request was made
  bool is_met = false;
};
// Of all launches of a program.
std::vector<GoalResult> judge_goals(const Exercise& exercise,
                                    const std::vector<executor::KernelCounts>& launches);

}  // namespace warpladder::lab
