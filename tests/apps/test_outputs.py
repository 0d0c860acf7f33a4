#!/usr/bin/env python3
"""Files that verbs write: nothing is lost, nothing is left behind, a signal included.

Usage: test_outputs.py PROGRAM [TEST...]
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

import test_command_line as cli
from test_command_line import BAD_INPUT, GOOD, environment, run

# Every verb's arguments with which it takes a moment, and its flags that name an output.
SMALL = {
    "list": ["vector_add"],
    "doctor": [],
    "run transpose": ["--a", "A"],
    "verify": ["vector_add", "--shape", "8"],
    "bench": ["vector_add", "--shape", "8"],
    "accuracy": ["sgemm/row_01_naive", "-a", "k=[4]", "--distribution", "uniform"],
    "explain": ["vector_add/01_one_per_thread", "--shape", "64"],
    "inspect": ["arrow:rows=5"],
}


def outputs_of(verb: str) -> list[str]:
    return re.findall(r"(--[a-z]+) FILE\|-", run(*verb.split(), "--help").stdout.decode())


class Outputs(cli.CommandLine):
    def setUp(self):
        super().setUp()
        cli.Matrix(3, 4, 1).write(self.path("a.npy"))

    def arguments(self, verb: str) -> list[str]:
        return [self.path("a.npy") if each == "A" else each for each in SMALL[verb]]

    def test_two_in_one_file_are_refused(self):
        os.symlink("o", self.path("link"))
        for verb, pairs in ((v, list(zip(outputs_of(v), outputs_of(v)[1:]))) for v in SMALL):
            for one, other in pairs:
                for a, b in (("o", "o"), ("o", "./o"), ("./o", self.path("o")), ("o", "link"),
                             ("-", "-"), ("-", "/dev/stdout"), ("/dev/fd/1", "-")):
                    with self.subTest(f"{verb} {one} {a} {other} {b}"):
                        self.refused(BAD_INPUT, "name the same file", *verb.split(),
                                     *self.arguments(verb), f"{one}={a}", f"{other}={b}",
                                     cwd=self.folder)
        self.assertEqual(self.names(), ["a.npy", "link"])
        self.good("inspect", "arrow:rows=5", "--svg=/dev/null", "--json=/dev/null")

    def test_every_output_can_be_standard_output(self):
        for verb in SMALL:
            flags = [flag for flag in outputs_of(verb) if (verb, flag) != ("bench", "--svg")]
            self.assertIn("--json", flags)
            for flag in flags:
                needed = ["--out=/dev/null"] if verb.startswith("run") and flag != "--out" else []
                words = [*verb.split(), *self.arguments(verb), *needed, flag]
                done = run(*words, self.path("file"))
                self.assertEqual(done.returncode, GOOD, (verb, flag))
                self.assertNotEqual(done.stdout, b"")
                written = (self.folder / "file").read_bytes()
                os.unlink(self.path("file"))
                done = run(*words, "-", cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (GOOD, b""), (verb, flag))
                self.assertEqual(done.stdout[:16], written[:16], (verb, flag))
                if flag == "--json":
                    self.assertEqual(json.loads(done.stdout).keys(), json.loads(written).keys())
                self.assertEqual(self.names(), ["a.npy"])

    def test_a_reader_that_goes_away_is_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            done = subprocess.run(
                [cli.PROGRAM, "bench", *SMALL["bench"], "--csv", "-"],
                stdout=pipe, stderr=subprocess.PIPE, env=environment(),
            )
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))


class Signals(cli.CommandLine):
    def test_nothing_is_left_of_a_file_that_was_being_written(self):
        rows = 3000
        cli.npy(self.path("a.npy"), (rows, rows), bytes(4 * rows * rows), code="B")
        command = [cli.PROGRAM, "run", "transpose", "--a", self.path("a.npy"), "--out",
                   self.path("out.npy")]
        begin = time.monotonic()
        self.assertEqual(subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL).returncode, GOOD)
        whole, seconds = (self.folder / "out.npy").stat().st_size, time.monotonic() - begin
        for old in (False, True):
            for step, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 3):
                if not old and (self.folder / "out.npy").exists():
                    os.unlink(self.path("out.npy"))
                elif old:
                    (self.folder / "out.npy").write_bytes(b"old")
                process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
                time.sleep(seconds * (step + 1) / 10)
                process.send_signal(number)
                self.assertIn(process.wait(), (-number, GOOD))
                self.assertLessEqual(set(self.names()), {"a.npy", "out.npy"})
                if (self.folder / "out.npy").exists():
                    self.assertIn((self.folder / "out.npy").stat().st_size, (3, whole))


class OtherPrograms(cli.CommandLine):
    def test_verify_for_other_programs(self):
        flags = ["--csv", self.path("v.csv"), "--junit", self.path("v.xml")]
        shape = ["transpose/01_naive", "transpose/10_in_place", "--shape", "5x7"]
        rows = self.report("verify", *shape, *flags)["rows"]
        self.assertEqual([len(row["cases"]) for row in rows], [1, 0], "a square is all that 10 takes")
        with open(self.path("v.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([(line["rung"], line["case"], line["skipped"]) for line in lines],
                         [("01_naive", rows[0]["cases"][0]["name"], ""), ("10_in_place", "", "no case that it accepts")])
        suite = ElementTree.parse(self.path("v.xml")).getroot().find("testsuite")
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "skipped")], ["2", "0", "1"])
        passed, skipped = suite.findall("testcase")
        self.assertEqual((passed.get("classname"), list(passed)), ("transpose.01_naive", []))
        self.assertEqual(skipped.find("skipped").get("message"), "no case that it accepts")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
