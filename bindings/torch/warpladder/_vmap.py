"""torch.vmap: one product of a batch in the place of many. A product of which one side is not batched stays one
product where BLAS can say so."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from warpladder._operators import REDUCTIONS, fragment

_ops = torch.ops.warpladder
Batched = tuple[Tensor, int]


def _first(x: Tensor, dim: int | None, size: int) -> Tensor:
    """The batch is the first dimension."""
    return x.unsqueeze(0).expand(size, *x.shape) if dim is None else x.movedim(dim, 0)


def _mm(info: Any, in_dims: tuple[int | None, ...], a: Tensor, b: Tensor) -> Batched:
    if in_dims[1] is None:
        rows = a.movedim(in_dims[0], 0)
        return _ops.mm(rows.reshape(-1, rows.shape[-1]), b).reshape(*rows.shape[:-1], b.shape[-1]), 0
    left, right = (_first(x, d, info.batch_size) for x, d in zip((a, b), in_dims))
    return _ops.bmm(left, right), 0


def _bmm(info: Any, in_dims: tuple[int | None, ...], a: Tensor, b: Tensor) -> Batched:
    left, right = (_first(x, d, info.batch_size) for x, d in zip((a, b), in_dims))
    out = _ops.bmm(left.flatten(0, 1), right.flatten(0, 1))
    return out.unflatten(0, left.shape[:2]), 0


def _addend(c: Tensor, dim: int | None, size: int, dims: int) -> Tensor:
    """c with the batch first and so many dimensions behind it."""
    c = _first(c, dim, size)
    return c.reshape(size, *[1] * (dims + 1 - c.dim()), *c.shape[1:])


def _addmm(info: Any, in_dims: tuple[int | None, ...], c: Tensor, a: Tensor, b: Tensor, **scalars: float) -> Batched:
    left, right = (_first(x, d, info.batch_size) for x, d in zip((a, b), in_dims[1:]))
    return _ops.baddbmm(_addend(c, in_dims[0], info.batch_size, 2), left, right, **scalars), 0


def _baddbmm(
    info: Any, in_dims: tuple[int | None, ...], c: Tensor, a: Tensor, b: Tensor, **scalars: float
) -> Batched:
    left, right = (_first(x, d, info.batch_size) for x, d in zip((a, b), in_dims[1:]))
    added = _addend(c, in_dims[0], info.batch_size, 3)
    added = added.expand(*left.shape[:2], *added.shape[2:]).flatten(0, 1)
    out = _ops.baddbmm(added, left.flatten(0, 1), right.flatten(0, 1), **scalars)
    return out.unflatten(0, left.shape[:2]), 0


def _linear(
    info: Any, in_dims: tuple[int | None, ...], x: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Batched:
    if in_dims[1] is None and (bias is None or in_dims[2] is None):
        return _ops.linear(x.movedim(in_dims[0], 0), weight, bias), 0
    inputs, weights = (_first(y, d, info.batch_size) for y, d in zip((x, weight), in_dims))
    rows = inputs.reshape(info.batch_size, -1, inputs.shape[-1])
    if bias is None:
        out = _ops.bmm(rows, weights.mT)
    else:
        out = _ops.baddbmm(_addend(bias, in_dims[2], info.batch_size, 2), rows, weights.mT)
    return out.reshape(*inputs.shape[:-1], weights.shape[1]), 0


def _mv(info: Any, in_dims: tuple[int | None, ...], a: Tensor, x: Tensor) -> Batched:
    if in_dims[0] is None:
        return _ops.mm(x.movedim(in_dims[1], 0), a.mT), 0
    matrices, vectors = a.movedim(in_dims[0], 0), _first(x, in_dims[1], info.batch_size)
    return _ops.bmm(matrices, vectors.unsqueeze(2)).squeeze(2), 0


def _transpose(info: Any, in_dims: tuple[int | None, ...], x: Tensor) -> Batched:
    x = x.movedim(in_dims[0], 0)
    return _ops.transpose(x.reshape(-1, *x.shape[-2:])).reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]), 0


def _reduction(name: str) -> None:
    along = getattr(_ops, name).dim

    def whole(info: Any, in_dims: tuple[int | None, ...], x: Tensor) -> Batched:
        return along(x.movedim(in_dims[0], 0).unsqueeze(1).flatten(1), 1), 0

    def one(
        info: Any, in_dims: tuple[int | None, ...], x: Tensor, dim: int, keepdim: bool = False
    ) -> Batched:
        if x.dim() == 1:  # of numbers, which stay as they are
            return whole(info, in_dims, x)
        return along(x.movedim(in_dims[0], 0), dim + 1 if dim >= 0 else dim, keepdim), 0

    torch.library.register_vmap(f"warpladder::{name}", whole, lib=fragment)
    torch.library.register_vmap(f"warpladder::{name}.dim", one, lib=fragment)


for _name, _rule in (
    ("mm", _mm),
    ("bmm", _bmm),
    ("addmm", _addmm),
    ("baddbmm", _baddbmm),
    ("linear", _linear),
    ("mv", _mv),
    ("transpose", _transpose),
):
    torch.library.register_vmap(f"warpladder::{_name}", _rule, lib=fragment)
for _name in REDUCTIONS:
    _reduction(_name)
