#!/usr/bin/env python3
"""Expressions that are compiled at run time: run sgemm --epilogue, run reduce --op with --identity.

Usage: test_expressions.py PROGRAM [TEST...]
"""

from __future__ import annotations

import math
import sys
import unittest

import test_command_line as cli
from test_command_line import BAD_INPUT


class Epilogues(cli.CommandLine):
    """[1 2; 3 4] · [1 -1; -2 1]: these numbers are exact in fp32."""

    PRODUCT = [-3.0, 1.0, -5.0, 1.0]

    def setUp(self):
        super().setUp()
        cli.npy(self.path("a.npy"), (2, 2), [1, 2, 3, 4])
        cli.npy(self.path("b.npy"), (2, 2), [1, -1, -2, 1])
        cli.npy(self.path("c.npy"), (2, 2), [10, 20, 30, 40])
        inputs = ["--a", self.path("a.npy"), "--b", self.path("b.npy")]
        self.flags = ["run", "sgemm", *inputs, "--out", self.path("out.npy"), "--device", "cpu"]

    def result(self):
        shape, out = cli.read_npy(self.path("out.npy"))
        self.assertEqual(shape, (2, 2))
        return list(out)

    def test_values(self):
        self.good(*self.flags, "--epilogue", "x > 0 ? x : 0.5f*x")
        self.assertEqual(self.result(), [x if x > 0 else 0.5 * x for x in self.PRODUCT])
        self.good(*self.flags, "--epilogue", "fmaxf(x, -4) + max(x, 0)")
        self.assertEqual(self.result(), [max(x, -4) + max(x, 0) for x in self.PRODUCT])

    def test_comes_behind_alpha_and_beta(self):
        scalars = ["--alpha", "2", "--beta", "0.5", "--c", self.path("c.npy")]
        self.good(*self.flags, *scalars, "--epilogue", "-x", "--rung", "row_01_naive")
        self.assertEqual(self.result(), [-(2 * x + 0.5 * c) for x, c in zip(self.PRODUCT, (10, 20, 30, 40))])

    def test_report(self):
        report = self.report(*self.flags, "--epilogue", "x * x")
        self.assertEqual(report["epilogue"], "x * x")
        self.assertNotIn("epilogue", self.report(*self.flags))

    def test_refusals(self):
        self.good(*self.flags)
        before = self.result()
        for expression, words in (
            ("y + 1", "--epilogue 'y + 1' does not compile: "),
            ("x +", "does not compile: expected"),
            ("x = 3", "does not compile: assignment of read-only"),
            ("x; exit(1)", "has ';' at character 2"),
            ("x); (x", "unbalanced bracket"),
            ("x // 1", "has '//'"),
            ("(x", "lacks a ')'"),
        ):
            with self.subTest(expression):
                self.refused(BAD_INPUT, words, *self.flags, "--epilogue", expression)
                self.assertEqual(self.result(), before)


class Reductions(cli.CommandLine):
    def setUp(self):
        super().setUp()
        cli.npy(self.path("x.npy"), (5,), [3, -7, 2, 11, 0])
        self.flags = ["run", "reduce", "--a", self.path("x.npy"), "--device", "cpu"]

    def value(self, op, identity, name="x.npy"):
        flags = ["run", "reduce", "--a", self.path(name), "--device", "cpu"]
        return self.report(*flags, "--op", op, "--identity", identity)["value"]

    def test_values(self):
        self.assertEqual(self.value("a > b ? a : b", "-1e38"), 11)
        self.assertEqual(self.value("a + b", "0"), 9)
        self.assertEqual(self.value("fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b)", "0"), 11)

    def test_many_and_none(self):
        values = [math.sin(i) for i in range(5000)]
        cli.npy(self.path("many.npy"), (5000,), values)
        largest = max(cli.single(v) for v in values)
        self.assertEqual(self.value("max(a, b)", "-9", "many.npy"), largest)
        cli.npy(self.path("none.npy"), (0,), [])
        self.assertEqual(self.value("a * b", "1", "none.npy"), 1)

    def test_refusals(self):
        self.refused(BAD_INPUT, "or an expression with --identity", *self.flags, "--op", "a + b")
        self.refused(BAD_INPUT, "not with --op max", *self.flags, "--op", "max", "--identity", "0")
        self.refused(
            BAD_INPUT, "--op 'a + c' does not compile", *self.flags, "--op", "a + c", "--identity", "0"
        )
        self.refused(
            BAD_INPUT, "--rung does not go with an expression",
            *self.flags, "--op", "a + b", "--identity", "0", "--rung", "05_shuffle",
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
