#!/usr/bin/env python3
"""Fills the generated blocks of the documents: generate_tables.py PROGRAM [--check] [FILE.md...]

A block stands between two comments; the first says what it holds:
  <!-- counts: sgemm/row_01_naive sgemm/row_02_block_tile at 256x256x256 -->
  <!-- counts: sgemv/01_thread_per_output at 1024x1024, row_t -->
  <!-- counts: spmv/01_scalar spmv/02_vector on rmat:scale=14,edge=16 -->
  <!-- times: results/FOLDER/bench.json sgemm at 4096x4096x4096 -->
  <!-- times-by-size: results/FOLDER/bench.json,results/FOLDER/more.json sgemm -->
  <!-- shares: results/FOLDER/bench.json transpose of memcpy -->
  <!-- shares: results/FOLDER/bench.json reduce:sum of cub, geomean 1024..4194304 -->
  <!-- shares-by-variant: results/FOLDER/bench.json sgemv/07_by_shape of cublas, geomean -->
  <!-- shares-by-matrix: results/FOLDER/bench.json spmv -->
  <!-- medians: results/FOLDER/bench.json warp, in a graph -->
  <!-- climb: results/FOLDER/bench.json sgemm/row_ at 4096x4096x4096 to climb.svg -->
  <!-- accuracy: results/FOLDER/sgemm_accuracy.json.xz sgemm/row_08_double sgemm/tc_10_full_range on uniform to accuracy.svg -->
  <!-- register-order: results/FOLDER/register_order.json results/FOLDER/register_banks.json -->
  <!-- profile: results/FOLDER/ncu.csv results/FOLDER/ncu_launches.json -->
  <!-- speedups: results/FOLDER/every_shape.json,results/OTHER/every_shape.json sgemm/dispatch -->
  <!-- torch-programs: results/FOLDER/gpt.json,results/FOLDER/mlp.json to torch_programs.svg -->
  <!-- torch-operators: results/FOLDER/operators.json -->
  <!-- torch-host: results/FOLDER/operators.json -->
  <!-- compile: results/FOLDER/normalise.json maths -->
  <!-- tuning: results/FOLDER/tune.json results/FOLDER/tune_again.json -->
  <!-- steps: results/FOLDER/bench.json transpose at 4096x4096, cold, counts at 64x64: 01_naive 02_x -->
  <!-- steps: results/FOLDER/bench.json spmv by matrix, cold, counts at 4096x4096x32: 01_scalar 02_vector -->
  <!-- steps: reduce, counts at 4096: 01_divergent_tree 02_sequential_addressing -->
  <!-- wins: results/FOLDER/bench.json sgemm: tc_09_x over tc_08_y at 1024x1024x1024; tc_07_z over … -->
  <!-- wins: results/FOLDER/bench.json transpose, cold: 11_x over 09_y at 50000x777 -->
  <!-- plan-wins: results/FOLDER/plan_times.json.xz: row_23_x over row_16_y at tt 7x92x72 batch 2791; … -->
  <!-- speed-error: results/FOLDER/bench.json sgemm at 64x64x64, results/FOLDER/accuracy.json positive k=64 to x.svg -->
  <!-- run-time: results/FOLDER/run_time_compilation.json sizes -->
  <!-- end -->
`counts` asks the program to explain each rung; `times`, `times-by-size`, `shares`,
`shares-by-variant`, `shares-by-matrix`, `medians` and `climb` read reports of `bench --device gpu`. Where several reports
hold the same rung and shape, the first counts. Shares and medians are of cold samples, or of launches
in a graph; `geomean` adds the shares' geometric mean and the least of them, of all shapes or of those
with so many elements. `climb` and `accuracy` draw a picture, named relative to the document. `register-order`
sets what the benchmark of that name measured beside what tools/register_banks.py says of its kernels.
`profile` shows the hardware's counters. `speedups` shows reports of `bench --shapes`, by class; `torch-…`
those of benchmarks/torch. `steps` shows what moved from rung to rung, `wins` a rung's gain where it is largest
(`plan-wins`: on products of benchmarks/plan_times), `speed-error` draws speed against error. `compile` shows a report of `build`: stages, fat-binary, kernels, maths,
separate or lines; one of benchmarks/compile_flow: measured; or one of `explain --sass`: machine-code. `run-time`
shows one of benchmarks/run_time_compilation: sizes, epilogues, reductions or costs. `tuning` shows what one run of `tune` found,
and whether it holds in another. With --check nothing is written, and a block or a picture that is not what would be
generated is an error.
"""

