"""The shapes that operators take and give. Refusals are the same for the CPU and for tensors without
data; on CUDA devices the compiled part judges."""

from __future__ import annotations

import torch
from torch import Tensor


def _refuse(op: str, sentence: str) -> None:
    raise RuntimeError(f"warpladder::{op}: {sentence}")


def _shape(x: Tensor) -> str:
    return str(list(x.shape))


def check_floats(op: str, **tensors: Tensor) -> None:
    """All tensors are strided, of one floating dtype and on one device."""
    first_name, first = next(iter(tensors.items()))
    for name, x in tensors.items():
        if x.device != first.device:
            _refuse(op, f"{name} is on {x.device}, but {first_name} on {first.device}")
        if x.layout != torch.strided:
            _refuse(op, f"{name} is sparse; only strided tensors are taken")
        if not x.dtype.is_floating_point:
            _refuse(op, f"{name} is {x.dtype}; floating point is needed")
        if x.dtype != first.dtype:
            _refuse(op, f"{name} is {x.dtype}, but {first_name} {first.dtype}")
        if x.device.type == "cuda" and x.dtype != torch.float32:
            _refuse(op, f"{name} is not float32; on CUDA devices warpladder computes in float32 alone")


def check_dims(op: str, name: str, x: Tensor, dims: int) -> None:
    if x.dim() != dims:
        _refuse(op, f"{name} has the shape {_shape(x)}; it needs {dims} dimensions")


def product(op: str, a: Tensor, b: Tensor, dims: int) -> list[int]:
    """The shape of a product of matrices, or of batches of them."""
    check_floats(op, a=a, b=b)
    check_dims(op, "a", a, dims)
    check_dims(op, "b", b, dims)
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        _refuse(op, f"a of shape {_shape(a)} and b of shape {_shape(b)} cannot be multiplied")
    return [*a.shape[:-1], b.shape[-1]]


def added_product(op: str, c: Tensor, a: Tensor, b: Tensor, dims: int) -> list[int]:
    shape = product(op, a, b, dims)
    check_floats(op, a=a, c=c)
    sizes = list(c.shape)
    matching = shape[len(shape) - len(sizes) :]
    if len(sizes) > dims or any(s != 1 and s != m for s, m in zip(sizes, matching)):
        _refuse(op, f"c of shape {_shape(c)} does not broadcast to the product's shape {shape}")
    return shape


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> list[int]:
    check_floats("linear", input=input, weight=weight)
    check_dims("linear", "weight", weight, 2)
    if input.dim() < 1 or input.shape[-1] != weight.shape[1]:
        _refuse(
            "linear",
            f"input of shape {_shape(input)} and weight of shape {_shape(weight)} cannot be multiplied",
        )
    if bias is not None:
        check_floats("linear", input=input, bias=bias)
        if bias.dim() != 1 or bias.shape[0] != weight.shape[0]:
            _refuse("linear", f"bias has the shape {_shape(bias)}; weight needs [{weight.shape[0]}]")
    return [*input.shape[:-1], weight.shape[0]]


def mv(a: Tensor, x: Tensor) -> list[int]:
    check_floats("mv", a=a, x=x)
    check_dims("mv", "a", a, 2)
    check_dims("mv", "x", x, 1)
    if a.shape[1] != x.shape[0]:
        _refuse("mv", f"a of shape {_shape(a)} and x of shape {_shape(x)} cannot be multiplied")
    return [a.shape[0]]


def spmm_csr_vector(crow_indices: Tensor, col_indices: Tensor, values: Tensor, x: Tensor) -> list[int]:
    op = "spmm_csr_vector"
    check_floats(op, values=values, x=x)
    check_dims(op, "values", values, 1)
    check_dims(op, "x", x, 1)
    for name, indices in (("crow_indices", crow_indices), ("col_indices", col_indices)):
        if indices.dtype not in (torch.int32, torch.int64):
            _refuse(op, f"{name} is neither int32 nor int64")
        check_dims(op, name, indices, 1)
        if indices.device != values.device:
            _refuse(op, f"{name} and values are on different devices")
    if crow_indices.shape[0] < 1:
        _refuse(op, "crow_indices is empty; it needs an element more than rows")
    if col_indices.shape[0] != values.shape[0]:
        _refuse(
            op,
            f"col_indices has {col_indices.shape[0]} elements, but values has {values.shape[0]}",
        )
    return [crow_indices.shape[0] - 1]


def transpose(x: Tensor) -> list[int]:
    check_floats("transpose", x=x)
    if x.dim() not in (2, 3):
        check_dims("transpose", "x", x, 2)
    return [*x.shape[:-2], x.shape[-1], x.shape[-2]]


def reduction(op: str, x: Tensor, dim: int | None, keepdim: bool) -> list[int]:
    """`dim` is None for the whole tensor. Sums and means of nothing have a value; others do not."""
    check_floats(op, x=x)
    has_value_of_nothing = op in ("sum", "mean")
    if dim is None:
        if not has_value_of_nothing and x.numel() == 0:
            _refuse(op, f"x of shape {_shape(x)} has no elements")
        return []
    least = max(x.dim(), 1)
    if not -least <= dim < least:
        _refuse(op, f"dim is {dim}, but x has the shape {_shape(x)}")
    if x.dim() == 0:
        return []
    dim %= x.dim()
    if not has_value_of_nothing and x.shape[dim] == 0:
        _refuse(op, f"x of shape {_shape(x)} has no elements along dim {dim}")
    shape = list(x.shape)
    shape[dim : dim + 1] = [1] if keepdim else []
    return shape
