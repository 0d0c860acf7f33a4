#!/usr/bin/env python3
"""The tree stays light: recordings are as tools/keep_recording.py writes them, and no file is large."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

from common import files, main, read

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import keep_recording  # noqa: E402

TREE_BYTES, FILE_BYTES, PLAIN_BYTES = 15_000_000, 300_000, 15_360
LARGE = {
    # 256 trees for each of 27 rungs.
    "src/ops/sgemm/corrections_table.hpp": 500_000,
    "tuning/sm_90/sgemm_corrections.json": 500_000,
}
# Programs that read no compressed files read these.
PLAIN = {
    "results/current/nvidia-h100/bank_patterns.json",  # tests/executor/bank_patterns_test.cpp
    "results/current/nvidia-h200/bank_patterns.json",
    "results/current/nvidia-h200/sgemm_tensor_wide.json",  # `compare` in docs/command-line.md
}
INDEX = keep_recording.INDEX
COLUMNS = ["path", "sha256", "commit", "subject", "kept_as"]
PLACE = re.compile(r"results/current/([a-z0-9.-]+)/[a-z0-9_]+\.(json|json\.xz|csv|txt)")
TOOL = "tools/keep_recording.py"


def recording_fault(path: Path, folder: str) -> str | None:
    try:
        text = keep_recording.text_of(path)
        recorded = keep_recording.recorded_of(path, text)
        if ".json" in path.suffixes and keep_recording.rendered(json.loads(text)) != text:
            return f"not one line a row, as {TOOL} writes it"
        missing = {"date", "commit", "raw_sha256"} - set(dict(recorded))
        if missing:
            return f"does not say its {min(missing)}; {TOOL} writes it"
        if keep_recording.folder_of(recorded) != folder:
            return f"lies in {folder}/, but was recorded on {keep_recording.folder_of(recorded)}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"holds no `recorded`, as {TOOL} writes it"
    return None


def kept_fault(root: Path, sha256: str, kept_as: str) -> str | None:
    """The index names the recording that was made of a report, not a later one of that name."""
    path = root / kept_as
    if not path.is_file():
        return f"{kept_as} is listed as kept, but is not there"
    try:
        made_of = keep_recording.recorded_of(path, keep_recording.text_of(path))["raw_sha256"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # a fault of the recording, which is reported there
    return None if made_of == sha256 else f"{kept_as} was made of another report"


def index_faults(root: Path):
    if not (root / INDEX).is_file():
        return
    with open(root / INDEX, encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    if header != COLUMNS:
        yield INDEX, 1, f"its columns are not {', '.join(COLUMNS)}"
        return
    for number, row in enumerate(rows, 2):
        if len(row) != len(COLUMNS):
            yield INDEX, number, f"{len(row)} columns, not {len(COLUMNS)}"
        elif not (re.fullmatch(r"[0-9a-f]{64}", row[1]) and re.fullmatch(r"[0-9a-f]{12,40}", row[2])):
            yield INDEX, number, "no sha256 and commit in hexadecimal digits"
        elif (root / row[0]).exists():
            yield INDEX, number, f"{row[0]} is listed as removed, but is there"
        elif row[4] and (fault := kept_fault(root, row[1], row[4])):
            yield INDEX, number, fault


def offences(root: Path):
    total = 0
    for path in files(root):
        bytes_ = (root / path).stat().st_size
        total += bytes_
        limit = LARGE.get(path, FILE_BYTES)
        if bytes_ > limit:
            yield path, 1, f"{bytes_} bytes; the limit is {limit}"
        if not path.startswith("results/") or path in ("results/README.md", INDEX):
            continue
        place = PLACE.fullmatch(path)
        fault = recording_fault(root / path, place[1]) if place else (
            f"recordings lie in results/current/GPU/OP_SUBJECT.json; {TOOL} puts them there")
        if fault:
            yield path, 1, fault
        elif path.endswith(".json") and bytes_ > PLAIN_BYTES and path not in PLAIN:
            yield path, 1, f"{bytes_} bytes; from {PLAIN_BYTES} on, compress it: {TOOL} --xz"
    yield from index_faults(root)
    if total > TREE_BYTES:
        yield ".", 1, f"the tree has {total} bytes; the limit is {TREE_BYTES}"


if __name__ == "__main__":
    main(offences)
