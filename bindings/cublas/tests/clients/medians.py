"""How the Python clients time products: on the GPU, and by the median of several samples.

A kernel that only waits goes first. The host gives out a sample's calls while that kernel runs, so
the GPU runs them without a gap and the host's own time is in no sample.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

CALLS = 20  # of a sample
WAIT_CYCLES = 4_000_000  # of the GPU's clock, 2 ms: the host takes a quarter of it for 20 calls


def median_of(sample: Callable[[], float], samples: int = 15) -> float:
    """The median of so many samples. One before them warms up."""
    sample()
    return statistics.median(sample() for _ in range(samples))
