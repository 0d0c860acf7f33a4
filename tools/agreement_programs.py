#!/usr/bin/env python3
"""The executor's counts of published kernels beside a GPU's counters.

  agreement_programs.py pack --repositories DIR --to FOLDER
      puts the programs of benchmarks/agreement/programs.tsv and the tools for a GPU into FOLDER;
      tools/agreement_programs_gpu.py runs there
  agreement_programs.py reduce DIR --commit COMMIT [--date DATE]
      makes a recording of what that wrote into DIR: results/current/GPU/agreement_programs.json.xz
  agreement_programs.py count RECORDING --program build/bin/warpladder --repositories DIR
      counts the same launches, puts the counts into the recording and writes docs/agreement-programs.md of it
  agreement_programs.py page RECORDING [--check]
      writes the page of the counts that are there; with --check it writes nothing, and another page is an error

The recording holds counts and line numbers, never a program's code. Pairs and their rules are those of
tools/agreement.py.
"""

import argparse
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import agreement
import keep_recording
from agreement_raw import (COUNTERS, FMAS, Fault, disassembly_of_cubins, kernel_name, lines_of, number, placed,
                           read_csv, read_jsonl, size, version_that_ran)
from code_lines import Sources
from corpus import programs
from corpus_on_gpu import pack_sources

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "benchmarks" / "agreement" / "programs.tsv"
REASONS = ROOT / "benchmarks" / "agreement" / "programs_reasons.txt"
DOCUMENT = ROOT / "docs" / "agreement-programs.md"
CORPUS = [ROOT / "tests" / "programs" / f"{name}.tsv" for name in ("corpus", "corpus_fresh")]
LEAST = 0.95  # of the pairs agree, as compiled
TOOLS = ("agreement_programs_gpu", "agreement_raw", "code_lines", "corpus", "corpus_on_gpu", "extract_instructions")


# ---- the list


