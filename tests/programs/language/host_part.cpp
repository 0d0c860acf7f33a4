// Host code in a file that is no .cu: what nvcc hands to the host's compiler.
#include <cuda_runtime.h>

#ifdef __CUDACC__
#error "this file is for the host's compiler"
#endif

static int max(int a, int b) { return a < b ? b : a; }  // no clash with a device's max()

int from_the_host_part(int n) {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  return max(n + 3 * devices, 0);
}