import dataclasses
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import compile_table
import counts_table
import draw_climb
import keep_recording
import matrix_table
import order_table
import plan_wins
import profile_table
import run_time_table
import speed_error
import speedup_table
import step_table
import torch_table
import tune_table
from bench_reports import (NONE, Fault, Report, baseline_from, by_elements, command_text, percent, rounded,
                           row_from)
from explained import explanations
from geometric_means import geomean_lines
from table_text import REPORT, asked, body, plain, shape_label, table, time_text

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("counts|accuracy|times|times-by-size|shares|shares-by-variant|shares-by-matrix|medians|climb|"
         "register-order|profile|speedups|torch-programs|torch-operators|torch-host|compile|run-time|tuning|steps|wins|"
         "plan-wins|speed-error")
GEOMEAN = r"(, geomean(?: (\d+)\.\.(\d+))?)?"
BLOCK = re.compile(rf"^(<!-- ({KINDS}): ([^\n]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL | re.MULTILINE)
OPENING = re.compile(rf"^<!-- (?:{KINDS}): ", re.MULTILINE)
# What is wrong with a file that is JSON but not as it should be.
MISSHAPEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)


@functools.cache  # many blocks show parts of one recording
def parsed(path, of_time):
    del of_time  # a file that was written again is read again
    return json.loads(keep_recording.text_of(path))


def read_json(file):
    if not file.startswith("results/") or ".." in Path(file).parts:
        raise Fault(f"{file}: recordings lie below results/")
    try:
        path = ROOT / file
        return parsed(path, path.stat().st_mtime_ns)
    except OSError:
        raise Fault(f"{file}: no such file, or not readable") from None
    except ValueError as error:
        raise Fault(f"{file}: not JSON: {error}") from None


def read_report(file):
    """The rows of one report, in its order."""
    data = read_json(file)
    if not isinstance(data, dict) or data.get("verb") != "bench" or data.get("schema_version") != 1:
        raise Fault(f"{file}: not a report of `warpladder bench` with schema_version 1")
    if data.get("target") != "gpu":
        raise Fault(f"{file}: its target is {data.get('target')}, and these tables are of GPU times")
    try:
        libraries = ", ".join(f"{name} {version}" for name, version in data["libraries"].items())
        ceilings = data.get("ceilings", {})  # left out where the program knows none
        baselines = {b["op"]: baseline_from(b) for b in data["baselines"]}
        report = Report(file, data["device"]["gpu"]["GPU"], data["date"][:10],
                        command_text(data["argv"]), libraries,
                        float(ceilings.get("fp32_flops_per_s") or 0) / 1e12, baselines, {})
        rows = [row_from(fields, report) for fields in data["rows"]]
    except MISSHAPEN as error:
        raise Fault(f"{file}: not as schema_version 1 has it: {error!r}") from None
    report.rivals.update({(row.op, row.rung, row.shape): row for row in rows if row.rival and row.hot})
    return rows


def rows_of(files, op, all_variants=False):
    """An operator's rows: rungs first, rivals last, otherwise in the order of the files."""
    found = {}
    for file in files.split(","):
        for row in read_report(file):
            if row.op == op or (all_variants and row.op.startswith(f"{op}:")):
                found.setdefault((row.op, row.rung, row.rival, row.shape), row)
    if not found:
        raise Fault(f"{files}: no rows of {op}")
    rows = sorted(found.values(), key=lambda row: row.rival)
    if len({row.report.gpu for row in rows}) > 1:
        raise Fault(f"{files}: measured on different GPUs, which one table cannot compare")
    return rows


