"""Tests of tools/agreement.py on what Nsight Compute and nvdisasm write, cut down, with counts made up."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import agreement  # noqa: E402

DISASSEMBLY = """
	//## File "/w/src/parts/tile.hpp", line 9 inlined at "/w/src/ops/sgemm/rungs/row_09_x.cu", line 31
	//## File "/w/src/ops/sgemm/rungs/row_09_x.cu", line 31
        /*0010*/                   LDS.128 R4, [R2] ;
        /*0020*/              @!P0 STS [R0], R4 ;
	//## File "/w/src/parts/tile.hpp", line 12
        /*0030*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
"""


def launch(*accesses):
    keys = ("file", "line", "space", "kind", "bytes", "requests", "sectors", "wavefronts", "conflicts")
    return {"accesses": [dict(zip(keys, a)) for a in accesses],
            "events": [{"fmas": 7, "barriers": 2, "shuffles": 1}]}


class Agreement(unittest.TestCase):
    def test_counts_agree_exactly_and_wavefronts_nearly(self):
        self.assertTrue(agreement.agree("FMAs", 100, 100))
        self.assertFalse(agreement.agree("FMAs", 1000, 1001))
        self.assertTrue(agreement.agree("shared load wavefronts", 1000, 1020))
        self.assertFalse(agreement.agree("shared load wavefronts", 1000, 1021))
        self.assertFalse(agreement.agree("shared load conflicts", 0, 1))
        self.assertTrue(agreement.agree("shared load conflicts", 0, 20, wavefronts=1000))
        self.assertFalse(agreement.agree("shared load conflicts", 0, 21, wavefronts=1000))

    def test_instructions_belong_to_the_kernels_own_line(self):
        code = agreement.instructions_of(DISASSEMBLY)
        own = ("src/ops/sgemm/rungs/row_09_x.cu", 31)
        self.assertEqual(code, {0x10: ("LDS.128 R4, [R2]", own), 0x20: ("@!P0 STS [R0], R4", own),
                                0x30: ("BAR.SYNC.DEFER_BLOCKING 0x0", ("src/parts/tile.hpp", 12))})
        rows = [{"at": 0x10, "inst_executed": 8, "thread_inst_executed_true": 256,
                 "memory_l1_wavefronts_shared": 32},
                {"at": 0x20, "inst_executed": 8, "thread_inst_executed_true": 5,
                 "memory_l1_wavefronts_shared": 6, "memory_l1_wavefronts_shared_ideal": 5},
                {"at": 0x30, "inst_executed": 8, "thread_inst_executed_true": 256}]
        self.assertEqual(agreement.lines_of(rows, code), [
            [*own, "LDS", 16, 0, 8, 8, 256, 0, 32], [*own, "STS", 4, 1, 8, 5, 5, 0, 6],
            ["src/parts/tile.hpp", 12, "BAR", 4, 0, 8, 8, 256, 0, 0]])

    def test_predicated_instructions_count_where_a_lane_executes_them(self):
        def count(opcode, width, executed, threads, ideal=0):
            row = {"inst_executed": executed, "thread_inst_executed_true": threads,
                   "memory_l1_wavefronts_shared_ideal": ideal}
            return agreement.with_a_lane(row, opcode, width, True)
        self.assertEqual(count("BAR", 4, 10, 7 * 32), 7)
        self.assertEqual(count("LDS", 16, 10, 7 * 32, 7 * 4), 7)  # whole warps
        self.assertEqual(count("STS", 16, 10, 10 * 8, 10), 10)  # a quarter of each
        self.assertEqual(count("LDS", 4, 10, 3, 3), 3)

    def test_copies_are_no_stores_and_flags_no_atomics(self):
        shared = ("a.cu", 3, "shared", "store", 16, 5, 0, 20, 0)
        flag = ("a.cu", 9, "global", "atomic", 8, 4, 6, 0, 0)
        counts = agreement.counters_of(launch(shared, flag), {("a.cu", 3, 16)}, False)
        self.assertEqual(counts["shared store requests"], 0)
        self.assertEqual((counts["global load requests"], counts["global store sectors"]), (4, 6))
        self.assertEqual((counts["FMAs"], counts["barriers"], counts["shuffles"]), (7, 2, 1))
        counts = agreement.counters_of(launch(shared, flag), set(), True)
        self.assertEqual((counts["shared store wavefronts"], counts["atomics"]), (20, 4))
        self.assertEqual(counts["global load requests"], 0)

    def test_machine_code_gives_the_widths_of_each_line(self):
        lines = [["a.cu", 3, "LDS", 4, 0, 1, 1, 32, 0, 1], ["a.cu", 3, "LDS", 16, 0, 1, 1, 32, 0, 4],
                 ["a.cu", 4, "FFMA", 4, 0, 1, 1, 32, 0, 0]]
        self.assertEqual(agreement.compiled_code([{"kernel": "op::f", "lines": lines}]),
                         {"op::f": [["a.cu", 3, "shared", "load", 20]]})

    def test_every_exception_has_a_reason(self):
        row = {"rung": "spmv/06_merge", "problem": "1", "kernel": "spmv::multiply<int>"}
        reasons = agreement.read_reasons()
        self.assertIn("reciprocal", agreement.reason_of(agreement.Pair(row, "FMAs", 0, 0, 9), reasons))
        row["rung"] = "other/01"
        self.assertEqual(agreement.reason_of(agreement.Pair(row, "FMAs", 0, 0, 9), reasons), "Not explained yet.")


if __name__ == "__main__":
    unittest.main()
