#!/usr/bin/env python3
"""The executor's counts beside a GPU's counters, for every rung on a small problem.

  agreement.py reduce DIR PROGRAM --commit COMMIT [--date DATE] [--sources DIR]
      makes recordings of what tools/agreement_gpu.sh wrote into DIR: results/current/GPU/agreement.json.xz
      and bank_patterns.json
  agreement.py compare PROGRAM RECORDING [--check] [--sources DIR]
      counts the same problems with PROGRAM (build/bin/agreement), puts the counts into the recording and
      writes docs/agreement.md of it; with --check it writes nothing, and counts that moved are an error

--sources DIR: the tree that PROGRAM was built from; this one, if not given.

A pair is a counter of one kernel, or of one source line of it: what the executor counts, and what the GPU
did. Counts agree if they are equal; wavefronts and bank conflicts if they are within 2 %.

What was recorded for another version of a kernel's code is left as it is, and the check says so. Comments,
blank lines and spaces may come and go.
"""

import argparse
import collections
import fnmatch
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import keep_recording
from agreement_raw import (BY_INSTRUCTION, COUNTERS, FMAS, MEMORY, WAITING, Fault, measured_patterns,
                           measured_rungs, short_name)
from code_lines import Sources

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = ROOT / "benchmarks" / "agreement" / "problems.txt"
DOCUMENT = ROOT / "docs" / "agreement.md"
REASONS = ROOT / "benchmarks" / "agreement" / "reasons.txt"
NEAR = 0.02
ALL_COUNTERS = (*COUNTERS, "FMAs", *BY_INSTRUCTION)
NO_REASON = "Not explained yet."
WITHIN = ("wavefronts", "conflicts")
MOST_TOLD = 10  # counts that moved


def agree(counter, ours, theirs, wavefronts=0):
    """`wavefronts`: those that conflicts are part of."""
    if ours == theirs:
        return True
    return counter.endswith(WITHIN) and abs(ours - theirs) <= NEAR * max(ours, theirs, wavefronts)


# ---- the executor's side


def run_counts(program, gpu, compiled=None):
    """The lines of `agreement count`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.jsonl"
        command = [program, "count", PROBLEMS, out, gpu]
        if compiled:
            code = Path(folder) / "compiled.tsv"
            code.write_text(compiled_text(compiled), encoding="utf-8")
            command.append(code)
        if subprocess.run(command).returncode:
            raise Fault(f"{program} could not count {PROBLEMS.relative_to(ROOT)}")
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def counters_of(launch, copies, has_atomics):
    """What the executor counted, under the names of ALL_COUNTERS. `copies` are the lines, and widths, with
    asynchronous copies from global to shared memory; the GPU counts no store there. Without `has_atomics` the machine
    code has none: then the executor's stand for the load and the store of a flag (src/parts/flags.hpp)."""
    found = collections.Counter()
    for a in launch["accesses"]:
        if a["space"] == "shared" and a["kind"] == "store" and (a["file"], a["line"], a["bytes"]) in copies:
            continue
        if a["kind"] == "atomic" and has_atomics:
            found["atomics"] += a["requests"]
            continue
        if a["kind"] == "atomic":
            for kind in ("load", "store"):
                found[f"global {kind} requests"] += a["requests"]
                found[f"global {kind} sectors"] += a["sectors"]
            continue
        name = f"{a['space']} {a['kind']}"
        if a["space"] == "global":
            found[f"{name} requests"] += a["requests"]
            found[f"{name} sectors"] += a["sectors"]
        else:
            found[f"{name} requests"] += a["requests"]
            found[f"{name} wavefronts"] += a["wavefronts"]
            found[f"{name} conflicts"] += a["conflicts"]
    for e in launch["events"]:
        found["FMAs"] += e["fmas"]
        found["barriers"] += e["barriers"]
        found["shuffles"] += e["shuffles"]
    return found


def flags_of(launch):
    """[requests, sectors] of what stands for the loads of flags."""
    flags = [a for a in launch["accesses"] if a["kind"] == "atomic" and a["space"] == "global"]
    return [sum(a["requests"] for a in flags), sum(a["sectors"] for a in flags)]


