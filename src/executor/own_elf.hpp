#pragma once
// What the running program's own file says of it: the contents of sections, and where variables
// lie.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder::executor {

struct ElfVariable {
  std::uint64_t begin = 0;  // of thread-local ones: within the program's thread-local storage
  std::uint64_t bytes = 0;
  std::string name;  // without its scope
};

struct ElfSection {
  std::uint64_t begin = 0, bytes = 0;  // as in ElfVariable
  std::vector<ElfVariable> variables;  // sorted by where they begin; none in a stripped program
};

// The contents of one section of the running program; empty if there is no such section. Of its
// file, of which only what is looked at is read.
std::string_view own_section_contents(std::string_view name);
// The section and the variables in it; of 0 bytes if there is no such section.
ElfSection own_section(std::string_view name);

}  // namespace warpladder::executor
