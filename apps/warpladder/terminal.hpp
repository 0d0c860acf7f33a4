#pragma once
// The line that shows progress, and what is left behind when a signal ends the program.

#include <string>

#include "lab/verify.hpp"

namespace warpladder::app {

// A line on standard error that overwrites itself, with the time left once that can be guessed;
// silent unless standard error is a terminal that knows escape sequences. What it was told last is
// what a crash is blamed on.
lab::Progress progress_on_stderr();
void end_progress();
// Says how long it will take, too, once some of it is done; a budget of 0 limits nothing.
lab::Progress with_time_left(lab::Progress progress, double budget_s);

// Blames a crash on this from now on; nothing: on the program itself.
void note_running(const std::string& what);

// From now on whatever is noted may take so much processor time on each core; then the program ends
// with a sentence and exit code 1. 0: any time.
void limit_each(double seconds);

// SIGINT, SIGTERM, SIGHUP: the progress line ends, temporary files go, and the program dies of the
// signal. A crash while a kernel runs becomes a sentence and exit code 1.
void handle_signals();

}  // namespace warpladder::app
