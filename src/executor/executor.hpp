#pragma once
// The SIMT executor: runs a CUDA kernel's source, compiled by g++, on the CPU.
//
// One fiber per CUDA thread, one OS thread per resident block. A warp's lanes run one after the
// other up to their next barrier, shuffle or exit. Then the warp's exchange is done and the lanes
// go on. Blocks are handed out in ascending order, and a block's first atomic on global memory
// waits until every lower block has finished. So results and counts do not depend on how many OS
// threads there are.

#include <cstddef>
#include <cstdint>

#include "executor/compiled_code.hpp"
#include "executor/counts.hpp"
#include "executor/fault.hpp"
#include "runtime/stream.hpp"

namespace warpladder::executor {

struct Options {
  unsigned threads = 0;      // OS threads; 0 means one per core
  bool check_shared = true;  // races and uninitialised reads (counted flavour only)
  bool count = true;         // false: accesses are checked alone (counted flavour only)
  // Goes on, as GPUs do, where CUDA leaves open what happens. A barrier waits for no thread that
  // has exited. A shuffle from a lane that takes no part gives the own value.
  bool goes_on = false;
};

// While it lives, a block (or cluster) that runs for longer counts as an endless loop. A loop
// without barriers is found in the counted flavour alone.
class BlockLimit {
 public:
  explicit BlockLimit(double seconds);  // of processor time; 0: no limit
  ~BlockLimit();
  BlockLimit(const BlockLimit&) = delete;
  BlockLimit& operator=(const BlockLimit&) = delete;
  static double seconds();

 private:
  double before_;
};

// While it lives, kernels that the machine code knows are counted by its accesses and divides,
// instead of those that the source asks for.
class AsCompiled {
 public:
  explicit AsCompiled(const CompiledCode& code);
  ~AsCompiled();
  AsCompiled(const AsCompiled&) = delete;
  AsCompiled& operator=(const AsCompiled&) = delete;
  static const CompiledCode* code();  // null where nothing is known

 private:
  const CompiledCode* before_;
};

// While it lives, the thread counts as busy between its launches, too. Threads of the executor's
// pool join a launch only while fewer threads are busy than the launch may use.
class BusyThread {
 public:
  BusyThread();
  ~BusyThread();
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

 private:
  bool is_outermost_;
};

using Thunk = void (*)(const void* arguments);

struct KernelLaunch {
  runtime::LaunchConfig config;
  bool counted = false;          // the kernel is of the counted flavour
  const void* kernel = nullptr;  // the function's address: names it in reports
  const char* name = nullptr;    // names it where the address does not
  Thunk thunk = nullptr;         // calls the kernel with the packed arguments
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
  bool cooperative = false;                        // all blocks are there at once, on one OS thread
  std::uint64_t most_cooperative_threads = 32768;  // one wave of 16 multiprocessors
};

// Runs the kernel to its end; any number of host threads may do so at once. Throws KernelFault for
// the lowest faulty block. Fills `counts`, if given, from a kernel of the counted flavour.
void run_kernel(const KernelLaunch& launch, const Options& options, KernelCounts* counts);

// The number of OS threads that a launch with these options uses at most.
unsigned worker_count(const Options& options);

}  // namespace warpladder::executor
