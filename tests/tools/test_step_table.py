"""Tests of the blocks `steps` and `wins` of tools/generate_tables.py: tiny reports, cells computed by hand."""

import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from test_generate_tables import FILE, Documents, generate_tables, report, row, untimed  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
