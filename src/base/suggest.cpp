#include "base/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warpladder {
namespace {

constexpr std::size_t kLongestWord = 64;  // nobody misspells a longer one by a few letters

// The insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

constexpr std::size_t kFar = ~std::size_t{0};

// How far apart two names are; kFar: not the one for the other.
std::size_t remoteness(std::string_view word, std::string_view name) {
  const bool holds = word.size() >= 3 && name.find(word) != name.npos;
  if (holds) return 0;
  const std::size_t changes = distance(word, name);
  if (changes >= std::max(word.size(), name.size())) return kFar;  // they share nothing
  return changes <= std::max<std::size_t>(1, word.size() / 3) ? changes : kFar;
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> close;
  if (word.empty() || word.size() > kLongestWord) return {};
  for (const std::string& name : known) {
    const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
    const std::string_view last_of_word = word.substr(word.rfind('/') + 1);
    const std::size_t far = std::min(remoteness(word, name), remoteness(last_of_word, last));
    if (far != kFar) close.emplace_back(far, name);
  }
  std::ranges::stable_sort(close, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [far, name] : close) {
    // A name that is much farther than the first one is not meant.
    const bool is_meant = far <= 2 * close.front().first;
    if (is_meant && names.size() < most) names.push_back(std::move(name));
  }
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> names = nearest(word, known);
  if (names.empty()) return "";
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text + "?";
}

std::string known_names(std::string_view word, std::vector<std::string> known) {
  std::erase(known, "");
  std::string text;
  for (const std::string& name : known) text += (text.empty() ? "" : ", ") + name;
  return text + did_you_mean(word, known);
}

}  // namespace warpladder
