#!/usr/bin/env python3
"""Writes what plans are compiled with from tuning/sm_*/: generate_tuning.py [--check] [--root DIR]

sgemm.json holds the constants of the model by which plans choose, and the configurations that `warpladder tune`
found; sgemm_corrections.json, where there is one, the model's corrections (tools/fit_plans.py). The results are
src/ops/sgemm/tuning_table.hpp and corrections_table.hpp. With --check nothing is written, and a header that is
not what would be generated is an error.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path

from plan_traits import ALPHABET, EDGES, QUESTIONS, cut_traits_of, traits_of

HEADER = "src/ops/sgemm/tuning_table.hpp"
CORRECTIONS_HEADER = "src/ops/sgemm/corrections_table.hpp"
TREES_A_LINE = 20
TRAITS = len(traits_of("nn 1x1x1") + cut_traits_of("nn 1x1x1", 1, 1, [1, 1, 1, 1]))  # of corrections' trees
LENGTH = 2 * QUESTIONS + 2 * (QUESTIONS + 1)  # of a tree's text
SECTIONS = {
    "model": (
        "launch_s join_s pairs_launch_s fma_share fma_share_of_narrow_lanes fma_share_of_large_tiles "
        "ctas_that_fill large_ctas_that_fill memory_share store_share narrow_store_share large_store_share "
        "ragged_store_share pass_share l2_bytes_per_s f64_share pairs_share f64_step_s f64_memory_share"
    ).split(),
    "words": "parity narrow square float64 float64_slices terms".split(),
    "pairs_by_warps": "launch_s pass_share pairs_share".split(),
    "terms": "round_s element_s line_s ends_s memory_share".split(),
}
# What a GPU without Hopper's instructions has no use for.
HOPPER_ALONE = set("pairs_launch_s pass_share f64_share pairs_share f64_step_s f64_memory_share".split())
# Rungs that are compiled with the configurations that were found: a word, the parameters, and the values that
# stand where none was found, for an array has at least one element.
RUNGS = {
    "row_07_register_parity": ("Parity", "rows columns depth resident".split(), (128, 128, 8, 2)),
    "tc_13_mma_sync": (
        "Warp",
        "block_m block_n warps_m warps_n stages blocks".split(),
        (128, 128, 2, 4, 3, 1),
    ),
}


class Fault(Exception):
    """One sentence on a file."""


def number(value, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise Fault(f"{where} is {json.dumps(value)}, but must be a number of 0 or more")
    return float(value)


def section(file: dict, name: str, capability: int, where: str) -> str | None:
    """Its constants as C++ initialisers; None where the file leaves out a section that it may."""
    if name not in file:
        if name in ("model", "words"):
            raise Fault(f"{where} has no {name}")
        return None
    given = file[name]
    if not isinstance(given, dict):
        raise Fault(f"{where}: {name} is no object")
    if unknown := sorted(set(given) - set(SECTIONS[name])):
        raise Fault(f"{where}: {name} has {unknown[0]}, which no plan reads")
    texts = []
    for key in SECTIONS[name]:
        if key not in given:
            if name == "model" and key in HOPPER_ALONE and capability != 90:
                continue
            raise Fault(f"{where}: {name} has no {key}")
        texts.append(f".{key} = {number(given[key], f'{where}: {name}.{key}')!r}")
    return "{" + ", ".join(texts) + "}"


def read(path: Path) -> dict:
    where = f"{path.parent.name}/{path.name}"
    try:
        file = json.loads(path.read_text())
    except ValueError as error:
        raise Fault(f"{where} is no JSON: {error}") from None
    for key, value in (("architecture", path.parent.name), ("operator", path.stem)):
        if not isinstance(file, dict) or file.get(key) != value:
            raise Fault(f"{where}: {key} is not {value}")
    return file


def whole(value, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise Fault(f"{where} is {json.dumps(value)}, but must be a whole number above 0")
    return value


def tuned_shapes(file: dict, rung: str, where: str):
    """(shape, the values of its configuration) of each problem that was tuned."""
    parameters = RUNGS[rung][1]
    of_rung = file.get("configurations", {}).get(rung, {})
    for entry in of_rung.get("shapes", []):
        shape, values = entry.get("shape"), entry.get("configuration")
        if not isinstance(shape, list) or len(shape) != 3:
            raise Fault(f"{where}: a shape of {rung} is {json.dumps(shape)}, but must have three sizes")
        sizes = [whole(size, f"{where}: a size of {rung}") for size in shape]
        if not isinstance(values, dict) or set(values) != set(parameters):
            raise Fault(f"{where}: a configuration of {rung} must give {', '.join(parameters)}")
        if entry.get("run") not in range(len(of_rung.get("runs", []))):
            raise Fault(f"{where}: the run that {rung} at {'x'.join(map(str, sizes))} comes from is not in runs")
        yield sizes, tuple(whole(values[p], f"{where}: {p} of {rung}") for p in parameters)


def generated(files: dict) -> str:
    """The header; `files` by compute capability, ascending."""
    lines = [
        "#pragma once",
        "// Generated by tools/generate_tuning.py from tuning/sm_*/sgemm.json.",
        "// clang-format off",
        "",
        '#include "ops/sgemm/tuning_types.hpp"',
        "",
        "namespace warpladder::sgemm {",
        "inline namespace WARPLADDER_FLAVOUR {",
        "",
        "constexpr TuningRow kTuning[] = {",
    ]
    for capability, file in files.items():
        where = f"sm_{capability}/sgemm.json"
        parts = [f".capability = {capability}"]
        for name in SECTIONS:
            if text := section(file, name, capability, where):
                parts.append(f".{name} = {text}")
        lines.append("    {" + ",\n     ".join(parts) + "},")
    lines.append("};")
    for rung, (word, parameters, own) in RUNGS.items():
        configs, shapes = [], []
        for capability, file in files.items():
            for sizes, values in tuned_shapes(file, rung, f"sm_{capability}/sgemm.json"):
                if values not in configs:
                    configs.append(values)
                logs = ", ".join(f"{math.log2(size):.4f}f" for size in sizes)
                shapes.append(f"    {{{capability}, {logs}, {configs.index(values)}}},  // {'x'.join(map(str, sizes))}")
        lines += ["", f"// {rung}: the configurations that were found ({', '.join(parameters)}), and for which shapes."]
        lines.append(f"constexpr int k{word}Found[][{len(parameters)}] = {{")
        lines += [f"    {{{', '.join(map(str, values))}}}," for values in configs or [own]]
        lines += ["};", f"constexpr TunedShape k{word}Shapes[] = {{", *shapes, "    {},", "};"]
    lines += ["", "}  // namespace WARPLADDER_FLAVOUR", "}  // namespace warpladder::sgemm", ""]
    return "\n".join(lines)


def edges_text(edges, where: str) -> list:
    """The edges of each trait as C++ initialisers."""
    if not isinstance(edges, list) or len(edges) != TRAITS:
        raise Fault(f"{where} must have the edges of {TRAITS} traits")
    lines = []
    for place, of in enumerate(edges):
        if not isinstance(of, list) or len(of) > EDGES:
            raise Fault(f"{where}: trait {place} must have at most {EDGES} edges")
        for value in of:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise Fault(f"{where}: trait {place} has the edge {json.dumps(value)}, but must have numbers")
        if sorted(of) != of:
            raise Fault(f"{where}: the edges of trait {place} do not ascend")
        lines.append("    edges_of({" + ",".join(f"{float(value)}f" for value in of) + "}),")
    return lines


def forest_text(forest: str, where: str) -> list:
    """The trees of a rung as C++ string literals."""
    if len(forest) % LENGTH or not set(forest) <= set(ALPHABET):
        raise Fault(f"{where} is no text of trees of {LENGTH} digits")
    for start in range(0, len(forest), LENGTH):
        if any(each not in ALPHABET[:TRAITS] for each in forest[start : start + 2 * QUESTIONS : 2]):
            raise Fault(f"{where} has a tree that asks for a trait other than 0 to {TRAITS - 1}")
    step = TREES_A_LINE * LENGTH
    return [f'    "{forest[start:start + step]}"' for start in range(0, len(forest), step)]


def generated_corrections(files: dict) -> str:
    """The header of corrections; `files` by compute capability, ascending."""
    rungs = sorted({rung for file in files.values() for rung in file["forests"]})
    lines = [
        "#pragma once",
        "// Generated by tools/generate_tuning.py from tuning/sm_*/sgemm_corrections.json.",
        "// clang-format off",
        "",
        "#include <cstddef>",
        "",
        '#include "ops/sgemm/correction_types.hpp"',
        "",
        "namespace warpladder::sgemm {",
        "inline namespace WARPLADDER_FLAVOUR {",
        "",
        "enum class Corrected {",
        *(f"  {rung}," for rung in rungs),
        "  none",
        "};",
    ]
    rows = []
    for capability, file in files.items():
        where = f"sm_{capability}/sgemm_corrections.json"
        lines += ["", f"constexpr Edges k{capability}_edges[kTraits] = {{", *edges_text(file["edges"], where), "};"]
        forests = []
        for rung in rungs:
            forest = file["forests"].get(rung, "")
            forests.append("{}")
            if forest:
                name = f"k{capability}_{rung}"
                lines += ["", f"constexpr char {name}[] =", *forest_text(forest, f"{where}: {rung}")]
                lines[-1] += ";"
                forests[-1] = f"{{{name}, {len(forest) // LENGTH}}}"
        rows.append(f"    {{{capability}, k{capability}_edges, {{{', '.join(forests)}}}}},")
    lines += [
        "",
        "struct Corrections {",
        "  int capability;",
        "  const Edges* edges;",
        f"  Forest forests[{len(rungs)}];",
        "  const Forest& of(Corrected rung) const { return forests[static_cast<std::size_t>(rung)]; }",
        "};",
        "constexpr Corrections kCorrections[] = {",
        *rows,
        "};",
        "",
        "}  // namespace WARPLADDER_FLAVOUR",
        "}  // namespace warpladder::sgemm",
        "",
    ]
    return "\n".join(lines)


def corrections_of(path: Path) -> dict:
    where = f"{path.parent.name}/{path.name}"
    try:
        file = json.loads(path.read_text())
        forests = file["forests"]
        file["edges"]
    except (ValueError, KeyError, TypeError) as error:
        raise Fault(f"{where} holds no corrections: {error}") from None
    if not isinstance(forests, dict) or not all(isinstance(forest, str) for forest in forests.values()):
        raise Fault(f"{where}: forests is no object of texts")
    if unknown := [rung for rung in forests if not re.fullmatch(r"[a-z]+_\d\d_\w+", rung)]:
        raise Fault(f"{where}: {unknown[0]} is no rung")
    return file


def by_capability(root: Path, name: str, reader) -> dict:
    found = {
        int(match[1]): reader(path)
        for path in root.glob(f"tuning/sm_*/{name}")
        if (match := re.fullmatch(r"sm_(\d+)", path.parent.name))
    }
    if not found:
        raise Fault(f"{root}/tuning holds no sm_*/{name}")
    return dict(sorted(found.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    flags = parser.parse_args()
    try:
        texts = {
            HEADER: generated(by_capability(flags.root, "sgemm.json", read)),
            CORRECTIONS_HEADER: generated_corrections(
                by_capability(flags.root, "sgemm_corrections.json", corrections_of)
            ),
        }
    except Fault as fault:
        print(f"generate_tuning.py: {fault}", file=sys.stderr)
        return 2
    status = 0
    for name, text in texts.items():
        header = flags.root / name
        if header.is_file() and header.read_text() == text:  # written again, all rungs would be compiled again
            continue
        if not flags.check:
            header.write_text(text)
        else:
            print(f"{name} is not what tools/generate_tuning.py would write", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
