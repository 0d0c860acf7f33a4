"""Tests of the blocks `steps` and `wins` of tools/generate_tables.py: tiny reports, cells computed by hand."""

import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from test_generate_tables import FILE, MORE, Documents, generate_tables, report, row, untimed  # noqa: E402

import step_table  # noqa: E402


def explained(holds=True, **totals):
    names = [name for names in step_table.COUNTERS.values() for name in names]
    return {"totals": {**dict.fromkeys(names, 0), **totals}, "prediction": {"holds": holds}}


COUNTS = {
    "spmv/01_scalar": explained(global_load_sectors=800, global_load_requests=100),
    "spmv/02_vector": explained(global_load_sectors=200, global_load_requests=100, shuffles=7),
    "spmv/03_flags": explained(False, global_load_sectors=200, global_load_requests=100, barriers=1, shuffles=7),
}


class Steps(Documents):
    def setUp(self):
        super().setUp()
        self.asked = []

        def explanations(program, root, rungs, asked_for):
            self.asked.append(asked_for)
            return [COUNTS[rung] for rung in rungs]

        patch = mock.patch.object(generate_tables, "explanations", explanations)
        patch.start()
        self.addCleanup(patch.stop)

    def block(self, place, rungs="01_scalar 02_vector"):
        return f"<!-- steps: {FILE} spmv{place}, counts at 64x64x8: {rungs} -->\n<!-- end -->\n"

    def row(self, rung, matrix, cold, **more):
        return row(rung, cold / 2, cold=cold, op="spmv", variant=matrix, shape=[] if matrix else [64, 64, 8], **more)

    def test_a_shape(self):
        self.give(report(self.row("01_scalar", "", 3e-3), self.row("02_vector", "", 1e-3)))
        text = self.generated(self.block(" at 64x64x8, cold"))
        self.assertIn("""-->
| rung | the counter that moved | prediction | time | faster than the rung before |
| :-- | --: | --: | --: | --: |
| `01_scalar` | – | holds | 3.00 ms | – |
| `02_vector` | global sectors ÷ 4 | holds | 1.00 ms | 3.00× |

Counts at 64×64×8; cold medians at 64×64×8.
""", text)
        self.assertEqual(self.asked, [["--shape", "64x64x8"]])

    def test_matrices(self):
        """Two matrices, of which one is a file: its name stands for it. Rivals have no line."""
        self.give(report(self.row("01_scalar", "rmat:scale=4", 3e-3), self.row("02_vector", "rmat:scale=4", 1e-3),
                         self.row("cusparse", "rmat:scale=4", 1e-3, rival=True),
                         self.row("03_flags", "rmat:scale=4", 2e-3),
                         self.row("01_scalar", "m/a.mtx.gz", 2e-6), self.row("02_vector", "m/a.mtx.gz", 4e-6),
                         {**untimed("03_flags", skipped="no"), "op": "spmv", "variant": "m/a.mtx.gz", "shape": []}))
        text = self.generated(self.block(" by matrix, cold", "01_scalar 02_vector 03_flags"))
        self.assertIn("""-->
| rung | the counter that moved | prediction | `rmat:scale=4` | `a.mtx.gz` |
| :-- | --: | --: | --: | --: |
| `01_scalar` | – | holds | 3.00 ms | 2.00 µs |
| `02_vector` | global sectors ÷ 4 | holds | 1.00 ms, 3.00× | 4.00 µs, 0.50× |
| `03_flags` | barriers: 1 | differs | 2.00 ms, 0.50× | – |

Counts at 64×64×8; cold medians by matrix, and how many times as fast as the rung before.
""", text)
        self.assertEqual(text.count("recording:"), 1)

    def test_what_was_not_timed(self):
        self.give(report(self.row("01_scalar", "rmat:scale=4", 3e-3)))
        self.refuses("no row of spmv/02_vector at `rmat:scale=4`", self.block(" by matrix"))
        self.give(report(self.row("01_scalar", "", 3e-3)))
        self.refuses("no rows of a matrix without a shape", self.block(" by matrix"))
        self.refuses("no row of spmv/02_vector at 64x64x8", self.block(" at 64x64x8"))


class Wins(Documents):
    def block(self, argument):
        return f"<!-- wins: {argument} -->\n<!-- end -->\n"

    def test_rates(self):
        """Of the usual report: 1 ms is 2 TFLOP/s, 0.4 ms with a spread of 4 % are 5.0."""
        text = self.generated(self.block(f"{FILE} sgemm: row_02_tile over row_01_naive at 1000x1000x1000"))
        self.assertIn("""-->
| rung | over | at | TFLOP/s | from | faster |
| :-- | --: | --: | --: | --: | --: |
| `row_02_tile` | `row_01_naive` | 1000³ | 5.0 | 2.00 | 2.50× |

NVIDIA H200""", text)

    def test_cold_times_of_two_recordings_and_a_batch(self):
        def timed(rung, cold, shape):
            return row(rung, 1e-3, cold=cold, op="transpose", variant=" batch=9", shape=shape, flops=0.0)

        self.give(report(timed("01_naive", 3e-6, [8, 8]), timed("02_tile", 2e-6, [8, 8])))
        self.give(report(timed("01_naive", 9e-6, [9, 9]), timed("03_thin", 3e-6, [9, 9])), MORE)
        text = self.generated(self.block(f"{FILE},{MORE} transpose:batch=9, cold: 02_tile over 01_naive at 8x8; "
                                         "03_thin over 01_naive at 9x9"))
        self.assertIn("""-->
| rung | over | at | cold time | from | faster |
| :-- | --: | --: | --: | --: | --: |
| `02_tile` | `01_naive` | 8×8, batch=9 | 2.00 µs | 3.00 µs | 1.50× |
| `03_thin` | `01_naive` | 9×9, batch=9 | 3.00 µs | 9.00 µs | 3.00× |
""", text)
        self.assertEqual(text.count("recording:"), 2)

    def test_what_was_not_timed(self):
        self.refuses("row_02_tile or row_03_none was not timed at 1000x1000x1000",
                     self.block(f"{FILE} sgemm: row_02_tile over row_03_none at 1000x1000x1000"))
        self.refuses("col_01_naive or row_01_naive was not timed",  # cold
                     self.block(f"{FILE} sgemm, cold: col_01_naive over row_01_naive at 1000x1000x1000"))
        self.refuses("is not RUNG over RUNG at SHAPE", self.block(f"{FILE} sgemm: row_02_tile over row_01_naive"))


if __name__ == "__main__":
    unittest.main()
