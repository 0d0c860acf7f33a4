#!/usr/bin/env python3
"""`pip install .`, as the README has it, into a new environment; then what it has brought is used.

Compiling takes minutes, so CMAKE_EXECUTABLE names a program that copies from BUILD_DIR instead. It leaves
configuring and installing to CMake. pip downloads the build backend; without a package index the test is skipped.
Usage: test_pip.py BUILD_DIR SOURCE_DIR
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from test_install import BUILD, SOURCE, run

# In place of cmake. `cmake --build FOLDER ARGUMENTS...` copies; all else is CMake's.
COPIES = """#!/bin/sh
set -eu
[ "$1" = --build ] || exec cmake "$@"
case " $* " in *" --target warpladder "*) ;; *) echo "builds another target: $*"; exit 1 ;; esac
mkdir -p "$2/bin" "$2/share"
cp '{build}/bin/warpladder' "$2/bin"
cp -r '{build}/share/.' "$2/share"
"""


@unittest.skipUnless(importlib.util.find_spec("pip"), "python3 has no pip")
class Pip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="pip "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.environment = cls.folder / "environment"
        run([sys.executable, "-m", "venv", "--without-pip", str(cls.environment)])
        copies = cls.folder / "cmake"
        copies.write_text(COPIES.format(build=BUILD))
        copies.chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(cls.environment / "bin/python"), "install", "--retries", "1",
             "--config-settings=cmake.define.WARPLADDER_CUDA=OFF", "."],
            cwd=SOURCE, env={**os.environ, "CMAKE_EXECUTABLE": str(copies)}, capture_output=True, text=True)  # fmt: skip
        said = done.stdout + done.stderr
        if done.returncode and "(from versions: none)" in said:  # it lists the versions of an index that answers
            raise unittest.SkipTest("pip finds no package index with the build backend, scikit-build-core")
        if done.returncode:
            raise AssertionError(f"pip install .: exit {done.returncode}\n{said}")

    def test_the_program(self):
        program = str(self.environment / "bin/warpladder")
        version = re.search(r'\nversion = "(\S+)"', (SOURCE / "pyproject.toml").read_text())[1]
        self.assertRegex(run([program, "--version"]), rf"\Awarpladder {re.escape(version)} ")
        listed = run([program, "list"])
        for operator in ("sgemm", "spmv", "transpose"):
            self.assertRegex(listed, rf"\b{operator}\b")

    def test_what_comes_along(self):
        for path in ("share/warpladder/programs/program.o", "share/man/man1/warpladder.1"):
            self.assertTrue((self.environment / path).is_file(), path)


if __name__ == "__main__":
    unittest.main()
