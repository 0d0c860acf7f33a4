"""The table of what `warpladder bench --shapes` says of one contestant, by class of shapes."""

from bench_reports import NONE

CAPTION = ("Times as fast as the fastest rival: geometric mean, and the slowest shape after the slash. Of a "
           "read probe: the least of shapes beyond the L2 cache.")


def ratios(speedups, caches):
    mean, slowest = speedups[f"{caches}_mean"], speedups[f"{caches}_slowest"]
    return NONE if mean is None else f"{mean:.2f} / {slowest:.2f}"


def of_probe(speedups):
    least = speedups["of_probe_least"]
    return NONE if least is None else f"{100 * least:.0f} %"


def by_class(reports, rung):
    """(header, rows) for (file, JSON) pairs. Raises ValueError where the contestant is missing, or the
    reports are of different shapes."""
    header, rows = ["class", "shapes"], {}
    for file, report in reports:
        views = [view for view in report.get("speedups", []) if view["rung"] == rung]
        if not views:
            raise ValueError(f"{file} holds no speed-ups of {rung}")
        gpu = report["device"]["gpu"]["GPU"].replace("NVIDIA ", "").split()[0]
        header += [f"{gpu}, hot", f"{gpu}, cold", f"{gpu}, of a read probe"]
        classes = [*views[0]["classes"], {"class": "all", **views[0]["all"]}]
        for of_class in classes:
            cells = rows.setdefault(of_class["class"], [of_class["class"], str(of_class["shapes"])])
            if cells[1] != str(of_class["shapes"]):
                raise ValueError(f"{file} has another number of shapes of {of_class['class']}")
            cells += [ratios(of_class, "hot"), ratios(of_class, "cold"), of_probe(of_class)]
    if len({len(cells) for cells in rows.values()}) > 1:
        raise ValueError("the reports are of different classes")
    return header, list(rows.values())
