"""One step in a Chrome trace of torch.profiler: what the GPU did, from when, for how long."""

from __future__ import annotations

from typing import Any

ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
GAP_US = 2.0  # kernels of one class that lie closer are one span


def timeline(trace: dict[str, Any], steps: int, products: tuple[str, ...]) -> list[tuple[int, float, float]]:
    """Spans of the last of `steps` equal steps: (class, start, length), in microseconds from the step's first
    kernel. A kernel belongs to the operator that launched it, and that to a class: 0 for `products`, 1 for
    attention, 2 for the rest."""
    events = trace["traceEvents"]
    operators = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    kernels = sorted((e for e in events if e.get("cat") in ON_GPU), key=lambda e: e["ts"])
    kernels = kernels[len(kernels) - len(kernels) // steps :]
    spans: list[tuple[int, float, float]] = []
    for kernel in kernels:
        name = operators.get(kernel["args"].get("External id"), "")
        which = 0 if name in products else 1 if "attention" in name else 2
        start, length = kernel["ts"] - kernels[0]["ts"], kernel["dur"]
        if spans and spans[-1][0] == which and start - sum(spans[-1][1:]) < GAP_US:
            length += start - spans[-1][1]
            start = spans.pop()[1]
        spans.append((which, round(start, 1), round(length, 1)))
    return spans
