#!/usr/bin/env python3
"""Reading a Matrix Market file: warpladder beside scipy.io.mmread, same file, same run.

Usage: compare.py PATH/TO/matrix_market_speed FOLDER [OUT.json]

Needs SciPy 1.12 or newer, whose mmread is the parallel one. The program and SciPy take turns, so
that a slow spell of the machine meets both. FOLDER keeps the files (more than 300 MB).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS, SAMPLES = 3, 3


def timed(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main(program: str, folder: str, out: str | None) -> None:
    import scipy
    from scipy.io import mmread

    report: dict = {}
    plain, zipped = (str(Path(folder) / name) for name in ("random.mtx", "random.mtx.gz"))
    readers = {
        "SciPy, plain, to COO": lambda: mmread(plain),
        "SciPy, plain, to CSR": lambda: mmread(plain).tocsr(),
        "SciPy, gzip, to CSR": lambda: mmread(zipped).tocsr(),
    }
    samples: dict[str, list[float]] = {}
    for _ in range(TURNS):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            subprocess.run([program, folder, "--json", file.name], check=True,
                           stdout=subprocess.DEVNULL)
            report = json.loads(Path(file.name).read_text(encoding="utf-8"))
        for row in report["rows"]:
            name = f"warpladder, {row['name']}, to CSR, {row['threads']} threads"
            samples.setdefault(name, []).extend(row["samples_s"])
        for name, read in readers.items():
            samples.setdefault(name, []).extend(timed(read) for _ in range(SAMPLES))
    megabytes = report["text_mb"]
    report["argv"] = [Path(argument).name for argument in sys.argv]
    report["libraries"] = {"SciPy": scipy.__version__}
    report["load_average"] = os.getloadavg()[0]
    report["rows"] = [{"name": name, "samples_s": times,
                       "mb_per_s": megabytes / statistics.median(times)}
                      for name, times in samples.items()]
    print(f"{megabytes:.0f} MB of text; medians; load average {report['load_average']:.2f}")
    for row in report["rows"]:
        print(f"  {row['name']:38} {row['mb_per_s']:6.0f} MB/s")
    if out:
        Path(out).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else None)
