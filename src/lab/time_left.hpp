#pragma once
// Estimates the time left from reported progress.

#include <string>

namespace warpladder::lab {

// From the share done at the beginning and now. Infinity while too little is done.
double seconds_left(double elapsed_s, double done_at_begin, double done);
// "about 3 min left"
std::string time_left_text(double seconds);

}  // namespace warpladder::lab
