#!/usr/bin/env python3
"""bench in parts: rows written at once, a time budget, and resuming an interrupted run.

Usage: test_bench_parts.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

import test_command_line as cli
from test_command_line import BAD_INPUT

RUNGS = ["sgemm/row_01_naive", "sgemm/row_02_block_tile"]
SHAPES = ["-a", "shape=[16x16x16,17x5x9,32x32x32,8x64x8]"]


def keys(rows) -> list:
    return [(r["op"], r["rung"], r["variant"], r["shape"], r["verified"], bool(r["samples_s"])) for r in rows]


class BenchParts(cli.CommandLine):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "r.json"
        self.journal = self.folder / "r.json.rows.jsonl"
        self.command = ["bench", *RUNGS, *SHAPES, "--json", str(self.file)]

    def rows(self) -> list:
        return json.loads(self.file.read_text())["rows"]

    def whole(self) -> list:
        """The rows of a run that nothing interrupts."""
        self.good(*self.command)
        self.assertFalse(self.journal.exists())
        rows = self.rows()
        self.file.unlink()
        return rows

    def lines(self) -> list:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def test_budget_then_resume(self):
        whole = self.whole()
        printed = self.good(*self.command, "--budget", "0.000001s")
        self.assertIn("- --budget did not last for 3 of 4 problems, from sgemm row_nn 17x5x9 on", printed)
        report = json.loads(self.file.read_text())
        self.assertEqual([p["shape"] for p in report["not_reached"]], [[17, 5, 9], [32, 32, 32], [8, 64, 8]])
        self.assertEqual(keys(report["rows"]), keys(whole)[:3])
        self.assertEqual([line["row"] for line in self.lines()[1:]], report["rows"])
        again = self.good(*self.command, "--budget", "0.000001s", "--resume")
        self.assertIn("- 1 of 4 problems were measured by an earlier run", again)
        self.assertEqual(len(self.lines()), 1 + 6)
        self.good(*self.command, "--resume")
        self.assertEqual(keys(self.rows()), keys(whole))
        self.assertEqual(self.rows()[:3], report["rows"])
        self.assertEqual(json.loads(self.file.read_text())["problems_of_earlier_runs"], 2)
        self.assertEqual(self.names(), ["r.json"])

    def test_killed_then_resumed(self):
        whole = self.whole()
        process = subprocess.Popen(
            [cli.PROGRAM, *self.command], env=cli.environment(), stdout=subprocess.DEVNULL
        )
        while process.poll() is None and len(self.lines_so_far()) <= 1:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if self.file.exists():
            self.skipTest("it had finished before it could be killed")
        kept = self.rows_of_whole_groups()
        with self.journal.open("a") as file:  # as a write that was cut short leaves it
            file.write('{"group": 3, "rows": 3, "row": {"op": "sg')
        self.good(*self.command, "--resume")
        self.assertEqual(keys(self.rows()), keys(whole))
        self.assertEqual(self.rows()[: len(kept)], kept)

    def lines_so_far(self) -> list:
        """Those that are whole: none before the journal is there, and none once it is gone."""
        try:
            return self.journal.read_text().split("\n")[:-1]
        except FileNotFoundError:
            return []

    def rows_of_whole_groups(self) -> list:
        """What --resume keeps. A kill in the midst of a write leaves the last group in part."""
        lines = [json.loads(line) for line in self.lines_so_far()[1:]]
        rows_of = Counter(line["group"] for line in lines)
        return [line["row"] for line in lines if rows_of[line["group"]] == line["rows"]]

    def test_a_group_without_all_its_rows_is_measured_again(self):
        whole = self.whole()
        self.good(*self.command, "--budget", "0.000001s")
        lines = self.lines_so_far()
        self.journal.write_text("\n".join(lines[:-1]) + "\n")
        printed = self.good(*self.command, "--resume")
        self.assertNotIn("earlier run", printed)
        self.assertEqual(keys(self.rows()), keys(whole))

    def test_refuses_rows_of_another_run(self):
        self.good(*self.command, "--budget", "0.000001s")
        text = self.journal.read_text()
        head, _, rest = text.partition("\n")
        other = json.loads(head)
        other["commit"] = "0123456789ab"
        refused = self.command[:2] + self.command[3:]
        self.refused(BAD_INPUT, "was begun with other problems or rungs", *refused, "--resume")
        for damaged, words in (
            (json.dumps(other) + "\n" + rest, "was begun with another commit"),
            ("", "is no journal of bench"),
            ("[]\n", "is no journal of bench"),
            ("{}\n", "is no journal of bench"),
            (head + "\n{}\n" + rest, "line 2 has no number group"),
            (head + "\nrow\n" + rest, "line 2 is no JSON"),
            (head + '\n{"group": 9, "rows": 3}\n', "line 2 has no such group"),
            (head + '\n{"group": 0, "rows": 3}\n', "line 2 has no row"),
            (head + '\n{"group": 0, "rows": 1, "row": {"samples_s": [-1]}}\n', "above 0"),
            (text + rest, "is one row too many"),
        ):
            self.journal.write_text(damaged)
            self.refused(BAD_INPUT, words, *self.command, "--resume")
            self.assertEqual(self.journal.read_text(), damaged, "a refusal loses nothing")

    def test_bad_input(self):
        self.refused(BAD_INPUT, "--resume needs --json FILE", *self.command[:-2], "--resume")
        self.refused(BAD_INPUT, "--resume needs --json FILE", *self.command[:-1], "-", "--resume")
        self.refused(BAD_INPUT, "cannot be read", *self.command, "--resume")
        self.refused(BAD_INPUT, "--budget is '0'", *self.command, "--budget", "0")
        same = ["--csv", str(self.journal)]
        self.refused(BAD_INPUT, "the same file", *self.command, *same)
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
