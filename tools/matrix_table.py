"""The table of `shares-by-matrix`: a line a matrix, a column a rung."""

import statistics
from pathlib import Path

from bench_reports import NONE, percent, rounded


def label(row):
    """What the matrix was made from; of a file its name."""
    text = row.op.partition(":")[2]
    return f"`{Path(text).name if text.endswith(('.mtx', '.mtx.gz')) else text}`"


def shares(rows):
    """(header, cells) of rows whose `hot` are the times that count, in % of the fastest rival."""
    matrices, rungs = {}, sorted({row.rung for row in rows if not row.rival})
    if not rows:
        raise ValueError("no rows of a matrix without a shape")
    for row in rows:
        matrices.setdefault(row.op, []).append(row)
    cells, all_shares = [], {rung: [] for rung in rungs}
    for found in matrices.values():
        rivals = [row for row in found if row.rival and not row.probe and row.hot]
        if not rivals:
            raise ValueError(f"no rival was timed on {label(found[0])}")
        best = min(rivals, key=lambda row: row.hot.median)
        line = {rung: NONE for rung in rungs}
        for row in found:
            if row.rival:
                continue
            if not row.hot:
                line[row.rung] = row.untimed[0] if row.untimed else NONE
                continue
            share = best.hot.median / row.hot.median
            line[row.rung] = percent(share, row, best)
            all_shares[row.rung].append(share)
        cells.append([label(found[0]), *line.values(), f"`{best.rung}`"])
    # Of a rung that some matrix lacks it would be the mean of other matrices.
    means = [f"{rounded(100 * statistics.geometric_mean(of_rung), 3)} %"
             if len(of_rung) == len(matrices) else NONE for of_rung in all_shares.values()]
    if len(matrices) > 1:
        cells.append(["geometric mean", *means, ""])
    return ["% of the best rival", *(f"`{rung}`" for rung in rungs), "best rival"], cells
