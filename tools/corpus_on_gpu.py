#!/usr/bin/env python3
"""Compares what programs print here with what they print on a GPU.

  corpus_on_gpu.py pack --list corpus.tsv --outputs DIR --repositories DIR --to FOLDER
  corpus_on_gpu.py run FOLDER --report FILE.json      # on a machine with nvcc and a GPU, no network

`pack` puts the sources of the programs whose output lies in --outputs (tools/corpus.py writes it) into a
folder of their own, with those outputs. `run` builds each with nvcc, runs it with the same arguments, and
compares the words that both print; numbers may differ by a tolerance. Lines about time, speed and the
device are left out: they say nothing of the results.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpus import programs

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
# What CUDA 13 took away, and what programs written for other compilers' defaults need.
MOVED = ["-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset"]
FLAGS = ["-O2", "-std=c++17", "-arch=native", "-w", "-rdc=true", "--extended-lambda", *MOVED]


def needed(program: dict[str, str], root: Path) -> set[Path]:
    """The program's files, what they include of their own, and data files named in its arguments."""
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
    return known | {file for file in data if file.is_file() and root in file.parents}


def pack_sources(program: dict[str, str], root: Path, to: Path) -> None:
    for file in needed(program, root):
        copy = to / "sources" / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def pack(options: argparse.Namespace) -> None:
    root = options.repositories.resolve()
    rows = []
    for program in programs(options.list):
        output = options.outputs / f"{program['id']}.txt"
        if not output.is_file():
            continue
        pack_sources(program, root, options.to)
        (options.to / "outputs").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(output, options.to / "outputs" / output.name)
        rows.append(program)
    (options.to / "programs.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for tool in (Path(__file__), Path(__file__).with_name("corpus.py")):
        shutil.copyfile(tool, options.to / tool.name)
    print(f"{len(rows)} programs")


def nvcc_call(program: dict[str, str], root: Path, binary: Path, flags: list[str]) -> list[str]:
    """How nvcc makes the program of what lies below `root`."""
    files = [str(root / file) for file in program["files"].split()]
    text = "".join(Path(file).read_text(errors="replace") for file in files)
    call = ["nvcc", *flags, "-o", str(binary), *files]
    call += [f"-I{root / name}" for name in program["includes"].split()]
    call += [f"-D{name}" for name in program["defines"].split()]
    call += [flag for word, flag in LIBRARIES.items() if word in text]
    if "#pragma omp" in text or "omp.h" in text:
        call.append("-Xcompiler=-fopenmp")
    return call


def build(program: dict[str, str], folder: Path) -> tuple[Path, str]:
    """The program that nvcc made, or an empty path and what nvcc said."""
    binary = (folder / "bin" / program["id"]).resolve()
    call = nvcc_call(program, folder / "sources", binary, FLAGS)
    done = subprocess.run(call, capture_output=True, text=True, errors="replace")
    errors = [row for row in done.stderr.splitlines() if "error" in row or "undefined" in row]
    return (binary, "") if done.returncode == 0 else (Path(), (errors or ["?"])[0])


def words(text: str, binary: str) -> list[str]:
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


def difference(cpu: str, gpu: str, binary: str, tolerance: float) -> str:
    ours, theirs = words(cpu, binary), words(gpu, binary)
    for a, b in zip(ours, theirs):
        if not same(a, b, tolerance):
            return f"{a!r} here, {b!r} on the GPU"
    return "" if len(ours) == len(theirs) else f"{len(ours)} words here, {len(theirs)} on the GPU"


def judged(program: dict[str, str], binary: Path, errors: str, folder: Path, options: argparse.Namespace) -> dict:
    verdict = {"id": program["id"], "verdict": "not built", "reason": errors[:200]}
    if errors:
        return verdict
    first = folder / "sources" / Path(program["files"].split()[0]).parent
    try:
        done = subprocess.run([str(binary), *program["arguments"].split()], cwd=first, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return verdict | {"verdict": "too slow", "reason": ""}
    (folder / "gpu_outputs").mkdir(exist_ok=True)
    (folder / "gpu_outputs" / f"{program['id']}.txt").write_bytes(done.stdout)
    gpu = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        said = (done.stderr.decode(errors="replace") + gpu).strip().splitlines() or [""]
        return verdict | {"verdict": "failed", "reason": f"exit code {done.returncode}: {said[-1]}"[:200]}
    cpu = (folder / "outputs" / f"{program['id']}.txt").read_text(errors="replace")
    apart = difference(cpu, gpu, str(binary), options.tolerance)
    return verdict | {"verdict": "differs" if apart else "equal", "reason": apart[:200]}


def run(options: argparse.Namespace) -> None:
    folder = options.folder.resolve()
    (folder / "bin").mkdir(exist_ok=True)
    rows = json.loads((folder / "programs.json").read_text(encoding="utf-8"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda program: build(program, folder), rows))
    outcomes = []
    for program, (binary, errors) in zip(rows, built):
        outcome = judged(program, binary, errors, folder, options)
        outcomes.append(outcome)
        print(f"{outcome['id']}: {outcome['verdict']} {outcome['reason']}", flush=True)
        verdicts = dict(Counter(o["verdict"] for o in outcomes))
        report = {"tolerance": options.tolerance, "verdicts": verdicts, "programs": outcomes}
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    for flag in ("--list", "--outputs", "--repositories", "--to"):
        packing.add_argument(flag, type=Path, required=True)
    running = verbs.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--report", type=Path, required=True)
    running.add_argument("--limit", type=float, default=20, help="seconds for each program")
    running.add_argument("--tolerance", type=float, default=1e-3, help="relative, of numbers")
    options = parser.parse_args()
    if options.verb == "run" and shutil.which("nvcc") is None:
        sys.exit("corpus_on_gpu.py: nvcc is not on the PATH")
    pack(options) if options.verb == "pack" else run(options)


if __name__ == "__main__":
    main()
