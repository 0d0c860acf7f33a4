#!/usr/bin/env python3
"""torch.sum(dim) on a GPU, timed as `warpladder bench` times reduce_axis, in a report like its own.

Usage: torch_sum.py OUT.json [ROWSxCOLUMNS ...]

Before each sample a kernel spins, so that the host's time is not in it, and before a cold one
another sweeps the L2 cache.
"""

from __future__ import annotations

import datetime
import json
import statistics
import sys

SHAPES = ["16x1048576", "128x131072", "1024x16384", "4096x4096", "16384x1024", "131072x128",
          "1048576x16"]
SAMPLES, SWEEP_BYTES, SPIN_CYCLES = 31, 256 << 20, 100_000


def sample(torch, work, zeros):
    if zeros is not None:
        torch.amax(zeros)
    torch.cuda._sleep(SPIN_CYCLES)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3


def quartiles(samples):
    q1, median, q3 = statistics.quantiles(samples, n=4, method="inclusive")
    return {"median": median, "q1": q1, "q3": q3}


def main(out: str, shapes: list[str]) -> None:
    import torch

    zeros = torch.zeros(SWEEP_BYTES // 4, device="cuda")
    rows = []
    for shape in shapes:
        sizes = [int(size) for size in shape.split("x")]
        a = torch.rand(*sizes, device="cuda") * 2 - 1
        for variant, dim in (("row_sum", 1), ("column_sum", 0)):
            result = torch.empty(sizes[1 - dim], device="cuda")
            work = lambda: torch.sum(a, dim, out=result)  # noqa: E731
            hot, cold = ([sample(torch, work, swept) for _ in range(3 + SAMPLES)][3:]
                         for swept in (None, zeros))
            rows.append({"op": "reduce_axis", "variant": variant, "rung": "torch", "rival": True,
                         "shape": sizes, "flops": 0, "samples_s": hot, "cold_samples_s": cold,
                         "bytes": 4 * (sizes[0] * sizes[1] + sizes[1 - dim]),
                         "statistics_s": quartiles(hot), "cold_statistics_s": quartiles(cold)})
    report = {"schema_version": 1, "verb": "bench", "target": "gpu", "argv": sys.argv,
              "date": datetime.date.today().isoformat(),
              "device": {"gpu": {"GPU": torch.cuda.get_device_name()}},
              "libraries": {"PyTorch": torch.__version__}, "baselines": [], "rows": rows}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or SHAPES)
