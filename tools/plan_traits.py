"""What the corrections of sgemm's plans are learned from, and the text in which they are kept.

src/ops/sgemm/corrections.hpp knows the same traits in the same order. tools/fit_plans.py learns; tools/generate_tuning.py compiles in.
"""

from __future__ import annotations

import math

LEVELS = 4
QUESTIONS = 2**LEVELS - 1  # of a tree
# The printable characters but those that a string literal may change.
ALPHABET = "".join(each for each in map(chr, range(ord("!"), ord("~") + 1)) if each not in '"\\?')
DIGITS = len(ALPHABET)
EDGES = DIGITS - 1  # of a trait, at most
MOST_WAVES = 6


def width_of(line: int) -> int:
    """Elements that may be copied at once, of such lines that follow each other."""
    return 4 if line % 4 == 0 else 2 if line % 2 == 0 else 1


def traits_of(product: str, count: int = 1) -> list:
    """Of "nt 48x1024x256": transposes and sizes."""
    transposes, sizes = product.split()
    m, n, k = map(int, sizes.split("x"))
    trans_a, trans_b = (each == "t" for each in transposes)
    is_wide, few = m <= n, min(m, n)
    of_a, of_b = m if trans_a else k, k if trans_b else n  # elements of a line in memory
    of_large, of_small = (of_b, of_a) if is_wide else (of_a, of_b)
    tiles = -(-m // 64) * -(-n // 64) * count
    waves = tiles / 132
    return [
        math.log2(few), math.log2(max(m, n)), math.log2(k), math.log2(((m + n) * k + m * n) * count), math.log2(m * n),
        width_of(of_large),
        int(trans_b if is_wide else not trans_a), int(not trans_a if is_wide else trans_b), int(n % 4 == 0),
        -(-few // 16) * 16 / few, waves / math.ceil(waves), math.log2(m / n), math.log2(count),
        math.log2(tiles), -(-k // 8) * 8 / k, -(-k // 32) * 32 / k, math.log2(m * n * k * count),
        width_of(of_small),
    ]


def cut_traits_of(product: str, count: int, model: float, cut: list) -> list:
    """Of a rung whose CTAs have tiles of C of `rows` by `columns`, and slices of k of so many steps; `model` is its
    time. The last element of a cut is there where only C's last rows or columns are sliced."""
    rows, columns, slices, steps, *partly = cut
    time = math.log2(model)
    if not rows:
        return [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, time]
    m, n, _ = map(int, product.split()[1].split("x"))
    down, across = -(-m // rows), -(-n // columns)
    waves = down * across * slices * count / 132
    return [
        math.log2(rows), math.log2(columns), math.log2(slices), math.log2(max(steps, 1)), math.log2(waves),
        waves / math.ceil(waves), min(MOST_WAVES, math.ceil(waves)), len(partly), m / (down * rows),
        n / (across * columns), math.log2(down * across * (rows + columns) / (m + n)), time,
    ]