def rows_at(files, op, shape_text):
    rows = rows_of(files, op)
    shape = tuple(int(size) for size in shape_text.split("x"))
    if not any(row.shape == shape for row in rows):
        there = ", ".join("x".join(map(str, s)) for s in sorted({row.shape for row in rows}))
        raise Fault(f"{files}: no rows of {op} at {shape_text}; there are {there}")
    return [row for row in rows if row.shape == shape]


def rival_of(rows):
    """What the rungs are measured against: cublas, or the first rival that was timed."""
    rivals = [row for row in rows if row.rival and row.hot]
    return next((row for row in rivals if row.rung == "cublas"), rivals[0] if rivals else None)


def reports_of(rows):
    return list({row.report.file: row.report for row in rows}.values())


def link(file, document):
    """To a recording, as a document names it."""
    return f"[{Path(file).name}]({Path(os.path.relpath(ROOT / file, document.parent)).as_posix()})"


def captions(rows, document):
    for report in reports_of(rows):
        measured = ", ".join(plain(t) for t in (report.gpu, report.libraries, report.date) if t)
        yield f"{measured}, recording: {link(report.file, document)}, `{report.command}`."


def counts(program, argument):
    return counts_table.counts(program, ROOT, argument)


def times(argument, document):
    rows = rows_at(*asked(r"(\S+) ([\w:]+) at (\d+(?:x\d+)*)", argument, "FILES OP at MxNxK"))
    rival = rival_of(rows)
    cells, remarks, scaled = [], [], set()
    for row in rows:
        if row.untimed:
            cells.append([row.name_cell, row.untimed[0], *[NONE] * 5])
            remarks.append(f"`{row.rung}`: {row.untimed[0]}: {plain(row.untimed[1])}")
            continue
        ceiling, serial, speed_up = row.report.ceiling, row.report.baselines.get(row.op), NONE
        if serial:
            shape, seconds_per_flop, digits = serial
            scaled.add(shape)
            speed_up = seconds_per_flop * row.teraflops * 1e12
            speed_up = rounded(speed_up, min(row.hot.digits, digits, 3)) + "×"
        cells.append([row.name_cell, time_text(row.hot), row.rate_text(), row.share_text(rival),
                      percent(row.teraflops / ceiling, row) if ceiling else NONE, speed_up,
                      time_text(row.cold) if row.cold else NONE])
    against = f"of {rival.rung if rival else 'cublas'}"
    header = ["rung", "time", "TFLOP/s", against, "of the FP32 ceiling", "× serial CPU", "cold"]
    lines = ["Medians; cold: operands in memory, not in the L2 cache. Shares are of the same run."]
    if scaled:
        shapes = ", ".join(shape_label(shape) for shape in sorted(scaled))
        lines.append(f"Serial CPU measured at {shapes}, scaled by flops.")
    return body(table(header, cells), remarks, [*lines, *captions(rows, document)])


def remarks_on(rows):
    """Why rows were not timed."""
    shapes, untimed = by_elements(rows), {}
    for row in rows:
        if row.untimed:
            untimed.setdefault((row.rung, *row.untimed), []).append(row.shape)
    for (rung, word, reason), missing in untimed.items():
        at = ", ".join(shape_label(shape) for shape in shapes if shape in missing)
        where = "" if len(missing) == len(shapes) else f" at {at}"
        yield f"`{rung}`{where}: {word}: {plain(reason)}"


def times_by_size(argument, document):
    rows = rows_of(*asked(r"(\S+) ([\w:]+)", argument, "FILES OP"))
    shapes, cells = by_elements(rows), {}
    for row in rows:
        line = cells.setdefault((row.rung, row.rival), [row.name_cell, *[NONE] * len(shapes)])
        line[1 + shapes.index(row.shape)] = row.untimed[0] if row.untimed else row.rate_text()
    header = ["TFLOP/s", *(shape_label(shape) for shape in shapes)]
    return body(table(header, cells.values()), remarks_on(rows), captions(rows, document))


def sampled(row, in_graph):
    """The row with the times that a table asks for in place of the hot ones."""
    return dataclasses.replace(row, hot=row.graph if in_graph else row.cold)


