#!/usr/bin/env python3
"""Starts an operator: tools/new_operator.py NAME "what it computes". Writes the folder src/ops/NAME/.

The folder is complete: problem, reference, cases, `run` and one rung, which verify, bench, explain and
every test find. It computes out[i] = alpha * in[i] until it is edited. Nothing outside the folder
needs a change except README.md and CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from new_rung import ROOT, text_fault, write_rung

TEMPLATES = Path(__file__).resolve().parent / "templates" / "operator"
FIRST_RUNG = ("01_one_per_thread", "one thread per element")
# An operator is a namespace inside warpladder, so these names are taken.
NAMESPACES = """app base counted device executor gpu lab ladder ops parts plain runtime std tests
    warpladder""".split()
KEYWORDS = """alignas alignof and asm auto bitand bitor bool break case catch char class compl concept
    const consteval constexpr constinit continue decltype default delete do double else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    nullptr operator or private protected public register requires return short signed sizeof static
    struct switch template this throw true try typedef typeid typename union unsigned using virtual
    void volatile while xor""".split()


def fault(root: Path, name: str, what: str) -> str | None:
    """Why this operator cannot be started; None if it can."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > 30:
        return (
            f"NAME is {name!r}; an operator's name is made of words of a-z and 0-9 with _ between "
            "them, begins with a letter and has at most 30 characters"
        )
    if name in NAMESPACES or name in KEYWORDS:
        return f"NAME is {name!r}, which is a word of C++ or a namespace of warpladder"
    folder = Path("src") / "ops" / name
    for tree in {ROOT, root}:
        if (tree / folder).exists():
            return f"{folder} exists; choose another name"
    return text_fault("the text", what)


def with_sorted_includes(text: str) -> str:
    """Neighbouring lines of #include in the order that clang-format wants."""
    return re.sub(
        r'(?:#include "[^\n]*\n)+', lambda block: "".join(sorted(block[0].splitlines(True))), text
    )


def write_operator(root: Path, name: str, what: str) -> Path:
    """Writes the operator's folder and returns its path."""
    folder = root / "src" / "ops" / name
    words = {
        "operator": name,
        "Operator": "".join(word.capitalize() for word in name.split("_")),
        "what": what,
    }
    for template in sorted(TEMPLATES.rglob("*.in")):
        text = template.read_text(encoding="utf-8")
        for key, value in words.items():
            text = text.replace("{{" + key + "}}", value)
        path = folder / template.relative_to(TEMPLATES).with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_sorted_includes(text), encoding="utf-8")
    write_rung(root, name, *FIRST_RUNG)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("what", metavar="WHAT", help="what it computes, in one line")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()

    sentence = fault(options.root, options.name, options.what)
    if sentence:
        print(f"new_operator: {sentence}", file=sys.stderr)
        return 2
    folder = write_operator(options.root, options.name, options.what)
    print(f"wrote {folder.relative_to(options.root)}; the next build and every test find it there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
