// Each planted fault is a run of its own, in a process of its own, for it ends the program. The run
// without one must stay silent.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

enum Bug {
  kNone,
  kRace,              // a barrier is missing between a read and the next write
  kMissingBarrier,    // … between a write and the read
  kPastGlobal,        // an index past an allocation
  kPastShared,        // … past a shared array
  kFreed,             // a kernel is handed memory that has been freed
  kUninitialised,     // shared memory that nobody has written
  kMisaligned,        // a vector at an odd address
  kDivergentBarrier,  // not all threads come to a barrier
  kWrongMask,         // a shuffle or vote whose mask leaves out a lane that calls it
  kHostPointer,       // a kernel is handed the host's memory
  kDevicePointer,     // the host touches the device's
  kWrongSize,         // a copy of more bytes than there are
  kNotCopied,         // memory of which a part has never been written; found with --uninitialised
  kBugs
};

inline int run_each(void (*run)(int)) {
  for (int bug = kNone; bug < kBugs; ++bug) {
    const pid_t child = fork();
    if (child == 0) {
      run(bug);
      exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  return 0;
}

// Memory of the device with 0, 1, 2, … in it, or in so many elements of it.
template <class T>
T* counted_up(int n, int copied = -1) {
  std::vector<T> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<T>(i);
  T* device;
  cudaMalloc(&device, n * sizeof(T));
  cudaMemcpy(device, host.data(), (copied < 0 ? n : copied) * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
