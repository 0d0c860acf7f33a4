#!/usr/bin/env python3
"""Starts a rung: tools/new_rung.py OP STEM "the one idea". Writes src/ops/OP/rungs/STEM.cu.

The new rung holds a simple, correct kernel from the room's template, src/ops/OP/lab/rung.cu.template.
So every later step can be verified.
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


def fault(root: Path, op: str, stem: str, idea: str) -> str | None:
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
    return text_fault("IDEA", idea)


def write_rung(root: Path, op: str, stem: str, idea: str, suffix: str = ".cu") -> Path:
    """Writes the rung and returns its path."""
    text = templates(ROOT, root)[op].read_text(encoding="utf-8")
    align = " " * len(f"WARPLADDER_RUNG({stem}) = {{")  # of the members, as clang-format has it
    for key, value in {"stem": stem, "align": align, "idea": idea}.items():
        text = text.replace("{{" + key + "}}", value)
    path = root / "src" / "ops" / op / "rungs" / (stem + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("op", metavar="OP")
    parser.add_argument("stem", metavar="STEM")
    parser.add_argument("idea", metavar="IDEA")
    parser.add_argument("--sm90a", action="store_true", help="a Hopper rung: STEM.sm90a.cu")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()

    sentence = fault(options.root, options.op, options.stem, options.idea)
    if sentence:
        print(f"new_rung: {sentence}", file=sys.stderr)
        return 2
    suffix = ".sm90a.cu" if options.sm90a else ".cu"
    path = write_rung(options.root, options.op, options.stem, options.idea, suffix)
    print(f"wrote {path.relative_to(options.root)}; the next build and every test find it there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
