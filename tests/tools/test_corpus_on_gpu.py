"""Tests of tools/corpus_on_gpu.py: an nvcc that takes scripts for programs, and verdicts on what they print."""

import contextlib
import gzip
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
import corpus_on_gpu  # noqa: E402

# Takes a script for a program, and refuses one that says so.
NVCC = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    *.cu) source=$1 ;;
  esac
  shift
done
if grep -q refused "$source"; then echo "$source(1): error: refused" >&2; exit 1; fi
cp "$source" "$out" && chmod +x "$out"
"""
PROGRAMS = {
    "same": 'echo "sum 1.0001"; echo "took $(date +%N) ns"',
    "other": "echo sum 2",
    "seeded": "echo . >> runs; wc -l < runs",
    "refused": "echo refused",
    "failing": "echo no device; exit 3",
    "slow": "sleep 30",
    "unmatched": "echo 1",
}
HERE = {"same": "sum 1.0002\ntook 5 ns\n", "other": "sum 3\n", "seeded": "5\n", "refused": "", "failing": "", "slow": ""}


class CorpusOnGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        clones = self.root / "clones"
        clones.mkdir()
        rows = ["id\trepository\tcommit\tfiles\tincludes\tdefines\targuments"]
        for name, text in PROGRAMS.items():
            (clones / f"{name}.cu").write_text(f"#!/bin/sh\n{text}\n")
            rows.append(f"{name}\towner/name\t0\t{name}.cu\t\t\t")
        rows.append("unknown\towner/name\t0\tunknown.cu\t\t\t")
        (self.root / "list.tsv").write_text("\n".join(rows) + "\n")
        ended = [{"id": name, "verdict": "ran"} for name in PROGRAMS if name != "unmatched"]
        (self.root / "report.json").write_text(json.dumps({"programs": ended}))
        (clones / "data").mkdir()
        (clones / "data" / "numbers").write_text("1")
        (self.root / "nvcc").write_text(NVCC)
        (self.root / "nvcc").chmod(0o755)
        self.environment = os.environ | {"PATH": f"{self.root}:{os.environ['PATH']}"}

    def call(self, *arguments):
        call = [sys.executable, self.root / "packed/corpus_on_gpu.py", *map(str, arguments)]
        subprocess.run(call, check=True, capture_output=True, env=self.environment)

    def record(self):
        packing = [sys.executable, ROOT / "tools/corpus_on_gpu.py", "pack", "--list", self.root / "list.tsv", "--report",
                   self.root / "report.json", "--repositories", self.root / "clones", "--to", self.root / "packed"]
        subprocess.run([*packing, "--also", "unmatched"], check=True, capture_output=True)
        self.call("run", self.root / "packed", "--record", self.root / "r.json.gz", "--limit", "2", "--jobs", "4")

    def compare(self, *more):
        outputs = self.root / "outputs"
        outputs.mkdir(exist_ok=True)
        for name, text in HERE.items():
            (outputs / f"{name}.txt").write_text(text)
        report, document = self.root / "gpu.json", self.root / "page.md"
        report.write_text(json.dumps({"not_equal": [{"id": "other", "cause": "a reason"}]}))
        document.write_text("before\n<!-- corpus: on-gpu -->\nold\n<!-- end -->\nafter\n")
        with mock.patch.multiple(corpus_on_gpu, REPORT=report, DOCUMENT=document), \
                contextlib.redirect_stdout(io.StringIO()), \
                mock.patch.object(sys, "argv", ["x", "compare", str(self.root / "r.json.gz"), *map(str, more), "--outputs", str(outputs)]):
            corpus_on_gpu.main()
        return json.loads(report.read_text()), document.read_text()

    def test_each_program_has_its_verdict(self):
        self.record()
        report, page = self.compare()
        self.assertEqual(report["verdicts"], {"equal": 1, "differs": 1, "not repeatable": 1, "not built": 1, "failed": 1,
                                              "too slow": 1})
        not_equal = {p["id"]: p for p in report["not_equal"]}
        self.assertEqual(not_equal["other"], {"id": "other", "verdict": "differs", "cause": "a reason",
                                              "reason": "'3' here, '2' on the GPU"})
        self.assertIn("in the first run", not_equal["seeded"]["reason"])
        self.assertEqual(not_equal["refused"]["reason"], "refused.cu(1): error: refused")
        self.assertEqual(not_equal["failing"]["reason"], "exit code 3: no device")
        self.assertNotIn(str(self.root), json.dumps(report))
        self.assertIn("before\n<!-- corpus: on-gpu -->\n", page)
        self.assertIn("\n<!-- end -->\nafter\n", page)
        self.assertNotIn("old", page)
        self.assertIn("2 of them are repeatable, and 1 print the same here: 50.0 %.", page)
        self.assertIn("Of all 3 these are 33.3 %", page)

    def test_a_later_recording_says_more(self):
        self.record()
        self.assertEqual((self.root / "packed/sources/data/numbers").read_text(), "1")
        later = [{"id": "other", "error": "", "runs": [{"code": 0, "out": "sum 3"}, {"code": 0}]},
                 {"id": "same", "error": "no time was left", "runs": []}]
        with gzip.open(self.root / "later.json.gz", "wt") as file:
            json.dump({"gpu": "x", "runs": 3, "programs": later}, file)
        report, _ = self.compare(self.root / "later.json.gz")
        self.assertEqual(report["verdicts"]["equal"], 2)

    def test_what_is_left_when_time_is_up_is_not_measured(self):
        self.record()
        with gzip.open(self.root / "r.json.gz", "rt") as file:
            recording = json.load(file)
        same = next(p for p in recording["programs"] if p["id"] == "same")
        self.assertEqual([run["code"] for run in same["runs"]], [0, 0, 0])
        same["runs"].pop()
        self.assertEqual(corpus_on_gpu.judged(same, "sum 1\n", 1e-3)["verdict"], "equal")
        same["runs"].pop()
        verdict = corpus_on_gpu.judged(same, "sum 1\n", 1e-3)
        self.assertEqual((verdict["verdict"], verdict["reason"]), ("not measured", "1 runs in time"))

    def test_an_output_that_equals_one_of_several_is_told(self):
        runs = [{"code": 0, "out": "1 2\n"}, {"code": 0, "out": "2 1\n"}, {"code": 0}]
        verdict = corpus_on_gpu.judged({"id": "x", "error": "", "runs": runs}, "2 1\n", 1e-3)
        self.assertEqual((verdict["verdict"], verdict["equals_a_run"]), ("not repeatable", True))
        verdict = corpus_on_gpu.judged({"id": "x", "error": "", "runs": runs}, "3 1\n", 1e-3)
        self.assertNotIn("equals_a_run", verdict)


if __name__ == "__main__":
    unittest.main()
