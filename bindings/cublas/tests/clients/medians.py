"""How the Python clients time: by the median, for single samples move with the host."""

from __future__ import annotations

import statistics
from collections.abc import Callable


def median_of(sample: Callable[[], float], samples: int = 15) -> float:
    """The median of so many samples. One before them warms up."""
    sample()
    return statistics.median(sample() for _ in range(samples))