def gpu_key(gpu):
    """h100 of "NVIDIA H100 80GB HBM3"."""
    return next(word for word in gpu.lower().split() if re.search(r"\d", word))


def reduce(options):
    folder = Path(options.folder)
    origin, rows = measured_rungs(folder, options.program, options.sources)
    gpu = origin["device"]["gpu"]["GPU"]
    home = ROOT / "results" / "current" / f"nvidia-{gpu_key(gpu)}"
    home.mkdir(parents=True, exist_ok=True)
    for name, raw, data in (("agreement.json.xz", "source.jsonl.gz", rows),
                            ("bank_patterns.json", "patterns.csv.gz", measured_patterns(folder))):
        whole = {"program": "agreement", "recorded": {"gpu": gpu, "date": options.date or origin["date"], "commit": options.commit,
                              "command": "tools/agreement_gpu.sh build/bin DIR",
                              "raw_sha256": hashlib.sha256((folder / raw).read_bytes()).hexdigest()}}
        if data is rows:
            text = rendered({**whole, "counters": [*COUNTERS.values(), " + ".join(FMAS)]}, data)
        else:
            text = keep_recording.rendered({**whole, "rows": data})
        path = home / name
        path.write_bytes(keep_recording.bytes_of(path, text))
        print(f"{path}: {len(data)} rows, {len(text)} bytes")


# ---- a recording, and the kernels as they are now


def rendered(whole, rows):
    """The recording's text. Rows name files by their place in the member "files"."""
    files = sorted({file for row in rows for file in (*row["code"], *(line[0] for line in row["lines"]))})
    place = {file: i for i, file in enumerate(files)}
    packed = [{**row, "code": [[place[file], *code] for file, code in row["code"].items()],
               "lines": [[place[file], *counts] for file, *counts in row["lines"]]} for row in rows]
    members = {name: value for name, value in whole.items() if name not in ("files", "rows")}
    return keep_recording.rendered({**members, "files": files, "rows": packed})


def read_recording(path):
    """What rendered() wrote."""
    whole = json.loads(keep_recording.text_of(Path(path)))
    files = whole["files"]
    whole["rows"] = [{**row, "code": {files[file]: code for file, *code in row["code"]},
                      "lines": [[files[file], *counts] for file, *counts in row["lines"]]} for row in whole["rows"]]
    return whole


def change_since(row, sources):
    """The source of the row's kernel that is another one by now, or empty."""
    for file, (last, digest) in row["code"].items():
        lines = sources.of(file)
        if lines is None or lines.digest(last) != digest:
            return file
    return ""


def numbered(row, sources):
    """The row with its lines' numbers in these sources, for their places among the lines of code."""
    def line(file, place):
        code = sources.of(file)
        return code.numbers[place] if code and place < len(code.numbers) else place
    return {**row, "lines": [[file, line(file, place), *counts] for file, place, *counts in row["lines"]]}


def launches_of(lines):
    """{(rung, problem): launches}"""
    return {(line["rung"], line["problem"]): line["launches"] for line in lines}


def shape_of(row):
    return short_name(row["kernel"]), row["grid"], row["block"]


class Counted:
    """What the executor counts of the recording's rows. To check takes half the time: only what the compiler made is
    counted then, by the same rules."""

    def __init__(self, program, gpu, rows, sources, to_check):
        changed = {i: change_since(row, sources) for i, row in enumerate(rows)}
        self.stale = {i: f"another version of {file}" for i, file in changed.items() if file}
        fresh = [numbered(row, sources) for i, row in enumerate(rows) if i not in self.stale]
        made = launches_of(run_counts(program, gpu, compiled_code(fresh)))
        asked = made if to_check else launches_of(run_counts(program, gpu))
        self.rungs = {rung for rung, _ in asked}
        places = collections.defaultdict(list)
        for i, row in enumerate(rows):
            places[(row["rung"], row["problem"])].append(i)
        self.unrecorded = sorted({rung for rung, problem in asked if (rung, problem) not in places})
        self.of_row = {}
        for where, group in places.items():
            if [shape_of(rows[i]) for i in group] != [shape_of(k) for k in asked.get(where, [])]:
                self.stale.update({i: "other launches" for i in group if i not in self.stale})
            for i, *launches in zip(group, asked.get(where, []), made.get(where, [])):
                if i not in self.stale:
                    self.of_row[i] = counts_of(numbered(rows[i], sources), *launches)


