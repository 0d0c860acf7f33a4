#!/usr/bin/env python3
"""Compares what programs print here with what they print on a GPU.

  corpus_on_gpu.py pack --list FILE.tsv --report FILE.json --repositories DIR --to FOLDER
      puts the sources of the programs that ran here, and of those that --also names, into a folder of their own
  corpus_on_gpu.py run FOLDER --record FILE.json.gz
      on a machine with nvcc and a GPU, no network: builds each program, runs it three times, and keeps what it prints
  corpus_on_gpu.py compare FILE.json.gz… --outputs DIR
      compares that with what programs print here, which tools/corpus.py --outputs writes; writes the report, and
      the part of docs/own-programs.md that says so; of several files, the last one that ran a program counts

Words are compared; numbers may differ by a tolerance. Lines about time, speed and the device are left out: they say
nothing of the results. A program whose runs on the GPU differ from one another is not repeatable there: no output is
right alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from corpus import programs

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "tests" / "programs" / "corpus_gpu.json"
DOCUMENT = ROOT / "docs" / "own-programs.md"
BEGIN, END = "<!-- corpus: on-gpu -->\n", "<!-- end -->\n"
MOST = 1_000_000  # characters kept of a program's output
APART = 1.2  # seconds between two runs of a program, which may seed its random numbers by the time
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# What differs between devices and runs, whatever is computed.
LEFT_OUT = re.compile(
    r"\b(?:time[sd]?|timing|elapsed|took|sec(?:ond)?s?|[mun]?s(?:ecs?)?|usec|fps|[GMKT]?(?:FLOPS?|B|bytes?|ops?)/s(?:ec)?|"
    r"[GMT]?FLOPS?|bandwidth|throughput|speed-?up|perf(?:ormance)?|clocks?|cycles?|ticks?|device|gpu|sms?|"
    r"multiprocessors?|capability|driver|occupancy|address|pointer|0x[0-9a-f]+|warpladder|rand(?:om)?)\b",
    re.IGNORECASE,
)
LIBRARIES = {"cublas": "-lcublas", "curand": "-lcurand", "cufft": "-lcufft", "cusparse": "-lcusparse", "cublasLt": "-lcublasLt"}
SOURCES = {".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp"}
# What CUDA 13 took away, and what programs written for other compilers' defaults need.
MOVED = ["-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset"]
FLAGS = ["-O2", "-std=c++17", "-arch=native", "-w", "-rdc=true", "--extended-lambda", *MOVED]


def needed(program: dict[str, str], root: Path) -> set[Path]:
    """The program's files, what they include of their own, and its data: in a folder of that name, or named in its
    arguments."""
    folders = [root / folder for folder in program["includes"].split()]
    left = [root / file for file in program["files"].split()]
    known: set[Path] = set()
    while left:
        file = Path(os.path.normpath(left.pop()))
        if file in known or not file.is_file():
            continue
        known.add(file)
        for name in INCLUDE.findall(file.read_text(errors="replace")):
            left += [folder / name for folder in [file.parent, *folders]]
    first = (root / program["files"].split()[0]).parent
    data = [Path(os.path.normpath(first / word)) for word in program["arguments"].split()]
    data += (first / "data").glob("*")
    return known | {file for file in data if file.is_file() and root in file.parents}


def pack_sources(program: dict[str, str], root: Path, to: Path) -> None:
    for file in needed(program, root):
        copy = to / "sources" / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def pack(options: argparse.Namespace) -> None:
    root = options.repositories.resolve()
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in options.report]
    wanted = {p["id"] for report in reports for p in report["programs"] if p["verdict"] == "ran"} | set(options.also)
    rows = [p for file in options.list for p in programs(file) if p["id"] in wanted and p["files"]]
    for program in rows:
        pack_sources(program, root, options.to)
    (options.to / "programs.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for tool in (Path(__file__), Path(__file__).with_name("corpus.py")):
        shutil.copyfile(tool, options.to / tool.name)
    print(f"{len(rows)} programs")


# ---- on the GPU's machine


def nvcc_call(program: dict[str, str], root: Path, binary: Path, flags: list[str]) -> list[str]:
    """How nvcc makes the program of what lies below `root`."""
    files = [str(root / file) for file in program["files"].split()]
    text = "".join(file.read_text(errors="replace") for file in needed(program, root) if file.suffix in SOURCES)
    call = ["nvcc", *flags, "-o", str(binary), *files]
    call += [f"-I{root / name}" for name in program["includes"].split()]
    call += [f"-D{name}" for name in program["defines"].split()]
    headers = " ".join(INCLUDE.findall(text))
    call += [flag for word, flag in LIBRARIES.items() if word in headers]
    if "#pragma omp" in text or "omp.h" in text:
        call.append("-Xcompiler=-fopenmp")
    return call


class Runs:
    """Builds and runs programs on all processors until the time is up. Times are nobody's concern here."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.folder = options.folder.resolve()
        self.limit, self.number = options.limit, options.runs
        self.end = time.monotonic() + options.seconds
        self.pool = ThreadPoolExecutor(options.jobs or os.cpu_count())
        self.left: list[Future] = []

    def patience(self) -> float:
        return max(0.01, self.end - time.monotonic())

    def all(self, rows: list[dict[str, str]]) -> list[dict]:
        """What each program printed in each of its runs."""
        (self.folder / "bin").mkdir(exist_ok=True)
        records = [{"id": row["id"], "error": "", "runs": []} for row in rows]
        # Those that take nvcc longest begin first.
        for row, record in sorted(zip(rows, records), key=lambda pair: not self.is_heavy(pair[0])):
            self.left.append(self.pool.submit(self.build, row, record))
        while self.left:
            self.left.pop(0).result()
        return records

    def is_heavy(self, program: dict[str, str]) -> bool:
        files = [self.folder / "sources" / name for name in program["files"].split()]
        return any(re.search(r"<(?:thrust|cub)/", file.read_text(errors="replace")) for file in files if file.is_file())

    def binary(self, program: dict[str, str]) -> Path:
        return self.folder / "bin" / program["id"]

    def build(self, program: dict[str, str], record: dict) -> None:
        if time.monotonic() > self.end:
            record["error"] = "no time was left"
            return
        call = nvcc_call(program, self.folder / "sources", self.binary(program), FLAGS)
        try:
            done = subprocess.run(call, capture_output=True, text=True, errors="replace", timeout=self.patience())
        except subprocess.TimeoutExpired:
            record["error"] = "no time was left"
            return
        if done.returncode != 0:
            errors = [row for row in done.stderr.splitlines() if "error" in row or "undefined" in row]
            record["error"] = (errors or ["?"])[0].replace(f"{self.folder}/sources/", "")[:200]
            return
        self.run(program, record)

    def run(self, program: dict[str, str], record: dict) -> None:
        """One run; the next one waits behind those of all other programs."""
        begin = time.monotonic()
        if begin > self.end:
            return
        first = self.folder / "sources" / Path(program["files"].split()[0]).parent
        call = [str(self.binary(program)), *program["arguments"].split()]
        try:
            done = subprocess.run(call, cwd=first, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=min(self.limit, self.patience()))
        except subprocess.TimeoutExpired:
            if time.monotonic() < self.end:
                record["runs"].append({"code": None})
            return
        out = done.stdout.decode(errors="replace")[:MOST].replace(str(self.folder), "FOLDER")
        said = (done.stderr.decode(errors="replace") + out).strip().splitlines() or [""]
        same_again = record["runs"] and record["runs"][0].get("out") == out
        record["runs"].append({"code": done.returncode, "seconds": round(time.monotonic() - begin, 2)}
                              | ({} if same_again else {"out": out}) | ({"said": said[-1]} if done.returncode else {}))
        if len(record["runs"]) < self.number:
            self.left.append(self.pool.submit(self.again, program, record, begin))

    def again(self, program: dict[str, str], record: dict, begun: float) -> None:
        time.sleep(max(0.0, min(self.patience(), begun + APART - time.monotonic())))
        self.run(program, record)


