"""What tools/agreement_gpu.sh wrote, as rows of a recording: each launch's counters, and what its instructions counted
on each source line. tools/agreement.py sets them beside the executor's counts.
"""

import collections
import csv
import gzip
import json
import re
import subprocess
import tempfile
from pathlib import Path

from code_lines import Sources

MARK = "mark_kernel"
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
MEMORY = {"LDG": ("global", "load"), "LD": ("global", "load"),
          "LDG.STRONG": ("global", "load"), "LD.STRONG": ("global", "load"), "STG": ("global", "store"),
          "ST": ("global", "store"), "LDS": ("shared", "load"), "STS": ("shared", "store"),
          "LDGSTS": ("global", "load"), "LDSM": ("shared", "load")}
OWN_FILES = (re.compile(r"\.cu$"), re.compile(r"/rung_\w+\.hpp$"))  # as tools/embed_sites.py has it
OPCODE = re.compile(r"(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Z0-9_]+)*)")
# nvcc may make one atomic of a warp's: the vote of all active lanes chooses the lane that performs it. What sums up
# their operands, and hands them the result, is of the same file of CUDA's.
ELECTION = re.compile(r"VOTEU?\.ANY U?R\d+, U?PT, U?PT")
ATOMICS_FILE = "atomic_functions.hpp"
WAITING = ".STRONG"  # an opcode of loads that a thread repeats until another thread has stored
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


class Fault(Exception):
    """One sentence: why it cannot be done."""


def is_counted(opcode):
    return (opcode in MEMORY or opcode in ("FFMA", "DFMA")
            or any(opcode in words for words in BY_INSTRUCTION.values()))


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


def relative(file):
    return re.sub(r"^.*/(src|benchmarks)/", r"\1/", file)


def own_frame(frames):
    """Of a line and of those that it was inlined into: the kernel's own."""
    own = (f for pattern in OWN_FILES for f in frames if pattern.search(f[0]))
    return next(own, frames[0] if frames else ("unknown", 0))


def read_csv(path):
    """The rows of Nsight Compute's raw page, by column."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(line for line in file if line.startswith('"')))
    if len(lines) < 3:
        raise Fault(f"{path.name} holds no launches")
    return [dict(zip(lines[0], row)) for row in lines[2:]]


def read_jsonl(path):
    """The lines of a packed file, each an object."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def number(text):
    value = float(text.replace(",", ""))
    return int(value) if value.is_integer() else value


def size(text):
    """[256, 1, 1] of "(256, 1, 1)"."""
    return [int(word) for word in re.findall(r"\d+", text)]


def disassembly_of(program, symbols):
    """The versions of each kernel: by offset, an instruction and its place in the source. Kernels of a shared header
    have one name in several files, and not always the same code."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cuobjdump", "-xelf", "all", Path(program).resolve()], cwd=folder, check=True,
                       capture_output=True)
        return disassembly_of_cubins(sorted(Path(folder).glob("*.cubin")), symbols)


def disassembly_of_cubins(cubins, symbols, relative=relative):
    found = collections.defaultdict(list)
    for cubin in cubins:
        listing = subprocess.run(["readelf", "-sW", cubin], check=True, capture_output=True, text=True)
        for row in listing.stdout.splitlines():
            fields = row.split()
            if "FUNC" in fields and fields[-1] in symbols:
                text = subprocess.run(["nvdisasm", "-gi", "-c", "-fun", fields[0].rstrip(":"), cubin],
                                      check=True, capture_output=True, text=True).stdout
                found[fields[-1]].append(instructions_of(text, relative))
    return found


def ran(code, disassembly):
    """Whether these are the instructions of a profile: opcodes tell, because operands are written in two ways."""
    def opcode(text):
        found = OPCODE.match(text.strip())
        return found and found[1]
    return all(row["at"] in disassembly and opcode(row["sass"]) == opcode(disassembly[row["at"]][0])
               for row in code if "sass" in row)


def version_that_ran(profile, versions):
    """Its disassembly; empty where none is known."""
    if not versions:
        return {}
    for disassembly in versions:
        if ran(profile["code"], disassembly):
            return disassembly
    raise Fault(f"the code of {kernel_name(profile['name'])} is not what ran")


def instructions_of(text, relative=relative):
    """{offset: (instruction, [(file, line), ...])} of nvdisasm's text: a line, and those that it was inlined into."""
    file_line = re.compile(r'//## File "([^"]+)", line (\d+)')
    instruction = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(.*?)\s*;")
    found, frames, follows = {}, [], False
    for row in text.splitlines():
        place = file_line.search(row)
        if place:
            frames = (frames if follows else []) + [(relative(place[1]), int(place[2]))]
            follows = True
            continue
        code = instruction.match(row)
        if code:
            found[int(code[1], 16)] = (code[2], frames)
            follows = False
    return found


