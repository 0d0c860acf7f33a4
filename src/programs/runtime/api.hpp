#pragma once
// The runtime's own view of the headers that programs include: the API's types and prototypes,
// without the macros that give CUDA's keywords a meaning. Included last.

#include "simt/runtime_api.hpp"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim
#undef __shared__
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __managed__
#undef __CUDACC__
#undef __NVCC__
#undef __CUDA_ARCH__
