#!/usr/bin/env python3
"""Keeps a report under results/current/: keep_recording.py REPORT [NAME] [--of OTHER.json]

REPORT is what `bench`, `verify`, `accuracy`, `build`, `tune` or a program of benchmarks/ wrote with --json, or a
text of the same run, such as counters in CSV. The tool writes results/current/GPU/NAME.json and replaces
the recording of that name; without NAME it is the stem of REPORT. Each row becomes one line. --xz compresses it: that
is for rows that tools alone read. A recording that replaces a compressed one is compressed, too. Of more than 61 samples of one kind it keeps 61
or 60: the median, and others evenly spaced by rank, in the order they were measured. Of a search it keeps one row
a problem: the winner, the constants of that time, and the medians of all configurations that were timed to the end.

A recording says where it comes from: GPU or compiler, date, commit, and the report's sha256. The tool takes
these from the report, or for a text from the JSON report named with --of. What a report does not say is
given with --gpu, --date and --commit. A commit with changes (`-dirty`) is refused, unless --commit says it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import lzma
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CURRENT = "results/current"
INDEX = "results/index.csv"  # of the full reports that the tree held once
REMARKS = {"skipped", "failure", "invalid", "judged_in_part", "remark", "class"}  # mostly empty
MOST_SAMPLES = 61
# The clock gives no more digits than these; errors are compared by powers of two.
DIGITS, ERROR_DIGITS = 9, 6
TEXT_HEAD = "# recorded: "  # the first line of a recording that is no JSON
COMPACT = {"ensure_ascii": False, "separators": (",", ":")}


class Refused(Exception):
    """One sentence: why a report cannot be kept."""


def thinned(samples: list) -> list:
    """At most MOST_SAMPLES of them: the median's, and others evenly spaced by rank."""
    if len(samples) <= MOST_SAMPLES:
        return samples
    # Of an even number the median lies between two, so that both stay.
    last, half, steps = len(samples) - 1, (len(samples) - 1) // 2, MOST_SAMPLES // 2 - 1 + len(samples) % 2
    lower = {round(step * half / steps) for step in range(steps + 1)}
    ranks = lower | {last - rank for rank in lower}
    order = sorted(range(len(samples)), key=samples.__getitem__)
    return [samples[place] for place in sorted(order[rank] for rank in ranks)]


def light(value, digits: int, key: str = ""):
    """Without digits and samples that nobody reads, and without empty remarks."""
    if isinstance(value, dict):
        return {name: light(member, digits, name) for name, member in value.items()
                if member != "" or name not in REMARKS}
    if isinstance(value, list):
        is_samples = re.search(r"samples_n?s$", key) and all(isinstance(v, (int, float)) for v in value)
        return [light(member, digits) for member in (thinned(value) if is_samples else value)]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**63 else float(f"{value:.{digits}g}")
    return value


def outcome(problem: dict) -> dict:
    """The row of a problem that `tune` searched: medians and counts instead of samples."""
    candidates = problem["configurations"]
    timed = [{name: candidate[name] for name in ("configuration", "median_s")}
             for candidate in candidates if candidate["fate"] == "timed"]
    rest = {name: value for name, value in problem.items() if name != "configurations"}
    return {**rest, "fates": Counter(candidate["fate"] for candidate in candidates), "timed": timed}


