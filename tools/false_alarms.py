#!/usr/bin/env python3
"""Counts false alarms: what `warpladder check` finds in programs that compute-sanitizer finds clean.

  false_alarms.py run FOLDER --record FILE.json
      on a machine with a GPU: builds what corpus_on_gpu.py packed, and runs it under compute-sanitizer's tools
  false_alarms.py compare FILE.json… --checked REPORT.json…
      compares that with the reports of `corpus.py --verb check`; writes the report, and the part of
      docs/own-programs.md that says so

A finding is no false alarm because a tool says nothing: each has its cause beside it in the report, and the cause
says whether the program is wrong. A program whose cause is not known yet counts as a false alarm.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from corpus_on_gpu import DOCUMENT, ROOT, Runs, cell, gpu_name, share, write_between

REPORT = ROOT / "tests" / "programs" / "corpus_check.json"
BEGIN, END = "<!-- corpus: false alarms -->\n", "<!-- end: false alarms -->\n"
TOOLS = ("memcheck", "racecheck", "synccheck")
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) ")


class Sanitized(Runs):
    """Runs each program under one tool after the other, and goes on where an earlier recording ended."""

    def continued(self, rows: list[dict[str, str]], earlier: dict[str, dict]) -> list[dict]:
        ended = {name for name, record in earlier.items() if record["error"] or state(record) != "unfinished"}
        self.done = {name: record["runs"] for name, record in earlier.items() if name not in ended}
        records = self.all([row for row in rows if row["id"] not in ended])
        return [earlier[name] for name in sorted(ended)] + records

    def build(self, program: dict[str, str], record: dict) -> None:
        record["runs"] += self.done.get(program["id"], [])
        super().build(program, record)

    def run(self, program: dict[str, str], record: dict) -> None:
        if time.monotonic() > self.end:
            return
        tool = TOOLS[len(record["runs"])]
        first = self.folder / "sources" / Path(program["files"].split()[0]).parent
        call = ["compute-sanitizer", "--tool", tool, "--print-limit", "3", str(self.binary(program))]
        outcome: dict = {"tool": tool, "errors": None}
        try:
            done = subprocess.run(call + program["arguments"].split(), cwd=first, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=min(self.limit, self.patience()))
            said = SUMMARY.findall((done.stdout + done.stderr).decode(errors="replace"))
            outcome |= {"errors": sum(map(int, said)) if said else None, "code": done.returncode}
        except subprocess.TimeoutExpired:
            if time.monotonic() > self.end:
                return
        record["runs"].append(outcome)
        if outcome["errors"] == 0 and len(record["runs"]) < len(TOOLS):
            self.left.append(self.pool.submit(self.run, program, record))


def run(options: argparse.Namespace) -> None:
    if not shutil.which("nvcc") or not shutil.which("compute-sanitizer"):
        sys.exit("false_alarms.py: nvcc and compute-sanitizer must be on the PATH")
    rows = json.loads((options.folder / "programs.json").read_text(encoding="utf-8"))
    earlier = json.loads(options.after.read_text(encoding="utf-8"))["programs"] if options.after else []
    records = Sanitized(options).continued(rows, {record["id"]: record for record in earlier})
    options.record.write_text(json.dumps({"gpu": gpu_name(), "programs": records}) + "\n", encoding="utf-8")
    print(Counter(state(record) for record in records))


def state(record: dict) -> str:
    """What compute-sanitizer says of a program."""
    errors = [run["errors"] for run in record["runs"]]
    if any(errors):
        return "errors"
    if None in errors:
        return "too slow"
    return "clean" if len(errors) == len(TOOLS) else "unfinished"


def compare(options: argparse.Namespace) -> None:
    recordings = [json.loads(file.read_text(encoding="utf-8")) for file in options.record]
    records = {r["id"]: r for recording in recordings for r in recording["programs"]}
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in options.checked]
    checked = {p["id"]: p for report in reports for p in report["programs"]}
    known = json.loads(REPORT.read_text(encoding="utf-8"))["found"] if REPORT.is_file() else []
    causes = {p["id"]: p for p in known}
    clean = [i for i, record in records.items() if state(record) == "clean" and i in checked]
    ended = [i for i in clean if checked[i]["verdict"] not in ("too slow", "not built")]
    found = []
    for name in ended:
        if checked[name]["verdict"] == "stopped":
            judged = {"cause": "not explained", "false_alarm": True}
            judged |= {key: causes[name][key] for key in judged if key in causes.get(name, {})}
            found.append({"id": name, "finding": checked[name]["reason"]} | judged)
    report = {"gpu": recordings[-1]["gpu"], "tools": TOOLS, "clean": len(clean), "checked": len(ended), "found": found,
              "states": dict(Counter(state(record) for record in records.values()))}
    REPORT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = section(report)
    write_between(DOCUMENT, BEGIN, END, text)
    print(text)


def section(report: dict) -> str:
    """What the document says of a report."""
    alarms = [p for p in report["found"] if p["false_alarm"]]
    number = {0: "None of these findings is a false alarm", 1: "One of these findings is a false alarm"}
    lines = [
        f"compute-sanitizer's {', '.join(report['tools'])} find nothing in {report['clean']} programs of both lists on an "
        f"{report['gpu']}.",
        f"`check` runs {report['checked']} of them to an end within a minute, and finds something in "
        f"{len(report['found'])}.",
        f"{number.get(len(alarms), f'{len(alarms)} of these findings are false alarms')}: "
        f"{share(len(alarms), report['checked'])} of the programs "
        "([corpus_check.json](../tests/programs/corpus_check.json)).", "",
        "| Program | Finding | Why |", "|---|---|---|",
        *(f"| {p['id']} | {cell(p['finding'])} | {p['cause']} |" for p in report["found"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--record", type=Path, required=True, help="the .json to write")
    running.add_argument("--after", type=Path, help="an earlier recording, to be finished")
    running.add_argument("--jobs", type=int, default=0, help="at once; 0: one for each processor")
    running.add_argument("--limit", type=float, default=60, help="seconds for each run")
    running.add_argument("--seconds", type=float, default=500, help="for all; what is left then is not measured")
    running.set_defaults(runs=len(TOOLS))
    comparing = verbs.add_parser("compare")
    comparing.add_argument("record", type=Path, nargs="+")
    comparing.add_argument("--checked", type=Path, nargs="+", required=True, help="reports of corpus.py --verb check")
    options = parser.parse_args()
    {"run": run, "compare": compare}[options.verb](options)


if __name__ == "__main__":
    main()
