"""Measured rungs, and their ladder drawn as an SVG.

A horizontal bar is a rung, an upright line what the rungs are measured against.
The same climb gives the same bytes. The picture is read as an image, so it brings its own
background and relies on nothing outside itself; which system font it meets is unknown, so every
width is taken for a wide one.
"""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench_reports import rounded

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
PAPER, FRAME, GRID = "#ffffff", "#d0d7de", "#eaeef2"
INK, FAINT, BAR, WHISKER = "#1f2328", "#59636e", "#7fa6d6", "#274b7a"
COLOURS = ["#b3541e", "#59636e"]  # of the upright lines, in the order given

PAD = 20
ROW, THICK = 26, 15
TITLE_Y, SUBTITLE_Y, LINE_LABEL_Y, TOP = 36, 57, 87, 98
LEAST_PLOT = 480
MOST_TICKS = 8


@dataclass(frozen=True)
class Bar:
    """A rung: its value, the quartiles around it, and what is written at the bar's end."""

    name: str
    value: float
    low: float
    high: float
    label: str
    share: str = ""


@dataclass(frozen=True)
class Line:
    """An upright line through all bars."""

    value: float
    label: str


@dataclass(frozen=True)
class Climb:
    title: str
    subtitle: str
    story: str  # one sentence, without its full stop
    unit: str
    bars: list[Bar]
    lines: list[Line]


def of_rows(title, rows, rival):
    """The climb of timed rows in TFLOP/s; there may be no rival."""
    against = ("cuBLAS" if rival.rung == "cublas" else rival.rung) if rival else ""
    bars = [Bar(row.rung, row.teraflops, row.flops / row.hot.q3 / 1e12,
                row.flops / row.hot.q1 / 1e12, row.rate_text(),
                row.share_text(rival) if rival else "") for row in rows]
    report, first, last = rows[0].report, bars[0], bars[-1]
    story = f"The climb of {title} on {report.gpu}, from {first.label} TFLOP/s with {first.name} "
    story += f"to {last.label} with {last.name}"
    lines = []
    if rival:
        story += f"; {against} reaches {rival.rate_text()}"
        lines.append(Line(rival.teraflops, f"{against} {rival.rate_text()}"))
    if report.ceiling:
        lines.append(Line(report.ceiling, f"FP32 ceiling {rounded(report.ceiling, 3)}"))
    at_the_end = f"TFLOP/s and share of {against}" if rival else "TFLOP/s"
    subtitle = f"{report.gpu} · {report.date} · {at_the_end} · whiskers span the quartiles"
    return Climb(title, subtitle, story, "TFLOP/s", bars, lines)


def told(climb):
    """What a reader who sees no picture is told: the story, the lines, and every bar."""
    marks = [line.label for line in climb.lines]
    marks += [", ".join([f"{b.name} {b.label}", *([b.share] if b.share else [])]) for b in climb.bars]
    return f"{climb.story}. In {climb.unit}: {'; '.join(marks)}."


def width_of(text, size, bold=False):
    """What a wide font needs for a text; a fixed-width one needs less."""
    return len(text) * size * (0.72 if bold else 0.65)


def clean(text):
    """A text as XML can hold it."""
    return escape("".join(c if c.isprintable() else " " for c in text), {'"': "&quot;"})


def text_at(x, y, content, size=12, fill=INK, anchor="start", extra=""):
    """`content` is XML already."""
    return (f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" fill="{fill}" '
            f'text-anchor="{anchor}"{extra}>{content}</text>')


def rectangle(x, y, width, height, fill, extra=""):
    return (f'<rect{extra} x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
            f'fill="{fill}"/>')


def stroke(x1, y1, x2, y2, colour, width=1, extra=""):
    return (f'<line{extra} x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" '
            f'stroke="{colour}" stroke-width="{width}"/>')


def tick_step(most):
    """1, 2 or 5 times a power of ten, so that at most MOST_TICKS steps reach `most`."""
    power = 10.0 ** math.floor(math.log10(most / MOST_TICKS))
    return next(power * n for n in (1, 2, 5, 10) if most <= power * n * MOST_TICKS * (1 + 1e-9))


