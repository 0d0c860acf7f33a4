#pragma once
// WARPLADDER_WITH_CUDA(x): x in a build with CUDA, else null.

#if WARPLADDER_CUDA_SIDE
#define WARPLADDER_WITH_CUDA(x) x
#else
#define WARPLADDER_WITH_CUDA(x) nullptr
#endif
