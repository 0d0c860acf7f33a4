"""Where tests run: each on the CPU, and on a CUDA device where the operators run on one."""

from __future__ import annotations

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


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(20)
