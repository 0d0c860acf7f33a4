"""The table of what the hardware's counters said, from Nsight Compute's raw CSV: one launch of each
rung that `warpladder verify OP --shape ... --json` ran, in the order of its rows."""

import csv
import json

# Column, metric, digits after the point.
COLUMNS = [
    ("FMA pipe", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
    ("issue slots", "smsp__issue_active.avg.pct_of_peak_sustained_elapsed", 1),
    ("L1 pipe", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 1),
    ("warps", "sm__warps_active.avg.pct_of_peak_sustained_active", 0),
    ("registers", "launch__registers_per_thread", 0),
    ("L1 hits", "l1tex__t_sector_hit_rate.pct", 1),
    ("L2 hits", "lts__t_sector_hit_rate.pct", 1),
]


def profiled(csv_path, launches_path):
    """(header, rows) of the table. Raises ValueError with a sentence, or OSError."""
    with open(launches_path, encoding="utf-8") as file:
        verified = json.load(file)
    rungs = [row["rung"] for row in verified["rows"] if not row.get("skipped")]
    with open(csv_path, encoding="utf-8", newline="") as file:
        lines = list(csv.reader(line for line in file if line.startswith('"')))
    if len(lines) < 2:
        raise ValueError(f"{csv_path.name} holds no profile")
    names, units, launches = lines[0], lines[1], lines[2:]
    if len(launches) != len(rungs):
        raise ValueError(f"{csv_path.name} holds {len(launches)} launches, but "
                         f"{launches_path.name} tells of {len(rungs)} rungs")
    missing = [metric for _, metric, _ in COLUMNS if metric not in names]
    if missing:
        raise ValueError(f"{csv_path.name} lacks the metric {missing[0]}")
    rows = []
    for rung, launch in zip(rungs, launches):
        cells = [f"`{rung}`"]
        for _, metric, decimals in COLUMNS:
            at = names.index(metric)
            percent = " %" if units[at] == "%" else ""
            cells.append(f"{float(launch[at].replace(',', '')):.{decimals}f}{percent}")
        rows.append(cells)
    return ["rung", *(column for column, _, _ in COLUMNS)], rows