def counts_of(row, asked, made):
    """The executor's counters of a launch, and how many pairs of its lines agree."""
    ours = [counters_of(launch, copying_lines(row), has_atomics(row)) for launch in (asked, made)]
    lines = line_pairs_of(row, made)
    return {"source": [ours[0][name] for name in ALL_COUNTERS],
            "compiled": [ours[1][name] for name in ALL_COUNTERS],
            "flags": flags_of(made), "lines_agree": [sum(p.agrees for p in lines), len(lines)]}


# ---- the two beside each other


class Pair:
    """A counter of a launch, or of one of its lines."""

    def __init__(self, row, counter, source, compiled, gpu, wavefronts=0):
        self.rung, self.problem, self.kernel = row["rung"], row["problem"], row["kernel"]
        self.counter, self.source, self.compiled, self.gpu = counter, source, compiled, gpu
        self.wavefronts = wavefronts

    @property
    def source_agrees(self):
        return agree(self.counter, self.source, self.gpu, self.wavefronts)

    @property
    def agrees(self):
        return agree(self.counter, self.compiled, self.gpu, self.wavefronts)


def compiled_code(rows):
    """The widths of accesses in machine code, for `agreement count`: by kernel and line."""
    code = collections.defaultdict(lambda: collections.defaultdict(int))
    for row in rows:
        for file, line, opcode, width, *_ in row["lines"]:
            if opcode in MEMORY and opcode not in ("LDGSTS", "LDSM"):
                code[row["kernel"]][(file, line, *MEMORY[opcode])] |= width
    return {kernel: [[*place, widths] for place, widths in places.items()] for kernel, places in code.items()}


def compiled_text(code):
    """As the executor reads it."""
    return "".join("\t".join(map(str, [kernel, *access])) + "\n" for kernel, accesses in code.items() for access in accesses)


def gpu_counters(row):
    found = collections.Counter(dict(zip((*COUNTERS, "FMAs"), row["counters"])))
    for _, _, opcode, _, _, _, with_lane, *_ in row["lines"]:
        for name, words in BY_INSTRUCTION.items():
            found[name] += with_lane if opcode in words else 0
    for name, demanded in demanded_wavefronts(row).items():
        found[name] = demanded
    return found


def demanded_wavefronts(row):
    """{counter: those that the instructions' addresses demand}. The unit's own counter adds what warps and units cost
    each other that arrive together."""
    sums = {"shared load wavefronts": 0, "shared store wavefronts": 0}
    for _, _, opcode, *_, wavefronts in row["lines"]:
        for kind in ("load", "store"):
            if opcode in BY_INSTRUCTION[f"shared {kind} requests"]:
                sums[f"shared {kind} wavefronts"] += wavefronts
    return sums


def crowded(rows):
    """The launches in which that costs more than 2 %."""
    for row in rows:
        counted = dict(zip(COUNTERS, row["counters"]))
        if any(not agree(name, demanded, counted[name]) for name, demanded in demanded_wavefronts(row).items()):
            yield row


def has_atomics(row):
    return any(line[2] in BY_INSTRUCTION["atomics"] for line in row["lines"])


def copying_lines(row):
    return {(line[0], line[1], line[3]) for line in row["lines"] if line[2] == "LDGSTS" and line[5]}


def waits(row):
    """Whether its threads wait for flags that other blocks store: loads that others see at once, without atomics."""
    return not has_atomics(row) and any(line[2].endswith(WAITING) and line[5] for line in row["lines"])


