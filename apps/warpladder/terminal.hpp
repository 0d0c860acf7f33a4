#pragma once
// The progress line, and the cleanup when a signal ends the program.

#include <string>

#include "lab/verify.hpp"

namespace warpladder::app {

// A line on standard error that overwrites itself, with the estimated time left once some of the
// work is done. A budget of 0 limits nothing. Silent unless standard error is a terminal with
// escape sequences. A crash is blamed on the last text.
lab::Progress progress_on_stderr(double budget_s = 0);
void end_progress();

// Blames a crash on this from now on; empty: on the program itself.
void note_running(const std::string& what);

// Limits the processor time per core of the noted work. Beyond it the program ends with a sentence
// and exit code 1. 0: no limit.
void limit_each(double seconds);

// On SIGINT, SIGTERM and SIGHUP, ends the progress line, removes temporary files, and lets the
// signal end the program. A crash in a kernel becomes a sentence and exit code 1.
void handle_signals();

}  // namespace warpladder::app
