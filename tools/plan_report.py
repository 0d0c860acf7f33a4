#!/usr/bin/env python3
"""How near the planned rung is to the best one: plan_report.py FILE.json... [--within 5%] [--at-least 95%]

The files are reports of `bench` on a GPU in which each problem has the contestant dispatch and other rungs:
  warpladder bench sgemm/dispatch 'sgemm/row_*' 'sgemm/tc_1*' --shapes benchmarks/every_shape/shapes.txt \\
    --device gpu --json FILE.json
Times are medians of hot samples. The exit code is 1 where fewer problems than asked for are within the limit.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from pathlib import Path


def share(text: str) -> float:
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 100 %")
    return value


def problems_of(rows: list) -> dict:
    """(op, variant, shape) → {rung: median}, of rungs whose results were right."""
    found = {}
    for row in rows:
        if row.get("rival") or row.get("probe") or not row.get("verified") or not row.get("samples_s"):
            continue
        key = row["op"], row.get("variant", ""), tuple(row["shape"])
        found.setdefault(key, {})[row["rung"]] = statistics.median(row["samples_s"])
    return {key: times for key, times in found.items() if "dispatch" in times and len(times) > 1}


def read(name: str) -> list:
    try:
        report = json.loads(Path(name).read_text())
    except (OSError, ValueError) as error:
        raise SystemExit(f"plan_report.py: {name} cannot be read: {error}") from None
    if not isinstance(report, dict) or report.get("verb") != "bench" or report.get("target") != "gpu":
        raise SystemExit(f"plan_report.py: {name} is no report of bench on a GPU")
    return report["rows"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--within", type=share, default=0.05)
    parser.add_argument("--at-least", type=share, default=0.0)
    flags = parser.parse_args()
    problems = problems_of([row for name in flags.files for row in read(name)])
    if not problems:
        raise SystemExit("plan_report.py: no problem has dispatch and another rung")
    ranked = []
    for key, times in problems.items():
        best = min((rung for rung in times if rung != "dispatch"), key=times.get)
        ranked.append((times["dispatch"] / times[best], key, best))
    ranked.sort(reverse=True)
    near = sum(ratio <= 1 + flags.within for ratio, _, _ in ranked) / len(ranked)
    mean = math.exp(statistics.mean(math.log(ratio) for ratio, _, _ in ranked))
    print(f"{len(ranked)} problems: {near:.1%} within {flags.within:.0%} of the best rung; geometric mean {mean:.3f}\n")
    print("| problem | best rung | dispatch over it |\n| :-- | :-- | --: |")
    for ratio, (op, variant, shape), best in ranked[:10]:
        print(f"| {op} {variant} {'×'.join(map(str, shape))} | {best} | {ratio:.3f} |")
    return 1 if near < flags.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
