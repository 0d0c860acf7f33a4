// One program of two files, with macros from the command line.
#include <cstdio>
#include <string>

#include "parts/add.cuh"
#include "parts/sum.cuh"

#ifndef SECOND
#error "-D may be repeated"
#endif

int from_the_host_part(int n);

int main() {
  int host = from_the_host_part(1), *data;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, &host, sizeof host, cudaMemcpyHostToDevice);
  add<<<1, 1>>>(data, FIRST);
  cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s\n", std::to_string(host).c_str());
  cudaFree(data);
}
