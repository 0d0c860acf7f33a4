"""Tests of tools/speedup_table.py: two reports of the same shapes, cells by hand."""

import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import generate_tables  # noqa: E402
import speedup_table  # noqa: E402


def speedups(shapes, hot, cold, of_probe=None):
    return {"shapes": shapes, "hot_mean": hot[0], "hot_slowest": hot[1], "cold_mean": cold[0],
            "cold_slowest": cold[1], "of_probe_least": of_probe}


def report(gpu):
    statistics = {"median": 1.0, "q1": 1.0, "q3": 1.0, "low": None, "high": None}
    row = {"op": "sgemm", "variant": "row_nn", "rung": "dispatch", "rival": False, "shape": [1, 2, 3],
           "flops": 12.0, "statistics_s": statistics, "cold_statistics_s": statistics}
    view = {"rung": "dispatch", "not_compared": 0, "all": speedups(5, (2.0, 0.5), (1.0, 0.25), 0.749),
            "classes": [{"class": "few", **speedups(4, (1.234, 0.987), (1.5, 1.0), 0.749)},
                        {"class": "large", **speedups(1, (3.0, 3.0), (None, None))}]}
    return {"schema_version": 1, "verb": "bench", "target": "gpu", "date": "2026-11-25T10:11:12Z",
            "argv": ["warpladder", "bench", "sgemm/dispatch", "--shapes", "shapes.txt"],
            "device": {"gpu": {"GPU": gpu}}, "libraries": {"cuBLAS": "13.1.0"}, "baselines": [],
            "rows": [row], "speedups": [view]}


H100, H200 = report("NVIDIA H100 80GB HBM3"), report("NVIDIA H200")


class SpeedupTable(unittest.TestCase):
    def test_cells_by_hand(self):
        header, rows = speedup_table.by_class([("a", H100), ("b", H200)], "dispatch")
        self.assertEqual(header[:3], ["class", "shapes", "H100, hot"])
        self.assertEqual(header[5], "H200, hot")
        half = ["1.23 / 0.99", "1.50 / 1.00", "75 %"]
        self.assertEqual(rows[0], ["few", "4", *half, *half])
        self.assertEqual(rows[1][:5], ["large", "1", "3.00 / 3.00", "–", "–"])
        self.assertEqual(rows[2][0], "all")

    def test_reports_that_do_not_fit(self):
        other = copy.deepcopy(H200)
        other["speedups"][0]["classes"][0]["shapes"] = 3
        fewer = copy.deepcopy(H200)
        del fewer["speedups"][0]["classes"][1]
        for pair, rung in (((H100, other), "dispatch"), ((H100, fewer), "dispatch"), ((H100, H200), "row_01")):
            with self.assertRaises(ValueError):
                speedup_table.by_class([("a", pair[0]), ("b", pair[1])], rung)

    def test_the_block(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(generate_tables, "ROOT", Path(folder).resolve()):
            root = generate_tables.ROOT
            (root / "results/x").mkdir(parents=True)
            (root / "results/x/s.json").write_text(json.dumps(H100))
            document = root / "LADDER.md"
            document.write_text("<!-- speedups: results/x/s.json sgemm/dispatch -->\n<!-- end -->\n")
            _, text = generate_tables.refreshed("none", document, {})
            for words in ("| few | 4 | 1.23 / 0.99 | 1.50 / 1.00 | 75 % |", "recording: [s.json](results/x/s.json)",
                          "`warpladder bench sgemm/dispatch --shapes shapes.txt`"):
                self.assertIn(words, text)
            document.write_text("<!-- speedups: results/x/s.json sgemm/row_01 -->\n<!-- end -->\n")
            with self.assertRaisesRegex(generate_tables.Fault, "no row of sgemm/row_01"):
                generate_tables.refreshed("none", document, {})


if __name__ == "__main__":
    unittest.main()
