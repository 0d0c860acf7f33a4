#!/usr/bin/env python3
"""The command line as its users meet it: exit codes, sentences, files.

Usage: test_command_line.py PROGRAM [TEST...]
"""

from __future__ import annotations

import array
import functools
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pseudo_terminal

PROGRAM = ""
ROOT = Path(__file__).resolve().parents[2]
VERBS = "list doctor run verify bench accuracy explain inspect compare report build tune check exercise generate".split()
GOOD, CHECK_FAILED, BAD_INPUT, RESOURCE = 0, 1, 2, 3


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if not k.startswith("WARPLADDER_")}
    env.pop("NO_COLOR", None)
    return {**env, "WARPLADDER_DEVICE": "cpu", **changes}


def run(*arguments, env=None, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=env or environment(),
        timeout=60,
        **options,
    )


@functools.cache
def why_no_gpu() -> str:
    """Empty if a GPU answers."""
    return json.loads(run("doctor", "--json", "-").stdout)["targets"]["gpu"].get("why_not", "")


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def names(self):
        return sorted(os.listdir(self.folder))

    def good(self, *arguments, **options) -> str:
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""), arguments)
        return done.stdout.decode()

    def report(self, *arguments, **options) -> dict:
        """What `--json -` prints: JSON and nothing else."""
        return json.loads(self.good(*arguments, "--json", "-", **options))

    def refused(self, code: int, words: str, *arguments, **options) -> str:
        """One sentence on standard error, nothing on standard output."""
        done = run(*arguments, **options)
        sentence = done.stderr.decode()
        self.assertEqual(done.returncode, code, (arguments, sentence))
        self.assertRegex(sentence, r"\Awarpladder: [^\n]+\n\Z", arguments)
        self.assertIn(words, sentence)
        self.assertEqual(done.stdout, b"", arguments)
        return sentence


