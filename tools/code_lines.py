"""The lines of a C++ source that hold code. What was recorded for a source names its lines by their place among these,
so that comments, blank lines and spaces may come and go.
"""

import bisect
import hashlib
import re
from pathlib import Path

# A comment, or what looks like the begin of one but is not.
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
TOKEN = re.compile(r"\w+|[^\w\s]")


def without_comments(text):
    def blank(match):
        return match[0] if match[0][0] in "\"'" else " " + "\n" * match[0].count("\n")
    return COMMENT.sub(blank, text)


class CodeLines:
    def __init__(self, text):
        tokens = [TOKEN.findall(line) for line in without_comments(text).split("\n")]
        self.numbers = [number for number, line in enumerate(tokens, 1) if line]
        self.codes = [" ".join(line) for line in tokens if line]

    def place_of(self, number):
        """Of the line with this number, or of the next one that holds code: its place among them, from 0."""
        return bisect.bisect_left(self.numbers, number)

    def digest(self, last):
        """Of the code up to this place."""
        return hashlib.sha256("\n".join(self.codes[:last + 1]).encode()).hexdigest()[:12]


class Sources:
    """The sources below a folder, each read once."""

    def __init__(self, root):
        self.root = Path(root)
        self.read = {}

    def of(self, file):
        """None where there is no such file."""
        if file not in self.read:
            path = self.root / file
            self.read[file] = CodeLines(path.read_text(encoding="utf-8")) if path.is_file() else None
        return self.read[file]
