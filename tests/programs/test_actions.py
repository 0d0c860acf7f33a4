"""The workflow for GitHub Actions in docs/own-programs.md does what is said of it: its script runs here as there.

Usage: test_actions.py WARPLADDER
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOOD = """#include "scale.cuh"
int main() {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  scale<<<2, 32>>>(x, SIZE);
  const cudaError_t status = cudaDeviceSynchronize();
  cudaFree(x);
  return status != cudaSuccess;
}
"""
KERNEL = """#pragma once
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] *= 2;
}
"""


def script(step: str) -> str:
    """What the step of the documented workflow runs."""
    text = (ROOT / "docs/own-programs.md").read_text(encoding="utf-8")
    found = re.search(rf"- name: {step}\n +run: \|\n((?: {{10}}.*\n)+)", text)
    assert found, step
    return textwrap.dedent(found[1])


class Workflow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("home/.local/bin", "temp", "project/tests", "project/include"):
            (self.root / part).mkdir(parents=True)
        (self.root / "home/.local/bin/warpladder").symlink_to(PROGRAM)
        (self.root / "project/include/scale.cuh").write_text(KERNEL)

    def run_tests(self) -> int:
        environment = {**os.environ, "HOME": str(self.root / "home"), "RUNNER_TEMP": str(self.root / "temp")}
        # As the runner starts a step's script.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script("Run the tests")]
        return subprocess.run(command, cwd=self.root / "project", env=environment, capture_output=True).returncode

    def results(self, test: str) -> list:
        return json.loads((self.root / "temp" / f"{test}.sarif").read_text())["runs"][0]["results"]

    def test_a_finding_fails_and_does_not_hide_other_tests(self):
        (self.root / "project/tests/a_bad.cu").write_text(GOOD.replace("SIZE", "64").replace("2, 32", "3, 32"))
        (self.root / "project/tests/b_good.cu").write_text(GOOD.replace("SIZE", "62"))
        self.assertEqual(self.run_tests(), 1)
        found = self.results("a_bad")[0]
        self.assertEqual((found["ruleId"], found["level"]), ("access-out-of-bounds", "error"))
        place = found["locations"][0]["physicalLocation"]
        self.assertEqual((Path(place["artifactLocation"]["uri"]).name, place["region"]["startLine"]), ("scale.cuh", 4))
        self.assertEqual(self.results("b_good"), [])
        (self.root / "project/tests/a_bad.cu").unlink()
        self.assertEqual(self.run_tests(), 0)


if __name__ == "__main__":
    PROGRAM = Path(sys.argv.pop(1)).resolve()
    unittest.main()
