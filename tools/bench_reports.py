"""What reports of `warpladder bench --device gpu` hold, as tables and pictures show it."""

import math
import shlex
import statistics
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

NONE = "–"  # in place of a number that nobody measured
# A row that was not timed, or whose time cannot be true: its field, and the word for it.
UNTIMED = [("skipped", "skipped"), ("failure", "failed"), ("invalid", "invalid")]


class Fault(Exception):
    """One sentence: why a block cannot be filled."""


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


def times_from(fields):
    if not fields:
        return None
    interval = [fields.get(name) for name in ("low", "high")]
    read = Times(*(float(fields[name]) for name in ("median", "q1", "q3")),
                 () if None in interval else tuple(map(float, interval)))
    low, high = read.interval or (read.median, read.median)
    if not (0 < read.q1 <= read.median <= read.q3 < math.inf and low <= read.median <= high):
        raise ValueError(f"the times {fields} cannot be")
    return read


def times_of_samples(fields):
    samples, median = [float(s) for s in fields["samples_s"]], float(fields["median_s"])
    q1, _, q3 = (statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1
                 else samples * 3)
    # Of equal samples the quartiles may be off by a rounding.
    return times_from({"median": median, "q1": min(q1, median), "q3": max(q3, median)})


def baseline_from(fields):
    """The serial rung on the CPU: its shape, seconds a flop, and the digits these deserve."""
    read = times_of_samples(fields)
    return tuple(fields["shape"]), read.median / float(fields["flops"]), read.digits


def row_from(fields, report):
    untimed = next(((word, fields[key]) for key, word in UNTIMED if fields.get(key)), ())
    hot = cold = graph = None
    if not untimed:
        hot, cold, graph = (times_from(fields.get(f"{kind}statistics_s"))
                            for kind in ("", "cold_", "graph_"))
        if hot is None or (cold is None and not float(fields["flops"]) > 0):
            raise ValueError(f"{fields['rung']} has no times, or no flops, and no reason why")
    variant = (fields.get("variant") or "").strip()  # details may stand alone, behind a space
    return Row(f"{fields['op']}:{variant}" if variant else fields["op"], fields["rung"],
               bool(fields["rival"]), tuple(fields["shape"]), untimed, float(fields["flops"]), hot,
               cold, report, graph, bool(fields.get("probe")))


def command_text(argv):
    """What was run, without the folders of the machine it ran on."""
    words = [Path(word).name if word.startswith("/") else word for word in argv]
    return shlex.join([Path(words[0]).name, *words[1:]])


def by_elements(rows):
    return sorted({row.shape for row in rows}, key=lambda shape: (math.prod(shape), shape))
