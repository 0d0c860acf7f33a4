#!/usr/bin/env python3
"""Models register-bank conflicts of FFMA on Hopper: register_banks.py FILE... [--kernel REGEX]

FILE is a cubin, or a .cu source, which nvcc compiles with the build's flags. Each kernel's main loop
is read from its machine code; printed is a Markdown table, or with --json - all numbers.

The model (NVIDIA publishes none; this is what sm_90 was observed to do, no promise):
 * Registers lie in two banks by the parity of their number; a bank serves one read a cycle and works
   ahead of the issue. So the FFMAs of a loop take as many cycles as there are FFMAs, or reads of the
   even bank, or reads of the odd bank, whichever is most; any other instruction takes one.
   benchmarks/register_order tests that: loops of FFMAs alone, allocated freely, ran within 3 % of
   it. If each FFMA waited for its own reads, max(1, even, odd), that would be `waiting_cycles`; two
   of those loops ran in well under them.
 * RZ, immediates, constants and uniform registers are no reads. A register that fills two operands
   of one FFMA is read once: an assumption, not measured.
 * Each operand slot (A, B, C) keeps one register per bank: the last one read there, if the reader
   carried .reuse for that slot. Finding its operand kept in its slot, an instruction reads no bank.
   So another register of the same bank in the same slot ends the reuse; one of the other bank does
   not, nor do loads, stores and uniform instructions. Branches, barriers and what this file does
   not know end it all. ptxas places its flags by this rule; if only the very next math instruction
   could reuse, FFMAs that wait would take `adjacent_cycles`.
 * Other warps, latencies and instruction fetch are left out. Each instruction of the loop counts
   once, also where a forward branch may skip it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RZ = 255
# The low nine bits of the opcode say what an instruction does, the next three how it takes its
# operands. By the slots whose registers are read by way of the reuse cache; "-" leaves the cache
# alone, "" ends all reuse, as does what is not listed.
KINDS = {int(code, 16): (name, slots) for slots, kinds in {
    "ABC": "IADD3 010, LEA 011, LOP3 012, PRMT 016, SHF 019, FFMA 023, IMAD 024, IMAD 025, IMAD 027, "
           "HFMA2 031, HFMA2 035",
    "AB": "P2R 003, SEL 007, FSEL 008, FMNMX 009, FSETP 00b, ISETP 00c, FMUL 020, VIADD 036, VIMNMX 048",
    "B": "MOV 002",
    "-": "CS2R 005, PLOP3 01c, UMOV 082, UISETP 08c, UIADD3 090, ULEA 091, ULOP3 092, USHF 099, "
         "UIMAD 0a4, UIMAD 0a5, USEL 087, ULDC 0b9, NOP 118, S2R 119, LD 180, LDG 181, LDC 182, LDL 183, "
         "LDS 184, ST 185, STG 186, STL 187, STS 188, LDGSTS 1ae, UTMALDG 1b4, S2UR 1c3",
    "": "IABS 013, FADD 021, ELECT 02f, R2UR 0ca, F2I 105, I2F 106, MUFU 108, BAR 11d, BSYNC 141, "
        "CALL 144, BSSY 145, YIELD 146, BRA 147, WARPSYNC 148, EXIT 14d, RET 150, SHFL 189, "
        "MEMBAR 192, SYNCS 1a7, SYNCS 1b2",
}.items() for name, code in map(str.split, kinds.split(","))}
# Where the registers of slots A, B, C stand, by form: all three are registers; B is something else;
# C is something else, and B's register stands in C's place.
FORMS = {1: {"A": 24, "B": 32, "C": 64}, **dict.fromkeys((4, 5, 6), {"A": 24, "C": 64}),
         **dict.fromkeys((2, 3, 7), {"A": 24, "B": 64})}


class Fault(Exception):
    """What is wrong, in one sentence."""

    status = 2  # the program's


class MissingCompiler(Fault):
    status = 3


class Kernel(NamedTuple):
    symbol: str
    registers: int | None  # allocated per thread; None where the file does not say
    code: bytes


class Instruction(NamedTuple):
    name: str  # the mnemonic's class; the opcode in hexadecimal if unknown
    destination: int
    sources: dict[str, int]  # slot to register; what is no general register is left out
    reuse: str  # the slots that carry .reuse
    stall: int
    target: int | None  # the address that a BRA names
    ends_reuse: bool


def bits(word: int, at: int, count: int) -> int:
    return word >> at & ((1 << count) - 1)


def decode(word: int, address: int = 0) -> Instruction:
    """One 128-bit instruction of sm_90."""
    name, slots = KINDS.get(bits(word, 0, 9), (hex(bits(word, 0, 12)), ""))
    sources = {slot: bits(word, at, 8) for slot, at in FORMS.get(bits(word, 9, 3), {}).items()
               if slot in slots and bits(word, at, 8) != RZ}
    target = None
    if name == "BRA":  # 56 bits in two pieces: signed steps of 4 bytes from the next instruction
        steps = bits(word, 34, 48) << 8 | bits(word, 16, 8)
        target = address + 16 + 4 * (steps - (steps >> 55 << 56))
    reuse = "".join(slot for i, slot in enumerate("ABC") if slots != "-" and bits(word, 122 + i, 1))
    return Instruction(name, bits(word, 16, 8), sources, reuse, bits(word, 105, 4), target, not slots)


def decode_all(code: bytes) -> list[Instruction]:
    return [decode(int.from_bytes(code[at : at + 16], "little"), at) for at in range(0, len(code) - 15, 16)]


class ReuseCache:
    """What the operand slots keep; with `adjacent`, for the next math instruction only."""

    def __init__(self, adjacent: bool = False):
        self.adjacent = adjacent
        self.kept: dict[tuple[str, int], int] = {}

    def read(self, instruction: Instruction) -> tuple[list[int], int]:
        """The registers that this instruction reads from the banks; how many operands were kept."""
        if instruction.ends_reuse:
            self.kept.clear()
        reads, saved, fresh = set(), 0, {}
        for slot, register in instruction.sources.items():
            if self.kept.pop((slot, register % 2), None) == register:
                saved += 1
            else:
                reads.add(register)
            if slot in instruction.reuse:
                fresh[slot, register % 2] = register
        if self.adjacent and instruction.sources:
            self.kept.clear()
        self.kept.update(fresh)
        return sorted(reads), saved


def cycles(reads: list[int]) -> int:
    odd = sum(register % 2 for register in reads)
    return max(1, odd, len(reads) - odd)


def main_loop(instructions: list[Instruction]) -> tuple[int, int, bool] | None:
    """(first, last, is it a loop) of the code that matters; None without FFMAs.

    A backward BRA spans a loop. Each FFMA belongs to the smallest loop around it; the main loop is
    the one to which most belong, so that a loop that only waits may stand inside it. Without such a
    loop it is the code from the first FFMA to the last.
    """
    ffmas = [i for i, instruction in enumerate(instructions) if instruction.name == "FFMA"]
    if not ffmas:
        return None
    ends: dict[int, int] = {}  # by the loop's first instruction; `continue` branches back as well
    for i, instruction in enumerate(instructions):
        if instruction.target is not None and 0 <= instruction.target <= 16 * i:
            ends[instruction.target // 16] = i
    owned: Counter[tuple[int, int]] = Counter()
    for i in ffmas:
        around = [(end - start, start, end) for start, end in ends.items() if start <= i <= end]
        if around:
            owned[min(around)[1:]] += 1
    if not owned:
        return ffmas[0], ffmas[-1], False
    start, end = max(owned, key=lambda loop: (owned[loop], -loop[0]))
    return start, end, True


def statistics(instructions: list[Instruction]) -> dict:
    """The model's numbers of a straight run of instructions, each counted once."""
    cache, strict = ReuseCache(), ReuseCache(adjacent=True)
    reads_of, cycles_of, others, banks = Counter(), Counter(), Counter(), Counter()
    saved = adjacent = 0
    for instruction in instructions:
        reads, kept = cache.read(instruction)
        strict_reads, _ = strict.read(instruction)
        if instruction.name != "FFMA":
            others[instruction.name] += 1
            continue
        reads_of[len(reads)] += 1
        cycles_of[cycles(reads)] += 1
        banks.update("odd" if register % 2 else "even" for register in reads)
        saved += kept
        adjacent += cycles(strict_reads)
    ffmas, other = sum(cycles_of.values()), sum(others.values())
    total = max(ffmas, banks["even"], banks["odd"])
    return {
        "ffmas": ffmas, "others": dict(others.most_common()), "other_instructions": other,
        "reads_saved": saved, "bank_reads": {bank: banks[bank] for bank in ("even", "odd")},
        "ffmas_by_reads": {str(n): reads_of[n] for n in range(4)},
        "ffmas_by_cycles": {str(n): cycles_of[n] for n in range(1, 4)},
        "ffma_cycles": total, "cycles_per_ffma": total / ffmas if ffmas else None,
        "waiting_cycles": sum(count * each for each, count in cycles_of.items()),
        "adjacent_cycles": adjacent,
        "stall_cycles": sum(instruction.stall for instruction in instructions),
        "efficiency": ffmas / (total + other) if ffmas else None,
    }