def grid(corner, rows, text_of):
    """A line a rung and a column a shape, or the other way where many columns do not fit a page."""
    shapes, lines = by_elements(rows), {}
    for row in rows:
        line = lines.setdefault((row.rung, row.rival), [row.name_cell, *[NONE] * len(shapes)])
        line[1 + shapes.index(row.shape)] = text_of(row)
    cells = [[corner, *(shape_label(shape) for shape in shapes)], *lines.values()]
    if len(shapes) > len(lines):
        cells = [list(column) for column in zip(*cells)]
    return table(cells[0], cells[1:])


def samples_line(in_graph):
    return ("Medians of launches one after another in a captured graph: operands in the L2 cache."
            if in_graph else "Medians of cold samples: operands in memory, not in the L2 cache.")


def compared(files, rows, other, in_graph):
    """For each row [itself, the rival's row, the share or None], and what to say of the rival."""
    anywhere = {(row.op, row.rung, row.shape): row for row in rows if row.rival and row.hot}
    pairs, apart = [], False
    for row in rows:
        key = (row.op, other, row.shape)
        beside = row.report.rivals.get(key)
        if beside is None:  # a rival that no program of ours can call has a report of its own
            beside = anywhere.get(key)
            apart = apart or beside is not None
        if beside is None:
            raise Fault(f"{files}: {other} was not timed at {shape_label(row.shape)}")
        row, beside = sampled(row, in_graph), sampled(beside, in_graph)
        share = beside.hot.median / row.hot.median if row.hot and beside.hot else None
        if row.hot or row.untimed:
            pairs.append((row, beside, share))
    if not pairs:
        raise Fault(f"{files}: none of these rows has such samples")
    return pairs, [f"`{other}` ran in a process of its own."] if apart else []


def share_text(row, beside, share):
    return row.untimed[0] if row.untimed else percent(share, row, beside) if share else NONE


def shares(argument, document):
    """Of an operator that moves bytes: its times, in % of what a probe or rival took."""
    files, op, other, in_graph, geomean, least, most = asked(
        r"(\S+) ([\w:]+) of (\w+)(, in a graph)?" + GEOMEAN, argument,
        "FILES OP of RIVAL[, in a graph][, geomean[ LEAST..MOST]]")
    pairs, lines = compared(files, rows_of(files, op), other, in_graph)
    texts = {(row.rung, row.rival, row.shape): share_text(row, *rest) for row, *rest in pairs}
    rows = [row for row, _, _ in pairs]
    lines = [samples_line(in_graph), *lines,
             *(geomean_lines(files, pairs, least, most) if geomean else []), *captions(rows, document)]
    cells = grid(f"% of {other}", rows, lambda row: texts[row.rung, row.rival, row.shape])
    return body(cells, remarks_on(rows), lines)


def shares_by_variant(argument, document):
    """Of one rung: a line a shape, a column a variant."""
    files, op, rung, other, geomean, least, most = asked(
        r"(\S+) (\w+)/(\w+) of (\w+)" + GEOMEAN, argument,
        "FILES OP/RUNG of RIVAL[, geomean[ LEAST..MOST]]")
    rows = [row for row in rows_of(files, op, True) if row.rung == rung]
    if not rows:
        raise Fault(f"{files}: no rows of {op}/{rung}")
    pairs, lines = compared(files, rows, other, None)
    variants = list(dict.fromkeys(row.op for row in rows))
    cells = {shape: [shape_label(shape), *[NONE] * len(variants)] for shape in by_elements(rows)}
    for row, beside, share in pairs:
        cells[row.shape][1 + variants.index(row.op)] = share_text(row, beside, share)
    header = [f"`{rung}`, % of {other}", *(f"`{variant.partition(':')[2]}`" for variant in variants)]
    lines = [samples_line(None), *lines,
             *(geomean_lines(files, pairs, least, most) if geomean else []), *captions(rows, document)]
    return body(table(header, cells.values()), remarks_on(rows), lines)


def shares_by_matrix(argument, document):
    files, op = asked(r"(\S+) (\w+)", argument, "FILES OP")
    rows = [sampled(row, None) for row in rows_of(files, op, True) if not row.shape]
    try:
        header, cells = matrix_table.shares(rows)
    except ValueError as error:
        raise Fault(f"{files}: {error}") from None
    lines = [samples_line(None), *captions(rows, document)]
    return body(table(header, cells), remarks_on(rows), lines)


