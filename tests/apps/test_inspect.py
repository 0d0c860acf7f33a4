#!/usr/bin/env python3
"""warpladder inspect as its users meet it: tables, pictures, files, exit codes.

Usage: test_inspect.py PROGRAM [TEST...]
"""

from __future__ import annotations

import gzip
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import pseudo_terminal
import test_command_line as cli
from test_command_line import BAD_INPUT, RESOURCE

SVG = "{http://www.w3.org/2000/svg}"
# 3 x 4: two entries in row 0, none in row 1, one in row 2.
FILE = "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1\n1 4 -2.5\n3 2 7\n"


class Inspect(cli.CommandLine):
    def test_report(self):
        report = self.report("inspect", "arrow:rows=4")
        self.assertLessEqual({"schema_version", "argv", "commit", "device"}, report.keys())
        self.assertEqual((report["verb"], report["matrix"]), ("inspect", "arrow:rows=4"))
        self.assertEqual((report["rows"], report["columns"], report["nnz"]), (4, 4, 10))
        self.assertEqual((report["empty_rows"], report["bandwidth"]), (0, 3))
        self.assertEqual(
            report["cells_nnz"], [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
        )
        lengths = report["row_lengths"]
        self.assertEqual(
            [lengths[key] for key in ("shortest", "longest", "mean", "median")], [2, 4, 2.5, 2]
        )
        self.assertEqual((lengths["percentile_90"], lengths["percentile_99"]), (4, 4))
        self.assertAlmostEqual(lengths["standard_deviation"], 0.75**0.5)
        self.assertAlmostEqual(lengths["coefficient_of_variation"], 0.75**0.5 / 2.5)
        self.assertEqual(
            [(b["shortest"], b["longest"], b["rows"], b["nnz"]) for b in lengths["histogram"]],
            [(0, 0, 0, 0), (1, 1, 0, 0), (2, 3, 3, 6), (4, 7, 1, 4)],
        )

    def test_what_a_pipe_gets(self):
        printed = self.good("inspect", "arrow:rows=4")
        self.assertTrue(printed.startswith("'arrow:rows=4': 4 rows, 4 columns, 10 nonzeros\n"))
        self.assertIn("| longest ", printed)
        self.assertRegex(printed, r"\|\s+2–3 \|\s+3 \| 75\.0 % \| #+ *\|\s+6 \| 60\.0 % \| #+ *\|")
        picture = "+--------+\n|########|\n|####    |\n|##  ##  |\n|##    ##|\n+--------+\n"
        self.assertIn("```text\n" + picture + "```\n", printed)

    def test_lines_fit(self):
        for spec in ("power_law:rows=20000", "banded", "single_row", "single_column", "rmat:scale=9"):
            lines = self.good("inspect", spec).splitlines()
            self.assertLessEqual(max(map(len, lines)), 100, spec)

    def test_matrices_without_places(self):
        for spec in ("stencil2d:n=0", "single_row:columns=0"):
            self.assertIn("there is no place", self.good("inspect", spec, "--svg", self.path("m.svg")))
            ElementTree.parse(self.path("m.svg"))
            self.assertEqual(self.report("inspect", spec)["nnz"], 0)

    def test_svg(self):
        name = self.path("a&b<c>.svg")
        printed = self.good("inspect", "rmat:scale=8", "--svg", name)
        self.assertEqual(printed, self.good("inspect", "rmat:scale=8"))
        self.assertEqual(self.names(), ["a&b<c>.svg"])
        picture = ElementTree.parse(name).getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        self.assertEqual(picture.find(SVG + "title").text, "rmat:scale=8")
        self.assertIn("256 × 256", picture.find(SVG + "desc").text)
        texts = {text.text for text in picture.iter(SVG + "text")}
        self.assertLessEqual({"rmat:scale=8", "row", "column", "entries in a row", "100 %"}, texts)
        self.assertIn("prefers-color-scheme: dark", picture.find(SVG + "style").text)
        source = (self.folder / name).read_text()
        self.assertEqual(source.count("http"), 1, "nothing comes from elsewhere")
        _, _, width, height = map(float, picture.get("viewBox").split())
        for rect in picture.iter(SVG + "rect"):
            self.assertLessEqual(float(rect.get("x")) + float(rect.get("width")), width)
            self.assertLessEqual(float(rect.get("y")) + float(rect.get("height")), height)

    def test_file(self):
        (self.folder / "m.mtx").write_text(FILE)
        with gzip.open(self.path("m.mtx.gz"), "wt") as file:
            file.write(FILE)
        for name in ("m.mtx", "m.mtx.gz"):
            report = self.report("inspect", self.path(name), "--svg", self.path("m.svg"))
            self.assertEqual((report["rows"], report["columns"], report["nnz"]), (3, 4, 3))
            self.assertEqual(report["cells_nnz"], [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
            self.assertEqual((report["empty_rows"], report["bandwidth"]), (1, 3))
            ElementTree.parse(self.path("m.svg"))
        self.assertEqual(self.names(), ["m.mtx", "m.mtx.gz", "m.svg"])

    def test_what_is_stored_and_what_is_added_up(self):
        (self.folder / "m.mtx").write_text(
            "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0\n2 2 1\n2 2 1\n2 2 1\n"
        )
        printed = " ".join(self.good("inspect", self.path("m.mtx")).split())
        self.assertIn("2 nonzeros, of which 1 stored with the value 0; 2 entries of", printed)
        report = self.report("inspect", self.path("m.mtx"))
        self.assertEqual((report["nnz"], report["stored_zeros"], report["duplicates"]), (2, 1, 2))

    def test_refusals(self):
        outputs = ["--svg", self.path("m.svg"), "--json", self.path("m.json")]
        for code, words, matrix in (
            (BAD_INPUT, "the matrix 'foo' is neither a file nor a generator; the generators", "foo"),
            (BAD_INPUT, "MATRIX needs a value", ""),
            (BAD_INPUT, "arrow has no key 'row'; it has: rows, seed", "arrow:row=3"),
            (BAD_INPUT, "rows is '-1', but a size cannot be negative", "arrow:rows=-1"),
            (BAD_INPUT, "but the greatest is 2147483647", "arrow:rows=99999999999"),
            (BAD_INPUT, r"a\x1bb", "a\x1bb"),
            (BAD_INPUT, "absent.mtx", self.path("absent.mtx")),
            (BAD_INPUT, "absent.mtx.gz", "absent.mtx.gz"),
            (RESOURCE, "of memory", "rmat:edge=9999999999999"),
        ):
            with self.subTest(matrix):
                self.refused(code, words, "inspect", matrix, *outputs)
        self.assertEqual(self.names(), [])
        self.refused(BAD_INPUT, "--svg needs a value", "inspect", "arrow:rows=3", "--svg", "")
        self.refused(BAD_INPUT, "does not exist", "inspect", "arrow:rows=3", "--svg", self.path("a/b"))
        self.refused(BAD_INPUT, "is a directory", "inspect", "arrow:rows=3", "--svg", self.folder)
        self.refused(BAD_INPUT, "MATRIX is required", "inspect")
        self.refused(BAD_INPUT, "does not take the argument 'b'", "inspect", "arrow:rows=3", "b")

    def test_help_lists_the_generators(self):
        text = self.good("inspect", "--help")
        for form in ("uniform:rows=1000000,per_row=16,seed=1", "rmat:scale=20,edge=16,seed=1"):
            self.assertIn(form, text)

    def test_terminal(self):
        command = [cli.PROGRAM, "inspect", "stencil2d:n=3"]
        seen = pseudo_terminal.shown(command, 100, cli.environment())[1].decode()
        self.assertIn("│████  ██", seen)
        self.assertLessEqual(max(map(len, seen.split("\r\n"))), 100)
        self.assertNotIn("```", seen)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
