#!/usr/bin/env python3
"""What cannot run is refused with file, line and reason, before anything runs where that is possible.

Usage: test_refusals.py PROGRAM [TEST...]
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "refused"
BAD_INPUT, RESOURCE = 2, 3


class Refusals(unittest.TestCase):
    def run_it(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [PROGRAM, "run", *arguments],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **variables},
        )

    def refused(self, words: str, *arguments: str):
        outcome = self.run_it(*arguments)
        self.assertEqual(outcome.returncode, BAD_INPUT, outcome.stderr)
        self.assertIn(words, outcome.stderr)
        self.assertTrue(outcome.stderr.startswith("warpladder: "), outcome.stderr)
        self.assertEqual(outcome.stdout, "")

    def test_a_header_that_is_not_provided(self):
        self.refused("header.cu:1: #include <cusparse.h>: not provided here", "header.cu")

    def test_a_kernel_that_is_called_like_a_function(self):
        self.refused("plain_call.cu:5: kernel fill is called like a function; launch it with fill<<<", "plain_call.cu")

    def test_a_kernel_that_is_called_through_a_pointer(self):
        sentence = "kernel fill is called like a function, through a pointer; launch it with <<<grid, block>>>"
        for arguments, line in (((), 5), (("--", "other"), 7)):
            outcome = self.run_it("plain_call_by_pointer.cu", *arguments)
            self.assertIn(f"plain_call_by_pointer.cu:{line}: plain call of a kernel: {sentence}", outcome.stderr)
            self.assertEqual(outcome.returncode, 1)

    def test_ptx_that_is_not_known(self):
        self.refused("ptx.cu:1:", "ptx.cu")
        self.refused("this inline PTX is not provided here", "ptx.cu")

    def test_what_is_no_cpp(self):
        self.refused("syntax.cu:1:", "syntax.cu")

    def test_a_function_that_two_files_define(self):
        self.refused("the program does not link: 'main' is defined in two files", "grid.cu", "endless.cu")

    def test_a_file_that_is_not_there(self):
        self.refused("'nothing.cu' cannot be read", "nothing.cu")

    def test_a_barrier_of_several_blocks(self):
        outcome = self.run_it("grid.cu", "--", "one", "two")
        self.assertIn("grid.cu:3: barrier of the whole grid: ", outcome.stderr)
        self.assertIn("grid.sync() over 3 blocks that need not be there at once; launch the kernel with cudaLaunchCooperativeKernel()", outcome.stderr)
        self.assertEqual(outcome.returncode, 1)
        self.assertEqual(self.run_it("grid.cu").returncode, 0)  # one block

    def test_a_machine_without_a_compiler(self):
        with tempfile.TemporaryDirectory() as empty:
            outcome = self.run_it("grid.cu", PATH=empty)
        self.assertEqual(outcome.returncode, RESOURCE)
        self.assertIn("g++ is not to be found", outcome.stderr)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_it("syntax.cu", TMPDIR=folder)
            self.run_it("grid.cu", TMPDIR=folder)
            self.assertEqual(os.listdir(folder), [])

    def test_a_signal_leaves_nothing_behind(self):
        for file in ("grid.cu", "endless.cu"):  # while it is compiled, and while it runs
            with self.subTest(file), tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen(
                    [PROGRAM, "check", file], cwd=FOLDER, env={**os.environ, "TMPDIR": folder},
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                )
                if file == "endless.cu":
                    self.assertEqual(process.stdout.readline(), "begun\n")
                else:
                    while not os.listdir(folder):
                        time.sleep(0.01)
                process.terminate()
                # Pipes end when no process holds them any more.
                _, said = process.communicate(timeout=60)
                self.assertEqual(os.listdir(folder), [])
                if file == "endless.cu":
                    self.assertEqual(process.returncode, 1)
                    self.assertIn("the program was ended by signal 15", said)
                else:
                    self.assertEqual(process.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
