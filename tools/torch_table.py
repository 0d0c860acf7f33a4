"""Tables, and the picture, of what benchmarks/torch measured: stock PyTorch and warpladder."""

import importlib.util
import shlex
from pathlib import Path

DRAW = Path(__file__).resolve().parents[1] / "benchmarks" / "torch" / "draw.py"
CAPTION = ("Medians of whole steps; products: their share of the GPU's busy time in a profiled step; loss: the "
           "largest relative difference of the two curves.")


def checked(reports):
    """(file, JSON) pairs as they are. Raises ValueError where one is no report of these benchmarks, or they
    are of different GPUs."""
    for file, report in reports:
        if report.get("schema_version") != 1 or report.get("program") not in ("gpt", "mlp", "gram", "operators"):
            raise ValueError(f"{file} is no report of benchmarks/torch with schema_version 1")
    if len({report["gpu"]["GPU"] for _, report in reports}) > 1:
        raise ValueError("the reports are of different GPUs")
    return reports


def milliseconds(seconds):
    return f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.1f}"


def share(run):
    busy = run["products_s"] + run["other_s"]
    return f"{100 * run['products_s'] / busy:.0f} %" if busy else "–"


def programs(reports):
    """(header, rows) of the programs that were compared with stock PyTorch."""
    header = ["program", "PyTorch, ms", "products", "warpladder, ms", "products", "times as fast",
              "PyTorch, GiB", "warpladder, GiB", "loss"]
    rows = []
    for _, report in checked(reports):
        for row in report["rows"]:
            stock, ours = row["stock"], row["warpladder"]
            rows.append([row["label"], milliseconds(stock["median_s"]), share(stock),
                         milliseconds(ours["median_s"]), share(ours), f"{row['speedup']:.2f}",
                         f"{stock['peak_bytes'] / 2**30:.2f}", f"{ours['peak_bytes'] / 2**30:.2f}",
                         f"{row['losses_apart']:.0e}" if "losses_apart" in row else "–"])
    return header, rows


def operators(reports):
    """(header, rows) of the operators' times on the GPU."""
    rows = [[row["label"], f"{row['stock']['median_s'] * 1e6:.1f}", f"{row['warpladder']['median_s'] * 1e6:.1f}",
             f"{row['speedup']:.2f}"]
            for _, report in checked(reports) for row in report["rows"] if row["kind"] == "gpu"]
    return ["operator", "PyTorch, µs", "warpladder, µs", "times as fast"], rows


def host(reports):
    """(header, rows) of what a small call costs the host."""
    rows = [[row["label"], f"{row['median_s'] * 1e6:.1f}"]
            for _, report in checked(reports) for row in report["rows"] if row["kind"] == "host"]
    return ["128³, called as", "host, µs a call"], rows


TABLES = {"torch-programs": programs, "torch-operators": operators, "torch-host": host}


def captions(reports, link):
    """A line for each report; `link` makes one of a file."""
    for file, report in reports:
        libraries = ", ".join(f"{name} {version}" for name, version in report["libraries"].items())
        command = shlex.join(Path(word).name if "/" in word else word for word in report["argv"])
        yield (f"{report['gpu']['GPU']}, driver {report['gpu']['driver']}, {libraries}, {report['date'][:10]}, "
               f"recording: {link(file)}, `{command}`.")


def picture(reports):
    spec = importlib.util.spec_from_file_location("draw_torch", DRAW)
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    return draw.picture([report for _, report in reports])
