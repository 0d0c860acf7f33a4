#!/usr/bin/env python3
"""What the tour has shown, as one page that needs nothing else: demo_page.py REPORTS PAGE.html

REPORTS is the folder into which tools/demo.sh had `explain` and `verify` write their reports. The
page's style and its bank maps are those of the page that `explain` wrote.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from html import escape
from pathlib import Path

from draw_climb import BAR, COLOURS, FAINT, FRAME, GRID, INK, PAPER, WHISKER

ROOT = Path(__file__).resolve().parents[1]
CLIMB = ["row_01_naive", "row_03_thread_tile", "row_04_vector_load"]
COMMANDS = [
    ("make test", "builds every rung, and runs every test"),
    ("build/bin/warpladder explain sgemm/row_03_thread_tile --gpu 4090",
     "the same for your GPU (after make)"),
    ("make rung R=transpose/04_padded", "change that rung's file, then see its verdict in seconds"),
]

STYLE = """<style>
:root { --bar: #7fa6d6; --whisker: #274b7a; --rival: #b3541e; }
@media (prefers-color-scheme: dark) { :root { --bar: #3f74b5; --whisker: #cae0ff; --rival: #e08b52; } }
h2 { margin-top: 24px; } .climbs figure:first-child svg { max-width: 420px; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: 12px;
  margin: 10px 0; overflow-x: auto; font: 12px/1.5 ui-monospace, monospace; }
@media (min-width: 1100px) { .two { display: grid; gap: 0 32px; } .climbs { grid-template-columns: 420px 1fr; }
  .findings { grid-template-columns: 520px 1fr; } .two section { min-width: 0; }
  .findings .maps { gap: 0 20px; } .findings .map { flex-basis: 240px; }
  .findings .map svg { overflow: visible; } .findings .map text { font-size: 18px; }
  .findings .map text[text-anchor=start] { transform: translateX(-12px); } }
pre.said { white-space: pre-wrap; } pre .blamed { color: var(--bad); font-weight: 600; }
dt { font: 14px ui-monospace, monospace; margin-top: 10px; } dd { margin: 0; color: var(--faint); }
</style>"""
# The colours of the measured climb, by their names in the page's style, which knows dark screens.
NAMES = {
    PAPER: "paper", FRAME: "line", GRID: "grid", INK: "ink", FAINT: "faint", BAR: "bar", WHISKER: "whisker",
    COLOURS[0]: "rival",
}  # fmt: skip


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
        y, width = 34 * i, 220 * value / most
        bars.append(
            f'<text class="ink" font-size="13" x="0" y="{y + 20}">{escape(name)}</text>'
            f'<rect class="c0" x="150" y="{y + 5}" width="{width:.1f}" height="22" rx="3"/>'
            f'<text class="ink" font-size="13" x="{158 + width:.1f}" y="{y + 20}">{value:.2f}</text>'
        )
    height = 34 * len(rows)
    return (
        f'<svg viewBox="0 0 420 {height}" width="420" height="{height}" role="img" '
        f'aria-label="L1 cycles for 32 multiply-adds of each rung">{"".join(bars)}</svg>'
    )


def measured() -> str:
    """The climb as the README shows it, in the page's colours."""
    picture = (ROOT / "src/ops/sgemm/climb.svg").read_text(encoding="utf-8")
    return re.sub(r'"(#[0-9a-f]{6})"', lambda colour: f'"var(--{NAMES[colour[1]]})"', picture)


def bank_map(page: str, part: int) -> str:
    """The map of the load from shared memory that takes most, from explain's page."""
    section = page.partition(f'<div id="part{part}-banks">')[2].partition("</div>")[0]
    for figure in re.findall(r"<figure.*?</figure>", section, re.DOTALL):
        if "shared load" in figure:
            return f'<div class="map">{figure.replace("<figure hidden>", "<figure>")}</div>'
    sys.exit("demo_page: explain's page has no map of a load from shared memory")


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
    shown_lines = textwrap.dedent("\n".join(lines[first : rule["line"] + 3])).splitlines()
    for number, text in enumerate(shown_lines, first + 1):
        shown = f"{number:4}  {escape(text)}"
        blamed = number == rule["line"]
        source.append(f'<span class="blamed">{shown}</span>' if blamed else shown)
    return f"<pre class='said'>{escape(case['failure'])}</pre><pre>{chr(10).join(source)}</pre>"


def page(reports: Path) -> str:
    explained = (reports / "banks.html").read_text(encoding="utf-8")
    style = re.search(r"<style>.*?</style>", explained, re.DOTALL)[0]
    commit = read(reports / "bug.json")["commit"]
    next_steps = "".join(
        f"<dt>{escape(command)}</dt><dd>{escape(what)}</dd>" for command, what in COMMANDS
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>warpladder: the tour</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{style}{STYLE}</head>
<body><h1>What CUDA kernels ask of a GPU, seen without one</h1>
<p>Commit {escape(commit)}. Each number below was counted on this machine's CPU, from the
same source that nvcc compiles.</p>
<h2>The climb</h2>
<div class="two climbs">
<figure>{climb(reports)}<figcaption>L1 cycles for 32 multiply-adds, sgemm at 128×128×128. Below 0.25
the arithmetic binds, not the loads.</figcaption></figure>
<figure>{measured()}<figcaption>The same ladder measured on an H200.</figcaption></figure>
</div>
<div class="two findings">
<section><h2>Bank conflicts, seen</h2>
<p>A warp reads a column of a tile in shared memory. Each row of a map is a lane, each column one of 32
banks. Lanes on one bank wait for each other; one more word in each row of the tile spreads them.</p>
<div class="maps">{bank_map(explained, 0)}{bank_map(explained, 1)}</div></section>
<section><h2>A bug, caught</h2>
<p>The same kernel without its barrier. On a GPU it may well pass a test.</p>
{caught_bug(reports)}</section>
</div>
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
