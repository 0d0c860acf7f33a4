"""Tests of tools/build.py with a made-up cmake."""

import os
import pty
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "tools" / "build.py"


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, *lines, status=0):
        cmake = self.folder / "cmake"
        text = "\n".join(lines)
        cmake.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
        cmake.chmod(0o755)
        return dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", TERM="xterm")

    def run_build(self, *lines, status=0):
        command = [sys.executable, "-B", BUILD, "build", "program", "--jobs", "2"]
        environment = self.environment(*lines, status=status)
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_steps_are_not_printed(self):
        done = self.run_build("[1/2] Building a.o", "[2/2] Linking program", "-- Configuring done")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.run_build("[ 50%] Building a.o").stderr, "")  # as make has it

    def test_what_failed_is_printed(self):
        done = self.run_build("[1/2] Building a.o", "a.cpp:1: error: no", status=1)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "a.cpp:1: error: no\nbuilding program failed\n")

    def test_warnings_are_printed(self):
        done = self.run_build("[1/1] Building a.o", "a.cpp:1: warning: hm")
        self.assertEqual((done.returncode, done.stderr), (0, "a.cpp:1: warning: hm\n"))

    def test_a_terminal_gets_one_line_that_goes(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(str(error))
        command = [sys.executable, "-B", BUILD, "build", "program"]
        environment = self.environment("[1/4] a", "[2/4] b", "[4/4] c")
        self.assertEqual(subprocess.run(command, env=environment, stderr=theirs).returncode, 0)
        os.close(theirs)
        seen = os.read(ours, 4096).decode()
        os.close(ours)
        self.assertIn("\rbuilding program: 25 %", seen)
        self.assertNotIn("\n", seen)
        self.assertTrue(seen.endswith("\r\x1b[K"))


if __name__ == "__main__":
    unittest.main()
