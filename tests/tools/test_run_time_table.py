"""Tests of tools/run_time_table.py: a made-up report, cells by hand."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import generate_tables  # noqa: E402
import run_time_table  # noqa: E402


def contestant(name, microseconds, **facts):
    samples = [microseconds * 1e-6, microseconds * 2e-6, microseconds * 0.5e-6]
    return {"name": name, "samples_s": samples, "median_s": -1, **facts}


TILE = {"tile": "64x64", "chosen": True}
REPORT = {
    "gpu": "GPU", "nvrtc": "13.0", "commit": "abc",
    "sizes": [{"m": 100, "n": 200, "k": 300, "contestants": [
        contestant("row_07_register_parity", 30), contestant("library, CUDA cores", 12),
        contestant("variables, 128x128", 1, tile="128x128", chosen=False),
        contestant("variables, 64x64", 15, **TILE), contestant("constants, 64x64", 10, **TILE)]}],
    "epilogues": [{"m": 8, "n": 8, "k": 8, "contestants": [
        contestant("CUDA cores: sgemm", 1), contestant("CUDA cores: sgemm, then a pass", 2),
        contestant("CUDA cores: sgemm_epilogue", 3), contestant("accurate: sgemm", 4),
        contestant("accurate: sgemm_epilogue", 1234)]}],
    "reductions": [{"n": 65536, "contestants": [
        contestant("reduce, max", 1.5), contestant("reduce_with, a > b ? a : b", 2.5)]}],
    "costs": [{"kernel": "reduction", "code_bytes": 10320, "cold_s": [0.3, 0.2, 0.5], "from_disk_s": [2e-4],
               "in_process_s": [9e-8]}],
}


class Tables(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(run_time_table.of(REPORT, "sizes")[1],
                         [["100×200×300", "30 µs", "12 µs", "64×64", "15 µs", "10 µs", "1.50", "3.00"]])
        self.assertEqual(run_time_table.of(REPORT, "epilogues")[1],
                         [["8×8×8", "1 µs", "2 µs", "3 µs", "4 µs", "1,234 µs"]])
        self.assertEqual(run_time_table.of(REPORT, "reductions")[1], [["65,536", "1.5 µs", "2.5 µs"]])
        self.assertEqual(run_time_table.of(REPORT, "costs")[1],
                         [["reduction", "10,320 B", "0.30 s", "200 µs", "90 ns"]])

    def test_blocks(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(generate_tables, "ROOT", Path(folder)):
            root = Path(folder)
            (root / "results").mkdir()
            (root / "results" / "r.json").write_text(json.dumps(REPORT))
            document = root / "d.md"
            document.write_text("<!-- run-time: results/r.json costs -->\n<!-- end -->\n")
            old, new = generate_tables.refreshed("", document, {})
            self.assertNotEqual(old, new)
            self.assertIn("GPU, NVRTC 13.0, commit abc.", new)
            (root / "results" / "r.json").write_text("{}")
            with self.assertRaisesRegex(generate_tables.Fault, "no report for a run_time_table"):
                generate_tables.refreshed("", document, {})


if __name__ == "__main__":
    unittest.main()
