#pragma once
// Judging a try at an exercise of the course, for exercise and check.

#include <string>

#include "lab/exercise.hpp"
#include "programs/program.hpp"

namespace warpladder::app {

// The exercise that a file is a try at, known by its first line; null if it is none.
const lab::Exercise* exercise_in(const std::string& file);
// Prints what the try still lacks; true if that is nothing. The program ran in the mode "judge".
bool judge(const lab::Exercise& exercise, const programs::Outcome& outcome);

}  // namespace warpladder::app
