#!/usr/bin/env python3
"""Whether what one run of tune found holds in another: compare.py FIRST.json SECOND.json

Both are reports of `warpladder tune --device gpu` over the same problems. For each problem the winner of the
first run is set beside the constants of that time, by the samples of the second: the run that chose a winner
flatters it. The exit code is 1 where a winner is slower by more than a percent.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from pathlib import Path


def key(problem: dict) -> tuple:
    return problem["op"], problem["rung"], problem["variant"], tuple(problem["shape"])


def samples_of(problem: dict, configuration: dict) -> list:
    """Of the race if there are any, for they were taken in turns."""
    for candidate in problem["configurations"]:
        if candidate["configuration"] == configuration:
            return candidate.get("race_samples_s") or candidate["samples_s"]
    return []


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    first, second = (json.loads(Path(name).read_text())["problems"] for name in sys.argv[1:])
    again = {key(problem): problem for problem in second if not problem["skipped"]}
    ratios, slower = {}, 0
    print("| rung | shape | found | today's over it, first run | second run |")
    print("| :-- | :-- | :-- | --: | --: |")
    for problem in first:
        if problem["skipped"] or key(problem) not in again:
            continue
        other = again[key(problem)]
        new, old = samples_of(other, problem["best"]), samples_of(other, problem["today"])
        if not new or not old:
            print(f"{problem['rung']} {problem['shape']}: the second run did not time it", file=sys.stderr)
            continue
        ratio = statistics.median(old) / statistics.median(new)
        slower += ratio < 0.99
        ratios.setdefault(problem["rung"], []).append(ratio)
        found = " ".join(f"{name}={value}" for name, value in problem["best"].items())
        print(f"| {problem['rung']} | {'×'.join(map(str, problem['shape']))} | {found} "
              f"| {problem['today_over_best']['value']:.3f} | {ratio:.3f} |")
    for rung, of_rung in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, of_rung)))
        print(f"\n{rung}: {len(of_rung)} shapes, geometric mean {mean:.3f}, least {min(of_rung):.3f}")
    return 1 if slower or not ratios else 0


if __name__ == "__main__":
    sys.exit(main())
