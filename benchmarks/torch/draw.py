#!/usr/bin/env python3
"""Draws reports of these benchmarks as an SVG: draw.py OUT.svg REPORT.json...

A pair of bars is a program's step, stock PyTorch above and warpladder below; the dark part is products. Below
them a step is drawn as the profiler saw it, kernel beside kernel: of the first program whose report has that.
A panel shows the losses of each training. The same reports give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
INK, FAINT, GRID, FRAME = "#1f2328", "#59636e", "#eaeef2", "#d0d7de"
COLOURS = {"stock": ("#b3541e", "#e3b994"), "warpladder": ("#274b7a", "#a9c4e4")}
NAMES = {"stock": "PyTorch", "warpladder": "warpladder"}
WIDTH, PAD, LABELS, ENDINGS = 860, 20, 210, 190
BAR, PAIR = 14, 46
PANEL_HEIGHT, PANELS = 190, 2  # panels in a line
LANE, TIMELINE_HEIGHT = 22, 104
ATTENTION = "#6b8f3c"


def text(x: float, y: float, content: str, size: float = 12, fill: str = INK, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">'
        f"{escape(content)}</text>"
    )


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{fill}"/>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1) -> str:
    return (
        f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{stroke}" '
        f'stroke-width="{width}"/>'
    )


def share(run: dict[str, Any]) -> float:
    """Of the GPU's busy time, in products."""
    busy = run["products_s"] + run["other_s"]
    return run["products_s"] / busy if busy else 0.0


def bars(rows: list[dict[str, Any]], top: float) -> list[str]:
    """Each pair is drawn in shares of the stock step, so that short steps show, too."""
    found = []
    room = WIDTH - LABELS - ENDINGS - PAD
    for i, row in enumerate(rows):
        y = top + i * PAIR
        found.append(text(PAD, y + BAR + 4, row["label"]))
        for j, name in enumerate(COLOURS):
            run, (dark, light) = row[name], COLOURS[name]
            length = room * run["median_s"] / row["stock"]["median_s"]
            at = y + j * (BAR + 2)
            products = length * share(run)
            found.append(rectangle(LABELS, at, products, BAR, dark))
            found.append(rectangle(LABELS + products, at, length - products, BAR, light))
            ending = f"{run['median_s'] * 1e3:.1f} ms"
            if name == "warpladder":
                ending += f", {row['speedup']:.2f} times as fast"
            found.append(text(LABELS + length + 6, at + BAR - 3, ending, 11, INK if j else FAINT))
    return found


def lane(spans: list[list[float]], which: int, y: float, left: float, per_us: float, fill: str) -> str:
    """Spans of one class, as one shape."""
    drawn = ""
    for of, start, length in spans:
        if of == which:
            width = f"{max(length * per_us, 0.1):.1f}"
            drawn += f"M{left + start * per_us:.1f} {y:.0f}h{width}v{LANE}h-{width}z"
    return f'<path d="{drawn}" fill="{fill}"/>'


def timelines(row: dict[str, Any], top: float) -> list[str]:
    """A step of both contestants as their traces show it, on one scale."""
    lengths = [sum(row[name]["timeline"][-1][1:]) for name in COLOURS]
    longest = max(lengths)
    left, room = LABELS - 110, WIDTH - LABELS + 110 - PAD
    found = [
        text(PAD, top, f"{row['label']}: one step under the profiler, {lengths[0] / 1e3:.1f} and "
             f"{lengths[1] / 1e3:.1f} ms"),  # fmt: skip
        rectangle(WIDTH - PAD - 96, top - 10, 12, 12, ATTENTION),
        text(WIDTH - PAD - 78, top, "attention", 11, FAINT),
    ]
    for i, (name, (dark, light)) in enumerate(COLOURS.items()):
        y = top + 14 + i * (LANE + 6)
        found.append(text(PAD, y + LANE - 6, NAMES[name], 11, FAINT))
        for which, fill in enumerate((dark, ATTENTION, light)):
            found.append(lane(row[name]["timeline"], which, y, left, room / longest, fill))
    return found


