#!/usr/bin/env python3
"""Fills the generated tables of the documents: generate_tables.py PROGRAM [--check] [FILE.md...]

A table stands between two comments; the first says what it holds:
  <!-- counts: sgemm/row_01_naive sgemm/row_02_block_tile at 256x256x256 -->
  <!-- end -->
`counts` asks the program to explain each rung. With --check nothing is written, and a table that is
not what would be generated is an error.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- (counts): (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| :-- |" + " --: |" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def counts(program, argument):
    rungs, _, shape = argument.partition(" at ")
    header = ["rung", "global sectors", "shared wavefronts", "barriers", "FMAs per sector",
              "FMAs per wavefront", "prediction"]
    rows = []
    for rung in rungs.split():
        done = subprocess.run([program, "explain", rung, "--shape", shape, "--json", "-"],
                              capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            sys.exit(f"{rung} at {shape}: {done.stderr.strip()}")
        explained = json.loads(done.stdout)["rungs"][0]
        t = explained["totals"]
        sectors = t["global_load_sectors"] + t["global_store_sectors"]
        wavefronts = t["shared_load_wavefronts"] + t["shared_store_wavefronts"]
        holds = "holds" if explained["prediction"]["holds"] else "differs"
        rows.append([f"`{rung.split('/')[1]}`", f"{sectors:,}", f"{wavefronts:,}", f"{t['barriers']:,}",
                     f"{t['fmas'] / sectors:.1f}" if sectors else "",
                     f"{t['fmas'] / wavefronts:.1f}" if wavefronts else "", holds])
    return table(header, rows)


def main(arguments):
    check = "--check" in arguments
    program, *files = [a for a in arguments if a != "--check"]
    program = str(Path(program).resolve())
    paths = [Path(f) for f in files] or [
        p for p in sorted(ROOT.rglob("*.md")) if not p.relative_to(ROOT).parts[0].startswith("build")]
    stale = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        fresh = BLOCK.sub(lambda m: m[1] + counts(program, m[3]) + m[5], text)
        if fresh != text and check:
            print(f"{path.relative_to(ROOT)}: a generated table is stale; run tools/generate_tables.py")
            stale += 1
        elif fresh != text:
            path.write_text(fresh, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
