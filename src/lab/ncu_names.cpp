#include "lab/ncu_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpladder::lab {
namespace {

// Names whose words are read as they stand, by what stands in front of "__".
struct PlainUnit {
  const char* text;
  const char* words;
};
constexpr PlainUnit kPlainUnits[] = {
    {"c2clink", "the link between chips: a property, not a counter"},
    {"derived", "computed from other metrics"},
    {"device", "a property of the GPU, not a counter"},
    {"launch", "of the launch itself: known without a counter"},
    {"numa", "the machine's memory nodes: a property, not a counter"},
    {"nvlink", "NVLink: a property, not a counter"},
    {"profiler", "of the profiler's own work"},
};

std::vector<std::string> pieces_of(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

const NamePhrase* find(const std::vector<NamePhrase>& list, const std::string& text) {
  const auto at = std::ranges::find_if(list, [&](const NamePhrase& p) { return text == p.phrase; });
  return at == list.end() ? nullptr : &*at;
}

// The longest phrase of the dictionary that begins with token `begin`, and how many tokens it has.
std::pair<const NamePhrase*, std::size_t> longest(const std::vector<std::string>& tokens,
                                                  std::size_t begin) {
  constexpr std::size_t kMostTokens = 6;
  std::pair<const NamePhrase*, std::size_t> best{nullptr, 0};
  std::string text;
  for (std::size_t n = 1; n <= kMostTokens && begin + n <= tokens.size(); ++n) {
    text += (n == 1 ? "" : "_") + tokens[begin + n - 1];
    if (const NamePhrase* phrase = find(name_phrases(), text)) best = {phrase, n};
  }
  return best;
}

NamePart unknown(const std::string& text, const char* what) {
  return {text, NameRole::unknown, fmt::format("not known here as {}", what)};
}

std::string readable(std::string text) {
  std::ranges::replace(text, '_', ' ');
  return text;
}

// What stands between "__" and the first dot.
void take_body_apart(const std::string& body, std::vector<NamePart>& parts) {
  const std::vector<std::string> tokens = pieces_of(body, '_');
  const std::size_t before = parts.size();
  bool has_quantity = false;
  for (std::size_t i = 0; i < tokens.size();) {
    const bool is_ratio = tokens[i] == "per" && i + 1 < tokens.size();
    const auto [phrase, count] = longest(tokens, i + is_ratio);
    if (!phrase) {
      // Unknown words that follow each other are one part.
      if (parts.size() > before && parts.back().role == NameRole::unknown) {
        parts.back().text += "_" + tokens[i];
      } else {
        parts.push_back(unknown(tokens[i], "a stage, quantity or qualifier"));
      }
      ++i;
      continue;
    }
    NamePart& part = parts.emplace_back(NamePart{phrase->phrase, phrase->role, phrase->words});
    if (is_ratio) {
      part = {"per_" + part.text, NameRole::qualifier, "for each of: " + part.words};
    } else if (has_quantity && part.role != NameRole::unknown) {
      part.role = NameRole::qualifier;
    } else if (part.role == NameRole::qualifier) {
      part.role = NameRole::stage;  // in front of the quantity it says where that is counted
    } else {
      has_quantity = part.role == NameRole::quantity;
    }
    i += count + is_ratio;
  }
}

void take_unit_apart(const std::string& unit, const std::string& body,
                     std::vector<NamePart>& parts) {
  for (const PlainUnit& plain : kPlainUnits) {
    if (unit != plain.text) continue;
    parts.push_back({unit, NameRole::unit, plain.words});
    parts.push_back({body, NameRole::plain, readable(body)});
    return;
  }
  const NamePhrase* const known = find(unit_phrases(), unit);
  parts.push_back(known ? NamePart{unit, known->role, known->words} : unknown(unit, "a unit"));
  take_body_apart(body, parts);
}

}  // namespace

const char* name(NameRole role) {
  switch (role) {
    case NameRole::unit:
      return "unit";
    case NameRole::stage:
      return "stage";
    case NameRole::quantity:
      return "quantity";
    case NameRole::qualifier:
      return "qualifier";
    case NameRole::rollup:
      return "rollup";
    case NameRole::submetric:
      return "submetric";
    case NameRole::plain:
      return "words";
    case NameRole::unknown:
      return "unknown";
  }
  return "";
}

std::vector<NamePart> take_apart(std::string_view metric) {
  std::vector<NamePart> parts;
  for (std::size_t colon; (colon = metric.find(':')) != metric.npos;) {
    const std::string prefix(metric.substr(0, colon));
    const NamePhrase* const known = find(unit_phrases(), prefix);
    const char* const words = prefix == "group"       ? "a group of metrics"
                              : prefix == "breakdown" ? "the metrics that this one is made of"
                              : known                 ? known->words
                                                      : nullptr;
    parts.push_back(words ? NamePart{prefix + ":", NameRole::plain, words}
                          : unknown(prefix + ":", "a kind of metric"));
    metric.remove_prefix(colon + 1);
  }
  const std::vector<std::string> dotted = pieces_of(metric, '.');
  const std::size_t underscores = dotted[0].find("__");
  if (underscores == std::string::npos) {
    parts.push_back({dotted[0], NameRole::plain,
                     readable(dotted[0]) + " (no unit in front of \"__\": one of the metrics of " +
                         "source lines, or none)"});
  } else {
    take_unit_apart(dotted[0].substr(0, underscores), dotted[0].substr(underscores + 2), parts);
  }
  for (std::size_t i = 1; i < dotted.size(); ++i) {
    const NamePhrase* const known = find(suffix_phrases(), dotted[i]);
    parts.push_back(known ? NamePart{"." + dotted[i], known->role, known->words}
                          : unknown("." + dotted[i], "a rollup or submetric"));
  }
  return parts;
}

}  // namespace warpladder::lab
