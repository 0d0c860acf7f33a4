"""Tests of the block `plan-wins` of tools/generate_tables.py: tiny recordings, cells computed by hand."""

import sys
import unittest

sys.dont_write_bytecode = True
from test_generate_tables import FILE, MORE, Documents  # noqa: E402


def plan_times(rungs, *rows, **more):
    return {"program": "plan_times", "gpu": "NVIDIA H200", "date": "2026-11-30T03:02:24Z", "unit_s": 1e-08,
            "argv": ["pt", "9", "1", "--json", "r/p.json"], "rungs": rungs, "rows": list(rows), **more}


class PlanWins(Documents):
    def setUp(self):
        super().setUp()
        product = {"product": "tn 32x8x100", "cublas": 600}
        # Modelled and measured hundredths of a microsecond, then the cut.
        self.give(plan_times(["row_11_few", "row_13_split"], {**product, "times": [[1, 400, 8, 8], 0]},
                             {**product, "batch": 2000, "times": [[1, 1500, 8, 8], [1, 1000, 8, 8]]}))
        self.give(plan_times(["row_33_low"], {**product, "cublas": 612, "times": [[1, 100, 8, 8]]}), MORE)

    def block(self, pairs, files=f"{FILE},{MORE}"):
        return f"<!-- plan-wins: {files}: {pairs} -->\n<!-- end -->\n"

    def test_a_product_of_two_recordings_and_a_batch(self):
        text = self.generated(self.block("row_33_low over row_11_few at tn 32x8x100; "
                                         "row_13_split over row_11_few at tn 32x8x100 batch 2000"))
        self.assertIn("""-->
| rung | over | product | time | from | faster | cuBLAS |
| :-- | --: | --: | --: | --: | --: | --: |
| `row_33_low` | `row_11_few` | TN 32×8×100 | 1.00 µs | 4.00 µs | 4.00× | 6.12 µs |
| `row_13_split` | `row_11_few` | TN 32×8×100, 2,000 products | 10.0 µs | 15.0 µs | 1.50× | 6.00 µs |

""", text)
        self.assertIn("\nNVIDIA H200, 2026-11-30, recording: [more.json](../results/current/nvidia-h200/more.json), "
                      "`plan_times 9 1 --json r/p.json`.\n", text)

    def test_the_first_recording_of_a_rung_counts(self):
        product = {"product": "tn 32x8x100", "cublas": 600}
        self.give(plan_times(["row_11_few"], {**product, "times": [[1, 200, 8, 8]]}), MORE)
        first = self.generated(self.block("row_11_few over row_11_few at tn 32x8x100", f"{MORE},{FILE}"))
        self.assertIn("| 2.00 µs | 2.00 µs |", first)
        self.assertEqual(first.count("recording:"), 1)

    def test_what_cannot_be_compared(self):
        pair = "row_33_low over row_11_few at tn 32x8x100"
        self.refuses("row_33_low or row_13_split was not timed at TN 32×8×100",
                     self.block("row_33_low over row_13_split at tn 32x8x100"))
        self.refuses("is not RUNG over RUNG at PRODUCT", self.block("row_33_low over row_11_few at 32x8x100"))
        row = {"product": "tn 32x8x100", "cublas": 900, "times": [[1, 100, 8, 8]]}
        self.give(plan_times(["row_33_low"], row), MORE)
        self.refuses("cuBLAS's times at TN 32×8×100 differ", self.block(pair))
        self.give(plan_times(["row_33_low"], row, gpu="NVIDIA H100"), MORE)
        self.refuses("measured on different GPUs", self.block(pair))
        self.give(plan_times(["row_33_low"], {"cublas": 9}), MORE)
        self.refuses("not as plan_times writes it", self.block(pair))
        self.give({"program": "else"}, MORE)
        self.refuses("not a report of plan_times", self.block(pair))


if __name__ == "__main__":
    unittest.main()
