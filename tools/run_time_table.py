"""The tables of what benchmarks/run_time_compilation measured: sizes, epilogues, reductions, costs."""

import statistics


def median(contestant):
    return statistics.median(contestant["samples_s"])


def micros(seconds):
    text = f"{seconds * 1e6:.3g}" if seconds < 1e-3 else f"{seconds * 1e6:,.0f}"
    return f"{text} µs"


def readable(seconds):
    if seconds < 1e-6:
        return f"{seconds * 1e9:.0f} ns"
    return micros(seconds) if seconds < 1e-3 else f"{seconds * 1e3:,.3g} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def times(before, after):
    return f"{before / after:.2f}"


def by_name(row):
    return {contestant["name"]: median(contestant) for contestant in row["contestants"]}


def shape(row):
    return f"{row['m']}×{row['n']}×{row['k']}"


def sizes(report):
    rows = []
    for row in report["sizes"]:
        of = by_name(row)
        tile = next(each["tile"] for each in row["contestants"] if each.get("chosen"))
        general, variables, constants = of["row_07_register_parity"], of[f"variables, {tile}"], of[f"constants, {tile}"]
        rows.append([shape(row), micros(general), micros(of["library, CUDA cores"]), tile.replace("x", "×"),
                     micros(variables), micros(constants), times(variables, constants), times(general, constants)])
    header = ["m×n×k", "row_07", "library on CUDA cores", "tile", "sizes as variables", "as constants",
              "gain of constants", "gain over row_07"]
    return header, rows


def epilogues(report):
    names = ["CUDA cores: sgemm", "CUDA cores: sgemm, then a pass", "CUDA cores: sgemm_epilogue", "accurate: sgemm",
             "accurate: sgemm_epilogue"]
    rows = [[shape(row), *(micros(by_name(row)[name]) for name in names)] for row in report["epilogues"]]
    return ["m×n×k", *names], rows


def reductions(report):
    names = ["reduce, max", "reduce_with, a > b ? a : b"]
    rows = [[f"{row['n']:,}", *(micros(by_name(row)[name]) for name in names)] for row in report["reductions"]]
    return ["n", *(f"`{name}`" for name in names)], rows


def costs(report):
    rows = [[row["kernel"], f"{row['code_bytes']:,} B",
             *(readable(statistics.median(row[key])) for key in ("cold_s", "from_disk_s", "in_process_s"))]
            for row in report["costs"]]
    return ["kernel", "code", "compiled", "from the cache on disk", "again in the process"], rows


TABLES = {"sizes": sizes, "epilogues": epilogues, "reductions": reductions, "costs": costs}


def of(report, what):
    """(header, rows, how many columns are names). Raises KeyError and its like for what is no such report."""
    header, rows = TABLES[what](report)
    if not rows:
        raise ValueError(f"it holds no {what}")
    return header, rows, 1


def caption(report):
    return f"{report['gpu']}, NVRTC {report['nvrtc']}, commit {report['commit']}."
