"""Tests of tools/register_banks.py: hand-assembled words, hand-counted cycles, damaged files."""

import contextlib
import io
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import register_banks as banks  # noqa: E402

RZ = 255
LDS = 0x000E280000000C00_0000000005047984  # LDS.128 R4, [R5]
IADD3_R8_IN_A = 0x000FE20007FFE0FF_0000000108087810  # IADD3 R8, R8, 0x1, RZ
BAR = 0x000FEC0000010000_0000000000007B1D
UNKNOWN = 0x000FE200000000FF_00000000000071FF
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def ffma(a: int, b: int, c: int, reuse: str = "", destination: int = 0, stall: int = 1) -> int:
    word = 0x7223 | destination << 16 | a << 24 | b << 32 | c << 64 | stall << 105
    return word | sum(1 << 122 + "ABC".index(slot) for slot in reuse)


def bra(steps: int) -> int:
    """To the instruction that many further on than the next one."""
    field = 4 * steps & ((1 << 56) - 1)
    return 0x7947 | (field & 255) << 16 | field >> 8 << 34 | 7 << 87


def code(*words: int) -> bytes:
    return b"".join(word.to_bytes(16, "little") for word in words)


def read(*words: int, adjacent: bool = False) -> list[list[int]]:
    """What each instruction reads from the banks."""
    cache = banks.ReuseCache(adjacent)
    return [cache.read(banks.decode(word))[0] for word in words]


class Decoding(unittest.TestCase):
    """Against what NVIDIA's disassembler says of words out of real kernels."""

    def test_ffma_of_registers(self):  # FFMA R14, R37, R34.reuse, R14
        decoded = banks.decode(0x081FE2000000000E_00000022250E7223)
        self.assertEqual((decoded.name, decoded.destination), ("FFMA", 14))
        self.assertEqual(decoded.sources, {"A": 37, "B": 34, "C": 14})
        self.assertEqual((decoded.reuse, decoded.stall), ("B", 1))

    def test_each_reuse_bit(self):
        for reuse in ("", "A", "B", "C", "AB", "AC", "BC", "ABC"):
            self.assertEqual(banks.decode(ffma(1, 2, 3, reuse)).reuse, reuse)

    def test_other_forms_read_fewer_registers(self):
        fields = 2 << 24 | 3 << 32 | 4 << 64 | 7 << 12 | 1 << 16
        for opcode, sources in (
            (0x223, {"A": 2, "B": 3, "C": 4}),
            (0x423, {"A": 2, "B": 4}),  # FFMA R1, R2, R4, immediate
            (0x623, {"A": 2, "B": 4}),  # FFMA R1, R2, R4, c[][]
            (0x823, {"A": 2, "C": 4}),  # FFMA R1, R2, immediate, R4
            (0xA23, {"A": 2, "C": 4}),  # FFMA R1, R2, c[][], R4
            (0xC23, {"A": 2, "C": 4}),  # FFMA R1, R2, UR3, R4
            (0xE23, {"A": 2, "B": 4}),  # FFMA R1, R2, R4, UR3
        ):
            decoded = banks.decode(fields | opcode)
            self.assertEqual((decoded.name, decoded.destination), ("FFMA", 1))
            self.assertEqual(decoded.sources, sources, hex(opcode))

    def test_a_uniform_register_of_a_real_kernel(self):  # FFMA R20, R19, UR6, R20
        decoded = banks.decode(0x024FC60008000014_0000000613147C23)
        self.assertEqual((decoded.sources, decoded.stall), ({"A": 19, "C": 20}, 3))

    def test_branches(self):
        forth = banks.decode(0x000FF60003800000_0000003000E88947, 0x470)
        back = banks.decode(0x000FEA000383FFFF_FFFFFFD400088947, 0x3810)
        self.assertEqual((forth.name, forth.target), ("BRA", 0x3820))
        self.assertEqual((back.name, back.target), ("BRA", 0xC40))
        self.assertEqual(banks.decode(bra(-3), 0x100).target, 0x110 - 0x30)

    def test_names(self):
        names = [banks.decode(word).name for word in (LDS, IADD3_R8_IN_A, BAR, UNKNOWN)]
        self.assertEqual(names, ["LDS", "IADD3", "BAR", "0x1ff"])

    def test_an_incomplete_last_instruction_is_left_out(self):
        self.assertEqual(len(banks.decode_all(code(LDS, BAR) + b"junk")), 2)


