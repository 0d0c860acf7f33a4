#!/usr/bin/env python3
"""run spmv, and --matrix of bench, explain and verify, as their users meet them.

Usage: test_spmv.py PROGRAM [TEST...]
"""

from __future__ import annotations

import array
import csv
import gzip
import json
import sys
import unittest

import test_command_line as cli
from test_command_line import BAD_INPUT, environment

BANNER = "%%MatrixMarket matrix coordinate"
SPEC = "rmat:scale=6,edge=4"


class RunSpmv(cli.CommandLine):
    """A is 3x4: [1 . . -2.5], a row of nothing, [. 7 . .]."""

    ENTRIES = {(0, 0): 1.0, (0, 3): -2.5, (2, 1): 7.0}
    X, Y = [2.0, 3.0, 100.0, -4.0], [10.0, -20.0, 0.5]

    def setUp(self):
        super().setUp()
        lines = [f"{i + 1} {j + 1} {value}" for (i, j), value in self.ENTRIES.items()]
        self.text = f"{BANNER} real general\n3 4 3\n" + "\n".join(lines) + "\n"
        (self.folder / "m.mtx").write_text(self.text)
        cli.npy(self.path("x.npy"), (4,), self.X)
        cli.npy(self.path("y.npy"), (3,), self.Y)
        self.a_flags = ["run", "spmv", "--a", self.path("m.mtx"), "--out", self.path("out.npy")]
        self.flags = [*self.a_flags, "--x", self.path("x.npy")]
        self.inputs = self.names()

    def assert_product(self, x, alpha=1.0, beta=0.0):
        """These few numbers are exact in fp32, in any order."""
        expected = [beta * y for y in self.Y]
        for (i, j), value in self.ENTRIES.items():
            expected[i] += alpha * value * x[j]
        shape, out = cli.read_npy(self.path("out.npy"))
        self.assertEqual((shape, out), ((3,), array.array("f", expected)))

    def test_every_rung(self):
        rungs = self.report("list", "spmv")["operators"][0]["rungs"]
        self.assertGreater(len(rungs), 6)
        for rung in ["", *(rung["id"] for rung in rungs)]:
            printed = self.good(*self.flags, *(["--rung", rung] if rung else []))
            self.assertIn("spmv of 3x4 ran as " + rung, printed)
            plans = rung in ("08_prepared", "09_sorted")
            self.assertEqual("of preparation" in printed, plans, printed)
            self.assert_product(self.X)

    def test_ones_without_x(self):
        self.good(*self.a_flags)
        self.assert_product([1.0] * 4)

    def test_scalars(self):
        for alpha, beta in ((2.0, -0.5), (0.0, 4.0), (-0.25, 1.0)):
            flags = ["--y", self.path("y.npy"), "--alpha", alpha, "--beta", beta]
            report = self.report(*self.flags, *flags, "--rung", "spmv/08_prepared")
            self.assert_product(self.X, alpha, beta)
            self.assertEqual((report["alpha"], report["beta"]), (alpha, beta))
            self.assertEqual((report["shape"], report["nnz"]), ([3, 4], 3))
            self.assertEqual((report["out_shape"], report["rung"]), ([3], "08_prepared"))
            self.assertGreater(report["preparation_s"], 0)
        self.assertNotIn("preparation_s", self.report(*self.flags, "--rung", "01_scalar"))

    def test_a_compressed_file(self):
        (self.folder / "m.mtx.gz").write_bytes(gzip.compress(self.text.encode()))
        flags = ["--out", self.path("out.npy"), "--x", self.path("x.npy")]
        self.good("run", "spmv", "--a", self.path("m.mtx.gz"), *flags)
        self.assert_product(self.X)

    def test_a_generator(self):
        out = ["--out", self.path("out.npy")]
        report = self.report("run", "spmv", "--a", "arrow:rows=5", *out)
        self.assertEqual((report["matrix"], report["nnz"]), ("arrow:rows=5", 13))
        self.assertEqual(cli.read_npy(self.path("out.npy"))[0], (5,))
        self.good("run", "spmv", "--a", "uniform:rows=4,columns=9,per_row=0", *out)
        zeros = array.array("f", [0.0] * 4)
        self.assertEqual(cli.read_npy(self.path("out.npy")), ((4,), zeros))

    def test_output_may_be_an_input(self):
        self.good(*self.a_flags[:4], "--x", self.path("x.npy"), "--out", self.path("x.npy"))
        self.assertEqual(cli.read_npy(self.path("x.npy"))[0], (3,))

    def test_refusals(self):
        m, x, y = (self.path(name) for name in ("m.mtx", "x.npy", "y.npy"))
        for words, flags in (
            (f"--a '{m}' is 3x4, but --x '{y}' has 3 elements", [*self.a_flags, "--x", y]),
            ("they do not fit its 4 columns", [*self.a_flags, "--x", y]),
            (f"is 3x4, but --y '{x}' has 4 elements", [*self.flags, "--y", x, "--beta", "1"]),
            ("--beta is 2, so --y must say", [*self.flags, "--beta", "2"]),
            ("would be ignored, because --beta is 0", [*self.flags, "--y", y]),
            ("--alpha is 'x', which is not a number", [*self.flags, "--alpha", "x"]),
            ("unknown rung 'spmv/x'", [*self.flags, "--rung", "x"]),
            ("--a is required", ["run", "spmv", *self.a_flags[4:]]),
            ("--out is required", self.a_flags[:4]),
            ("--a 'nothing' is neither a file nor", ["run", "spmv", "--a", "nothing",
                                                     *self.a_flags[4:]]),
            ("has no key 'x'", ["run", "spmv", "--a", "arrow:x=1", *self.a_flags[4:]]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, *flags)
        self.assertEqual(self.names(), self.inputs)

    def test_matrices_that_are_none(self):
        a = self.path("bad.mtx")
        flags = ["run", "spmv", "--a", a, *self.a_flags[4:]]
        for words, text in (
            ("complex", f"{BANNER} complex general\n1 1 1\n1 1 2 3\n"),
            ("", f"{BANNER} complex hermitian\n1 1 1\n1 1 2 0\n"),
            ("line 3", f"{BANNER} real general\n2 2 1\n3 1 1\n"),
            ("", f"{BANNER} real general\n2 2 2\n1 1 1\n"),
            ("", ""),
        ):
            (self.folder / "bad.mtx").write_text(text)
            with self.subTest(text):
                sentence = self.refused(BAD_INPUT, words, *flags)
                self.assertIn(f"--a '{a}'", sentence)
        self.assertEqual(self.names(), sorted([*self.inputs, "bad.mtx"]))


class Matrix(cli.CommandLine):
    """--matrix: a problem without a shape."""

    def test_bench(self):
        files = [f"--{kind}={self.path('r.' + kind)}" for kind in ("csv", "md", "json")]
        two = ["--matrix", SPEC, "--matrix", "arrow:rows=40"]
        printed = self.good("bench", "spmv/01_scalar", "spmv/08_prepared", *two, *files)
        lines = printed.splitlines()
        self.assertIn(f"spmv {SPEC}", lines)
        self.assertIn("spmv arrow:rows=40", lines)
        self.assertNotIn(" at ", "".join(line for line in lines if line.startswith("spmv")))
        self.assertIn("40 rows, 40 columns, 118 nonzeros; to a row 2.95 on average", printed)
        self.assertLessEqual(max(map(len, lines)), 100)
        prepared = [line for line in lines if line.startswith("- 08_prepared prepares once: ")]
        self.assertEqual(len(prepared), 2)
        markdown = (self.folder / "r.md").read_text()
        self.assertEqual(markdown.count("\n- 08_prepared prepares once: "), 2)
        self.assertIn(f"## spmv {SPEC}\n\n64 rows, ", markdown)
        rows = json.loads((self.folder / "r.json").read_text())["rows"]
        with open(self.path("r.csv"), newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([line["variant"] for line in table], [row["variant"] for row in rows])
        self.assertEqual([line["shape"] for line in table], [""] * 4)
        for row, line in zip(rows, table):
            self.assertEqual(None not in line and None not in line.values(), True)
            prepares = row["rung"] == "08_prepared"
            self.assertEqual("preparation_samples_s" in row, prepares)
            self.assertEqual(int(line["preparation_samples"]) > 0, prepares)
            self.assertIn(" nonzeros; ", row["remark"])

    def test_explain(self):
        rungs = ["spmv/01_scalar", "spmv/06_merge"]
        printed = self.good("explain", *rungs, "--matrix", SPEC)
        for words in ("lanes in use per global load", "sectors per global load", " lanes | ",
                      f"spmv/01_scalar {SPEC}: one thread per row", "none for this problem"):
            self.assertIn(words, printed)
        report = self.report("explain", *rungs, "--matrix", SPEC)
        scalar, merge = report["rungs"]
        self.assertEqual((scalar["shape"], scalar["variant"]), ([], SPEC))
        self.assertNotIn("prediction", scalar)
        self.assertLess(scalar["global_load"]["lanes"], merge["global_load"]["lanes"])
        self.assertLessEqual(merge["global_load"]["lanes"], 32)

    def test_verify(self):
        report = self.report("verify", "spmv", "--matrix", SPEC)
        self.assertEqual(report["failed"], 0)
        for row in report["rows"]:
            self.assertEqual([case["name"] for case in row["cases"]], [SPEC])

    def test_files(self):
        (self.folder / "m.mtx").write_text(f"{BANNER} pattern symmetric\n3 3 2\n1 1\n3 1\n")
        matrix = ["--matrix", self.path("m.mtx")]
        printed = self.good("verify", "spmv/03_subwarp", *matrix)
        self.assertIn("| m.mtx", printed)
        self.assertEqual(self.report("explain", "spmv/01_scalar", *matrix)["rungs"][0]["flops"], 6)
        self.assertIn("3 rows, 3 columns, 3 nonzeros", self.good("bench", "spmv/01_scalar", *matrix))
        self.assertEqual(self.report("bench", "spmv/01_scalar", *matrix)["left_out"], [])

    def test_folder_of_the_user(self):
        (self.folder / "m.mtx").write_text(f"{BANNER} real general % no complex\n1 1 1\n1 1 2\n")
        (self.folder / "c.mtx").write_text(f"{BANNER} complex general\n1 1 1\n1 1 2 3\n")
        (self.folder / "d.mtx").mkdir()
        env = environment(WARPLADDER_MATRICES=str(self.folder))
        printed = self.good("verify", "spmv/01_scalar", env=env)
        complex_one = f"WARPLADDER_MATRICES '{self.path('c.mtx')}' is complex"
        self.assertIn(f"- left out: {complex_one}", printed)
        self.assertIn("d.mtx' is no regular file", printed)
        report = self.report("verify", "spmv/01_scalar", env=env)
        self.assertEqual(len(report["left_out"]), 2)
        self.assertEqual(report["rows"][0]["cases"][-1]["name"], "m.mtx")
        self.assertNotIn("left out", self.good("verify", "spmv/01_scalar", "--matrix", SPEC, env=env))
        (self.folder / "b.mtx").write_text("junk\n")
        self.refused(BAD_INPUT, f"WARPLADDER_MATRICES '{self.path('b.mtx')}' is no Matrix Market",
                     "verify", "spmv/01_scalar", env=env)

    def test_x_that_is_far_larger_than_the_matrix(self):
        (self.folder / "w.mtx").write_text(f"{BANNER} real general\n1 2147483647 1\n1 5 1\n")
        self.refused(BAD_INPUT, "an x of ones would be larger by far; give --x", "run", "spmv",
                     "--a", self.path("w.mtx"), "--out", self.path("y.npy"))

    def test_refusals(self):
        for verb in (["bench", "sgemm"], ["explain", "sgemm/row_01_naive"], ["verify", "sgemm"]):
            self.refused(BAD_INPUT, f"--matrix '{SPEC}' is not for sgemm, which takes no matrix",
                         *verb, "--matrix", SPEC)
        for verb in (["bench", "spmv"], ["explain", "spmv/01_scalar"], ["verify", "spmv"]):
            matrix = ["--matrix", SPEC]
            self.refused(BAD_INPUT, "--matrix and --shape both", *verb, *matrix, "--shape", "1x1x1")
            self.refused(BAD_INPUT, "--matrix and --variant both", *verb, *matrix, "--variant", "x")
            self.refused(BAD_INPUT, "the matrix 'x' is neither a file nor", *verb, "--matrix", "x")
            self.refused(BAD_INPUT, "--matrix needs a value", *verb, "--matrix", "")
            absent = self.path("absent.mtx")
            self.refused(BAD_INPUT, "absent.mtx'", *verb, "--matrix", absent)
        self.refused(BAD_INPUT, "--matrix and -a both", "bench", "spmv", "--matrix", SPEC,
                     "-a", "rows=4")
        self.refused(BAD_INPUT, "--matrix and --large both", "verify", "spmv", "--matrix", SPEC,
                     "--large")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
