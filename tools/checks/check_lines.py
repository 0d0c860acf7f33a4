#!/usr/bin/env python3
"""Files, kernels and device functions stay short, or DECISIONS.md says why a file is long."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from common import CODE, blanked, files, line_of, main, read

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from code_lines import CodeLines  # noqa: E402

RUNG, HOPPER_RUNG, TENSOR_CODE, FILE = 150, 190, 100, 600
FUNCTIONS = {"__global__": (90, "kernel"), "__device__": (60, "device function")}
SOURCES = CODE | {".py", ".sh", ".cmake", ".c", ".inc"}


def closing_brace(code: str, at: int) -> int:
    """The offset of the brace that closes the one at `at`, or the last offset of the code."""
    depth = 0
    while at < len(code) - 1:
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0:
            break
        at += 1
    return at


def head_of(code: str, start: int) -> tuple[str, int] | None:
    """(name, offset of the body's brace) of the function whose specifier ends at `start`. None for
    a declaration or a variable."""
    depth, at, parameters, in_initialisers = 0, start, None, False
    while at < len(code):
        char = code[at]
        if depth == 0 and char == ";":
            return None
        if depth == 0 and char == "{":
            # Behind a member's name the brace holds the member's initial value.
            if not (in_initialisers and re.search(r"[\w>]\s*\Z", code[start:at])):
                break
            at = closing_brace(code, at)
        elif depth == 0 and char == "(" and not in_initialisers:
            # The last one opens the parameters, but for what may follow them; __launch_bounds__ is
            # an earlier one.
            if not re.search(r"\b(decltype|requires|noexcept)\s*\Z", code[start:at]):
                parameters = at
        elif depth == 0 and char == ":" and ":" not in code[at - 1] + code[at + 1 : at + 2]:
            in_initialisers = True
        depth += (char in "([") - (char in ")]")
        at += 1
    if at == len(code) or parameters is None:
        return None
    name = re.search(r"(operator\W+|\w+)\s*\Z", code[start:parameters])
    return (name[1].strip() if name else "?"), at


def functions(text: str):
    """(specifier, name, first line, lines) of each kernel's and each device function's body, braces
    included."""
    # Preprocessor lines may define __global__ itself, or hold an unmatched brace.
    code = re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
        lambda m: "\n" * m.group().count("\n"),
        blanked(text),
        flags=re.MULTILINE,
    )
    for start in re.finditer(r"\b(?:__global__|__device__)\b", code):
        head = head_of(code, start.end())
        if head is None:
            continue
        name, opening = head
        first = line_of(code, opening)
        yield start.group(), name, first, line_of(code, closing_brace(code, opening)) - first + 1


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
            if name.startswith("tc_"):
                code = len(CodeLines(text).codes)
                if code > TENSOR_CODE:
                    sentence = f"{code} lines of code; a rung on tensor cores has {TENSOR_CODE}"
                    yield path, 1, sentence
        if lines > budget:
            sentence = f"{lines} lines; {what} has {budget}, or an entry in DECISIONS.md"
            yield path, budget + 1, sentence
        if Path(path).suffix not in CODE:
            continue
        for specifier, function, first, length in functions(text):
            budget, kind = FUNCTIONS[specifier]
            if length > budget:
                sentence = f"the {kind} {function} has {length} lines; {budget} is the budget"
                yield path, first, sentence


if __name__ == "__main__":
    main(offences)