class Banks(unittest.TestCase):
    def cycles(self, a, b, c):
        return banks.cycles(read(ffma(a, b, c))[0])

    def test_hand_counted(self):
        for registers, cycles in (
            ((2, 4, 6), 3),
            ((1, 3, 5), 3),
            ((2, 4, 5), 2),
            ((2, 3, 5), 2),
            ((2, 3, RZ), 1),
            ((2, 4, RZ), 2),
            ((2, RZ, RZ), 1),
            ((RZ, RZ, RZ), 1),
            ((2, 2, 3), 1),  # the same register twice is one read
            ((2, 2, 4), 2),
        ):
            self.assertEqual(self.cycles(*registers), cycles, registers)


class Reuse(unittest.TestCase):
    def test_what_is_kept_is_not_read(self):
        reads = read(ffma(2, 4, 5, "A"), ffma(2, 6, 7))
        self.assertEqual(reads, [[2, 4, 5], [6, 7]])
        self.assertEqual([banks.cycles(r) for r in reads], [2, 1])

    def test_without_the_flag_nothing_is_kept(self):
        self.assertEqual(read(ffma(2, 4, 5), ffma(2, 6, 7))[1], [2, 6, 7])

    def test_only_in_its_own_slot(self):
        self.assertEqual(read(ffma(2, 4, 5, "A"), ffma(6, 2, 7))[1], [2, 6, 7])

    def test_it_lasts_as_long_as_each_reader_asks(self):
        reads = read(ffma(2, 4, 5, "A"), ffma(2, 6, 7), ffma(2, 8, 9))
        self.assertEqual(reads[1:], [[6, 7], [2, 8, 9]])

    def test_another_register_of_that_bank_ends_it(self):
        self.assertEqual(read(ffma(2, 4, 5, "A"), ffma(8, 6, 7), ffma(2, 6, 7))[2], [2, 6, 7])

    def test_one_of_the_other_bank_does_not(self):
        words = ffma(2, 4, 5, "A"), ffma(3, 6, 7), ffma(2, 6, 7)
        self.assertEqual(read(*words)[2], [6, 7])
        self.assertEqual(read(*words, adjacent=True)[2], [2, 6, 7])

    def test_a_slot_keeps_one_register_of_each_bank(self):
        words = ffma(37, 34, 14, "B"), ffma(38, 33, 17, "B"), ffma(36, 34, 19), ffma(36, 33, 21)
        self.assertEqual(read(*words)[2:], [[19, 36], [21, 36]])

    def test_math_of_another_kind_ends_it(self):
        self.assertEqual(read(ffma(2, 4, 5, "A"), IADD3_R8_IN_A, ffma(2, 6, 7))[2], [2, 6, 7])
        self.assertEqual(read(ffma(3, 4, 5, "A"), IADD3_R8_IN_A, ffma(3, 6, 7))[2], [6, 7])

    def test_a_load_does_not(self):
        for adjacent in (False, True):
            words = ffma(4, 6, 7, "A"), LDS, ffma(4, 8, 9)
            self.assertEqual(read(*words, adjacent=adjacent)[2], [8, 9])

    def test_a_barrier_a_branch_and_the_unknown_do(self):
        for word in (BAR, bra(0), UNKNOWN):
            self.assertEqual(read(ffma(2, 4, 5, "A"), word, ffma(2, 6, 7))[2], [2, 6, 7])

    def test_the_zero_register_is_never_kept(self):
        self.assertEqual(banks.ReuseCache().read(banks.decode(ffma(RZ, 2, 3, "A"))), ([2, 3], 0))


