#!/usr/bin/env python3
"""What the flags of docs/compile-flow.md do to time and error, on this machine's GPU.

Usage: measure.py FILE.json [--arch 90] [--programs FOLDER] [--compile-only]
It compiles the examples once for each set of flags, runs each in turns, and writes all samples. It needs
nvcc and a GPU. With --compile-only it needs no GPU and writes no file. With --programs it keeps the programs
in that folder, and compiles none that lies there: so they can be compiled on another machine. Programs with
-dlto are left out where nvlink finds no libnvvm.so.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples" / "compile_flow"
ROUNDS = 3
MATHS = ["", "--use_fast_math", "-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fmad=false"]


def compiled(folder: Path, name: str, arguments: list) -> Path | None:
    program = folder / name
    if program.is_file():
        return program
    done = subprocess.run(
        ["nvcc", "-std=c++20", "-O3", *map(str, arguments), "-o", str(program)], capture_output=True, text=True
    )
    if done.returncode == 0:
        return program
    if "library load error" in done.stderr:
        print(f"{name} is left out: nvlink finds no libnvvm.so", file=sys.stderr)
        return None
    sys.exit(f"{name}: {done.stderr.strip()}")


def programs(folder: Path, arch: str) -> dict:
    """(what, flags) → program."""
    machine = [f"-gencode=arch=compute_{arch},code=sm_{arch}"]
    found = {}
    for number, flags in enumerate(MATHS):
        source = HERE / "normalise_speed.cu"
        found["normalise", flags or "default"] = compiled(
            folder, f"normalise{number}", [*machine, *flags.split(), source]
        )
    driver, other = HERE / "row_03_speed.cu", EXAMPLES / "outer_product.cu"
    rung = [f"-I{ROOT / 'src'}", "-DWARPLADDER_FLAVOUR=gpu", "--expt-relaxed-constexpr", driver]
    found["row_03", "whole program"] = compiled(folder, "whole", [*machine, *rung, "-include", other])
    found["row_03", "-rdc=true"] = compiled(folder, "rdc", [*machine, *rung, "-rdc=true", other])
    found["row_03", "-rdc=true -dlto"] = compiled(
        folder, "lto", [f"-arch=sm_{arch}", *rung, "-rdc=true", "-dlto", other]
    )
    return {key: program for key, program in found.items() if program}


def gpu_facts() -> dict:
    query = "name,driver_version,clocks.max.sm,clocks.max.mem"
    done = subprocess.run(
        ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True, check=True
    )
    name, driver, sm, memory = [word.strip() for word in done.stdout.splitlines()[0].split(",")]
    return {"GPU": name, "driver": driver, "SM clock, at most": sm, "memory clock": memory}


def measured(found: dict) -> list:
    """In turns, so that whatever else the machine does falls on all alike."""
    rows = {
        key: {"op": "compile_flow", "rung": key[0], "variant": key[1], "shape": [], "samples_s": []} for key in found
    }
    for _ in range(ROUNDS):
        for key, program in found.items():
            said = json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
            rows[key]["samples_s"] += said.pop("samples_s")
            rows[key].update(said)
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--arch", default="90")
    parser.add_argument("--programs", metavar="FOLDER", type=Path)
    parser.add_argument("--compile-only", action="store_true")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = flags.programs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = programs(folder, flags.arch)
        print(f"{len(found)} programs compiled")
        if flags.compile_only:
            return
        rows = measured(found)
    report = {
        "schema_version": 1,
        "verb": "bench",
        "argv": ["measure.py", Path(flags.file).name, "--arch", flags.arch],
        "target": "gpu",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": {"gpu": gpu_facts()},
        "rows": rows,
    }
    Path(flags.file).write_text(json.dumps(report, indent=2) + "\n")
    for row in rows:
        error = row.get("worst_relative_error")
        print(f"{row['rung']:10} {row['variant']:18} {1e6 * statistics.median(row['samples_s']):9.1f} µs"
              + (f"  worst relative error {error:.2g}" if error is not None else ""))


if __name__ == "__main__":
    main()
