#pragma once
// The table of a program's source lines (executor/site_table.hpp), read out of its machine code
// with binutils and put into the program itself.

#include <string>
#include <vector>

namespace warpladder::programs {

// An inlined access belongs to the innermost line outside of `library_folders`.
void embed_sites(const std::string& program, const std::string& scratch,
                 const std::vector<std::string>& library_folders);

}  // namespace warpladder::programs
