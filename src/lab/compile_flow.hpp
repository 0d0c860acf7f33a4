#pragma once
// What nvcc makes of a source file, stage by stage: preprocessed source, PTX, machine code, and the
// fat binary that holds them. It needs nvcc and no GPU.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/compiled_code.hpp"

namespace warpladder::lab {

// The programs of the CUDA toolkit. One that is not found is empty; `missing` says what it would
// show and how to get it.
struct Toolkit {
  std::string nvcc, nvlink, cuobjdump, nvdisasm;
  std::string libraries;  // the folder of libcudadevrt.a
  std::string nvvm;       // a folder with lib64/libnvvm.so, for link-time optimisation
  std::string version;    // of nvcc
  std::vector<std::string> missing;
};
// nvcc from PATH, below $CUDA_HOME or /usr/local/cuda; the others beside it or in PATH. Throws
// Error(resource) without nvcc.
Toolkit find_toolkit();

struct CompileRequest {
  std::string source;
  std::vector<std::string> architectures;  // as nvcc spells them behind sm_: 80, 90a
  std::vector<std::string> flags;          // for all compilations
  std::optional<std::string> second;  // a source that holds functions which the first one calls
  bool fast_math = false;
  std::string folder;  // where the files of the stages go
};

struct Stage {
  std::string name, tool, file;
  std::size_t bytes = 0;
  double seconds = 0;
};

// One way to compile a source: its name and flags, and the kernels that came out.
struct Compiled {
  std::string name, flags;
  std::string why_not;    // it was left out, or empty
  std::size_t bytes = 0;  // of the machine code
  double seconds = 0;     // compiling and linking
  std::vector<KernelCode> kernels;
};

struct ArchitectureFlow {
  std::string architecture;
  std::vector<Stage> stages;
  std::vector<KernelCode> kernels;
  LineInstructions lines;          // what each became; empty without nvdisasm
  std::vector<Compiled> maths;     // the default first, then each of --use_fast_math's parts
  std::vector<Compiled> separate;  // one program, two files, two files with link-time optimisation
};

struct CompileFlow {
  Toolkit toolkit;
  std::vector<ArchitectureFlow> architectures;
  Stage fat_binary;
  std::vector<FatEntry> fat_entries;  // empty without cuobjdump
};

// Throws Error(bad_input) with the compiler's first error if the source does not compile.
CompileFlow compile_flow(const CompileRequest& request);

// What the lines of some of a source's kernels became.
struct LineCode {
  std::string version, architecture;  // of nvcc; as nvcc spells it behind sm_
  std::vector<std::string> kernels;   // those kernels, as people know them
  LineInstructions lines;
};
// `kernels` are named as KernelCounts names them; where the source has none of these names, the
// lines of all kernels count. For the request's first architecture. Throws as compile_flow() does,
// and Error(resource) without nvdisasm.
LineCode line_code(const CompileRequest& request, const std::vector<std::string>& kernels);

// Of two ways to compile one kernel: the counts of instructions that differ, second minus first.
struct InstructionChange {
  std::string opcode;
  long difference = 0;
};
std::vector<InstructionChange> changes_between(const Instructions& before,
                                               const Instructions& after);

}  // namespace warpladder::lab
