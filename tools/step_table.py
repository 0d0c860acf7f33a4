"""A climb as its steps: what moved from one rung to the next, by the executor's counts and on a GPU."""

import matrix_table
from bench_reports import NONE, Fault
from table_text import REPORT, asked, shape_label, time_text

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


def counted_steps(rungs, explained):
    """(header, rows) without times."""
    cells = []
    for i, (rung, each) in enumerate(zip(rungs, explained)):
        step = moved(counted(explained[i - 1]), counted(each)) if i else NONE
        cells.append([f"`{rung}`", step, "holds" if each["prediction"]["holds"] else "differs"])
    return ["rung", "the counter that moved", "prediction"], cells


def timed_steps(times):
    """Of each rung its time, and how many times as fast it is as the one before."""
    for before, time in zip([None, *times], times):
        yield [time_text(time) if time else NONE,
               f"{before.median / time.median:.2f}×" if before and time else NONE]


def of(rungs, explained, times):
    """(header, rows): `times` holds each rung's Times, or None where it was not timed; it may be None
    itself."""
    header, cells = counted_steps(rungs, explained)
    if times:
        header += ["time", "faster than the rung before"]
        cells = [row + timed for row, timed in zip(cells, timed_steps(times))]
    return header, cells


def by_matrix(rungs, explained, times):
    """(header, rows): `times` holds a list as above for each matrix."""
    header, cells = counted_steps(rungs, explained)
    for of_matrix in times.values():
        cells = [[*row, ", ".join(text for text in timed if text != NONE) or NONE]
                 for row, timed in zip(cells, timed_steps(of_matrix))]
    return [*header, *times], cells


def caption(counted_at, variant, timed_at, is_cold):
    counts = f"Counts at {counted_at.replace('x', '×')}{', ' + variant if variant else ''}"
    if not timed_at:
        return f"{counts}."
    medians = f"{counts}; {'cold' if is_cold else 'hot'} medians"
    if timed_at == "by matrix":
        return f"{medians} by matrix, and how many times as fast as the rung before."
    return f"{medians} at {timed_at.replace('x', '×')}."


def times_of(files, op, rungs, timed, cold):
    """(each place's Times, rows) of rows by place and rung."""
    rows, times = [], {}
    for place, of_place in timed.items():
        if absent := [rung for rung in rungs if rung not in of_place]:
            raise Fault(f"{files}: no row of {op}/{absent[0]} at {place}")
        rows += [of_place[rung] for rung in rungs]
        times[place] = [of_place[rung].cold if cold else of_place[rung].hot for rung in rungs]
    return times, rows


def steps(argument, rows_of, rows_at, explain):
    """((header, rows), the line below them, the rows that were read) of a block `steps`."""
    files, op, shape, matrices, cold, counted_at, variant, names = asked(
        rf"(?:({REPORT}) )?([\w:]+)(?: at (\d+(?:x\d+)*)| (by matrix))?(, cold)?, counts at (\d+(?:x\d+)*)"
        r"(?:, (\w+))?: (.+)", argument,
        "[FILES ]OP[ at SHAPE| by matrix][, cold], counts at SHAPE[, VARIANT]: RUNG…")
    rungs, timed = names.split(), {}
    if files and matrices:
        for row in rows_of(files, op, True):
            if not row.shape and not row.rival:
                timed.setdefault(matrix_table.label(row), {})[row.rung] = row
        if not timed:
            raise Fault(f"{files}: no rows of a matrix without a shape")
    elif files and shape:
        timed[shape] = {row.rung: row for row in rows_at(files, op, shape) if not row.rival}
    times, rows = times_of(files, op, rungs, timed, cold)
    explained = explain([f"{op.partition(':')[0]}/{rung}" for rung in rungs],
                        ["--shape", counted_at, *(["--variant", variant] if variant else [])])
    cells = by_matrix(rungs, explained, times) if matrices else of(rungs, explained, times.get(shape))
    return cells, caption(counted_at, variant, matrices or times and shape, cold), rows


def times_of(files, op, rungs, timed, cold):
    """(each place's Times, rows) of rows by place and rung."""
    rows, times = [], {}
    for place, of_place in timed.items():
        if absent := [rung for rung in rungs if rung not in of_place]:
            raise Fault(f"{files}: no row of {op}/{absent[0]} at {place}")
        rows += [of_place[rung] for rung in rungs]
        times[place] = [of_place[rung].cold if cold else of_place[rung].hot for rung in rungs]
    return times, rows


def steps(argument, rows_of, rows_at, explain):
    """((header, rows), the line below them, the rows that were read) of a block `steps`."""
    files, op, shape, matrices, cold, counted_at, variant, names = asked(
        rf"(?:({REPORT}) )?([\w:]+)(?: at (\d+(?:x\d+)*)| (by matrix))?(, cold)?, counts at (\d+(?:x\d+)*)"
        r"(?:, (\w+))?: (.+)", argument,
        "[FILES ]OP[ at SHAPE| by matrix][, cold], counts at SHAPE[, VARIANT]: RUNG…")
    rungs, timed = names.split(), {}
    if files and matrices:
        for row in rows_of(files, op, True):
            if not row.shape and not row.rival:
                timed.setdefault(matrix_table.label(row), {})[row.rung] = row
        if not timed:
            raise Fault(f"{files}: no rows of a matrix without a shape")
    elif files and shape:
        timed[shape] = {row.rung: row for row in rows_at(files, op, shape) if not row.rival}
    times, rows = times_of(files, op, rungs, timed, cold)
    explained = explain([f"{op.partition(':')[0]}/{rung}" for rung in rungs],
                        ["--shape", counted_at, *(["--variant", variant] if variant else [])])
    cells = by_matrix(rungs, explained, times) if matrices else of(rungs, explained, times.get(shape))
    return cells, caption(counted_at, variant, matrices or times and shape, cold), rows


def win(row, before, place, cold):
    """The cells of a timed rung beside the one before it: rates, or cold times."""
    times = [row.cold, before.cold] if cold else [row.hot, before.hot]
    texts = [time_text(time) for time in times] if cold else [row.rate_text(), before.rate_text()]
    return [row.name_cell, before.name_cell, place, *texts, f"{times[1].median / times[0].median:.2f}×"]


def wins(argument, rows_at):
    """((header, rows), the rows that were read) of a block `wins`."""
    files, op, cold, pairs = asked(rf"({REPORT}(?:,{REPORT})*) ([\w:= ]+?)(, cold)?: (.+)", argument,
                                   "FILES OP[, cold]: RUNG over RUNG at SHAPE; …")
    details = "".join(f", {word}" for word in op.partition(":")[2].split() if "=" in word)  # such as batch=100
    cells, shown = [], []
    for pair in pairs.split("; "):
        rung, other, shape = asked(r"(\w+) over (\w+) at (\d+(?:x\d+)*)", pair, "RUNG over RUNG at SHAPE")
        timed = {row.rung: row for row in rows_at(files, op, shape) if (row.cold if cold else row.hot)}
        if rung not in timed or other not in timed:
            raise Fault(f"{files}: {rung} or {other} was not timed at {shape}")
        cells.append(win(timed[rung], timed[other], shape_label(timed[rung].shape) + details, cold))
        shown += [timed[rung], timed[other]]
    return (["rung", "over", "at", "cold time" if cold else "TFLOP/s", "from", "faster"], cells), shown
