"""Tests of tools/agreement.py on what Nsight Compute and nvdisasm write, cut down, with counts made up."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import agreement  # noqa: E402
import agreement_raw  # noqa: E402
from code_lines import CodeLines, Sources  # noqa: E402

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
        code = agreement_raw.instructions_of(DISASSEMBLY)
        rung, tile = "src/ops/sgemm/rungs/row_09_x.cu", "src/parts/tile.hpp"
        inlined = [(tile, 9), (rung, 31)]
        self.assertEqual(code, {0x10: ("LDS.128 R4, [R2]", inlined), 0x20: ("@!P0 STS [R0], R4", inlined),
                                0x30: ("BAR.SYNC.DEFER_BLOCKING 0x0", [(tile, 12)])})
        rows = [{"at": 0x10, "inst_executed": 8, "thread_inst_executed_true": 256,
                 "memory_l1_wavefronts_shared": 32},
                {"at": 0x20, "inst_executed": 8, "thread_inst_executed_true": 5,
                 "memory_l1_wavefronts_shared": 6, "memory_l1_wavefronts_shared_ideal": 5},
                {"at": 0x30, "inst_executed": 8, "thread_inst_executed_true": 256}]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / rung
            path.parent.mkdir(parents=True)
            path.write_text("// a rung\n" + "code;\n" * 40, encoding="utf-8")
            sources, code = Sources(folder), list(agreement_raw.placed(rows, code))
            self.assertEqual(agreement_raw.lines_of(code, sources), [
                [rung, 29, "LDS", 16, 0, 8, 8, 256, 0, 32], [rung, 29, "STS", 4, 1, 8, 5, 5, 0, 6],
                [tile, 12, "BAR", 4, 0, 8, 8, 256, 0, 0]])
            digest = CodeLines("code;\n" * 30).digest(29)
            self.assertEqual(agreement_raw.code_of(code, sources), {rung: [29, digest]})

    def test_of_two_versions_of_a_kernel_the_one_that_ran_counts(self):
        other, same = {0x10: ("BAR.SYNC 0x0", [("a.cu", 1)])}, {0x10: ("@P0 LDS R4, [R2]", [("a.cu", 2)])}
        profile = {"name": "kernel", "code": [{"at": 0x10, "sass": "   @P0  LDS R4, [R2+0x0]"}]}
        self.assertIs(agreement_raw.version_that_ran(profile, [other, same]), same)
        self.assertEqual(agreement_raw.version_that_ran(profile, None), {})
        with self.assertRaises(agreement_raw.Fault):
            agreement_raw.version_that_ran(profile, [other])

    def test_generic_accesses_to_shared_memory(self):
        shared = {"inst_executed": 8, "thread_inst_executed_true": 256, "memory_l1_wavefronts_shared": 16}
        both = {**shared, "memory_l2_theoretical_sectors_global": 4}
        code = [("LD.E.128 R4, [R2]", [("a.cu", 1)], shared), ("ST.E R4, [R2]", [("a.cu", 2)], shared),
                ("LD.E R4, [R2]", [("a.cu", 3)], both)]
        with tempfile.TemporaryDirectory() as folder:
            found = agreement_raw.lines_of(code, Sources(folder))
        self.assertEqual([row[2] for row in found], ["LDS", "STS", "LD"])

    def test_predicated_instructions_count_where_a_lane_executes_them(self):
        def count(opcode, width, executed, threads, ideal=0):
            row = {"inst_executed": executed, "thread_inst_executed_true": threads,
                   "memory_l1_wavefronts_shared_ideal": ideal}
            return agreement_raw.with_a_lane(row, opcode, width, True)
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

    def test_the_first_reason_that_matches_counts(self):
        reasons = [("spmv/06_*", "*", "shuffles", "first"), ("spmv/*", "*", "*", "second")]
        for rung, counter, reason in (("spmv/06_merge", "shuffles", "first"), ("spmv/06_merge", "atomics", "second"),
                                      ("other/01", "shuffles", agreement.NO_REASON)):
            row = {"rung": rung, "problem": "1", "kernel": "multiply<int>"}
            self.assertEqual(agreement.reason_of(agreement.Pair(row, counter, 0, 0, 9), reasons), reason)

    def test_an_atomic_that_one_lane_performs_for_all(self):
        atomics, rung = ("/cuda/device_atomic_functions.hpp", 157), ("src/ops/sgemm/rungs/tc_13_x.cu", 31)
        code = [("REDUX.MAX UR4, R12", [("/cuda/sm_80_rt.hpp", 111), rung], 4, 128),
                ("REDUX.MAX UR6, R3", [atomics, rung], 4, 4), ("VOTEU.ANY UR4, UPT, PT", [atomics, rung], 4, 4),
                ("@P0 ATOMS.MAX RZ, [UR4+0x10040], R2", [atomics, rung], 4, 4),
                ("@P0 ATOMS.MIN RZ, [UR4+0x10040], R2", [atomics, rung], 4, 4),
                ("@P1 RED.E.MIN.STRONG.GPU [R2], R3", [rung], 4, 32),
                ("ISETP.EQ.U32.AND P0, PT, R6, 0x3, PT", [rung], 4, 128),
                ("@P0 RED.E.ADD.STRONG.GPU [R2], R3", [rung], 4, 64)]
        rows = [(text, frames, {"inst_executed": executed, "thread_inst_executed_true": threads})
                for text, frames, executed, threads in code]
        lines = agreement_raw.lines_of(rows, Sources("."))
        self.assertEqual([(line[2], line[6]) for line in lines], [("ATOMS", 8), ("RED", 3), ("REDUX", 4)])

    def test_a_launch_that_waits_is_compared_without_its_waiting(self):
        lines = [["a.cu", 3, "LDG", 4, 0, 8, 8, 256, 32, 0], ["a.cu", 9, "LDG.STRONG", 8, 1, 5, 5, 5, 5, 0]]
        row = {"rung": "reduce/07", "problem": "1", "kernel": "reduce", "lines": lines, "flags": [2, 2],
               "counters": [13, 37, 0, 0, 0, 0, 0, 0, 0], "source": [10, 34] + [0] * 12,
               "compiled": [10, 34] + [0] * 12}
        self.assertTrue(all(pair.agrees for pair in agreement.pairs_of(row)))
        lines[0][6] = 9
        self.assertEqual([pair.counter for pair in agreement.pairs_of(row) if not pair.agrees],
                         ["global load requests"])
        lines.append(["a.cu", 11, "ATOMG", 4, 0, 1, 1, 1, 1, 0])  # so the flags are real atomics
        self.assertFalse(agreement.waits(row))


KERNEL = """#include "ops/copy.hpp"

