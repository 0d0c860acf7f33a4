"""What the checks share: the list of files, code without its comments, one way to report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

CODE = {".cpp", ".hpp", ".h", ".cu", ".cuh"}


def is_build_folder(folder: Path) -> bool:
    return (folder / "CMakeCache.txt").is_file()


def files(root: Path) -> list[str]:
    """The files git tracks or would track, relative to root; without git, all. Not what CMake made
    in a folder of root, whatever its name."""
    built = {f"{folder.name}/" for folder in root.iterdir() if is_build_folder(folder)}
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
        listed = listed.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = []
    found = sorted(
        name
        for name in set(listed)
        if name and not name.startswith(tuple(built)) and (root / name).is_file()
    )
    if found:
        return found
    for folder, below, names in os.walk(root):
        below[:] = [
            name
            for name in below
            if name not in (".git", ".cache", "__pycache__")
            and not is_build_folder(Path(folder) / name)
        ]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def read(path: Path) -> str | None:
    """The file's text, or None where it is not text."""
    data = path.read_bytes()
    return None if b"\0" in data[:8192] else data.decode("utf-8", errors="replace")


TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def blanked(text: str, strings: bool = True) -> str:
    """C++ without comments, raw strings, contents of other strings; lines keep their numbers."""

    def blank(match: re.Match) -> str:
        token = match.group()
        if token.startswith("/"):
            return "".join("\n" if c == "\n" else " " for c in token)
        if strings or token.startswith("R"):
            return '"' + "\n" * token.count("\n") + '"'
        return token

    return TOKEN.sub(blank, text)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def main(offences) -> None:
    """Prints what `offences(root)` yields; the exit code is 1 if it yields anything."""
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(f"usage: {Path(sys.argv[0]).name} REPOSITORY\n{sys.modules['__main__'].__doc__}")
        sys.exit(0)
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: {Path(sys.argv[0]).name} REPOSITORY")
    report(offences(Path(sys.argv[1]).resolve()))


def report(offences) -> None:
    found = list(offences)
    for path, line, sentence in found:
        print(f"{path}:{line}: {sentence}")
    name = Path(sys.argv[0]).stem
    print(f"{name}: {len(found)} offence{'' if len(found) == 1 else 's'}")
    sys.exit(1 if found else 0)
