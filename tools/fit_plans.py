#!/usr/bin/env python3
"""Makes the corrections of sgemm's plans: fit_plans.py RECORDING.json... [--into FILE] [--folds N]

A recording is of benchmarks/plan_times: for random products, or batches of them, what each rung takes by the
model of plan() and what it took on a GPU, beside cuBLAS. A rung's correction is a sum of trees, grown one
after the other on what is left of the logarithm of measured ÷ modelled time (gradient boosting). Each tree
asks three questions on a product's traits; src/ops/sgemm/corrections.hpp knows the same traits in the same
order. Products on which a rung is near the best, of all or of those of its arithmetic, count most, for there
plans are decided.

--into: the file for the corrections, such as tuning/sm_90/sgemm_corrections.json. tools/generate_tuning.py
compiles them in. --folds: says what plans lose on products that were not learned from, as it comes out with N
parts, each left out once.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from multiprocessing import Pool
from pathlib import Path

import keep_recording

TREES, LEVELS, RATE = 128, 3, 0.2
LEAST_ROWS = 16  # of a rung; fewer tell nothing
LEAST_OF_LEAF, SHRINKAGE = 6.0, 1.0  # in weights of rows
BINS = 48
QUESTIONS = 2**LEVELS - 1
MOST_TIMES = 1  # logarithm: plan() leaves out what takes more than twice as long as the fastest, by the model


# Arithmetics that callers may ask for, beside all of them.
ARITHMETICS = (
    {"row_07_register_parity", "row_11_few_rows", "row_13_split_k", "row_19_few_lines", "row_20_parity_split_k",
     "row_22_columns_stay", "row_24_batched_parity", "row_25_lines_across", "row_26_small_tiles"},
    {"row_08_double", "row_14_double_split_k"},
    {f"{rung}_in_batches"
     for rung in ("row_15_tiny_products", "row_16_streamed", "row_19_few_lines", "row_23_lone_warps",
                  "row_24_batched_parity", "row_25_lines_across", "row_26_small_tiles")},
)


class Refused(Exception):
    """One sentence: why nothing was fitted."""


def traits_of(product: str, count: int = 1) -> list:
    """Of "nt 48x1024x256": transposes and sizes."""
    transposes, sizes = product.split()
    m, n, k = map(int, sizes.split("x"))
    trans_a, trans_b = (each == "t" for each in transposes)
    is_wide, few = m <= n, min(m, n)
    lines = (m if trans_a else k) | (k if trans_b else n)
    tiles = -(-m // 64) * -(-n // 64) * count
    waves = tiles / 132
    return [
        math.log2(few), math.log2(max(m, n)), math.log2(k), math.log2((m + n) * k + m * n), math.log2(m * n),
        4 if lines % 4 == 0 else 2 if lines % 2 == 0 else 1,
        int(trans_b if is_wide else not trans_a), int(not trans_a if is_wide else trans_b), int(n % 4 == 0),
        -(-few // 16) * 16 / few, waves / math.ceil(waves), math.log2(m / n), math.log2(count),
        math.log2(tiles),
    ]


class Row:
    """A product, or a batch: its traits, and for each rung the logarithms of its modelled and its measured time."""

    def __init__(self, given: dict, rungs: list):
        self.is_batch = "batch" in given
        self.traits = traits_of(given["product"], given.get("batch", 1))
        self.times = {
            rung + "_in_batches" * self.is_batch: (math.log2(pair[0]), math.log2(pair[1]))
            for rung, pair in zip(rungs, given["times"]) if pair
        }
        self.cublas = math.log2(given["cublas"])
        alone = {rung + "_in_batches" * self.is_batch for rung in given.get("cuda_cores_alone", [])}
        self.accurate = {rung for rung in self.times if rung not in alone}
        self.best = min(self.times[rung][1] for rung in self.accurate)

    def only(self, rungs: set) -> dict:
        return {rung: times for rung, times in self.times.items() if rung in rungs}


def read(names: list) -> list:
    rows = []
    for name in names:
        try:
            report = json.loads(keep_recording.text_of(Path(name)))
            rungs = report["rungs"]
            rows += [Row(row, rungs) for row in report["rows"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"{name} is no recording of plan_times: {error}") from None
    return rows


def weight_of(row: Row, rung: str) -> float:
    own = next((row.only(rungs) for rungs in ARITHMETICS if rung in rungs), row.times)
    best = min(time for _, time in own.values())
    times_as_long = row.times[rung][1] - (max(row.best, best) if rung in row.accurate else best)
    return 2.0 ** (-1.5 * times_as_long)


def thresholds_of(rows: list) -> list:
    """Of each trait, values that part the rows evenly."""
    found = []
    for trait in range(len(rows[0].traits)):
        values = sorted({row.traits[trait] for row in rows})
        step = max(1, len(values) // BINS)
        found.append([(a + b) / 2 for a, b in zip(values, values[1:])][::step])
    return found


def best_question(members: list, residuals: list, weights: list, bins: list, thresholds: list):
    """(gain, trait, place of the threshold), of the question whose answers part the residuals best."""
    total_w = sum(weights[i] for i in members)
    total_r = sum(weights[i] * residuals[i] for i in members)
    best = (1e-6, None, None)
    for trait, of_trait in enumerate(bins):
        count = len(thresholds[trait])
        if not count:
            continue
        sums_w, sums_r = [0.0] * (count + 1), [0.0] * (count + 1)
        for i in members:
            b = of_trait[i]
            sums_w[b] += weights[i]
            sums_r[b] += weights[i] * residuals[i]
        w = r = 0.0
        for place in range(count):
            w += sums_w[place]
            r += sums_r[place]
            if w < LEAST_OF_LEAF or total_w - w < LEAST_OF_LEAF:
                continue
            gain = (r * r / (w + SHRINKAGE) + (total_r - r) ** 2 / (total_w - w + SHRINKAGE)
                    - total_r**2 / (total_w + SHRINKAGE))
            if gain > best[0]:
                best = (gain, trait, place)
    return best


def grown(residuals: list, weights: list, bins: list, thresholds: list) -> tuple:
    """A tree, and what it takes from each residual."""
    trait, above, leaf = [0] * QUESTIONS, [math.inf] * QUESTIONS, [0.0] * (QUESTIONS + 1)
    taken = [0.0] * len(residuals)
    nodes = {0: list(range(len(residuals)))}
    for node in range(2 * QUESTIONS + 1):
        members = nodes.get(node, [])
        if node < QUESTIONS:
            _, asked, place = best_question(members, residuals, weights, bins, thresholds)
            if asked is None:  # all answer no
                nodes[2 * node + 1] = members
                continue
            trait[node], above[node] = asked, thresholds[asked][place]
            nodes[2 * node + 1] = [i for i in members if bins[asked][i] <= place]
            nodes[2 * node + 2] = [i for i in members if bins[asked][i] > place]
        elif members:
            w = sum(weights[i] for i in members)
            value = RATE * sum(weights[i] * residuals[i] for i in members) / (w + SHRINKAGE)
            leaf[node - QUESTIONS] = value
            for i in members:
                taken[i] = value
    return (trait, above, leaf), taken


def forest(job: tuple) -> list:
    """The trees of a rung, of the rows that have it."""
    rung, rows = job
    if len(rows) < LEAST_ROWS:
        return []
    thresholds = thresholds_of(rows)
    bins = [[sum(row.traits[t] > edge for edge in edges) for row in rows] for t, edges in enumerate(thresholds)]
    residuals = [row.times[rung][1] - row.times[rung][0] for row in rows]
    weights = [weight_of(row, rung) for row in rows]
    trees = []
    for _ in range(TREES):
        tree, taken = grown(residuals, weights, bins, thresholds)
        residuals = [r - t for r, t in zip(residuals, taken)]
        trees.append(tree)
    return trees


def fitted(rows: list) -> dict:
    """{rung: trees}."""
    rungs = sorted({rung for row in rows for rung in row.times})
    with Pool() as pool:
        return dict(zip(rungs, pool.map(forest, [(r, [row for row in rows if r in row.times]) for r in rungs], 1)))


def correction(trees: list, traits: list) -> float:
    total = 0.0
    for trait, above, leaf in trees:
        node = 0
        for _ in range(LEVELS):
            node = 2 * node + (2 if traits[trait[node]] > above[node] else 1)
        total += leaf[node - QUESTIONS]
    return total


def outcomes(rows: list, among: set | None = None) -> list:
    """Of each row, how many times as long as the best rung, of all accurate ones or of some, the planned one takes,
    and how many times as long as either cuBLAS takes; as logarithms. Each row has the forests that correct it."""
    found = []
    for row, forests in rows:
        times = row.only(among or row.accurate)
        if not times:
            continue
        def corrected(rung):
            return row.times[rung][0] + correction(forests.get(rung, []), row.traits)
        most = MOST_TIMES + min(model for model, _ in times.values())
        near = [rung for rung, (model, _) in times.items() if model <= most]
        planned, best = times[min(near, key=corrected)][1], min(time for _, time in times.values())
        found.append((planned - best, row.cublas - planned, row.cublas - best))
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
    singles = [(row, forests) for row, forests in rows if not row.is_batch]
    say(f"{how}, single products", outcomes(singles))
    say(f"{how}, single products on CUDA cores", outcomes(singles, ARITHMETICS[0]))
    batches = [(row, forests) for row, forests in rows if row.is_batch]
    say(f"{how}, batches", outcomes(batches))
    say(f"{how}, batches on CUDA cores", outcomes(batches, ARITHMETICS[2]))


def as_json(forests: dict, sources: list) -> str:
    """One line a rung."""
    def numbers(values):
        return [None if math.isinf(v) else round(v, 3) for v in values]
    lines = [
        f"    {json.dumps(rung)}: " + json.dumps([[t, numbers(a), numbers(f)] for t, a, f in trees], separators=(",", ":"))
        for rung, trees in forests.items()
    ]
    source = json.dumps("fitted by tools/fit_plans.py to " + ", ".join(sources))
    return '{\n  "source": ' + source + ',\n  "forests": {\n' + ",\n".join(lines) + "\n  }\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="+", metavar="RECORDING.json")
    parser.add_argument("--into", type=Path, metavar="FILE")
    parser.add_argument("--folds", type=int, metavar="N")
    flags = parser.parse_args()
    try:
        rows = read(flags.recordings)
        if not rows:
            raise Refused(f"{flags.recordings[0]} holds no products")
        if flags.folds is not None and not 2 <= flags.folds <= len(rows):
            raise Refused(f"--folds is {flags.folds}, but must be from 2 to the number of products, {len(rows)}")
    except Refused as refused:
        print(f"fit_plans.py: {refused}", file=sys.stderr)
        return 2
    say_all("By the model", [(row, {}) for row in rows])
    if flags.folds:
        corrected = []  # (row, its forests)
        for fold in range(flags.folds):
            forests = fitted([row for i, row in enumerate(rows) if i % flags.folds != fold])
            corrected += [(row, forests) for row in rows[fold :: flags.folds]]
        say_all("Corrected, and left out of what was learned from", corrected)
    if flags.into:
        forests = fitted(rows)
        say_all("Corrected, and learned from", [(row, forests) for row in rows])
        names = [Path(name).resolve() for name in flags.recordings]
        root = Path(__file__).resolve().parents[1]
        sources = [str(n.relative_to(root)) if n.is_relative_to(root) else n.name for n in names]
        flags.into.write_text(as_json(forests, sources))
    return 0


if __name__ == "__main__":
    sys.exit(main())