def grid(left, bottom, scale, most, unit):
    step = tick_step(most)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    for n in range(math.floor(most / step + 1e-9) + 1):
        x = left + n * step * scale
        yield stroke(x, TOP, x, bottom, GRID)
        yield text_at(x, bottom + 18, f"{n * step:.{decimals}f}", 11, FAINT, "middle")
    yield text_at(left + most * scale / 2, bottom + 37, clean(unit), 11, FAINT, "middle")


def uprights(climb, left, bottom, scale):
    """The leftmost line's label stands left of it, the other's right: they cannot meet."""
    leftmost = min(climb.lines, key=lambda line: line.value, default=None)
    for line, colour in zip(climb.lines, COLOURS):
        x = left + line.value * scale
        yield stroke(x, LINE_LABEL_Y - 11, x, bottom, colour, 1.5,
                     ' class="line" stroke-dasharray="5 3"')
        anchor, at = ("end", x - 7) if line is leftmost else ("start", x + 7)
        yield text_at(at, LINE_LABEL_Y, clean(line.label), 12, colour, anchor)


def bar_at(bar, y, left, scale):
    top, end = y - THICK / 2, left + bar.value * scale
    yield text_at(PAD, y + 4.5, clean(bar.name), 12.5, INK, "start", f' font-family="{MONO}"')
    yield rectangle(left, top, bar.value * scale, THICK, BAR, ' class="bar"')


def ending_of(bar, y, left, scale):
    """The whisker and the label, drawn over the upright lines."""
    low, high = left + bar.low * scale, left + bar.high * scale
    yield stroke(low, y, high, y, WHISKER, 1.2, ' class="whisker"')
    for x in (low, high):
        yield stroke(x, y - 3.5, x, y + 3.5, WHISKER, 1.2)
    at = max(high, left + bar.value * scale) + 7
    yield rectangle(at - 3, y - THICK / 2, label_width(bar) + 3, THICK, PAPER)
    share = f'<tspan fill="{FAINT}" dx="7">{clean(bar.share)}</tspan>' if bar.share else ""
    yield text_at(at, y + 4.5, f'<tspan font-weight="600">{clean(bar.label)}</tspan>{share}')


def label_width(bar):
    return width_of(bar.label, 12, True) + (7 + width_of(bar.share, 12) if bar.share else 0)


def svg(climb):
    """The picture as the text of a file. There is at least one bar, and at most two lines."""
    most = max([b.high for b in climb.bars] + [b.value for b in climb.bars]
               + [line.value for line in climb.lines])
    line_labels = [width_of(line.label, 12) + 7 for line in climb.lines]
    names = max(width_of(b.name, 12.5) for b in climb.bars)
    left = PAD + max([names + 12] + line_labels)
    right = PAD + max([7 + label_width(b) for b in climb.bars] + line_labels)
    width = math.ceil(max(left + LEAST_PLOT + right,
                          2 * PAD + width_of(climb.title, 18, True),
                          2 * PAD + width_of(climb.subtitle, 12)))
    scale = (width - left - right) / most
    bottom = TOP + len(climb.bars) * ROW + 4
    height = bottom + 52
    middles = [TOP + ROW * (n + 0.5) + 2 for n in range(len(climb.bars))]

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description" '
        f'font-family="{FONT}">',
        f'<title id="title">{clean(climb.title)}</title>',
        f'<desc id="description">{clean(told(climb))}</desc>',
        rectangle(0.5, 0.5, width - 1, height - 1, PAPER, f' rx="8" stroke="{FRAME}"'),
        text_at(PAD, TITLE_Y, clean(climb.title), 18, INK, "start", ' font-weight="600"'),
        text_at(PAD, SUBTITLE_Y, clean(climb.subtitle), 12, FAINT),
        *grid(left, bottom, scale, most, climb.unit)]
    for bar, y in zip(climb.bars, middles):
        parts += bar_at(bar, y, left, scale)
    parts.append(stroke(left, TOP, left, bottom, FAINT))
    parts += uprights(climb, left, bottom, scale)
    for bar, y in zip(climb.bars, middles):
        parts += ending_of(bar, y, left, scale)
    return "\n".join([*parts, "</svg>"]) + "\n"
