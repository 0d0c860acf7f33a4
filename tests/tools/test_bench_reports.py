#!/usr/bin/env python3
"""How many digits a time deserves: as many as `warpladder bench` gives it."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from bench_reports import Times  # noqa: E402


class Digits(unittest.TestCase):
    def test_the_interval_of_the_median_decides(self):
        # Quartiles a tenth apart: one sample is that uncertain, their median is not.
        for low, high, digits in [(0.95, 1.05, 2), (0.99, 1.005, 2), (0.998, 1.002, 3),
                                  (0.9999, 1.0001, 4), (0.999999, 1.000001, 4)]:
            self.assertEqual(Times(1.0, 0.95, 1.05, (low, high)).digits, digits, (low, high))

    def test_the_quartiles_where_there_is_no_interval(self):
        self.assertEqual(Times(1.0, 0.998, 1.002).digits, 3)

    def test_equal_samples_say_nothing(self):
        self.assertEqual(Times(1.0, 1.0, 1.0, (1.0, 1.0)).digits, 2)


if __name__ == "__main__":
    unittest.main()