class Loops(unittest.TestCase):
    def loop(self, *words):
        return banks.main_loop(banks.decode_all(code(*words)))

    def test_none_without_ffmas(self):
        self.assertIsNone(self.loop(LDS, BAR, bra(-3)))

    def test_straight_code_is_taken_from_the_first_to_the_last(self):
        self.assertEqual(self.loop(LDS, ffma(1, 2, 3), BAR, ffma(1, 2, 3), LDS), (1, 3, False))

    def test_a_branch_onto_itself_holds_none(self):
        self.assertEqual(self.loop(ffma(1, 2, 3), bra(-1)), (0, 0, False))

    def test_forward_branches_span_nothing(self):
        self.assertEqual(self.loop(bra(1), ffma(1, 2, 3), LDS), (1, 1, False))

    def test_the_loop_of_most_ffmas(self):
        f = ffma(1, 2, 3)
        self.assertEqual(self.loop(f, bra(-2), LDS, f, f, bra(-4), f, f, f), (2, 5, True))

    def test_the_inner_loop_of_two(self):
        f = ffma(1, 2, 3)
        self.assertEqual(self.loop(f, LDS, f, f, bra(-3), bra(-6)), (2, 4, True))

    def test_a_loop_that_only_waits_stands_inside(self):
        f = ffma(1, 2, 3)
        self.assertEqual(self.loop(f, LDS, bra(-2), f, f, bra(-6)), (0, 5, True))

    def test_branching_back_early_is_the_same_loop(self):
        f = ffma(1, 2, 3)
        self.assertEqual(self.loop(LDS, f, bra(-3), f, bra(-5)), (0, 4, True))


class Statistics(unittest.TestCase):
    def test_hand_counted(self):
        words = (
            ffma(2, 4, 6, "A", stall=2),  # reads 2 4 6: 3 cycles
            LDS,
            ffma(2, 3, 8),  # reads 3 8: 1
            ffma(1, RZ, 3),  # reads 1 3: 2
            BAR,
        )
        s = banks.statistics(banks.decode_all(code(*words)))
        self.assertEqual((s["ffmas"], s["other_instructions"], s["reads_saved"]), (3, 2, 1))
        self.assertEqual(s["others"], {"LDS": 1, "BAR": 1})
        self.assertEqual(s["ffmas_by_reads"], {"0": 0, "1": 0, "2": 2, "3": 1})
        self.assertEqual(s["ffmas_by_cycles"], {"1": 1, "2": 1, "3": 1})
        self.assertEqual(s["bank_reads"], {"even": 4, "odd": 3})
        self.assertEqual((s["ffma_cycles"], s["cycles_per_ffma"]), (4, 4 / 3))
        self.assertEqual((s["waiting_cycles"], s["adjacent_cycles"]), (6, 6))
        self.assertEqual(s["stall_cycles"], 2 + 4 + 1 + 1 + 6)
        self.assertEqual(s["efficiency"], 3 / 6)


def cubin(text: bytes, flags: int = 0x06005A04, abi: int = 0x41, registers: int = 40) -> bytes:
    """The least ELF file that holds a kernel, its table of sections last."""
    names = b"\0.shstrtab\0.nv.info\0.text.kernel\0"
    info = struct.pack("<BBHII", 4, 0x2F, 8, 7, registers) + struct.pack("<BBH", 3, 0x1B, 128)
    at, sections, content = 64, [(0,) * 10], b""
    for name, kind, body, of in ((1, 3, names, 0), (11, 0x70000000, info, 0), (20, 1, text, 7)):
        sections.append((name, kind, 0, 0, at + len(content), len(body), 0, of, 0, 0))
        content += body
    header = b"\x7fELF\x02\x01\x01" + bytes([abi]) + bytes(8)
    header += struct.pack("<HHIQQQI", 2, 190, 1, 0, 0, at + len(content), flags)
    header += struct.pack("<HHHHHH", 64, 56, 0, 64, len(sections), 1)
    return header + content + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)


