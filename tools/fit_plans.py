#!/usr/bin/env python3
"""Makes the corrections of sgemm's plans: fit_plans.py RECORDING.json... [--into FILE [--add [--again RUNG] [--trees N]]] [--folds N]

A recording is of benchmarks/plan_times: for random products, or batches of them, what each rung takes by the
model of plan(), what it took on a GPU, and how it cuts the product, beside cuBLAS. A recording of a single rung
(--only) adds to those before it. A rung's correction is a sum of trees, grown one after the other on what is
left of the logarithm of measured ÷ modelled time (gradient boosting). Each tree asks questions on traits of the
product and of the cut; src/ops/sgemm/corrections.hpp knows the same traits in the same order. Products on which
a rung is near the best, of all or of those of its arithmetic, count most, for there plans are decided.

--into: the file for the corrections, such as tuning/sm_90/sgemm_corrections.json. tools/generate_tuning.py
compiles them in. --add: keeps what the file has, and learns the rungs that it lacks. --again: learns this one
again, in as many trees as it has. --trees: learns in so many. --folds: says what plans lose on products that were
not learned from, as it comes out with N parts, each left out once. Fitting needs NumPy.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from multiprocessing import Pool
from pathlib import Path

import keep_recording
from plan_traits import ALPHABET, DIGITS, EDGES, LEVELS, QUESTIONS, cut_traits_of, traits_of

try:
    import numpy as np
except ImportError:  # said by main()
    np = None

TREES, LATER_TREES, RATE = 238, 50, 0.2  # of a rung; of one that --add adds, for the table is full
LEAST_ROWS = 16  # of a rung; fewer tell nothing
LEAST_OF_LEAF, SHRINKAGE = 6.0, 1.0  # in weights of rows
MOST_OF_LOSERS = 2.5  # a rung that takes twice as long as the best one weighs 2 to the power of so much less
UNIT = 1000  # of a leaf's logarithm
MOST_TIMES = 1  # logarithm: plan() leaves out what takes more than twice as long as the fastest, by the model


# Arithmetics that callers may ask for, beside all of them.
ARITHMETICS = (
    {"row_07_register_parity", "row_11_few_rows", "row_13_split_k", "row_19_few_lines", "row_20_parity_split_k",
     "row_22_columns_stay", "row_24_batched_parity", "row_26_small_tiles", "row_27_grouped_warps",
     "row_28_even_shares", "row_29_fitted_tiles", "row_30_even_tiles", "row_31_packed_operands", "row_32_whole_depth",
     "row_33_low_tiles"},
    {"row_08_double", "row_14_double_split_k"},
    {f"{rung}_in_batches"
     for rung in ("row_15_tiny_products", "row_16_streamed", "row_19_few_lines", "row_23_lone_warps",
                  "row_24_batched_parity", "row_26_small_tiles", "row_27_grouped_warps", "row_28_even_shares",
                  "row_29_fitted_tiles", "row_32_whole_depth", "row_34_even_batches")},
)


class Refused(Exception):
    """One sentence: why nothing was fitted."""


class Row:
    """A product, or a batch: for each rung its traits, and the logarithms of its modelled and its measured time."""

    def __init__(self, given: dict, rungs: list):
        self.is_batch = "batch" in given
        self.cublas = given["cublas"]
        self.times, self.traits, self.accurate = {}, {}, set()
        self.corrected = {}  # rung: the logarithm of its modelled time, as trees correct it
        self.add(given, rungs)

    def add(self, given: dict, rungs: list):
        """Times of further rungs, as if measured when the first ones were: cuBLAS's differ by what launches took."""
        product, count = given["product"], given.get("batch", 1)
        of_product, later = traits_of(product, count), self.cublas - given["cublas"]
        if abs(later) > self.cublas / 4:  # one of both was disturbed
            later = 0
        alone = given.get("cuda_cores_alone", [])
        for rung, taken in zip(rungs, given["times"]):
            if taken:
                model, measured, *cut = taken
                name = rung + "_in_batches" * self.is_batch
                self.times[name] = (math.log2(model), math.log2(max(1, measured + later)))
                self.traits[name] = of_product + cut_traits_of(product, count, model, cut)
                if rung not in alone:
                    self.accurate.add(name)
        self.best = min(self.times[rung][1] for rung in self.accurate)

    def only(self, rungs: set) -> dict:
        return {rung: times for rung, times in self.times.items() if rung in rungs}


