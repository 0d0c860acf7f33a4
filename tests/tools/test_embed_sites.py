"""Tests of tools/embed_sites.py that need no linked program; the executor's tests use its table."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import embed_sites  # noqa: E402


def function(address, name, *inside):
    return [("function", address, name), *inside]


COUNTED = ("site", 5, "block")


class MixedCall(unittest.TestCase):
    def test_a_counted_kernel_must_not_call_what_reports_nothing(self):
        events = function(0, "kernel", COUNTED, ("call", 9, 64)) + function(64, "helper<int>")
        self.assertIn("kernel calls helper<int>", embed_sites.mixed_call(events))

    def test_nor_a_plain_kernel_what_reports(self):
        events = function(0, "kernel", ("call", 9, 64)) + function(64, "helper<int>", COUNTED)
        self.assertIn("kernel calls helper<int>", embed_sites.mixed_call(events))

    def test_the_same_flavour_and_code_elsewhere_may_be_called(self):
        events = function(0, "kernel", COUNTED, ("call", 9, 64), ("call", 14, 4096))
        events += function(64, "helper<int>", ("site", 70, "block"))
        self.assertIsNone(embed_sites.mixed_call(events))


class MultiplyAdds(unittest.TestCase):
    def test_numbers_of_an_instruction(self):
        for operation, operands, count in (
                ("vfmadd213ss", "%xmm0,%xmm1,%xmm2", 1), ("vfnmsub231sd", "%xmm0,%xmm1,%xmm2", 1),
                ("vfmadd213ps", "%xmm0,%xmm1,%xmm2", 4), ("vfmadd213ps", "%ymm0,%ymm1,%ymm2", 8),
                ("vfmadd213pd", "%ymm0,%ymm1,%ymm2", 4), ("vdivss", "%xmm0,%xmm1,%xmm2", 1),
                ("vdivpd", "%xmm0,%xmm1,%xmm2", 2)):
            found = embed_sites.FMA.match(operation) or embed_sites.DIVISION.match(operation)
            self.assertEqual(embed_sites.numbers_of(found, operands), count, operation)


class Places(unittest.TestCase):
    def test_an_inlined_access_belongs_to_the_kernels_file(self):
        frames = ["/warpladder/src/parts/warp.hpp:10", "/warpladder/src/ops/x/rungs/a.cu:20"]
        self.assertEqual(embed_sites.place_of(frames), frames[1])

    def test_of_two_lines_of_that_file_the_inner_one(self):
        frames = ["/warpladder/a.cu:10", "/warpladder/a.cu:20"]
        self.assertEqual(embed_sites.place_of(frames), frames[0])

    def test_the_assignment_of_a_vector_belongs_to_the_line_that_assigns(self):
        language = "/warpladder/src/executor/cuda_language.hpp:98"
        frames = [language, "/warpladder/src/ops/sgemm/tensor/term.hpp:7", "/warpladder/src/ops/sgemm/tensor/x.hpp:9"]
        self.assertEqual(embed_sites.place_of(frames), frames[1])
        self.assertEqual(embed_sites.place_of([language]), language)

    def test_a_kernel_that_rungs_share_lies_in_a_header_of_the_operator(self):
        frames = ["/warpladder/src/parts/warp.hpp:10", "/warpladder/src/ops/x/rung_shared.hpp:20"]
        self.assertEqual(embed_sites.place_of(frames), frames[1])
        frames.append("/warpladder/src/ops/x/rungs/a.cu:30")
        self.assertEqual(embed_sites.place_of(frames), frames[2])

    def test_without_one_the_innermost(self):
        self.assertEqual(embed_sites.place_of(["/warpladder/a.hpp:1", "b.hpp:2"]), "/warpladder/a.hpp:1")


class Table(unittest.TestCase):
    def test_says_how_much_each_part_has(self):
        parts = [(0, ["kernel 0 f(ä)", "site 9 block 1", "fma 1 3"]), (64, ["kernel 64 g"])]
        table = embed_sites.table_of(200, [("a.cu", 12)], parts)
        self.assertEqual(table, "text 200 1 1\nline a.cu 12\npart 0 38\nkernel 0 f(ä)\nsite 9 block 1\nfma 1 3\n"
                                "part 64 12\nkernel 64 g\n")


class Embedding(unittest.TestCase):
    def test_a_running_program_gets_its_table(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            shutil.copy(shutil.which("sleep"), program)
            running = subprocess.Popen([program, "60"])
            try:
                embed_sites.put_into(str(program), "text 0\n")
                embed_sites.put_into(str(program), "text 4\n")  # replaces the first
            finally:
                running.kill()
                running.wait()
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["program"])
            self.assertTrue(os.access(program, os.X_OK))
            self.assertEqual(subprocess.run([program, "0"]).returncode, 0)
            dump = ["objcopy", "-O", "binary", "--only-section=.warpladder_sites"]
            flags = "--set-section-flags=.warpladder_sites=alloc"
            subprocess.run([*dump, flags, program, program.with_name("table")], check=True)
            self.assertEqual(program.with_name("table").read_text(), "text 4\n")

    def program(self, folder, name, *functions):
        """A program with these functions in the kernels' section, one behind the other."""
        code = "".join(f'{f}: .skip 16\n.type {f}, @function\n.size {f}, 16\n' for f in functions)
        source = Path(folder) / f"{name}.s"
        source.write_text(f'.section {embed_sites.SECTION}, "ax", @progbits\n{code}'
                          ".text\n.globl _start\n_start: nop\n")
        linked = source.with_suffix("")
        subprocess.run(["as", "-o", f"{linked}.o", source], check=True)
        subprocess.run(["ld", "-o", linked, f"{linked}.o"], check=True)
        return str(linked)

    def test_a_table_is_copied_from_a_program_with_the_same_functions_in_front(self):
        rows = [["kernel 0 first", "site 9 block 1"], ["kernel 16 second", "site 25 read4 2"], ["kernel 32 third"]]
        parts = [(16 * i, part) for i, part in enumerate(rows)]
        lines = [("a.cu", 12), ("b.cu", 3)]
        with tempfile.TemporaryDirectory() as folder:
            whole = self.program(folder, "whole", "first", "second", "third")
            front = self.program(folder, "front", "first", "second")
            self.assertIsNone(embed_sites.copied_table(front, *self.kernels(front), whole))  # it has no table
            embed_sites.put_into(whole, embed_sites.table_of(48, lines, parts))
            copied = embed_sites.copied_table(front, *self.kernels(front), whole)
            self.assertEqual(copied, embed_sites.table_of(32, lines, parts[:2]))
            for functions in (("first", "third"), ("first",), ("first", "second", "third", "fourth")):
                other = self.program(folder, "other", *functions)
                has_all = functions == ("first",)
                self.assertEqual(embed_sites.copied_table(other, *self.kernels(other), whole) is not None, has_all)

    def kernels(self, program):
        return embed_sites.section_place(program, embed_sites.SECTION)[:2]


if __name__ == "__main__":
    unittest.main()
