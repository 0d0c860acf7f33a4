#!/usr/bin/env python3
"""warpladder accuracy as its users meet it: tables, pictures, files, exit codes.

Usage: test_accuracy.py PROGRAM [TEST...]
"""

from __future__ import annotations

import csv
import json
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import test_command_line as cli
from test_command_line import BAD_INPUT, CHECK_FAILED, GOOD, RESOURCE, why_no_gpu

SVG = "{http://www.w3.org/2000/svg}"
RUNG = "sgemm/row_01_naive"
SMALL = ["-a", "m,n=[9]", "-a", "k=[16,40]"]
DISTRIBUTIONS = [
    *("uniform", "positive", "normal", "log_uniform", "line_scaled", "inner_scaled", "cancelling"),
    *("identity", "powers_of_two", "one_huge", "denormals", "adversarial"),
]


class Accuracy(cli.CommandLine):
    def test_report(self):
        report = self.report("accuracy", RUNG, "sgemm/row_00_serial", RUNG, *SMALL)
        self.assertLessEqual({"schema_version", "argv", "commit", "device"}, report.keys())
        self.assertEqual((report["verb"], report["op"]), ("accuracy", "sgemm"))
        self.assertEqual((report["target"], report["seed"], report["worse"]), ("cpu", 1, []))
        self.assertEqual(report["libraries"].keys(), {"OpenBLAS"})
        self.assertEqual([d["name"] for d in report["distributions"]], DISTRIBUTIONS)
        rows = report["rows"]
        self.assertEqual([r["rung"] for r in rows], ["row_01_naive", "row_00_serial", "openblas"])
        self.assertEqual([r["rival"] for r in rows], [False, False, True])
        expected = [(d, [9, 9, k]) for d in DISTRIBUTIONS for k in (16, 40)]
        for row in rows:
            points = row["points"]
            self.assertEqual([(p["distribution"], p["shape"]) for p in points], expected)
            for point in points:
                self.assertEqual((point["skipped"], point["failure"]), ("", ""))
                self.assertEqual((point["not_finite"], point["judged_in_part"]), (0, ""))
                if point["distribution"] == "powers_of_two":
                    self.assertEqual((point["frobenius"], point["componentwise"]), (0, 0))
                elif point["distribution"] != "identity":  # of a few terms, which is often exact
                    self.assertGreater(point["frobenius"], 0)
                self.assertLess(point["componentwise"], 1e-5)
                if point["distribution"] != "cancelling":
                    self.assertLess(point["frobenius"], 1e-5)

    def test_comma_separated_values(self):
        flags = [RUNG, *SMALL, "--distribution", "uniform,identity", "--csv", self.path("a.csv")]
        report = self.report("accuracy", *flags)
        with open(self.path("a.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        points = [(row, point) for row in report["rows"] for point in row["points"]]
        self.assertEqual(len(lines), len(points))
        for line, (row, point) in zip(lines, points):
            self.assertEqual((line["op"], line["rung"], line["distribution"]), ("sgemm", row["rung"], point["distribution"]))
            self.assertEqual(line["shape"], "x".join(map(str, point["shape"])))
            self.assertAlmostEqual(float(line["componentwise"]), point["componentwise"], delta=1e-5 * point["componentwise"])

    def test_what_a_pipe_gets(self):
        flags = [RUNG, *SMALL, "--distribution", "uniform,identity"]
        printed = self.good("accuracy", *flags)
        self.assertTrue(printed.startswith("sgemm at m=9, n=9, uniform: uniform in [-1, 1]\n\n"))
        self.assertEqual(printed.count("| row_01_naive "), 4)
        self.assertEqual(printed.count("| openblas "), 4)
        for words in ("| ‖C−R‖/‖R‖ ", r"| max \|C−R\|/(\|A\|\|B\|) ", "k=16 |", "every element"):
            self.assertIn(words, printed)
        self.assertEqual(printed, self.good("accuracy", *flags), "the same data, the same errors")
        self.assertNotEqual(printed, self.good("accuracy", *flags, "--seed", "2"))

    def test_rungs_that_cannot_run(self):
        report = self.report("accuracy", "sgemm", *SMALL, "--distribution", "uniform")
        listed = self.report("list", "sgemm")["operators"][0]["rungs"]
        self.assertEqual(len(report["rows"]), len(listed) + 1)
        for row, rung in zip(report["rows"], listed):
            plain = rung["flavours"]["plain"]
            self.assertEqual((row["rung"], row["skipped"]), (rung["id"], plain.get("why_not", "")))

    def test_svg(self):
        name = self.path("a&b<c>.svg")
        flags = ["sgemm/row_00_serial", RUNG, *SMALL, "--distribution", "uniform,powers_of_two"]
        self.good("accuracy", *flags, "--svg", name)
        source = (self.folder / "a&b<c>.svg").read_text()
        self.good("accuracy", *flags, "--svg", name)
        self.assertEqual(source, (self.folder / "a&b<c>.svg").read_text())
        self.assertEqual(self.names(), ["a&b<c>.svg"])
        self.assertEqual(source.count("http"), 1, "nothing comes from elsewhere")
        self.assertNotIn("<script", source)
        picture = ElementTree.parse(name).getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        self.assertIn("prefers-color-scheme: dark", picture.find(SVG + "style").text)
        texts = {text.text for text in picture.iter(SVG + "text")}
        self.assertLessEqual({"uniform · m = 9, n = 9", "openblas", "16", "40", "k", "0"}, texts)
        _, _, width, height = map(float, picture.get("viewBox").split())
        for circle in picture.iter(SVG + "circle"):
            self.assertTrue(0 < float(circle.get("cx")) < width, circle.attrib)
            self.assertTrue(0 < float(circle.get("cy")) < height, circle.attrib)

    def test_recorded(self):
        """A report that is read back prints and draws as it did when it was measured."""
        flags = [RUNG, "sgemm/row_00_serial", *SMALL, "--distribution", "uniform,identity"]
        drawn, again, report = (self.path(name) for name in ("a.svg", "b.svg", "r.json"))
        self.good("accuracy", *flags, "--svg", drawn, "--json", report)
        recorded = ["--recorded", report, "--distribution", "uniform,identity"]
        printed = self.good("accuracy", "sgemm", *recorded, "--svg", again)
        self.assertIn("| row_01_naive ", printed)
        self.assertEqual((self.folder / "a.svg").read_text(), (self.folder / "b.svg").read_text())
        one = self.good("accuracy", RUNG, "--recorded", report, "--distribution", "identity")
        self.assertNotIn("row_00_serial", one)
        self.assertNotIn("n=9, uniform", one)
        self.assertIn("openblas", one)

    def test_recorded_refusals(self):
        report = self.report("accuracy", RUNG, *SMALL, "--distribution", "uniform")
        for change, words in (
            (lambda r: r.update(verb="bench"), "is no report of accuracy"),
            (lambda r: r.update(op="nope"), "nope"),
            (lambda r: r.update(op="reduce"), "accuracy does not measure reduce"),
            (lambda r: r["rows"][0]["points"][0].update(shape=[9]), "holds the shape '9'"),
            (lambda r: r["rows"][0]["points"][0].update(shape=[9, 9, 0]), "holds the shape '9x9x0'"),
            (lambda r: r.update(rows=[]), "holds no errors of"),
        ):
            bad = json.loads(json.dumps(report))
            change(bad)
            (self.folder / "bad.json").write_text(json.dumps(bad))
            self.refused(BAD_INPUT, words, "accuracy", RUNG, "--recorded", self.path("bad.json"))
        (self.folder / "good.json").write_text(json.dumps(report))
        recorded = ["--recorded", self.path("good.json")]
        for words, arguments in (
            ("holds no errors of 'sgemm/row_02_block_tile'", ["sgemm/row_02_block_tile"]),
            ("no errors on the distribution identity", [RUNG, "--distribution", "identity"]),
            ("which is none of sgemm", [RUNG, "--distribution", "nope"]),
            ("so -a is not for it", [RUNG, *SMALL]),
            ("so --no-worse-than is not for it", [RUNG, "--no-worse-than", "openblas"]),
        ):
            self.refused(BAD_INPUT, words, "accuracy", *arguments, *recorded)

    def test_no_worse_than(self):
        # No rung gets the better of exact sums, and none is worse.
        exact = [RUNG, *SMALL, "--distribution", "powers_of_two", "--no-worse-than", "openblas"]
        self.assertIn("No rung is farther from the truth than openblas", self.good("accuracy", *exact))
        # One sum over k = 4096 is worse than OpenBLAS's sums of blocks of k.
        flags = ["accuracy", RUNG, "-a", "m,n=[32]", "-a", "k=[4096]", "--distribution", "positive"]
        flags += ["--no-worse-than", "openblas"]
        done = cli.run(*flags)
        self.assertEqual((done.returncode, done.stderr), (CHECK_FAILED, b""))
        self.assertIn("| row_01_naive | positive     | 32x32x4096 | frobenius ", done.stdout.decode())
        done = cli.run(*flags, "--json", "-")
        self.assertEqual(done.returncode, CHECK_FAILED)
        report = json.loads(done.stdout)
        self.assertEqual(report["no_worse_than"], {"rival": "openblas", "factor": 1})
        worse = report["worse"][0]
        self.assertEqual((worse["rung"], worse["shape"]), ("row_01_naive", [32, 32, 4096]))
        self.assertGreater(worse["error"], worse["of_rival"])
        self.assertEqual(cli.run(*flags, "--factor", "1000").returncode, GOOD)

    def test_refusals(self):
        outputs = ["--svg", self.path("m.svg"), "--json", self.path("m.json")]
        for code, words, arguments in (
            (BAD_INPUT, "OP[/RUNG] is required", []),
            (BAD_INPUT, "accuracy does not measure transpose; it measures: sgemm", ["transpose"]),
            (BAD_INPUT, "accuracy does not measure spmv", [RUNG, "spmv"]),
            (BAD_INPUT, "unknown rung", ["sgemm/x"]),
            (BAD_INPUT, "has no distribution 'gamma'; its distributions are: uniform, positive",
             [RUNG, "--distribution", "uniform,gamma"]),
            (BAD_INPUT, "'q' is not a size of sgemm", [RUNG, "-a", "q=[1]"]),
            (BAD_INPUT, "a bracket without its pair", [RUNG, "-a", "k=[1"]),
            (BAD_INPUT, "at 64x64x0: a size of 0 leaves nothing", [RUNG, "-a", "k=[16,0]"]),
            (BAD_INPUT, "--seed is 'x'", [RUNG, "--seed", "x"]),
            (BAD_INPUT, "--no-worse-than 'mkl' is not the rival of sgemm on the cpu, which is openblas",
             [RUNG, "--no-worse-than", "mkl"]),
            (BAD_INPUT, "--factor is for --no-worse-than", [RUNG, "--factor", "2"]),
            (BAD_INPUT, "--factor is '0', but must be",
             [RUNG, "--factor", "0", "--no-worse-than", "openblas"]),
            (BAD_INPUT, "--factor is 'nan', but must be",
             [RUNG, "--factor", "nan", "--no-worse-than", "openblas"]),
            (BAD_INPUT, "--svg needs a value", ["--svg", "", RUNG]),
            (BAD_INPUT, "does not exist", [RUNG, "--svg", self.path("none/m.svg")]),
            (RESOURCE, "of memory", [RUNG, "-a", "m,n=1000000", "-a", "k=1000000"]),
        ):
            with self.subTest(words):
                given = outputs[2:] if any("--svg" in a for a in arguments) else outputs
                self.refused(code, words, "accuracy", *arguments, *given)
        self.assertEqual(self.names(), [])

    def test_gpu_where_there_is_none(self):
        if not why_no_gpu():
            self.skipTest("a GPU answers")
        self.refused(RESOURCE, why_no_gpu(), "accuracy", RUNG, "--device", "gpu")

    def test_gpu_where_there_is_one(self):
        if why_no_gpu():
            self.skipTest(why_no_gpu())
        report = self.report("accuracy", RUNG, *SMALL, "--device", "gpu")
        self.assertEqual([row["rung"] for row in report["rows"]], ["row_01_naive", "cublas"])
        self.assertIn("cuBLAS", report["libraries"])
        for row in report["rows"]:
            self.assertTrue(all(point["componentwise"] < 1e-5 for point in row["points"]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
