#!/usr/bin/env python3
"""Dependencies point one way: a file includes project headers of its own layer or a lower one."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from common import CODE, blanked, files, line_of, main, read

# High to low. apps, bindings and tests share the top; "include" is the installed front door,
# which the public calls implement and which therefore only they and the top may see.
LAYERS = ["base", "runtime", "executor", "programs", "device", "parts", "ladder", "ops", "lab", "library"]
TOP = {"apps", "bindings", "tests"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__)?\s*\(")
# Folders of an operator that hold headers for its rungs.
SHARED_BY_RUNGS = r"tensor/\w+"
# The last ones hold programs as other people write them.
ASSEMBLY_HOMES = ("src/parts/ptx/", "src/executor/", "tests/programs/refused/", "tests/programs/language/")


def layer(path: str) -> str | None:
    """The layer a repository path belongs to."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1] if parts[1] in LAYERS else None
    return parts[0] if parts[0] in TOP | {"include"} else None


def height(name: str) -> int:
    # runtime launches through the executor, which takes runtime's types: they stand side by side.
    name = "runtime" if name == "executor" else name
    return LAYERS.index(name) if name in LAYERS else len(LAYERS)


def resolve(root: Path, path: str, quoted: bool, included: str) -> str | None:
    """The repository path of an included header; None for a header that is not the project's."""
    beside = [str(PurePosixPath(path).parent)] if quoted else []
    for folder in [*beside, "src", "include", "tests", "apps", "apps/warpladder"]:
        full = (root / folder / included).resolve()
        if full.is_file() and root in full.parents:
            return full.relative_to(root).as_posix()
    # A header that is generated, or missing: its first folder still says where it belongs.
    first = included.split("/")[0]
    if "/" in included and first in LAYERS:
        return f"src/{included}"
    return f"include/{included}" if "/" in included and first == "warpladder" else None


def operator(path: str) -> str | None:
    """The operator of a file below src/ops/<op>/; None for the files all operators share."""
    parts = path.split("/")
    is_shared = len(parts) < 4 or parts[2] == "lab"
    return parts[2] if parts[:2] == ["src", "ops"] and not is_shared else None


def is_lab(path: str) -> bool:
    """Whether a file below src/ops is what the workbench adds to it."""
    return re.match(r"src/ops/(?:[^/]+/)?lab/", path) is not None


def in_library(path: str) -> bool:
    """Whether a file below src/ is part of the installed library."""
    if layer(path) in ("runtime", "parts", "library") or path in (
        "src/ladder/rung.hpp",
        "src/ladder/plan.hpp",
    ):
        return True
    return layer(path) == "ops" and not is_lab(path) and not is_space(path)


def is_rung(path: str) -> bool:
    return re.fullmatch(r"src/ops/[^/]+/rungs/.+", path) is not None


def is_space(path: str) -> bool:
    """Whether a file holds the configurations of a rung, among which `tune` searches."""
    return re.fullmatch(r"src/ops/[^/]+/spaces/.+", path) is not None


def fault(path: str, target: str) -> str | None:
    """Why `path` may not include `target`; None if it may."""
    mine, theirs = layer(path), layer(target)
    if is_rung(target):
        return "nobody includes a rung; move what is shared to src/parts"
    if mine is None or theirs is None:
        return None
    if is_space(target):
        return "nobody includes a space"
    if is_space(path) and target == "src/ladder/space.hpp":
        return None
    if is_rung(path) or is_space(path):
        own = re.fullmatch(rf"src/ops/{operator(path)}/(rung(_\w+)?|{SHARED_BY_RUNGS})\.hpp", target)
        if own or theirs == "parts":
            return None
        return f"a rung includes only its own ops/{operator(path)}/rung*.hpp or tensor/, and parts/"
    if mine == "include":
        return None if theirs == "include" else "an installed header includes nothing of src/"
    if mine == "bindings":
        is_test = path.split("/")[2:3] == ["tests"]
        sees = theirs in ("include", "bindings") or (is_test and theirs == "tests")
        return None if sees else "a binding sees only include/warpladder"
    if theirs == "include":
        return None if mine in TOP | {"library"} or is_lab(path) else f"src/{mine} lies below the public headers"
    if theirs in TOP and mine != theirs and not (mine == "tests" and theirs == "apps"):
        return f"{mine} includes nothing of {theirs}/"
    if height(theirs) > height(mine):
        return f"src/{mine} lies below src/{theirs}"
    # A kernel compiled for the CPU is launched through the executor.
    flavoured = path in ("src/runtime/launch.hpp", "src/runtime/kernel.hpp") and theirs == "executor"
    if in_library(path) and target.startswith("src/") and not in_library(target) and not flavoured:
        return "the library includes nothing that the workbench adds"
    if operator(path) and operator(target) and operator(path) != operator(target):
        return f"the operator {operator(path)} includes nothing of the operator {operator(target)}"
    return None


def offences(root: Path):
    for path in files(root):
        if Path(path).suffix not in CODE:
            continue
        if layer(path) is None:
            if path.startswith("src/"):
                yield path, 1, f"stands in none of the layers {', '.join(LAYERS)}"
            continue
        text = read(root / path) or ""
        with_strings = blanked(text, strings=False)
        for match in INCLUDE.finditer(with_strings):
            target = resolve(root, path, match[1] == '"', match[2])
            sentence = fault(path, target) if target else None
            if sentence:
                line = line_of(with_strings, match.start(2))
                yield path, line, f"includes {match[2]}: {sentence}"
        code = blanked(text)
        for match in ASSEMBLY.finditer(code):
            if not path.startswith(ASSEMBLY_HOMES):
                yield (
                    path,
                    line_of(code, match.start()),
                    "inline assembly belongs in src/parts/ptx, one instruction a function",
                )


if __name__ == "__main__":
    main(offences)