def rendered(recording: dict) -> str:
    """A member a line, and of the rows a row a line."""
    members = []
    for name, value in recording.items():
        text = json.dumps(value, **COMPACT)
        if name == "rows" and value:
            text = "[\n" + ",\n".join(json.dumps(row, **COMPACT) for row in value) + "\n]"
        members.append(f"{json.dumps(name)}:{text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def bytes_of(path: Path, text: str) -> bytes:
    """Of a recording with this path."""
    plain = text.encode()
    return lzma.compress(plain, preset=9 | lzma.PRESET_EXTREME) if path.suffix == ".xz" else plain


def text_of(path: Path) -> str:
    """Of a recording. Raises OSError and ValueError."""
    found = path.read_bytes()
    try:
        return (lzma.decompress(found) if path.suffix == ".xz" else found).decode()
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None


def recorded_of(path: Path, text: str) -> dict:
    """What a recording with this path and text says of where it comes from."""
    if ".json" in path.suffixes:
        return json.loads(text)["recorded"]
    return json.loads(text.split("\n", 1)[0].removeprefix(TEXT_HEAD))


def replaced_in_index(index: str, place: str, raw_sha256: str) -> str:
    """The index without the claim that a recording is still the one made of an earlier report."""
    rows = list(csv.reader(io.StringIO(index)))
    for row in rows:
        if row[4:] == [f"{CURRENT}/{place}"] and row[1] != raw_sha256:
            row[4] = ""
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()


def folder_of(recorded: dict) -> str:
    """nvidia-h100 of "NVIDIA H100 80GB HBM3": the words up to the first with a digit."""
    words = re.split(r"[\s-]+", recorded["gpu"].lower()) if "gpu" in recorded else []
    numbered = next((i for i, word in enumerate(words) if re.search(r"\d", word)), len(words) - 1)
    name = "-".join(words[: numbered + 1]) or (f"nvcc-{recorded['nvcc']}" if "nvcc" in recorded else "cpu")
    return re.sub(r"[^a-z0-9.-]", "", name)


def gpu_of(report: dict) -> str:
    device = report.get("device")
    if isinstance(device, str):
        return device
    gpu = (device or {}).get("gpu") or report.get("gpu") or {}
    return gpu if isinstance(gpu, str) else gpu.get("GPU", "")


def provenance(report: dict, options) -> dict:
    """GPU or compiler, date and commit; an option stands before what the report says."""
    said = {"gpu": options.gpu or gpu_of(report), "nvcc": str(report.get("nvcc", "")),
            "date": options.date or str(report.get("date", "")),
            "commit": options.commit or str(report.get("commit", "")),
            "command": options.command or ""}
    said = {name: text for name, text in said.items() if text}
    for name in ("date", "commit"):
        if name not in said:
            raise Refused(f"{options.report} does not say its {name}; give it with --{name}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d(T[\d:]+Z)?", said["date"]):
        raise Refused(f"the date '{said['date']}' is not YYYY-MM-DD, nor with a time THH:MM:SSZ")
    if not re.fullmatch(r"[0-9a-f]{12,40}" + ("(-dirty)?" if options.commit else ""), said["commit"]):
        raise Refused(f"the commit '{said['commit']}' is not 12 to 40 hexadecimal digits: build from a clean "
                      "commit, or name with --commit the one that holds these sources")
    if "command" not in said and not report.get("argv"):
        raise Refused(f"{options.report} does not say its command; give it with --command")
    return said


def read_report(path: Path) -> dict:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}") from None
    if not isinstance(report, dict):
        raise Refused(f"{path} is no report: its JSON is no object")
    return report


def kept(options) -> tuple[str, str]:
    """The recording's path below results/current/, and its text."""
    if not re.fullmatch(r"[a-z0-9_]+", options.name):
        raise Refused(f"NAME is '{options.name}', but has small letters, digits and _ alone: OPERATOR_SUBJECT")
    source = options.of or options.report
    report = read_report(source)
    raw = options.report.read_bytes()
    recorded = {**provenance(report, options), "raw_sha256": hashlib.sha256(raw).hexdigest()}
    place = f"{folder_of(recorded)}/{options.name}"
    if report.get("verb") == "tune" and "problems" in report:
        report["rows"] = [outcome(problem) for problem in report.pop("problems")]
    if not options.of:
        digits = ERROR_DIGITS if report.get("verb") == "accuracy" else DIGITS
        rest = light({name: report[name] for name in sorted(report) if name not in ("rows", "recorded")}, digits)
        rows = {"rows": light(report["rows"], digits)} if "rows" in report else {}
        xz = options.xz or (ROOT / CURRENT / f"{place}.json.xz").is_file()
        return f"{place}.json{'.xz' * xz}", rendered({"recorded": recorded, **rest, **rows})
    recorded.setdefault("command", " ".join(map(str, report.get("argv", []))))
    head = TEXT_HEAD + json.dumps(recorded, **COMPACT)
    return f"{place}{options.report.suffix}", f"{head}\n{raw.decode('utf-8')}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, metavar="REPORT")
    parser.add_argument("name", metavar="NAME", nargs="?", help="OPERATOR or OPERATOR_SUBJECT, such as sgemm_tensor")
    parser.add_argument("--of", type=Path, metavar="OTHER.json", help="the report of the run a text belongs to")
    parser.add_argument("--xz", action="store_true", help="compress the recording")
    for option in ("gpu", "date", "commit", "command"):
        parser.add_argument(f"--{option}", help=f"the {option} of a report that does not say it")
    options = parser.parse_args()
    options.name = options.name or options.report.stem
    try:
        place, text = kept(options)
    except (Refused, OSError, UnicodeDecodeError) as error:
        print(f"keep_recording: {error}", file=sys.stderr)
        return 2
    path = ROOT / CURRENT / place
    path.parent.mkdir(parents=True, exist_ok=True)
    made = bytes_of(path, text)
    path.write_bytes(made)
    index = ROOT / INDEX
    if index.is_file():
        raw_sha256 = recorded_of(path, text)["raw_sha256"]
        index.write_text(replaced_in_index(index.read_text(encoding="utf-8"), place, raw_sha256), encoding="utf-8")
    print(f"wrote {CURRENT}/{place}: {len(made)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
