#!/usr/bin/env python3
"""How long programs of a list take from `warpladder run` to their first output, compiling included: the median of
three runs of each program of one source file with so many lines, and the median of those. On an idle machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from corpus import command, kill_session, programs


def seconds(program: dict[str, str], options: argparse.Namespace) -> float | None:
    """None if the program prints nothing."""
    folder = (options.repositories / program["files"]).parent
    begin = time.monotonic()
    with subprocess.Popen(command(program, options), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as child:
        first = os.read(child.stdout.fileno(), 1)
        passed = time.monotonic() - begin
        kill_session(child.pid)
    return passed if first else None


def lines_of(program: dict[str, str], options: argparse.Namespace) -> int:
    """0 for a program of several files, or of one that is not there."""
    file = options.repositories / program["files"]
    return len(file.read_text(errors="replace").splitlines()) if file.suffix == ".cu" and file.is_file() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", type=Path, required=True, help="the programs, as a .tsv")
    parser.add_argument("--repositories", type=Path, required=True, help="the folder of the clones")
    parser.add_argument("--program", type=Path, default=Path("build/bin/warpladder"))
    parser.add_argument("--lines", type=int, nargs=2, default=(150, 250), metavar=("LEAST", "MOST"))
    parser.set_defaults(verb="run", gpu="")
    options = parser.parse_args()
    medians = []
    for program in programs(options.list):
        lines = lines_of(program, options)
        if not options.lines[0] <= lines <= options.lines[1]:
            continue
        runs = [time_s for time_s in (seconds(program, options) for _ in range(3)) if time_s is not None]
        if runs:
            medians.append(statistics.median(runs))
            print(f"{program['id']}: {lines} lines, {medians[-1]:.2f} s", flush=True)
    if not medians:
        sys.exit("first_output.py: no such program prints anything")
    print(f"median of {len(medians)} programs: {statistics.median(medians):.2f} s")


if __name__ == "__main__":
    main()
