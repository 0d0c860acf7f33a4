"""Where tests run: each on the CPU, and on a CUDA device where the operators run on one."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import warpladder

REASON = warpladder.why_unsupported()
on_gpu = pytest.mark.skipif(REASON is not None, reason=f"no GPU for warpladder: {REASON}")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=on_gpu)])
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def cuda() -> str:
    if REASON is not None:
        pytest.skip(f"no GPU for warpladder: {REASON}")
    return "cuda"


def skip_without_triton(device: str) -> None:
    """torch.compile's own backend makes GPU code with Triton."""
    if device == "cuda" and importlib.util.find_spec("triton") is None:
        pytest.skip("no Triton, which torch.compile needs for CUDA devices")


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20)
