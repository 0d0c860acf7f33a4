#!/usr/bin/env python3
"""tools/fit_plans.py on recordings that are made up."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "fit_plans.py"
sys.path.insert(0, str(TOOL.parent))
import fit_plans  # noqa: E402


CUT = [64, 128, 4, 8]


def recording(count: int = 400) -> dict:
    """The model says 1,000 ns of row_a and 1,100 of row_b; row_a takes twice as long where k is odd."""
    made = random.Random(1)
    rows = []
    for _ in range(count):
        m, n, k = (made.randint(2, 3000) for _ in range(3))
        times = [[1000, 1000 * (1 + k % 2), *CUT], [1100, 1100, *CUT]]
        rows.append({"product": f"nn {m}x{n}x{k}", "cublas": 1200, "times": times if made.random() < 0.9 else times[:1]})
    return {"rungs": ["row_a", "row_b"], "rows": rows}


@unittest.skipUnless(fit_plans.np, "fitting needs NumPy")
class FitPlans(unittest.TestCase):
    def run_tool(self, report, *flags: str) -> subprocess.CompletedProcess:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(report if isinstance(report, str) else json.dumps(report))
            file.flush()
            return subprocess.run([sys.executable, TOOL, file.name, *flags], capture_output=True, text=True, check=False)

    def test_learns_what_the_model_misses(self):
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder) / "corrections.json"
            done = self.run_tool(recording(), "--into", into, "--folds", "3")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            forests = json.loads(into.read_text())["forests"]
        by_model, left_out, _ = (float(line.split(": ")[1].split(" %")[0]) for line in done.stdout.splitlines())
        self.assertGreater(by_model, 20)
        self.assertLess(left_out, 5)  # only the width of lines tells, and n changes it, too
        self.assertEqual(set(forests), {"row_a", "row_b"})
        for trees in forests.values():
            self.assertEqual(len(trees), fit_plans.TREES * 4 * 2**fit_plans.LEVELS - 2 * fit_plans.TREES)

    def test_a_later_recording_adds_a_rung(self):
        """Its times are as if cuBLAS had taken as long as in the first one."""
        first, later = recording(20), recording(20)
        later["rungs"] = ["row_c"]
        for row in later["rows"]:
            row.update(times=[[900, 950, *CUT]], cublas=1150, cuda_cores_alone=["row_c"])
        later["rows"][7].update(times=[[900, 1000, *CUT]], cublas=2400)  # something disturbed cuBLAS
        with tempfile.TemporaryDirectory() as folder:
            names = [str(Path(folder) / f"{i}.json") for i in range(2)]
            for name, report in zip(names, (first, later)):
                Path(name).write_text(json.dumps(report))
            rows = fit_plans.read(names)
        self.assertEqual(len(rows), 20)
        for row in rows:
            self.assertAlmostEqual(2 ** row.times["row_c"][1], 1000)
            self.assertNotIn("row_c", row.accurate)
            self.assertEqual(len(row.traits["row_c"]), len(row.traits["row_a"]))

    def test_adds_a_rung_to_corrections(self):
        later = recording()
        later["rungs"] = ["row_c", "row_d"]  # timed together
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder) / "corrections.json"
            refused = self.run_tool(later, "--into", into, "--add")
            self.assertEqual(self.run_tool(recording(), "--into", into).returncode, 0)
            first = json.loads(into.read_text())
            done = self.run_tool(later, "--into", into, "--add")
            both = json.loads(into.read_text())
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("holds no corrections", refused.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(both["edges"], first["edges"])
        self.assertEqual({rung: both["forests"][rung] for rung in first["forests"]}, first["forests"])
        self.assertEqual(set(both["forests"]) - set(first["forests"]), {"row_c", "row_d"})

    def test_learns_a_rung_again(self):
        slower = recording()
        for row in slower["rows"]:
            row["times"] = [[model, 4 * measured if rung == 0 else measured, *cut]
                            for rung, (model, measured, *cut) in enumerate(row["times"])]
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder) / "corrections.json"
            self.assertEqual(self.run_tool(recording(), "--into", into).returncode, 0)
            first = json.loads(into.read_text())
            alone = self.run_tool(slower, "--into", into, "--again", "row_a")
            unknown = self.run_tool(slower, "--into", into, "--add", "--again", "row_c")
            done = self.run_tool(slower, "--into", into, "--add", "--again", "row_a")
            again = json.loads(into.read_text())
            all_anew = self.run_tool(slower, "--into", into, "--trees", "5")
            shorter = self.run_tool(slower, "--into", into, "--add", "--again", "row_a", "--trees", "5")
            fewer = json.loads(into.read_text())["forests"]
        self.assertEqual((alone.returncode, unknown.returncode), (2, 2))
        self.assertIn("--again needs --add", alone.stderr)
        self.assertIn("has no trees of row_c to learn again", unknown.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((again["edges"], again["forests"]["row_b"]), (first["edges"], first["forests"]["row_b"]))
        self.assertNotEqual(again["forests"]["row_a"], first["forests"]["row_a"])
        self.assertEqual(len(again["forests"]["row_a"]), len(first["forests"]["row_a"]))
        self.assertEqual((all_anew.returncode, shorter.returncode), (2, 0))
        self.assertIn("--trees needs --add", all_anew.stderr)
        trees = {rung: len(fit_plans.trees_of(text)) for rung, text in fewer.items()}
        self.assertEqual((trees["row_a"], trees["row_b"]), (5, fit_plans.TREES))

    def test_traits(self):
        """The same product as in tests/ops/sgemm_plan_test.cpp."""
        traits = fit_plans.traits_of("nt 48x1024x256")
        self.assertEqual(traits[1:3], [10.0, 8.0])
        self.assertEqual(traits[5:9], [4, 1, 1, 1])
        self.assertEqual(traits[9], 1.0)
        self.assertAlmostEqual(traits[10], 16 / 132)
        self.assertEqual(fit_plans.traits_of("tn 1024x48x255")[5:9], [4, 0, 0, 1])
        batch = fit_plans.traits_of("nn 48x1024x256", 64)
        self.assertAlmostEqual(batch[10], 16 * 64 / 132 / 8)
        self.assertEqual((traits[12:14], batch[12:14]), ([0, 4], [6, 10]))
        powers = fit_plans.traits_of("nn 16x32x64", 4)
        self.assertEqual((powers[3], powers[16]), (math.log2(4 * (48 * 64 + 512)), 17))
        self.assertEqual(fit_plans.traits_of("nn 8x8x255")[14], 256 / 255)
        self.assertEqual(fit_plans.traits_of("nn 8x8x40")[15], 64 / 40)
        ragged = fit_plans.traits_of("nn 8x10x255")
        self.assertEqual((ragged[5], ragged[17]), (2, 1))
        self.assertEqual(fit_plans.traits_of("tn 1024x48x255")[17], 4)

    def test_traits_of_cuts(self):
        """As tests/ops/sgemm_corrections_test.cpp has them."""
        def of(cut, count):
            return fit_plans.cut_traits_of("nn 100x1000x256", count, 1024, cut)
        self.assertEqual(of(CUT, 2), [6, 7, 2, 3, math.log2(128 / 132), 128 / 132, 1, 0, 100 / 128, 1000 / 1024,
                                      math.log2(16 * 192 / 1100), 10])
        self.assertEqual(of([*CUT, 1], 2)[7], 1)
        self.assertEqual(of([16, 16, 1, 1], 100)[6], 6)
        self.assertEqual(of([0, 0, 1, 1], 1), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 10])

    def test_a_rung_is_known_by_how_it_cuts(self):
        """row_a takes twice as long where its slices are many: no trait of the product tells."""
        report = recording()
        for place, row in enumerate(report["rows"]):
            row["times"] = [[1000, 1000 * (1 + place % 2), 64, 128, 2 + 6 * (place % 2), 8], [1100, 1100, *CUT]]
        rows = [fit_plans.Row(row, report["rungs"]) for row in report["rows"]]
        fit_plans.correct(rows[300:], *fit_plans.fitted(rows[:300]))
        self.assertTrue(all(loss == 0 for loss, _, _ in fit_plans.outcomes(rows[300:])))

    def test_text_of_trees(self):
        """Traits and edges in one digit each, leaves in two; tests/ops/sgemm_corrections_test.cpp reads the same."""
        digits = fit_plans.ALPHABET
        self.assertEqual((digits[:2], digits[-1], len(set(digits))), ("!#", "~", fit_plans.DIGITS))
        self.assertFalse(set(digits) & set("\"\\? "))
        tree = ([1] * fit_plans.QUESTIONS, [fit_plans.EDGES] * fit_plans.QUESTIONS, [0, -4140, 4140] + [0] * (fit_plans.QUESTIONS - 2))
        text = fit_plans.text_of(tree)
        self.assertEqual(text[: 2 * fit_plans.QUESTIONS], "#~" * fit_plans.QUESTIONS)
        self.assertEqual(text[2 * fit_plans.QUESTIONS :][:6], digits[45] * 2 + "!!" + "~~")

    def test_batches_have_corrections_of_their_own(self):
        report = recording(40)
        for row in report["rows"]:
            row["batch"] = 5
        rows = [fit_plans.Row(row, report["rungs"]) for row in report["rows"]]
        self.assertEqual(set(fit_plans.fitted(rows)[1]), {"row_a_in_batches", "row_b_in_batches"})

    def test_a_rung_that_few_products_have_is_left_as_it_is(self):
        report = recording(60)
        for row in report["rows"][:5]:
            row["times"] = [*row["times"], *[0] * (2 - len(row["times"])), [900, 900, *CUT]]
        report["rungs"].append("row_c")
        rows = [fit_plans.Row(row, report["rungs"]) for row in report["rows"]]
        self.assertEqual(fit_plans.fitted(rows)[1]["row_c"], [])

    def test_what_cuda_cores_alone_may_take_is_no_accurate_plan(self):
        report = recording(1)
        report["rows"][0] |= {"times": [[1000, 800, *CUT], [1100, 1000, *CUT]], "cuda_cores_alone": ["row_a"]}
        row = fit_plans.Row(report["rows"][0], report["rungs"])
        (loss, speedup, most), = fit_plans.outcomes([row])
        self.assertEqual(loss, 0)
        self.assertAlmostEqual(2**speedup, 1.2)
        self.assertEqual(speedup, most)
        (loss, speedup, _), = fit_plans.outcomes([row], {"row_a", "row_b"})
        self.assertAlmostEqual(2**speedup, 1.5)

    def test_refusals(self):
        for report, flags, words in (
            ("{", (), "is no recording of plan_times"),
            ({"rows": []}, (), "is no recording of plan_times: 'rungs'"),
            ({"rungs": [], "rows": []}, (), "holds no products"),
            (recording(9), ("--folds", "1"), "--folds is 1, but must be from 2 to the number of products, 9"),
        ):
            done = self.run_tool(report, *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
