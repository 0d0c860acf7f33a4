#!/usr/bin/env python3
"""The tables of tools/generate_tuning.py, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "generate_tuning.py"


class GenerateTuning(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        shutil.copytree(ROOT / "tuning", self.root / "tuning")
        self.header = self.root / "src/ops/sgemm/tuning_table.hpp"
        self.header.parent.mkdir(parents=True)
        self.file = self.root / "tuning/sm_90/sgemm.json"
        self.data = json.loads(self.file.read_text())

    def run_tool(self, *flags: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, TOOL, "--root", self.root, *flags], capture_output=True, text=True, check=False
        )

    def generated(self) -> str:
        done = self.run_tool()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.header.read_text()

    def refused(self, words: str) -> None:
        self.file.write_text(json.dumps(self.data))
        done = self.run_tool()
        self.assertEqual(done.returncode, 2)
        self.assertIn(words, done.stderr)
        self.assertFalse(self.header.exists(), "a refusal writes nothing")

    def test_every_constant_is_there_exactly(self):
        text = self.generated()
        for path in self.root.glob("tuning/sm_*/sgemm.json"):
            for name, section in json.loads(path.read_text()).items():
                if not isinstance(section, dict) or name == "configurations":
                    continue
                for key, value in section.items():
                    self.assertIn(f".{key} = {float(value)!r}", text)

    def test_check(self):
        self.assertEqual(self.run_tool("--check").returncode, 1)
        self.generated()
        self.assertEqual(self.run_tool("--check").returncode, 0)
        self.data["model"]["launch_s"] = 1.5
        self.file.write_text(json.dumps(self.data))
        self.assertEqual(self.run_tool("--check").returncode, 1)

    def test_configurations_that_were_found(self):
        found = {"rows": 64, "columns": 128, "depth": 16, "resident": 3}
        shapes = [{"shape": shape, "configuration": found, "run": 0} for shape in ([1024, 512, 2048], [64, 64, 64])]
        self.data["configurations"] = {"row_07_register_parity": {"runs": [{"commit": "abc"}], "shapes": shapes}}
        self.file.write_text(json.dumps(self.data))
        text = self.generated()
        self.assertIn("kParityFound[][4] = {\n    {64, 128, 16, 3},\n};", text)
        self.assertIn("{90, 10.0000f, 9.0000f, 11.0000f, 0},  // 1024x512x2048", text)
        self.header.unlink()
        shapes[1]["run"] = 1
        self.refused("the run that row_07_register_parity at 64x64x64 comes from is not in runs")

    def test_bad_corrections(self):
        file = self.root / "tuning/sm_90/sgemm_corrections.json"
        good = file.read_text()
        rung = next(iter(json.loads(good)["forests"]))
        for change, words in (
            (lambda d: d.pop("edges"), "sgemm_corrections.json holds no corrections: 'edges'"),
            (lambda d: d.update(forests=[]), "forests is no object of texts"),
            (lambda d: d["forests"].update(fast=""), "fast is no rung"),
            (lambda d: d["edges"].pop(), "must have the edges of"),
            (lambda d: d["edges"].__setitem__(1, [0] * 91), "trait 1 must have at most 90 edges"),
            (lambda d: d["edges"].__setitem__(1, [True]), "trait 1 has the edge true, but must have numbers"),
            (lambda d: d["edges"].__setitem__(1, [2, 1]), "the edges of trait 1 do not ascend"),
            (lambda d: d["forests"].update({rung: "!" * 61}), f"{rung} is no text of trees of 62 digits"),
            (lambda d: d["forests"].update({rung: "\\" * 62}), f"{rung} is no text of trees of 62 digits"),
            (lambda d: d["forests"].update({rung: "~" * 62}), "has a tree that asks for a trait other than 0 to 29"),
        ):
            data = json.loads(good)
            change(data)
            file.write_text(json.dumps(data))
            done = self.run_tool()
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
            self.assertFalse(self.header.exists(), "a refusal writes nothing")

    def test_bad_files(self):
        good = json.dumps(self.data)
        for change, words in (
            (lambda d: d.pop("model"), "sm_90/sgemm.json has no model"),
            (lambda d: d["model"].pop("join_s"), "model has no join_s"),
            (lambda d: d["model"].update(speed=1), "model has speed, which no plan reads"),
            (lambda d: d["model"].update(join_s="fast"), 'model.join_s is "fast"'),
            (lambda d: d["model"].update(join_s=-1), "model.join_s is -1"),
            (lambda d: d.update(words=[]), "words is no object"),
            (lambda d: d.update(architecture="sm_80"), "architecture is not sm_90"),
            (lambda d: d.update(operator="sgemv"), "operator is not sgemm"),
            (
                lambda d: d.update(configurations={"tc_13_mma_sync": {"shapes": [{"shape": [1, 2]}]}}),
                "must have three sizes",
            ),
            (
                lambda d: d.update(configurations={"tc_13_mma_sync": {"shapes": [{"shape": [1, 2, 0]}]}}),
                "must be a whole number above 0",
            ),
            (
                lambda d: d.update(
                    configurations={"tc_13_mma_sync": {"shapes": [{"shape": [1, 2, 3], "configuration": {"rows": 1}}]}}
                ),
                "must give block_m, block_n",
            ),
        ):
            self.data = json.loads(good)
            change(self.data)
            self.refused(words)
        self.file.write_text("{")
        self.assertIn("is no JSON", self.run_tool().stderr)


if __name__ == "__main__":
    unittest.main()
