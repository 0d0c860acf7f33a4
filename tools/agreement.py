#!/usr/bin/env python3
"""The executor's counts beside a GPU's counters, for every rung on a small problem.

  agreement.py reduce DIR PROGRAM --commit COMMIT [--date DATE]
      makes recordings of what tools/agreement_gpu.sh wrote into DIR: results/current/GPU/agreement.json
      and bank_patterns.json
  agreement.py document PROGRAM RECORDING [--check]
      counts the same problems with PROGRAM (build/bin/agreement) and writes docs/agreement.md; with
      --check it writes nothing, and a document that would change is an error

A pair is a counter of one kernel, or of one source line of it: what the executor counts, and what the GPU
did. Counts agree if they are equal; wavefronts and bank conflicts if they are within 2 %.
"""

import argparse
import collections
import csv
import fnmatch
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = ROOT / "benchmarks" / "agreement" / "problems.txt"
DOCUMENT = ROOT / "docs" / "agreement.md"
REASONS = ROOT / "benchmarks" / "agreement" / "reasons.txt"
MARK = "mark_kernel"
NEAR = 0.02
COMPACT = {"ensure_ascii": False, "separators": (",", ":")}
# A kernel's counters: what they are called here, and by Nsight Compute.
COUNTERS = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
FMAS = ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum")
# Those that the instructions' own counts tell: the first words of the machine code's instructions. An
# instruction that no lane executes, since all are predicated off, is none of them.
BY_INSTRUCTION = {
    "shared load requests": ("LDS", "LDSM"),
    "shared store requests": ("STS",),
    "atomics": ("ATOM", "ATOMG", "ATOMS", "RED", "REDG"),
    "barriers": ("BAR", "UCGABAR_ARV"),
    "shuffles": ("SHFL", "VOTE", "REDUX", "MATCH"),
}
ALL_COUNTERS = (*COUNTERS, "FMAs", *BY_INSTRUCTION)
WITHIN = ("wavefronts", "conflicts")
OWN_FILES = (re.compile(r"\.cu$"), re.compile(r"/rung_\w+\.hpp$"))  # as tools/embed_sites.py has it
OPCODE = re.compile(r"(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Z0-9_]+)*)")
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


class Fault(Exception):
    """One sentence: why it cannot be done."""


def width_of(modifiers):
    return next((WIDTHS[m] for m in modifiers.split(".") if m in WIDTHS), 4)


def kernel_name(symbol):
    """As the executor names it, without flavours."""
    return short_name(subprocess.run(["c++filt", symbol], check=True, capture_output=True,
                                     text=True).stdout.strip())


def short_name(name):
    for noise in ("void ", "warpladder::", "(anonymous namespace)::", "counted::", "plain::", "gpu::"):
        name = name.replace(noise, "")
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return name[:at]
    return name


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
            code = Path(folder) / "compiled.json"
            code.write_text(json.dumps(compiled), encoding="utf-8")
            command.append(code)
        subprocess.run(command, check=True)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def counters_of(launch, copies, has_atomics):
    """What the executor counted, under the names of ALL_COUNTERS. `copies` are the lines, and widths, with
    asynchronous copies from global to shared memory; the GPU counts no store there. Without `has_atomics` the machine code has none: then
    the executor's stand for the load and the store of a flag (src/parts/flags.hpp)."""
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


# ---- the GPU's side


def place_of(frames):
    own = (f for pattern in OWN_FILES for f in frames if pattern.search(f[0]))
    file, line = next(own, frames[0] if frames else ("unknown", 0))
    return re.sub(r"^.*/(src|benchmarks)/", r"\1/", file), line


def read_csv(path):
    """The rows of Nsight Compute's raw page, by column."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(line for line in file if line.startswith('"')))
    if len(lines) < 3:
        raise Fault(f"{path.name} holds no launches")
    return [dict(zip(lines[0], row)) for row in lines[2:]]


def number(text):
    value = float(text.replace(",", ""))
    return int(value) if value.is_integer() else value


def disassembly_of(program, symbols):
    """Of each kernel: by offset, its instruction and its place in the source."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cuobjdump", "-xelf", "all", Path(program).resolve()], cwd=folder, check=True,
                       capture_output=True)
        for cubin in sorted(Path(folder).glob("*.cubin")):
            table = subprocess.run(["readelf", "-sW", cubin], check=True, capture_output=True, text=True)
            for row in table.stdout.splitlines():
                fields = row.split()
                if "FUNC" in fields and fields[-1] in symbols:
                    text = subprocess.run(["nvdisasm", "-gi", "-c", "-fun", fields[0].rstrip(":"), cubin],
                                          check=True, capture_output=True, text=True).stdout
                    found[fields[-1]] = instructions_of(text)
    return found


