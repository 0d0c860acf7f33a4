#pragma once
// "Did you mean": the known names that are closest to a misspelt one.

#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

// At most `most` of `known`, the closest first: names that contain `word` or differ in few letters.
// The part of a name after a slash may match alone.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t most = 3);

// "; did you mean sgemm or sgemv?", or empty if nothing is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace warpladder
