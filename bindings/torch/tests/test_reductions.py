"""Reductions and transposes of every layout, beside float64."""

from __future__ import annotations

import pytest
import torch

import warpladder
from layouts import close, matrices, uniform

ops = torch.ops.warpladder
TORCH = {"sum": torch.sum, "mean": torch.mean, "min": torch.amin, "max": torch.amax,
         "argmin": torch.argmin, "argmax": torch.argmax}  # fmt: skip


def agrees(name: str, actual: torch.Tensor, exact: torch.Tensor, terms: int) -> bool:
    if name.startswith("arg"):
        return actual.dtype == torch.int64 and torch.equal(actual.cpu(), exact.cpu())
    if name in ("min", "max"):
        return torch.equal(actual.double().cpu(), exact.cpu())
    return close(actual, exact, terms, 1.0 if name == "sum" else 1.0 / max(terms, 1) ** 0.5)


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("rows, columns", [(5, 7), (64, 300), (1, 9), (6, 1)])
def test_matrices_of_every_layout(device: str, name: str, rows: int, columns: int) -> None:
    for layout, x in matrices(rows, columns, device).items():
        if "expanded" in layout and name.startswith("arg"):
            continue  # ties: PyTorch leaves open which one it names
        op = getattr(ops, name)
        assert agrees(name, op(x), TORCH[name](x.double()), x.numel()), layout
        for dim in (0, 1, -1):
            for keepdim in (False, True):
                exact = TORCH[name](x.double(), dim, keepdim=keepdim)
                assert agrees(name, op.dim(x, dim, keepdim), exact, x.shape[dim]), (layout, dim)


@pytest.mark.parametrize("name", TORCH)
def test_tensors_of_more_dimensions(device: str, name: str) -> None:
    whole = uniform(3, 4, 5, 6, device=device)
    for x in (whole, whole.movedim(0, 2), whole[:, ::2], whole[..., 1:], whole.mT):
        op = getattr(ops, name)
        assert agrees(name, op(x), TORCH[name](x.double()), x.numel())
        for dim in range(-4, 4):
            exact = TORCH[name](x.double(), dim)
            assert agrees(name, op.dim(x, dim), exact, x.shape[dim]), (x.stride(), dim)


def test_what_needs_no_copy_is_not_copied(cuda: str) -> None:
    x = uniform(30, 40, device=cuda)
    before = warpladder.copies_made()
    for y in (x, x.mT, x[:, :20], x[::2], x.mT[:, 3:], x[:, 5]):
        for dim in range(y.dim()):
            ops.sum.dim(y, dim)
    ops.sum(x), ops.sum(x.mT), ops.max(uniform(3, 4, 5, device=cuda).movedim(0, 2))
    ops.transpose(x), ops.transpose(x.mT), ops.transpose(x[:, :7])
    assert warpladder.copies_made() == before


@pytest.mark.parametrize("shape", [(), (1,), (7,)])
def test_few_dimensions(device: str, shape: tuple[int, ...]) -> None:
    x = uniform(*shape, device=device)
    for name in TORCH:
        for dim in (0, -1):
            assert agrees(name, getattr(ops, name).dim(x, dim), TORCH[name](x.double(), dim), 7)


def test_sums_of_nothing(device: str) -> None:
    x = torch.empty(3, 0, device=device)
    assert ops.sum(x).item() == 0
    assert torch.equal(ops.sum.dim(x, 1), torch.zeros(3, device=device))
    assert ops.sum.dim(x, 0).shape == (0,)
    assert torch.isnan(ops.mean(x)) and torch.isnan(ops.mean.dim(x, 1)).all()
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(RuntimeError, match=f"warpladder::{name}.*no elements"):
            getattr(ops, name)(x)
        with pytest.raises(RuntimeError, match=f"warpladder::{name}.*no elements"):
            getattr(ops, name).dim(x, 1)
        assert getattr(ops, name).dim(x, 0).shape == (0,)


def test_nan_wins(device: str) -> None:
    x = uniform(4, 50, device=device)
    x[1, 7] = x[1, 30] = float("nan")
    for name in ("min", "max"):
        assert torch.isnan(getattr(ops, name)(x))
        assert getattr(ops, f"arg{name}").dim(x, 1)[1].item() == 7


@pytest.mark.parametrize("shape", [(5, 7), (64, 48), (1, 9), (6, 1), (0, 3), (3, 5, 7), (2, 0, 4)])
def test_transpose(device: str, shape: tuple[int, ...]) -> None:
    for layout, x in matrices(*shape[-2:], device, *shape[:-2]).items():
        out = ops.transpose(x)
        assert torch.equal(out, x.mT), layout
        assert out.is_contiguous() and (x.numel() == 0 or out.data_ptr() != x.data_ptr())