def without_waiting(row):
    """(counter, the GPU's, the executor's that is left out) of a launch that waits. How often a thread loads a flag
    depends on time, and so does where lanes that have waited go on. So these are sums over the instructions, which
    were counted together, without the loads that wait."""
    theirs = gpu_line_counters({"lines": [line for line in row["lines"] if not line[2].endswith(WAITING)]})
    for kind, (requests, sectors) in (("load", row["flags"]), ("store", (0, 0))):
        for what, ours in (("requests", requests), ("sectors", sectors)):
            counter = f"global {kind} {what}"
            yield counter, sum(line[counter] for line in theirs.values()), ours


def pairs_of(row):
    theirs = gpu_counters(row)
    calm = {counter: rest for counter, *rest in without_waiting(row)} if waits(row) else {}
    pairs = []
    for counter, source, compiled in zip(ALL_COUNTERS, row["source"], row["compiled"]):
        wavefronts = theirs[counter.replace("conflicts", "wavefronts")] if "conflicts" in counter else 0
        pair = Pair(row, counter, source, compiled, theirs[counter], wavefronts)
        if counter in calm and not pair.agrees:
            gpu, flags = calm[counter]
            pair = Pair(row, counter, source - flags, compiled - flags, gpu)
        pairs.append(pair)
    return pairs


def agreements_with_units(row):
    """Whether each pair agrees with what the GPU's units counted, waiting and crowding included."""
    theirs = {**gpu_counters(row), **dict(zip(COUNTERS, row["counters"]))}
    for counter, compiled in zip(ALL_COUNTERS, row["compiled"]):
        wavefronts = theirs[counter.replace("conflicts", "wavefronts")] if "conflicts" in counter else 0
        yield agree(counter, compiled, theirs[counter], wavefronts)


LOADS = ("LDG", "LD", "LDGSTS", "LDG" + WAITING, "LD" + WAITING)
STORES = ("STG", "ST")
LINE_COUNTERS = {
    "global load requests": LOADS, "global store requests": STORES,
    "shared load requests": BY_INSTRUCTION["shared load requests"],
    "shared store requests": BY_INSTRUCTION["shared store requests"],
    "global load sectors": LOADS, "global store sectors": STORES,
    "shared load wavefronts": BY_INSTRUCTION["shared load requests"],
    "shared store wavefronts": BY_INSTRUCTION["shared store requests"],
    "FMAs": ("FFMA", "DFMA"), "atomics": BY_INSTRUCTION["atomics"], "barriers": BY_INSTRUCTION["barriers"],
    "shuffles": BY_INSTRUCTION["shuffles"],
}


def gpu_line_counters(row):
    """By line: what its instructions counted. Wavefronts and sectors are those that their addresses demand."""
    found = collections.defaultdict(collections.Counter)
    for file, line, opcode, _, _, _, with_lane, threads, sectors, wavefronts in row["lines"]:
        for name, words in LINE_COUNTERS.items():
            if opcode in words:
                found[(file, line)][name] += {"sectors": sectors, "wavefronts": wavefronts, "FMAs": threads}.get(
                    name.split()[-1], with_lane)
    return found


def by_line(launch):
    """The launch's counts, parted by line."""
    parts = collections.defaultdict(lambda: {"accesses": [], "events": []})
    for what in ("accesses", "events"):
        for count in launch[what]:
            parts[(count["file"], count["line"])][what].append(count)
    return parts


def line_pairs_of(row, launch):
    pairs = []
    theirs, ours = gpu_line_counters(row), by_line(launch)
    for place in sorted({*theirs, *ours}):
        counts = counters_of(ours[place], copying_lines(row), has_atomics(row))
        for counter in LINE_COUNTERS:
            mine, its = counts[counter], theirs[place][counter]
            if mine or its:
                pairs.append(Pair(row, counter, mine, mine, its))
    return pairs


def read_reasons(file):
    """[(rung, kernel, counter, reason)]"""
    rows = [row for row in file.read_text(encoding="utf-8").splitlines() if row and not row.startswith("#")]
    return [tuple(row.split("|", 3)) for row in rows]


