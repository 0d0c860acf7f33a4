"""A Chrome trace of torch.profiler: what the GPU did, from when, for how long, and for which operator."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
GAP_US = 2.0  # kernels of one class that lie closer are one span
PRODUCT, ATTENTION, REST = range(3)


def _classes(events: list[dict[str, Any]], products: tuple[str, ...]) -> dict[int, int]:
    """The class of each operator, by its number. An operator that is neither a product nor attention has the class
    of the operator that calls it: accelerate() multiplies in an operator below aten::addmm."""
    found = {}
    calls: dict[Any, list[tuple[float, int]]] = defaultdict(list)  # by thread: ends and classes of open operators
    operators = [e for e in events if e.get("cat") == "cpu_op"]
    for operator in sorted(operators, key=lambda e: (e["ts"], -e["dur"])):
        open_calls = calls[operator["tid"]]
        while open_calls and open_calls[-1][0] <= operator["ts"]:
            open_calls.pop()
        name = operator["name"]
        outer = open_calls[-1][1] if open_calls else REST
        which = PRODUCT if name in products else ATTENTION if "attention" in name else outer
        open_calls.append((operator["ts"] + operator["dur"], which))
        found[operator["args"]["External id"]] = which
    return found


def kernels(trace: dict[str, Any], products: tuple[str, ...]) -> list[tuple[int, dict[str, Any]]]:
    """The GPU's work in order, each piece once, with its class: that of the operator that launched it."""
    events = trace["traceEvents"]
    classes = _classes(events, products)
    work = sorted((e for e in events if e.get("cat") in ON_GPU), key=lambda e: e["ts"])
    return [(classes.get(e["args"].get("External id"), REST), e) for e in work]


def busy(work: list[tuple[int, dict[str, Any]]], steps: int) -> tuple[float, float, list[tuple[str, float]]]:
    """Of one of `steps` steps, in seconds: products, the rest, and the time of each kernel, the longest first."""
    by_class = [0.0, 0.0, 0.0]
    by_name: dict[str, float] = defaultdict(float)
    for which, kernel in work:
        seconds = kernel["dur"] * 1e-6 / steps
        by_class[which] += seconds
        by_name[kernel["name"]] += seconds
    return by_class[PRODUCT], by_class[ATTENTION] + by_class[REST], sorted(by_name.items(), key=lambda e: -e[1])


def timeline(work: list[tuple[int, dict[str, Any]]], steps: int) -> list[tuple[int, float, float]]:
    """Spans of the last of `steps` equal steps: (class, start, length), in microseconds from the step's first
    kernel."""
    work = work[len(work) - len(work) // steps :]
    spans: list[tuple[int, float, float]] = []
    for which, kernel in work:
        start, length = kernel["ts"] - work[0][1]["ts"], kernel["dur"]
        if spans and spans[-1][0] == which and start - sum(spans[-1][1:]) < GAP_US:
            length += start - spans[-1][1]
            start = spans.pop()[1]
        spans.append((which, round(start, 1), round(length, 1)))
    return spans


def why_wrong(run: dict[str, Any]) -> str | None:
    """A sentence where a run's products, or its longest kernels, take more time than the GPU was busy; else None."""
    total = run["products_s"] + run["other_s"]
    named = sum(kernel["s"] for kernel in run["kernels"])
    if min(run["products_s"], run["other_s"]) >= 0 and named <= total * (1 + 1e-6):
        return None
    return (f"products take {run['products_s']:.6g} s and the longest kernels {named:.6g} s of the GPU's {total:.6g} s "
            "a step; a kernel was counted twice or not at all")  # fmt: skip
