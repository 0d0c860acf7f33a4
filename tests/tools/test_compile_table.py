"""Tests of tools/compile_table.py: a made-up report of build, cells by hand."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import compile_table  # noqa: E402
import generate_tables  # noqa: E402


def kernel(name, registers, stack, instructions, **more):
    return {"name": name, "symbol": name, "registers": registers, "stack_bytes": stack, "spill_store_bytes": 4,
            "spill_load_bytes": 8, "shared_bytes": 1024, "threads": 256, "instructions": instructions, **more}


OCCUPANCY = {"blocks": 2, "share": 0.25, "limiter": "registers"}
PLAIN, FAST = {"FFMA": 9, "CALL": 1}, {"FFMA": 2, "MUFU.RCP": 3}
REPORT = {
    "schema_version": 1, "verb": "build", "source": "a.cu", "nvcc": "13.0", "missing": [],
    "fat_binary": {"name": "fat binary", "by": "nvcc -fatbin", "bytes": 4096, "seconds": 1.234,
                   "holds": [{"kind": "PTX", "arch": "sm_90", "compressed": True}]},
    "architectures": [{
        "architecture": "90",
        "stages": [{"name": "PTX", "by": "nvcc -ptx", "bytes": 12345, "seconds": 0.5}],
        "kernels": [kernel("ns::axpy<64>", 128, 0, PLAIN, occupancy=OCCUPANCY)],
        "maths": [{"name": "default", "flags": "", "kernels": [kernel("axpy", 15, 0, PLAIN)]},
                  {"name": "all of them", "flags": "--use_fast_math", "kernels": [kernel("axpy", 9, 0, FAST)]}],
        "separate": [{"name": "two files", "flags": "-rdc=true", "bytes": 99, "seconds": 2,
                      "kernels": [kernel("axpy", 24, 32, PLAIN)]}],
        "lines": [{"file": "a.cu", "line": 7, "text": "  a | b;", "instructions": {"FFMA": 1, "LDG": 2}},
                  {"file": "b.hpp", "line": 1, "text": "", "instructions": {"MOV": 1}}],
    }],
}


MEASURED = {
    "verb": "bench", "device": {"gpu": {"GPU": "NVIDIA H100"}},
    "rows": [
        {"op": "compile_flow", "rung": "normalise", "variant": "default", "samples_s": [2e-4, 1e-4, 3e-4],
         "worst_relative_error": 1.25e-7},
        {"op": "compile_flow", "rung": "normalise", "variant": "-ftz=true", "samples_s": [1e-4], "worst_relative_error": 1},
        {"op": "compile_flow", "rung": "tile", "variant": "whole program", "samples_s": [1e-5], "right": True},
        {"op": "compile_flow", "rung": "tile", "variant": "-rdc=true", "samples_s": [2e-5], "right": False},
    ],
}


class CompileTable(unittest.TestCase):
    def test_what_a_gpu_measured(self):
        _, rows, _ = compile_table.of(MEASURED, "measured")
        self.assertEqual(rows, [["normalise", "default", "200.0 µs", "1.000", "1.2e-07"],
                                ["normalise", "`-ftz=true`", "100.0 µs", "0.500", "1"],
                                ["tile", "whole program", "10.0 µs", "1.000", "none"],
                                ["tile", "`-rdc=true`", "20.0 µs", "2.000", "wrong"]])
        self.assertEqual(compile_table.caption(MEASURED), "NVIDIA H100, medians; the recording keeps 3 samples of each.")

    def test_what_a_rungs_lines_became(self):
        access = {"space": "shared", "kind": "load", "bytes": 4}
        line = {"file": "src/ops/a.cu", "line": 7, "text": "x | y;", "accesses": [access], "fmas": 3}
        empty = {"file": "src/ops/a.cu", "line": 8, "text": "", "accesses": [], "fmas": 0}
        code = [{"file": "a.cu", "line": 7, "instructions": {"FFMA": 1, "LDS.128": 4}},
                {"file": "a.cu", "line": 8, "instructions": {"BAR": 1}},
                {"file": "b.hpp", "line": 7, "instructions": {"MOV": 9}}]
        report = {"verb": "explain", "nvcc": "13.0", "rungs": [
            {"op": "sgemm", "rung": "row_1", "lines": [line, empty],
             "machine_code": {"architecture": "90", "lines": code}}]}
        _, rows, _ = compile_table.of(report, "machine-code")
        self.assertEqual(rows, [["7", "`x \\| y;`", "shared loads of 4 B, FMAs", "4 LDS.128, 1 FFMA"]])
        self.assertEqual(compile_table.caption(report), "nvcc 13.0, sm_90, sgemm/row_1.")

    def rows(self, what):
        header, rows, names = compile_table.of(REPORT, what)
        self.assertTrue(all(len(row) == len(header) for row in rows), what)
        self.assertLess(names, len(header) + 1)
        return rows

    def test_cells_by_hand(self):
        self.assertEqual(self.rows("stages"), [["sm_90", "PTX", "nvcc -ptx", "12,345 B", "0.50 s"],
                                               ["all", "fat binary", "nvcc -fatbin", "4,096 B", "1.23 s"]])
        self.assertEqual(self.rows("fat-binary"), [["PTX", "sm_90", "yes"]])
        self.assertEqual(self.rows("kernels"), [["sm_90", "`axpy<64>`", "128", "0 B", "12 B", "1,024 B", "256",
                                                 "25 %, registers", "10"]])
        self.assertEqual(self.rows("maths"), [["none", "default", "15", "10", ""],
                                              ["`--use_fast_math`", "all of them", "9", "5",
                                               "−7 FFMA, +3 MUFU.RCP, −1 CALL"]])
        self.assertEqual(self.rows("separate"), [["sm_90", "two files", "`-rdc=true`", "99 B", "2.00 s", "`axpy`",
                                                  "24", "32 B", "10", "1"]])
        self.assertEqual(self.rows("lines"), [["7", "`a \\| b;`", "2 LDG, 1 FFMA"]])

    def test_a_block_of_a_document(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(generate_tables, "ROOT", Path(name)):
            (Path(name) / "results").mkdir()
            (Path(name) / "results" / "a.json").write_text(json.dumps(REPORT))
            document = Path(name) / "a.md"
            document.write_text("<!-- compile: results/a.json maths -->\n<!-- end -->\n")
            _, text = generate_tables.refreshed("", document, {})
            self.assertIn("| `--use_fast_math` | all of them | 9 | 5 | −7 FFMA, +3 MUFU.RCP, −1 CALL |", text)
            self.assertIn("nvcc 13.0, a.cu. Recording: [a.json](results/a.json).", text)
            document.write_text("<!-- compile: results/a.json nonsense -->\n<!-- end -->\n")
            with self.assertRaises(generate_tables.Fault):
                generate_tables.refreshed("", document, {})
            (Path(name) / "results" / "a.json").write_text("{}")
            document.write_text("<!-- compile: results/a.json maths -->\n<!-- end -->\n")
            with self.assertRaises(generate_tables.Fault):
                generate_tables.refreshed("", document, {})


if __name__ == "__main__":
    unittest.main()
