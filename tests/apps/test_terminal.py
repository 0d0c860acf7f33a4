#!/usr/bin/env python3
"""What verbs print on terminals: widths, dumb ones, progress, help, suggestions.

Usage: test_terminal.py PROGRAM [TEST...]
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import unittest

import pseudo_terminal
import test_command_line as cli
from test_command_line import BAD_INPUT, VERBS, environment, run

ESCAPE = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")


class Terminal(cli.CommandLine):
    def start(self, *arguments, columns=80, **changes):
        env = environment(**{"TERM": "xterm", **changes})
        return pseudo_terminal.start([cli.PROGRAM, *arguments], columns, env)

    def seen(self, *arguments, **options) -> bytes:
        process, ours = self.start(*arguments, **options)
        text = pseudo_terminal.read(ours)
        process.wait()
        return text


class Widths(Terminal):
    COMMANDS = [
        ["doctor"],
        ["list", "transpose"],
        ["verify", "transpose/01_naive", "vector_add"],
        ["explain", "transpose/03_tile_coalesced", "transpose/04_padded", "--shape", "64x64"],
        ["explain", "sgemm/row_03_thread_tile", "--shape", "64x64x64"],
        ["explain", "--terms"],
        ["bench", "sgemm/row_01_naive", "--shape", "16x16x16"],
        ["accuracy", "sgemm/row_01_naive", "-a", "k=[4]", "--distribution", "uniform"],
        ["--help"],
        *([*verb.split(), "--help"] for verb in [*VERBS, "run sgemm", "run reduce"]),
    ]

    def test_nothing_is_wider_than_the_terminal(self):
        for columns in (80, 100, 120):
            for command in self.COMMANDS:
                text = self.seen(*command, columns=columns).split(b"\r\x1b[K")[-1]
                for line in ESCAPE.sub(b"", text).decode().splitlines():
                    self.assertLessEqual(len(line), columns, (command, line))

    def test_what_check_and_refusals_say_is_wrapped_on_a_terminal_alone(self):
        race = cli.ROOT / "tests/programs/bugs/missing_barrier.cu"
        for command in (["check", str(race)], ["list", "nonesuch"]):
            for line in ESCAPE.sub(b"", self.seen(*command)).decode().splitlines():
                self.assertTrue(len(line) <= 80 or " " not in line, line)
        in_a_file = run("check", str(race)).stderr.decode()
        self.assertIn("shared-memory race", in_a_file)
        self.assertIn("is a __syncthreads() missing?", in_a_file.splitlines()[0])

    def test_descriptions_of_flags_begin_in_one_column(self):
        lines = self.good("explain", "--help").splitlines()
        begins = {line.index(words) for line in lines for words in ("Whose roofs", "Print the") if words in line}
        self.assertEqual(len(begins), 1, lines)

    def test_wide_terminals_get_wide_tables_and_narrow_prose(self):
        text = ESCAPE.sub(b"", self.seen("list", "transpose", columns=200)).decode()
        self.assertGreater(max(map(len, text.splitlines())), 100)
        prose = self.seen("verify", "--help", columns=200).decode()
        self.assertLessEqual(max(map(len, prose.splitlines())), 100)


class Progress(Terminal):
    LONG = ["bench", "sgemm/row_01_naive", "--shape", "512x512x512"]

    def test_an_interrupt_ends_the_line(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process, ours = self.start(*self.LONG)
            seen = b""
            while b"%" not in seen:
                seen += os.read(ours, 4096)
            time.sleep(0.1)
            process.send_signal(number)
            seen += pseudo_terminal.read(ours)
            self.assertEqual(process.wait(), -number)
            self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-80:])

    def test_time_left_of_many_problems(self):
        for verb, rung in (("bench", "vector_add"), ("tune", "sgemm/row_07_register_parity")):
            shape = "8" if verb == "bench" else "64x64x16"
            seen = self.seen(verb, rung, "--shape", shape, "--budget", "80s", "--device", "cpu", columns=160)
            self.assertRegex(seen, rb"%, about \d+ s left: ")
            for line in seen.split(b"\r"):
                self.assertLessEqual(line.count(b" left"), 1, line)  # said once

    def test_a_dumb_terminal_gets_no_escapes(self):
        arguments = ["verify", "vector_add", "--shape", "8"]
        self.assertIn(b"\x1b", self.seen(*arguments))
        self.assertNotIn(b"\x1b", self.seen(*arguments, TERM="dumb"))


class Help(cli.CommandLine):
    def test_help_of_a_verb(self):
        for verb in [*VERBS, "run sgemm"]:
            self.assertEqual(
                self.good("help", *verb.split()), self.good(*verb.split(), "--help"), verb
            )
        self.assertEqual(self.good("help"), self.good("--help"))
        self.refused(BAD_INPUT, "unknown verb 'nope'", "help", "nope")

    def test_exit_codes_and_defaults(self):
        text = self.good("--help")
        for words in ("0  done", "1  a check failed", "2  bad usage", "3  a device"):
            self.assertIn(words, text)
        self.assertIn("(default: sum)", self.good("run", "reduce", "--help"))
        self.assertIn("(default: 20)", " ".join(self.good("verify", "--help").split()))
        self.assertEqual(self.good("-v"), self.good("--version"))
        self.assertIn("--timeout", self.good("--help-all"))

    def test_terms_are_the_document(self):
        document = (cli.ROOT / "docs/terms.md").read_text()
        self.assertTrue(document.endswith(self.good("explain", "--terms")))

    def test_suggestions(self):
        for words, arguments in (
            ("did you mean verify?", ["vreify"]),
            ("did you mean sgemm?", ["list", "gemm"]),
            ("row_01_naive", ["explain", "sgemm/naive"]),
            ("did you mean --shape?", ["verify", "--shap", "4"]),
            ("did you mean transpose?", ["run", "transpos"]),
            ("its variants are: in_place; did you mean in_place?",
             ["verify", "transpose", "--shape", "8x8", "--variant", "inplace"]),
            ("did you mean row_nn, row_nt or row_tn?",
             ["verify", "sgemm", "--shape", "8x8x8", "--variant", "row_nm"]),
            ("did you mean uniform?", ["accuracy", "sgemm/row_01_naive", "--distribution", "unifrm"]),
            ("did you mean rmat?", ["explain", "spmv/01_scalar", "--matrix", "rmt:scale=4"]),
            ("did you mean scale?", ["inspect", "rmat:scal=4"]),
            ("did you mean bash", ["generate", "bsh"]),
            ("did you mean sgemm or sgemv?", ["list", "sgem/row_01"]),
            ("did you mean transpose/04_padded?", ["build", "transpose/04_paded"]),
            ("did you mean sarif?", ["check", "a.cu", "--format", "sarf"]),
            ("did you mean h100", ["explain", "vector_add/01_one_per_thread", "--gpu", "h100x"]),
            ("warp has none; verify and explain", ["run", "warp"]),
            ("no rung matches 'sgemm/rwo_*'", ["verify", "sgemm/rwo_*"]),
        ):
            with self.subTest(words):
                self.refused(BAD_INPUT, words, *arguments)

    def test_names_of_any_length_are_shortened(self):
        long = "a" * 5000
        for arguments in (
            [long], ["list", long], ["verify", f"sgemm/{long}"], ["verify", f"--{long}"],
            ["run", "sgemm", "--a", f"/{long}", "--b", "b", "--out", "c"],
            ["verify", "--json", f"{self.folder}/{long}/x"], ["inspect", long],
            ["explain", "sgemm/row_01_naive", "--gpu", long],
        ):
            self.assertLess(len(run(*arguments, cwd=self.folder).stderr), 700, arguments[0][:20])


class Globs(cli.CommandLine):
    def test_rungs_and_operators(self):
        rows = self.report("verify", "transpose/0[1-3]*", "--shape", "5x7")["rows"]
        self.assertEqual([row["rung"][:2] for row in rows], ["01", "02", "03"])
        rows = self.report("verify", "vector_*", "--shape", "64")["rows"]
        self.assertEqual({row["op"] for row in rows}, {"vector_add"})


class Explain(cli.CommandLine):
    def test_brief_is_a_part_of_the_report(self):
        arguments = ["explain", "transpose/03_tile_coalesced", "--shape", "64x64"]
        brief, whole = self.good(*arguments, "--brief"), self.good(*arguments)
        self.assertTrue(whole.startswith(brief))
        self.assertIn("Line to blame", brief)
        self.assertNotIn("|", brief)

    def test_roofs_and_occupancy_are_those_of_the_gpu(self):
        arguments = ["explain", "sgemm/row_01_naive", "--shape", "32x32x32"]
        self.assertIn("roof, H200 SXM", self.good(*arguments))
        of_4090 = self.good(*arguments, "--gpu", "4090")
        self.assertIn("roof, GeForce RTX 4090", of_4090)
        self.assertIn("of 48 warps", of_4090)
        self.assertIn("82.6", of_4090)  # the data sheet's TFLOP/s
        self.assertEqual(self.report(*arguments, "--gpu", "4090")["rungs"][0]["gpu"], "4090")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
