#!/usr/bin/env python3
"""tools/plan_report.py on reports that are made up."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "plan_report.py"


def row(rung: str, size: int, seconds: float, **more) -> dict:
    return {"op": "sgemm", "variant": "row_nn", "shape": [size] * 3, "rung": rung, "verified": True,
            "samples_s": [seconds] * 3, **more}


class PlanReport(unittest.TestCase):
    def run_tool(self, report, *flags: str) -> subprocess.CompletedProcess:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(report, file)
            file.flush()
            return subprocess.run([sys.executable, TOOL, file.name, *flags], capture_output=True, text=True, check=False)

    def test_ranks_the_choice_beside_the_best(self):
        rows = [
            row("dispatch", 64, 1.0), row("row_07", 64, 1.0), row("row_01", 64, 9.0),
            row("dispatch", 128, 2.0), row("row_07", 128, 1.0),
            row("dispatch", 256, 1.0), row("row_07", 256, 2.0), row("wrong", 256, 0.1, verified=False),
            row("dispatch", 512, 1.0), row("cublas", 512, 0.5, rival=True),
        ]
        report = {"verb": "bench", "target": "gpu", "rows": rows}
        done = self.run_tool(report, "--at-least", "60%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 problems: 66.7% within 5% of the best rung; geometric mean 1.000", done.stdout)
        self.assertIn("| sgemm row_nn 128×128×128 | row_07 | 2.000 |", done.stdout)
        self.assertEqual(self.run_tool(report, "--at-least", "95%").returncode, 1)
        self.assertEqual(self.run_tool(report, "--within", "100%", "--at-least", "95%").returncode, 0)

    def test_bad_input(self):
        for report, words in (
            ([], "is no report of bench on a GPU"),
            ({"verb": "bench", "target": "cpu", "rows": []}, "is no report of bench on a GPU"),
            ({"verb": "bench", "target": "gpu", "rows": [row("dispatch", 1, 1.0)]}, "no problem has dispatch"),
        ):
            done = self.run_tool(report)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.run_tool([], "--within", "200%").returncode, 2)


if __name__ == "__main__":
    unittest.main()
