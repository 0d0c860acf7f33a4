#!/usr/bin/env python3
"""Builds and runs the programs of a list with `warpladder VERB`, and writes how each ended.

The list names programs by repository, commit and files, one a line, fields apart by tabs; the clones
lie in one folder, brought by whoever runs this. The report holds verdicts, never a program's code.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

FIELDS = ("id", "repository", "commit", "files", "includes", "defines", "arguments")
PATIENCE = 10  # on the clock, times the limit: a program may wait for something
REFUSED = 2  # warpladder's exit code for sources that it cannot build
# What programs print of their own checks, in their own words.
FAILED = re.compile(r"\b(?:fail(?:ed|ure)?|mismatch|wrong|incorrect)\b", re.IGNORECASE)
HARMLESS = re.compile(r"\b(?:0|no|without|not) (?:\w+ )?fail|if it fail|fail(?:ed)?:? *0|as expected", re.IGNORECASE)


def programs(list_file: Path) -> list[dict[str, str]]:
    rows = list_file.read_text(encoding="utf-8").splitlines()[1:]
    return [dict(zip(FIELDS, (row.split("\t") + [""] * len(FIELDS)))) for row in rows if row.strip()]


def command(program: dict[str, str], options: argparse.Namespace) -> list[str]:
    call = [str(options.program.resolve()), options.verb]
    if options.gpu:
        call += ["--gpu", options.gpu]
    for folder in program["includes"].split():
        path = options.repositories / folder
        if path.is_dir():
            call += ["-I", str(path.resolve())]
    for define in program["defines"].split():
        call += ["-D", define]
    call += [str((options.repositories / f).resolve()) for f in program["files"].split()]
    return call + ["--", *program["arguments"].split()]


def processes_of(session: int) -> dict[int, int]:
    """The processor ticks that each process of a session has used, the children that it waited for included."""
    ticks = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[3]) == session:
            ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    return ticks


def kill_session(session: int) -> None:
    for process in processes_of(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def wait(child: subprocess.Popen, options: argparse.Namespace) -> tuple[bytes, bytes, float, bool]:
    """(output, errors, processor seconds so far, whether it ended by itself)"""
    begin = time.monotonic()
    used = 0.0
    while True:
        try:
            return *child.communicate(timeout=0.25), used, True
        except subprocess.TimeoutExpired:
            used = sum(processes_of(child.pid).values()) / os.sysconf("SC_CLK_TCK")
        passed = time.monotonic() - begin
        late = passed > options.limit if options.by_clock else used > options.limit
        if late or passed > PATIENCE * options.limit:
            kill_session(child.pid)
            return *child.communicate(), used, False


def run(program: dict[str, str], options: argparse.Namespace) -> dict:
    """How one program ended, and after which seconds of processor time: a busy machine tells no other."""
    if not program["files"]:
        return {"id": program["id"], "verdict": "not built", "seconds": 0.0, "reason": "the list names no file of it"}
    first = (options.repositories / program["files"].split()[0]).resolve()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(
        command(program, options),
        cwd=first.parent if first.parent.is_dir() else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    output, errors, used, ended = wait(child, options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = max(used, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    code = child.returncode if ended else None
    out = output.decode(errors="replace").splitlines()
    said = [row for row in errors.decode(errors="replace").splitlines() if row.strip()]
    verdict, reason = judge(code, out, said)
    if options.outputs and code is not None and not our_words(said):
        options.outputs.mkdir(parents=True, exist_ok=True)
        (options.outputs / f"{program['id']}.txt").write_bytes(output)
    return {"id": program["id"], "verdict": verdict, "seconds": round(seconds, 1), "reason": reason[:200]}


def our_words(said: list[str]) -> list[str]:
    """What warpladder says of a program, which did not end by itself then."""
    return [row for row in said if ": block (" in row or row.startswith("warpladder:")]


def judge(code: int | None, out: list[str], said: list[str]) -> tuple[str, str]:
    if code is None:
        return "too slow", ""
    refusal = next((row for row in said if row.startswith("warpladder:")), None)
    if code == REFUSED and refusal:  # without a sentence it is the program's own exit code
        return "not built", without_folders(refusal)
    if code != 0:
        return "stopped", without_folders((our_words(said) or said or out or [""])[-1])
    doubt = next((row for row in out if FAILED.search(row) and not HARMLESS.search(row)), None)
    return ("wrong", doubt.strip()) if doubt else ("ran", "")


def without_folders(row: str) -> str:
    """The names of files alone: where the clones lie is nobody's business."""
    return re.sub(r"(?<![\w.])/(?:[\w.@+-]+/)+", "", row)


def summary(options: argparse.Namespace) -> str:
    """A report as a table in Markdown, by repository."""
    verdicts = {p["id"]: p["verdict"] for p in json.loads(options.report.read_text(encoding="utf-8"))["programs"]}
    names = ["ran", "wrong", "stopped", "not built", "too slow", "not measured"]
    counts: dict[str, Counter] = {}
    for program in programs(options.list):
        verdict = verdicts.get(program["id"], "not measured")
        for row in (program["repository"], "**all**"):
            counts.setdefault(row, Counter())[verdict] += 1
    counts["**all**"] = counts.pop("**all**")  # last
    lines = ["| repository | programs | " + " | ".join(names) + " |", "|---|" + "---|" * (len(names) + 1)]
    for repository, count in counts.items():
        cells = [str(count.total()), *(str(count[name]) for name in names)]
        lines.append(f"| {repository} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", type=Path, required=True, help="the programs, as a .tsv")
    parser.add_argument("--report", type=Path, required=True, help="the .json to write")
    parser.add_argument("--repositories", type=Path, help="the folder of the clones")
    parser.add_argument("--summary", action="store_true", help="print the report that is there as a table")
    parser.add_argument("--program", type=Path, default=Path("build/bin/warpladder"))
    parser.add_argument("--verb", default="run", choices=("run", "check", "explain"))
    parser.add_argument("--gpu", default="", help="the GPU that the programs see, as warpladder names it")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each program, of processors")
    parser.add_argument("--by-clock", action="store_true", help="the limit is on the clock: on a quiet machine")
    parser.add_argument("--outputs", type=Path, help="a folder for what programs print that end by themselves")
    parser.add_argument("--only", default="", help="a pattern that the id must match")
    options = parser.parse_args()
    if options.summary:
        print(summary(options))
        return
    if not options.repositories or not options.repositories.is_dir():
        sys.exit(f"corpus.py: --repositories {options.repositories} is no folder")
    outcomes = []
    for program in programs(options.list):
        if not re.search(options.only, program["id"]):
            continue
        outcome = run(program, options)
        outcomes.append(outcome)
        print(f"{outcome['id']}: {outcome['verdict']} ({outcome['seconds']} s) {outcome['reason']}", flush=True)
        verdicts = dict(Counter(o["verdict"] for o in outcomes))
        report = {"verb": options.verb, "limit_s": options.limit, "verdicts": verdicts, "programs": outcomes}
        if options.gpu:
            report["gpu"] = options.gpu
        options.report.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
