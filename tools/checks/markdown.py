"""Markdown as the document check reads it: fences, the anchors of headings, console commands."""

from __future__ import annotations

import re

FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")


def parts(text: str):
    """(line number, line, language of its fence or None) for every line but the fences."""
    fence = language = None
    for number, line in enumerate(text.split("\n"), 1):
        match = FENCE.match(line)
        if match and fence is None:
            fence, language = match[1], match[2] or "text"
        elif match and line.strip().startswith(fence) and line.strip(fence[0] + " ") == "":
            fence = language = None
        else:
            yield number, line, language


def anchors(text: str) -> set[str]:
    """The anchors GitHub makes of a document's headings, and those written as HTML."""
    found: dict[str, int] = {}
    for _, line, language in parts(text):
        heading = re.match(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", line)
        if heading and language is None:
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
    repeated = {f"{slug}-{n}" for slug, last in found.items() for n in range(1, last + 1)}
    return repeated | set(found) | set(re.findall(r"<[^>]*\b(?:id|name)=[\"']([^\"']+)", text))


def commands(text: str):
    """(line number, command, lines shown beneath it) of every `$ ` line in a console block,
    continuation lines joined."""
    command = None
    for number, line, language in parts(text):
        is_continued = command and not command[2] and command[1].endswith("\\")
        if language == "console" and is_continued:
            command = (command[0], command[1][:-1] + line.strip().removeprefix("> "), [])
        elif language == "console" and line.startswith("$ "):
            if command:
                yield command
            command = (number, line[2:].strip(), [])
        elif language == "console" and command:
            command[2].append(line.rstrip())
        elif command:
            yield command
            command = None
    if command:
        yield command