def reason_of(pair, reasons):
    for rung, kernel, counter, reason in reasons:
        if all(fnmatch.fnmatchcase(text, pattern) for text, pattern in
               ((pair.rung, rung), (pair.kernel, kernel), (pair.counter, counter))):
            return reason
    return NO_REASON


def share(part, whole):
    return f"{part:,} of {whole:,} ({100 * part / whole:.1f} %)" if whole else "–"


def counter_rows(pairs):
    for counter in ALL_COUNTERS:
        mine = [p for p in pairs if p.counter == counter]
        used = [p for p in mine if p.source or p.compiled or p.gpu]
        yield [counter, f"{len(mine)}", f"{sum(p.source_agrees for p in mine)}",
               f"{sum(p.agrees for p in mine)}", f"{sum(p.agrees for p in used)} of {len(used)}"]


def exception_rows(pairs):
    reasons = read_reasons(REASONS)
    for p in pairs:
        if not p.agrees:
            kernel = p.kernel.split("<")[0].split("::")[-1]
            yield [f"`{p.rung}`", p.problem, f"`{kernel}`", p.counter, f"{p.source:,}", f"{p.compiled:,}",
                   f"{p.gpu:,}", reason_of(p, reasons)]


def left_out(recording):
    """What the page does not know of the present sources."""
    text = ""
    earlier = sum(row.get("earlier", False) for row in recording["rows"])
    if earlier:
        changed = "kernel of 1 launch has" if earlier == 1 else f"kernels of {earlier} launches have"
        text += f"The {changed} changed since: both counts are of the version before.\n"
    if recording["unrecorded"]:
        text += "Not recorded yet: " + ", ".join(f"`{rung}`" for rung in recording["unrecorded"]) + ".\n"
    return text and "\n" + text


def document_of(recording):
    rows = recording["rows"]
    pairs = [pair for row in rows for pair in pairs_of(row)]
    used = [p for p in pairs if p.source or p.compiled or p.gpu]
    by_units = sum(sum(agreements_with_units(row)) for row in rows)
    crowded_launches = len(list(crowded(rows)))
    strict = sum(agree(p.counter, p.compiled, p.gpu) for p in pairs)
    text = f"""# Counts beside a GPU's

The executor counts on a CPU what a kernel asks of a GPU. This page compares its counts with those of
Nsight Compute on an {recording["recorded"]["gpu"]}. It has {len(rows)} launches of {len({r["rung"] for r in rows})} rungs, preparations included, on
[small problems](../benchmarks/agreement/problems.txt). It is generated: `tools/agreement.py compare`.
[agreement-programs.md](agreement-programs.md) does the same for published kernels.
{left_out(recording)}
A pair is a counter of one launch. Counts agree if they are equal. Wavefronts may differ by 2 %, and bank conflicts by
2 % of the wavefronts that hold them.

| | agree |
| :-- | --: |
| as the source asks | {share(sum(p.source_agrees for p in pairs), len(pairs))} |
| as the compiler made it | {share(sum(p.agrees for p in pairs), len(pairs))} |
| of these, pairs that are not 0 on both sides | {share(sum(p.agrees for p in used), len(used))} |
| with conflicts held to 2 % of themselves | {share(strict, len(pairs))} |
| with all that the units counted: waiting, and wavefronts lost to others | {share(by_units, len(pairs))} |

"As the compiler made it": ptxas joins accesses to neighbouring words. The recording says which widths the machine code
has on each source line, and the executor joins the requests of these lines. Where a line stores by narrower
instructions than the source asks for, the executor parts its requests. A division is five multiply-adds for floats,
eight for doubles.

{table(["counter", "pairs", "as the source asks", "as compiled", "not 0"], counter_rows(pairs))}
Wavefronts are those that the addresses of a kernel's instructions demand, as Nsight Compute counts them by instruction.
The unit's own counter adds those that warps and units cost each other when they arrive together. In
{crowded_launches} launches that is more than 2 %. Bank conflicts are the unit's.

Requests to shared memory, atomics, barriers and shuffles are sums over a kernel's instructions. An instruction whose
lanes are all predicated off counts in `smsp__inst_executed_op_shared_ld.sum`, but asks for nothing: it is left out.
An asynchronous copy loads from global memory, and the GPU counts no store to shared memory for it. Where one lane
performs the atomics of all lanes, that is one atomic. What chooses the lane is no shuffle.

How often a thread loads a flag while it waits for another block depends on time. In a launch that waits, global
requests and sectors that differ are compared without these loads on both sides. The GPU's are then sums over its
instructions, which were counted in one run.

## Line by line

With `-lineinfo`, {share(*(sum(row["lines_agree"][i] for row in rows) for i in (0, 1)))} of the pairs of single lines agree. The sums do better:
nvcc may make one instruction of two lines, or of two calls of one function. It gives that instruction to one of them.

## The exceptions

{table(["rung", "problem", "kernel", "counter", "source", "compiled", "GPU", "reason"], exception_rows(pairs))}"""
    return text.rstrip("\n") + "\n"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " :-- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def moved_counts(rows, counted):
    """A sentence for each counter that is not what was recorded."""
    for i, ours in counted.of_row.items():
        row = rows[i]
        where = f"{row['kernel']} of {row['rung']} on {row['problem']}"
        for counter, was, now in zip(ALL_COUNTERS, row["compiled"], ours["compiled"]):
            if was != now:
                yield f"{where}: {now:,} {counter}, recorded are {was:,}"
        if row["lines_agree"] != ours["lines_agree"]:
            yield f"{where}: {ours['lines_agree'][0]} pairs of lines agree, recorded are {row['lines_agree'][0]}"