def placed(code, disassembly, relative=relative):
    """A launch's instructions, with text and source lines: (instruction, frames, counts). Without a disassembly, the
    innermost line is known."""
    for row in code:
        inner = [(relative(row["file"]), row["line"])] if "file" in row else []
        text, frames = disassembly.get(row["at"], (row.get("sass", ""), inner))
        yield text.strip(), frames, row


def code_of(code, sources):
    """The sources of a kernel's instructions: {file: [the last line's place, digest of the code up to it]}."""
    last = collections.defaultdict(int)
    for _, frames, _ in code:
        for file, line in frames:
            if sources.of(file):
                last[file] = max(last[file], sources.of(file).place_of(line))
    return {file: [place, sources.of(file).digest(place)] for file, place in sorted(last.items())}


class Election:
    """Which atomics a warp's chosen lane performs for all: the first one behind the vote, and those that the same
    predicate guards until it changes."""

    def __init__(self):
        self.voted, self.guard = False, None

    def see(self, text):
        if ELECTION.match(text):
            self.voted = True
        if self.guard and re.match(rf"(?:@!?U?P\w+\s+)?\S+\s+(?:\w+,\s*)?{self.guard}\b", text):
            self.guard = None

    def is_elected(self, text):
        if self.voted:
            self.voted = False
            guard = re.match(r"@(!?)(P\d)\b", text)
            self.guard = guard[2] if guard else None
            return True
        return self.guard is not None and re.match(rf"@!?{self.guard}\b", text) is not None


def lines_of(code, sources, own_frame=own_frame):
    """What the instructions that access memory, multiply or wait counted, by line, opcode and width:
    [file, the line's place, opcode, bytes, of them predicated, executed, with a lane, threads, sectors, wavefronts]."""
    sums = collections.defaultdict(lambda: [0] * 6)
    election = Election()
    for text, frames, row in code:
        election.see(text)
        found = OPCODE.match(text)
        if not found or not is_counted(found[1]):
            continue
        opcode, width, is_predicated = found[1], width_of(found[2]), text.startswith("@")
        if opcode in BY_INSTRUCTION["shuffles"] and frames and frames[0][0].endswith(ATOMICS_FILE):
            continue
        by_one_lane = opcode in BY_INSTRUCTION["atomics"] and election.is_elected(text)
        if opcode in ("LD", "ST") and is_shared(row):
            opcode += "S"
        if opcode in ("LD", "LDG") and WAITING in found[2]:
            opcode += WAITING
        file, line = own_frame(frames)
        place = sources.of(file).place_of(line) if sources.of(file) else line
        entry = sums[(file, place, opcode, width)]
        entry[0] += is_predicated
        entry[1] += row.get("inst_executed", 0)
        entry[2] += with_a_lane(row, opcode, width, is_predicated, by_one_lane)
        entry[3] += row.get("thread_inst_executed_true", 0)
        entry[4] += row.get("memory_l2_theoretical_sectors_global", 0)
        entry[5] += row.get("memory_l1_wavefronts_shared", 0)
    return [[*key, *entry] for key, entry in sorted(sums.items())]


