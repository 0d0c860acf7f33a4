"""Speed against error, drawn as an SVG: a point a rung, the better the farther right and down."""

import math

from draw_climb import (BAR, COLOURS, FAINT, FONT, FRAME, GRID, INK, MONO, PAPER, clean, rectangle,
                        stroke, text_at, tick_step)

LEFT, TOP, WIDTH, HEIGHT, LABELS, STEP = 70, 78, 520, 340, 250, 16


def errors_of(data, distribution, k):
    """{rung or rival: Frobenius error} of a report of `accuracy`. Throws KeyError for another file."""
    found = {}
    for row in data["rows"]:
        for point in row["points"]:
            if point["distribution"] == distribution and point["shape"][2] == k and point["frobenius"]:
                found[row["rung"]] = float(point["frobenius"])
    return found


def apart(heights):
    """Where labels stand that want these heights, from the top down: STEP apart, above the axis."""
    placed = []
    for height in heights:
        placed.append(max(height, placed[-1] + STEP) if placed else height)
    below = len(placed) - 1
    return [min(y, TOP + HEIGHT - (below - i) * STEP) for i, y in enumerate(placed)]


def svg(title, subtitle, points):
    """(what a reader is told who sees no picture, the file's text) of [(name, speed, error, is rival)]."""
    most = max(speed for _, speed, _, _ in points) * 1.05
    low = math.floor(math.log10(min(error for _, _, error, _ in points)))
    high = math.ceil(math.log10(max(error for _, _, error, _ in points)))
    told = "; ".join(f"{name}: {speed:.3g} TFLOP/s, {error:.1e}" for name, speed, error, _ in points)
    width, height = LEFT + WIDTH + LABELS, TOP + HEIGHT + 52

    def at(speed, error):
        return (LEFT + speed / most * WIDTH,
                TOP + (high - math.log10(error)) / (high - low) * HEIGHT)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description" '
             f'font-family="{FONT}">', f'<title id="title">{clean(title)}</title>',
             f'<desc id="description">{clean(told)}.</desc>',
             rectangle(0.5, 0.5, width - 1, height - 1, PAPER, f' rx="8" stroke="{FRAME}"'),
             text_at(20, 34, clean(title), 18, INK, "start", ' font-weight="600"'),
             text_at(20, 55, clean(subtitle), 12, FAINT)]
    for power in range(low, high + 1):
        y = at(0, 10.0 ** power)[1]
        parts += [stroke(LEFT, y, LEFT + WIDTH, y, GRID), text_at(LEFT - 8, y + 4, f"1e{power}", 11, FAINT, "end")]
    step = tick_step(most)
    for n in range(int(most / step) + 1):
        x = at(n * step, 1)[0]
        parts += [stroke(x, TOP, x, TOP + HEIGHT, GRID),
                  text_at(x, TOP + HEIGHT + 18, f"{n * step:g}", 11, FAINT, "middle")]
    parts.append(text_at(LEFT + WIDTH / 2, TOP + HEIGHT + 38, "TFLOP/s", 11, FAINT, "middle"))
    ordered = sorted(points, key=lambda point: at(point[1], point[2])[1])
    heights = apart([at(speed, error)[1] for _, speed, error, _ in ordered])
    for (name, speed, error, is_rival), label_y in zip(ordered, heights):
        x, y = at(speed, error)
        parts += [stroke(x, y, LEFT + WIDTH + 14, label_y, FRAME),
                  f'<circle cx="{x:.2f}" cy="{y:.2f}" r="5" fill="{COLOURS[0] if is_rival else BAR}"/>',
                  text_at(LEFT + WIDTH + 18, label_y + 4, clean(name), 12, INK, "start", f' font-family="{MONO}"')]
    return told, "\n".join([*parts, "</svg>"]) + "\n"
