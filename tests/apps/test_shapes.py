#!/usr/bin/env python3
"""bench and accuracy over a file of shapes: tables, pictures, exit codes.

Usage: test_shapes.py PROGRAM [TEST...]
"""

from __future__ import annotations

import csv
import json
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import test_command_line as cli
from test_command_line import BAD_INPUT, CHECK_FAILED, why_no_gpu

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = """# class variant shape details
few      row_nn  3x64x64
few      row_nt  2x40x30   # a comment
batches  row_tn  8x8x8     batch=5 stride_b=0
pointers row_tt  9x7x5     batch=3 arrays
cores    row_nn  20x20x20  arithmetic=cuda_cores
"""


class Shapes(cli.CommandLine):
    def setUp(self):
        super().setUp()
        (self.folder / "shapes.txt").write_text(SHAPES)
        self.file = ["--shapes", self.path("shapes.txt")]

    def test_bench(self):
        files = [f"--{kind}={self.path('r.' + kind)}" for kind in ("csv", "md", "json", "svg")]
        printed = self.good("bench", "sgemm/dispatch", *self.file, *files, "--at-least", "1e-6")
        for words in (
            "sgemm/dispatch over its fastest rival",
            "| few ",
            "| all ",
            "| slowest shapes",
            "8x8x8 row_tn batch=5 stride_b=0",
            "No shape is slower than 1e-06× its rival.",
        ):
            self.assertIn(words, printed)
        self.assertNotIn("cold", printed)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["at_least"], 1e-6)
        (view,) = report["speedups"]
        self.assertEqual((view["rung"], view["not_compared"]), ("dispatch", 0))
        self.assertEqual(
            [(c["class"], c["shapes"]) for c in view["classes"]],
            [("few", 2), ("batches", 1), ("pointers", 1), ("cores", 1)],
        )
        self.assertEqual((view["all"]["shapes"], view["all"]["cold_mean"]), (5, None))
        self.assertEqual(len(view["slowest_shapes"]), 5)
        rows = [row for row in report["rows"] if not row["rival"]]
        self.assertEqual([row["class"] for row in rows], ["few", "few", "batches", "pointers", "cores"])
        self.assertEqual(rows[2]["flops"], 5 * 2 * 8**3)
        self.assertEqual(rows[2]["bytes"], 4 * (5 * 64 + 64 + 5 * 64))
        for row in report["rows"]:
            self.assertTrue(row["verified"], row)
        with open(self.path("r.csv"), newline="") as file:
            self.assertEqual([line["class"] for line in csv.DictReader(file)][0], "few")
        picture = ElementTree.parse(self.path("r.svg")).getroot()
        _, _, width, height = map(float, picture.get("viewBox").split())
        circles = list(picture.iter(SVG + "circle"))
        self.assertEqual(len(circles), 5 + 4)  # shapes, classes
        for circle in circles:
            self.assertTrue(0 < float(circle.get("cx")) < width, circle.attrib)
            self.assertTrue(0 < float(circle.get("cy")) < height, circle.attrib)

    def test_too_slow(self):
        done = cli.run("bench", "sgemm/dispatch", *self.file, "--at-least", "1e9")
        self.assertEqual((done.returncode, done.stderr), (CHECK_FAILED, b""))
        self.assertIn("Slower than asked for: ", done.stdout.decode())

    def test_several_contestants(self):
        rungs = ["sgemm/row_01_naive", "sgemm/row_09_batched"]
        report = self.report("bench", *rungs, *self.file)
        naive, batched = report["speedups"]
        self.assertEqual((naive["rung"], naive["not_compared"]), ("row_01_naive", 1))
        self.assertEqual((batched["rung"], batched["not_compared"]), ("row_09_batched", 0))
        printed = self.good("bench", *rungs, *self.file)
        self.assertIn("- row_01_naive has no speed-up at 1 of 5 shapes", printed)

    def test_accuracy(self):
        flags = ["accuracy", "sgemm/dispatch", *self.file, "--distribution", "powers_of_two,uniform"]
        report = self.report(*flags)
        points = report["rows"][0]["points"]
        self.assertEqual(len(points), 2 * 5)
        self.assertEqual(points[2]["variant"], "row_tn batch=5 stride_b=0")
        for row in report["rows"]:
            for point in row["points"]:
                self.assertEqual((point["skipped"], point["failure"]), ("", ""))
                self.assertLess(point["componentwise"], 1e-5)
                if point["distribution"] == "powers_of_two":
                    self.assertEqual(point["frobenius"], 0)
        exact = [*flags[:-1], "powers_of_two", "--no-worse-than", "openblas"]
        printed = self.good(*exact)
        self.assertIn("9x7x5 row_tt batch=3 arrays", printed)
        self.assertIn("No rung is farther from the truth than openblas", printed)
        done = cli.run(*flags[:-1], "uniform", "--no-worse-than", "openblas", "--factor", "1e-9")
        self.assertEqual(done.returncode, CHECK_FAILED)

    def test_what_needs_too_much_memory_is_skipped(self):
        big = "few row_nn 8x8x8\nhuge row_nn 30000000x30000000x1\n"
        (self.folder / "shapes.txt").write_text(big)
        report = self.report("bench", "sgemm/row_01_naive", *self.file)
        own = [row for row in report["rows"] if not row["rival"]]
        self.assertEqual([row["skipped"] != "" for row in own], [False, True])
        self.assertEqual(report["speedups"][0]["not_compared"], 1)
        report = self.report("accuracy", "sgemm/row_01_naive", *self.file, "--distribution", "uniform")
        skipped = [point["skipped"] for point in report["rows"][0]["points"]]
        self.assertEqual(skipped[0], "")
        self.assertIn("memory", skipped[1])

    def test_gpu_where_there_is_one(self):
        if why_no_gpu():
            self.skipTest(why_no_gpu())
        flags = ["bench", "sgemm/dispatch", *self.file, "--device", "gpu"]
        report = self.report(*flags)
        self.assertEqual(report["baselines"], [])
        rivals = {row["rung"] for row in report["rows"] if row["rival"]}
        self.assertEqual(rivals, {"cublas", "read"})
        self.assertGreater(report["speedups"][0]["all"]["cold_slowest"], 0)
        for row in report["rows"]:
            self.assertEqual((row["failure"], row["skipped"], row["invalid"]), ("", "", ""), row)
        printed = self.good(*flags)
        for words in ("cold, mean", "of a read probe", "cublas"):
            self.assertIn(words, printed)

    def test_refusals(self):
        (self.folder / "bad.txt").write_text("few row_nn 1x2x3\nfew row_nn 1x2\n")
        (self.folder / "empty.txt").write_text("# nothing\n")
        one = "sgemm/row_01_naive"
        out = ["--json", self.path("r.json")]
        for words, arguments in (
            ("line 2: the shape", ["bench", one, "--shapes", self.path("bad.txt")]),
            ("line 2: the shape", ["accuracy", one, "--shapes", self.path("bad.txt")]),
            ("holds no shape", ["bench", one, "--shapes", self.path("empty.txt")]),
            ("cannot be opened", ["bench", one, "--shapes", self.path("none.txt")]),
            ("is a directory", ["bench", one, "--shapes", self.folder]),
            ("give one of them", ["bench", one, *self.file, "--shape", "4x4x4"]),
            ("give one of them", ["bench", one, *self.file, "--variant", "row_nn"]),
            ("give one of them", ["accuracy", one, *self.file, "-a", "k=[4]"]),
            ("one operator at a time", ["bench", one, "sgemv/03_vector", *self.file]),
            ("have no shape", ["bench", "spmv/01_scalar", *self.file]),
            ("--at-least is for --shapes", ["bench", one, "--at-least", "1"]),
            ("--svg is for --shapes", ["bench", one, "--svg", self.path("r.svg")]),
            ("--at-least is 'nan', but", ["bench", one, *self.file, "--at-least", "nan"]),
            ("--at-least is '0', but", ["bench", one, *self.file, "--at-least", "0"]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, *arguments, *out)
        self.assertEqual(sorted(self.names()), ["bad.txt", "empty.txt", "shapes.txt"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
