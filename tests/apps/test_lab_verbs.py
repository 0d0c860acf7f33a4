#!/usr/bin/env python3
"""bench, explain, run transpose and run sgemv as their users meet them: tables, files, exit codes.

Usage: test_lab_verbs.py PROGRAM [TEST...]
"""

from __future__ import annotations

import array
import csv
import json
import statistics
import sys
import unittest
from pathlib import Path

import test_command_line as cli
from test_command_line import BAD_INPUT, GOOD, RESOURCE, environment, why_no_gpu


class Bench(cli.CommandLine):
    RUNGS = ["sgemm/row_01_naive", "sgemm/row_02_block_tile"]

    def test_every_form_of_the_report_says_the_same(self):
        files = [f"--{kind}={self.path('r.' + kind)}" for kind in ("csv", "md", "json")]
        printed = self.good("bench", *self.RUNGS, "--shape", "32x16x64", *files)
        markdown = (self.folder / "r.md").read_text().replace("## ", "", 1)
        self.assertEqual(markdown.replace("\n\n", "\n"), printed.replace("\n\n", "\n"))
        report = json.loads((self.folder / "r.json").read_text())
        self.assertLessEqual({"schema_version", "commit", "argv", "device"}, report.keys())
        self.assertEqual((report["verb"], report["target"]), ("bench", "cpu"))
        self.assertEqual(report["libraries"].keys(), {"OpenBLAS"})
        rows = report["rows"]
        self.assertEqual(
            [row["rung"] for row in rows], ["row_01_naive", "row_02_block_tile", "openblas"]
        )
        with open(self.path("r.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(len(lines), len(rows))
        for row, line in zip(rows, lines):
            self.assertTrue(row["verified"])
            self.assertEqual(row["shape"], [32, 16, 64])
            self.assertEqual(row["flops"], 2 * 32 * 16 * 64)
            self.assertIn(f"| {row['rung']}", printed)
            median = statistics.median(row["samples_s"])
            self.assertAlmostEqual(row["statistics_s"]["median"], median, delta=1e-12)
            self.assertAlmostEqual(float(line["median_s"]), median, delta=1e-5 * median)
            self.assertEqual(int(line["samples"]), len(row["samples_s"]))
            self.assertEqual((line["rung"], line["shape"]), (row["rung"], "32x16x64"))
            self.assertEqual((line["cold_samples"], line["invalid"]), ("0", ""))
            if not row["rival"]:
                self.assertEqual(row["counts"]["fmas"], 32 * 16 * 64)
                self.assertEqual(line["fmas"], str(32 * 16 * 64))

    def test_axes(self):
        def shapes(*axes):
            flags = [word for axis in axes for word in ("-a", axis)]
            rows = self.report("bench", self.RUNGS[0], *flags)["rows"]
            return [tuple(row["shape"]) for row in rows if not row["rival"]]

        self.assertEqual(shapes("m,n,k=[pow2:2:4]"), [(4,) * 3, (8,) * 3, (16,) * 3])
        self.assertEqual(shapes("m=[3,5]", "n,k=[7]"), [(3, 7, 7), (5, 7, 7)])
        self.assertEqual(shapes("m=[1:9:4]", "n,k=2"), [(1, 2, 2), (5, 2, 2), (9, 2, 2)])
        self.assertEqual(shapes("shape=[3x4x5,7x2x1]"), [(3, 4, 5), (7, 2, 1)])

    def test_refusals(self):
        one = self.RUNGS[0]
        for words, arguments in (
            ("OP[/RUNG] is required", []),
            ("give one of them", [one, "--shape", "4x4x4", "-a", "m=[1]"]),
            ("a bracket without its pair", [one, "-a", "m=[1"]),
            ("'q' is not a size of sgemm", [one, "-a", "q=[1]"]),
            ("gives all sizes; give it alone", [one, "-a", "shape=1x1x1", "-a", "m=[1]"]),
            ("which has 2 sizes where 3 are needed", [one, "-a", "shape=[4x4x4,4x4]"]),
            ("which has 1 size where 3 are needed", [one, "--shape", "4"]),
            ("does not exist", [one, "--csv", self.path("none/r.csv")]),
            ("is a directory", [one, "--md", self.folder]),
            ("unknown rung", ["sgemm/row_99"]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, "bench", *arguments)
        self.assertEqual(self.names(), [])

    def test_gpu_where_there_is_none(self):
        if not why_no_gpu():
            self.skipTest("a GPU answers")
        self.refused(RESOURCE, why_no_gpu(), "bench", self.RUNGS[0], "--device", "gpu")

    def test_gpu_where_there_is_one(self):
        if why_no_gpu():
            self.skipTest(why_no_gpu())
        report = self.report("bench", *self.RUNGS, "--shape", "256x256x256", "--device", "gpu")
        self.assertEqual(report["baselines"][0]["rung"], "row_00_serial")
        self.assertIn("cuBLAS", report["libraries"])
        names = [row["rung"] for row in report["rows"]]
        self.assertEqual(names[2:], ["cublas", "cublas_transposed"])
        for row in report["rows"]:
            self.assertEqual((row["failure"], row["invalid"], row["verified"]), ("", "", True))
            self.assertGreater(min(row["samples_s"] + row["cold_samples_s"]), 0)
        printed = self.good("bench", self.RUNGS[0], "--shape", "64x64x64", "--device", "gpu")
        for words in ("of cublas", "of FP32", "× serial", "SM clock", "cold", "TFLOP/s"):
            self.assertIn(words, printed)


class RunTranspose(cli.CommandLine):
    def setUp(self):
        super().setUp()
        self.a = cli.Matrix(7, 9, 6)
        self.flags = ["--a", self.path("a.npy"), "--out", self.path("out.npy")]

    def test_result(self):
        columns = [x for column in zip(*self.a.at) for x in column]
        for rung in ("", "01_naive", "transpose/08_thin"):
            with self.subTest(rung):
                self.a.write(self.path("a.npy"))
                forced = ["--rung", rung] if rung else []
                printed = self.good("run", "transpose", *self.flags, *forced)
                self.assertIn("transpose of 7x9 ran as " + rung.split("/")[-1], printed)
                shape, out = cli.read_npy(self.path("out.npy"))
                self.assertEqual((shape, list(out)), ((9, 7), columns))

    def test_fortran_order_stays(self):
        self.a.write(self.path("a.npy"), fortran=True)
        report = self.report("run", "transpose", *self.flags)
        self.assertEqual((report["shape"], report["out_shape"]), ([7, 9], [9, 7]))
        data = (self.folder / "out.npy").read_bytes()
        self.assertIn(b"'fortran_order': True, 'shape': (9, 7)", data)
        rows = [x for row in self.a.at for x in row]  # Fortran order of the 9x7 transpose
        self.assertTrue(data.endswith(array.array("f", rows).tobytes()))

    def test_refuses(self):
        self.refused(BAD_INPUT, "--a is required", "run", "transpose")
        self.a.write(self.path("a.npy"))
        self.refused(BAD_INPUT, "unknown flag '--b'", "run", "transpose", *self.flags, "--b", "x")
        self.refused(BAD_INPUT, "unknown rung", "run", "transpose", *self.flags, "--rung", "x")
        only_in_place = ["run", "transpose", *self.flags, "--rung", "10_in_place"]
        self.refused(BAD_INPUT, "accepts only square matrices in place", *only_in_place)
        cli.npy(self.path("a.npy"), (2, 2, 2), range(8))
        self.refused(BAD_INPUT, "a matrix has 2", "run", "transpose", *self.flags)
        self.assertEqual(self.names(), ["a.npy"])


class RunReduce(cli.CommandLine):
    values = [0.5, -3.0, 2.25, 8.0, -0.125, 8.0, 1.0]
    expected = {"sum": 16.625, "mean": 2.375, "min": -3.0, "max": 8.0, "argmin": 1, "argmax": 3}

    def setUp(self):
        super().setUp()
        cli.npy(self.path("a.npy"), (7,), self.values)

    def test_every_function(self):
        for function, expected in self.expected.items():
            with self.subTest(function):
                report = self.report("run", "reduce", "--a", self.path("a.npy"), "--op", function)
                place = function.startswith("arg")
                self.assertEqual(report["place" if place else "value"], expected)
                self.assertEqual((report["function"], report["shape"]), (function, [7]))
        printed = self.good("run", "reduce", "--a", self.path("a.npy"), "--rung", "05_shuffle")
        self.assertIn("reduce of 7 ran as 05_shuffle", printed)
        self.assertIn("the result is 16.625", printed)

    def test_scalars_in_files(self):
        out = self.path("out.npy")
        self.good("run", "reduce", "--a", self.path("a.npy"), "--op", "max", "--out", out)
        self.assertEqual(cli.read_npy(out), ((), array.array("f", [8.0])))
        self.good("run", "reduce", "--a", self.path("a.npy"), "--op", "argmax", "--out", out)
        data = (self.folder / "out.npy").read_bytes()
        self.assertIn(b"'descr': '<i8', 'fortran_order': False, 'shape': ()", data)
        self.assertTrue(data.endswith(array.array("q", [3]).tobytes()))

    def test_along_an_axis(self):
        a = cli.Matrix(5, 3, 4)
        for fortran in (False, True):
            a.write(self.path("a.npy"), fortran=fortran)
            for axis, lines in ((1, a.at), (0, list(zip(*a.at)))):
                flags = ["--a", self.path("a.npy"), "--axis", axis, "--out", self.path("out.npy")]
                self.good("run", "reduce", *flags, "--op", "max")
                expected = array.array("f", [max(line) for line in lines])
                self.assertEqual(cli.read_npy(self.path("out.npy")), ((len(lines),), expected))
                self.good("run", "reduce", *flags, "--op", "argmin", "--rung", "04_split")
                data = (self.folder / "out.npy").read_bytes()
                places = array.array("q", [line.index(min(line)) for line in lines])
                self.assertTrue(data.endswith(places.tobytes()))
        self.refused(BAD_INPUT, "--axis must be 0 or 1", "run", "reduce", *flags[:2], "--axis", "2")
        self.refused(BAD_INPUT, "--out must say", "run", "reduce", *flags[:4])

    def test_empty(self):
        cli.npy(self.path("a.npy"), (0,), [])
        report = self.report("run", "reduce", "--a", self.path("a.npy"))
        self.assertEqual(report["value"], 0)
        flags = ["--a", self.path("a.npy"), "--op"]
        for op in ("mean", "min", "max", "argmin", "argmax"):
            words = f"has no values, of which there is no {op}; the sum is 0"
            self.refused(BAD_INPUT, words, "run", "reduce", *flags, op)
        out = ["--out", self.path("out.npy"), "--axis"]
        cli.npy(self.path("a.npy"), (0, 3), [])
        self.refused(BAD_INPUT, "no values", "run", "reduce", *flags, "max", *out, 0)
        self.good("run", "reduce", *flags, "max", *out, 1)  # no results at all
        self.assertEqual(cli.read_npy(self.path("out.npy"))[0], (0,))

    def test_refuses(self):
        flags = ["run", "reduce", "--a", self.path("a.npy")]
        self.refused(BAD_INPUT, "--op 'median' is not a reduction", *flags, "--op", "median")
        self.refused(BAD_INPUT, "did you mean mean?", *flags, "--op", "menn")
        self.refused(BAD_INPUT, "unknown rung", *flags, "--rung", "x")
        self.refused(BAD_INPUT, "--a is required", "run", "reduce")
        cli.Matrix(3, 4, 1).write(self.path("a.npy"), fortran=True)
        self.refused(BAD_INPUT, "is in Fortran order", *flags, "--op", "argmax")
        self.report(*flags, "--op", "max")


class RunSgemv(cli.CommandLine):
    M, N = 13, 17

    def setUp(self):
        super().setUp()
        self.a = cli.Matrix(self.M, self.N, 7)
        self.vectors = {size: cli.Matrix(1, size, size).at[0] for size in (self.M, self.N)}
        for size, values in self.vectors.items():
            cli.npy(self.path(f"{size}.npy"), (size,), values)
        self.a_flags = ["--a", self.path("a.npy"), "--out", self.path("out.npy")]
        self.flags = [*self.a_flags, "--x", self.path(f"{self.N}.npy")]

    def assert_product(self, trans=False, alpha=1.0, beta=0.0):
        """Within the bound that any order of fp32 operations keeps (ops/sgemv/reference.hpp)."""
        lines = list(zip(*self.a.at)) if trans else self.a.at
        x, y = self.vectors[len(lines[0])], self.vectors[len(lines)]
        shape, out = cli.read_npy(self.path("out.npy"))
        self.assertEqual(shape, (len(lines),))
        terms = (len(x) + 3) * 2.0**-24
        gamma = terms / (1 - terms)
        for i, line in enumerate(lines):
            products = [a * b for a, b in zip(line, x)]
            expected = alpha * sum(products) + beta * y[i]
            bound = gamma * (abs(alpha) * sum(map(abs, products)) + abs(beta * y[i])) + 1e-44
            self.assertLessEqual(abs(out[i] - expected), bound, i)

    def test_result(self):
        rungs = self.report("list", "sgemv")["operators"][0]["rungs"]
        self.assertGreater(len(rungs), 6)
        for rung in ["", *(rung["id"] for rung in rungs)]:
            for fortran in (False, True):
                for trans in (False, True):
                    self.a.write(self.path("a.npy"), fortran=fortran)
                    size = self.M if trans else self.N
                    flags = [*self.a_flags, "--x", self.path(f"{size}.npy")]
                    flags += ["--transa"] * trans + (["--rung", rung] if rung else [])
                    printed = self.good("run", "sgemv", *flags)
                    self.assertIn("sgemv of 13x17 ran as " + rung, printed)
                    self.assert_product(trans)

    def test_scalars(self):
        self.a.write(self.path("a.npy"))
        y = ["--y", self.path(f"{self.M}.npy")]
        for alpha, beta in (("1", "1"), ("-2.5", "-0.5"), ("0", "3"), ("1e-2", "+0.25")):
            report = self.report(
                "run", "sgemv", *self.flags, *y, "--alpha", alpha, "--beta", beta
            )
            alpha, beta = cli.single(float(alpha)), cli.single(float(beta))
            self.assert_product(False, alpha, beta)
            self.assertEqual((report["alpha"], report["beta"]), (alpha, beta))
            self.assertEqual((report["shape"], report["out_shape"]), ([13, 17], [13]))

    def test_refuses(self):
        self.a.write(self.path("a.npy"))
        a, m, n = (self.path(f"{name}.npy") for name in ("a", self.M, self.N))
        for words, flags in (
            ("--x is required", self.a_flags),
            (f"--a '{a}' is 13x17, but --x '{m}' has 13 elements", [*self.a_flags, "--x", m]),
            ("is 13x17, transposed 17x13, but --x", [*self.flags, "--transa"]),
            (f"--x '{a}' has 2 dimensions: (13, 17), but a vector", [*self.a_flags, "--x", a]),
            ("has 1 dimension: (17,), but a matrix has 2", [*self.flags, "--a", n][2:]),
            (f"--y '{n}' has 17 elements", [*self.flags, "--y", n, "--beta", "1"]),
            ("--beta is 2, so --y must say", [*self.flags, "--beta", "2"]),
            ("would be ignored, because --beta is 0", [*self.flags, "--y", m]),
            ("--alpha is 'x', which is not a number", [*self.flags, "--alpha", "x"]),
            ("unknown rung", [*self.flags, "--rung", "x"]),
            ("unknown flag '--b'", [*self.flags, "--b", "x"]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, "run", "sgemv", *flags)
        cli.npy(n, (self.N,), self.vectors[self.N], descr="<f8", code="d")
        self.refused(BAD_INPUT, "float64", "run", "sgemv", *self.flags)
        self.assertEqual(self.names(), ["13.npy", "17.npy", "a.npy"])


class Explain(cli.CommandLine):
    def test_two_rungs_side_by_side(self):
        rungs = ["sgemm/row_01_naive", "sgemm/col_04_conflict_free"]
        report = self.report("explain", *rungs, "--shape", "64x64x64")
        self.assertEqual([f"{r['op']}/{r['rung']}" for r in report["rungs"]], rungs)
        for rung in report["rungs"]:
            self.assertTrue(rung["prediction"]["holds"])
            self.assertEqual(rung["totals"]["fmas"], 64**3)
        printed = self.good("explain", *rungs, "--shape", "64x64x64")
        for words in (*rungs, "sectors", "wavefronts"):
            self.assertIn(words.split("/")[-1], printed)

    def test_page(self):
        page = self.path("page.html")
        rungs = ["transpose/03_tile_coalesced", "transpose/04_padded"]
        printed = self.good("explain", *rungs, "--shape", "64x64", "--brief", "--html", page)
        text = (self.folder / "page.html").read_text()
        changed = "What changed from 03_tile_coalesced to 04_padded: L1 cycles "
        self.assertIn(changed, printed)
        self.assertIn(changed, text)
        self.assertIn("one of 32 words", text)
        self.assertIn("03_tile_coalesced.cu", text)
        self.assertNotRegex(text, r"https?://(?!www\.w3\.org)")
        self.good("explain", rungs[0], "--shape", "64x64", "--html", page, "--gpu", "h100,4090")
        text = (self.folder / "page.html").read_text()
        self.assertIn("RTX 4090", text)
        self.assertNotIn("RTX 3090", text)

    def test_metric(self):
        said = self.good("explain", "--metric", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
        for words in ("the L1 and texture cache", "tag stage", "Ours: global load sectors."):
            self.assertIn(words, said)
        self.assertIn("not known here", self.good("explain", "--metric", "xyz__foo.bar"))
        self.refused(BAD_INPUT, "--metric", "explain", "--metric", "")

    def test_beside_an_export_of_nsight_compute(self):
        flags = ["vector_add/01_one_per_thread", "--shape", "4096"]
        rung = self.report("explain", *flags)["rungs"][0]
        kernel = rung["kernels"][0]
        metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
        size = {key: "({}, {}, {})".format(*kernel[key]) for key in ("block", "grid")}
        with open(self.path("n.csv"), "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["ID", "Kernel Name", "Block Size", "Grid Size", metric, "dram__bytes.sum"])
            rows.writerow(["", "", "", "", "sector", "Kbyte"])
            name = f"void unnamed>::{kernel['kernel']}(int)"
            sectors = rung["ncu_metrics"][metric]
            rows.writerow([0, name, size["block"], size["grid"], f"{sectors:,}", 5])
        beside = self.report("explain", *flags, "--ncu", self.path("n.csv"))["rungs"][0]["ncu"][0]
        self.assertEqual(beside["problem"], "")
        self.assertEqual(beside["without_counterpart"], 1)
        counted = rung["ncu_metrics"][metric]
        self.assertEqual(beside["rows"], [{"metric": metric, "measured": counted, "counted": counted}])
        self.assertIn(metric, self.good("explain", *flags, "--ncu", self.path("n.csv")))
        (self.folder / "bad.csv").write_text("no table")
        self.refused(BAD_INPUT, "holds no table", "explain", *flags, "--ncu", self.path("bad.csv"))

    def test_resources_from_a_cubin(self):
        flags = ["vector_add/01_one_per_thread", "--shape", "64"]
        cubin = str(cli.ROOT / "tests/fuzz/corpus/cubin/sm_90")
        self.refused(BAD_INPUT, "no kernel that was launched", "explain", *flags, "--cubin", cubin)
        self.refused(BAD_INPUT, "is no cubin", "explain", *flags, "--cubin", __file__)

    def test_a_roof_is_called_no_ceiling(self):
        rungs = ["sgemm/row_01_naive", "sgemm/row_02_block_tile", "--shape", "64x64x64"]
        page = self.path("page.html")
        printed = self.good("explain", *rungs, "--html", page)
        for text in (printed, Path(page).read_text()):
            self.assertIn("TFLOP/s by counts", text)
            self.assertNotIn("TFLOP/s at most", text)
            self.assertIn("neither limit a run nor rank kernels", " ".join(text.split()))

    def test_each_gpu_has_a_row_of_roof_and_occupancy(self):
        flags = ["explain", "sgemm/row_01_naive", "--shape", "64x64x64"]
        printed = self.good(*flags, "--brief", "--gpu", "h100,a100,4090")
        for gpu, occupancy in (("H100 SXM", "64 of 64"), ("A100 SXM 80 GB", "64 of 64"), ("GeForce RTX 4090", "48 of 48")):
            self.assertRegex(printed, rf"\| {gpu} +\| L1, all its cycles +\| .* {occupancy} warps \(100 %\), by warps")
        self.assertIn("The launches are those on the first GPU, H100 SXM.", printed)
        self.assertNotIn("µs by counts", self.good(*flags, "--gpu", "a100"))
        told = self.report(*flags, "--gpu", "h100,a100")["rungs"][0]
        self.assertEqual([each["gpu"] for each in told["gpus"]], ["h100", "a100"])
        self.assertGreater(told["gpus"][0]["peak"]["flops_per_s"], told["gpus"][1]["peak"]["flops_per_s"])
        self.assertEqual(told["gpus"][0]["roofs"], told["roofs"])
        hopper = ["explain", "sgemm/tc_21_mapped_lines", "--shape", "64x8x64", "--gpu", "h100,a100"]
        self.assertIn("cannot run it: it runs on compute capability 9.0 alone", self.good(*hopper))

    def test_a_pattern_names_several_rungs(self):
        told = self.report("explain", "sgemm/row_0[012]*", "--shape", "16x16x16")
        self.assertEqual([r["rung"] for r in told["rungs"]], ["row_01_naive", "row_02_block_tile"])
        self.assertEqual(len(told["left_out"]), 1)
        self.assertIn("sgemm/row_00_serial cannot be explained: a host function", told["left_out"][0])
        printed = self.good("explain", "transpose/0[13]*", "--shape", "64x64", "--brief")
        self.assertIn("second ÷ first", printed)  # two rungs are compared, however they are named
        self.refused(BAD_INPUT, "no rung matches 'sgemm/nope*'", "explain", "sgemm/nope*")
        self.refused(BAD_INPUT, "rungs of different operators", "explain", "*/*1_naive")

    def test_refusals(self):
        self.refused(BAD_INPUT, "names no rung", "explain", "sgemm")
        self.refused(BAD_INPUT, "unknown rung", "explain", "sgemm/row_99")
        host = "sgemm/row_00_serial"
        done = cli.run("explain", host, env=environment())
        self.assertNotEqual(done.returncode, GOOD)
        self.assertIn(b"host function", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
