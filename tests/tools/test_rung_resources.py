#!/usr/bin/env python3
"""The shipped table of registers is what nvcc makes of a few rungs today, where there is nvcc."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/rung_resources.py"
NO_NVCC = 77
sys.path.insert(0, str(ROOT / "tools"))

import rung_resources  # noqa: E402


class RungResources(unittest.TestCase):
    def test_what_ptxas_says(self):
        said = (
            "ptxas info    : Compiling entry function '_ZN12_GLOBAL__N_15scaleILi4EEEvPf' for 'sm_90a'\n"
            "ptxas info    : Used 40 registers, used 1 barriers, 4224 bytes smem\n"
            "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\n"
            "ptxas info    : Used 10 registers, used 0 barriers\n"
        )
        self.assertEqual(rung_resources.kernels_of(said), [("scale<4>", 40, 4224), ("k", 10, 0)])

    def test_names(self):
        name = "void warpladder::sgemm::(anonymous namespace)::multiply<sgemm::Tile<4, 8> >(warpladder::Gemm)"
        self.assertEqual(rung_resources.plain_name(name), "multiply<Tile<4,8>>")

    def test_every_rung_has_rows(self):
        done = subprocess.run([TOOL, "--missing"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_missing_rung_is_named(self):
        sources = [Path("src/ops/x/rungs/01_a.cu"), Path("src/ops/x/rungs/02_b.sm90a.cu")]
        table = {"x/01_a": ["x/01_a\tx::k\tsm_90a\t32\t0"]}
        self.assertEqual(rung_resources.missing(sources, table),
                         ["x/01_a has no rows for sm_80", "x/02_b has no rows for sm_90a"])

    def test_unknown_rung(self):
        done = subprocess.run([TOOL, "sgemm/row_99"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("unknown rung", done.stderr)

    def test_a_few_rows_are_current(self):
        done = subprocess.run(
            [TOOL, "--check", "vector_add/01_one_per_thread", "transpose/04_padded"],
            capture_output=True, text=True,
        )
        if done.returncode == NO_NVCC:
            self.skipTest(done.stderr.strip())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
