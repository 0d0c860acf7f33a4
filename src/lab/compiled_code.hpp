#pragma once
// Parses what ptxas, PTX and the disassemblers say of kernels.

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder::lab {

// The count of each instruction in the code, by its first word: FFMA, LDG, MUFU.RCP.
using Instructions = std::map<std::string, std::size_t>;
std::size_t count_of(const Instructions& instructions);

// A line of the source, and the file's name without its folders.
struct SourceLine {
  std::string file;
  unsigned number = 0;
  auto operator<=>(const SourceLine&) const = default;
};

struct KernelCode {
  std::string symbol, name;  // as the linker knows it, and as people do
  unsigned registers = 0;    // of a thread
  unsigned barriers = 0;
  std::size_t stack_bytes = 0, spill_store_bytes = 0, spill_load_bytes = 0;  // of a thread
  std::size_t shared_bytes = 0;                                              // of a block, static
  unsigned threads = 0;       // of a block at most, from __launch_bounds__; 0: it has none
  Instructions instructions;  // empty without nvdisasm
};

// Of `ptxas -v`, one per kernel.
std::vector<KernelCode> parse_resources(std::string_view ptxas);
// Of `cuobjdump -res-usage`, one per kernel or function; it does not report spills.
std::vector<KernelCode> parse_usage(std::string_view text);
// Fills in threads, from the kernels' .maxntid.
void parse_launch_bounds(std::string_view ptx, std::vector<KernelCode>& kernels);
// Of `nvdisasm -c`, by symbol: kernels and functions that were not inlined. Padding at a function's
// end does not count.
std::map<std::string, Instructions> parse_disassembly(std::string_view text);
// Of `nvdisasm -c -gi`, for code compiled with -lineinfo: the instructions of each line, over these
// kernels, which are given by symbol, or over all. What was inlined counts for the line of the .cu
// file that called it.
using LineInstructions = std::map<SourceLine, Instructions>;
LineInstructions parse_lines(std::string_view text, const std::vector<std::string>& symbols = {});

// What a fat binary holds.
struct FatEntry {
  std::string kind, arch;  // machine code or PTX; sm_90a
  bool compressed = false;
};
// Of `cuobjdump FILE`.
std::vector<FatEntry> parse_fat_binary(std::string_view text);

std::string demangled(const std::string& symbol);

}  // namespace warpladder::lab
