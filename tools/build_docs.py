#!/usr/bin/env python3
"""Builds the documents to HTML: build_docs.py

The folder build/docs gets `environment` (mkdocs-material, installed by pip), `source` (the documents, with the
files that they link to, in the folders in which they lie) and `html`. A link to a folder becomes plain text, because
HTML has no page of it. The build fails where a link leads nowhere. Exit code 77: the documentation tool cannot be
downloaded.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/checks"))

from common import files, read  # noqa: E402
from markdown import parts  # noqa: E402

# [text](target) and its picture form; the text may hold brackets and go on in the next line.
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)>?[^)]*\)")
PICTURE = re.compile(r"<(?:img|source)\b[^>]*?\b(?:src|srcset)=[\"']([^\"']+)")
CANNOT_DOWNLOAD = 77
ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|#|/")


def without_code(text):
    """The text with its code overwritten, so that every offset stays."""
    prose = {number for number, _, language in parts(text) if language is None}
    return "\n".join(
        re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line) if number in prose else "x" * len(line)
        for number, line in enumerate(text.split("\n"), 1)
    )


def page(root, name):
    """(The document's text with links to files alone, the files that it links to.)"""
    def place(target):
        return os.path.normpath(Path(name).parent / unquote(target.partition("#")[0]))

    text, kept, done = read(root / name) or "", [], 0
    prose = without_code(text)
    linked = {place(shown[1]) for shown in PICTURE.finditer(prose) if not ELSEWHERE.match(shown[1])}
    for link in LINK.finditer(prose):
        if ELSEWHERE.match(link[2]):
            continue
        target = place(link[2])
        if (root / target).is_dir():
            kept += [text[done:link.start()], text[link.start(1):link.end(1)]]
            done = link.end()
        else:
            linked.add(target)
    return "".join(kept) + text[done:], linked


def stage(root, target):
    """Copies the documents, and what they show or link to."""
    shutil.rmtree(target, ignore_errors=True)
    names = files(root)
    pages = {name: page(root, name) for name in names if name.endswith(".md")}
    linked = set().union(*(found for _, found in pages.values()))
    for name in names:
        if name not in pages and name not in linked:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name in pages:
            (target / name).write_text(pages[name][0], encoding="utf-8")
        else:
            shutil.copyfile(root / name, target / name)


class CannotDownload(Exception):
    """No package index answers, or Python comes without pip."""


def run(*command):
    """Raises CalledProcessError, with all that was printed, where the command fails."""
    subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                   env=dict(os.environ, NO_MKDOCS_2_WARNING="1"))


def installed(folder):
    """The documentation tool in an environment of its own."""
    program = folder / "bin/mkdocs"
    if program.exists():
        return program
    try:
        run(sys.executable, "-m", "venv", folder)
    except subprocess.CalledProcessError as error:
        raise CannotDownload("python3 -m venv fails; Debian's package python3-venv brings it") from error
    try:
        run(folder / "bin/pip", "install", "-q", "--retries", "1", "-r", ROOT / "docs/requirements.txt")
    except subprocess.CalledProcessError as error:
        if "(from versions: none)" not in error.stdout:  # it lists the versions of an index that answers
            raise
        raise CannotDownload("pip finds no package index with mkdocs-material") from error
    return program


def build(program, configuration):
    """Builds the HTML. Raises CalledProcessError where mkdocs finds a fault, such as a dead link."""
    run(program, "build", "--strict", "-f", configuration)


def main(arguments):
    if arguments:
        print(__doc__)
        return 0 if {"--help", "-h"} & set(arguments) else 2
    folder = ROOT / "build/docs"
    try:
        program = installed(folder / "environment")
        stage(ROOT, folder / "source")
        build(program, ROOT / "docs/mkdocs.yml")
    except CannotDownload as error:
        print(f"build_docs.py: no HTML of the documents: {error}", file=sys.stderr)
        return CANNOT_DOWNLOAD
    except (OSError, subprocess.CalledProcessError) as error:
        print(getattr(error, "stdout", None) or "", f"build_docs.py: {error}", sep="", file=sys.stderr)
        return 1
    print(f"{folder / 'html/index.html'} is the first page")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