class Usage(CommandLine):
    def test_help_of_every_verb(self):
        self.assertIn("Usage: warpladder", self.good("--help"))
        for verb in [*VERBS, "run sgemm", "run vector_add"]:
            self.assertIn(f"Usage: warpladder {verb}", self.good(*verb.split(), "--help"))
            self.assertIn(verb.split()[0], self.good("--help"))

    def test_version(self):
        version = re.search(
            r"project\(warpladder VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()
        )[1]
        self.assertRegex(self.good("--version"), rf"\Awarpladder {version} \(commit \S+\)\n\Z")

    def test_no_verb(self):
        done = run()
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, b""))
        self.assertIn(b"Usage: warpladder", done.stderr)

    def test_unknown_words(self):
        for words, arguments in (
            ("unknown verb 'lst'; the verbs are: list, doctor", ["lst"]),
            ("unknown flag '--nope'; 'warpladder --help'", ["--nope"]),
            ("unknown flag '--nope'; 'warpladder list --help'", ["list", "--nope"]),
            ("unknown flag '-x'", ["verify", "-x"]),
            ("unknown flag '--nope'", ["run", "sgemm", "--nope"]),
            ("list does not take the argument 'vector_add'", ["list", "sgemm", "vector_add"]),
            ("unknown operator 'gemm'; the operators are: ", ["list", "gemm"]),
            ("unknown operator 'gemm'", ["verify", "gemm"]),
            ("unknown operator 'gemm'", ["verify", "gemm/x"]),
            ("unknown rung 'sgemm/x'; 'warpladder list sgemm'", ["verify", "sgemm/x"]),
            ("run does not know 'wrap'; it knows: ", ["run", "wrap"]),
            ("run needs an operator; it knows: ", ["run"]),
            ("--a is required", ["run", "sgemm"]),
            ("--a needs a value", ["run", "sgemm", "--a"]),
            ("--device is given more than once", ["verify", "--device=cpu", "--device=cpu"]),
            ("--device must be cpu or gpu, not 'tpu'", ["verify", "--device", "tpu"]),
            ("--threads (WARPLADDER_THREADS) is '0'", ["verify", "--threads", "0"]),
            ("--threads (WARPLADDER_THREADS) is '4097'", ["verify", "--threads", "4097"]),
            ("--threads (WARPLADDER_THREADS) is '-1'", ["verify", "--threads", "-1"]),
            ("list: --json needs a value", ["list", "--json", ""]),
            ("run spmv: --x needs a value", ["run", "spmv", "--a=a", "--x", "", "--out=y"]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, *arguments)

    def test_sentences_cannot_drive_the_terminal(self):
        sentence = self.refused(BAD_INPUT, "unknown operator", "list", "a\x1b[31mb\nc")
        self.assertIn(r"a\x1b[31mb\x0ac", sentence)

    def test_environment_twins(self):
        self.refused(BAD_INPUT, "not 'tpu'", "verify", env=environment(WARPLADDER_DEVICE="tpu"))
        junk = environment(WARPLADDER_THREADS="junk")
        self.refused(BAD_INPUT, "(WARPLADDER_THREADS) is 'junk'", "verify", env=junk)
        self.good("list", env=junk)  # has no threads, so it has no complaint
        self.good("verify", "vector_add", "--threads", "1", env=junk)

    def test_full_output(self):
        for arguments in (["list"], ["--help"], ["--version"], ["doctor", "--json", "-"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, env=environment()
                )
            self.assertEqual(done.returncode, RESOURCE)
            self.assertIn(b"cannot write to standard output: No space left", done.stderr)

    def test_reader_that_goes_away(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            done = subprocess.run(
                [PROGRAM, "list"], stdout=pipe, stderr=subprocess.PIPE, env=environment()
            )
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))

    def test_pipe_is_markdown_and_terminal_is_boxed(self):
        self.assertTrue(self.good("list").startswith("| operator"))
        for no_color, colours in (("", True), ("1", False)):
            env = environment(NO_COLOR=no_color)
            code, seen = pseudo_terminal.shown([PROGRAM, "list"], 100, env)
            self.assertEqual(code, GOOD)
            self.assertTrue(seen.decode().startswith("┌─"))
            self.assertEqual(b"\x1b[32m" in seen, colours)
            lines = re.sub(r"\x1b\[\d+m", "", seen.decode()).split("\r\n")
            self.assertLessEqual(max(map(len, lines)), 100)


class Reports(CommandLine):
    PROVENANCE = {"schema_version", "argv", "date", "commit", "compiler", "device", "verb"}

    def test_list(self):
        report = self.report("list")
        self.assertLessEqual(self.PROVENANCE | {"operators"}, report.keys())
        self.assertEqual(report["argv"][1:], ["list", "--json", "-"])
        operators = {op["name"]: op for op in report["operators"]}
        self.assertLessEqual({"sgemm", "vector_add"}, operators.keys())
        self.assertEqual(operators["sgemm"]["shape"], "MxNxK")
        table = self.good("list")
        for op in report["operators"]:
            for rung in op["rungs"]:
                self.assertTrue(rung["idea"] and rung["accepts"])
                self.assertIn(f"{op['name']}/{rung['id']} ", table)
                self.assertEqual(rung["flavours"].keys(), {"plain", "counted", "gpu"})
                for flavour in rung["flavours"].values():
                    self.assertEqual(flavour["runs"], "why_not" not in flavour)
        for name, rungs in (
            ("sgemm/row_0[12]*", ["row_01_naive", "row_02_block_tile"]),
            ("transpose/04_padded", ["04_padded"]),
        ):
            (listed,) = self.report("list", name)["operators"]
            self.assertEqual([r["id"] for r in listed["rungs"]], rungs)
        only = self.report("list", "sgemm")["operators"]
        self.assertEqual([op["name"] for op in only], ["sgemm"])

    def test_doctor(self):
        report = self.report("doctor")
        self.assertLessEqual(self.PROVENANCE | {"program", "targets", "missing"}, report.keys())
        cpu = report["targets"]["cpu"]
        self.assertTrue(cpu["available"] and cpu["executor_works"])
        self.assertGreater(cpu["memory_available_bytes"], 0)
        self.assertIn("works", self.good("doctor"))
        for missing in report["missing"]:
            self.assertTrue(missing["what"] and missing["remedy"])

    def test_file(self):
        table = self.good("list", "--json", self.path("r.json"))
        self.assertEqual(table, self.good("list"))
        self.assertIn("operators", json.loads((self.folder / "r.json").read_text()))
        self.assertEqual(self.names(), ["r.json"])
        self.refused(BAD_INPUT, "does not exist", "list", "--json", self.path("none/r.json"))
        self.refused(BAD_INPUT, "is a directory", "verify", "--json", self.folder)


class Verify(CommandLine):
    def test_passes(self):
        for arguments in (["vector_add"], ["vector_add", "--fast", "--threads", "2"]):
            lines = self.good("verify", *arguments).splitlines()
            self.assertRegex("\n".join(lines), r"(?m)^\d+ rungs? passed, 0 failed, \d+ skipped$")
        report = self.report("verify", "sgemm/row_00_serial")
        self.assertLessEqual(Reports.PROVENANCE | {"rows", "target"}, report.keys())
        self.assertEqual((report["passed"], report["failed"], report["skipped"]), (1, 0, 0))
        (host_function,) = report["rows"]
        self.assertEqual(host_function["flavour"], "plain")
        self.assertGreater(len(host_function["cases"]), 40)
        for case in host_function["cases"]:
            self.assertEqual(case["failure"], "")
            self.assertLessEqual(case["worst_error_over_bound"], 1.0)

    def test_runs_each_selection_once(self):
        rung = "vector_add/01_one_per_thread"
        rows = self.report("verify", "vector_add", rung, rung, "--shape", "100")["rows"]
        names = [row["rung"] for row in rows]
        self.assertEqual(len(names), len(set(names)))

    def test_shapes(self):
        for shape in ("33x17x5", "0x5x7", "5x0x7", "5x7x0", "4,4,4"):
            rows = self.report("verify", "sgemm", "--shape", shape)["rows"]
            self.assertEqual({len(row["cases"]) + row["not_taken"] for row in rows}, {1})
        for code, words, shape in (
            (BAD_INPUT, "which has 2 sizes where 3 are needed", "4x4"),
            (BAD_INPUT, "which has 4 sizes", "4x4x4x4"),
            (BAD_INPUT, "cannot be negative", "-1x2x3"),
            (BAD_INPUT, "digits only", "4x4xfour"),
            (BAD_INPUT, "digits only", "4x4x 4"),
            (BAD_INPUT, "a size is missing", "4x4x"),
            (BAD_INPUT, "--shape needs a value", ""),
            (BAD_INPUT, "overflows", "99999999999999999999x1x1"),
            (BAD_INPUT, "too large to address", "9223372036854775807x9223372036854775807x1"),
            (RESOURCE, "of memory", "10000000x10000000x1"),
        ):
            with self.subTest(shape):
                self.refused(code, words, "verify", "sgemm", "--shape", shape)
        self.refused(RESOURCE, "of memory", "verify", "vector_add", "--shape", 2**60)
        self.refused(BAD_INPUT, "cannot fit both ", "verify", "--shape", "4x4x4")
        self.refused(BAD_INPUT, "2 sizes where 1", "verify", "vector_add", "--shape", "4x4")

    def test_gpu_where_there_is_none(self):
        if not why_no_gpu():
            self.skipTest("a GPU answers")
        words = why_no_gpu()
        self.refused(RESOURCE, words, "verify", "--device", "gpu")
        self.refused(RESOURCE, words, "verify", env=environment(WARPLADDER_DEVICE="gpu"))
        default = self.report("verify", "vector_add", env=environment(WARPLADDER_DEVICE=""))
        self.assertEqual(default["target"], "cpu")

    def test_gpu_where_there_is_one(self):
        if why_no_gpu():
            self.skipTest(why_no_gpu())
        self.assertEqual(self.report("verify", "vector_add", "--device", "gpu")["target"], "gpu")
        done = run("verify", "sgemm/row_00_serial", "--device", "gpu")
        self.assertEqual(done.returncode, RESOURCE)
        self.assertIn(b"nothing was verified", done.stderr)

    def test_every_access_is_checked_unless_told(self):
        for flags, flavour in (([], "counted"), (["--fast"], "plain")):
            rows = self.report("verify", "vector_add", *flags)["rows"]
            self.assertEqual({row["flavour"] for row in rows}, {flavour})
            printed = self.good("verify", "vector_add", *flags)
            self.assertEqual("no access was checked" in printed, bool(flags))


def npy(path, shape, values, fortran=False, descr="<f4", version=1, code="f"):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    length = "<H" if version == 1 else "<I"
    size = 6 + 2 + struct.calcsize(length) + len(header) + 1
    header += " " * (-size % 64) + "\n"
    prefix = b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(header))
    Path(path).write_bytes(prefix + header.encode("utf-8") + array.array(code, values).tobytes())


