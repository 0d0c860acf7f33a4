#!/usr/bin/env python3
"""Rungs that are wrong on purpose (tests/apps/planted): verify and explain name what is wrong, where.

Usage: test_planted.py PROGRAM [TEST...]; PROGRAM holds those rungs alone.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import test_command_line as cli
from test_command_line import CHECK_FAILED, run

RUNGS = Path(__file__).parent / "planted/ops/transpose/rungs"


def line_of(stem: str, words: str) -> int:
    lines = (RUNGS / f"{stem}.cu").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


class Planted(cli.CommandLine):
    def failed(self, *arguments, env=None):
        done = run(*arguments, env=env)
        self.assertEqual(done.returncode, CHECK_FAILED, (arguments, done.stderr))
        return done.stdout.decode() + done.stderr.decode()

    def words(self, *arguments) -> str:
        """The same on one line, wherever its lines are broken."""
        return " ".join(self.failed(*arguments).split())

    def assert_named(self, stem: str, words: str, line: int, *flags) -> str:
        text = self.words("verify", f"transpose/{stem}", *flags)
        self.assertIn(f"{stem}.cu:{line}: {words}", text)
        return text

    def test_a_null_pointer(self):
        line = line_of("null_pointer", "nullptr")
        text = self.assert_named("null_pointer", "host pointer on the device", line)
        self.assertIn("thread (5,0,0)", text)
        explained = self.failed("explain", "transpose/null_pointer")
        self.assertIn(f"null_pointer.cu:{line}: host pointer", explained)

    def test_a_crash_where_nothing_is_checked(self):
        text = self.failed("verify", "transpose/null_pointer", "--fast")
        self.assertRegex(text, r"transpose/null_pointer \S+ crashed: an access outside of memory")
        self.assertEqual(len(text.splitlines()), 1)

    def test_an_access_past_the_end_that_changes_no_result(self):
        line = line_of("past_the_end", "1 << 16")
        text = self.assert_named("past_the_end", "access out of bounds", line)
        self.assertIn("reads 4 bytes 262140 bytes past the end of the input, 4 bytes", text)
        self.assertEqual(run("verify", "transpose/past_the_end", "--fast").returncode, 0)

    def test_what_failed_for_other_programs(self):
        flags = ["--shape", "65x3", "--csv", self.path("v.csv"), "--junit", self.path("v.xml")]
        self.failed("verify", "transpose/past_the_end", *flags)
        (case,) = ElementTree.parse(self.path("v.xml")).getroot().iter("testcase")
        self.assertIn("out of bounds", case.find("failure").get("message"))
        with open(self.path("v.csv"), newline="") as file:
            (line,) = csv.DictReader(file)
        self.assertEqual(line["failure"], case.find("failure").get("message"))

    def test_endless_loops(self):
        line = line_of("endless_loop", "while")
        flags = ["--shape", "32x32", "--timeout", "0.5"]
        text = self.words("verify", "transpose/endless_loop", *flags)
        found = re.search(r"endless_loop\.cu:(\d+): endless loop", text)
        self.assertIsNotNone(found, text)
        self.assertLessEqual(abs(int(found[1]) - line), 1)
        self.assertIn("thread (3,", text)
        self.failed("explain", "transpose/endless_loop", *flags)
        text = self.words("verify", "transpose/endless_barrier", *flags)
        self.assertRegex(text, r"endless_barrier\.cu:\d+: endless loop")

    def test_an_endless_loop_where_nothing_is_checked(self):
        flags = ["--fast", "--timeout", "0.2"]
        text = self.failed("verify", "transpose/endless_loop", *flags)
        self.assertRegex(text, r"transpose/endless_loop \S+ does not end: an endless loop\?")

    def test_one_cause_is_told_once(self):
        rows = self.failed("verify", "transpose/null_pointer", "transpose/wrong_result", "--quiet")
        entries = [line for line in rows.splitlines() if line.startswith("- ")]
        self.assertEqual(len(entries), 2, rows)
        self.assertRegex(" ".join(rows.split()), r"in 68 of 71 cases, the smallest 1x1: .* - "
                         r"transpose/wrong_result: wrong in \d+ of 71 cases, the smallest \d+x\d+:")
        self.assertIn("0 rungs passed, 2 failed, 0 skipped", rows)
        self.assertNotIn("| rung", rows)
        for line in rows.splitlines():
            self.assertLessEqual(len(line), 100)

    def test_the_report_names_the_broken_rule(self):
        done = run("verify", "transpose/null_pointer", "--json", "-")
        cases = cli.json.loads(done.stdout)["rows"][0]["cases"]
        rules = [case["broken_rule"] for case in cases if case["failure"]]
        self.assertEqual({rule["line"] for rule in rules}, {line_of("null_pointer", "nullptr")})

    def test_fail_fast(self):
        done = run("verify", "transpose/wrong_result", "transpose/past_the_end", "--fail-fast",
                   "--json", "-")
        rows = {row["rung"]: row for row in cli.json.loads(done.stdout)["rows"]}
        self.assertEqual(done.returncode, CHECK_FAILED)
        failures = [case for row in rows.values() for case in row["cases"] if case["failure"]]
        self.assertEqual(len(failures), 1)

    def test_cases_that_run_at_once_change_no_report(self):
        rungs = [f"transpose/{stem}" for stem in ("null_pointer", "past_the_end", "wrong_result")]
        for flags in ([], ["--fail-fast"]):
            reports = []
            for threads in ("1", "2", "5"):
                done = run("verify", *rungs, *flags, "--threads", threads, "--json", "-")
                self.assertEqual(done.returncode, CHECK_FAILED)
                reports.append(cli.json.loads(done.stdout)["rows"])
            self.assertEqual(reports[0], reports[1])
            self.assertEqual(reports[0], reports[2])

    def test_bad_timeouts(self):
        for text in ("-1", "nan", "inf", "soon"):
            self.refused(cli.BAD_INPUT, "--timeout", "verify", "--timeout", text)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
