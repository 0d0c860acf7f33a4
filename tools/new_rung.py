#!/usr/bin/env python3
"""Starts a rung: tools/new_rung.py OP STEM "the one idea". Writes src/ops/OP/rungs/STEM.cu.

What it writes is right from the start (the operator's naive kernel), so that each step from there
can be verified.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent / "templates"


def fault(root: Path, op: str, stem: str, idea: str) -> str | None:
    """Why this rung cannot be started; None if it can."""
    ops = root / "src" / "ops"
    known = sorted(path.stem for path in TEMPLATES.glob("*.cu"))
    if op not in known:
        return f"OP is {op!r}; the operators are {', '.join(known)}"
    if not re.fullmatch(r"[a-z0-9_]+", stem):
        return f"STEM is {stem!r}; a rung's id is made of a-z, 0-9 and _"
    for suffix in (".cu", ".sm90a.cu"):
        taken = ops / op / "rungs" / f"{stem}{suffix}"
        if taken.exists():
            return f"{taken.relative_to(root)} exists; an id is never reused"
    # The idea becomes a comment and a string literal, one line each.
    if not re.fullmatch(r'[^"\\\n\t]{1,80}', idea) or idea != idea.strip():
        return f'the idea is {idea!r}; it is 1 to 80 characters in one line, without " or \\'
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("op", metavar="OP")
    parser.add_argument("stem", metavar="STEM")
    parser.add_argument("idea", metavar="IDEA")
    parser.add_argument("--sm90a", action="store_true", help="a Hopper rung: STEM.sm90a.cu")
    parser.add_argument("--root", type=Path, default=TEMPLATES.parents[1], help=argparse.SUPPRESS)
    options = parser.parse_args()

    sentence = fault(options.root, options.op, options.stem, options.idea)
    if sentence:
        print(f"new_rung: {sentence}", file=sys.stderr)
        return 2
    text = (TEMPLATES / f"{options.op}.cu").read_text(encoding="utf-8")
    text = text.replace("{{idea}}", options.idea).replace("{{stem}}", options.stem)
    suffix = ".sm90a.cu" if options.sm90a else ".cu"
    path = options.root / "src" / "ops" / options.op / "rungs" / (options.stem + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path.relative_to(options.root)}; the next build and every test find it there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
