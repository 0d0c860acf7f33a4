"""The tables of what `warpladder build` says of one source: stages, kernels, maths, separate, lines;
of what those flags do on a GPU: measured; and of what `explain --sass` says of a rung: machine-code."""

import statistics

from bench_reports import NONE


def size(count):
    return f"{count:,} B"


def seconds(value):
    return f"{value:.2f} s"


def instructions(kernel):
    return f"{sum(kernel['instructions'].values()):,}" if kernel["instructions"] else NONE


def spills(kernel):
    return size(kernel["spill_store_bytes"] + kernel["spill_load_bytes"])


def changes(before, after, most):
    """The instructions whose number differs, the largest differences first."""
    names = sorted({*before, *after})
    found = [(name, after.get(name, 0) - before.get(name, 0)) for name in names]
    found = sorted((change for change in found if change[1]), key=lambda change: -abs(change[1]))
    text = ", ".join(f"{difference:+} {name}".replace("-", "−", 1) for name, difference in found[:most])
    return (text + (", …" if len(found) > most else "")) or "nothing"


def stages(report):
    rows = [
        [f"sm_{each['architecture']}", stage["name"], stage["by"], size(stage["bytes"]), seconds(stage["seconds"])]
        for each in report["architectures"]
        for stage in each["stages"]
    ]
    fat = report["fat_binary"]
    rows.append(["all", fat["name"], fat["by"], size(fat["bytes"]), seconds(fat["seconds"])])
    return ["for", "stage", "by", "size", "time"], rows


def fat_binary(report):
    rows = [
        [entry["kind"], entry["arch"], "yes" if entry["compressed"] else "no"]
        for entry in report["fat_binary"]["holds"]
    ]
    return ["what", "for", "compressed"], rows


def occupancy(kernel):
    if "occupancy" not in kernel:
        return NONE
    return f"{100 * kernel['occupancy']['share']:.0f} %, {kernel['occupancy']['limiter']}"


def kernels(report):
    rows = [
        [f"sm_{each['architecture']}", f"`{kernel['name'].split('::')[-1]}`", str(kernel["registers"]),
         size(kernel["stack_bytes"]), spills(kernel), size(kernel["shared_bytes"]), str(kernel["threads"] or NONE),
         occupancy(kernel), instructions(kernel)]
        for each in report["architectures"]
        for kernel in each["kernels"]
    ]
    return ["for", "kernel", "registers", "stack", "spills", "shared", "threads", "occupancy", "instructions"], rows


def maths(report):
    rows = []
    for each in report["architectures"]:
        base = {kernel["symbol"]: kernel for kernel in each["maths"][0]["kernels"]}
        for way in each["maths"]:
            for kernel in way["kernels"]:
                beside = "" if way is each["maths"][0] else changes(
                    base[kernel["symbol"]]["instructions"], kernel["instructions"], 8)
                rows.append([f"`{way['flags']}`" if way["flags"] else "none", way["name"],
                             str(kernel["registers"]), instructions(kernel), beside])
    return ["flags", "what", "registers", "instructions", "beside the default"], rows


def separate(report):
    rows = []
    for each in report["architectures"]:
        for way in each["separate"]:
            for kernel in way["kernels"]:
                calls = kernel["instructions"].get("CALL", 0)
                rows.append([f"sm_{each['architecture']}", way["name"], f"`{way['flags']}`" if way["flags"] else "",
                             size(way["bytes"]), seconds(way["seconds"]), f"`{kernel['name'].split('::')[-1]}`",
                             str(kernel["registers"] or NONE), size(kernel["stack_bytes"]), instructions(kernel),
                             str(calls)])
    header = ["for", "compiled as", "flags", "size", "time", "kernel or function", "registers", "stack",
              "instructions", "calls"]
    return header, rows


def lines(report):
    """What the lines of the source became for the last architecture."""
    rows = []
    for line in report["architectures"][-1]["lines"]:
        if line["file"] != report["source"]:
            continue
        ordered = sorted(line["instructions"].items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{count} {name}" for name, count in ordered[:10]) + (", …" if len(ordered) > 10 else "")
        rows.append([str(line["line"]), f"`{line['text'].strip()}`".replace("|", "\\|"), shown])
    return ["line", "source", "instructions"], rows


def machine_code(report):
    """What a rung's lines ask for, and what they became: a report of `explain --sass`."""
    (rung,) = report["rungs"]
    became = {(line["file"], line["line"]): line["instructions"] for line in rung["machine_code"]["lines"]}
    rows = []
    for line in rung["lines"]:
        file = line["file"].rsplit("/", 1)[-1]
        asked = [f"{access['space']} {access['kind']}s of {access['bytes']} B" for access in line["accesses"]]
        asked += ["FMAs"] if line["fmas"] else []
        ordered = sorted(became.get((file, line["line"]), {}).items(), key=lambda item: (-item[1], item[0]))
        if asked and ordered:
            rows.append([str(line["line"]), f"`{line['text']}`".replace("|", "\\|"), ", ".join(asked),
                         ", ".join(f"{count} {name}" for name, count in ordered)])
    return ["line", "source", "asks for", "became"], rows


def measured(report):
    """What the flags do to time and error on a GPU, as benchmarks/compile_flow/measure.py has it."""
    rows, first = [], {}
    for row in report["rows"]:
        if row["op"] != "compile_flow":
            continue
        median = statistics.median(row["samples_s"])
        base = first.setdefault(row["rung"], median)
        error = row.get("worst_relative_error")
        judged = f"{error:.2g}" if error is not None else ("none" if row["right"] else "wrong")
        rows.append([row["rung"], f"`{row['variant']}`" if row["variant"].startswith("-") else row["variant"],
                     f"{1e6 * median:.1f} µs", f"{median / base:.3f}", judged])
    return ["program", "compiled with", "time", "of the first", "worst relative error"], rows


TABLES = {"measured": measured, "machine-code": machine_code, "stages": stages, "fat-binary": fat_binary, "kernels": kernels, "maths": maths, "separate": separate,
          "lines": lines}
NAMES = {"measured": 2, "machine-code": 4, "stages": 3, "fat-binary": 2, "kernels": 2, "maths": 2, "separate": 3, "lines": 3}


def of(report, what):
    """(header, rows, how many columns are names). Raises KeyError and its like for what is no such report."""
    header, rows = TABLES[what](report)
    if not rows:
        raise ValueError(f"it holds no {what}")
    return header, rows, NAMES[what]


def caption(report):
    if report["verb"] == "bench":
        return f"{report['device']['gpu']['GPU']}, medians; the recording keeps {len(report['rows'][0]['samples_s'])} samples of each."
    if report["verb"] == "explain":
        (rung,) = report["rungs"]
        return f"nvcc {report['nvcc']}, sm_{rung['machine_code']['architecture']}, {rung['op']}/{rung['rung']}."
    return f"nvcc {report['nvcc']}, {report['source']}."
