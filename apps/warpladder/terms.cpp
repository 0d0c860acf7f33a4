// The glossary: docs/terms.md is what this prints.

#include "verb.hpp"

namespace warpladder::app {
namespace {

struct Term {
  const char *word, *meaning;
};

constexpr Term kTerms[] = {
    {"operator", "What is computed, such as sgemm or transpose."},
    {"rung",
     "One implementation of an operator: one kernel file, one idea. Its id, such as "
     "row_02_block_tile, "
     "is the file's name."},
    {"ladder", "The rungs of an operator, from the naive kernel upwards."},
    {"rival", "Somebody else's implementation, such as cuBLAS, called on the same problem."},
    {"probe", "A copy or a read of the operator's bytes, without its work: a ceiling for rungs."},
    {"dispatch", "The rung that the library's call takes for a problem."},
    {"variant", "What a shape leaves open: a layout, a transpose, which function."},
    {"case", "One problem that verify runs: a shape, a variant, and what is special about it."},
    {"flavour",
     "One of three compilations of a rung: gpu (nvcc), plain (g++, fast on the CPU) and counted "
     "(g++, "
     "every access checked and counted)."},
    {"executor", "What runs kernels on the CPU, thread by thread."},
    {"thread block", "Up to 1,024 threads that share memory and barriers; CTA in PTX."},
    {"warp", "32 threads that execute together."},
    {"lane", "One of the 32 threads of a warp."},
    {"SM", "A streaming multiprocessor: where thread blocks run. An H200 has 132."},
    {"request", "One load, store or atomic of a warp: one instruction, up to 32 addresses."},
    {"sector",
     "32 bytes of global memory, the least that moves. A request for 128 bytes beside each other "
     "touches 4."},
    {"coalesced", "Said of a request whose lanes touch no more sectors than their bytes fill."},
    {"bank", "One of 32 columns of shared memory, 4 bytes wide: word i lies in bank i mod 32."},
    {"wavefront",
     "One pass of a request through shared memory. Lanes that need different words of one bank "
     "need "
     "one pass each: a bank conflict."},
    {"FMA", "A fused multiply-add: two floating-point operations, one rounding."},
    {"L1 cycles",
     "The cycles for which requests keep the data stage of an SM's L1 cache busy: 1 for a global "
     "request or for 4 of its sectors, 1 for a wavefront."},
    {"ideal",
     "The same requests with no byte or wavefront too many. What lies between counted and ideal is "
     "avoidable."},
    {"line to blame", "The source line with the most avoidable L1 cycles, else the costliest."},
    {"prediction",
     "The counts that the rung's header says beforehand, for sizes that are multiples of its "
     "tile."},
    {"intensity", "Arithmetic for each byte, or wavefront, that is moved."},
    {"roof",
     "The speed at which moving these bytes alone would let a GPU compute. Roofs of L1 count the "
     "source's loads, of which nvcc may merge some."},
    {"occupancy", "The warps that an SM holds at once, of those that it could hold."},
    {"spill", "Registers that nvcc keeps in memory, because a thread has too few."},
    {"bound",
     "How far a correct FP32 result may lie from the exact one; computed for each element."},
    {"error ÷ bound",
     "An element's error as a share of its bound. Up to 1 passes; NaN never does."},
    {"fragment", "What one lane holds of a matrix that a warp's tensor core multiplies."},
    {"swizzle",
     "An order of the words of a tile's rows that depends on the row, so that columns, too, lie in "
     "different banks."},
    {"ring, stage",
     "Tiles in shared memory that take turns: while one stage is multiplied, the copy engine fills "
     "others."},
    {"split, pair",
     "An FP32 number as the sum of two or three numbers that tensor cores multiply."},
    {"promotion",
     "Sums of the tensor cores are added to FP32 registers every few steps, because their adder "
     "truncates."},
    {"split-K", "Several thread blocks share one tile of C, each with a part of k."},
    {"cluster", "Thread blocks that run at the same time and reach each other's shared memory."},
    {"persistent", "Said of a kernel whose thread blocks stay and take tile after tile."},
    {"moderate values",
     "Operands whose products neither overflow nor vanish when they are split for tensor cores. "
     "Rungs "
     "that accept only these may be wrong for others."},
    {"hot, cold", "Timed with the operands in the L2 cache, or after it was swept."},
    {"quartiles",
     "A quarter of the samples are shorter than the first, a quarter longer than the third."},
    {"quartiles apart",
     "Said of two times whose middle halves of samples do not overlap: the difference is no "
     "noise."},
};

}  // namespace

void print_terms() {
  TextTable table({{"word"}, {"means"}});
  for (const Term& term : kTerms) table.add_row({term.word, term.meaning});
  print(table);
}

}  // namespace warpladder::app