def cut(data: bytes, at: int, size: int, what: str) -> bytes:
    if at + size > len(data):
        raise Fault(f"{what} ends before it should: the file is cut short or damaged")
    return data[at : at + size]


def text_at(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    if at >= len(table) or end < 0:
        raise Fault("a section's name lies outside the table of names: the file is damaged")
    return table[at:end].decode("utf-8", "replace")


def register_counts(info: bytes) -> dict[int, int]:
    """Symbol to registers per thread, out of .nv.info: (format, attribute, size or value), payload."""
    counts, at = {}, 0
    while at + 4 <= len(info):
        kind, attribute, size = struct.unpack_from("<BBH", info, at)
        if (kind, attribute, size) == (4, 0x2F, 8):  # EIATTR_REGCOUNT
            counts.update([struct.unpack("<II", cut(info, at + 4, 8, ".nv.info"))])
        at += 4 + (size if kind == 4 else 0)  # only format 4 has a payload
    return counts


def read_cubin(data: bytes) -> list[Kernel]:
    """The kernels of an ELF file of sm_90."""
    if data[:4] != b"\x7fELF":
        raise Fault("it is no ELF file")
    header = cut(data, 0, 64, "the ELF header")
    machine, table, flags, entry, count, names_index = struct.unpack("<18xH20xQI6xHHH", header)
    if header[4:6] != b"\x02\x01" or machine != 190:
        raise Fault("it is an ELF file, but none of CUDA's (64 bits, machine 190)")
    # CUDA 13 moved the architecture up by a byte, and changed the ABI's number to say so.
    architecture = bits(flags, 8 if header[7] == 0x41 else 0, 8)
    if architecture != 90:
        raise Fault(f"it holds code of sm_{architecture}, and the model is of sm_90")
    if entry != 64 or names_index >= count:
        raise Fault("its table of sections makes no sense: the file is damaged")
    sections = [struct.unpack("<IIQQQQIIQQ", cut(data, table + 64 * i, 64, "the table of sections"))
                for i in range(count)]

    def body(section: tuple) -> bytes:
        return cut(data, section[4], section[5], "a section")

    names = body(sections[names_index])
    named = [(text_at(names, section[0]), section) for section in sections]
    counts = register_counts(b"".join(body(of) for name, of in named if name == ".nv.info"))
    # A kernel's section says in sh_info which symbol is the kernel.
    kernels = [Kernel(name[6:], counts.get(section[7] & 0xFFFFFF), body(section))
               for name, section in named if name.startswith(".text.") and section[1] == 1]
    if not kernels:
        raise Fault("it holds no kernel")
    return kernels


def compile_source(source: Path, architecture: str | None) -> bytes:
    """nvcc's cubin of a source, with the flags of the build."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        raise MissingCompiler("there is no nvcc in PATH or /usr/local/cuda/bin to compile it")
    architecture = architecture or ("90a" if source.name.endswith(".sm90a.cu") else "90")
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernels.cubin"
        done = subprocess.run(
            [nvcc, "-cubin", f"-gencode=arch=compute_{architecture},code=sm_{architecture}",
             "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-lineinfo",
             "-DWARPLADDER_FLAVOUR=gpu", f"-I{ROOT / 'src'}", "-o", str(cubin), str(source)],
            capture_output=True, text=True)
        if done.returncode or not cubin.is_file():
            said = re.findall(r".*\b(?:error|fatal)\b.*", done.stderr + done.stdout)
            raise Fault(f"nvcc does not compile it: {said[0] if said else 'it gives no reason'}")
        return cubin.read_bytes()


def demangled(symbols: list[str]) -> list[str]:
    program = shutil.which("c++filt")
    if not program or not symbols:
        return symbols
    done = subprocess.run([program], input="\n".join(symbols), capture_output=True, text=True)
    names = done.stdout.splitlines()
    return names if len(names) == len(symbols) else symbols


def short(name: str) -> str:
    """A demangled name without return type, namespaces and parameters."""
    name = re.sub(r"\(anonymous namespace\)::|^void ", "", name)
    return re.sub(r"^(?:\w+::)*(\w+(?:<.*>(?=\())?).*", r"\1", name)


def examine(path: Path, pattern: re.Pattern, architecture: str | None) -> list[dict]:
    """What is to be said of each kernel of a file whose name or symbol matches."""
    try:
        data = path.read_bytes()
        if path.suffix == ".cu":
            data = compile_source(path, architecture)
        kernels = read_cubin(data)
    except Fault as fault:
        raise type(fault)(f"{path}: {fault}") from fault
    found = []
    for kernel, name in zip(kernels, demangled([kernel.symbol for kernel in kernels])):
        if not pattern.search(name) and not pattern.search(kernel.symbol):
            continue
        instructions = decode_all(kernel.code)
        loop = main_loop(instructions)
        first, last, is_loop = loop or (0, -1, False)
        found.append({
            "file": str(path), "kernel": name, "symbol": kernel.symbol,
            "registers": kernel.registers, "is_loop": is_loop,
            "first_address": 16 * first if loop else None, "last_address": 16 * last if loop else None,
            **statistics(instructions[first : last + 1])})
    return found


def markdown(found: list[dict]) -> str:
    lines = ["| file | kernel | registers | FFMAs | reads saved | FFMAs by reads of one bank: 1 / 2 / 3 | "
             "cycles per FFMA | issue efficiency | other instructions |",
             "| :-- | :-- |" + " --: |" * 6 + " :-- |"]
    for k in found:
        cells = [Path(k["file"]).name, f"`{short(k['kernel'])}`", str(k["registers"] or "?"), "0"]
        if k["ffmas"]:
            others = ", ".join(f"{name} {count}" for name, count in k["others"].items())
            cells[3:] = [str(k["ffmas"]) + ("" if k["is_loop"] else " (no loop)"),
                         str(k["reads_saved"]), " / ".join(map(str, k["ffmas_by_cycles"].values())),
                         f"{k['cycles_per_ffma']:.3f}", f"{100 * k['efficiency']:.1f} %", others]
        lines.append("| " + " | ".join(cells + [""] * (9 - len(cells))) + " |")
    return "\n".join(lines) + "\n"


def refuse(message: str):
    raise Fault(message)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.error = refuse
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--kernel", metavar="REGEX", default="", help="only kernels it is found in")
    parser.add_argument("--arch", choices=["90", "90a"],
                        help="what nvcc compiles for; by default 90a for .sm90a.cu, else 90")
    parser.add_argument("--json", metavar="FILE", help="all numbers; - instead of the table")
    try:
        given = parser.parse_args(arguments)
        pattern = re.compile(given.kernel)
        found = [k for path in given.files for k in examine(path, pattern, given.arch)]
        if not found:
            raise Fault(f"no kernel matches {given.kernel!r}")
        text = json.dumps({"kernels": found}, indent=2) + "\n"
        if given.json and given.json != "-":
            Path(given.json).write_text(text, encoding="utf-8")
    except (Fault, OSError, re.error) as fault:
        print(f"register_banks: {fault}", file=sys.stderr)
        return getattr(fault, "status", 2)
    sys.stdout.write(text if given.json == "-" else markdown(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
