"""Tests of tools/tune_table.py: two searches made by hand, and what the second says of the first's winner."""

import copy
import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import generate_tables  # noqa: E402
import keep_recording  # noqa: E402
import tune_table  # noqa: E402


def search(size, medians, best, **fates):
    """Configurations `rows=N` with these medians; the rung's own is 128."""
    configurations = [{"configuration": {"rows": rows}, "fate": "timed", "median_s": median, "samples_s": [median]}
                      for rows, median in medians.items()]
    for fate, count in fates.items():
        configurations += [{"configuration": {"rows": 0}, "fate": fate.replace("_", " "), "samples_s": []}] * count
    return {"op": "sgemm", "rung": "row_07", "variant": "row_nn", "shape": [size] * 3, "skipped": "",
            "best": {"rows": best}, "best_s": medians[best], "today": {"rows": 128}, "spent_s": 1.25,
            "configurations": configurations}


def report(*problems):
    return {"verb": "tune", "date": "2026-11-25T23:02:01Z", "device": {"gpu": {"GPU": "NVIDIA H100"}},
            "problems": list(problems)}


FIRST = report(search(512, {64: 1e-5, 128: 3e-5}, 64, stopped_early=2, pruned=3), search(1024, {128: 2e-3}, 128))
SECOND = report(search(512, {64: 2e-5, 128: 4e-5}, 64), search(1024, {128: 2.5e-3}, 128))
ROWS = [["`row_07`", "512³", "`rows=64`", "10.00 µs", "3.000", "2.000", "2", "2", "3", "0"],
        ["`row_07`", "1024³", "its own", "2.000 ms", "1.000", "1.000", "1", "0", "0", "0"]]


def light(whole):
    kept = {name: value for name, value in whole.items() if name != "problems"}
    return {**kept, "rows": [keep_recording.outcome(problem) for problem in whole["problems"]]}


class TuneTable(unittest.TestCase):
    def test_cells_by_hand(self):
        for first, second in ((FIRST, SECOND), (light(FIRST), light(SECOND)), (light(FIRST), SECOND)):
            cells, gains = tune_table.of(first, second)
            self.assertEqual(cells, ROWS)
            self.assertEqual(tune_table.summary(first, gains), [
                "`row_07`: geometric mean 1.414, least 1.000 in the second run, 2 shapes.",
                "NVIDIA H100, 2026-11-25: 2 s of search."])

    def run_tool(self, *reports):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{number}.json" for number in range(len(reports))]
            for path, data in zip(paths, reports):
                path.write_text(json.dumps(data))
            said = io.StringIO()
            with mock.patch.object(sys, "argv", ["tune_table", *map(str, paths)]), \
                    redirect_stdout(said), redirect_stderr(said):
                return tune_table.main(), said.getvalue()

    def test_a_winner_that_is_slower_in_the_second_run_fails(self):
        self.assertEqual(self.run_tool(FIRST, SECOND)[0], 0)
        slower = report(search(512, {64: 4e-5, 128: 2e-5}, 128), SECOND["problems"][1])
        self.assertEqual(self.run_tool(FIRST, slower)[0], 1)

    def test_what_cannot_be_compared_is_one_sentence(self):
        untimed = copy.deepcopy(SECOND)
        del untimed["problems"][0]["configurations"][0]
        for second in (untimed, report(SECOND["problems"][0]), {}, [], report()):
            code, said = self.run_tool(FIRST, second)
            self.assertEqual((code, said.count("\n")), (2, 1), said)

    def test_a_block_of_a_document(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(generate_tables, "ROOT", Path(name)):
            (Path(name) / "results").mkdir()
            for file, data in (("a", FIRST), ("b", SECOND), ("c", {})):
                (Path(name) / f"results/{file}.json").write_text(json.dumps(data))
            document = Path(name) / "a.md"
            document.write_text("<!-- tuning: results/a.json results/b.json -->\n<!-- end -->\n")
            _, text = generate_tables.refreshed("", document, {})
            self.assertIn(" | ".join(ROWS[0]), text)
            self.assertIn("Recordings: [a.json](results/a.json), [b.json](results/b.json).", text)
            for wrong in ("results/a.json", "results/a.json results/c.json"):
                document.write_text(f"<!-- tuning: {wrong} -->\n<!-- end -->\n")
                with self.assertRaises(generate_tables.Fault):
                    generate_tables.refreshed("", document, {})


if __name__ == "__main__":
    unittest.main()