KERNEL = code(LDS, ffma(2, 4, 6), ffma(1, 2, 3), bra(-4))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, data: bytes, name: str = "a.cubin") -> str:
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def run_main(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = banks.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def assert_fault(self, words: str, *arguments: str, status: int = 2):
        got, out, err = self.run_main(*arguments)
        self.assertEqual((got, out, err.count("\n")), (status, "", 1), err)
        self.assertTrue(err.startswith("register_banks: "), err)
        self.assertIn(words, err)

    def test_a_kernel_is_found_in_it(self):
        kernel, = banks.read_cubin(cubin(KERNEL))
        self.assertEqual(kernel, banks.Kernel("kernel", 40, KERNEL))

    def test_the_older_abi_keeps_the_architecture_elsewhere(self):
        self.assertEqual(len(banks.read_cubin(cubin(KERNEL, flags=0x5A055A, abi=0x33))), 1)
        for flags, abi in ((0x06005004, 0x41), (0x500550, 0x33)):
            with self.assertRaisesRegex(banks.Fault, "sm_80"):
                banks.read_cubin(cubin(KERNEL, flags, abi))

    def test_the_table(self):
        status, out, err = self.run_main(self.write(cubin(KERNEL)))
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines()[2], "| a.cubin | `kernel` | 40 | 2 | 0 | 0 / 1 / 1 | 2.000 "
                         "| 33.3 % | LDS 1, BRA 1 |")

    def test_a_kernel_without_ffmas_has_its_row(self):
        status, out, _ = self.run_main(self.write(cubin(code(LDS, BAR))))
        self.assertEqual((status, out.splitlines()[2]), (0, "| a.cubin | `kernel` | 40 | 0 |  |  |  |  |  |"))

    def test_json(self):
        path, report = self.write(cubin(KERNEL)), str(self.folder / "a.json")
        status, out, _ = self.run_main(path, "--json", "-")
        self.assertEqual(status, 0)
        kernel, = json.loads(out)["kernels"]
        self.assertEqual((kernel["ffma_cycles"], kernel["registers"], kernel["is_loop"]), (4, 40, True))
        self.assertEqual((kernel["first_address"], kernel["last_address"]), (0, 48))
        self.assertIn("| `kernel` |", self.run_main(path, "--json", report)[1])
        self.assertEqual(Path(report).read_text(encoding="utf-8"), out)

    def test_short_names(self):
        long = "void warpladder::sgemm::(anonymous namespace)::multiply<true, 4>(warpladder::Gemm)"
        self.assertEqual(banks.short(long), "multiply<true, 4>")
        self.assertEqual(banks.short("void a::k<(a::E)1, a::T<2> >(a::T<3>)"), "k<(a::E)1, a::T<2> >")
        self.assertEqual(banks.short("a::k(float*, float)"), "k")
        self.assertEqual(banks.short("_Z1kPff"), "_Z1kPff")

    def test_bad_input_is_one_sentence(self):
        good = self.write(cubin(KERNEL))
        self.assert_fault("No such file", str(self.folder / "missing.cubin"))
        self.assert_fault("No such file", str(self.folder / "missing.cu"))
        self.assert_fault("Is a directory", str(self.folder))
        self.assert_fault("it is no ELF file", self.write(b"", "empty"))
        self.assert_fault("it is no ELF file", self.write(b"text\n" * 99, "text"))
        host = cubin(KERNEL)[:18] + b"\x3e" + cubin(KERNEL)[19:]
        self.assert_fault("none of CUDA's", self.write(host, "host"))
        self.assert_fault("sm_80", self.write(cubin(KERNEL, flags=0x06005004), "b"))
        self.assert_fault("no kernel matches 'other'", good, "--kernel", "other")
        self.assert_fault("unterminated", good, "--kernel", "(")
        self.assert_fault("--arch", good, "--arch", "80")
        self.assert_fault("required", "--json", "-")
        self.assert_fault("No such file", good, "--json", str(self.folder / "none" / "a.json"))

    def test_without_a_compiler(self):
        source = self.write(b"", "a.cu")
        with mock.patch.object(banks.shutil, "which", return_value=None):
            self.assert_fault("there is no nvcc", source, status=3)

    def test_cut_short_anywhere(self):
        whole = cubin(KERNEL)
        for size in range(len(whole)):
            with self.assertRaises(banks.Fault, msg=size):
                banks.read_cubin(whole[:size])
        for size in (3, 4, 63, 64, len(whole) - 256, len(whole) - 1):
            self.assert_fault("a.cubin: ", self.write(whole[:size]))

    def test_no_junk_is_a_traceback(self):
        whole = cubin(KERNEL)
        path, faults = self.folder / "a.cubin", 0
        junk = [bytes(8), b"\xff" * 8, b"\x7f" * 8, struct.pack("<Q", len(whole) - 1)]
        dice = random.Random(90)
        damaged = [whole[:at] + j[:size] + whole[at + size :] for size in (1, 2, 4, 8) for j in junk
                   for at in range(0, len(whole) - size + 1, size)]
        for _ in range(2000):
            bytes_ = bytearray(whole)
            for _ in range(dice.randint(1, 12)):
                bytes_[dice.randrange(len(whole))] = dice.randrange(256)
            damaged.append(bytes(bytes_))
        with mock.patch.object(banks, "demangled", lambda symbols: symbols):
            for data in damaged:
                path.write_bytes(data)
                try:
                    banks.examine(path, re.compile(""), None)
                except banks.Fault:
                    faults += 1
        self.assertGreater(faults, 1000)

    def test_junk_code_is_decoded_all_the_same(self):
        dice = random.Random(90)
        for _ in range(50):
            instructions = banks.decode_all(dice.randbytes(4096))
            banks.statistics(instructions)
            banks.main_loop(instructions)

    def test_as_a_program(self):
        tool = str(ROOT / "tools" / "register_banks.py")
        done = subprocess.run([sys.executable, tool, self.write(b"\x7fELF")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))


