"""What the benchmarks share: two contestants in one process, their times, memory, losses and profiles,
and a report in JSON that says where it comes from."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import timeline
import torch

import warpladder

SCHEMA_VERSION = 1
WARM_UP_STEPS = 5
PROFILED_STEPS = 3
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "warpladder::_linear_prepared")
CONTESTANTS = ("stock", "warpladder")


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--steps", type=int, default=50, help="timed steps of each contestant")
    made.add_argument("--compare", action="store_true", help="stock PyTorch too, with the same seed")
    made.add_argument("--seed", type=int, default=20)
    made.add_argument("--json", metavar="FILE", help="the report")
    made.add_argument("--trace", metavar="FILE", help="a Chrome trace of each contestant's step: FILE "
                      "with the contestant's name before its first dot")  # fmt: skip
    return made


def require_gpu() -> None:
    """Ends the program with one sentence where the operators do not run."""
    if reason := warpladder.why_unsupported():
        sys.exit(f"{Path(sys.argv[0]).name}: {reason}")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


@dataclass
class Measured:
    """One contestant's run. Times are of whole steps, on the GPU's clock."""

    step_s: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    products_s: float = 0.0  # of a profiled step
    other_s: float = 0.0
    kernels: list[tuple[str, float]] = field(default_factory=list)  # the longest, seconds a step
    timeline: list[tuple[int, float, float]] = field(default_factory=list)  # of a profiled step
    calls: dict[str, dict[str, int]] = field(default_factory=dict)  # warpladder.report()

    @property
    def median_s(self) -> float:
        return statistics.median(self.step_s)

    def as_json(self) -> dict[str, Any]:
        return {
            "median_s": self.median_s,
            "step_s": [round(s, 9) for s in self.step_s],
            "losses": self.losses,
            "peak_bytes": self.peak_bytes,
            "products_s": self.products_s,
            "other_s": self.other_s,
            "kernels": [{"name": n, "s": s} for n, s in self.kernels],
            "timeline": self.timeline,
            "calls": self.calls,
        }


def contestant(name: str) -> contextlib.AbstractContextManager[None]:
    return warpladder.accelerate() if name == "warpladder" else contextlib.nullcontext()


def timed_steps(step: Callable[[], torch.Tensor | None], steps: int, measured: Measured) -> None:
    """Runs step() without waiting between steps. It returns the loss, or None."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    losses = []
    events[0].record()
    for end in events[1:]:
        losses.append(step())
        end.record()
    torch.cuda.synchronize()
    measured.step_s += [a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:])]
    measured.losses += [loss.item() for loss in losses if loss is not None]


def profiled(step: Callable[[], Any], measured: Measured, trace: Path | None) -> None:
    """Where the GPU's time goes, from torch.profiler's trace. Its key_averages() count the kernels of some
    operators twice."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        for _ in range(PROFILED_STEPS):
            step()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        file = trace or Path(folder) / "trace.json"
        profile.export_chrome_trace(str(file))
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as text:
            work = timeline.kernels(json.load(text), PRODUCTS)
    measured.products_s, measured.other_s, kernels = timeline.busy(work, PROFILED_STEPS)
    measured.kernels = [(name[:120], seconds) for name, seconds in kernels[:12]]
    measured.timeline = timeline.timeline(work, PROFILED_STEPS)


def measure(
    name: str,
    make_step: Callable[[str], Callable[[], torch.Tensor | None]],
    options: argparse.Namespace,
    label: str = "",
) -> Measured:
    """Sets up from the seed, warms up, times and profiles one contestant. make_step() gets its name. Losses
    are of all steps."""
    torch.manual_seed(options.seed)
    measured = Measured()
    warpladder.reset_report()
    with contestant(name):
        step = make_step(name)
        first = [step() for _ in range(WARM_UP_STEPS)]
        measured.losses = [loss.item() for loss in first if loss is not None]
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        timed_steps(step, options.steps, measured)
        measured.peak_bytes = torch.cuda.max_memory_allocated()
        measured.calls = dict(warpladder.report())
        trace = traced_file(options.trace, name, label)
        profiled(step, measured, trace)
    del step
    torch.cuda.empty_cache()
    return measured


def traced_file(trace: str | None, name: str, label: str) -> Path | None:
    if not trace:
        return None
    path = Path(trace)
    stem, _, ending = path.name.partition(".")
    label = "_" + label.replace(",", "").replace(" ", "_") if label else ""
    return path.with_name(f"{stem}{label}_{name}.{ending or 'json'}")


def compared(
    label: str, make_step: Callable[[str], Callable[[], Any]], options: argparse.Namespace
) -> dict[str, Any]:
    """A row of the report: each contestant's run of one program."""
    names = CONTESTANTS if options.compare else CONTESTANTS[1:]
    row: dict[str, Any] = {"label": label}
    runs = {name: measure(name, make_step, options, label) for name in names}
    row |= {name: run.as_json() for name, run in runs.items()}
    ours = runs["warpladder"]
    text = f"{label}: {ours.median_s * 1e3:.2f} ms a step, {ours.peak_bytes / 2**30:.2f} GiB"
    if options.compare:
        stock = runs["stock"]
        row["speedup"] = stock.median_s / ours.median_s
        share = stock.products_s / max(stock.products_s + stock.other_s, 1e-12)
        text = (
            f"{label}: stock {stock.median_s * 1e3:.2f} ms a step ({100 * share:.0f} % in products), "
            f"warpladder {ours.median_s * 1e3:.2f} ms: {row['speedup']:.2f} times as fast; "
            f"memory {stock.peak_bytes / 2**30:.2f} and {ours.peak_bytes / 2**30:.2f} GiB"
        )
        if stock.losses:
            apart = [abs(a - b) / abs(a) for a, b in zip(stock.losses, ours.losses)]
            row["losses_apart"] = max(apart)
            text += f"; losses differ by at most {max(apart):.1e} of their value"
    print(text, flush=True)
    return row


def _driver() -> str:
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("WARPLADDER_COMMIT", "unknown")


def write_report(options: argparse.Namespace, program: str, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for name in CONTESTANTS:
            if "products_s" in row.get(name, {}) and (reason := timeline.why_wrong(row[name])):
                sys.exit(f"{row['label']}, {name}: {reason}")
    if not options.json:
        return
    properties = torch.cuda.get_device_properties(0)
    report = {
        "schema_version": SCHEMA_VERSION,
        "program": program,
        "argv": [Path(a).name if "/" in a else a for a in sys.argv],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": _commit(),
        "gpu": {"GPU": properties.name, "driver": _driver(), "multiprocessors": properties.multi_processor_count},
        "libraries": {"PyTorch": torch.__version__, "CUDA": torch.version.cuda},
        "python": platform.python_version(),
        "rows": rows,
    }
    Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def batches(make: Callable[[], Any], count: int) -> Iterator[Any]:
    """`count` batches, made once, again and again."""
    made = [make() for _ in range(count)]
    while True:
        yield from made