def read(names: list) -> list:
    rows, latest = [], {}
    for name in names:
        try:
            report = json.loads(keep_recording.text_of(Path(name)))
            rungs = report["rungs"]
            for given in report["rows"]:
                key = given["product"], given.get("batch")
                if len(rungs) == 1 and key in latest:
                    latest[key].add(given, rungs)
                    continue
                latest[key] = Row(given, rungs)
                rows.append(latest[key])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"{name} is no recording of plan_times: {error}") from None
    return rows


def weight_of(row: Row, rung: str) -> float:
    own = next((row.only(rungs) for rungs in ARITHMETICS if rung in rungs), row.times)
    best = min(time for _, time in own.values())
    times_as_long = row.times[rung][1] - (max(row.best, best) if rung in row.accurate else best)
    return 2.0 ** (-MOST_OF_LOSERS * times_as_long)


def edges_of(rows: list) -> list:
    """Of each trait, values that part all rows' rungs evenly, as they are kept."""
    found = []
    for values in np.array([traits for row in rows for traits in row.traits.values()]).T:
        known, counts = np.unique(values, return_counts=True)
        between = (known[:-1] + known[1:]) / 2
        if len(between) > EDGES:
            wanted = np.arange(1, EDGES + 1) * (len(values) / (EDGES + 1))
            between = between[np.searchsorted(np.cumsum(counts)[:-1], wanted).clip(0, len(between) - 1)]
        found.append(np.unique(np.round(between, 4)))
    return found


def bins_of(traits: list, edges: list):
    """How many of each trait's edges lie below it."""
    return np.stack([np.searchsorted(of, values) for of, values in zip(edges, np.array(traits).T)], axis=1)


def best_question(bins, weights, residuals, counts):
    """(trait, edge) of the question whose answers part the residuals best; None where none does. `counts`: edges of
    each trait."""
    traits, width = bins.shape[1], EDGES + 1
    places = (bins + np.arange(traits) * width).ravel()
    def below(values):
        sums = np.bincount(places, np.repeat(values, traits), traits * width).reshape(traits, width)
        return np.cumsum(sums, axis=1)[:, :-1]
    w, r = below(weights), below(weights * residuals)
    all_w, all_r = weights.sum(), (weights * residuals).sum()
    gain = (r**2 / (w + SHRINKAGE) + (all_r - r)**2 / (all_w - w + SHRINKAGE) - all_r**2 / (all_w + SHRINKAGE))
    is_known = np.arange(EDGES) < counts[:, None]
    gain[~is_known | (w < LEAST_OF_LEAF) | (all_w - w < LEAST_OF_LEAF)] = 0
    best = int(gain.argmax())
    return divmod(best, EDGES) if gain.flat[best] > 1e-6 else None


