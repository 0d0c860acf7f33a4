#!/usr/bin/env python3
"""tune on the CPU side: its spaces, its report, resuming, and bad input.

Usage: test_tune.py PROGRAM [TEST...]
"""

from __future__ import annotations

import csv
import json
import math
import sys
import unittest
from pathlib import Path

import test_command_line as cli
from test_command_line import BAD_INPUT

PARITY, PAIRS = "sgemm/row_07_register_parity", "sgemm/tc_13_mma_sync"
SMALL = ["--shape", "64x64x16", "--device", "cpu"]


class Tune(cli.CommandLine):
    def report(self, *arguments: str) -> dict:
        return json.loads(self.good("tune", *arguments, "--json", "-"))

    def test_every_configuration_is_right(self):
        for rung, today in (
            (PARITY, {"rows": 128, "columns": 128, "depth": 8, "resident": 2}),
            (PAIRS, {"block_m": 64, "block_n": 64, "warps_m": 2, "warps_n": 2, "stages": 4, "blocks": 3}),
        ):
            (problem,) = self.report(rung, *SMALL)["problems"]
            self.assertEqual(problem["today"], today)
            self.assertTrue(problem["complete"])
            fates = [c["fate"] for c in problem["configurations"]]
            self.assertGreater(len(fates), 20)
            self.assertLessEqual(set(fates), {"timed", "stopped early", "pruned"})
            for configuration in problem["configurations"]:
                self.assertLessEqual(configuration["worst_error_over_bound"], 1)
            best = min(c["median_s"] for c in problem["configurations"] if c["fate"] == "timed")
            self.assertEqual(problem["best_s"], best)

    def test_small_tiles_win_where_there_are_few(self):
        (problem,) = self.report(PARITY, "--shape", "256x256x16", "--device", "cpu")["problems"]
        self.assertLess(problem["best"]["rows"] * problem["best"]["columns"], 128 * 128)
        self.assertGreater(problem["today_over_best"]["value"], 1)
        self.assertGreater(problem["saved_s"], 0)

    def test_tables_and_several_shapes(self):
        printed = self.good("tune", PARITY, "-a", "m,n=[64,128]", "-a", "k=[8]", "--device", "cpu")
        self.assertIn("fastest configuration", printed)
        self.assertEqual(printed.count("row_07_register_parity"), 2)
        self.assertIn("the model pruned", printed)
        self.assertIn("no times of a GPU", printed)

    def test_comma_separated_values(self):
        (problem,) = self.report(PARITY, *SMALL, "--csv", self.path("t.csv"))["problems"]
        with open(self.path("t.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([line["fate"] for line in lines], [c["fate"] for c in problem["configurations"]])
        (best,) = [line for line in lines if line["best"] == "true"]
        self.assertEqual(best["configuration"], " ".join(f"{name}={problem['best'][name]}" for name in
                                                         ("rows", "columns", "depth", "resident")))
        self.assertAlmostEqual(float(best["median_s"]), problem["best_s"], delta=1e-5 * problem["best_s"])
        self.assertEqual([line["today"] for line in lines].count("true"), 1)

    def test_budget_then_resume(self):
        command = ["tune", PARITY, *SMALL, "--json", str(self.folder / "r.json")]
        journal = self.folder / "r.json.trials.jsonl"
        whole = json.loads(self.good(*command[:-1], "-"))["problems"][0]
        printed = self.good(*command, "--budget", "0.000001s")
        self.assertIn("--budget did not last for", printed)
        self.assertEqual(len(journal.read_text().splitlines()), 2)
        damaged = journal.read_text() + '{"problem": 0, "config'
        journal.write_text(damaged)
        other = ["tune", PARITY, "--shape", "64x64x32", *SMALL[2:], "--json", str(self.folder / "r.json")]
        self.refused(BAD_INPUT, "was begun with other problems", *other, "--resume")
        self.assertEqual(journal.read_text(), damaged, "a refusal loses nothing")
        self.good(*command, "--resume")
        resumed = json.loads((self.folder / "r.json").read_text())["problems"][0]
        self.assertEqual(resumed["best"], whole["best"])
        self.assertEqual(self.names(), ["r.json"])

    def test_bad_input(self):
        self.refused(BAD_INPUT, f"declares no space of configurations; these do: {PARITY}, {PAIRS}",
                     "tune", "sgemm/row_01_naive")
        self.refused(BAD_INPUT, "declares no space of configurations", "tune", "transpose")
        self.refused(BAD_INPUT, "unknown rung", "tune", "sgemm/row_77")
        self.refused(BAD_INPUT, "--shape and -a both", "tune", PARITY, *SMALL, "-a", "m=1")
        self.refused(BAD_INPUT, "--budget is", "tune", PARITY, *SMALL, "--budget", "soon")
        self.refused(BAD_INPUT, "--resume needs --json FILE", "tune", PARITY, *SMALL, "--resume")
        self.refused(BAD_INPUT, "needs --device gpu", "tune", PARITY, *SMALL, "--into",
                     str(self.folder / "sgemm.json"))
        self.assertEqual(self.names(), [])

    def test_a_problem_that_the_space_does_not_take(self):
        words = "its space accepts only row-major products without transposes"
        self.refused(BAD_INPUT, words, "tune", PARITY, "--shape", "8x8x7", "--device", "cpu")
        printed = self.good("tune", PARITY, "-a", "shape=[8x8x7,64x64x16]", "--device", "cpu")
        self.assertIn(f"- not tuned: {PARITY} row_nn 8x8x7: {words}", " ".join(printed.split()))

    def test_rungs_take_what_was_found_for_near_shapes(self):
        found = json.loads((cli.ROOT / "tuning" / "sm_90" / "sgemm.json").read_text())["configurations"]
        self.assertEqual({f"sgemm/{rung}" for rung in found}, {PARITY, PAIRS}, "every rung with a space is tuned")

        def distances(entry, shape):
            return [abs(math.log2(a / b)) for a, b in zip(entry["shape"], shape)]

        shape = (256, 264, 256)
        for rung, of_rung in found.items():
            near = [entry for entry in of_rung["shapes"] if max(distances(entry, shape)) <= 1]
            nearest = min(near, key=lambda entry: sum(distances(entry, shape)))
            flags = ["--shape", "x".join(map(str, shape)), "--device", "cpu"]
            self.assertEqual(self.report(f"sgemm/{rung}", *flags)["problems"][0]["today"], nearest["configuration"])
        own = self.report(PARITY, "--from-own", "--shape", "256x256x256", "--device", "cpu")["problems"][0]["today"]
        self.assertEqual(own, {"rows": 128, "columns": 128, "depth": 8, "resident": 2})


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