def check(recording, counted):
    moved = list(moved_counts(recording["rows"], counted))
    for sentence in moved[:MOST_TOLD]:
        print(sentence, file=sys.stderr)
    if moved:
        raise Fault(f"{len(moved)} counts of unchanged kernels have moved; if they are right, tools/agreement.py compare "
                    "records them")
    if DOCUMENT.read_text(encoding="utf-8") != document_of(recording):
        raise Fault(f"{DOCUMENT.relative_to(ROOT)} is not what tools/agreement.py compare would write")
    unexplained = document_of(recording).count(NO_REASON)
    if unexplained:
        raise Fault(f"{unexplained} exceptions have no reason in {REASONS.relative_to(ROOT)}")


def say_what_is_stale(rows, counted):
    reasons = collections.defaultdict(set)
    for i, reason in counted.stale.items():
        reasons[reason].add(rows[i]["rung"])
    for reason, rungs in sorted(reasons.items()):
        print(f"recorded for {reason}: {', '.join(sorted(rungs))}")
    if counted.unrecorded:
        print(f"not recorded: {', '.join(counted.unrecorded)}")


def compare(options):
    recording = read_recording(options.recording)
    rows = recording["rows"]
    counted = Counted(options.program, gpu_key(recording["recorded"]["gpu"]), rows, Sources(options.sources),
                      options.check)
    say_what_is_stale(rows, counted)
    if options.check:
        return check(recording, counted)
    for i, row in enumerate(rows):
        row.update(counted.of_row.get(i, {}))
        row["earlier"] = i in counted.stale
        if "source" not in row:
            raise Fault(f"{row['rung']} was never counted as it was recorded; give its tree as --sources")
    rows = recording["rows"] = [row for row in rows if row["rung"] in counted.rungs]  # others are gone
    recording["unrecorded"] = counted.unrecorded
    path = Path(options.recording)
    path.write_bytes(keep_recording.bytes_of(path, rendered(recording, rows)))
    DOCUMENT.write_text(document_of(recording), encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("reduce")
    verb.add_argument("folder")
    verb.add_argument("program", help="that ran: its machine code has the lines")
    verb.add_argument("--date")
    verb.add_argument("--commit", required=True)
    verb.set_defaults(run=reduce)
    other = verbs.add_parser("compare")
    other.add_argument("program")
    other.add_argument("recording")
    other.add_argument("--check", action="store_true")
    other.set_defaults(run=compare)
    for each in (verb, other):
        each.add_argument("--sources", default=ROOT)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
