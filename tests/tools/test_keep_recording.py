#!/usr/bin/env python3
"""Tests of tools/keep_recording.py: a report becomes a light recording, or one sentence says why not."""

import contextlib
import io
import json
import random
import statistics
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import keep_recording  # noqa: E402

COMMIT = "0123456789ab"


def report(**more):
    row = {"op": "sgemm", "rung": "row_01", "variant": "", "skipped": "", "rival": False, "flops": 2.0e9,
           "samples_s": [0.1000000000000000055 + 0.2, 1e-5], "worst_error_over_bound": None}
    return {"verb": "bench", "schema_version": 1, "argv": ["warpladder", "bench"], "commit": COMMIT,
            "date": "2026-11-24T02:24:47Z", "device": {"gpu": {"GPU": "NVIDIA H100 80GB HBM3"}},
            "rows": [row, {**row, "skipped": "no GPU"}], **more}


class Thinning(unittest.TestCase):
    def test_few_samples_stay_as_they_are(self):
        self.assertEqual(keep_recording.thinned([3, 1, 2]), [3, 1, 2])

    def test_the_median_stays_and_the_quartiles_nearly(self):
        luck = random.Random(7)
        for count in (62, 63, 100, 499, 500, 1001):
            samples = [luck.lognormvariate(0, 0.1) for _ in range(count)]
            kept = keep_recording.thinned(samples)
            self.assertEqual(len(kept), keep_recording.MOST_SAMPLES - 1 + count % 2)
            self.assertEqual(statistics.median(kept), statistics.median(samples))
            self.assertEqual((min(kept), max(kept)), (min(samples), max(samples)))
            order = sorted(samples)
            for quarter in (0.25, 0.75):
                place = sorted(kept)[round(quarter * (len(kept) - 1))]
                self.assertLess(abs(order.index(place) / (count - 1) - quarter), 0.02)

    def test_the_order_of_measurement_stays(self):
        samples = list(range(500, 0, -1))
        self.assertEqual(keep_recording.thinned(samples), sorted(keep_recording.thinned(samples), reverse=True))


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_tool(self, data, *words, name="sgemm.json"):
        """(exit code, what it said)"""
        path = self.root / name
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
        said = io.StringIO()
        with mock.patch.object(keep_recording, "ROOT", self.root), \
                mock.patch.object(sys, "argv", ["keep_recording", str(path), *words]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return keep_recording.main(), said.getvalue()

    def recording(self, place):
        return (self.root / "results/current" / place).read_text()

    def test_a_report_of_bench(self):
        self.assertEqual(self.run_tool(report())[0], 0)
        text = self.recording("nvidia-h100/sgemm.json")
        whole = json.loads(text)
        self.assertEqual(whole["recorded"]["commit"], COMMIT)
        self.assertEqual(len(whole["recorded"]["raw_sha256"]), 64)
        self.assertIn('\n{"op":"sgemm","rung":"row_01","variant":"","rival":false,"flops":2000000000,'
                      '"samples_s":[0.3,1e-05],"worst_error_over_bound":null},\n', text)
        self.assertEqual(whole["rows"][1]["skipped"], "no GPU")

    def test_a_recording_that_is_kept_again_is_the_same(self):
        self.run_tool(report())
        first = self.recording("nvidia-h100/sgemm.json")
        self.run_tool(first)
        again = self.recording("nvidia-h100/sgemm.json")
        self.assertEqual(json.loads(first)["rows"], json.loads(again)["rows"])

    def test_a_compressed_recording_has_the_same_text(self):
        self.run_tool(report())
        self.assertEqual(self.run_tool(report(), "--xz")[0], 0)
        path = self.root / "results/current/nvidia-h100/sgemm.json.xz"
        self.assertEqual(path.read_bytes()[:6], b"\xfd7zXZ\0")
        self.assertEqual(keep_recording.text_of(path), self.recording("nvidia-h100/sgemm.json"))
        path.write_bytes(path.read_bytes()[:-9])
        self.assertRaises(ValueError, keep_recording.text_of, path)

    def test_what_replaces_a_compressed_recording_is_compressed(self):
        self.run_tool(report(), "--xz")
        self.run_tool(report(date="2026-11-25T02:24:47Z"))
        found = list((self.root / "results/current/nvidia-h100").iterdir())
        self.assertEqual([path.name for path in found], ["sgemm.json.xz"])
        self.assertIn("2026-11-25T02:24:47Z", keep_recording.text_of(found[0]))

    def test_the_index_forgets_a_recording_that_is_replaced(self):
        self.run_tool(report())
        place = "results/current/nvidia-h100/sgemm.json"
        raw = json.loads(self.recording("nvidia-h100/sgemm.json"))["recorded"]["raw_sha256"]
        index = self.root / "results/index.csv"
        rows = "path,sha256,commit,subject,kept_as\n" + "".join(
            f'results/old/{name}.json,{sha256},{COMMIT},"two, of many",{path}\n'
            for name, sha256, path in (("a", raw, place), ("b", "b" * 64, place + ".xz")))
        index.write_text(rows)
        self.run_tool(report())
        self.assertEqual(index.read_text(), rows)
        self.run_tool(report(date="2026-11-25T02:24:47Z"))
        self.assertEqual(index.read_text(), rows.replace(place + "\n", "\n"))

    def test_a_search_keeps_medians_and_counts(self):
        def candidate(rows, fate, **more):
            return {"configuration": {"rows": rows}, "fate": fate, "samples_s": [1e-5] * 9, **more}

        problem = {"op": "sgemm", "rung": "row_07", "variant": "row_nn", "shape": [512, 512, 512], "skipped": "",
                   "best": {"rows": 64}, "best_s": 1e-5, "today": {"rows": 128}, "complete": True,
                   "configurations": [candidate(64, "timed", median_s=1e-5, race_samples_s=[1e-5] * 31),
                                      candidate(128, "timed", median_s=2e-5), candidate(256, "pruned", why="slow"),
                                      candidate(32, "stopped early", median_s=3e-5)]}
        search = report(verb="tune", problems=[problem])
        del search["rows"]
        self.assertEqual(self.run_tool(search, name="tune.json")[0], 0)
        text = self.recording("nvidia-h100/tune.json")
        whole = json.loads(text)
        self.assertNotIn("problems", whole)
        self.assertNotIn("samples", text)
        row, = whole["rows"]
        self.assertEqual(row["fates"], {"timed": 2, "pruned": 1, "stopped early": 1})
        self.assertEqual(row["timed"], [{"configuration": {"rows": 64}, "median_s": 1e-5},
                                        {"configuration": {"rows": 128}, "median_s": 2e-5}])
        self.assertEqual((row["best"], row["today"], row["best_s"]), ({"rows": 64}, {"rows": 128}, 1e-5))

    def test_a_commit_with_changes_has_to_be_said(self):
        dirty = f"{COMMIT}-dirty"
        self.assertEqual(self.run_tool(report(commit=dirty))[0], 2)
        self.assertEqual(self.run_tool(report(commit=dirty), "--commit", dirty)[0], 0)
        self.assertEqual(json.loads(self.recording("nvidia-h100/sgemm.json"))["recorded"]["commit"], dirty)

    def test_folders(self):
        for gpu, folder in (("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"), ("NVIDIA H200", "nvidia-h200"),
                            ("NVIDIA A100-SXM4-80GB", "nvidia-a100"), ("../x", "..x")):
            self.assertEqual(keep_recording.folder_of({"gpu": gpu}), folder)
        self.assertEqual(keep_recording.folder_of({"nvcc": "13.0"}), "nvcc-13.0")
        self.assertEqual(keep_recording.folder_of({}), "cpu")

    def test_a_text_of_the_same_run(self):
        (self.root / "of.json").write_text(json.dumps(report()))
        code, _ = self.run_tool('"ID","Metric"\n', "counters", "--of", str(self.root / "of.json"), name="ncu.csv")
        self.assertEqual(code, 0)
        head, rest = self.recording("nvidia-h100/counters.csv").split("\n", 1)
        recorded = json.loads(head.removeprefix(keep_recording.TEXT_HEAD))
        self.assertEqual((recorded["commit"], recorded["command"]), (COMMIT, "warpladder bench"))
        self.assertEqual(rest, '"ID","Metric"\n')

    def test_what_is_refused_leaves_nothing(self):
        for data, words, sentence in (
            (report(commit=f"{COMMIT}-dirty"), [], "build from a clean commit"),
            (report(date=""), [], "does not say its date; give it with --date"),
            (report(date="yesterday"), [], "is not YYYY-MM-DD"),
            (report(argv=[]), [], "does not say its command"),
            (report(), ["Über/../x"], "has small letters, digits and _ alone"),
            ("{", [], "is no JSON"),
            ("[]", [], "is no report"),
        ):
            code, said = self.run_tool(data, *words)
            self.assertEqual((code, said.count("\n")), (2, 1), said)
            self.assertIn(sentence, said)
            self.assertFalse((self.root / "results").exists())
        self.assertEqual(self.run_tool(report(commit=f"{COMMIT}-dirty"), "--commit", COMMIT)[0], 0)


if __name__ == "__main__":
    unittest.main()