def instructions_of(text):
    """{offset: (instruction, (file, line))} of nvdisasm's text."""
    file_line = re.compile(r'//## File "([^"]+)", line (\d+)')
    instruction = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(.*?)\s*;")
    found, frames, follows = {}, [], False
    for row in text.splitlines():
        place = file_line.search(row)
        if place:
            frames = (frames if follows else []) + [(place[1], int(place[2]))]
            follows = True
            continue
        code = instruction.match(row)
        if code:
            found[int(code[1], 16)] = (code[2], place_of(frames))
            follows = False
    return found


def lines_of(code, places):
    """What the instructions that access memory, multiply or wait counted, by line, opcode and width:
    [file, line, opcode, bytes, of them predicated, executed, with a lane, threads, sectors, wavefronts]."""
    sums = collections.defaultdict(lambda: [0] * 6)
    for row in code:
        # Without a disassembly, the innermost line is known.
        inner = place_of([(row["file"], row["line"])] if "file" in row else [])
        text, place = places.get(row["at"], (row.get("sass", ""), inner))
        text = text.strip()
        opcode = OPCODE.match(text)
        if not opcode or not is_counted(opcode[1]):
            continue
        entry = sums[(*place, opcode[1], width_of(opcode[2]))]
        entry[0] += text.startswith("@")
        entry[1] += row.get("inst_executed", 0)
        entry[2] += with_a_lane(row, opcode[1], width_of(opcode[2]), text.startswith("@"))
        entry[3] += row.get("thread_inst_executed_true", 0)
        entry[4] += row.get("memory_l2_theoretical_sectors_global", 0)
        entry[5] += row.get("memory_l1_wavefronts_shared", 0)
    return [[*key, *entry] for key, entry in sorted(sums.items())]


