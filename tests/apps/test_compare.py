#!/usr/bin/env python3
"""compare: planted changes, recordings that differ, hostile files, exit codes.

Usage: test_compare.py PROGRAM [TEST...]
"""

from __future__ import annotations

import copy
import csv
import json
import random
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import test_command_line as cli
from test_command_line import BAD_INPUT, CHECK_FAILED, GOOD

RESULTS = cli.ROOT / "results" / "current"
RECORDED = RESULTS / "nvidia-h200" / "sgemm_tensor_row_nt.json"


class Compare(cli.CommandLine):
    def setUp(self):
        super().setUp()
        self.old = json.loads(RECORDED.read_text())
        self.timed = sum(bool(row["samples_s"]) + bool(row.get("cold_samples_s")) for row in self.old["rows"])
        self.assertGreater(self.timed, 8)

    def written(self, report: dict, name: str = "new.json") -> str:
        (self.folder / name).write_text(json.dumps(report))
        return self.path(name)

    def scaled(self, factor: float, noise: float = 0.0) -> dict:
        """The recording with every time multiplied."""
        report, luck = copy.deepcopy(self.old), random.Random(1)
        for row in report["rows"]:
            for kind in ("samples_s", "cold_samples_s"):
                if kind in row:
                    row[kind] = [s * factor * (1 + luck.uniform(-noise, noise)) for s in row[kind]]
        return report

    def changes(self, new: dict, *flags: str) -> list[str]:
        report = self.report("compare", RECORDED, self.written(new), *flags)
        return [row["change"] for row in report["rows"]]

    def test_planted_changes(self):
        self.assertEqual(self.changes(self.old), ["SAME"] * self.timed)
        self.assertEqual(self.changes(self.scaled(1.05)), ["SLOW"] * self.timed)
        self.assertEqual(self.changes(self.scaled(1 / 1.05)), ["FAST"] * self.timed)
        self.assertLessEqual(set(self.changes(self.scaled(1.01, 0.01))), {"SAME", "UNSURE"})
        self.assertEqual(set(self.changes(self.scaled(1.05), "--threshold", "10%")), {"SAME"})
        self.assertEqual(set(self.changes(self.scaled(1.05), "--threshold", "0.02")), {"SLOW"})

    def test_fail_on(self):
        slower, faster = self.written(self.scaled(1.05)), self.written(self.scaled(0.9), "fast.json")
        for new, words, code in (
            (slower, ["--fail-on", "slower"], CHECK_FAILED),
            (slower, ["--fail-on", "unsure,missing"], GOOD),
            (slower, [], GOOD),
            (faster, ["--fail-on", "slower,unsure,missing"], GOOD),
        ):
            done = cli.run("compare", RECORDED, new, *words)
            self.assertEqual((done.returncode, done.stderr), (code, b""), words)

    def test_one_slow_row_among_shuffled_ones(self):
        new = copy.deepcopy(self.old)
        row = new["rows"][2]
        row["samples_s"] = [1.2 * sample for sample in row["samples_s"]]
        random.Random(3).shuffle(new["rows"])
        report = self.report("compare", RECORDED, self.written(new))
        slow = [r for r in report["rows"] if r["change"] != "SAME"]
        self.assertEqual(len(report["rows"]), self.timed)
        self.assertEqual([(r["rung"], r["caches"], r["change"]) for r in slow], [(row["rung"], "hot", "SLOW")])
        self.assertAlmostEqual(slow[0]["ratio"]["value"], 1.2)
        self.assertLessEqual(slow[0]["ratio"]["low"], 1.2)
        self.assertGreaterEqual(slow[0]["ratio"]["high"], 1.2)

    def test_a_missing_row_is_named(self):
        new = copy.deepcopy(self.old)
        gone = new["rows"].pop(1)
        path = self.written(new)
        printed = self.good("compare", RECORDED, path)
        self.assertRegex(printed, rf"not compared: sgemm/{gone['rung']} .*: NEW does not have it")
        self.assertIn("1 of OLD has no time in NEW", printed)
        done = cli.run("compare", RECORDED, path, "--fail-on", "missing")
        self.assertEqual(done.returncode, CHECK_FAILED)

    def test_names_other_machines_first(self):
        new = self.scaled(0.8)
        new["device"]["gpu"]["GPU"] = "NVIDIA \x1b[2JH100"
        new["device"]["gpu"]["SM clock, at most"] = "1755 MHz"
        new["libraries"]["cuBLAS"] = "99.0"
        new["argv"] += ["--shape", "8x8x8"]
        printed = " ".join(self.good("compare", RECORDED, self.written(new)).split())
        verdicts = printed.index("FAST")
        for words in (
            "| machine | GPU | NVIDIA H200 | NVIDIA \\x1b[2JH100 |",
            "| clocks | SM clock, at most | 1980 MHz | 1755 MHz |",
            "| versions | cuBLAS |",
            "OLD's command: warpladder bench ",
            "--shape 8x8x8",
        ):
            self.assertIn(words, printed)
            self.assertLess(printed.index(words), verdicts)
        self.assertIn("machines differ", printed)
        self.assertNotIn("\x1b", printed)

    def test_old_recordings(self):
        """The first ones name no variants, and not what else later ones say."""
        first = copy.deepcopy(self.old)
        for row in first["rows"]:
            del row["variant"]
        path = self.written(first)
        printed = self.good("compare", path, path)
        self.assertIn("OLD does not record: variant.", printed)
        self.assertIn("0 SLOW", printed)
        program = RESULTS / "nvidia-h100" / "host_time.json"
        report = self.report("compare", program, program)
        self.assertEqual({row["op"] for row in report["rows"]}, {"host_time"})

    def test_files_for_other_programs(self):
        new = self.scaled(1.05)
        new["rows"].pop()
        files = ["--csv", self.path("c.csv"), "--junit", self.path("c.xml")]
        done = cli.run("compare", RECORDED, self.written(new), "--fail-on", "slower", *files)
        self.assertEqual(done.returncode, CHECK_FAILED)
        with open(self.path("c.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual({line["change"] for line in lines}, {"SLOW", "MISSING"})
        self.assertAlmostEqual(float(lines[0]["ratio"]), 1.05, 5)
        suite = ElementTree.parse(self.path("c.xml")).getroot().find("testsuite")
        slow = sum(line["change"] == "SLOW" for line in lines)
        self.assertEqual(suite.get("failures"), str(slow))
        self.assertEqual(len(list(suite.iter("failure"))), slow)
        self.assertEqual(suite.get("skipped"), "1")

    def test_bad_input(self):
        good = str(RECORDED)
        for text, words in (
            (RECORDED.read_text()[:2000], "ends within a value: it is cut short, or no JSON"),
            ("", "ends within a value"),
            ("[" * 100000, "nests more than 16 levels"),
            ('{"schema_version": 1, "verb": "bench", "rows": 3}', "rows is '3', but must be a list"),
            ('{"schema_version": 1, "verb": "doctor"}', "holds no samples: it is a report of doctor"),
            ('{"schema_version": 1, "rows": [{"op": "a", "rung": "b", "samples_s": [0]}]}', "above 0"),
        ):
            (self.folder / "bad.json").write_text(text)
            sentence = self.refused(BAD_INPUT, words, "compare", good, self.path("bad.json"))
            self.assertIn("NEW '", sentence)
            self.refused(BAD_INPUT, words, "compare", self.path("bad.json"), good)
        other = copy.deepcopy(self.old)
        for row in other["rows"]:
            row["op"] = "other"
        done = cli.run("compare", good, self.written(other))
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn(b"OLD and NEW have no timed row in common", done.stderr)
        for flags, words in (
            ([good, self.path("absent.json")], "cannot be read: No such file or directory"),
            ([good, self.path("")], "Is a directory"),
            ([good], "NEW is required"),
            ([good, good, "--threshold", "0"], "--threshold is '0'"),
            ([good, good, "--threshold", "nan%"], "--threshold is 'nan%'"),
            ([good, good, "--threshold", "3%%"], "--threshold is '3%%'"),
            ([good, good, "--fail-on", "slow"], "--fail-on has 'slow'"),
        ):
            self.refused(BAD_INPUT, words, "compare", *flags)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
