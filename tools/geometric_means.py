"""Geometric means of shares, as a line below a table."""

import math
import statistics

from bench_reports import Fault, by_elements, percent, rounded
from table_text import shape_label


def geomean_lines(files, pairs, least, most):
    """Of rungs alone; where there are several, of the fastest at each shape and variant."""
    best = {}
    for row, beside, share in pairs:
        if share and not row.rival and int(least or 0) <= math.prod(row.shape) <= int(most or 2**63):
            key = (row.op, row.shape)
            best[key] = max(best.get(key, (0,)), (share, row, beside), key=lambda found: found[0])
    if not best:
        raise Fault(f"{files}: no shares of which to take a geometric mean")
    shares_found = [share for share, _, _ in best.values()]
    worst = min(best.values(), key=lambda found: found[0])
    rungs = {row.rung for row, _, _ in pairs if not row.rival}
    who = f"`{rungs.pop()}`" if len(rungs) == 1 else "the fastest rung at each"
    shapes = by_elements(row for _, row, _ in best.values())
    where = f", {shape_label(shapes[0])} to {shape_label(shapes[-1])}" if least else ""
    variant = worst[1].op.partition(":")[2] if len({op for op, _ in best}) > 1 else ""
    place = (f"`{variant}` " if variant else "") + f"at {shape_label(worst[1].shape)}"
    # A mean of many is known better than each of them.
    mean = rounded(100 * statistics.geometric_mean(shares_found), 3)
    yield (f"Geometric mean of {who}, {len(best)} shares{where}: {mean} %; "
           f"the least: {percent(worst[0], *worst[1:])}, {place}.")
