#pragma once
// What the programs that measure.py compiles share.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(3);
}

// Prints the times of 50 calls, each of which launches one kernel, as a member of a JSON object.
template <class Launch>
void print_samples(Launch launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::printf("\"samples_s\": [");
  for (int i = -5; i < 50; ++i) {  // the first bring the clocks up
    check(cudaEventRecord(begin));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= 0) std::printf("%s%.9g", i ? ", " : "", milliseconds * 1e-3);
  }
  std::printf("]");
}
