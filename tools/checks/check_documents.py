#!/usr/bin/env python3
"""Documents tell the truth: links and paths exist; with --run DIR the ```console commands work.

A console line is expected to end with 0. `# exit N` at its end expects N; `# needs a GPU` lets it
end with 3, which is then printed as a skip. The lines beneath it must stand in its output, in this
order; a line `…` says that something is left out. `build/bin/` means DIR; /tmp/ is a fresh folder,
and tools/new_*.py write into a copy of the tree. Nothing else is set that a reader has not.
Lines that start with make, git, sudo, cmake or ctest are not run; make's targets must exist.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

from common import files, read, report
from markdown import anchors, commands, parts

# [text](target "title"), or [name]: target; [^name]: is a footnote. Or a picture as HTML.
LINK = re.compile(
    r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)"
    r"|^\s*\[[^\]^][^\]]*\]:\s*(\S+)"
    r"|<(?:img|source)\b[^>]*?\b(?:src|srcset)=[\"']([^\"']+)"
)
HOMES = set(".ci apps bindings cmake include results src tests tools tuning".split())
NOT_RUN = ("make", "git", "sudo", "cmake", "ctest")
PLACEHOLDER = re.compile(r"[<>*?{}$…]|\.\.\.|\bNN_")
MACHINE = re.compile(r"(?<![\w.~})/-])/(?:work|root|home|Users|mnt)/")


def path_faults(root: Path, path: str, text: str):
    folder = (root / path).parent
    for number, line, language in parts(text):
        if MACHINE.search(line):
            yield path, number, "a path of one machine"
        if language is not None:
            continue
        for match in LINK.finditer(re.sub(r"`[^`]*`", "``", line)):
            target, _, anchor = unquote(match[1] or match[2] or match[3]).partition("#")
            if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", target):
                continue
            full = (root / target[1:]) if target.startswith("/") else (folder / target)
            if target and not full.exists():
                yield path, number, f"the link {target} leads nowhere"
            elif anchor and (not target or target.endswith(".md")):
                if anchor not in anchors(read(full) or "" if target else text):
                    yield path, number, f"no heading has the anchor #{anchor}"
        for code in re.findall(r"`([^`\s]+)`", line):
            name = re.sub(r":\d+$", "", code)
            ours = name.split("/")[0] in HOMES and "/" in name and not PLACEHOLDER.search(name)
            if ours and not (root / name).exists() and not (folder / name).exists():
                yield path, number, f"`{code}` names no file"


def tree_for(command: str, root: Path, scratch: str) -> Path:
    """Where the command runs: what writes into the tree gets a copy of the part it needs."""
    if not re.match(r"python3 tools/new_\w+\.py\b", command):
        return root
    tree = Path(scratch) / "tree"
    if not tree.exists():
        for part in ("tools", "src/ops"):
            shutil.copytree(root / part, tree / part)
    return tree


def missing_line(shown: list[str], output: str) -> str | None:
    """The first of the lines shown that does not follow those before it in the output."""
    printed = iter(line.rstrip() for line in output.split("\n"))
    wanted = (line for line in shown if line not in ("", "…"))
    return next((line for line in wanted if line not in printed), None)


def command_fault(
    root: Path, command: str, shown: list[str], programs: Path | None, scratch: str
) -> str | None:
    words = command.partition(" #")[0].split()
    if words and words[0] == "make":
        makefile = (root / "Makefile").read_text() if (root / "Makefile").is_file() else ""
        known = re.findall(r"^([\w-]+):(?!=)", makefile, re.MULTILINE)
        for word in words[1:]:
            if re.fullmatch(r"\w[\w-]*", word) and word not in known:
                return f"`{command}`: the Makefile has no target {word}"
        return None
    if programs is None or not words or words[0] in NOT_RUN:
        return None
    wanted = re.search(r"#\s*exit (\d+)\s*$", command)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ.get('PATH', '')}")
    environment.pop("TMPDIR", None)
    placed = command.replace("/tmp/", f"{scratch}/").replace("build/bin/", f"{programs}/")
    # timeout(1) ends the whole process group, which subprocess's own timeout does not.
    shell = ["timeout", "60", "bash", "-c", placed]
    done = subprocess.run(
        shell,
        cwd=tree_for(command, root, scratch),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode == 124:
        return f"`{command}` ran for more than 60 s"
    if done.returncode == 3 and re.search(r"#\s*needs a GPU\s*$", command):
        print(f"skipped, no GPU: {command}")
    elif done.returncode != (int(wanted[1]) if wanted else 0):
        said = done.stdout.decode(errors="replace").strip().split("\n")[-1]
        return f"`{command}` ended with {done.returncode}: {said}"
    else:
        absent = missing_line(shown, done.stdout.decode(errors="replace"))
        if absent is not None:
            return f"`{command}` does not print, in this order: {absent}"
    return None


def offences(root: Path, programs: Path | None = None):
    with tempfile.TemporaryDirectory() as scratch:
        for path in (name for name in files(root) if name.endswith(".md")):
            text = read(root / path) or ""
            yield from path_faults(root, path, text)
            for number, command, shown in commands(text):
                sentence = command_fault(root, command, shown, programs, scratch)
                if sentence:
                    yield path, number, sentence


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--run", type=Path, metavar="DIR", help="where the built programs are")
    options = parser.parse_args()
    if not options.repository.is_dir() or (options.run and not options.run.is_dir()):
        sys.exit("check_documents: no such folder")
    report(offences(options.repository.resolve(), options.run and options.run.resolve()))
