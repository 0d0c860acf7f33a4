#!/usr/bin/env python3
"""check names every planted bug with its line, kernel, block and thread; the clean twin passes.

Usage: test_bugs.py PROGRAM [TEST...]
"""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUGS = Path(__file__).resolve().parent / "bugs"
# What is said of each: the kind, and words of the sentence.
EXPECTED = {
    "race_second_barrier": ("shared-memory race", "thread (1,0,0) of multiply: reads shared memory that thread 0 wrote"),
    "race_in_a_grid": ("shared-memory race", "block (65,0,0) thread (1,0,0) of pass_on: reads shared memory that thread 0 wrote"),
    "missing_barrier": ("shared-memory race", "block (0,0,0) thread (0,0,0) of reverse: reads shared memory before thread 63 writes it"),
    "missing_warp_barrier": ("shared-memory race", "thread (16,0,0) of sum: writes shared memory that thread 0 read, with no barrier in between: is a __syncwarp() missing?"),
    "out_of_bounds": ("access out of bounds", "block (7,0,0) thread (104,0,0) of scale: reads 4 bytes 0 bytes past the end of an allocation of 4000 bytes"),
    "divergent_barrier": ("divergent barrier", "64 threads wait at __syncthreads, but 64 have exited"),
    "uninitialised_shared": ("uninitialised shared memory", "thread (0,0,0) of histogram: reads shared memory that no thread"),
    "uninitialised_global": ("uninitialised global memory", "block (1,0,0) thread (0,0,0) of add: reads 4 bytes that nothing has written, 256 bytes into an allocation of 512"),
    "misaligned": ("misaligned access", "thread (0,0,0) of copy: an access of 16 bytes at an address that is 8 bytes off"),
    "shuffle_mask": ("wrong warp mask", "thread (16,0,0) of sum: lane 16 calls with mask 0x0000ffff"),
    "host_pointer": ("host pointer on the device", "thread (0,0,0) of fill: writes 4 bytes at 0x"),
    "device_pointer_on_host": ("device pointer on the host", "host code touches 4 bytes of a cudaMalloc of 256 bytes"),
    "copy_too_long": ("copy of the wrong size", "reads 2048 bytes from byte 0 on of an allocation of 512 bytes"),
    "exited_lanes": ("shuffle from an inactive lane", "lane 0 reads from lane 31, which does not take part"),
    "past_shared_array": ("access out of bounds", "thread (0,0,0) of smooth: writes 4 bytes 0 bytes past the end of part, 256 bytes"),
    "use_after_free": ("access out of bounds", "writes 4 bytes 0 bytes into an allocation of 256 bytes that has been freed"),
    "double_free": ("double free", "cudaFree of 256 bytes that have been freed before"),
    "unchecked_launch": ("unchecked error", "the launch of fill failed: a block of 2048x1x1 threads"),
    "past_variable": ("access out of bounds", "thread (16,0,0) of look_up: reads 4 bytes 0 bytes past the end of table, 64 bytes"),
    "leak": ("leak", "256 bytes are never freed"),
}

FLAGS = {"uninitialised_global": ["--uninitialised"], "race_in_a_grid": ["--gpu", "h100"]}


def marked_line(name: str) -> int:
    rows = (BUGS / f"{name}.cu").read_text().splitlines()
    return next(number for number, row in enumerate(rows, 1) if row.endswith("// BUG"))


def check(name: str, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [PROGRAM, "check", *flags, *FLAGS.get(name, []), f"{name}.cu", "--threads", "1", "--leaks"],
        cwd=BUGS,
        capture_output=True,
        text=True,
        timeout=120,
    )


class Bugs(unittest.TestCase):
    def test_each_file_has_its_expectation(self):
        self.assertEqual({f.stem for f in BUGS.glob("*.cu")}, EXPECTED.keys())

    def test_each_is_named_with_its_place(self):
        with ThreadPoolExecutor(2) as pool:
            for name, outcome in zip(EXPECTED, pool.map(check, EXPECTED)):
                kind, words = EXPECTED[name]
                with self.subTest(name):
                    place = f"{name}.cu:{marked_line(name)}: {kind}: "
                    found = [row for row in outcome.stderr.splitlines() if row.startswith(place)]
                    self.assertEqual(len(found), 1, outcome.stderr)
                    self.assertIn(words, found[0])
                    self.assertEqual(outcome.returncode, 1)

    def test_each_clean_twin_passes(self):
        with ThreadPoolExecutor(2) as pool:
            twins = pool.map(lambda name: check(name, "-D", "CLEAN"), EXPECTED)
            for name, outcome in zip(EXPECTED, twins):
                with self.subTest(name):
                    self.assertRegex(outcome.stderr, re.compile(r"^Nothing found in [12] launch", re.M))
                    self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_run_goes_on_where_a_gpu_does(self):
        for name in ("divergent_barrier", "exited_lanes"):
            outcome = subprocess.run([PROGRAM, "run", f"{name}.cu"], cwd=BUGS, capture_output=True, text=True, timeout=120)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, ""), name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
