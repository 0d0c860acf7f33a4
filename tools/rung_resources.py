#!/usr/bin/env python3
"""Registers and static shared memory of every rung's kernels, as nvcc compiles them for sm_80 and sm_90a.

Usage: rung_resources.py [--check | --missing] [OP/RUNG...]

Writes src/lab/rung_resources.tsv, from which explain knows them on machines without nvcc: rung, kernel,
architecture, registers, bytes. With rungs it compiles those alone and keeps the other rows. --check changes
nothing and exits 1 where rows differ. --missing compiles nothing and exits 1 where a rung has no rows for an
architecture. Compiling needs nvcc and no GPU; without nvcc it exits 77.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src/lab/rung_resources.tsv"
# Code for sm_80 runs on all GPUs of compute capability 8.x, code for sm_90a on Hopper's.
ARCHITECTURES = ("sm_80", "sm_90a")
# What the build gives nvcc for the GPU flavour.
FLAGS = ["-std=c++20", "-O3", "-DNDEBUG", "-DWARPLADDER_FLAVOUR=gpu", "-DWARPLADDER_HOPPER_CODE=1",
         "--expt-relaxed-constexpr", "-lineinfo"]
NO_NVCC = 77


def name_of(source: Path) -> str:
    return f"{source.parts[-3]}/{source.name.removesuffix('.cu').removesuffix('.sm90a')}"


def has_kernels(source: Path) -> bool:
    """Not so on the host, nor where NVRTC compiles them when the problem is known."""
    text = source.read_text(encoding="utf-8")
    return ".on_host = true" not in text and ".compiler = true" not in text


def demangled(symbols: list[str]) -> list[str]:
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def plain_name(name: str) -> str:
    """multiply<Tile<4,8>> of void warpladder::sgemm::(anonymous namespace)::multiply<sgemm::Tile<4, 8> >(…)"""
    name = re.sub(r"\(anonymous namespace\)::|\b\w+::", "", name)
    depth = 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if depth == 0 and c == "(":
            name = name[:i]
            break
    return name.removeprefix("void ").replace(" ", "")


def kernels_of(ptxas: str) -> list[tuple[str, int, int]]:
    """(name, registers, bytes of static shared memory) of each kernel, from ptxas -v."""
    symbols, rows = [], []
    for line in ptxas.splitlines():
        if entry := re.search(r"Compiling entry function '(\w+)'", line):
            symbols.append(entry[1])
        elif used := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            rows.append((int(used[1]), int(shared[1]) if shared else 0))
    names = [plain_name(name) for name in demangled(symbols)]
    return [(name, *row) for name, row in zip(names, rows, strict=True)]


def architectures_of(source: Path) -> tuple[str, ...]:
    return ARCHITECTURES[1:] if source.name.endswith(".sm90a.cu") else ARCHITECTURES


def compiled(source: Path) -> list[str]:
    """The rung's rows, in the table's order."""
    rows: set[str] = set()
    for architecture in architectures_of(source):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["nvcc", *FLAGS, f"-arch={architecture}", "-I", str(ROOT / "src"), "-cubin",
                 "-Xptxas", "-v", "-o", f"{folder}/rung.cubin", str(source)],
                capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"rung_resources: nvcc failed on {source.relative_to(ROOT)}:\n{done.stderr}")
        rows |= {f"{name_of(source)}\t{kernel}\t{architecture}\t{registers}\t{shared}"
                 for kernel, registers, shared in kernels_of(done.stderr)}
    return sorted(rows)


def read_table() -> dict[str, list[str]]:
    """The rows of each rung."""
    table: dict[str, list[str]] = {}
    for row in TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []:
        table.setdefault(row.split("\t")[0], []).append(row)
    return table


def write_table(table: dict[str, list[str]]) -> None:
    rows = [row for rung in sorted(table) for row in table[rung]]
    TABLE.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def missing(sources: list[Path], table: dict[str, list[str]]) -> list[str]:
    """A sentence for each rung and architecture without rows."""
    sentences = []
    for source in sources:
        known = {row.split("\t")[2] for row in table.get(name_of(source), [])}
        sentences += [f"{name_of(source)} has no rows for {architecture}"
                      for architecture in architectures_of(source) if architecture not in known]
    return sentences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rungs", nargs="*", metavar="OP/RUNG")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    sources = [source for source in sorted((ROOT / "src/ops").glob("*/rungs/*.cu")) if has_kernels(source)]
    unknown = set(options.rungs) - {name_of(source) for source in sources}
    if unknown:
        print(f"rung_resources: unknown rung {min(unknown)}", file=sys.stderr)
        return 2
    if options.missing:
        sentences = missing(sources, read_table())
        print("".join(sentence + "\n" for sentence in sentences), end="")
        return 1 if sentences else 0
    if not shutil.which("nvcc"):
        print("rung_resources: nvcc is not in PATH", file=sys.stderr)
        return NO_NVCC
    before = read_table()
    table = {rung: rows for rung, rows in before.items() if rung in map(name_of, sources)}
    for source in sources:
        rung = name_of(source)
        if options.rungs and rung not in options.rungs:
            continue
        table[rung] = compiled(source)
        print(f"{rung}: compiled", file=sys.stderr)
        if not options.check:
            write_table(table)
    if not options.check:
        return 0
    old, new = (set().union(*rows.values()) for rows in (before, table))
    for row in sorted(old ^ new):
        print(f"{'only in the table' if row in old else 'only compiled'}: {row}")
    return 1 if old != new else 0


if __name__ == "__main__":
    sys.exit(main())
