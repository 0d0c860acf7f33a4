#!/usr/bin/env python3
"""What the tour has shown, as one page that needs nothing else: demo_page.py REPORTS PAGE.html

REPORTS is the folder into which tools/demo.sh had `explain` and `verify` write their JSON.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLIMB = ["row_01_naive", "row_03_thread_tile", "row_04_vector_load"]
PITCHES = {"03_tile_coalesced": 32, "04_padded": 33}  # words from one row of the tile to the next
BANKS = LANES = 32
COMMANDS = [
    ("make test", "builds every rung, and runs every test"),
    ("build/bin/warpladder explain sgemm/row_03_thread_tile --gpu 4090",
     "the same for your GPU (after make)"),
    ("make rung R=transpose/04_padded", "change that rung's file, then see its verdict in seconds"),
]

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --text: #1f2328; --dim: #59636e;
  --line: #d0d7de; --bar: #0969da; --bad: #cf222e; --cell: #eaeef2; --code: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #3d444d; --bar: #4493f8;
    --bad: #f85149; --cell: #262c36; --code: #151b23; }
  .measured svg { filter: invert(0.92) hue-rotate(180deg); }
}
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
p, figcaption { color: var(--dim); } figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--text); font: 13px system-ui; }
.measured svg text { font: inherit; fill: revert-layer; }
.bar { fill: var(--bar); } .cell { fill: var(--cell); } .hit { fill: var(--bar); }
.clash { fill: var(--bad); }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem;
  overflow-x: auto; font: 13px/1.5 ui-monospace, monospace; }
pre.said { white-space: pre-wrap; }
pre .blamed { color: var(--bad); font-weight: 600; }
.maps { display: flex; gap: 2rem; flex-wrap: wrap; }
dt { font: 14px ui-monospace, monospace; margin-top: 0.6rem; } dd { margin: 0; color: var(--dim); }
"""


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def climb(reports: Path) -> str:
    """L1 cycles for 32 multiply-adds, as bars: shorter is better."""
    rows = []
    for name in CLIMB:
        rung = read(reports / f"{name}.json")["rungs"][0]
        rows.append((name, 32 * rung["l1_cycles"] / rung["totals"]["fmas"]))
    most = max(value for _, value in rows)
    bars = []
    for i, (name, value) in enumerate(rows):
        y, width = 34 * i, 480 * value / most
        bars.append(
            f'<text x="0" y="{y + 20}">{escape(name)}</text>'
            f'<rect class="bar" x="180" y="{y + 5}" width="{width:.1f}" height="22" rx="3"/>'
            f'<text x="{188 + width:.1f}" y="{y + 20}">{value:.2f}</text>'
        )
    height = 34 * len(rows)
    return (
        f'<svg viewBox="0 0 760 {height}" width="760" height="{height}" role="img" '
        f'aria-label="L1 cycles for 32 multiply-adds of each rung">{"".join(bars)}</svg>'
    )


def shared_load(rung: dict) -> float:
    """Wavefronts for each request to load from shared memory, as the executor counted them."""
    loads = [
        access
        for line in rung["lines"]
        for access in line["accesses"]
        if (access["space"], access["kind"]) == ("shared", "load")
    ]
    return sum(a["wavefronts"] for a in loads) / sum(a["requests"] for a in loads)


def bank_map(rung: dict) -> str:
    """Which lane reads which bank when a warp reads a column of the tile."""
    pitch = PITCHES[rung["rung"]]
    bank_of = [lane * pitch % BANKS for lane in range(LANES)]
    worst = max(bank_of.count(bank) for bank in range(BANKS))
    counted = shared_load(rung)
    if abs(counted - worst) > 0.01 * worst:
        sys.exit(f"demo_page: {rung['rung']} took {counted} wavefronts where its pitch makes {worst}")
    squares = {True: "", False: ""}
    for lane in range(LANES):
        for bank in range(BANKS):
            squares[bank_of[lane] == bank] += f"M{10 * bank} {10 * lane}h9v9h-9z"
    words = "wavefront" if worst == 1 else "wavefronts"
    read = "clash" if worst > 1 else "hit"
    cells = f'<path class="cell" d="{squares[False]}"/><path class="{read}" d="{squares[True]}"/>'
    return (
        f'<figure><svg viewBox="0 0 320 320" width="320" height="320" role="img" '
        f'aria-label="lanes and banks of {escape(rung["rung"])}">{cells}</svg>'
        f"<figcaption>{escape(rung['rung'])}: rows of {pitch} words, {worst} {words} a load"
        "</figcaption></figure>"
    )


def caught_bug(reports: Path) -> str:
    """The first broken rule that verify reported, with the lines around it."""
    row = read(reports / "bug.json")["rows"][0]
    case = next(case for case in row["cases"] if case["failure"])
    rule = case.get("broken_rule")
    if rule is None:
        return f"<pre>{escape(case['failure'])}</pre>"
    lines = (ROOT / rule["file"]).read_text(encoding="utf-8").splitlines()
    first = max(rule["line"] - 8, 0)
    source = []
    for number, text in enumerate(lines[first : rule["line"] + 3], first + 1):
        shown = f"{number:4}  {escape(text)}"
        blamed = number == rule["line"]
        source.append(f'<span class="blamed">{shown}</span>' if blamed else shown)
    return f"<pre class='said'>{escape(case['failure'])}</pre><pre>{chr(10).join(source)}</pre>"


def page(reports: Path) -> str:
    banks = read(reports / "banks.json")
    measured = (ROOT / "src/ops/sgemm/climb.svg").read_text(encoding="utf-8")
    next_steps = "".join(
        f"<dt>{escape(command)}</dt><dd>{escape(what)}</dd>" for command, what in COMMANDS
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>warpladder: the tour</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>
<body><h1>What CUDA kernels ask of a GPU, seen without one</h1>
<p>Commit {escape(banks["commit"])}. Each number below was counted on this machine's CPU, from the
same source that nvcc compiles.</p>
<h2>The climb</h2>
<figure>{climb(reports)}<figcaption>L1 cycles for 32 multiply-adds, sgemm at 128×128×128. Below 0.25
the arithmetic binds, not the loads.</figcaption></figure>
<figure class="measured">{measured}<figcaption>The same ladder measured on an H200.</figcaption></figure>
<h2>Bank conflicts, seen</h2>
<p>A warp reads a column of a tile in shared memory. Each row of a map is a lane, each column one of 32
banks. Lanes on one bank wait for each other; one more word in each row of the tile spreads them.</p>
<div class="maps">{"".join(bank_map(rung) for rung in banks["rungs"])}</div>
<h2>A bug, caught</h2>
<p>The same kernel without its barrier. On a GPU it may well pass a test.</p>
{caught_bug(reports)}
<h2>Next</h2><dl>{next_steps}</dl></body></html>
"""


def main() -> int:
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_dir():
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    Path(sys.argv[2]).write_text(page(Path(sys.argv[1])), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
