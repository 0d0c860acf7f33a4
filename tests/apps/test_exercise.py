#!/usr/bin/env python3
"""The exercises of the course: each is copied whole, its solution passes, and tries that are wrong or
wasteful are told what they lack. That the holes fail is shown by the commands in docs/course.

Usage: test_exercise.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import os
import re
import sys
import unittest

import test_command_line as cli
from test_command_line import BAD_INPUT, CHECK_FAILED, GOOD, ROOT

COURSE = ROOT / "docs/course"
FILES = sorted(path.name for path in (COURSE / "exercises").iterdir())


class Exercises(cli.CommandLine):
    def inside(self, *arguments):
        """Runs in a folder of its own."""
        return cli.run("exercise", *arguments, cwd=self.folder)

    def judged(self, number: int, text: str) -> tuple[int, str]:
        (self.folder / "tried.cu").write_text(text)
        done = self.inside(number, "--check", "tried.cu")
        self.assertEqual(done.stderr, b"")
        return done.returncode, done.stdout.decode()

    def changed(self, folder: str, name: str, *changes: tuple[str, str]) -> str:
        text = (COURSE / folder / name).read_text()
        for old, new in changes:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        return text

    def test_every_exercise_is_copied_as_it_stands(self):
        listed = self.good("exercise")
        self.assertEqual(re.findall(r"\d\d_\w+\.cu", listed), FILES)
        for number, name in enumerate(FILES, 1):
            done = self.inside(number)
            self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
            command = f"warpladder exercise {number} --check {name}\n"
            self.assertTrue(done.stdout.decode().endswith(command))
            text = (COURSE / "exercises" / name).read_text()
            self.assertEqual((self.folder / name).read_text(), text)
            self.assertIn("Hole", text)
            self.assertNotIn("Hole", (COURSE / "solutions" / name).read_text())
            page = COURSE / name.replace(".cu", ".md")
            self.assertIn(command.strip(), page.read_text())
            self.assertLessEqual(len(page.read_text().splitlines()), 150)

    def test_check_judges_an_exercise_too(self):
        for folder, solved in (("exercises", False), ("solutions", True)):
            text = self.changed(folder, "03_banks.cu")
            if solved:  # a try keeps the exercise's first line, under any name
                text = self.changed("exercises", "03_banks.cu").split("\n", 1)[0] + "\n" + text
            (self.folder / "mine.cu").write_text(text)
            checked = cli.run("check", "mine.cu", cwd=self.folder)
            self.assertEqual(checked.stderr, b"")
            self.assertEqual(checked.returncode, GOOD if solved else CHECK_FAILED)
            self.assertEqual((checked.returncode, checked.stdout.decode()), self.judged(3, text))
            report = json.loads(cli.run("check", "mine.cu", "--json", "-", cwd=self.folder).stdout)
            self.assertEqual(report["exercise"], {"number": 3, "solved": solved})
        (self.folder / "mine.cu").write_text(text.split("\n", 1)[1])  # no exercise any more
        self.assertIn(b"Nothing found in 1 launch.", cli.run("check", "mine.cu", cwd=self.folder).stderr)

    def test_every_solution_passes(self):
        for number, name in enumerate(FILES, 1):
            code, said = self.judged(number, (COURSE / "solutions" / name).read_text())
            self.assertEqual(code, GOOD, said)
            self.assertIn(": solved.\n", said)

    def test_a_file_is_written_over_only_by_force(self):
        mine = self.folder / FILES[2]
        mine.write_text("mine\n")
        done = self.inside(3)
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertEqual(
            done.stderr.decode(), f"warpladder: {FILES[2]} exists in this folder; --force writes over it\n"
        )
        self.assertEqual(mine.read_text(), "mine\n")
        self.assertEqual(self.inside(3, "--force").returncode, GOOD)
        self.assertIn("Exercise 3", mine.read_text())

    def test_bad_usage(self):
        self.refused(BAD_INPUT, "there is no exercise 11; they are numbered 1 to 10", "exercise", "11")
        self.refused(BAD_INPUT, "exercise needs a number", "exercise", "--force")
        self.refused(BAD_INPUT, "'x'", "exercise", "x")
        self.refused(BAD_INPUT, "none.cu", "exercise", "3", "--check", self.path("none.cu"))
        self.refused(
            BAD_INPUT, "leave --force away", "exercise", "3", "--check", "a.cu", "--force"
        )

    def test_a_broken_rule_is_named(self):
        without_guard = self.changed("solutions", FILES[0], ("if (i < kElements) ", ""))
        code, said = self.judged(1, without_guard)
        self.assertEqual(code, CHECK_FAILED)
        self.assertIn("access out of bounds: block (3,0,0) thread (232,0,0) of axpy", said)
        self.assertIn("Hint: ", said)
        one_buffer = self.changed(
            "exercises", FILES[4], ("    __syncthreads();  // everybody has read it\n", "")
        )
        code, said = self.judged(5, one_buffer)
        self.assertEqual(code, CHECK_FAILED)
        self.assertIn("shared-memory race", said)

    def test_a_goal_cannot_be_met_by_doing_without(self):
        naive = self.changed(
            "exercises",
            FILES[2],
            ("    tile[y][x] = in[(top + y) * kSize + left + x];\n", ""),
            ("] = tile[x][y];", "] = in[(top + x) * kSize + left + y];"),
        )
        code, said = self.judged(3, naive)
        self.assertEqual(code, CHECK_FAILED)
        self.assertIn("wavefronts a shared request: none counted, at most 1 asked for", said)
        self.assertIn("Hint: Keep the tile", said)

    def test_another_kernel_does_not_count(self):
        renamed = (COURSE / "solutions" / FILES[1]).read_text().replace("scale_columns", "scale")
        code, said = self.judged(2, renamed)
        self.assertEqual(code, CHECK_FAILED)
        self.assertIn("no launch of scale_columns was counted", said)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
