"""What reports of `warpladder bench --device gpu` hold, as tables and pictures show it."""

import math
from dataclasses import dataclass
from decimal import Decimal

NONE = "–"  # in place of a number that nobody measured


def rounded(value, digits):
    return f"{Decimal(f'{value:.{digits - 1}e}'):,f}"


def percent(share, *rows):
    return f"{rounded(100 * share, min(3, *(row.hot.digits for row in rows)))} %"


@dataclass(frozen=True)
class Times:
    median: float
    q1: float
    q3: float
    interval: tuple = ()  # the median's, 95 % sure, where there were samples enough for one

    @property
    def digits(self):
        """As many as the median's interval supports, or the quartiles' distance where there is
        none; the rule of `warpladder bench`."""
        low, high = self.interval or (self.q1, self.q3)
        doubt = (high - low) / self.median
        return min(max(1 + math.floor(-math.log10(doubt)), 2), 4) if doubt > 0 else 2


@dataclass(frozen=True)
class Report:
    file: str
    gpu: str
    date: str
    command: str
    libraries: str
    ceiling: float  # FP32 TFLOP/s, 0 if unknown
    baselines: dict  # operator: (shape, seconds a flop, digits) of its serial rung
    rivals: dict  # (op, rung, shape): Row, of those that were timed


@dataclass(frozen=True)
class Row:
    op: str
    rung: str
    rival: bool
    shape: tuple
    untimed: tuple  # (word, reason), or empty
    flops: float
    hot: Times | None
    cold: Times | None
    report: Report
    graph: Times | None = None
    probe: bool = False  # a rival that only moves the bytes

    @property
    def name_cell(self):
        return f"`{self.rung}`" + (" (rival)" if self.rival else "")

    @property
    def teraflops(self):
        return self.flops / self.hot.median / 1e12

    def rate_text(self):
        return rounded(self.teraflops, self.hot.digits)

    def share_text(self, rival):
        """Of the rival as it ran in the same run."""
        beside = self.report.rivals.get((self.op, rival.rung, self.shape)) if rival else None
        return percent(self.teraflops / beside.teraflops, self, beside) if beside else NONE
