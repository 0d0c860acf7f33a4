"""Tests of tools/generate_tables.py: shares of the best rival, by matrix."""

import unittest

from test_generate_tables import FILE, Documents, report, row, untimed

BLOCK = f"<!-- shares-by-matrix: {FILE} spmv -->\n<!-- end -->\n"
ARROW = "arrow:rows=4"


def on(matrix, rung, cold, **more):
    return row(rung, 1e-6, cold=cold, op="spmv", variant=matrix, shape=[], **more)


class MatrixTable(Documents):
    def test_cells_by_hand(self):
        """Each matrix has its own best rival; a probe is none."""
        file = "folder/m.mtx.gz"
        self.give(report(
            on(ARROW, "01_scalar", 4e-6), on(ARROW, "06_merge", 1e-6),
            on(ARROW, "cusparse", 2e-6, rival=True), on(ARROW, "cusparse_alg2", 3e-6, rival=True),
            on(ARROW, "read", 5e-7, rival=True, probe=True),
            on(file, "01_scalar", 1e-6), on(file, "06_merge", 2e-6),
            on(file, "cusparse", 9e-6, rival=True), on(file, "cusparse_alg2", 1e-6, rival=True)))
        text = self.generated(BLOCK)
        self.assertIn("""
| % of the best rival | `01_scalar` | `06_merge` | best rival |
| :-- | --: | --: | --: |
| `arrow:rows=4` | 50.0 % | 200 % | `cusparse` |
| `m.mtx.gz` | 100 % | 50.0 % | `cusparse_alg2` |
| geometric mean | 70.7 % | 100 % |  |

Medians of cold samples""", text)

    def test_what_was_not_timed(self):
        self.give(report(
            on(ARROW, "01_scalar", 4e-6), on(ARROW, "cusparse", 2e-6, rival=True),
            {**untimed("06_merge", failure="y(0) is 1"), "op": "spmv", "variant": ARROW, "shape": []}))
        text = self.generated(BLOCK)
        self.assertIn("| `arrow:rows=4` | 50.0 % | failed | `cusparse` |\n\n", text)
        self.assertIn("`06_merge`: failed: y(0) is 1", text)

    def test_without_a_rival(self):
        self.give(report(on(ARROW, "01_scalar", 4e-6)))
        self.refuses("no rival was timed on `arrow:rows=4`", BLOCK)
        self.give(report(row("01_scalar", 1, cold=1, op="spmv")))
        self.refuses("no rows of a matrix without a shape", BLOCK)
        self.give(report(row("01_scalar", 1)))
        self.refuses("no rows of spmv", BLOCK)


if __name__ == "__main__":
    unittest.main()
