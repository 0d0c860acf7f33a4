#!/usr/bin/env python3
"""CuPy as a client of cuBLAS, which it opens itself: errors beside float64, and times.

Exit code 1 where a result is wrong.
"""

from __future__ import annotations

import sys

import cupy
from medians import CALLS, WAIT_CYCLES, median_of

WAIT = cupy.RawKernel(r"""
extern "C" __global__ void wait(long long cycles) {
  for (long long start = clock64(); clock64() - start < cycles;) {
  }
}""", "wait")


def microseconds(call) -> float:
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    WAIT((1,), (1,), (WAIT_CYCLES,))
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end) / CALLS * 1e3


def check(name: str, call, exact) -> bool:
    result = call()
    error = float(abs(result.astype(cupy.float64) - exact).max() / abs(exact).max())
    time = median_of(lambda: microseconds(call))
    good = error < 2e-5
    print(f"cupy: {name:30} error {error:.1e} {'right' if good else 'WRONG'}, {time:8.1f} µs",
          flush=True)
    return good


def main() -> int:
    print(f"cupy {cupy.__version__}, cuBLAS {cupy.cuda.cublas.getVersion(cupy.cuda.device.get_cublas_handle())}")
    random = cupy.random.default_rng(1)
    good = True
    for shape_a, shape_b in [((4096, 4096), (4096, 4096)), ((1000, 333), (333, 777)),
                             ((16, 256, 128), (16, 128, 256)), ((4096, 4096), (4096,))]:
        a = random.standard_normal(shape_a, dtype=cupy.float32)
        b = random.standard_normal(shape_b, dtype=cupy.float32)
        exact = cupy.matmul(a.astype(cupy.float64), b.astype(cupy.float64))
        good &= check(f"matmul {shape_a} {shape_b}", lambda a=a, b=b: cupy.matmul(a, b), exact)
    a = cupy.asfortranarray(random.standard_normal((512, 512), dtype=cupy.float32))
    c = cupy.zeros((512, 512), dtype=cupy.float32, order="F")

    def gemm_ex():
        import numpy

        cublas, handle = cupy.cuda.cublas, cupy.cuda.device.get_cublas_handle()
        one, zero = numpy.array(1, numpy.float32), numpy.array(0, numpy.float32)
        cublas.gemmEx(handle, 0, 0, 512, 512, 512, one.ctypes.data, a.data.ptr, 0, 512, a.data.ptr,
                      0, 512, zero.ctypes.data, c.data.ptr, 0, 512, 68, -1)
        return c

    good &= check("gemmEx, FP32", gemm_ex, a.astype(cupy.float64) @ a.astype(cupy.float64))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