template <int kN>
__global__ void copy(Copy c) {
  tile[threadIdx.x] = c.in[i];
  c.out[i] = tile[threadIdx.x];
}

void predict() { loads = 1; }
"""


class Recording(unittest.TestCase):
    """A recording of one kernel, and a program that counts it: what passes for the recorded version."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.file = Path(folder.name), "src/copy.cu"
        self.path, self.document = self.root / "recording.json", self.root / "agreement.md"
        (self.root / "src").mkdir()
        self.write(KERNEL)
        lines = CodeLines(KERNEL)
        store = lines.place_of(5)
        row = {"rung": "copy/01", "problem": "64", "kernel": "copy<4>", "grid": [2, 1, 1], "block": [32, 1, 1],
               "code": {self.file: [lines.place_of(6), lines.digest(lines.place_of(6))]},
               "counters": [0, 0, 0, 0, 0, 0, 2, 0, 0],
               "lines": [[self.file, store, "STS", 4, 0, 2, 2, 64, 0, 2]]}
        self.path.write_text(agreement.rendered({"recorded": {"gpu": "NVIDIA H100"}}, [row]), encoding="utf-8")
        self.counts = {"rung": "copy/01", "problem": "64", "launches": [{
            "kernel": "void copy<4>(Copy)", "grid": [2, 1, 1], "block": [32, 1, 1], "events": [],
            "accesses": [{"file": self.file, "line": 5, "space": "shared", "kind": "store", "bytes": 4,
                          "requests": 2, "sectors": 0, "wavefronts": 2, "conflicts": 0}]}]}
        (self.root / "reasons.txt").write_text("# None.\n", encoding="utf-8")
        for name, value in (("DOCUMENT", self.document), ("ROOT", self.root), ("run_counts", self.run_counts),
                            ("REASONS", self.root / "reasons.txt")):
            patch = mock.patch.object(agreement, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.widths = None
        self.assertEqual(self.compare(), 0)

    def write(self, text):
        (self.root / self.file).write_text(text, encoding="utf-8")

    def run_counts(self, _program, _gpu, compiled=None):
        self.widths = compiled
        return json.loads(json.dumps([self.counts]))

    def compare(self, *flags):
        self.said = io.StringIO()
        with contextlib.redirect_stdout(self.said), contextlib.redirect_stderr(self.said):
            return agreement.main(["compare", "program", str(self.path), "--sources", str(self.root), *flags])

    def test_the_document_comes_of_the_recording(self):
        self.assertIn("| shared store requests | 1 | 1 | 1 | 1 of 1 |", self.document.read_text(encoding="utf-8"))
        self.assertEqual(self.compare("--check"), 0)
        self.document.write_text("else", encoding="utf-8")
        self.assertEqual(self.compare("--check"), 2)

    def test_an_exception_without_a_reason_breaks_the_check(self):
        self.counts["launches"][0]["accesses"][0]["requests"] = 3
        self.assertEqual(self.compare(), 0)
        self.assertEqual(self.compare("--check"), 2)
        self.assertIn("1 exceptions have no reason in", self.said.getvalue())
        (self.root / "reasons.txt").write_text("copy/*|*|shared store *|nvcc leaves one out.\n", encoding="utf-8")
        self.assertEqual(self.compare(), 0)
        self.assertEqual(self.compare("--check"), 0, self.said.getvalue())

    def test_an_unrelated_edit_breaks_nothing(self):
        for text in ("// A word.\n\n/* And\nmore. */\n" + KERNEL,
                     KERNEL.replace("  tile[", "      tile [ ").replace("c.in[i]", "c.in[ i ]"),
                     KERNEL.replace("loads = 1", "loads = 2")):
            self.write(text)
            line = next(i for i, code in enumerate(text.splitlines(), 1) if "c.in" in code)
            self.counts["launches"][0]["accesses"][0]["line"] = line
            self.assertEqual(self.compare("--check"), 0, self.said.getvalue())
            self.assertEqual(self.said.getvalue(), "")
            self.assertEqual(self.widths, {"copy<4>": [[self.file, line, "shared", "store", 4]]})

    def test_counts_that_move_break_the_check(self):
        for counter in ("requests", "wavefronts"):
            access = self.counts["launches"][0]["accesses"][0]
            access[counter] += 1
            self.assertEqual(self.compare("--check"), 2)
            self.assertIn(f"3 shared store {counter}, recorded are 2", self.said.getvalue())
            access[counter] -= 1

    def test_an_edited_kernel_is_another_version_and_keeps_its_counts(self):
        before = self.document.read_text(encoding="utf-8")
        self.write(KERNEL.replace("c.in[i]", "c.in[i + 1]"))
        self.counts["launches"][0]["accesses"][0]["requests"] = 4
        self.assertEqual(self.compare("--check"), 0)
        self.assertEqual(self.said.getvalue(), "recorded for another version of src/copy.cu: copy/01\n")
        self.assertEqual(self.compare(), 0)
        after = self.document.read_text(encoding="utf-8")
        self.assertIn("The kernel of 1 launch has changed since", after)
        self.assertEqual(before[before.index("| |"):], after[after.index("| |"):])

    def test_other_launches_are_another_version(self):
        self.counts["launches"][0]["grid"] = [4, 1, 1]
        self.assertEqual(self.compare("--check"), 0)
        self.assertEqual(self.said.getvalue(), "recorded for other launches: copy/01\n")
        self.counts["rung"] = "copy/02"
        self.assertEqual(self.compare("--check"), 0)
        self.assertIn("not recorded: copy/02", self.said.getvalue())

    def test_a_rung_that_is_gone_leaves_the_recording(self):
        self.counts["rung"] = "copy/02"
        self.assertEqual(self.compare(), 0)
        self.assertIn("It has 0 launches of 0 rungs", self.document.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