def read_list():
    """The rows of the list, each with what the corpus says of its program, and a name of its own."""
    corpus = {program["id"]: program for file in CORPUS for program in programs(file)}
    with open(LIST, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found, names = [], set()
    for row in rows:
        if row["program"] not in corpus:
            raise Fault(f"{LIST.name}: the corpus has no program {row['program']}")
        program = corpus[row["program"]]
        arguments = program["arguments"] if row["arguments"] == "=" else row["arguments"]
        name = row["program"]
        while name in names:
            name += "_"
        names.add(name)
        found.append({**program, **row, "arguments": arguments, "row": name})
    return found


def pack(options):
    root = options.repositories.resolve()
    rows = read_list()
    for row in rows:
        pack_sources(row, root, options.to)
    (options.to / "programs.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for tool in TOOLS:
        shutil.copyfile(Path(__file__).with_name(f"{tool}.py"), options.to / f"{tool}.py")
    print(f"{len(rows)} programs, {sum(len(row['kernels'].split()) for row in rows)} kernels")


# ---- the GPU's side


def relative(file):
    """Below the folder of the clones; a toolkit's files keep their names."""
    return os.path.normpath(file.partition("/sources/")[2] or file)


def own_frame(frames):
    """As the executor has it: the innermost line of the program's own files."""
    return next((f for f in frames if not f[0].startswith("/")), frames[0] if frames else ("unknown", 0))


def base_name(kernel):
    return kernel.split("<")[0].split("::")[-1]


def launches_of(folder):
    """(the launch's counters, its instructions) of each launch of a program."""
    for totals in sorted(folder.glob("counters_*.csv.gz")):
        codes = read_jsonl(folder / totals.name.replace("counters", "source").replace("csv", "jsonl"))
        rows = read_csv(totals)
        if len(rows) != len(codes):
            raise Fault(f"{folder.name}: {len(rows)} launches with counters, {len(codes)} with instructions")
        yield from zip(rows, codes)


def measured(row, folder):
    """A recording's rows: of each launch of a program that the list asks for."""
    launches = list(launches_of(folder))
    symbols = {code["name"] for _, code in launches}
    versions = disassembly_of_cubins(sorted((folder.parent / row["program"]).glob("*.cubin")), symbols, relative)
    sources = Sources(folder)  # which holds none: lines keep their numbers
    for totals, profile in launches:
        code = list(placed(profile["code"], version_that_ran(profile, versions.get(profile["name"])), relative))
        yield {"program": row["program"], "launch": int(row["launch"]), "arguments": row["arguments"],
               "kernel": kernel_name(profile["name"]), "shows": row["shows"],
               "grid": size(totals["Grid Size"]), "block": size(totals["Block Size"]),
               "counters": [number(totals[metric]) for metric in COUNTERS.values()]
               + [sum(number(totals[metric]) for metric in FMAS)],
               "lines": lines_of(code, sources, own_frame)}


def reduce(options):
    folder = Path(options.folder)
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    rows, missing = [], []
    for row in read_list():
        found = {base_name(launch["kernel"]): launch for launch in measured(row, folder / row["row"])}
        rows += [found[name] for name in row["kernels"].split() if name in found]
        missing += [f"{name} of {row['program']}" for name in row["kernels"].split() if name not in found]
    if missing:
        print(f"not recorded: {', '.join(missing)}", file=sys.stderr)
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*/*.gz")):
        digest.update(file.read_bytes())
    recorded = {"gpu": origin["gpu"], "date": options.date or origin["date"], "commit": options.commit,
                "command": "tools/agreement_programs_gpu.py FOLDER DIR", "raw_sha256": digest.hexdigest()}
    home = ROOT / "results" / "current" / f"nvidia-{agreement.gpu_key(origin['gpu'])}"
    text = rendered({"program": "agreement_programs", "recorded": recorded,
                     "counters": [*COUNTERS.values(), " + ".join(FMAS)]}, rows)
    path = home / "agreement_programs.json.xz"
    path.write_bytes(keep_recording.bytes_of(path, text))
    print(f"{path}: {len(rows)} rows, {path.stat().st_size} bytes")


# ---- the recording


def rendered(whole, rows):
    """The recording's text. Lines name files by their place in the member "files"."""
    files = sorted({line[0] for row in rows for line in row["lines"]})
    place = {file: i for i, file in enumerate(files)}
    packed = [{**row, "lines": [[place[file], *counts] for file, *counts in row["lines"]]} for row in rows]
    members = {name: value for name, value in whole.items() if name not in ("files", "rows")}
    return keep_recording.rendered({**members, "files": files, "rows": packed})


def read_recording(path):
    whole = json.loads(keep_recording.text_of(Path(path)))
    whole["rows"] = [{**row, "lines": [[whole["files"][file], *counts] for file, *counts in row["lines"]]}
                     for row in whole["rows"]]
    return whole


# ---- the executor's side


class Explained:
    """What `warpladder explain` counts of a program's launches, as tools/agreement.py has counts."""

    def __init__(self, row, options, gpu, compiled=None):
        self.root, self.row = options.repositories.resolve(), row
        self.folder = (self.root / row["files"].split()[0]).parent
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "report.json"
            call = [str(options.program.resolve()), "explain", "--launch", row["launch"], "--gpu", gpu,
                    "--brief", "--json", str(report)]
            if compiled:
                code = Path(scratch) / "compiled.tsv"
                code.write_text(agreement.compiled_text(compiled), encoding="utf-8")
                call += ["--as-compiled", str(code)]
            call += [word for folder in row["includes"].split() if (self.root / folder).is_dir()
                     for word in ("-I", str(self.root / folder))]
            call += [word for define in row["defines"].split() for word in ("-D", define)]
            call += [str(self.root / file) for file in row["files"].split()] + ["--", *row["arguments"].split()]
            done = subprocess.run(call, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace")
            if not report.is_file():
                raise Fault(f"{row['program']} was not counted: {done.stderr.strip()[-300:]}")
            self.launches = [self.launch(k) for k in json.loads(report.read_text(encoding="utf-8"))["kernels"]]

    def launch(self, kernel):
        first = kernel["kernels"][0]
        accesses, events = [], []
        for line in kernel["lines"]:
            place = {"file": self.file(line["file"]), "line": line["line"]}
            accesses += [{**a, **place, "conflicts": a["wavefronts"] - a["ideal_wavefronts"]} for a in line["accesses"]]
            events.append({**place, **{name: line[name] for name in ("fmas", "barriers", "shuffles")}})
        return {"kernel": first["kernel"], "grid": first["grid"], "block": first["block"], "accesses": accesses,
                "events": events}

    def file(self, name):
        """Below the folder of the clones; the report has it from where the program ran."""
        return os.path.relpath(os.path.realpath(self.folder / name), self.root)

    def of(self, recorded):
        """The launch that a recording's row is of, or None."""
        found = [k for k in self.launches if base_name(k["kernel"]) == base_name(recorded["kernel"])
                 and k["grid"] == recorded["grid"] and k["block"] == recorded["block"]]
        return found[0] if len(found) == 1 else None


def compiled_for(recorded, asked, root):
    """The machine code of the recorded launches, by the executor's names of the kernels and files."""
    rows = [{"kernel": asked.of(row)["kernel"], "lines": [[str(root / file), *counts] for file, *counts in row["lines"]]}
            for row in recorded]
    return agreement.compiled_code(rows)


def counts_of(row, asked, made):
    ours = [agreement.counters_of(launch, agreement.copying_lines(row), agreement.has_atomics(row))
            for launch in (asked, made)]
    pairs = agreement.line_pairs_of(as_rung(row), made)
    return {"source": [ours[0][name] for name in agreement.ALL_COUNTERS],
            "compiled": [ours[1][name] for name in agreement.ALL_COUNTERS],
            "lines_agree": [sum(pair.agrees for pair in pairs), len(pairs)]}


def count(options):
    recording = read_recording(options.recording)
    gpu = agreement.gpu_key(recording["recorded"]["gpu"])  # programs may ask for its multiprocessors
    for row in read_list():
        mine = [r for r in recording["rows"] if (r["program"], r["arguments"], r["launch"])
                == (row["program"], row["arguments"], int(row["launch"])) and options.only in r["program"]]
        if not mine:
            continue
        asked = Explained(row, options, gpu)
        other = [r["kernel"] for r in mine if asked.of(r) is None]
        if other:
            raise Fault(f"{row['program']}: the executor's launches of {', '.join(other)} are others than the GPU's")
        made = Explained(row, options, gpu, compiled_for(mine, asked, asked.root))
        for recorded in mine:
            recorded.update(counts_of(recorded, asked.of(recorded), made.of(recorded)))
        print(f"{row['program']}: {sum(p.agrees for r in mine for p in pairs_of(r))} of "
              f"{sum(len(pairs_of(r)) for r in mine)} pairs agree", flush=True)
    path = Path(options.recording)
    path.write_bytes(keep_recording.bytes_of(path, rendered(recording, recording["rows"])))
    DOCUMENT.write_text(document_of(recording), encoding="utf-8")


# ---- the page


def as_rung(row):
    """As tools/agreement.py has rows."""
    return {**row, "rung": row["program"], "problem": row["arguments"], "flags": [0, 0]}


def pairs_of(row):
    return agreement.pairs_of(as_rung(row))


def kernel_rows(rows):
    for row in rows:
        pairs = pairs_of(row)
        used = [p for p in pairs if p.source or p.compiled or p.gpu]
        yield [f"`{row['program']}`", f"`{base_name(row['kernel'])}`", row["shows"], f"`{row['arguments']}`" if row["arguments"] else "",
               f"{row['launch']}", f"{sum(p.agrees for p in used)} of {len(used)}"]


def exception_rows(pairs):
    reasons = agreement.read_reasons(REASONS)
    for p in pairs:
        if not p.agrees:
            yield [f"`{p.rung}`", f"`{base_name(p.kernel)}`", p.counter, f"{p.source:,}", f"{p.compiled:,}",
                   f"{p.gpu:,}", agreement.reason_of(p, reasons)]


def document_of(recording):
    rows, share, table = recording["rows"], agreement.share, agreement.table
    pairs = [pair for row in rows for pair in pairs_of(row)]
    used = [p for p in pairs if p.source or p.compiled or p.gpu]
    strict = sum(agreement.agree(p.counter, p.compiled, p.gpu) for p in pairs)
    by_units = sum(sum(agreement.agreements_with_units(row)) for row in rows)
    corpus = {program["id"]: program["repository"] for file in CORPUS for program in programs(file)}
    ran = {row["program"] for row in rows}
    text = f"""# Counts of published kernels beside a GPU's

[agreement.md](agreement.md) compares the executor's counts of the rungs with Nsight Compute's. This page does the same
for {len(rows)} kernels of {len(ran)} published programs from {len({corpus[name] for name in ran})} repositories, on an {recording["recorded"]["gpu"]}. It is generated:
`tools/agreement_programs.py`.

[programs.tsv](../benchmarks/agreement/programs.tsv) names the programs, which are of
[the corpus](own-programs.md#other-peoples-programs). The list was made from the sources, to have each kind of access, before
any count of theirs was compared. No kernel was left out afterwards. Kernels that read textures, call cuBLAS, thrust or
cub, or draw random numbers seeded by the time are not on it. Both sides run the same launch with the same arguments.

A pair is a counter of one launch. Counts agree if they are equal. Wavefronts may differ by 2 %, and bank conflicts by
2 % of the wavefronts that hold them.

| | agree |
| :-- | --: |
| as the source asks | {share(sum(p.source_agrees for p in pairs), len(pairs))} |
| as the compiler made it | {share(sum(p.agrees for p in pairs), len(pairs))} |
| of these, pairs that are not 0 on both sides | {share(sum(p.agrees for p in used), len(used))} |
| with conflicts held to 2 % of themselves | {share(strict, len(pairs))} |
| with all that the units counted | {share(by_units, len(pairs))} |

[agreement.md](agreement.md) says what "as the compiler made it" means, and which counters are sums over
instructions.

{table(["counter", "pairs", "as the source asks", "as compiled", "not 0"], agreement.counter_rows(pairs))}
Of the pairs of single lines, {share(*(sum(row["lines_agree"][i] for row in rows) for i in (0, 1)))} agree.

## The kernels

The last column counts pairs that are not 0 on both sides.

{table(["program", "kernel", "shows", "arguments", "launch", "agree"], kernel_rows(rows))}
## The exceptions

{table(["program", "kernel", "counter", "source", "compiled", "GPU", "reason"], exception_rows(pairs))}"""
    return text.rstrip("\n") + "\n"


def check(recording, text):
    """What can be told without the programs."""
    listed = [(row["program"], row["arguments"], int(row["launch"]), name)
              for row in read_list() for name in row["kernels"].split()]
    recorded = [(row["program"], row["arguments"], row["launch"], base_name(row["kernel"])) for row in recording["rows"]]
    if listed != recorded:
        raise Fault(f"the recording's kernels are not those of {LIST.relative_to(ROOT)}")
    if DOCUMENT.read_text(encoding="utf-8") != text:
        raise Fault(f"{DOCUMENT.relative_to(ROOT)} is not what tools/agreement_programs.py page would write")
    if agreement.NO_REASON in text:
        raise Fault(f"{text.count(agreement.NO_REASON)} exceptions have no reason in {REASONS.relative_to(ROOT)}")
    pairs = [pair for row in recording["rows"] for pair in pairs_of(row)]
    agreeing = sum(pair.agrees for pair in pairs)
    if agreeing < LEAST * len(pairs):
        raise Fault(f"only {agreement.share(agreeing, len(pairs))} of the pairs agree")


def page(options):
    recording = read_recording(options.recording)
    text = document_of(recording)
    if options.check:
        check(recording, text)
    else:
        DOCUMENT.write_text(text, encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    packing, reducing, counting, paging = (verbs.add_parser(verb) for verb in ("pack", "reduce", "count", "page"))
    packing.add_argument("--to", type=Path, required=True)
    reducing.add_argument("folder")
    reducing.add_argument("--commit", required=True)
    reducing.add_argument("--date")
    counting.add_argument("--program", type=Path, required=True)
    counting.add_argument("--only", default="", help="what a program's name must hold")
    paging.add_argument("--check", action="store_true")
    for verb in (counting, paging):
        verb.add_argument("recording")
    for verb in (packing, counting):
        verb.add_argument("--repositories", type=Path, required=True)
    for verb, run in ((packing, pack), (reducing, reduce), (counting, count), (paging, page)):
        verb.set_defaults(run=run)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
