#pragma once
// g++ and binutils at work on a person's program: the files beside this program, the precompiled
// header, compiling and linking. The files are the headers, the executor and the linker's script.

#include <filesystem>
#include <string>
#include <vector>

#include "programs/overlay.hpp"

namespace warpladder::programs {

// What ships with the program, found relative to it: share/warpladder/programs.
struct Shipped {
  std::filesystem::path include, object, script;
};
Shipped find_shipped();

struct Build {
  std::vector<std::string> files;
  std::vector<std::string> include_folders, defines;
  bool instrumented = false;  // so that accesses can be checked and counted
};

// Compiles and links; the program's path. Throws Error(bad_input), with what the person can do
// about it, if the sources are refused.
std::filesystem::path build_program(const Build& build, const std::filesystem::path& scratch);

}  // namespace warpladder::programs
