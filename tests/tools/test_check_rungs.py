"""Tests of tools/checks/check_rungs.py: a rung that no table has is found."""

import unittest

from test_checks import Planted

import check_rungs

TABLE = """# The copy ladder

<!-- {}: results/current/nvidia-h200/copy.json copy -->
| rung | over | time |
| :-- | --: | --: |
{}
<!-- end -->
"""


class Rungs(Planted):
    check = check_rungs
    first, second = "src/ops/copy/rungs/01_scalar.cu", "src/ops/copy/rungs/02_vector.sm90a.cu"

    def setUp(self):
        super().setUp()
        self.write(self.first)
        self.write(self.second)

    def ladder(self, *rows, kind="wins"):
        self.write("src/ops/copy/LADDER.md", TABLE.format(kind, "\n".join(rows)))

    def test_rows_and_what_they_are_compared_with(self):
        for kind in check_rungs.KINDS.split("|"):
            self.ladder("| `02_vector` | `01_scalar` | 2.00 µs |", kind=kind)
            self.assert_clean({})

    def test_a_rung_in_no_table(self):
        self.ladder("| `01_scalar` | – | 2.00 µs |")
        self.assert_caught(self.second, 1, "no table of steps, wins or times in src/ops/copy/LADDER.md has 02_vector", {})
        self.assertEqual(len(self.found({})), 1)

    def test_what_is_no_table_of_times(self):
        for text in ("| `01_scalar` | `02_vector` | 2.00 µs |\n",  # outside of a block
                     TABLE.format("counts", "| `01_scalar` | `02_vector` | 2.00 µs |"),
                     TABLE.format("shares", "| `01_scalar` | `02_vector` | 90 % |"),
                     TABLE.format("times", "| `01_scalar` | skipped | – |\n| `02_vector` | failed | – |")):
            self.write("src/ops/copy/LADDER.md", text)
            self.assertEqual([path for path, _, _ in self.found({})], [self.first, self.second], text)

    def test_an_operator_without_a_ladder(self):
        self.assertEqual(len(self.found({})), 2)

    def test_exemptions(self):
        self.ladder("| `01_scalar` | – | 2.00 µs |")
        self.assert_clean({"copy/02_vector": "not recorded"})
        self.assert_caught(self.first, 1, "strike its exemption", {"copy/01_scalar": "", "copy/02_vector": ""})
        self.assert_caught("tools/checks/check_rungs.py", 1, "copy/03_none, which is no rung", {"copy/03_none": ""})
        self.assertTrue(all(check_rungs.EXEMPT.values()))


if __name__ == "__main__":
    unittest.main()