def is_shared(row):
    """Whether a generic instruction went to shared memory: another block's, for instance."""
    return row.get("memory_l1_wavefronts_shared", 0) > 0 and not row.get("memory_l2_theoretical_sectors_global", 0)


def with_a_lane(row, opcode, width, is_predicated, by_one_lane=False):
    """How often at least one lane executed the instruction."""
    executed, threads = row.get("inst_executed", 0), row.get("thread_inst_executed_true", 0)
    if not is_predicated or not executed:
        return executed
    if by_one_lane:
        return min(executed, threads)
    whole_warps = -(-threads // 32)
    if opcode not in ("LDS", "STS"):
        return min(executed, whole_warps)  # whole warps execute it, or no lane does
    # One for each request of up to 4 bytes a lane, or of few lanes; else as many as the width demands.
    ideal = row.get("memory_l1_wavefronts_shared_ideal", 0)
    if ideal != executed and ideal == whole_warps * width // 4:
        return whole_warps
    return min(executed, ideal)


def by_problem(launches, is_mark):
    """Those behind each mark."""
    groups = []
    for launch in launches:
        if is_mark(launch):
            groups.append([])
        elif groups:
            groups[-1].append(launch)
    return groups


def measured_patterns(folder):
    """The requests of benchmarks/agreement/patterns.hpp, with the wavefronts that each took."""
    with open(folder / "patterns.jsonl", encoding="utf-8") as file:
        patterns = [json.loads(line) for line in file]
    measured = [row for row in read_csv(folder / "patterns.csv.gz") if "bank_pattern" in row["Kernel Name"]]
    if len(patterns) != len(measured):
        raise Fault(f"{len(patterns)} patterns, but {len(measured)} launches")
    for pattern, row in zip(patterns, measured):
        for kind in ("load", "store"):
            pattern[kind] = number(row[COUNTERS[f"shared {kind} wavefronts"]])
            pattern[f"{kind}_conflicts"] = number(row[COUNTERS[f"shared {kind} conflicts"]])
    return patterns


def measured_rungs(folder, program, root):
    """(where and when, rows): every launch of `program`, which was built from the sources below `root`."""
    with open(folder / "rungs.jsonl", encoding="utf-8") as file:
        origin, *problems = [json.loads(line) for line in file]
    counters = by_problem(read_csv(folder / "counters.csv.gz"), lambda row: MARK in row["Kernel Name"])
    codes = by_problem(read_jsonl(folder / "source.jsonl.gz"), lambda row: MARK in row["name"])
    if not len(problems) == len(counters) == len(codes):
        raise Fault(f"{len(problems)} problems, but {len(counters)} groups of counters and "
                    f"{len(codes)} of instructions")
    symbols = {launch["name"] for group in codes for launch in group}
    versions, sources = disassembly_of(program, symbols), Sources(root)
    names = {symbol: kernel_name(symbol) for symbol in symbols}
    rows = []
    for problem, totals, group in zip(problems, counters, codes):
        if problem["failure"]:
            raise Fault(f"{problem['rung']} on {problem['problem']} was wrong: {problem['failure']}")
        if len(totals) != len(group):
            raise Fault(f"{problem['rung']} on {problem['problem']}: {len(totals)} launches with counters, "
                        f"{len(group)} with instructions")
        for launch, profile in zip(totals, group):
            code = list(placed(profile["code"], version_that_ran(profile, versions.get(profile["name"]))))
            rows.append({"rung": problem["rung"], "problem": problem["problem"],
                         "kernel": names[profile["name"]],
                         "grid": size(launch["Grid Size"]), "block": size(launch["Block Size"]),
                         "code": code_of(code, sources),
                         "counters": [number(launch[metric]) for metric in COUNTERS.values()]
                         + [sum(number(launch[metric]) for metric in FMAS)],
                         "lines": lines_of(code, sources)})
    return origin, rows
