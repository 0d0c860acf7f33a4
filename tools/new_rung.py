#!/usr/bin/env python3
"""Starts a rung: tools/new_rung.py OP STEM "the one idea". Writes src/ops/OP/rungs/STEM.cu.

The new rung holds a simple, correct kernel from the operator's template, src/ops/OP/lab/rung.cu.template,
or with --from the kernel of another rung. So every later step can be verified.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def templates(*roots: Path) -> dict[str, Path]:
    """The rung template of each operator below these roots; the last root wins."""
    found = {}
    for root in roots:
        for path in root.glob("src/ops/*/lab/rung.cu.template"):
            found[path.parents[1].name] = path
    return dict(sorted(found.items()))


def text_fault(what: str, text: str) -> str | None:
    """Why this text cannot be one line of a comment and of a string literal; None if it can."""
    if re.fullmatch(r'[^"\\\x00-\x1f\x7f]{1,80}', text) and text == text.strip():
        return None
    return f'{what} is {text!r}; it must be one line of 1 to 80 characters without " or \\'


def source_of(root: Path, op: str, stem: str) -> Path | None:
    """The file of a rung that is there."""
    for folder in (root, ROOT):
        for suffix in (".cu", ".sm90a.cu"):
            path = folder / "src" / "ops" / op / "rungs" / f"{stem}{suffix}"
            if path.is_file():
                return path
    return None


def copy_of(text: str, stem: str, other: str, idea: str) -> str:
    """A rung's text under another id, its header as the template has it."""
    code = text[text.index("#include") :]
    start = code.index(f"WARPLADDER_RUNG({other})")
    end = code.index("};", start)
    declared = code[start:end].replace(f"({other})", f"({stem})", 1)
    declared = re.sub(r'\.idea =\s*"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', f'.idea = "{idea}"', declared)
    if re.match(r"WARPLADDER_RUNG\(\w+\) = \{\.", declared):  # members stand below the first one
        align = " " * (declared.index("{") + 1)
        declared = re.sub(r"\n +(?=\.)", "\n" + align, declared)
    header = (
        f"// Bound before: <what binds {other}, with its number>.\n"
        f"// Idea: {idea}.\n//\n"
        f"// Prediction: <what changes in {other}'s counts; predict() says it in code>.\n"
        "// Accepts: every problem. What binds it: <the next rung's first line>.\n\n"
    )
    return header + code[:start] + declared + code[end:]


def fault(root: Path, op: str, stem: str, idea: str, other: str | None = None) -> str | None:
    """Why this rung cannot be started; None if it can."""
    known = templates(ROOT, root)
    if op not in known:
        return f"OP is {op!r}; the operators are: {', '.join(known)}"
    if not re.fullmatch(r"[a-z0-9_]+", stem):
        return f"STEM is {stem!r}; a rung's id is made of a-z, 0-9 and _"
    for suffix in (".cu", ".sm90a.cu"):
        taken = root / "src" / "ops" / op / "rungs" / f"{stem}{suffix}"
        if taken.exists():
            return f"{taken.relative_to(root)} exists; an id is never reused"
    if other and not source_of(root, op, other):
        return f"--from is {other!r}; {op} has no such rung"
    return text_fault("IDEA", idea)


def write_rung(
    root: Path, op: str, stem: str, idea: str, suffix: str = ".cu", other: str | None = None
) -> Path:
    """Writes the rung and returns its path."""
    source = source_of(root, op, other) if other else None
    if source:
        suffix = source.name.removeprefix(other)
        text = copy_of(source.read_text(encoding="utf-8"), stem, other, idea)
    else:
        text = from_template(root, op, stem, idea)
    path = root / "src" / "ops" / op / "rungs" / (stem + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def from_template(root: Path, op: str, stem: str, idea: str) -> str:
    text = templates(ROOT, root)[op].read_text(encoding="utf-8")
    align = " " * len(f"WARPLADDER_RUNG({stem}) = {{")  # of the members, as clang-format has it
    for key, value in {"stem": stem, "align": align, "idea": idea}.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("op", metavar="OP")
    parser.add_argument("stem", metavar="STEM")
    parser.add_argument("idea", metavar="IDEA")
    parser.add_argument("--sm90a", action="store_true", help="a Hopper rung: STEM.sm90a.cu")
    parser.add_argument("--from", dest="other", metavar="ID", help="start with this rung's kernel")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()

    sentence = fault(options.root, options.op, options.stem, options.idea, options.other)
    if sentence:
        print(f"new_rung: {sentence}", file=sys.stderr)
        return 2
    suffix = ".sm90a.cu" if options.sm90a else ".cu"
    path = write_rung(options.root, options.op, options.stem, options.idea, suffix, options.other)
    print(f"wrote {path.relative_to(options.root)}; the next build and every test find it there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
