#!/usr/bin/env python3
"""The tables and pictures of the lessons, from values worked out by hand."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import draw_lessons  # noqa: E402
import lesson_pictures  # noqa: E402
import speed_error  # noqa: E402
import step_table  # noqa: E402


def counts(**some):
    return {name: some.get(name.replace(" ", "_"), 0) for name in step_table.COUNTERS}


class Steps(unittest.TestCase):
    def test_the_counter_that_moved(self):
        before = counts(global_sectors=800, shared_wavefronts=320, barriers=64)
        for words, after in (
            ("global sectors ÷ 8", counts(global_sectors=100, shared_wavefronts=320, barriers=2)),
            ("barriers ÷ 32", counts(global_sectors=800, shared_wavefronts=320, barriers=2)),
            ("shared wavefronts gone", counts(global_sectors=800, barriers=64)),
            ("shuffles: 5", counts(global_sectors=800, shared_wavefronts=320, barriers=64, shuffles=5)),
            ("global sectors × 2", counts(global_sectors=1600, shared_wavefronts=320, barriers=64)),
            ("none", counts(global_sectors=790, shared_wavefronts=320, barriers=64)),
        ):
            self.assertEqual(step_table.moved(before, after), words)


class Pictures(unittest.TestCase):
    def test_constants_come_from_the_kernel(self):
        source = (
            "struct Config {\n  int tile = 32, rows = 8,\n      wide = 4 * 2;\n};\n"
            "__shared__ float shared[kConfig.tile][kConfig.tile + 1];"
        )
        self.assertEqual(lesson_pictures.constants(source), {"tile": 32, "rows": 8, "wide": 8})
        self.assertEqual(lesson_pictures.shared_array(source, "a.cu"), (32, 33))
        with self.assertRaisesRegex(ValueError, "cannot compute 'other'"):
            lesson_pictures.shared_array("__shared__ float s[other][1];", "a.cu")

    def test_what_pictures_say(self):
        told = lambda source: lesson_pictures.banks([("a.cu", source)])[0]  # noqa: E731
        self.assertIn("rows of 32 words, 32 wavefronts", told("__shared__ float s[32][32];"))
        self.assertIn("rows of 36 words, 4 wavefronts", told("__shared__ float s[32][36];"))
        self.assertIn("2 words apart: 8 sectors", lesson_pictures.coalescing([2])[0])
        self.assertIn("4 steps, lanes busy for 62 %", lesson_pictures.rows([1, 4, 1, 4])[0])

    def test_a_pipeline(self):
        alone = lesson_pictures.pipeline(1)
        self.assertEqual(alone[:2], [(0, 8), (10, 18)])  # load 8, compute 2, then the next
        self.assertEqual(lesson_pictures.pipeline(2)[:3], [(0, 8), (1, 10), (10, 18)])

    def test_labels_stand_apart(self):
        bottom = speed_error.TOP + speed_error.HEIGHT
        self.assertEqual(speed_error.apart([100, 101, 300]), [100, 116, 300])
        self.assertEqual(speed_error.apart([bottom, bottom]), [bottom - 16, bottom])

    def test_a_stale_picture_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "a.md"
            document.write_text("<!-- picture: tree of 8 to tree.svg -->\n<!-- end -->\n")
            self.assertIn("tree.svg is not what would be drawn", list(draw_lessons.faults_of(document, True)))
            self.assertEqual(list(draw_lessons.faults_of(document, False)), [])
            self.assertEqual(list(draw_lessons.faults_of(document, True)), [])
            self.assertIn("![Two trees over 8 values", document.read_text())
            (Path(folder) / "tree.svg").write_text("<svg/>")
            self.assertEqual(len(list(draw_lessons.faults_of(document, True))), 1)
            document.write_text("<!-- picture: nonsense to a.svg -->\n<!-- end -->\n")
            self.assertRegex(list(draw_lessons.faults_of(document, True))[0], "is no picture")


if __name__ == "__main__":
    unittest.main()
