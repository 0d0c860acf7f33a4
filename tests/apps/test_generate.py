#!/usr/bin/env python3
"""The man page and the shells' completions, which the program writes from its parser.

Usage: test_generate.py PROGRAM [TEST...]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest

import test_command_line as cli
from test_command_line import BAD_INPUT, VERBS

KINDS = ["bash", "zsh", "fish", "man"]


class Generated(cli.CommandLine):
    def test_each_holds_every_verb_and_flag(self):
        for kind in KINDS:
            text = self.good("generate", kind).replace("\\-", "-")
            for verb in [*VERBS, "run sgemm", "run reduce"]:
                self.assertRegex(text, rf"\b{verb.split()[-1]}\b", (kind, verb))
                for flag in re.findall(r"(?m)^  .*?--([a-z-]+)", self.good(*verb.split(), "--help")):
                    dashes = "" if kind == "fish" else "--"
                    self.assertIn(f"{dashes}{flag}", text, (kind, verb))
        self.refused(BAD_INPUT, "generate does not know 'tcsh'", "generate", "tcsh")

    def completions(self, *words) -> set[str]:
        """What bash offers for the last of the words."""
        script = self.folder / "completion.bash"
        script.write_text(self.good("generate", "bash"))
        quoted = " ".join(f"'{word}'" for word in ("warpladder", *words))
        command = (
            f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _warpladder; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_bash_completes(self):
        self.assertEqual(self.completions("ver"), {"verify"})
        self.assertIn("verify", self.completions(""))
        self.assertIn("sgemm/row_01_naive", self.completions("explain", "sgemm/row_"))
        self.assertEqual(self.completions("explain", "--sh"), {"--shape"})
        self.assertEqual(self.completions("run", "sge") & {"sgemm"}, {"sgemm"})
        self.assertEqual(self.completions("run", "sgemm", "--transa"), {"--transa"})
        self.assertEqual(self.completions("inspect", "--sha"), set())

    def test_shells_accept_theirs(self):
        for kind in ("bash", "zsh", "fish"):
            if not shutil.which(kind):
                continue
            file = self.folder / kind
            file.write_text(self.good("generate", kind))
            subprocess.run([kind, "-n", file], check=True)

    def test_the_man_page_is_one(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("no man here")
        file = self.folder / "warpladder.1"
        file.write_text(self.good("generate", "man"))
        done = subprocess.run(["man", "--warnings", "-l", file], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Exit codes", done.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
