"""Tensors of one shape and the same kind of values in every way that PyTorch can lay them out."""

from __future__ import annotations

import torch
from torch import Tensor


def uniform(*shape: int, device: str, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(shape, dtype=torch.float64).mul_(2).sub_(1).to(device=device, dtype=dtype)


def matrices(rows: int, columns: int, device: str, *batch: int) -> dict[str, Tensor]:
    """{layout: tensor}. Those that BLAS cannot express begin with 'copied'."""
    shape = (*batch, rows, columns)
    found = {
        "contiguous": uniform(*shape, device=device),
        "transposed": uniform(*batch, columns, rows, device=device).mT,
        "rows apart": uniform(*batch, rows, columns + 3, device=device)[..., :columns],
        "columns apart": uniform(*batch, columns, rows + 5, device=device)[..., :rows].mT,
        "every second row": uniform(*batch, 2 * rows, columns, device=device)[..., ::2, :],
        "behind an offset": uniform(*batch, rows + 1, columns, device=device)[..., 1:, :],
        "copied: every second element": uniform(*batch, rows, 2 * columns, device=device)[..., ::2],
        "copied: one row, expanded": uniform(*batch, 1, columns, device=device).expand(shape),
        "copied: one element, expanded": uniform(1, device=device).expand(shape),
    }
    if batch:
        found["one matrix for all"] = uniform(rows, columns, device=device).expand(shape)
        found["batch in the middle"] = uniform(rows, *batch, columns, device=device).movedim(0, -2)
    return found


def is_copied(layout: str, rows: int, columns: int) -> bool:
    """Whether BLAS cannot express the layout of a matrix of this size. One row, or one column, may have
    its elements any distance apart but 0."""
    if layout == "copied: every second element":
        return rows > 1 and columns > 1
    if layout == "copied: one row, expanded":
        return rows > 1
    return layout == "copied: one element, expanded" and rows * columns > 1


def close(actual: Tensor, exact: Tensor, terms: int, scale: float = 1.0) -> bool:
    """Whether an FP32 sum of so many terms, of about `scale` each, can be so far from the exact one.
    Round-off grows as the root of their number, and with the sum itself where they have one sign."""
    assert actual.shape == exact.shape, (actual.shape, exact.shape)
    exact = exact.cpu()
    bound = 8 * torch.finfo(torch.float32).eps * max(terms, 4) ** 0.5 * (scale + exact.abs())
    error = (actual.double().cpu() - exact).abs()
    return bool((error <= bound).all())
