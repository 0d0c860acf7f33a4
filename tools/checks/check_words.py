#!/usr/bin/env python3
"""What no file contains: paths of one machine, notes to self, banners, stray white space."""

from __future__ import annotations

import re
from pathlib import Path

from common import CODE, files, main, read

# In pieces, so that this file passes its own check.
NOTE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
# Ada is nobody: the home folder that comments and tests about paths use.
MACHINE = re.compile(
    r"(?<![\w.~})/-])/(?:work|root|home/(?!ada\b)[\w.-]+|Users/[\w.-]+)(?:/|(?![\w-]))"
)
# A comment of nothing but strokes, or of words between strokes.
STROKES = r"([-=*#~_/+─═━])\1{3,}"
BANNER = re.compile(rf"^\s*(?://|\#|/\*|\*)\s*{STROKES}(?:\s*\w.*\1{{3,}})?\s*\*?/?\s*$")
BANNER_KINDS = CODE | {".py", ".sh", ".cmake", ".c", ".txt", ".yml", ""}
# Recorded output and hand-made inputs are kept as they came.
DATA = re.compile(r"^results/|(?:^|/)(?:data|corpus|golden)/")


def offences(root: Path):
    for path in files(root):
        text = read(root / path)
        if text is None:
            continue
        suffix = Path(path).suffix
        for number, line in enumerate(text.split("\n"), 1):
            machine, note = MACHINE.search(line), NOTE.search(line)
            if machine:
                yield path, number, f"{machine.group()} is a path of one machine"
            if DATA.search(path):
                continue
            if note:
                yield path, number, f"{note.group()}: do it, or open an issue"
            if suffix in BANNER_KINDS and BANNER.match(line):
                yield path, number, "a banner; comments give reasons"
            if line != line.rstrip():
                yield path, number, "white space at the end of the line"
            if suffix in CODE and "\t" in line:
                yield path, number, "a tab"
        if text and not text.endswith("\n") and not DATA.search(path):
            yield path, text.count("\n") + 1, "no newline at the end of the file"


if __name__ == "__main__":
    main(offences)
