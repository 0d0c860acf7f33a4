"""The table of what the executor counts of rungs, as `warpladder explain` says it."""

from explained import explanations
from table_text import table


def counts(program, root, argument):
    """The table for `argument`, as in `RUNG... at SHAPE`. Raises Fault with what the program says."""
    rungs, _, matrix = argument.partition(" on ")
    rungs, _, place = rungs.partition(" at ")
    shape, _, variant = place.partition(", ")
    asked_for = (["--matrix", matrix] if matrix else
                 ["--shape", shape, *(["--variant", variant] if variant else [])])
    header = ["rung", "global sectors", "shared wavefronts", "barriers", "shuffles",
              "FMAs per sector", "FMAs per wavefront", "prediction", "lanes per load",
              "sectors per load", "copy engine bytes", "tensor core FMAs"]
    rows, some = [], set()  # totals that are not 0 of every rung
    names = rungs.split()
    for rung, explained in zip(names, explanations(program, root, names, asked_for)):
        some |= set(filter((t := explained["totals"]).get, t))
        sectors = t["global_load_sectors"] + t["global_store_sectors"]
        wavefronts = t["shared_load_wavefronts"] + t["shared_store_wavefronts"]
        # Of a matrix without a shape there is no prediction.
        holds = "" if matrix else "holds" if explained["prediction"]["holds"] else "differs"
        load = explained["global_load"]
        rows.append([f"`{rung.split('/')[1]}`", f"{sectors:,}", f"{wavefronts:,}", f"{t['barriers']:,}",
                     f"{t['shuffles']:,}", f"{t['fmas'] / sectors:.1f}" if sectors and t["fmas"] else "",
                     f"{t['fmas'] / wavefronts:.1f}" if wavefronts and t["fmas"] else "", holds,
                     f"{load['lanes']:.1f}", f"{load['sectors']:.1f}",
                     f"{t['bulk_bytes']:,}", f"{t['tensor_fmas']:,}"])
    # An operator that only moves bytes has no FMAs to show; few rungs shuffle or use tensor cores.
    # Rows of unlike lengths show in the lanes that a load has, and in what it touches.
    shown = ([0, 1, 8, 9, 2, 3, 4] if matrix else
             [0, 1, 2, 3, *[4] * ("shuffles" in some), *[5, 6] * ("fmas" in some),
              *[10, 11] * bool(some & {"bulk_bytes", "tensor_fmas"}), 7])
    header, *rows = ([cells[i] for i in shown] for cells in (header, *rows))
    return table(header, rows)