def curves(row: dict[str, Any], left: float, top: float, width: float) -> list[str]:
    """The losses of one training, the stock curve wide and pale below the other."""
    series = {name: row[name]["losses"] for name in COLOURS}
    most = max(max(losses) for losses in series.values())
    least = min(min(losses) for losses in series.values())
    spread = (most - least) or 1.0
    height = PANEL_HEIGHT - 62
    found = [
        text(left, top + 12, f"{row['label']}: loss by step", 12),
        rectangle(left, top + 22, width, height, GRID),
        text(left + 4, top + 36, f"{most:.3g}", 10, FAINT),
        text(left + 4, top + 18 + height, f"{least:.3g}", 10, FAINT),
    ]
    for name, losses in series.items():
        steps = max(len(losses) - 1, 1)
        points = " ".join(
            f"{left + width * i / steps:.1f},{top + 22 + height * (most - loss) / spread:.1f}"
            for i, loss in enumerate(losses)
        )
        stroke, thick = (COLOURS[name][1], 6) if name == "stock" else (COLOURS[name][0], 1.5)
        found.append(f'<polyline points="{points}" fill="none" stroke="{stroke}" stroke-width="{thick}"/>')
    apart = f"at most {row['losses_apart']:.0e} of the value apart"
    found.append(text(left + width, top + 38 + height, apart, 10, FAINT, "end"))
    return found


def picture(reports: list[dict[str, Any]]) -> str:
    rows = [row for report in reports for row in report["rows"] if "stock" in row and "warpladder" in row]
    if not rows:
        raise ValueError("no report compares with stock PyTorch")
    trained = [row for row in rows if "train" in row["label"] or "MLP" in row["label"]]
    top = 92
    below = top + PAIR * len(rows) + 14
    traced = [row for row in rows if all(row[name].get("timeline") for name in COLOURS)][:1]
    panels_at = below + TIMELINE_HEIGHT * len(traced)
    panel_lines = -(-len(trained) // PANELS)
    height = panels_at + panel_lines * PANEL_HEIGHT + 10
    gpu, libraries = reports[0]["gpu"]["GPU"], reports[0]["libraries"]
    subtitle = f"{gpu}, PyTorch {libraries['PyTorch']}, {reports[0]['date'][:10]}, TF32 off"
    body = [
        text(PAD, 34, "FP32 programs in PyTorch: a step's time", 17),
        text(PAD, 54, subtitle, 12, FAINT),
    ]
    at = PAD
    for name, (dark, light) in COLOURS.items():
        body.append(rectangle(at, 66, 12, 12, dark))
        body.append(rectangle(at + 12, 66, 12, 12, light))
        body.append(text(at + 30, 76, f"{NAMES[name]}: products, and the rest", 11, FAINT))
        at += 230
    body.append(line(LABELS, top - 8, LABELS, below - 16, FRAME))
    body += bars(rows, top)
    for row in traced:
        body += timelines(row, below + 8)
    panel_width = (WIDTH - 2 * PAD - 24) / PANELS
    for i, row in enumerate(trained):
        body += curves(row, PAD + (i % PANELS) * (panel_width + 24), panels_at + (i // PANELS) * PANEL_HEIGHT,
                       panel_width)  # fmt: skip
    told = "; ".join(f"{row['label']} {row['speedup']:.2f} times as fast" for row in rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="{FONT}" role="img">\n<title>{escape(told)}</title>\n'
        + rectangle(0, 0, WIDTH, height, "#ffffff")
        + "\n"
        + "\n".join(body)
        + "\n</svg>\n"
    )


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    reports = [json.loads(Path(file).read_text(encoding="utf-8")) for file in sys.argv[2:]]
    Path(sys.argv[1]).write_text(picture(reports), encoding="utf-8")


if __name__ == "__main__":
    main()
