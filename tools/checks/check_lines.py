#!/usr/bin/env python3
"""Rungs, kernels and files stay short, or DECISIONS.md names the file and says why it is long."""

from __future__ import annotations

import re
from pathlib import Path

from common import CODE, blanked, files, line_of, main, read

RUNG, HOPPER_RUNG, KERNEL, FILE = 150, 250, 90, 600
SOURCES = CODE | {".py", ".sh", ".cmake", ".c", ".inc"}


def kernels(text: str):
    """(name, first line, lines) of each __global__ function's body, braces included."""
    # Preprocessor lines may define __global__ itself, or hold an unmatched brace.
    code = re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        lambda m: "\n" * m.group().count("\n"),
        blanked(text),
        flags=re.MULTILINE,
    )
    for start in re.finditer(r"\b__global__\b", code):
        # The last parenthesis at depth 0 opens the parameters; __launch_bounds__ is an earlier one.
        depth, at, parameters = 0, start.end(), start.end()
        while at < len(code) and not (depth == 0 and code[at] in "{;"):
            if depth == 0 and code[at] == "(":
                parameters = at
            depth += (code[at] in "([") - (code[at] in ")]")
            at += 1
        if at == len(code) or code[at] == ";":
            continue  # a declaration
        name = re.search(r"(\w+)\s*$", code[start.end() : parameters])
        first, depth = line_of(code, at), 0
        while at < len(code):
            depth += (code[at] == "{") - (code[at] == "}")
            if depth == 0:
                break
            at += 1
        yield name[1] if name else "?", first, line_of(code, at) - first + 1


def offences(root: Path):
    record = root / "DECISIONS.md"
    decisions = record.read_text(encoding="utf-8") if record.is_file() else ""
    for path in files(root):
        name = Path(path).name
        if Path(path).suffix not in SOURCES and name not in ("CMakeLists.txt", "Makefile"):
            continue
        # A longer path that merely contains this one is another file.
        if re.search(r"(?<![\w/.-])" + re.escape(path) + r"(?![\w/])(?!\.\w)", decisions):
            continue
        text = read(root / path) or ""
        lines = len(text.splitlines())
        budget, what = FILE, "a source file"
        if re.fullmatch(r"src/ops/[^/]+/rungs/[^/]+\.cu", path):
            budget, what = RUNG, "a rung"
            if name.endswith(".sm90a.cu"):
                budget, what = HOPPER_RUNG, "a Hopper rung"
        if lines > budget:
            sentence = f"{lines} lines; {what} has {budget}, or an entry in DECISIONS.md"
            yield path, budget + 1, sentence
        if Path(path).suffix in CODE:
            for kernel, first, length in kernels(text):
                if length > KERNEL:
                    sentence = f"the kernel {kernel} has {length} lines; {KERNEL} is the budget"
                    yield path, first, sentence


if __name__ == "__main__":
    main(offences)
