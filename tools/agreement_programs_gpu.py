#!/usr/bin/env python3
"""What a GPU counts for kernels of published programs, in four minutes on 16 processors:

  agreement_programs_gpu.py FOLDER OUT

FOLDER is what `tools/agreement_programs.py pack` wrote. Needs nvcc and ncu, and no network. OUT gets a folder for each
row of the list: counters_N.csv.gz and source_N.jsonl.gz of each run, log.txt, and the program's machine code as *.cubin.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from agreement_raw import COUNTERS, FMAS
from corpus_on_gpu import MOVED, nvcc_call

PATIENCE = {"nvcc": 240, "ncu": 60}  # seconds
FLAGS = ["-O3", "-lineinfo", "-arch=sm_90", "-std=c++17", "-w", "--extended-lambda", *MOVED]


def said(call: list[str], log: Path, **more) -> str:
    """What the command printed; its log keeps that, too."""
    begin = time.monotonic()
    try:
        done = subprocess.run(call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=PATIENCE.get(call[0], 30), **more)
        end = f"exit code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        done, end = late, "too slow"
    text = done.stdout if isinstance(done.stdout, str) else (done.stdout or b"").decode(errors="replace")
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(call)}\n{text[-4000:]}\n({end}, {time.monotonic() - begin:.1f} s)\n")
    return text


def build(row: dict, folder: Path, out: Path) -> Path:
    """The program, which is missing if nvcc refuses it; its machine code lies in `out`."""
    binary = (folder / "bin" / row["program"]).resolve()
    said(nvcc_call(row, folder / "sources", binary, FLAGS), out / "log.txt")
    if binary.is_file():
        said(["cuobjdump", "-xelf", "all", str(binary)], out / "log.txt", cwd=out)
    return binary


def profile(row: dict, which: list[str], binary: Path, folder: Path, report: Path, log: Path) -> None:
    """One run of the program, in which Nsight Compute looks at the launches that `which` asks for."""
    first = folder / "sources" / Path(row["files"].split()[0]).parent
    call = ["ncu", "--clock-control", "none", "--cache-control", "none", "--section", "SourceCounters",
            "--metrics", ",".join([*COUNTERS.values(), *FMAS]), *which, "--force-overwrite",
            "--export", str(report.resolve()), str(binary), *row["arguments"].split()]
    said(call, log, cwd=first)


def selections(row: dict) -> Iterator[tuple[list[str], list[str]]]:
    """(kernels, how to ask for their launch): all in one run, which ends with the last, and then each in a whole run."""
    kernels = row["kernels"].split()
    yield kernels, ["--kernel-id", f"::regex:^({'|'.join(kernels)})$:{row['launch']}",
                    "--launch-count", str(len(kernels)), "--kill", "yes"]
    for name in kernels:
        yield [name], ["--kernel-name", f"regex:^{name}$", "--launch-skip", str(int(row["launch"]) - 1),
                       "--launch-count", "1"]


def export(report: Path, out: Path, number: int) -> None:
    """What a report holds, as files of `out`."""
    log = out / "log.txt"
    call = ["ncu", "--import", str(report), "--csv", "--page", "raw", "--print-kernel-base", "mangled",
            "--print-units", "base"]
    csv = subprocess.run(call, capture_output=True).stdout
    with gzip.open(out / f"counters_{number}.csv.gz", "wb") as file:
        file.write(csv)
    tool = Path(__file__).with_name("extract_instructions.py")
    said([sys.executable, str(tool), str(report), str(out / f"source_{number}.jsonl.gz")], log)


def profiled(report: Path, kernels: list[str]) -> set[str]:
    """Those of the kernels that the report has."""
    if not report.is_file():
        return set()
    done = subprocess.run(["ncu", "--import", str(report), "--csv", "--page", "raw", "--print-kernel-base", "function"],
                          capture_output=True, text=True, errors="replace")
    return {name for name in kernels if f'"{name}"' in done.stdout}


def profile_all(row: dict, binary: Path, folder: Path, out: Path, pool: ThreadPoolExecutor) -> list[Future]:
    missing, exports = set(row["kernels"].split()), []
    for number, (kernels, which) in enumerate(selections(row)):
        if missing.isdisjoint(kernels):
            continue
        report = folder / "bin" / f"{row['row']}_{number}.ncu-rep"
        profile(row, which, binary, folder, report, out / "log.txt")
        there = profiled(report, kernels)
        missing -= there
        if there:
            exports.append(pool.submit(export, report, out, number))
    print(f"{row['row']}: {'missing ' + ' '.join(sorted(missing)) if missing else 'profiled'}", flush=True)
    return exports


def write_origin(out: Path) -> None:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    origin = {"gpu": said(query, out / "log.txt").strip().split(", ")[0], "date": time.strftime("%Y-%m-%d"),
              "nvcc": said(["nvcc", "--version"], out / "log.txt"), "ncu": said(["ncu", "--version"], out / "log.txt")}
    (out / "origin.json").write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")


def main(folder: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_origin(out)
    rows = json.loads((folder / "programs.json").read_text(encoding="utf-8"))
    (folder / "bin").mkdir(exist_ok=True)
    begin = time.monotonic()
    with ThreadPoolExecutor() as pool:
        built, exports = {}, []
        for row in rows:
            (out / row["row"]).mkdir(parents=True, exist_ok=True)
            if row["program"] not in built:
                built[row["program"]] = pool.submit(build, row, folder, out / row["program"])
        for row in rows:
            binary = built[row["program"]].result()
            if binary.is_file():
                exports += profile_all(row, binary, folder, out / row["row"], pool)
            else:
                print(f"{row['row']}: not built", flush=True)
        for each in exports:
            each.result()
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    for tool in ("nvcc", "ncu"):
        if shutil.which(tool) is None:
            sys.exit(f"agreement_programs_gpu.py: {tool} is not on the PATH")
    main(options.folder.resolve(), options.out.resolve())
