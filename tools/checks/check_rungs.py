#!/usr/bin/env python3
"""Each rung stands in a generated table of its operator's LADDER.md that says how fast it is, or why not is told here."""

from __future__ import annotations

import re
from pathlib import Path

from common import files, main, read

# Beside the rung below it, or at least its time.
KINDS = "steps|wins|plan-wins|times|times-by-size|medians"
BLOCK = re.compile(rf"^<!-- (?:{KINDS}): [^\n]* -->\n(.*?)^<!-- end -->", re.DOTALL | re.MULTILINE)
RUNG = re.compile(r"src/ops/([^/]+)/rungs/([^/.]+)(?:\.sm90a)?\.cu")
UNTIMED = {"skipped", "failed", "invalid", "–"}  # in all cells: the row holds no time
EXEMPT = {
    "sgemm/row_00_serial": "runs on a CPU core, and is the 1× of speed-ups",
    "vector_add/01_one_per_thread": "the only rung of an operator that has no LADDER.md",
}


def shown_in(text: str) -> set[str]:
    """The rungs of which a table of this document has a row, or that a row is compared with."""
    found = set()
    for block in BLOCK.findall(text):
        for line in re.findall(r"^\|(.*)\|$", block, re.MULTILINE):
            name, *cells = (cell.strip() for cell in line.split("|"))
            if not UNTIMED.issuperset(cells):
                found |= {cell[1:-1] for cell in (name, *cells) if re.fullmatch(r"`\w+`", cell)}
    return found


def offences(root: Path, exempt=None):
    exempt = EXEMPT if exempt is None else exempt
    shown, rungs = {}, set()
    for path in files(root):
        if not (match := RUNG.fullmatch(path)):
            continue
        operator, rung = match.groups()
        ladder = root / "src/ops" / operator / "LADDER.md"
        if operator not in shown:
            shown[operator] = shown_in(read(ladder) or "") if ladder.is_file() else set()
        name = f"{operator}/{rung}"
        rungs.add(name)
        if rung not in shown[operator] and name not in exempt:
            yield path, 1, f"no table of steps, wins or times in src/ops/{operator}/LADDER.md has {rung}"
        if rung in shown[operator] and name in exempt:
            yield path, 1, f"a table has {rung}; strike its exemption from tools/checks/check_rungs.py"
    for name in sorted(set(exempt) - rungs):
        yield "tools/checks/check_rungs.py", 1, f"it exempts {name}, which is no rung"


if __name__ == "__main__":
    main(offences)
