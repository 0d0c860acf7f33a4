#!/usr/bin/env python3
"""Each operator beside PyTorch's own: the GPU's time, and the host's time of a small call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import common
import torch

import warpladder

ops = torch.ops.warpladder
SPIN_CYCLES = 200_000


def gpu_times(work: Callable[[], Any], samples: int) -> list[float]:
    """Seconds on the GPU's clock. A kernel spins first, so that the host's time is not in them."""
    found = []
    for sample in range(3 + samples):
        torch.cuda._sleep(SPIN_CYCLES)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        if sample >= 3:
            found.append(begin.elapsed_time(end) * 1e-3)
    return found


def host_times(work: Callable[[], Any], samples: int, calls: int = 200) -> list[float]:
    """Seconds a call on the host's clock, while the queue of the GPU has room."""
    found = []
    for sample in range(3 + samples):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        taken = (time.perf_counter() - begin) / calls
        if sample >= 3:
            found.append(taken)
    torch.cuda.synchronize()
    return found


def random(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, device="cuda") * 2 - 1


def cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """{label: (PyTorch's, ours)}."""
    found: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}

    def add(label: str, stock: Callable[..., Any], ours: Callable[..., Any], *args: Any) -> None:
        found[label] = (lambda: stock(*args), lambda: ours(*args))

    for n in (512, 1024, 2048, 4096, 8192):
        add(f"mm {n}^3", torch.mm, ops.mm, random(n, n), random(n, n))
    a, b = random(4096, 4096), random(4096, 4096)
    add("mm 4096^3, A transposed", torch.mm, ops.mm, a.T, b)
    add("mm 4096^3, B transposed", torch.mm, ops.mm, a, b.T)
    add("mm 4095x4097x4099", torch.mm, ops.mm, random(4095, 4099), random(4099, 4097))
    add("addmm 4096x3072x768, a row added", torch.addmm, ops.addmm, random(3072), random(4096, 768),
        random(3072, 768).T)  # fmt: skip
    add("linear 4096x50257x768", torch.nn.functional.linear, ops.linear, random(4096, 768),
        random(50257, 768))  # fmt: skip
    add("bmm 96 x 1024x64x1024", torch.bmm, ops.bmm, random(96, 1024, 64), random(96, 64, 1024))
    add("bmm 4096 x 32^3", torch.bmm, ops.bmm, random(4096, 32, 32), random(4096, 32, 32))
    add("baddbmm 64 x 256^3", torch.baddbmm, ops.baddbmm, random(256, 256), random(64, 256, 256),
        random(64, 256, 256))  # fmt: skip
    add("mv 8192x8192", torch.mv, ops.mv, random(8192, 8192), random(8192))
    add("mv 8192x8192, transposed", torch.mv, ops.mv, random(8192, 8192).T, random(8192))
    add("transpose 8192x8192", lambda x: x.T.contiguous(), ops.transpose, random(8192, 8192))
    x = random(8192, 8192)
    for name, dim in (("sum", 0), ("sum", 1), ("mean", 1), ("argmax", 1)):
        add(f"{name} of 8192x8192 along {dim}", getattr(torch, name), getattr(ops, name).dim, x, dim)
    for name, stock in (("sum", torch.sum), ("max", torch.amax), ("argmax", torch.argmax)):
        add(f"{name} of 2^26", stock, getattr(ops, name), x.flatten())
    sparse = torch.rand(200_000, 16, device="cuda").argsort(1)  # 16 columns in each of 200,000 rows
    columns = (sparse * 12500 + torch.randint(12500, sparse.shape, device="cuda")).sort(1).values
    offsets = torch.arange(0, 200_001, device="cuda") * 16
    values, v = random(3_200_000), random(200_000)
    csr = torch.sparse_csr_tensor(offsets, columns.flatten(), values, (200_000, 200_000))
    short = columns.flatten().int()
    found["spmm_csr_vector, 200000 rows of 16"] = (
        lambda: torch.mv(csr, v),
        lambda: ops.spmm_csr_vector(offsets, short, values, v),
    )
    return found


def host_cases() -> dict[str, Callable[[], Any]]:
    """The same small product, called in each way."""
    a, b, c = random(128, 128), random(128, 128), random(128)

    def routed(call: Callable[[], Any]) -> Callable[[], Any]:
        def within() -> Any:
            return call()

        within.routed = True  # type: ignore[attr-defined]
        return within

    grown = random(128, 128).requires_grad_()
    return {
        "torch.mm": lambda: torch.mm(a, b),
        "torch.ops.warpladder.mm": lambda: ops.mm(a, b),
        "torch.ops.warpladder.mm.default": lambda: ops.mm.default(a, b),
        "torch.mm in accelerate()": routed(lambda: torch.mm(a, b)),
        "torch.addmm": lambda: torch.addmm(c, a, b),
        "torch.ops.warpladder.addmm": lambda: ops.addmm(c, a, b),
        "torch.addmm in accelerate()": routed(lambda: torch.addmm(c, a, b)),
        "torch.mm of halves": lambda: torch.mm(a.half(), b.half()),
        "torch.mm of halves in accelerate()": routed(lambda: torch.mm(a.half(), b.half())),
        "torch.mm with a gradient": lambda: torch.mm(grown, b),
        "torch.ops.warpladder.mm with a gradient": lambda: ops.mm(grown, b),
    }


def main() -> None:
    parser = common.parser(__doc__)
    options = parser.parse_args()
    common.require_gpu()
    torch.manual_seed(options.seed)
    samples = max(options.steps // 2, 5)
    rows: list[dict[str, Any]] = []
    for label, (stock, ours) in cases().items():
        theirs, mine = gpu_times(stock, samples), gpu_times(ours, samples)
        speedup = statistics.median(theirs) / statistics.median(mine)
        rows.append({"label": label, "kind": "gpu", "speedup": speedup,
                     "stock": {"median_s": statistics.median(theirs), "samples_s": theirs},
                     "warpladder": {"median_s": statistics.median(mine), "samples_s": mine}})  # fmt: skip
        print(f"{label}: {statistics.median(theirs) * 1e6:.1f} and "
              f"{statistics.median(mine) * 1e6:.1f} us: {speedup:.2f} times as fast", flush=True)  # fmt: skip
    for label, work in host_cases().items():
        with warpladder.accelerate() if hasattr(work, "routed") else common.contestant("stock"):
            taken = host_times(work, samples)
        rows.append({"label": label, "kind": "host", "median_s": statistics.median(taken),
                     "samples_s": taken})  # fmt: skip
        print(f"host, 128^3, {label}: {statistics.median(taken) * 1e6:.2f} us a call", flush=True)
    common.write_report(options, "operators", rows)


if __name__ == "__main__":
    main()
