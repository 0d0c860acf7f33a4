#pragma once
// Registers and static shared memory of kernels where nvcc is not at hand. Those of rungs come from
// the table that tools/rung_resources.py writes, those of all kernels from a cubin.

#include <string>
#include <string_view>
#include <vector>

#include "base/cubin.hpp"
#include "lab/explain.hpp"

namespace warpladder::lab {

// "multiply<false,true>" of any spelling: without scopes of no name, flavours, types and blanks.
std::string plain_kernel_name(std::string name);

// From the shipped table, for the launches of a rung that it knows.
void add_shipped_resources(Explanation& e);
// From a cubin, which wins over the table. False if none of its kernels was launched.
bool add_resources(Explanation& e, const std::vector<CubinKernel>& kernels,
                   const std::string& source);

// A row of the table.
struct ShippedResources {
  std::string rung, kernel;  // sgemm/row_01_naive
  CompiledResources resources;
};
std::vector<ShippedResources> parse_shipped_resources(std::string_view table);
std::string_view shipped_table();  // the text, which the build puts into the program

}  // namespace warpladder::lab