def medians(argument, document):
    files, op, in_graph = asked(r"(\S+) ([\w:]+)(, in a graph)?", argument, "FILES OP[, in a graph]")
    found = (sampled(row, in_graph) for row in rows_of(files, op))
    rows = [row for row in found if row.hot]
    if not rows:
        raise Fault(f"{files}: none of these rows has such samples")
    return body(grid("time", rows, lambda row: time_text(row.hot)), [],
                [samples_line(in_graph), *captions(rows, document)])


def keep_picture(picture, name, document, pictures):
    target = Path(os.path.normpath(document.parent / name))
    if ROOT not in target.parents or not target.parent.is_dir():
        raise Fault(f"{name} lies in no folder of the repository")
    if pictures.setdefault(target, picture) != picture:
        raise Fault(f"{name} is another picture too")


def accuracy(program, argument, document, pictures):
    """Errors against k, as the program draws them; adds the picture's text to `pictures`."""
    file, rungs, distributions, name = asked(
        rf"({REPORT}) ((?:\w+/\w+ )+)on ([\w,]+) to (\S+\.svg)", argument,
        "RECORDING.json OP/RUNG... on DISTRIBUTIONS to PICTURE.svg")
    data = read_json(file)
    with tempfile.TemporaryDirectory() as folder:
        drawn, recorded = Path(folder) / "drawn.svg", Path(folder) / "recorded.json"
        recorded.write_text(json.dumps(data), encoding="utf-8")
        done = subprocess.run([program, "accuracy", *rungs.split(), "--recorded", str(recorded), "--distribution",
                               distributions, "--svg", str(drawn)], capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise Fault(f"{file}: {done.stderr.strip()}")
        keep_picture(drawn.read_text(encoding="utf-8"), name, document, pictures)
    try:
        measured = f"{data['device']['gpu']['GPU']}, {data['date'][:10]}"
    except MISSHAPEN as error:
        raise Fault(f"{file}: not as `accuracy --json` writes it: {error!r}") from None
    return (f"![Error against k, on {distributions.replace(',', ', ').replace('_', ' ')}]({name})\n\n{measured}, "
            f"recording: {link(file, document)}, which holds more rungs and distributions.\n")


def climb(argument, document, pictures):
    """Adds the picture's text to `pictures`."""
    files, prefix, other, shape, name = asked(
        r"(\S+) (\w+(?::\w+)?/?\w*)(?: but (\w+))? at (\d+(?:x\d+)*) to (\S+\.svg)", argument,
        "FILES OP/PREFIX [but PREFIX] at MxNxK to PICTURE.svg")
    rows = rows_at(files, prefix.partition("/")[0], shape)
    ladder = sorted((row for row in rows if not row.rival
                     and f"{row.op}/{row.rung}".startswith(prefix)
                     and not (other and row.rung.startswith(other))), key=lambda row: row.rung)
    drawn = [row for row in ladder if row.hot]
    if not drawn:
        raise Fault(f"{files}: no rung of {prefix} was timed at {shape}")
    title = f"{drawn[0].op.replace(':', ' ')} at {shape.replace('x', '×')}"
    drawing = draw_climb.of_rows(title, drawn, rival_of(rows))
    picture = draw_climb.svg(drawing)
    keep_picture(picture, name, document, pictures)
    sources = ", ".join({link(source.file, document): 0 for source in reports_of(drawn)})
    caption = f"{plain(drawn[0].report.gpu)}, {drawing.title}, recording: {sources}."
    left_out = [f"`{row.rung}` ({row.untimed[0]}: {plain(row.untimed[1])})" for row in ladder
                if row.untimed]
    caption += f" Not drawn: {', '.join(left_out)}." if left_out else ""
    return f"![{plain(drawing.story)}]({name})\n\n{caption}\n"


def register_order(argument, document):
    files = asked(rf"({REPORT}) ({REPORT})", argument, "register_order.json register_banks.json")
    try:
        header, cells, rows = order_table.of(*((file, read_json(file)) for file in files))
    except ValueError as error:
        raise Fault(str(error)) from None
    lines = [f"Medians; the peak is {rounded(rows[0].report.ceiling, 3)} TFLOP/s. The model is that of "
             "`tools/register_banks.py`.", *captions(rows, document)]
    return body(table(header, cells, 2), [], lines)


def profile(argument, document):
    files = asked(rf"(\S+\.csv) ({REPORT})", argument, "COUNTERS.csv LAUNCHES.json")
    paths = [ROOT / file for file in files]
    try:
        header, rows = profile_table.profiled(*paths)
    except OSError as error:
        raise Fault(f"{Path(error.filename).name}: no such file, or not readable") from None
    except MISSHAPEN as error:
        raise Fault(str(error)) from None
    return body(table(header, rows), [], [f"Recording: {link(files[0], document)}."])


def speedups(argument, document):
    files, op, rung = asked(rf"({REPORT}(?:,{REPORT})*) (\w+)/(\w+)", argument,
                            "REPORT.json[.xz][,REPORT.json[.xz]] OP/RUNG")
    first_rows, reports = [], []
    for file in files.split(","):
        rows = read_report(file)
        if not any(row.rung == rung and row.op.split(":")[0] == op for row in rows):
            raise Fault(f"{file}: no row of {op}/{rung}")
        first_rows.append(rows[0])
        reports.append((file, read_json(file)))
    try:
        header, rows = speedup_table.by_class(reports, rung)
    except MISSHAPEN as error:
        raise Fault(f"{files}: not as `bench --shapes` writes it: {error!r}") from None
    return body(table(header, rows), [], [speedup_table.CAPTION, *captions(first_rows, document)])


def of_torch(kind, argument, document, pictures):
    files, name = asked(rf"({REPORT})(?: to (\S+\.svg))?", argument, "REPORT.json[,REPORT.json] [to PICTURE.svg]")
    reports = [(file, read_json(file)) for file in files.split(",")]
    try:
        header, rows = torch_table.TABLES[kind](reports)
        lines = list(torch_table.captions(reports, lambda file: link(file, document)))
        if name:
            pictures[Path(os.path.normpath(document.parent / name))] = torch_table.picture(reports)
    except MISSHAPEN as error:
        raise Fault(f"{files}: not as benchmarks/torch writes it: {error!r}") from None
    lines = [torch_table.CAPTION, *lines] if kind == "torch-programs" else lines
    image = f"![{'; '.join(f'{row[0]}: {row[5]} times as fast' for row in rows)}]({name})\n\n" if name else ""
    return image + body(table(header, rows), [], lines)


def compiled(argument, document, kind=compile_table):
    file, what = asked(rf"({REPORT}) ({'|'.join(kind.TABLES)})", argument, "REPORT.json WHAT")
    report = read_json(file)
    try:
        header, rows, names = kind.of(report, what)
        lines = [f"{kind.caption(report)} Recording: {link(file, document)}."]
    except MISSHAPEN as error:
        raise Fault(f"{file}: no report for a {kind.__name__}: {error!r}") from None
    return body(table(header, rows, names), [], lines)


def compiled_at_run_time(argument, document):
    return compiled(argument, document, run_time_table)


def tuning(argument, document):
    files = asked(rf"({REPORT}) ({REPORT})", argument, "FIRST.json SECOND.json")
    reports = [read_json(file) for file in files]
    try:
        cells, gains = tune_table.of(*reports)
        lines = tune_table.summary(reports[0], gains)
    except MISSHAPEN as error:
        raise Fault(f"{' '.join(files)}: not as `tune --json` writes it: {error}") from None
    lines.append(f"Recordings: {', '.join(link(file, document) for file in files)}.")
    return body(table(tune_table.HEADER, cells, tune_table.NAMES), [], lines)


def steps(program, argument, document):
    explain = functools.partial(explanations, program, ROOT)
    cells, line, rows = step_table.steps(argument, rows_of, rows_at, explain)
    return body(table(*cells), [], [line, *captions(rows, document)])


def wins(argument, document):
    cells, rows = step_table.wins(argument, rows_at)
    return body(table(*cells), [], captions(rows, document))


def wins_of_plans(argument, document):
    cells, lines = plan_wins.wins(argument, read_json, lambda file: link(file, document))
    return body(table(*cells), [], lines)


def speed_against_error(argument, document, pictures):
    files, op, shape, errors, distribution, k, name = asked(
        r"(\S+) ([\w:]+) at (\d+x\d+x\d+), (\S+) (\w+) k=(\d+) to (\S+\.svg)", argument,
        "FILES OP at MxNxK, ACCURACY DISTRIBUTION k=K to PICTURE.svg")
    try:
        found = speed_error.errors_of(read_json(errors), distribution, int(k))
    except MISSHAPEN as error:
        raise Fault(f"{errors}: not as `accuracy --json` writes it: {error!r}") from None
    drawn = [row for row in rows_at(files, op, shape) if row.hot and row.rung in found]
    if not drawn:
        raise Fault(f"{errors}: no error of a rung that was timed at {shape}")
    subtitle = f"{drawn[0].report.gpu} · speed at {shape.replace('x', '×')} · error by the norm, " \
               f"{distribution} operands, m = n = 256, k = {k}"
    told, picture = speed_error.svg(f"Speed against error: {op.partition(':')[0]}", subtitle,
                                    [(r.rung, r.teraflops, found[r.rung], r.rival) for r in drawn])
    keep_picture(picture, name, document, pictures)
    return f"![Speed against error, {plain(told)}]({name})\n\n" + "\n".join(captions(drawn, document)) + "\n"


def refreshed(program, path, pictures):
    """A document's text with its blocks filled anew."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise Fault(f"{shown(path)}: no such document, or not readable") from None

    def filled(match):
        opening, kind, argument, _, end = match.groups()
        try:
            if kind == "counts":
                return opening + counts(program, argument) + end
            if kind == "steps":
                return opening + steps(program, argument, path) + end
            if kind == "climb":
                return opening + climb(argument, path, pictures) + end
            if kind == "accuracy":
                return opening + accuracy(program, argument, path, pictures) + end
            if kind == "speed-error":
                return opening + speed_against_error(argument, path, pictures) + end
            if kind.startswith("torch-"):
                return opening + of_torch(kind, argument, path, pictures) + end
            tables = {"times": times, "times-by-size": times_by_size, "shares": shares,
                      "shares-by-variant": shares_by_variant, "shares-by-matrix": shares_by_matrix,
                      "medians": medians, "speedups": speedups, "compile": compiled,
                      "run-time": compiled_at_run_time, "tuning": tuning,
                      "register-order": register_order, "profile": profile, "wins": wins, "plan-wins": wins_of_plans}
            return opening + tables[kind](argument, path) + end
        except Fault as fault:
            raise Fault(f"{shown(path)}: {fault}") from None

    blocks = list(BLOCK.finditer(text))
    if len(blocks) != len(OPENING.findall(text)):
        raise Fault(f"{shown(path)}: a generated block lacks its <!-- end -->")
    return text, BLOCK.sub(filled, text)


def shown(path):
    return path.relative_to(ROOT) if ROOT in path.parents else path


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__)
        return 0
    check = "--check" in arguments
    program, *files = [a for a in arguments if a != "--check"] or [""]
    if not program or program.startswith("-"):
        print(f"generate_tables: {program!r} is no program; --help says how it is called",
              file=sys.stderr)
        return 2
    program = str(Path(program).resolve())
    paths = [Path(f).resolve() for f in files] or [
        p for p in sorted(ROOT.rglob("*.md")) if not p.relative_to(ROOT).parts[0].startswith("build")]
    fresh, pictures = {}, {}
    try:
        for path in paths:
            old, new = refreshed(program, path, pictures)
            if old != new:
                fresh[path] = new
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    for path, picture in pictures.items():
        if not path.is_file() or path.read_bytes() != picture.encode():
            fresh[path] = picture
    for path, text in fresh.items():
        if check:
            what = "this picture is missing or" if path in pictures else "a generated block is"
            print(f"{shown(path)}: {what} stale; run tools/generate_tables.py")
        else:
            path.write_bytes(text.encode())
            print(f"wrote {shown(path)}")
    return 1 if check and fresh else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
