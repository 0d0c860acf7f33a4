#!/usr/bin/env python3
"""Builds a target and shows one line of progress; what failed is shown in full.

Usage: build.py FOLDER TARGET [--jobs N]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time

STEP = re.compile(r"^\[\s*(?:(\d+)/(\d+)|(\d+)%)\]\s*(.*)")  # of Ninja, and of make
SECONDS_TO_A_GUESS = 5
SECONDS_BETWEEN_LINES = 30  # where there is no terminal to draw on


def time_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def share_of(step: re.Match) -> float:
    return int(step[1]) / int(step[2]) if step[1] else int(step[3]) / 100


class Line:
    """One line that overwrites itself on a terminal; elsewhere a line now and then."""

    def __init__(self, target: str):
        self.target, self.begin, self.last = target, time.monotonic(), 0.0
        self.is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, share: float) -> None:
        now = time.monotonic()
        elapsed = now - self.begin
        text = f"building {self.target}: {100 * share:.0f} %"
        if elapsed > SECONDS_TO_A_GUESS and 0.02 < share < 1:
            text += f", about {time_text(elapsed * (1 - share) / share)} left"
        if self.is_terminal:
            print(f"\r{text[:(os.get_terminal_size(2).columns or 80) - 1]}\x1b[K", end="", file=sys.stderr)
        elif now - self.last > SECONDS_BETWEEN_LINES and elapsed > SECONDS_TO_A_GUESS:
            print(text, file=sys.stderr)
            self.last = now
        sys.stderr.flush()

    def end(self) -> None:
        if self.is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
        seconds = time.monotonic() - self.begin
        if seconds > SECONDS_TO_A_GUESS:
            print(f"built {self.target} in {time_text(seconds)}", file=sys.stderr)


def build(folder: str, target: str, jobs: int) -> int:
    command = ["cmake", "--build", folder, "--target", target, "--parallel", str(jobs)]
    # Neither a -j nor a variable that a make above was given may reach CMake's own.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    environment.pop("NINJA_STATUS", None)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=environment,
    )
    line, output = Line(target), []
    try:
        for row in process.stdout:
            step = STEP.match(row)
            if step:
                line.show(share_of(step))
            else:
                output.append(row)
        status = process.wait()
    except KeyboardInterrupt:  # which the build was sent, too
        process.wait()
        line.end()
        return 130
    line.end()
    if status or any("warning:" in row for row in output):
        sys.stderr.writelines(output)
    if status:
        print(f"building {target} failed", file=sys.stderr)
    return 1 if status else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, metavar="N")
    options = parser.parse_args()
    return build(options.folder, options.target, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
