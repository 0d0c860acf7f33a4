#!/usr/bin/env python3
"""Puts the table of kernel source lines into a linked program (read by site_table.cpp).

For each call of an executor hook in the kernels' section: its return address, what it reports and
the source line; for each basic block of the counted flavour: its fused multiply-adds by line.
Usage: embed_sites.py PROGRAM [--like OTHER]

OTHER is a finished program with the same kernels, and maybe others behind them. Where each function has
the same place in both, the table is copied from it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SECTION = "warpladder_kernels"
TABLE = ".warpladder_sites"
HOOK = re.compile(
    r"<(?:__tsan_(?:unaligned_|volatile_)?(?P<memory>(?:read|write)(?:\d+|_range)|vptr_update)"
    r"|(?P<block>__sanitizer_cov_trace_pc)|simt_(?P<simt>\w+))(?:@plt)?>"
)
OWN_FILES = (re.compile(r"\.cu:\d"), re.compile(r"/rung_\w+\.hpp:\d"))  # some rungs share a kernel
LANGUAGE = "/src/executor/"
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
CALLED = re.compile(r"[0-9a-f]+ <")
FMA = re.compile(r"^vfn?m(?:add|sub)\d+(?P<form>[sp])(?P<type>[sd])$")
# A GPU divides by multiply-adds, from an estimate of the reciprocal on: so many are in nvcc's code.
DIVISION = re.compile(r"^vdiv(?P<form>[sp])(?P<type>[sd])$")
FMAS_OF_DIVISION = {"s": 5, "d": 8}
QUERIES = (
    "cp_async_commit",
    "cp_async_wait",
    "cluster_rank",
    "shared_address",
    "wgmma_commit",
)
BUILT_AS = "/warpladder/"  # what -ffile-prefix-map makes of the source folder


def instructions_of_interest(program):
    """Rows of the disassembly: functions, calls with what follows them, and FMAs; a few others.

    grep drops most of millions of rows, which would take Python ten seconds.
    """
    disassembler = subprocess.Popen(
        ["objdump", "-d", "--no-show-raw-insn", "-j", SECTION, program], stdout=subprocess.PIPE
    )
    filtered = subprocess.Popen(
        ["grep", "-E", "-A1", "--no-group-separator", ">:$|\t(call|vf|vdiv)"],
        stdin=disassembler.stdout,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    disassembler.stdout.close()
    yield from filtered.stdout
    for process, worst in ((filtered, 1), (disassembler, 0)):  # 1: grep found nothing
        if process.wait() > worst:
            sys.exit(f"{program}: {process.args[0]} failed")


def disassemble(program):
    """Yields ('function', address, name), ('site', address, what), ('fma', address, numbers),
    ('division', address, multiply-adds) and ('call', address, the address called)."""
    pending, hooks = None, {}
    for row in instructions_of_interest(program):
        place, colon, code = row.partition(":\t")
        if not colon:
            function = FUNCTION.match(row)
            if function:
                yield "function", int(function[1], 16), function[2]
            continue
        operation, _, operands = code.partition(" ")
        if pending:  # a call's return address is the address of what follows it
            yield "site", int(place, 16), pending
            pending = None
        if operation == "call":
            operands = operands.strip()
            if operands not in hooks:
                hooks[operands] = hook_of(operands)
            pending = hooks[operands]
            if pending is None and CALLED.match(operands):
                yield "call", int(place, 16), int(operands.split()[0], 16)
        elif operation.startswith("v"):
            if fma := FMA.match(operation):
                yield "fma", int(place, 16), numbers_of(fma, operands)
            elif division := DIVISION.match(operation):
                times = FMAS_OF_DIVISION[division["type"]]
                yield "division", int(place, 16), numbers_of(division, operands) * times


def hook_of(operands):
    """What a call reports: '' if it is a hook that reports nothing, None if it is none."""
    hook = HOOK.search(operands)
    if not hook:
        return None
    what = hook["memory"] or hook["simt"] or "block"
    return "" if what in QUERIES else what


def numbers_of(operation, operands):
    """How many numbers an instruction works on."""
    if operation["form"] == "s":
        return 1
    return (32 if "%ymm" in operands else 16) // (4 if operation["type"] == "s" else 8)


def demangled(names):
    """{mangled: as in the source}, of the functions' names. objdump takes a third longer to say all calls' names so."""
    names = list(names)
    said = subprocess.run(["c++filt"], check=True, text=True, input="\n".join(names) + "\n", stdout=subprocess.PIPE).stdout
    return dict(zip(names, said.splitlines(), strict=True))


def mixed_call(events):
    """The first call from one flavour into another, as a sentence; None if there is none.

    The linker keeps one copy of a template that several flavours instantiate. If a counted kernel
    called a copy that reports nothing, its accesses would be missing from the counts.
    """
    names, counted, calls, current = {}, set(), [], None
    for kind, address, what in events:
        if kind == "function":
            current = address
            names[address] = what
        elif kind == "site" and what == "block":
            counted.add(current)
        elif kind == "call":
            calls.append((current, what))
    for caller, callee in calls:
        if callee in names and (caller in counted) != (callee in counted):
            return (f"{names[caller]} calls {names[callee]}, which another flavour instantiated; make "
                    "it __forceinline__ or move it into the flavour's namespace")
    return None


def place_of(frames):
    """Of an inlined chain, innermost first: the place in the kernel's own file, else the innermost that is not of
    the language that the executor provides, such as the assignment of a float4."""
    own = (f for own_file in OWN_FILES for f in frames if own_file.search(f))
    others = (f for f in frames if LANGUAGE not in f)
    return next(own, next(others, frames[0]))


def source_lines(program, addresses):
    """The source line of each address."""
    with tempfile.TemporaryFile("w+") as asked:
        asked.writelines(f"{a:#x}\n" for a in sorted(addresses))
        asked.seek(0)
        output = subprocess.run(
            ["addr2line", "-a", "-i", "-e", program],
            check=True,
            text=True,
            stdin=asked,
            stdout=subprocess.PIPE,
        ).stdout
    lines, known = {}, {}
    for entry in ("\n" + output.rstrip("\n")).split("\n0x")[1:]:
        address, _, chain = entry.partition("\n")
        if chain not in known:  # many addresses have the same
            known[chain] = file_and_line(place_of(chain.split("\n")))
        lines[int(address, 16)] = known[chain]
    return lines


def file_and_line(place):
    """Of FILE:LINE, as addr2line writes it."""
    file, _, number = re.sub(r" \(discriminator \d+\)", "", place).rpartition(":")
    file = os.path.normpath(file).removeprefix(BUILT_AS).replace(" ", "_")
    return file, int(number) if number.isdigit() else 0


def section_place(program, section):
    """The address, the size and the place in the file of a section; None if there is none."""
    headers = subprocess.run(
        ["objdump", "-h", "-w", program], check=True, capture_output=True, text=True
    ).stdout
    for row in headers.splitlines():
        fields = row.split()
        if len(fields) > 5 and fields[1] == section:
            return int(fields[3], 16), int(fields[2], 16), int(fields[5], 16)
    return None


def functions_of(program, begin, size):
    """Of each function in a section: its offset, size and name."""
    symbols = subprocess.run(["nm", "-S", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = set()
    for row in symbols.splitlines():
        fields = row.split()
        if len(fields) == 4 and begin <= int(fields[0], 16) < begin + size:
            found.add((int(fields[0], 16) - begin, fields[1], fields[3]))
    return found


def copied_table(program, begin, size, other):
    """The table of a program as the other one has it; None where their functions lie elsewhere."""
    kernels, table = section_place(other, SECTION), section_place(other, TABLE)
    if kernels is None or table is None or kernels[1] < size:
        return None
    if functions_of(program, begin, size) != functions_of(other, kernels[0], size):
        return None
    with open(other, "rb") as file:
        file.seek(table[2])
        text = file.read(table[1])
    lines, parts = [], []
    at = text.index(b"\n") + 1  # behind the row of sums
    while at < len(text):
        end = text.index(b"\n", at)
        kind, first, second = text[at:end].split(b" ")
        if kind == b"line":
            lines.append((first.decode(), int(second)))
            at = end + 1
            continue
        at = end + 1 + int(second)
        if int(first) < size:
            parts.append((int(first), text[end + 1 : at].decode().splitlines()))
    return table_of(size, lines, parts)


def main(program, other=None):
    place = section_place(program, SECTION)
    if place is None:
        sys.exit(f"{program}: has no section {SECTION}")
    begin, size, _ = place
    table = copied_table(program, begin, size, other) if other else None
    put_into(program, table or made_table(program, begin, size))


def made_table(program, begin, size):
    """The table's text, from the program's disassembly and its debug information."""
    events = list(disassemble(program))
    names = demangled({what for kind, _, what in events if kind == "function"})
    events = [(kind, a, names[what] if kind == "function" else what) for kind, a, what in events]
    mixed = mixed_call(events)
    if mixed:
        sys.exit(f"{program}: {mixed}")
    asked = {a - 1 for kind, a, _ in events if kind == "site"}
    asked |= {a for kind, a, _ in events if kind in ("fma", "division")}
    lines = source_lines(program, asked)
    number = {}
    parts, block_fmas = [], {}  # a part: the offset of a function, and its rows

    def line_id(address):
        return number.setdefault(lines.get(address, ("unknown", 0)), len(number) + 1)

    # A basic block ends where the next one's report is called, so its FMAs are those in between.
    rows, pending_sites, in_block = [], [], False
    for kind, address, what in events:
        if kind == "function":
            flush_fmas_into(rows, block_fmas, pending_sites)
            in_block = False
            rows = [f"kernel {address - begin} {what}"]
            parts.append((address - begin, rows))
        elif kind == "site" and what == "block":
            flush_fmas_into(rows, block_fmas, pending_sites)
            rows.append(f"site {address - begin} block {line_id(address - 1)}")
            in_block = True
        elif kind == "site":
            pending_sites.append(f"site {address - begin} {what} {line_id(address - 1)}")
        elif kind in ("fma", "division") and in_block:
            key = (kind, line_id(address))
            block_fmas[key] = block_fmas.get(key, 0) + what
    flush_fmas_into(rows, block_fmas, pending_sites)
    return table_of(size, number, parts)


def table_of(size, lines, parts):
    """The table's text, of lines (FILE, NUMBER) and of parts (OFFSET, rows)."""
    rows = [row for _, rows in parts for row in rows]
    sites = sum(row.startswith("site ") for row in rows)
    fmas = sum(row.startswith(("fma ", "division ")) for row in rows)
    table = [f"text {size} {sites} {fmas}\n"] + [f"line {file} {line}\n" for file, line in lines]
    for offset, rows in parts:
        text = "".join(f"{row}\n" for row in rows)
        table.append(f"part {offset} {len(text.encode())}\n{text}")
    return "".join(table)


def put_into(program, table):
    """Makes the table a section of a copy, which then takes the program's place: it may be running."""
    with tempfile.NamedTemporaryFile("w", suffix=".sites") as file:
        file.write(table)
        file.flush()
        section = f"{TABLE}={file.name}"
        copy = f"{program}.{os.getpid()}.tmp"
        command = ["objcopy", "--remove-section", TABLE, "--add-section", section]
        try:
            subprocess.run([*command, program, copy], check=True)
            shutil.copymode(program, copy)
            os.replace(copy, program)
        finally:
            if os.path.exists(copy):
                os.unlink(copy)


def flush_fmas_into(rows, block_fmas, pending_sites):
    """Writes a block's FMAs right behind its site, then the other sites found meanwhile."""
    rows += [f"{kind} {line} {count}" for (kind, line), count in sorted(block_fmas.items())]
    rows += pending_sites
    block_fmas.clear()
    pending_sites.clear()


if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
    elif len(sys.argv) not in (2, 4) or sys.argv[2:3] not in ([], ["--like"]) or not os.path.isfile(sys.argv[1]):
        sys.exit(next(row for row in __doc__.splitlines() if row.startswith("Usage: ")))
    else:
        main(sys.argv[1], *sys.argv[3:])
