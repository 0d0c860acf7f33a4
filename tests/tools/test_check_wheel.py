"""Tests of bindings/torch/check_wheel.py: which wheels serve all Pythons."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "torch"))
import check_wheel  # noqa: E402

WHEEL = "Wheel-Version: 1.0\nGenerator: scikit-build-core 1.1.2\nRoot-Is-Purelib: false\n{}\n"


class Tags(unittest.TestCase):
    def test_one_wheel_for_all(self):
        self.assertIsNone(check_wheel.why_not_for_all(WHEEL.format("Tag: cp310-abi3-linux_x86_64\n")))

    def test_wheels_of_one_python_or_none(self):
        for tags in ("cp311-cp311-linux_x86_64", "cp311-abi3-linux_x86_64", "py3-none-any"):
            both = f"Tag: cp310-abi3-linux_x86_64\nTag: {tags}"
            self.assertRegex(check_wheel.why_not_for_all(WHEEL.format(both)), f"{tags}, not cp310-abi3")
        self.assertIn("tags are none", check_wheel.why_not_for_all(WHEEL.format("")))


if __name__ == "__main__":
    unittest.main()
