#pragma once
// The corrections of plan()'s model are data, tuning/sm_*/sgemm_corrections.json, made by
// tools/fit_plans.py of times that were measured. A rung's correction is a sum of trees. Each asks
// kLevels yes-or-no questions on a product and on how the rung cuts it.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kShapeTraits = 18, kCutTraits = 12, kTraits = kShapeTraits + kCutTraits;
using ShapeTraits = std::array<float, kShapeTraits>;
using CutTraits = std::array<float, kCutTraits>;

// Trees are text, for they are many. Digits are the printable characters but those that a string
// literal may change: quotes, backslashes, and question marks, of which trigraphs are made.
constexpr int kDigits = 91;
constexpr auto kAlphabet = [] {
  std::array<char, kDigits> alphabet{};
  std::size_t digit = 0;
  for (char c = '!'; c <= '~'; ++c) {
    if (c != '"' && c != '\\' && c != '?') alphabet[digit++] = c;
  }
  return alphabet;
}();
constexpr auto kDigitOf = [] {
  std::array<unsigned char, 128> digit_of{};
  for (unsigned char i = 0; i < kDigits; ++i) {
    digit_of[static_cast<std::size_t>(kAlphabet[i])] = i;
  }
  return digit_of;
}();
constexpr int digit_of(char c) { return kDigitOf[static_cast<std::size_t>(c)]; }

// By the digit that stands for a trait: how many of the trait's edges lie below it, as a digit,
// too. Digits ascend, so trees compare them as they are.
using Bins = std::array<char, 128>;

// Node i asks whether its trait lies above one of the trait's edges: no leads to node 2·i + 1, yes
// to the next one. A node has a digit for the trait and one for the edge. A leaf has two, which say
// thousandths of the logarithm to base 2.
struct Tree {
  static constexpr int kLevels = 4, kQuestions = (1 << kLevels) - 1, kLeaves = 1 << kLevels,
                       kLength = 2 * (kQuestions + kLeaves);
  const char* text;

  bool answer(int node, const Bins& bins) const {
    return bins[static_cast<std::size_t>(text[2 * node])] > text[2 * node + 1];
  }
  int leaf(int which) const {
    const char* const digits = text + 2 * (kQuestions + which);
    return kDigits * digit_of(digits[0]) + digit_of(digits[1]) - kDigits * kDigits / 2;
  }
};

struct Forest {
  const char* text = nullptr;
  int trees = 0;
};

// A trait's edges, ascending; behind them infinity. No trait lies above the last digit's: a node
// without a question has it.
constexpr float kNoEdge = std::numeric_limits<float>::infinity();
using Edges = std::array<float, kDigits - 1>;
constexpr Edges edges_of(std::initializer_list<float> known) {
  Edges all{};
  std::size_t place = 0;
  for (const float edge : known) all[place++] = edge;
  while (place < all.size()) all[place++] = kNoEdge;
  return all;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
