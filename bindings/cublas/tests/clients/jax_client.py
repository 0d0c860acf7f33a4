#!/usr/bin/env python3
"""JAX as a client of cuBLAS, if its build calls it: an error beside float64, and a time.

Exit code 1 where a result is wrong. WARPLADDER_CUBLAS=log says whether calls came.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_enable_triton_gemm=false")  # or XLA makes its own

import jax
import jax.numpy as jnp
import numpy as np
from medians import median_of

LAYERS = 40


def main() -> int:
    print(f"jax {jax.__version__}, {jax.devices()}")
    random = np.random.default_rng(1)
    good = True
    for m, n, k in [(2048, 2048, 2048), (1000, 777, 333)]:
        a = random.standard_normal((m, k)).astype(np.float32)
        b = random.standard_normal((k, n)).astype(np.float32)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        bias = random.standard_normal(n).astype(np.float32)

        @jax.jit
        def layer(x, w, bias):
            x = jnp.matmul(x, w, precision="highest")
            return x, jax.nn.relu(x + bias)

        on_gpu = jax.device_put((a, b, bias))
        product, activated = layer(*on_gpu)
        error = np.abs(np.asarray(product) - exact).max() / np.abs(exact).max()
        error_of_layer = (np.abs(np.asarray(activated) - np.maximum(exact + bias, 0)).max()
                          / np.abs(exact).max())
        # Many layers a call: JAX takes longer to make a call than the GPU for one of them.
        @jax.jit
        def layers(x, w, bias):
            for _ in range(LAYERS):
                _, activated = layer(x, w, bias)
                x = x + 1e-6 * activated[:, :1]
            return x

        def seconds(layers=layers, operands=on_gpu) -> float:
            start = time.perf_counter()
            layers(*operands).block_until_ready()
            return (time.perf_counter() - start) / LAYERS

        elapsed = median_of(seconds)
        right = max(error, error_of_layer) < 2e-5
        good &= right
        print(f"jax: matmul {m}x{n}x{k}: error {error:.1e}, {error_of_layer:.1e} "
              f"{'right' if right else 'WRONG'}, {elapsed * 1e6:.1f} µs", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
