#pragma once
// The names of Nsight Compute's metrics, taken apart:
// unit__stage_quantity_qualifiers.rollup.submetric
// ("Metrics Structure" in its Kernel Profiling Guide).

#include <string>
#include <string_view>
#include <vector>

namespace warpladder::lab {

// What a part of a name can be; `plain` is a word of names that are read as they stand.
enum class NameRole { unit, stage, quantity, qualifier, rollup, submetric, plain, unknown };
const char* name(NameRole role);

struct NamePart {
  std::string text;  // as it stands in the name
  NameRole role = NameRole::unknown;
  std::string words;  // what it means
};

// The parts of any name, in its order. What is not known gets a part that says so.
std::vector<NamePart> take_apart(std::string_view metric);

// One entry of the dictionary, and all entries.
struct NamePhrase {
  const char* phrase;
  NameRole role;
  const char* words;
};
const std::vector<NamePhrase>& name_phrases();  // within a body: stages, quantities, qualifiers
const std::vector<NamePhrase>& unit_phrases();
const std::vector<NamePhrase>& suffix_phrases();  // behind the first dot

}  // namespace warpladder::lab
