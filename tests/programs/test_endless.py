#!/usr/bin/env python3
"""A kernel or host code that never ends is a finding, with its name and line; a launch that began is counted.

Usage: test_endless.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "endless"
FILE = "loops.cu"
# The kernel of each loop, the launches of it that began, and the line's mark; host code has no kernel.
LOOPS = {
    "kernel": ("wait_for", 2, "KERNEL"),
    "repeat": ("wait_for", 2, "KERNEL"),
    "registers": ("multiply", 1, "REGISTERS"),
    "nothing": ("stay", 1, ""),  # no instruction that has a line
    "barrier": ("meet", 1, "BARRIER"),
    "host": ("", 0, "HOST"),
}


def marked_lines(mark: str) -> list[int]:
    """The loop's line and its neighbours, which g++ may give a loop's instructions."""
    if not mark:
        return [0]
    rows = (FOLDER / FILE).read_text().splitlines()
    line = next(number for number, row in enumerate(rows, 1) if row.endswith(f"// {mark}"))
    return [line - 1, line, line + 1]


def call(verb: str, loop: str, *flags: str) -> list[str]:
    return [PROGRAM, verb, FILE, *flags, "--", loop]


class Endless(unittest.TestCase):
    def test_check_names_what_does_not_end_and_counts_the_launches(self):
        for loop, (kernel, launched, mark) in LOOPS.items():
            with self.subTest(loop):
                outcome = subprocess.run(
                    call("check", loop, "--timeout", "0.5", "--json", "-"), cwd=FOLDER, capture_output=True, text=True, timeout=60
                )
                self.assertEqual(outcome.returncode, 1, outcome.stderr)
                report = json.loads(outcome.stdout)
                self.assertEqual(len(report["findings"]), 1, report)
                finding = report["findings"][0]
                self.assertEqual((finding["kind"], finding["kernel"]), ("endless loop", kernel))
                self.assertIn(finding["line"], marked_lines(mark))
                self.assertIn("has run for 0.5 s of processor time without an end", finding["sentence"])
                counted = {k["kernel"]: k["launched"] for k in report["kernels"]}
                self.assertEqual(counted.get(kernel, 0), launched)
                if loop == "host":
                    self.assertIn("since launch 1 of fill", finding["sentence"])
                    self.assertEqual(counted, {"fill": 1})

    def test_explain_takes_the_limit_too(self):
        for loop in ("kernel", "repeat", "host"):
            with self.subTest(loop):
                outcome = subprocess.run(
                    call("explain", loop, "--timeout", "0.5", "--brief"), cwd=FOLDER, capture_output=True, text=True, timeout=60
                )
                self.assertEqual(outcome.returncode, 1, outcome.stderr)
                self.assertRegex(outcome.stderr, r"^loops\.cu:\d+: endless loop: ")
                self.assertNotIn("launched no kernel", outcome.stderr)

    def test_advice_comes_while_a_launch_still_runs(self):
        outcome = subprocess.run(
            call("check", "kernel", "--timeout", "2", "--budget", "0.5"), cwd=FOLDER, capture_output=True, text=True, timeout=60
        )
        self.assertRegex(outcome.stderr, r"warpladder: after \d+ s launch 2 of wait_for still runs; --launch 1 looks at")

    def test_a_signal_does_not_lose_the_launches(self):
        for verb in ("check", "explain"):
            with self.subTest(verb):
                process = subprocess.Popen(
                    call(verb, "kernel"), cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                self.assertEqual(process.stdout.readline(), "begun\n")
                time.sleep(1)  # the launch behind the line begins
                process.terminate()
                _, said = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assertNotIn("o kernel was launched", said)
                self.assertIn("the program was ended by signal 15 (Terminated) while launch 2 of wait_for ran", said)

    def test_a_limit_is_a_number(self):
        outcome = subprocess.run(call("check", "kernel", "--timeout", "soon"), cwd=FOLDER, capture_output=True, text=True, timeout=60)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("--timeout", outcome.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