def grown(bins, weights, residuals, counts) -> tuple:
    """A tree, whose leaves are in UNITs, and what it takes from each residual."""
    trait, edge, leaf = [0] * QUESTIONS, [EDGES] * QUESTIONS, [0] * (QUESTIONS + 1)  # all answer no
    taken = np.zeros(len(residuals))
    nodes = {0: np.arange(len(residuals))}
    for node in range(2 * QUESTIONS + 1):
        members = nodes.get(node, ())
        if not len(members):
            continue
        if node < QUESTIONS:
            asked = best_question(bins[members], weights[members], residuals[members], counts)
            if asked:
                trait[node], edge[node] = asked
            above = bins[members, trait[node]] > edge[node]
            nodes[2 * node + 1], nodes[2 * node + 2] = members[~above], members[above]
        else:
            w = weights[members]
            value = RATE * (w * residuals[members]).sum() / (w.sum() + SHRINKAGE)
            leaf[node - QUESTIONS] = int(np.clip(round(UNIT * value), -(DIGITS**2 // 2), DIGITS**2 // 2))
            taken[members] = leaf[node - QUESTIONS] / UNIT
    return (trait, edge, leaf), taken


def forest(job: tuple) -> list:
    """So many trees of a rung, of (bins, weight, logarithm of measured ÷ modelled time) of each row that has it."""
    edges, rows, count = job
    if len(rows) < LEAST_ROWS:
        return []
    bins, weights, residuals = (np.array(each) for each in zip(*rows))
    counts = np.array([len(of) for of in edges])
    trees = []
    for _ in range(count):
        tree, taken = grown(bins, weights, residuals, counts)
        residuals = residuals - taken
        trees.append(tree)
    return trees


def fitted(rows: list, kept: tuple | None = None, again: str | None = None, trees: int | None = None) -> tuple:
    """(edges, {rung: trees}). `kept`: the same of an earlier fit, of which the edges stay, and the trees but for those
    of the rung `again`. `trees`: of a rung that is learned."""
    edges, known = kept or (edges_of(rows), {})
    jobs = {rung: [] for rung in sorted({rung for row in rows for rung in row.times} - (set(known) - {again}))}
    for row in rows:
        wanted = [rung for rung in row.times if rung in jobs]
        if not wanted:
            continue
        for rung, bins in zip(wanted, bins_of([row.traits[rung] for rung in wanted], edges)):
            model, measured = row.times[rung]
            jobs[rung].append((bins, weight_of(row, rung), measured - model))
    def count(rung):
        return trees or (len(known[rung]) if rung in known else LATER_TREES if kept else TREES)
    with Pool() as pool:
        learned = pool.map(forest, [(edges, of_rung, count(rung)) for rung, of_rung in jobs.items()], 1)
    return edges, {**known, **dict(zip(jobs, learned))}


def correct(rows: list, edges: list, forests: dict) -> None:
    """Gives each row's rungs their corrected times."""
    for rung, trees in forests.items():
        having = [row for row in rows if rung in row.times]
        if not having:
            continue
        bins = bins_of([row.traits[rung] for row in having], edges)
        every, total = np.arange(len(having)), np.zeros(len(having))
        for trait, edge, leaf in trees:
            node = np.zeros(len(having), int)
            for _ in range(LEVELS):
                node = 2 * node + 1 + (bins[every, np.array(trait)[node]] > np.array(edge)[node])
            total += np.array(leaf)[node - QUESTIONS]
        for row, its in zip(having, total):
            row.corrected[rung] = row.times[rung][0] + its / UNIT


def outcomes(rows: list, among: set | None = None) -> list:
    """Of each row, how many times as long as the best rung, of all accurate ones or of some, the planned one takes,
    and how many times as long as either cuBLAS takes; as logarithms."""
    found = []
    for row in rows:
        times = row.only(among or row.accurate)
        if not times:
            continue
        most = MOST_TIMES + min(model for model, _ in times.values())
        near = [rung for rung, (model, _) in times.items() if model <= most]
        planned = times[min(near, key=lambda rung: row.corrected.get(rung, row.times[rung][0]))][1]
        best = min(time for _, time in times.values())
        cublas = math.log2(row.cublas)
        found.append((planned - best, cublas - planned, cublas - best))
    return found


def say(what: str, found: list) -> None:
    if not found:
        return
    losses, speedups, most = zip(*found)
    def mean(logarithms):
        return 2 ** (sum(logarithms) / len(logarithms))
    def slow(logarithms):
        return sum(each < math.log2(0.98) for each in logarithms)
    near = sum(loss <= math.log2(1.05) for loss in losses)
    print(f"{what}: {100 * (mean(losses) - 1):.1f} % slower than the best rung in the mean, within 5 % on "
          f"{100 * near / len(found):.1f} % of {len(found)} products; {mean(speedups):.3f} times as fast as cuBLAS, slower "
          f"than 0.98 on {slow(speedups)} (the best rungs: {mean(most):.3f}, {slow(most)})")


def say_all(how: str, rows: list) -> None:
    singles = [row for row in rows if not row.is_batch]
    say(f"{how}, single products", outcomes(singles))
    say(f"{how}, single products on CUDA cores", outcomes(singles, ARITHMETICS[0]))
    batches = [row for row in rows if row.is_batch]
    say(f"{how}, batches", outcomes(batches))
    say(f"{how}, batches on CUDA cores", outcomes(batches, ARITHMETICS[2]))


def text_of(tree: tuple) -> str:
    """For each question the trait and the edge, one digit each; for each leaf two digits."""
    trait, edge, leaf = tree
    places = [value + DIGITS**2 // 2 for value in leaf]
    digits = [each for pair in (*zip(trait, edge), *(divmod(place, DIGITS) for place in places)) for each in pair]
    return "".join(ALPHABET[each] for each in digits)


def trees_of(text: str) -> list:
    """What text_of() wrote of a rung's trees."""
    length, digits = 4 * 2**LEVELS - 2, [ALPHABET.index(each) for each in text]
    trees = []
    for first in range(0, len(digits), length):
        pairs = list(zip(digits[first : first + length : 2], digits[first + 1 : first + length : 2]))
        leaves = [DIGITS * high + low - DIGITS**2 // 2 for high, low in pairs[QUESTIONS:]]
        trees.append((*(list(each) for each in zip(*pairs[:QUESTIONS])), leaves))
    return trees


def as_json(edges: list, forests: dict, sources: list) -> str:
    """One line a trait or a rung."""
    def lines(values):
        return ",\n".join(f"    {each}" for each in values)
    of_traits = lines(json.dumps([float(edge) for edge in of], separators=(",", ":")) for of in edges)
    of_rungs = lines(f'{json.dumps(rung)}: {json.dumps("".join(map(text_of, trees)))}' for rung, trees in forests.items())
    source = json.dumps("fitted by tools/fit_plans.py to " + ", ".join(sources))
    return f'{{\n  "source": {source},\n  "edges": [\n{of_traits}\n  ],\n  "forests": {{\n{of_rungs}\n  }}\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="+", metavar="RECORDING.json")
    parser.add_argument("--into", type=Path, metavar="FILE")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--again", metavar="RUNG")
    parser.add_argument("--trees", type=int, metavar="N")
    parser.add_argument("--folds", type=int, metavar="N")
    flags = parser.parse_args()
    kept = None
    try:
        if flags.add and (not flags.into or flags.folds):
            raise Refused("--add needs a file to add --into, and takes no --folds")
        if flags.again and not flags.add:
            raise Refused("--again needs --add")
        if flags.trees is not None and (not flags.add or flags.trees < 1):
            raise Refused("--trees needs --add, and a number from 1 on")
        if not np:
            raise Refused("fitting needs NumPy (python3-numpy)")
        rows = read(flags.recordings)
        if not rows:
            raise Refused(f"{flags.recordings[0]} holds no products")
        if flags.add:
            known = json.loads(flags.into.read_text())
            kept = ([np.array(of) for of in known["edges"]],
                    {rung: trees_of(text) for rung, text in known["forests"].items()})
            if flags.again and flags.again not in kept[1]:
                raise Refused(f"{flags.into} has no trees of {flags.again} to learn again")
        if flags.folds is not None and not 2 <= flags.folds <= len(rows):
            raise Refused(f"--folds is {flags.folds}, but must be from 2 to the number of products, {len(rows)}")
    except (OSError, ValueError, KeyError) as error:
        print(f"fit_plans.py: {flags.into} holds no corrections: {error}", file=sys.stderr)
        return 2
    except Refused as refused:
        print(f"fit_plans.py: {refused}", file=sys.stderr)
        return 2
    say_all("By the model", rows)
    if flags.folds:
        for fold in range(flags.folds):
            correct(rows[fold :: flags.folds],
                    *fitted([row for i, row in enumerate(rows) if i % flags.folds != fold]))
        say_all("Corrected, and left out of what was learned from", rows)
    if flags.into:
        edges, forests = fitted(rows, kept, flags.again, flags.trees)
        correct(rows, edges, forests)
        say_all("Corrected, and learned from", rows)
        names = [Path(name).resolve() for name in flags.recordings]
        root = Path(__file__).resolve().parents[1]
        sources = [str(n.relative_to(root)) if n.is_relative_to(root) else n.name for n in names]
        flags.into.write_text(as_json(edges, forests, sources))
    return 0


if __name__ == "__main__":
    sys.exit(main())
