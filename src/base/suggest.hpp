#pragma once
// "Did you mean": the known names that are closest to a misspelt one.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

// At most `most` of `known`, the closest first: names that contain `word` or differ in few letters,
// at most twice as many as the closest.
// The part of a name after a slash may match alone.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t most = 3);

// "; did you mean sgemm or sgemv?", or empty if nothing is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Of each thing, what `name` says of it.
template <class Things, class Name>
std::vector<std::string> names_of(const Things& things, const Name& name) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.emplace_back(std::invoke(name, thing));
  return names;
}

// "sum, mean, max; did you mean mean?": ends a sentence about an unknown name. An empty name, which
// stands for the plain form, is left out.
std::string known_names(std::string_view word, std::vector<std::string> known);

}  // namespace warpladder
