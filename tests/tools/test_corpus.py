"""Tests of tools/corpus.py with a stand-in for the program: each verdict, and what a report holds."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = """#!/bin/sh
for argument; do
  case $argument in
    */good.cu) echo PASSED; echo "0 failed"; exit 0 ;;
    */wrong.cu) echo "Result FAILED"; exit 0 ;;
    */refused.cu) echo "warpladder: $argument:3: #include <cub/cub.cuh>: not provided here" >&2; exit 2 ;;
    */fault.cu) echo "a.cu:3: race: block (0,0,0) thread (1,0,0) of k: reads" >&2; exit 1 ;;
    */slow.cu) sleep 30 ;;
  esac
done
"""


class Corpus(unittest.TestCase):
    def test_each_end_has_its_verdict(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            program = folder / "stand_in"
            program.write_text(STAND_IN)
            program.chmod(0o755)
            clones = folder / "clones"
            clones.mkdir()
            ids = ("good", "wrong", "refused", "fault", "slow")
            rows = ["id\trepo\tcommit\tfiles\tincludes\tdefines\targuments"]
            for one in ids:
                (clones / f"{one}.cu").write_text("secret\n")
                rows.append(f"{one}\towner/name\t0123\t{one}.cu\t\t\t")
            (folder / "list.tsv").write_text("\n".join(rows) + "\n")
            report = folder / "report.json"
            call = [sys.executable, ROOT / "tools/corpus.py", "--list", folder / "list.tsv"]
            call += ["--report", report, "--repositories", clones, "--program", program, "--limit", "0.4"]
            subprocess.run(call, check=True, capture_output=True)
            text = report.read_text()
            outcomes = json.loads(text)["programs"]
            self.assertEqual(
                {o["id"]: o["verdict"] for o in outcomes},
                dict(zip(ids, ("ran", "wrong", "not built", "stopped", "too slow"))),
            )
            self.assertNotIn("secret", text)
            self.assertNotIn(name, text)  # nobody's folders
            self.assertIn("refused.cu:3: #include <cub/cub.cuh>: not provided", text)

    def test_the_time_to_a_first_output_is_of_programs_that_print(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "stand_in").write_text(STAND_IN)
            (folder / "stand_in").chmod(0o755)
            rows = ["id\trepo\tcommit\tfiles\tincludes\tdefines\targuments"]
            for one, lines in (("good", 2), ("fault", 2), ("wrong", 9)):  # the second prints nothing, the third is long
                (folder / f"{one}.cu").write_text("secret\n" * lines)
                rows.append(f"{one}\towner/name\t0123\t{one}.cu\t\t\t")
            (folder / "list.tsv").write_text("\n".join(rows) + "\n")
            call = [sys.executable, "-B", ROOT / "tools/first_output.py", "--list", folder / "list.tsv", "--lines", "1", "5"]
            call += ["--repositories", folder, "--program", folder / "stand_in"]
            said = subprocess.run(call, check=True, capture_output=True, text=True).stdout
            self.assertRegex(said, r"^good: 2 lines, \d+\.\d\d s\nmedian of 1 programs: \d+\.\d\d s\n$")


if __name__ == "__main__":
    unittest.main()
