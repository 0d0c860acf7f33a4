#pragma once
// From a person's CUDA source to what g++ compiles. Only what macros and headers cannot express is
// rewritten, token by token. These are launches, dynamic shared memory, host variables that are
// called like CUDA's built-in ones, elements of volatile arrays, and inline PTX. Lines stay where
// they are.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder::programs {

// Comments and the contents of strings become blanks; every character keeps its place.
std::string blanked(std::string_view source);

// The names after #include, in the order of the file.
std::vector<std::string> included_names(std::string_view source);

// `kernels` are those of all files; a launch of another name is one of a pointer. `pointed_to` are
// those to which there are pointers, so that somebody may call them like functions.
std::string rewritten(std::string_view source, const std::set<std::string>& kernels,
                      const std::set<std::string>& pointed_to = {});

// Names of the kernels that the text defines or declares.
std::set<std::string> kernel_names(std::string_view source);

// Those of the kernels whose names the text uses without a launch or a call.
std::set<std::string> pointed_to(std::string_view source, const std::set<std::string>& kernels);

// A place where a kernel's name is called like a function, or where a function that is no kernel is
// declared by that name. `line` counts from 1.
struct Use {
  std::string kernel;
  int line = 0;
  bool is_call = false;
};
std::vector<Use> uses_of(std::string_view source, const std::set<std::string>& kernels);

}  // namespace warpladder::programs