def read_npy(path):
    """(shape, values) of a file in C order."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:begin])
    assert header["descr"] == "<f4" and header["fortran_order"] is False, header
    return header["shape"], array.array("f", data[begin:])


def single(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


class Matrix:
    """Rows of fp32 values, and how a file holds them."""

    def __init__(self, rows: int, columns: int, seed: int):
        draw = random.Random(seed)
        self.rows, self.columns = rows, columns
        self.at = [[single(draw.uniform(-1, 1)) for _ in range(columns)] for _ in range(rows)]

    def write(self, path, transposed=False, fortran=False, **options):
        stored = [list(line) for line in zip(*self.at)] if transposed else self.at
        shape = (self.columns, self.rows) if transposed else (self.rows, self.columns)
        lines = zip(*stored) if fortran else stored
        npy(path, shape, [x for line in lines for x in line], fortran, **options)


class RunSgemm(CommandLine):
    M, N, K = 13, 11, 17

    def setUp(self):
        super().setUp()
        self.a = Matrix(self.M, self.K, 1)
        self.b = Matrix(self.K, self.N, 2)
        self.c = Matrix(self.M, self.N, 3)
        self.inputs = ["--a", self.path("a.npy"), "--b", self.path("b.npy")]
        self.flags = [*self.inputs, "--out", self.path("out.npy")]

    def write_inputs(self):
        self.a.write(self.path("a.npy"))
        self.b.write(self.path("b.npy"))

    def assert_product(self, path, alpha=1.0, beta=0.0):
        """Within the bound that any order of fp32 operations keeps (ops/sgemm/reference.hpp)."""
        shape, out = read_npy(path)
        self.assertEqual(shape, (self.M, self.N))
        terms = (self.K + 3) * 2.0**-24
        gamma = terms / (1 - terms)
        columns = list(zip(*self.b.at))
        for i in range(self.M):
            for j in range(self.N):
                products = [x * y for x, y in zip(self.a.at[i], columns[j])]
                c = self.c.at[i][j]
                expected = alpha * sum(products) + beta * c
                bound = gamma * (abs(alpha) * sum(map(abs, products)) + abs(beta * c)) + 1e-44
                self.assertLessEqual(abs(out[i * self.N + j] - expected), bound, (i, j))

    def test_orders_and_transposes(self):
        for bits in range(16):
            trans_a, trans_b, fortran_a, fortran_b = (bool(bits >> i & 1) for i in range(4))
            self.a.write(self.path("a.npy"), trans_a, fortran_a)
            self.b.write(self.path("b.npy"), trans_b, fortran_b)
            transposes = ["--transa"] * trans_a + ["--transb"] * trans_b
            line = self.good("run", "sgemm", *self.flags, *transposes)
            self.assertIn("sgemm of 13x11x17 ran as row_", line)
            self.assertEqual(line.count("\n"), 1)
            self.assert_product(self.path("out.npy"))

    def test_scalars_and_c(self):
        self.write_inputs()
        for fortran in (False, True):
            self.c.write(self.path("c.npy"), fortran=fortran)
            for alpha, beta in (("1", "1"), ("-2.5", "-0.5"), ("0", "3"), ("1e-2", "+0.25")):
                scalars = ["--c", self.path("c.npy"), "--alpha", alpha, "--beta", beta]
                self.good("run", "sgemm", *self.flags, *scalars)
                self.assert_product(self.path("out.npy"), single(float(alpha)), single(float(beta)))
        self.good("run", "sgemm", *self.flags, "--alpha", "-3")
        self.assert_product(self.path("out.npy"), -3.0)

    def test_format_versions(self):
        for version in (1, 2, 3):
            self.a.write(self.path("a.npy"), version=version)
            self.b.write(self.path("b.npy"), fortran=True, version=version)
            self.good("run", "sgemm", *self.flags)
            self.assert_product(self.path("out.npy"))

    def test_every_rung_can_be_forced(self):
        self.write_inputs()
        ran = []
        for rung in self.report("list", "sgemm")["operators"][0]["rungs"]:
            if not rung["flavours"]["plain"]["runs"]:
                continue
            only = re.search("moderate values|one row|up to 8 rows", rung["accepts"])
            if only:
                flags = [*self.flags, "--rung", rung["id"]]
                self.refused(BAD_INPUT, f"it accepts only {only[0]}", "run", "sgemm", *flags)
                continue
            for name in (rung["id"], "sgemm/" + rung["id"]):
                report = self.report("run", "sgemm", *self.flags, "--rung", name)
                self.assertEqual(report["rung"], rung["id"])
            self.assert_product(self.path("out.npy"))
            ran.append(rung["id"])
        self.assertGreater(len(ran), 1)
        flags = [*self.flags, "--rung", "x"]
        self.refused(BAD_INPUT, "unknown rung 'sgemm/x'", "run", "sgemm", *flags)

    def test_report(self):
        self.write_inputs()
        report = self.report("run", "sgemm", *self.flags, "--threads", "1")
        keys = {"op", "rung", "target", "shape", "time_s", "alpha", "beta", "trans_a", "trans_b"}
        self.assertLessEqual(Reports.PROVENANCE | keys, report.keys())
        self.assertEqual(report["shape"], [self.M, self.N, self.K])
        self.assertEqual((report["target"], report["op"]), ("cpu", "sgemm"))
        self.assertGreater(report["time_s"], 0)
        self.assertNotIn(str(self.folder), json.dumps(report))

    def test_on_a_gpu(self):
        if why_no_gpu():
            self.skipTest(why_no_gpu())
        self.a.write(self.path("a.npy"), fortran=True)
        self.b.write(self.path("b.npy"))
        report = self.report("run", "sgemm", *self.flags, "--device", "gpu")
        self.assertEqual(report["target"], "gpu")
        self.assert_product(self.path("out.npy"))
        words = "cannot run on the gpu"
        forced = ["--device", "gpu", "--rung", "row_00_serial"]
        self.refused(RESOURCE, words, "run", "sgemm", *self.flags, *forced)

    def test_gpu_where_there_is_none(self):
        if not why_no_gpu():
            self.skipTest("a GPU answers")
        self.write_inputs()
        self.refused(RESOURCE, "--device gpu", "run", "sgemm", *self.flags, "--device", "gpu")
        self.assertEqual(self.names(), ["a.npy", "b.npy"])

    def test_shapes_that_do_not_fit(self):
        self.write_inputs()
        a, b = self.path("a.npy"), self.path("b.npy")
        Path(self.path("out.npy")).write_bytes(b"old")
        for words, flags in (
            (f"--a '{a}' is 13x17 and --b '{a}' is 13x17: the 17 columns", ["--a", a, "--b", a]),
            ("is 13x17, transposed 17x13", ["--a", a, "--b", b, "--transa"]),
            (f"--b '{b}' is 17x11, transposed 11x17", ["--a", a, "--b", b, "--transb"]),
            ("their product is 13x11", [*self.inputs, "--beta", "1", "--c", a]),
            ("--beta is 2, so --c must say", [*self.inputs, "--beta", "2"]),
            ("would be ignored, because --beta is 0", [*self.inputs, "--c", a]),
            ("--alpha is 'x', which is not a number", [*self.inputs, "--alpha", "x"]),
            ("--beta is '1e99', which is outside", [*self.inputs, "--beta", "1e99"]),
        ):
            with self.subTest(words):
                flags = [*flags, "--out", self.path("out.npy")]
                self.refused(BAD_INPUT, words, "run", "sgemm", *flags)
        for shape, found in (
            ((), "0 dimensions: ()"),
            ((221,), "1 dimension: (221,)"),
            ((1, 13, 17), "3 dimensions: (1, 13, 17)"),
        ):
            npy(self.path("d.npy"), shape, [0.0] * (221 if shape else 1))
            flags = ["--a", self.path("d.npy"), "--b", b, "--out", self.path("out.npy")]
            self.refused(BAD_INPUT, found, "run", "sgemm", *flags)
        self.assertEqual(Path(self.path("out.npy")).read_bytes(), b"old")
        self.assertEqual(self.names(), ["a.npy", "b.npy", "d.npy", "out.npy"])

    def test_files_that_are_no_such_array(self):
        self.write_inputs()
        bad, whole = self.path("bad.npy"), Path(self.path("a.npy")).read_bytes()
        values = [0.0] * (self.M * self.K)

        def dtype(descr, code="f"):
            return lambda: npy(bad, (self.M, self.K), values, descr=descr, code=code)

        def content(data):
            return lambda: Path(bad).write_bytes(data)

        for words, make in (
            ("holds only", content(whole[:-5])),
            ("but holds", content(whole + b"more")),
            ("truncated header", content(whole[:30])),
            ("no .npy file", content(b"1,2\n3,4\n")),
            ("is empty", content(b"")),
            ("float64", dtype("<f8", "d")),
            ("big-endian", dtype(">f4")),
            ("Python objects", dtype("|O")),
            ("int32", dtype("<i4")),
        ):
            with self.subTest(words):
                make()
                flags = ["--a", bad, "--b", self.path("b.npy"), "--out", self.path("out.npy")]
                sentence = self.refused(BAD_INPUT, words, "run", "sgemm", *flags)
                self.assertIn(f"--a '{bad}'", sentence)
                self.assertNotIn("out.npy", self.names())
        none = self.path("none.npy")
        for words, path in (("No such file", none), ("is a directory", self.folder)):
            flags = ["--a", path, "--b", self.path("b.npy"), "--out", self.path("out.npy")]
            self.refused(BAD_INPUT, words, "run", "sgemm", *flags)

    def test_outputs_that_cannot_be_written(self):
        self.write_inputs()
        command = ["run", "sgemm", *self.inputs, "--out"]
        self.refused(BAD_INPUT, "does not exist", *command, self.path("none/out.npy"))
        self.refused(BAD_INPUT, "is a directory", *command, self.folder)
        if Path("/dev/full").exists():
            self.refused(RESOURCE, "No space left", *command, "/dev/full")
        if os.geteuid() != 0:
            Path(self.path("out.npy")).write_bytes(b"old")
            os.chmod(self.path("out.npy"), 0o444)
            self.refused(BAD_INPUT, "Permission denied", *command, self.path("out.npy"))

    def test_output_is_whole_or_not_at_all(self):
        npy(self.path("a.npy"), (100, 1), [1.0] * 100)
        npy(self.path("b.npy"), (1, 100), [1.0] * 100)
        Path(self.path("out.npy")).write_bytes(b"old")

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        words = "cannot write --out"
        self.refused(RESOURCE, words, "run", "sgemm", *self.flags, preexec_fn=small_files)
        self.assertEqual(Path(self.path("out.npy")).read_bytes(), b"old")
        self.assertEqual(self.names(), ["a.npy", "b.npy", "out.npy"])

    def test_output_may_be_an_input(self):
        self.write_inputs()
        self.good("run", "sgemm", *self.inputs, "--out", self.path("a.npy"))
        self.assert_product(self.path("a.npy"))
        self.assertEqual(self.names(), ["a.npy", "b.npy"])

    def test_output_to_standard_output_holds_the_array_only(self):
        self.write_inputs()
        done = run("run", "sgemm", *self.inputs, "--out", "/dev/stdout")
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
        Path(self.path("out.npy")).write_bytes(done.stdout)
        self.assert_product(self.path("out.npy"))

    def test_closed_standard_output_does_not_end_up_in_the_file(self):
        self.write_inputs()
        done = subprocess.run(
            [PROGRAM, "run", "sgemm", *self.flags],
            preexec_fn=lambda: os.close(1),
            stderr=subprocess.PIPE,
            env=environment(),
        )
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
        self.assert_product(self.path("out.npy"))

    def test_nothing_and_too_much(self):
        for m, n, k, shape in ((0, 3, 5, (0, 3)), (4, 0, 5, (4, 0)), (4, 3, 0, (4, 3))):
            npy(self.path("a.npy"), (m, k), [1.0] * (m * k))
            npy(self.path("b.npy"), (k, n), [1.0] * (k * n))
            self.good("run", "sgemm", *self.flags)
            zeros = array.array("f", [0.0] * (m * n))
            self.assertEqual(read_npy(self.path("out.npy")), (shape, zeros))
        os.unlink(self.path("out.npy"))
        for code, words, m, n in (
            (RESOURCE, "of memory", 10**7, 10**7),
            (BAD_INPUT, "too large to address", 2**60, 2**60),
        ):
            npy(self.path("a.npy"), (m, 0), [])
            npy(self.path("b.npy"), (0, n), [])
            self.refused(code, words, "run", "sgemm", *self.flags)
        self.assertEqual(self.names(), ["a.npy", "b.npy"])


class RunVectorAdd(CommandLine):
    def setUp(self):
        super().setUp()
        self.a, self.b = Matrix(7, 9, 4), Matrix(7, 9, 5)
        inputs = ["--a", self.path("a.npy"), "--b", self.path("b.npy")]
        self.flags = [*inputs, "--out", self.path("out.npy")]

    def test_sum(self):
        self.a.write(self.path("a.npy"))
        self.b.write(self.path("b.npy"))
        self.assertIn("vector_add of 63 ran", self.good("run", "vector_add", *self.flags))
        shape, out = read_npy(self.path("out.npy"))
        self.assertEqual(shape, (7, 9))
        exact = [x + y for p, q in zip(self.a.at, self.b.at) for x, y in zip(p, q)]
        self.assertEqual(list(out), [single(x) for x in exact])

    def test_refuses(self):
        self.a.write(self.path("a.npy"))
        self.b.write(self.path("b.npy"), transposed=True)
        self.refused(BAD_INPUT, "(7, 9)", "run", "vector_add", *self.flags)
        self.b.write(self.path("b.npy"), fortran=True)
        self.refused(BAD_INPUT, "Fortran order", "run", "vector_add", *self.flags)
        self.assertEqual(self.names(), ["a.npy", "b.npy"])


if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
