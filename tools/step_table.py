"""A climb as its steps: what moved from one rung to the next, by the executor's counts and on a GPU."""

from bench_reports import NONE
from table_text import time_text

# What a step may move, each the sum of some of `explain`'s totals.
COUNTERS = {
    "global requests": ("global_load_requests", "global_store_requests"),
    "global sectors": ("global_load_sectors", "global_store_sectors"),
    "shared wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
    "barriers": ("barriers",),
    "shuffles": ("shuffles",),
    "copy engine bytes": ("bulk_bytes",),
    "tensor core FMAs": ("tensor_fmas",),
}
MEMORY = ("global requests", "global sectors", "shared wavefronts")
NOTICED = 1.1  # a counter that moves by less has not moved


def counted(explained):
    return {name: sum(explained["totals"][key] for key in keys) for name, keys in COUNTERS.items()}


def moved(before, after):
    """The counter that moved most, as 'global sectors ÷ 8': first of memory's that fall, then of those
    that are gone, new, or rise."""
    ratios = [(before[name] / after[name], name) for name in COUNTERS if before[name] and after[name]]
    gone = [name for name in COUNTERS if before[name] and not after[name]]
    new = [name for name in COUNTERS if after[name] and not before[name]]
    for names in (MEMORY, COUNTERS):
        ratio, name = max((r for r in ratios if r[1] in names), default=(1, ""))
        if ratio >= NOTICED:
            return f"{name} ÷ {ratio:.3g}"
    if gone:
        return f"{gone[0]} gone"
    if new:
        return f"{new[0]}: {after[new[0]]:,}"
    ratio, name = min(ratios, default=(1, ""))
    return f"{name} × {1 / ratio:.3g}" if ratio <= 1 / NOTICED else "none"


def of(rungs, explained, times):
    """(header, rows): `times` holds each rung's Times, or None where it was not timed; it may be None
    itself."""
    cells = []
    for i, (rung, each) in enumerate(zip(rungs, explained)):
        step = moved(counted(explained[i - 1]), counted(each)) if i else NONE
        cells.append([f"`{rung}`", step, "holds" if each["prediction"]["holds"] else "differs"])
        if times:
            before, time = times[i - 1] if i else None, times[i]
            cells[i] += [time_text(time) if time else NONE,
                         f"{before.median / time.median:.2f}×" if before and time else NONE]
    header = ["rung", "the counter that moved", "prediction"]
    return [*header, *["time", "faster than the rung before"] * bool(times)], cells


def caption(counted_at, variant, timed_at, is_cold):
    counts = f"Counts at {counted_at.replace('x', '×')}{', ' + variant if variant else ''}"
    if not timed_at:
        return f"{counts}."
    return f"{counts}; {'cold' if is_cold else 'hot'} medians at {timed_at.replace('x', '×')}."


WIN_HEADER = ["rung", "over", "at", "TFLOP/s", "from", "faster"]


def win(row, before, shape):
    """The cells of a timed rung beside the one before it."""
    return [row.name_cell, before.name_cell, shape, row.rate_text(), before.rate_text(),
            f"{before.hot.median / row.hot.median:.2f}×"]