def with_a_lane(row, opcode, width, is_predicated):
    """How often at least one lane executed the instruction."""
    executed, threads = row.get("inst_executed", 0), row.get("thread_inst_executed_true", 0)
    if not is_predicated or not executed:
        return executed
    whole_warps = -(-threads // 32)
    if opcode not in ("LDS", "STS"):
        return min(executed, whole_warps)  # whole warps execute it, or no lane does
    # One for each request of up to 4 bytes a lane, or of few lanes; else as many as the width demands.
    ideal = row.get("memory_l1_wavefronts_shared_ideal", 0)
    if ideal != executed and ideal == whole_warps * width // 4:
        return whole_warps
    return min(executed, ideal)


MEMORY = {"LDG": ("global", "load"), "LD": ("global", "load"), "STG": ("global", "store"),
          "ST": ("global", "store"), "LDS": ("shared", "load"), "STS": ("shared", "store"),
          "LDGSTS": ("global", "load"), "LDSM": ("shared", "load")}


def is_counted(opcode):
    return opcode in MEMORY or opcode in ("FFMA", "DFMA") or any(opcode in words for words in BY_INSTRUCTION.values())


def by_problem(launches, is_mark):
    """Those behind each mark."""
    groups = []
    for launch in launches:
        if is_mark(launch):
            groups.append([])
        elif groups:
            groups[-1].append(launch)
    return groups


def reduced(folder, program):
    """The rows of both recordings."""
    with open(folder / "rungs.jsonl", encoding="utf-8") as file:
        origin, *problems = [json.loads(line) for line in file]
    counters = by_problem(read_csv(folder / "counters.csv.gz"), lambda row: MARK in row["Kernel Name"])
    with gzip.open(folder / "source.jsonl.gz", "rt", encoding="utf-8") as file:
        sources = by_problem([json.loads(line) for line in file], lambda row: MARK in row["name"])
    if not len(problems) == len(counters) == len(sources):
        raise Fault(f"{len(problems)} problems, but {len(counters)} groups of counters and "
                    f"{len(sources)} of instructions")
    symbols = {launch["name"] for group in sources for launch in group}
    places = disassembly_of(program, symbols)
    names = {symbol: kernel_name(symbol) for symbol in symbols}
    rows = []
    for problem, totals, codes in zip(problems, counters, sources):
        if problem["failure"]:
            raise Fault(f"{problem['rung']} on {problem['problem']} was wrong: {problem['failure']}")
        if len(totals) != len(codes):
            raise Fault(f"{problem['rung']} on {problem['problem']}: {len(totals)} launches with counters, "
                        f"{len(codes)} with instructions")
        for launch, code in zip(totals, codes):
            rows.append({"rung": problem["rung"], "problem": problem["problem"],
                         "kernel": names[code["name"]],
                         "counters": [number(launch[metric]) for metric in COUNTERS.values()]
                         + [sum(number(launch[metric]) for metric in FMAS)],
                         "lines": lines_of(code["code"], places.get(code["name"], {}))})
    with open(folder / "patterns.jsonl", encoding="utf-8") as file:
        patterns = [json.loads(line) for line in file]
    measured = [row for row in read_csv(folder / "patterns.csv.gz") if "bank_pattern" in row["Kernel Name"]]
    if len(patterns) != len(measured):
        raise Fault(f"{len(patterns)} patterns, but {len(measured)} launches")
    for pattern, row in zip(patterns, measured):
        for kind in ("load", "store"):
            pattern[kind] = number(row[COUNTERS[f"shared {kind} wavefronts"]])
            pattern[f"{kind}_conflicts"] = number(row[COUNTERS[f"shared {kind} conflicts"]])
    return origin, rows, patterns


def rendered(recorded, rows, **members):
    """A member a line, and a row a line, as all recordings are."""
    parts = [f'"recorded":{json.dumps(recorded, **COMPACT)}']
    parts += [f"{json.dumps(name)}:{json.dumps(value, **COMPACT)}" for name, value in members.items()]
    parts.append('"rows":[\n' + ",\n".join(json.dumps(row, **COMPACT) for row in rows) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def gpu_key(gpu):
    """h100 of "NVIDIA H100 80GB HBM3"."""
    return next(word for word in gpu.lower().split() if re.search(r"\d", word))


def reduce(options):
    folder = Path(options.folder)
    origin, rows, patterns = reduced(folder, options.program)
    gpu = origin["device"]["gpu"]["GPU"]
    home = ROOT / "results" / "current" / f"nvidia-{gpu_key(gpu)}"
    home.mkdir(parents=True, exist_ok=True)
    for name, raw, data in (("agreement", "source.jsonl.gz", rows),
                            ("bank_patterns", "patterns.csv.gz", patterns)):
        recorded = {"gpu": gpu, "date": options.date or origin["date"], "commit": options.commit,
                    "command": "tools/agreement_gpu.sh build/bin DIR",
                    "raw_sha256": hashlib.sha256((folder / raw).read_bytes()).hexdigest()}
        members = {"counters": [*COUNTERS.values(), " + ".join(FMAS)]} if name == "agreement" else {}
        text = rendered(recorded, data, **members)
        (home / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{home / name}.json: {len(data)} rows, {len(text)} bytes")


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


def gpu_counters(row):
    found = collections.Counter(dict(zip((*COUNTERS, "FMAs"), row["counters"])))
    for _, _, opcode, _, _, _, with_lane, *_ in row["lines"]:
        for name, words in BY_INSTRUCTION.items():
            found[name] += with_lane if opcode in words else 0
    return found


def has_atomics(row):
    return any(line[2] in BY_INSTRUCTION["atomics"] for line in row["lines"])


def copying_lines(row):
    return {(line[0], line[1], line[3]) for line in row["lines"] if line[2] == "LDGSTS"}


def launches_of(lines):
    """(rung, problem, launch) in the order in which they ran."""
    return [(line["rung"], line["problem"], launch) for line in lines for launch in line["launches"]]


def pairs_of(rows, source, compiled):
    pairs = []
    for row, (rung, problem, asked), (_, _, made) in zip(rows, launches_of(source), launches_of(compiled),
                                                         strict=True):
        name = short_name(asked["kernel"])
        if (rung, problem) != (row["rung"], row["problem"]) or name != row["kernel"]:
            raise Fault(f"the GPU ran {row['kernel']} of {row['rung']} where the executor ran {name} of {rung}")
        theirs = gpu_counters(row)
        ours = [counters_of(launch, copying_lines(row), has_atomics(row)) for launch in (asked, made)]
        for counter in ALL_COUNTERS:
            wavefronts = theirs[counter.replace("conflicts", "wavefronts")] if "conflicts" in counter else 0
            pairs.append(Pair(row, counter, ours[0][counter], ours[1][counter], theirs[counter], wavefronts))
    return pairs


LINE_COUNTERS = {
    "global load requests": ("LDG", "LD", "LDGSTS"), "global store requests": ("STG", "ST"),
    "shared load requests": BY_INSTRUCTION["shared load requests"],
    "shared store requests": BY_INSTRUCTION["shared store requests"],
    "global load sectors": ("LDG", "LD", "LDGSTS"), "global store sectors": ("STG", "ST"),
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


def line_pairs_of(rows, compiled):
    pairs = []
    for row, (_, _, launch) in zip(rows, launches_of(compiled), strict=True):
        theirs, ours = gpu_line_counters(row), by_line(launch)
        for place in sorted({*theirs, *ours}):
            counts = counters_of(ours[place], copying_lines(row), has_atomics(row))
            for counter in LINE_COUNTERS:
                mine, its = counts[counter], theirs[place][counter]
                if mine or its:
                    pairs.append((row, place, Pair(row, counter, mine, mine, its)))
    return pairs


def read_reasons():
    """[(rung, kernel, counter, reason)]"""
    rows = [row for row in REASONS.read_text(encoding="utf-8").splitlines() if row and not row.startswith("#")]
    return [tuple(row.split("|", 3)) for row in rows]


def reason_of(pair, reasons):
    for rung, kernel, counter, reason in reasons:
        if all(fnmatch.fnmatchcase(text, pattern) for text, pattern in
               ((pair.rung, rung), (pair.kernel, kernel), (pair.counter, counter))):
            return reason
    return "Not explained yet."


def share(part, whole):
    return f"{part:,} of {whole:,} ({100 * part / whole:.1f} %)" if whole else "–"


def counter_rows(pairs):
    for counter in ALL_COUNTERS:
        mine = [p for p in pairs if p.counter == counter]
        used = [p for p in mine if p.source or p.compiled or p.gpu]
        yield [counter, f"{len(mine)}", f"{sum(p.source_agrees for p in mine)}",
               f"{sum(p.agrees for p in mine)}", f"{sum(p.agrees for p in used)} of {len(used)}"]


def exception_rows(pairs):
    reasons = read_reasons()
    for p in pairs:
        if not p.agrees:
            kernel = p.kernel.split("<")[0].split("::")[-1]
            yield [f"`{p.rung}`", p.problem, f"`{kernel}`", p.counter, f"{p.source:,}", f"{p.compiled:,}",
                   f"{p.gpu:,}", reason_of(p, reasons)]


def document_of(recording, rows, pairs, lines):
    recorded = recording["recorded"]
    used = [p for p in pairs if p.source or p.compiled or p.gpu]
    strict = sum(agree(p.counter, p.compiled, p.gpu) for p in pairs)
    text = f"""# Counts beside a GPU's

The executor counts on a CPU what a kernel asks of a GPU. This page compares its counts with those of
Nsight Compute on an {recorded["gpu"]}. It has {len(rows)} launches of {len({r["rung"] for r in rows})} rungs, preparations included, on
[small problems](../benchmarks/agreement/problems.txt). It is generated: `tools/agreement.py document`.

A pair is a counter of one launch. Counts agree if they are equal. Wavefronts may differ by 2 %, and bank conflicts by
2 % of the wavefronts that hold them.

| | agree |
| :-- | --: |
| as the source asks | {share(sum(p.source_agrees for p in pairs), len(pairs))} |
| as the compiler made it | {share(sum(p.agrees for p in pairs), len(pairs))} |
| of these, pairs that are not 0 on both sides | {share(sum(p.agrees for p in used), len(used))} |
| with conflicts held to 2 % of themselves | {share(strict, len(pairs))} |

"As the compiler made it": ptxas joins accesses to neighbouring words. The recording says which widths the machine code
has on each source line, and the executor joins the requests of these lines.

{table(["counter", "pairs", "as the source asks", "as compiled", "not 0"], counter_rows(pairs))}
Requests to shared memory, atomics, barriers and shuffles are sums over a kernel's instructions. An instruction whose
lanes are all predicated off counts in `smsp__inst_executed_op_shared_ld.sum`, but asks for nothing: it is left out.
An asynchronous copy loads from global memory, and the GPU counts no store to shared memory for it.

## Line by line

With `-lineinfo`, {share(sum(p.agrees for p in lines), len(lines))} of the pairs of single lines agree. The sums do better:
nvcc may make one instruction of two lines, or of two calls of one function. It gives that instruction to one of them.

## The exceptions

{table(["rung", "problem", "kernel", "counter", "source", "compiled", "GPU", "reason"], exception_rows(pairs))}"""
    return text.rstrip("\n") + "\n"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " :-- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def document(options):
    recording = json.loads(Path(options.recording).read_text(encoding="utf-8"))
    rows, gpu = recording["rows"], gpu_key(recording["recorded"]["gpu"])
    source = run_counts(options.program, gpu)
    compiled = run_counts(options.program, gpu, compiled_code(rows))
    lines = [pair for _, _, pair in line_pairs_of(rows, compiled)]
    text = document_of(recording, rows, pairs_of(rows, source, compiled), lines)
    if options.check:
        if DOCUMENT.read_text(encoding="utf-8") == text:
            return 0
        raise Fault(f"{DOCUMENT.relative_to(ROOT)} is not what tools/agreement.py document would write")
    DOCUMENT.write_text(text, encoding="utf-8")
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("reduce")
    verb.add_argument("folder")
    verb.add_argument("program", help="that ran: its machine code has the lines")
    verb.add_argument("--date")
    verb.add_argument("--commit", required=True)
    verb.set_defaults(run=reduce)
    verb = verbs.add_parser("document")
    verb.add_argument("program")
    verb.add_argument("recording")
    verb.add_argument("--check", action="store_true")
    verb.set_defaults(run=document)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