SOURCE = """
__global__ void dot(const float* a, const float* b, float* c, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i] * c[i + n];
  c[threadIdx.x] = sum;
}
"""


@unittest.skipUnless(NVCC, "nvcc is not installed")
class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.source, cls.cubin = Path(folder.name) / "dot.cu", Path(folder.name) / "dot.cubin"
        cls.source.write_text(SOURCE, encoding="utf-8")
        done = subprocess.run(
            [NVCC, "-cubin", "-gencode=arch=compute_90,code=sm_90", "-std=c++20", "-lineinfo", "-Xptxas=-v",
             "-o", str(cls.cubin), str(cls.source)], capture_output=True, text=True, check=True)
        cls.registers = int(re.search(r"Used (\d+) registers", done.stdout + done.stderr)[1])

    def test_a_source(self):
        found, = banks.examine(self.source, re.compile("dot"), None)
        self.assertEqual(found["registers"], self.registers)
        self.assertTrue(found["is_loop"])
        self.assertGreater(found["ffmas"], 0)
        self.assertGreater(found["others"]["LDG"], 0)
        self.assertEqual(found["others"]["BRA"], 1)

    def test_a_source_that_does_not_compile(self):
        broken = self.source.with_name("broken.cu")
        broken.write_text("__global__ void k() { nothing; }\n", encoding="utf-8")
        with self.assertRaisesRegex(banks.Fault, "nvcc does not compile it: .*error"):
            banks.examine(broken, re.compile(""), None)

    @unittest.skipUnless(shutil.which("nvdisasm") or shutil.which("cuobjdump"),
                         "neither nvdisasm nor cuobjdump is in PATH")
    def test_against_the_disassembler(self):
        command = ["nvdisasm", "-c"] if shutil.which("nvdisasm") else ["cuobjdump", "-sass"]
        done = subprocess.run([*command, str(self.cubin)], capture_output=True, text=True, check=True)
        said = {int(at, 16): text for at, text in
                re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?(.*?) ?;", done.stdout)}
        kernel, = banks.read_cubin(self.cubin.read_bytes())
        instructions = banks.decode_all(kernel.code)
        self.assertEqual(len(said), len(instructions))
        for i, instruction in enumerate(instructions):
            text = said[16 * i]
            self.assertEqual(text.startswith("FFMA"), instruction.name == "FFMA", text)
            if instruction.name == "FFMA":
                self.assertEqual(text.split(None, 1)[1].split(", ")[0], f"R{instruction.destination}")
                reads = re.findall(r"\bR\d+(?:\.reuse)?", text.split(",", 1)[1])
                self.assertEqual(reads, [f"R{r}" + (".reuse" if slot in instruction.reuse else "")
                                         for slot, r in instruction.sources.items()], text)


if __name__ == "__main__":
    unittest.main()
