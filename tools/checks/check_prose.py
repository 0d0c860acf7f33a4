#!/usr/bin/env python3
"""Documents and comments are plain English: sentences of at most 25 words, and none of the private words.

Tables, code and generated blocks are no prose. A `code` span counts as one word. Of sources, the sentences of
comments in C, C++ and CUDA are measured; in a comment, a call is one word, and an operator between words none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from common import CODE, TOKEN, files, line_of, main, read
from markdown import parts

MOST_WORDS = 25
SOURCES = ("src/", "include/", "apps/", "bindings/")
MEASURED = (*SOURCES, "tests/", "benchmarks/", "examples/")
LIKE_C = CODE | {".c", ".template"}
LIKE_SHELL = {".py", ".sh", ".cmake", ".txt"}
# What to write instead. A word that the field has no use for does not stand in a document.
PRIVATE = {
    r"\bwhoever\b": "name the reader or the caller",
    r"\bthe (?:former|latter)\b": "name the thing again",
    r"\b(?:a|the|every|one|each|its) room(?:'s)?\b(?! for)|\boperator's room\b|\brooms\b": "an operator's folder",
    r"\bstands? in for\b": "replaces",
    r"\bis held against\b": "is compared with",
    r"\bother people's\b": "users'",
    r"\bmade-up (?:GPU|CUDA|machine|device)": "simulated",
    r"\bgive back a stage\b": "release a stage",
}
BLOCK, END = re.compile(r"^<!-- [\w-]+: "), re.compile(r"^<!-- end -->")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
NO_PROSE = re.compile(r"^\s*(?:#|\||<|!\[|```|$)")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”)*]*\s+(?=[\"“(*\[]*[A-Z0-9])")
# In comments sentences begin with names, too, such as cublasSgemm or row_01_naive.
COMMENT_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[a-z]\.[a-z]\.)(?<!\bvs\.)[\"”)*]*\s+")
COMMENT_MARK = re.compile(r"^\s*(?://+|#+|/?\*+(?!/))? ?|\s*(?:\*/)?\s*$")


def plain(text: str) -> str:
    """Without marks: of a link its text, of a code span one word that may begin a sentence."""
    text = re.sub(r"`[^`]*`", "Code", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)


def paragraphs(text: str):
    """(first line's number, text) of each paragraph and list item outside of generated blocks."""
    begun, lines, in_block = 0, [], False
    for number, line, language in [*parts(text), (0, "", None)]:
        if END.match(line):
            in_block = False
        elif BLOCK.match(line):
            in_block = True
        is_prose = language is None and not in_block and not NO_PROSE.match(line)
        if lines and (not is_prose or ITEM.match(line)):
            yield begun, " ".join(lines)
            lines = []
        if is_prose:
            begun = begun if lines else number
            lines.append(ITEM.sub("", line).strip())


def sentences(text: str):
    for number, paragraph in paragraphs(text):
        for sentence in SENTENCE_END.split(plain(paragraph)):
            yield number, sentence


def comments(path: str, text: str):
    """(first line's number, lines) of each comment; comments on lines below each other, in one column, are one."""
    token = TOKEN if Path(path).suffix in LIKE_C else re.compile(r"(?<!\S)#.*")
    begun, lines, column = 0, [], 0
    for match in token.finditer(text):
        if match.group()[0] not in "/#":
            continue
        number = line_of(text, match.start())
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if lines and (number != begun + len(lines) or len(before) != column or before.strip()):
            yield begun, lines
            lines = []
        begun, column = begun if lines else number, len(before)
        lines += [COMMENT_MARK.sub("", line) for line in match.group().split("\n")]
    if lines:
        yield begun, lines


def without_pictures(lines: list[str]):
    """A comment's lines, of which those are empty that are indented deeper than the text: tables and pictures."""
    column = 0
    for line in lines:
        item, indent = ITEM.match(line), len(line) - len(line.lstrip())
        column = item.end() if item else min(column, indent)
        yield line if item or indent <= column else ""


def comment_sentences(lines: list[str]):
    """(number of the paragraph's first line in the comment, words) of each sentence."""
    for number, paragraph in paragraphs("\n".join(without_pictures(lines))):
        text = re.sub(r"(?<=\w)\([^()]*\)", "", plain(paragraph))
        for sentence in COMMENT_SENTENCE_END.split(text):
            yield number, [word for word in sentence.split() if re.search(r"\w", word)]


def length_faults(path: str, number: int, words: list[str]):
    if len(words) > MOST_WORDS:
        start = " ".join(words[:6])
        yield path, number, f"{len(words)} words in '{start} …'; a sentence has at most {MOST_WORDS}"


def length_faults_in_comments(path: str, text: str):
    for begun, lines in comments(path, text):
        for number, words in comment_sentences(lines):
            yield from length_faults(path, begun + number - 1, words)


def comment_faults(path: str, text: str):
    for begun, lines in comments(path, text):
        lines = [line.strip() for line in lines]
        ends = list(accumulate(len(line) + 1 for line in lines))
        for pattern, instead in PRIVATE.items():
            for found in re.finditer(pattern, " ".join(lines), re.IGNORECASE):
                number = begun + bisect_right(ends, found.start())
                yield path, number, f"'{found.group()}' is a private word: {instead}"


def number_faults(path: str, text: str):
    """A decision's number is its own. In a group numbers ascend."""
    seen, last = set(), 0
    for at, line in enumerate(text.split("\n"), 1):
        heading = re.match(r"### (.*)|## (.*)", line)
        if not heading:
            continue
        if heading[2] and not heading[2].endswith("?"):  # a group
            last = 0
            continue
        number = re.match(r"(\d+)\. ", heading[1] or "")
        if not number:
            yield path, at, "a decision has a number, and stands in a group: '### N. Question?'"
            continue
        if number[1] in seen:
            yield path, at, f"another decision has the number {number[1]}; take the next free one"
        elif int(number[1]) < last:
            yield path, at, f"decision {number[1]} stands behind {last}; in a group numbers ascend"
        seen.add(number[1])
        last = int(number[1])


def offences(root: Path):
    for path in files(root):
        if path.startswith(SOURCES) and Path(path).suffix in LIKE_C | LIKE_SHELL:
            yield from comment_faults(path, read(root / path) or "")
        if path.startswith(MEASURED) and Path(path).suffix in LIKE_C:
            yield from length_faults_in_comments(path, read(root / path) or "")
        if not path.endswith(".md"):
            continue
        text = read(root / path) or ""
        if path == "DECISIONS.md":
            yield from number_faults(path, text)
        for number, sentence in sentences(text):
            yield from length_faults(path, number, sentence.split())
            for pattern, instead in PRIVATE.items():
                found = re.search(pattern, sentence, re.IGNORECASE)
                if found:
                    yield path, number, f"'{found.group()}' is a private word: {instead}"


if __name__ == "__main__":
    main(offences)
