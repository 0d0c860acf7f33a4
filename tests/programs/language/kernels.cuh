#pragma once
// A kernel in a header: reports must name this file.
__global__ void from_a_header(int* data, int n) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = n;  // BUG
}
