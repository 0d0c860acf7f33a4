#!/usr/bin/env python3
"""Draws the pictures of the lessons: draw_lessons.py [--check] [FILE.md...]

A block in a document names a picture and where it lies, relative to the document:
  <!-- picture: coalescing lanes 1 and 8 and 32 words apart to pictures/coalescing.svg -->
  <!-- picture: banks of src/ops/transpose/rungs/04_padded.cu to banks.svg -->
  <!-- picture: timeline of 1 and 2 and 4 stages to pictures/pipeline.svg -->
  <!-- picture: ring of src/ops/sgemm/rungs/tc_05_tma_ring.sm90a.cu to ring.svg -->
  <!-- picture: fragments to … -->, split 24 into 11 and 11, tree of 8, swizzle of 8 lines, rows of 1 and 6 and 2 and 12,
  tiles of src/ops/sgemm/rungs/row_06_warp_tile.cu
  <!-- end -->
Several files of kernels are joined by `and`. With --check nothing is written, and a block or picture
that is not what would be drawn is an error.
"""

import re
import sys
from pathlib import Path

import lesson_pictures

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^(<!-- picture: (\w+)(?: (.*?))? to (\S+\.svg) -->\n)(.*?)(<!-- end -->)",
                   re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^<!-- picture: ", re.MULTILINE)


class Fault(Exception):
    """One sentence: why a picture cannot be drawn."""


def source_of(file):
    try:
        return (ROOT / file).read_text(encoding="utf-8")
    except OSError:
        raise Fault(f"{file}: no such file") from None


def drawn(kind, argument):
    numbers = [int(n) for n in re.findall(r"\b\d+\b", argument)]
    kernels = re.findall(r"src/\S+\.cu\b", argument)
    sources = [(file, source_of(file)) for file in kernels]
    if kind == "banks" and sources:
        return lesson_pictures.banks(sources)
    if kind == "tiles" and len(sources) == 1:
        return lesson_pictures.tiles(*sources[0])
    if kind == "ring" and len(sources) == 1:
        return lesson_pictures.timeline([1, lesson_pictures.constants(sources[0][1])["stages"]])
    if kind == "fragments":
        return lesson_pictures.fragments()
    if kind == "split" and len(numbers) == 3:
        return lesson_pictures.split(numbers[0], numbers[1:])
    if kind in ("tree", "swizzle") and len(numbers) == 1:
        return {"tree": lesson_pictures.tree, "swizzle": lesson_pictures.swizzle}[kind](numbers[0])
    several = {"coalescing": lesson_pictures.coalescing, "timeline": lesson_pictures.timeline,
               "rows": lesson_pictures.rows}
    if kind in several and numbers:
        return several[kind](numbers)
    raise Fault(f"'{kind} {argument}' is no picture; the kinds stand in draw_lessons.py --help")


def faults_of(document, is_check):
    """Draws one document's pictures; what is wrong, a sentence each."""
    text = document.read_text(encoding="utf-8")
    if len(OPENING.findall(text)) != len(BLOCK.findall(text)):
        yield "a picture's block has no end"
        return
    pictures, faults = {}, []

    def filled(match):
        try:
            told, svg = drawn(match[2], match[3] or "")
        except (Fault, ValueError, KeyError) as error:
            faults.append(f"{match[4]}: {error}")
            return match[0]
        pictures[document.parent / match[4]] = svg
        return f"{match[1]}![{told}]({match[4]})\n{match[6]}"

    new = BLOCK.sub(filled, text)
    yield from faults
    for file, svg in pictures.items():
        if is_check and (not file.is_file() or file.read_text(encoding="utf-8") != svg):
            yield f"{file.name} is not what would be drawn"
        elif not is_check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(svg, encoding="utf-8")
    if is_check and new != text:
        yield "a picture's text is not what would be written"
    elif not is_check and new != text:
        document.write_text(new, encoding="utf-8")


def main(arguments):
    if {"--help", "-h"} & set(arguments):
        print(__doc__)
        return 0
    is_check = "--check" in arguments
    named = [Path(a) for a in arguments if a != "--check"]
    documents = named or [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("src/ops/*/*.md"))]
    if absent := [d for d in documents if not d.is_file()]:
        print(f"draw_lessons.py: {absent[0]} is no file", file=sys.stderr)
        return 2
    found = [f"{document}: {fault}" for document in documents
             for fault in faults_of(document.resolve(), is_check)]
    for fault in found:
        print(fault)
    if found and is_check:
        print("Run: python3 tools/draw_lessons.py")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
