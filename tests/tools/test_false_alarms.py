"""Tests of tools/false_alarms.py: a compute-sanitizer that says what a program's text says, and verdicts on it."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import false_alarms  # noqa: E402

NVCC = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2; shift ;; *.cu) source=$1 ;; esac
  shift
done
cp "$source" "$out"
"""
# --tool NAME --print-limit 3 PROGRAM: the program names the tools that find something in it.
SANITIZER = """#!/bin/sh
if grep -q slow "$5"; then sleep 30; fi
if grep -q "$2" "$5"; then echo "========= ERROR SUMMARY: 2 errors"; else echo "========= ERROR SUMMARY: 0 errors"; fi
"""
PROGRAMS = {"clean": "", "alarmed": "", "explained": "", "wrong": "racecheck", "slow": "slow", "unchecked": ""}
CHECKED = {"clean": "ran", "alarmed": "stopped", "explained": "stopped", "wrong": "stopped", "slow": "ran",
           "unchecked": "too slow"}


class FalseAlarms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in (("nvcc", NVCC), ("compute-sanitizer", SANITIZER)):
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)
        (self.root / "sources").mkdir()
        for name, text in PROGRAMS.items():
            (self.root / "sources" / f"{name}.cu").write_text(f"// {text}\n")
        rows = [{"id": name, "files": f"{name}.cu", "includes": "", "defines": "", "arguments": ""} for name in PROGRAMS]
        (self.root / "programs.json").write_text(json.dumps(rows))

    def sanitize(self, *more: str) -> dict[str, dict]:
        record = self.root / "sanitized.json"
        tools = os.pathsep.join([str(self.root), os.environ["PATH"]])
        call = [sys.executable, "-B", false_alarms.__file__, "run", self.root, "--record", record, "--limit", "2", *more]
        subprocess.run(call, check=True, env=os.environ | {"PATH": tools}, capture_output=True)
        return {p["id"]: p for p in json.loads(record.read_text())["programs"]}

    def test_programs_run_under_one_tool_after_the_other(self):
        states = {name: false_alarms.state(record) for name, record in self.sanitize().items()}
        self.assertEqual(states, {"clean": "clean", "alarmed": "clean", "explained": "clean", "wrong": "errors",
                                  "slow": "too slow", "unchecked": "clean"})

    def test_what_an_earlier_recording_lacks_is_made_up(self):
        earlier = {"id": "clean", "error": "", "runs": [{"tool": "memcheck", "errors": 0}]}
        ended = {"id": "wrong", "error": "", "runs": [{"tool": "memcheck", "errors": 9}]}
        (self.root / "earlier.json").write_text(json.dumps({"programs": [earlier, ended]}))
        records = self.sanitize("--after", str(self.root / "earlier.json"))
        self.assertEqual([run["tool"] for run in records["clean"]["runs"]], list(false_alarms.TOOLS))
        self.assertEqual(records["wrong"], ended)

    def test_what_is_found_in_clean_programs_is_an_alarm_until_it_is_explained(self):
        self.sanitize()
        (self.root / "checked.json").write_text(json.dumps({"programs": [
            {"id": name, "verdict": verdict, "reason": "a race"} for name, verdict in CHECKED.items()]}))
        report, document = self.root / "report.json", self.root / "document.md"
        report.write_text(json.dumps({"found": [{"id": "explained", "cause": "two threads write", "false_alarm": False}]}))
        document.write_text(f"before\n{false_alarms.BEGIN}old\n{false_alarms.END}behind\n")
        with mock.patch.object(false_alarms, "REPORT", report), mock.patch.object(false_alarms, "DOCUMENT", document), \
                mock.patch.object(sys, "argv", ["false_alarms.py", "compare", str(self.root / "sanitized.json"), "--checked",
                                                str(self.root / "checked.json")]), contextlib.redirect_stdout(io.StringIO()):
            false_alarms.main()
        written = json.loads(report.read_text())
        self.assertEqual((written["clean"], written["checked"]), (4, 3))
        self.assertEqual([(p["id"], p["false_alarm"]) for p in written["found"]], [("alarmed", True), ("explained", False)])
        text = document.read_text()
        self.assertIn("One of these findings is a false alarm: 33.3 % of the programs", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("behind\n") and "old" not in text)


if __name__ == "__main__":
    unittest.main()
