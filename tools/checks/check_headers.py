#!/usr/bin/env python3
"""A rung's header comment predicts what the rung does, and says what binds it."""

from __future__ import annotations

import re
from pathlib import Path

from common import files, main, read

REQUIRED = ("Prediction", "What binds it")


def header(text: str) -> str:
    """The comment at the top of a file, in one line."""
    block = re.match(r"(?:[ \t]*//[^\n]*(?:\n|\Z))*", text)
    return re.sub(r"\s+", " ", re.sub(r"^[ \t]*//", " ", block[0], flags=re.MULTILINE))


def offences(root: Path):
    for path in files(root):
        if not re.fullmatch(r"src/ops/[^/]+/rungs/[^/]+\.cu", path):
            continue
        comment = header(read(root / path) or "")
        for words in REQUIRED:
            if words not in comment:
                yield path, 1, f'the header comment lacks "{words}"'


if __name__ == "__main__":
    main(offences)
