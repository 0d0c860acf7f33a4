"""The block `plan-wins`: a rung's gain on a product of benchmarks/plan_times, beside cuBLAS."""

from bench_reports import Fault, Times, command_text
from table_text import REPORT, asked, plain, time_text

HEADER = ["rung", "over", "product", "time", "from", "faster", "cuBLAS"]
CALM = 0.05  # cuBLAS's times of two runs may differ by so much, or one of both was disturbed


def label(product, batch):
    transposes, shape = product.split(" ")
    return f"{transposes.upper()} {shape.replace('x', '×')}{f', {int(batch):,} products' if batch else ''}"


def read(file, report, times):
    """Adds a recording's times to {(product, batch): {rung: (time, cuBLAS's, file)}}: the first one counts."""
    if report.get("program") != "plan_times":
        raise Fault(f"{file}: not a report of plan_times")
    for row in report["rows"]:
        of_rungs = times.setdefault((row["product"], row.get("batch")), {})
        for rung, taken in zip(report["rungs"], row["times"]):
            if taken:
                of_rungs.setdefault(rung, (taken[1] * report["unit_s"], row["cublas"] * report["unit_s"], file))


def time_cell(seconds):
    return time_text(Times(seconds, seconds * 0.998, seconds * 1.002))  # three digits


def wins(argument, read_json, link):
    """((header, rows), the lines below them)."""
    files, pairs = asked(rf"({REPORT}(?:,{REPORT})*): (.+)", argument,
                         "FILES: RUNG over RUNG at PRODUCT[ batch N]; …")
    times, reports, cells, used = {}, {file: read_json(file) for file in files.split(",")}, [], set()
    try:
        for file, report in reports.items():
            read(file, report, times)
        gpus = {report["gpu"] for report in reports.values()}
    except (KeyError, TypeError, ValueError) as error:
        raise Fault(f"{file}: not as plan_times writes it: {error!r}") from None
    if len(gpus) > 1:
        raise Fault(f"{files}: measured on different GPUs, which one table cannot compare")
    for pair in pairs.split("; "):
        rung, other, product, batch = asked(r"(\w+) over (\w+) at ([nt]{2} \d+x\d+x\d+)(?: batch (\d+))?", pair,
                                            "RUNG over RUNG at PRODUCT[ batch N]")
        timed = times.get((product, int(batch) if batch else None), {})
        if rung not in timed or other not in timed:
            raise Fault(f"{files}: {rung} or {other} was not timed at {label(product, batch)}")
        (time, cublas, file), (before, other_cublas, other_file) = timed[rung], timed[other]
        if abs(cublas / other_cublas - 1) > CALM:
            raise Fault(f"{files}: cuBLAS's times at {label(product, batch)} differ between {rung}'s run and {other}'s")
        used |= {file, other_file}
        cells.append([f"`{rung}`", f"`{other}`", label(product, batch), time_cell(time), time_cell(before),
                      f"{before / time:.2f}×", time_cell(cublas)])
    lines = ["A time is the geometric mean of a cold and a warm median. Transposes stand in front of m×n×k. Of two "
             f"runs, cuBLAS's times differ by at most {100 * CALM:.0f} %."]
    for file in files.split(","):
        if file in used:
            report = reports[file]
            command = command_text(["plan_times", *report["argv"][1:]])
            lines.append(f"{plain(report['gpu'])}, {report['date'][:10]}, recording: {link(file)}, `{command}`.")
    return (HEADER, cells), lines
