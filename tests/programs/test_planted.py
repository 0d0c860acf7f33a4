#!/usr/bin/env python3
"""Thirteen kinds of faults in each of six programs: how many are named with their place, and what is found besides.

Usage: test_planted.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "planted"
# What check calls each kind; the enumerators of planted.hpp.
KINDS = {
    "kRace": "shared-memory race",
    "kMissingBarrier": "shared-memory race",
    "kPastGlobal": "access out of bounds",
    "kPastShared": "access out of bounds",
    "kFreed": "access out of bounds",
    "kUninitialised": "uninitialised shared memory",
    "kMisaligned": "misaligned access",
    "kDivergentBarrier": "divergent barrier",
    "kWrongMask": "wrong warp mask",
    "kHostPointer": "host pointer on the device",
    "kDevicePointer": "device pointer on the host",
    "kWrongSize": "copy of the wrong size",
    "kNotCopied": "uninitialised global memory",
}
ASKED_FOR = {"kNotCopied": "--uninitialised"}  # kinds that are found only then
MARK = re.compile(r"// BUG (\w+)(?: ([\w<>]+) ([\d,]+) ([\d,]+))?")
PROGRAMS = sorted(f.stem for f in FOLDER.glob("*.cu"))


def planted(name: str) -> dict[str, tuple]:
    """(kind, line, kernel, block, thread) of each fault, as the marks in the source have it"""
    faults, marks = {}, []
    for line, row in enumerate((FOLDER / f"{name}.cu").read_text().splitlines(), 1):
        if mark := MARK.search(row):  # of the next line of code
            marks.append(mark.groups(""))
            continue
        for fault, *place in marks:
            faults[fault] = (KINDS[fault], line, *place)
        marks = []
    return faults


def found(name: str, *flags: str) -> list[tuple]:
    call = [PROGRAM, "check", *flags, f"{name}.cu", "--json", "-", "--threads", "1"]
    outcome = subprocess.run(call, cwd=FOLDER, capture_output=True, text=True, timeout=240)
    return [
        (f["kind"], f["line"], f["kernel"], f["block"], f["thread"])
        for f in json.loads(outcome.stdout)["findings"]
        for _ in range(f.get("times", 1))
    ]


class Planted(unittest.TestCase):
    maxDiff = None

    def test_each_program_has_each_kind(self):
        self.assertEqual(len(PROGRAMS), 6)
        for name in PROGRAMS:
            self.assertEqual(planted(name).keys(), KINDS.keys(), name)

    def expect_faults(self, kinds: set[str], *flags: str):
        caught, missed, extra = 0, [], []
        with ThreadPoolExecutor(2) as pool:
            for name, findings in zip(PROGRAMS, pool.map(lambda name: found(name, *flags), PROGRAMS)):
                for fault, truth in planted(name).items():
                    if fault not in kinds:
                        continue
                    if truth in findings:
                        findings.remove(truth)
                        caught += 1
                    else:
                        missed.append((name, fault, truth))
                extra += [(name, *finding) for finding in findings]
        print(f"{caught} of {caught + len(missed)} faults named, {len(extra)} findings besides")
        self.assertEqual(missed, [])
        self.assertEqual(extra, [])  # the run without a fault is silent

    def test_faults_are_named_with_their_place_and_nothing_else_is_found(self):
        self.expect_faults(KINDS.keys() - ASKED_FOR.keys())

    def test_more_is_found_where_it_is_asked_for(self):
        self.expect_faults(set(KINDS), *ASKED_FOR.values())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