def gpu_name() -> str:
    call = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        return subprocess.run(call, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def run(options: argparse.Namespace) -> None:
    rows = json.loads((options.folder / "programs.json").read_text(encoding="utf-8"))
    recording = {"gpu": gpu_name(), "runs": options.runs, "programs": Runs(options).all(rows)}
    with gzip.open(options.record, "wt", encoding="utf-8") as file:
        json.dump(recording, file)
    print(Counter(len(record["runs"]) for record in recording["programs"]), "runs of programs")


# ---- here


def words(text: str, binary: str = "FOLDER") -> list[str]:
    """What a program says, but for rows that differ anyway; one may name the program by its path."""
    kept: list[str] = []
    announced = False  # by the row before: what this one says is left out, too
    for row in text.splitlines():
        differs = bool(LEFT_OUT.search(row))
        kept += [] if announced or differs or binary in row else row.split()
        announced = differs and row.rstrip().endswith(":")
    return kept


def same(a: str, b: str, tolerance: float) -> bool:
    """Whether two words say the same, the numbers in them to a tolerance."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b))
    return all(abs(float(x) - float(y)) <= tolerance * max(1.0, abs(float(x)), abs(float(y))) for x, y in pairs)


def difference(one: str, other: str, tolerance: float, names: tuple[str, str]) -> str:
    """The first word in which two outputs differ, or nothing."""
    ours, theirs = words(one), words(other)
    for a, b in zip(ours, theirs):
        if not same(a, b, tolerance):
            return f"{a!r} {names[0]}, {b!r} {names[1]}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} words {names[0]}, {len(theirs)} {names[1]}"


def judged(record: dict, cpu: str, tolerance: float) -> dict:
    """The verdict on a program that prints `cpu` here, and printed what the record has on the GPU."""
    verdict = {"id": record["id"], "verdict": "not built", "reason": record["error"]}
    if record["error"]:
        return verdict
    runs = record["runs"]
    if any(run["code"] is None for run in runs):
        return verdict | {"verdict": "too slow", "reason": ""}
    if len(runs) < 2:
        return verdict | {"verdict": "not measured", "reason": f"{len(runs)} runs in time"}
    if runs[0]["code"] != 0 and all(run["code"] == runs[0]["code"] for run in runs):
        return verdict | {"verdict": "failed", "reason": f"exit code {runs[0]['code']}: {runs[0]['said']}"[:200]}
    outputs = [run.get("out", runs[0]["out"]) for run in runs]
    names = ("in the first run", "in another")
    apart = [difference(outputs[0], other, tolerance, names) for other in outputs[1:]]
    apart += [f"exit code {runs[0]['code']} {names[0]}, {run['code']} {names[1]}" for run in runs[1:]
              if run["code"] != runs[0]["code"]]
    ours = [difference(cpu, output, tolerance, ("here", "on the GPU")) for output in outputs]
    if any(apart):
        is_one = {"equals_a_run": True} if not all(ours) else {}
        return verdict | {"verdict": "not repeatable", "reason": next(filter(None, apart))[:200]} | is_one
    return verdict | {"verdict": "differs" if ours[0] else "equal", "reason": ours[0][:200]}


def share(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "none"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def section(report: dict) -> str:
    """What the document says of a report."""
    count = Counter(report["verdicts"])
    gpu = report["gpu"]
    ran = count["equal"] + count["differs"] + count["not repeatable"]
    repeatable = count["equal"] + count["differs"]
    of = {verdict: [p for p in report["not_equal"] if p["verdict"] == verdict] for verdict in count}
    lines = [
        f"{ran} programs of both lists were run here and on an {gpu}, there two or three times, as time allowed.",
        f"{repeatable} of them are repeatable, and {count['equal']} print the same here: {share(count['equal'], repeatable)}.",
        f"Of all {ran} these are {share(count['equal'], ran)} ([corpus_gpu.json](../tests/programs/corpus_gpu.json)).", "",
        "| Differs | How | Why |", "|---|---|---|",
        *(f"| {p['id']} | {cell(p['reason'])} | {p['cause']} |" for p in of.get("differs", [])), "",
        "| Not repeatable | Two runs on the GPU | Why |", "|---|---|---|",
        *(f"| {p['id']} | {cell(p['reason'])} | {p['cause']} |" for p in of.get("not repeatable", [])),
    ]
    return "\n".join(lines) + "\n"


def write_between(document: Path, begin: str, end: str, text: str) -> None:
    before, _, rest = document.read_text(encoding="utf-8").partition(begin)
    if not rest:
        sys.exit(f"{document.name} has no mark {begin.strip()}")
    document.write_text(before + begin + "\n" + text + "\n" + end + rest.partition(end)[2], encoding="utf-8")


def compare(options: argparse.Namespace) -> None:
    records: dict[str, dict] = {}
    for name in options.record:
        with gzip.open(name, "rt", encoding="utf-8") as file:
            recording = json.load(file)
        # One that a later file says nothing of keeps what the earlier one says.
        records |= {r["id"]: r for r in recording["programs"] if r["runs"] or r["id"] not in records}
    known = json.loads(REPORT.read_text(encoding="utf-8"))["not_equal"] if REPORT.is_file() else []
    causes = {p["id"]: p["cause"] for p in known if "cause" in p}
    outcomes = []
    for record in records.values():
        output = options.outputs / f"{record['id']}.txt"
        if not output.is_file():
            continue  # it did not run here
        outcome = judged(record, output.read_text(errors="replace"), options.tolerance)
        if outcome["verdict"] in ("differs", "not repeatable"):
            outcome["cause"] = causes.get(outcome["id"], "not explained")
        outcomes.append(outcome)
    report = {"tolerance": options.tolerance, "gpu": recording["gpu"], "runs": recording["runs"],
              "verdicts": dict(Counter(o["verdict"] for o in outcomes)),
              "not_equal": [o for o in outcomes if o["verdict"] != "equal"]}
    REPORT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    write_between(DOCUMENT, BEGIN, END, section(report))
    print(report["verdicts"], *(f"{o['id']}: {o['cause']}: {o['reason']}" for o in outcomes if "cause" in o), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    packing.add_argument("--list", type=Path, required=True, action="append", help="programs, as a .tsv; may be repeated")
    packing.add_argument("--report", type=Path, required=True, action="append", help="which of them ran here; may be repeated")
    packing.add_argument("--also", nargs="*", default=[], metavar="ID", help="more programs")
    packing.add_argument("--repositories", type=Path, required=True, help="the folder of the clones")
    packing.add_argument("--to", type=Path, required=True)
    running = verbs.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--record", type=Path, required=True, help="the .json.gz to write")
    running.add_argument("--runs", type=int, default=3, help="of each program")
    running.add_argument("--jobs", type=int, default=0, help="at once; 0: one for each processor")
    running.add_argument("--limit", type=float, default=20, help="seconds for each run")
    running.add_argument("--seconds", type=float, default=180, help="for all; what is left then is not measured")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("record", type=Path, nargs="+")
    comparing.add_argument("--outputs", type=Path, required=True, help="the folder of what programs printed here")
    comparing.add_argument("--tolerance", type=float, default=1e-3, help="relative, of numbers")
    options = parser.parse_args()
    if options.verb == "run" and shutil.which("nvcc") is None:
        sys.exit("corpus_on_gpu.py: nvcc is not on the PATH")
    {"pack": pack, "run": run, "compare": compare}[options.verb](options)


if __name__ == "__main__":
    main()
