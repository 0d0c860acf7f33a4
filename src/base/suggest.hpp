#pragma once
// "Did you mean": the known names that are closest to a misspelt one.

#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

// At most `most` of `known`, the closest first: those that hold `word`, or that few changes of
// single letters lead to. Of names with a slash the part behind it may match alone.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t most = 3);

// "; did you mean sgemm or sgemv?", or empty where nothing is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace warpladder
