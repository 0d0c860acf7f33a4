#!/usr/bin/env python3
"""What tools/new_operator.py and tools/new_rung.py write, and what they refuse."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["Bound before:", "Idea:", "Prediction", "Accepts:", "What binds it:"]


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_tool(self, tool: str, *arguments: str):
        return subprocess.run(
            [sys.executable, ROOT / "tools" / f"{tool}.py", "--root", self.root, *arguments],
            capture_output=True,
            text=True,
        )

    def files(self):
        found = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def good(self, tool: str, *arguments: str):
        done = self.run_tool(tool, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        self.assertRegex(done.stdout, r"\Awrote src/ops/[^\n]+\n\Z")

    def refused(self, words: str, tool: str, *arguments: str):
        """One sentence on standard error, exit code 2, and nothing written."""
        before = self.files()
        done = self.run_tool(tool, *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertRegex(done.stderr, rf"\A{tool}: [^\n]+\n\Z")
        self.assertIn(words, done.stderr)
        self.assertEqual(self.files(), before)


class NewRung(Tool):
    def test_every_operator_has_a_template(self):
        operators = sorted(path.parent.name for path in ROOT.glob("src/ops/*/rung.hpp"))
        self.assertGreater(len(operators), 7)
        for op in operators:
            with self.subTest(op):
                self.good("new_rung", op, "77_test", "another idea")
                text = (self.root / f"src/ops/{op}/rungs/77_test.cu").read_text()
                for words in WORDS:
                    self.assertIn(words, text)
                self.assertIn("// Idea: another idea.\n", text)
                self.assertIn('WARPLADDER_RUNG(77_test) = {.idea = "another idea",\n', text)
                self.assertNotIn("{{", text)
                self.assertNotIn("}}", text)
                self.assertLess(len(text.splitlines()), 150)

    def test_hopper(self):
        self.good("new_rung", "sgemm", "77_test", "an idea", "--sm90a")
        self.assertEqual(self.files(), ["src/ops/sgemm/rungs/77_test.sm90a.cu"])

    def test_from_another_rung(self):
        self.good("new_rung", "transpose", "77_test", "an idea", "--from", "04_padded")
        text = (self.root / "src/ops/transpose/rungs/77_test.cu").read_text()
        self.assertIn("// Bound before: <what binds 04_padded", text)
        self.assertIn('WARPLADDER_RUNG(77_test) = {.idea = "an idea",\n', text)
        self.assertNotIn("RUNG(04_padded)", text)
        source = (ROOT / "src/ops/transpose/rungs/04_padded.cu").read_text()
        kernel = source[source.index("__global__") : source.index("WARPLADDER_RUNG")]
        self.assertIn(kernel, text)
        self.good("new_rung", "sgemm", "77_test", "an idea", "--from", "tc_05_tma_ring")
        self.assertTrue((self.root / "src/ops/sgemm/rungs/77_test.sm90a.cu").is_file())
        self.good("new_rung", "sgemm", "78_test", "an idea", "--from", "77_test")
        self.refused("sgemm has no such rung", "new_rung", "sgemm", "79_x", "i", "--from", "none")

    def test_bad_input(self):
        self.good("new_rung", "warp", "77_test", "an idea")
        for words, arguments in (
            ("'gemm'; the operators are: ", ["gemm", "01_x", "an idea"]),
            ("the operators are", ["lab", "01_x", "an idea"]),
            ("the operators are", ["../warp", "01_x", "an idea"]),
            ("77_test.cu exists; an id is never reused", ["warp", "77_test", "an idea"]),
            ("77_test.cu exists", ["warp", "77_test", "an idea", "--sm90a"]),
            ("made of a-z, 0-9 and _", ["warp", "Big", "an idea"]),
            ("made of a-z, 0-9 and _", ["warp", "", "an idea"]),
            ("made of a-z, 0-9 and _", ["warp", "../x", "an idea"]),
            ("must be one line", ["warp", "01_x", ""]),
            ("must be one line", ["warp", "01_x", " an idea"]),
            ("must be one line", ["warp", "01_x", "two\nlines"]),
            ("must be one line", ["warp", "01_x", 'a "quoted" idea']),
            ("must be one line", ["warp", "01_x", "a back\\slash"]),
            ("must be one line", ["warp", "01_x", "x" * 81]),
        ):
            with self.subTest(arguments):
                self.refused(words, "new_rung", *arguments)


class NewOperator(Tool):
    def test_operator(self):
        self.good("new_operator", "scaled_copy", "out = alpha in, fp32")
        folder = self.root / "src/ops/scaled_copy"
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        self.assertLessEqual(
            {
                "problem.hpp",
                "problem.cpp",
                "rung.hpp",
                "rungs/01_one_per_thread.cu",
                "lab/operator.cpp",
                "lab/reference.cpp",
                "lab/cases.cpp",
                "lab/run.cpp",
                "lab/rung.cu.template",
            },
            set(names),
        )
        for name in names:
            text = (folder / name).read_text()
            self.assertNotIn("{{operator}}", text, name)
            self.assertNotIn("{{Operator}}", text, name)
            self.assertNotIn("{{what}}", text, name)
        self.assertIn("class ScaledCopy final", (folder / "lab/operator.cpp").read_text())
        self.assertIn("// out = alpha in, fp32.\n", (folder / "problem.hpp").read_text())

    def test_a_rung_for_the_new_operator(self):
        self.good("new_operator", "scaled_copy", "out = alpha in, fp32")
        self.good("new_rung", "scaled_copy", "02_vector", "float4")
        text = (self.root / "src/ops/scaled_copy/rungs/02_vector.cu").read_text()
        self.assertIn("namespace warpladder::scaled_copy", text)
        for words in WORDS:
            self.assertIn(words, text)

    def test_the_tree_that_it_writes_keeps_the_house_rules(self):
        self.good("new_operator", "scaled_copy", "out = alpha in, fp32")
        for check in ("lines", "words"):
            done = subprocess.run(
                [sys.executable, ROOT / f"tools/checks/check_{check}.py", self.root],
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_bad_input(self):
        self.good("new_operator", "scaled_copy", "out = alpha in, fp32")
        for words, arguments in (
            ("src/ops/scaled_copy exists", ["scaled_copy", "again"]),
            ("src/ops/sgemm exists", ["sgemm", "a product"]),
            ("made of words", ["Scale", "x"]),
            ("made of words", ["", "x"]),
            ("made of words", ["2d", "x"]),
            ("made of words", ["a__b", "x"]),
            ("made of words", ["a_", "x"]),
            ("made of words", ["../x", "x"]),
            ("at most 30 characters", ["x" * 31, "x"]),
            ("a word of C++", ["double", "x"]),
            ("a namespace of warpladder", ["lab", "x"]),
            ("must be one line", ["fine", ""]),
            ("must be one line", ["fine", "two\nlines"]),
            ("must be one line", ["fine", 'a "quoted" text']),
        ):
            with self.subTest(arguments):
                self.refused(words, "new_operator", *arguments)


if __name__ == "__main__":
    unittest.main()
