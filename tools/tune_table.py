#!/usr/bin/env python3
"""Whether what one run of tune found holds in another: tune_table.py FIRST.json SECOND.json

Both are reports of `warpladder tune --device gpu` over the same problems, or the recordings that
keep_recording.py made of them. The winner of the first run is compared with the constants of that time by
the medians of the second: the run that chose a winner flatters it. The exit code is 1 where a winner is
slower by more than a percent.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from pathlib import Path

import keep_recording
from bench_reports import rounded
from table_text import shape_label, table

HEADER = ["rung", "shape", "found", "time", "gain", "in a second run", "timed", "stopped", "pruned", "not reached"]
NAMES = 3
FATES = ("timed", "stopped early", "pruned", "not reached")
MISSHAPEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)


def searches(report: dict) -> dict:
    """Problem → its row, as keep_recording.py has it, of those that were not skipped."""
    rows = report["rows"] if "rows" in report else [keep_recording.outcome(each) for each in report["problems"]]
    return {(row["op"], row["rung"], row["variant"], tuple(row["shape"])): row
            for row in rows if not row.get("skipped")}


def gain(row: dict, winner: dict) -> float:
    """Time with the constants of that time over time with those that were found."""
    medians = {json.dumps(each["configuration"], sort_keys=True): each["median_s"] for each in row["timed"]}
    today, found = (json.dumps(each, sort_keys=True) for each in (row["today"], winner))
    if today not in medians or found not in medians:
        raise ValueError(f"{row['rung']} at {shape_label(row['shape'])}: not both configurations were timed")
    return medians[today] / medians[found]


def seconds(value: float) -> str:
    unit, name = (1e-3, "ms") if value >= 1e-3 else (1e-6, "µs")
    return f"{rounded(value / unit, 4)} {name}"


def of(first: dict, second: dict) -> tuple[list, dict]:
    """(rows of cells, rung → gains in the second run)"""
    again, cells, gains = searches(second), [], {}
    for key, row in searches(first).items():
        if key not in again:
            raise ValueError(f"{row['rung']} at {shape_label(row['shape'])}: the second run lacks it")
        ratio = gain(again[key], row["best"])
        gains.setdefault(row["rung"], []).append(ratio)
        changed = [f"{name}={value}" for name, value in row["best"].items()]
        found = "its own" if row["best"] == row["today"] else f"`{' '.join(changed)}`"
        cells.append([f"`{row['rung']}`", shape_label(row["shape"]), found, seconds(row["best_s"]),
                      f"{gain(row, row['best']):.3f}", f"{ratio:.3f}",
                      *(str(row["fates"].get(fate, 0)) for fate in FATES)])
    if not cells:
        raise ValueError("it holds no search")
    return cells, gains


def summary(first: dict, gains: dict) -> list:
    lines = [f"`{rung}`: geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.3f}, "
             f"least {min(ratios):.3f} in the second run, {len(ratios)} shapes." for rung, ratios in gains.items()]
    spent = sum(row["spent_s"] for row in searches(first).values())
    return [*lines, f"{first['device']['gpu']['GPU']}, {first['date'][:10]}: {spent:.0f} s of search."]


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    try:
        first, second = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:])
        cells, gains = of(first, second)
        lines = summary(first, gains)
    except (OSError, *MISSHAPEN) as error:
        print(f"tune_table: not two reports of `tune` over the same problems: {error}", file=sys.stderr)
        return 2
    print(table(HEADER, cells, NAMES))
    print("\n".join(lines))
    return 1 if min(map(min, gains.values())) < 0.99 else 0


if __name__ == "__main__":
    sys.exit(main())
