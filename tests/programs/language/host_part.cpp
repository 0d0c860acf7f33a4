// Host code in a file that is no .cu: what nvcc hands to the host's compiler.
#include <cuda_runtime.h>

#include <string>

#ifdef __CUDACC__
#error "this file is for the host's compiler"
#endif

static int max(int a, int b) { return a < b ? b : a; }  // no clash with a device's max()

int from_the_host_part(int n) {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  // The table of std::to_string is one object of a process: both files have it, and the executor.
  return max(std::stoi(std::to_string(n + 3 * devices)), 0);
}
