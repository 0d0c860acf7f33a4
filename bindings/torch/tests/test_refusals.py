"""Mistakes become exceptions that name the operator, the argument and its value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from layouts import uniform

ops = torch.ops.warpladder


def mistakes(device: str) -> list[tuple[Any, tuple, str]]:
    def x(*shape: int) -> torch.Tensor:
        return uniform(*shape, device=device)

    offsets = torch.tensor([0, 1, 2], device=device)
    return [
        (ops.mm, (x(3, 4), x(5, 6)), r"mm: a of shape \[3, 4\] and b of shape \[5, 6\] cannot"),
        (ops.mm, (x(3), x(3, 4)), r"mm: a has the shape \[3\]; it needs 2 dimensions"),
        (ops.mm, (x(3, 4).int(), x(4, 5).int()), r"mm: a is .*(int32|float)"),
        (ops.mm, (x(3, 4), x(4, 5).half()), r"mm: b is .*float"),
        (ops.mm, (x(3, 4).to_sparse(), x(4, 5)), r".*"),
        (ops.bmm, (x(2, 3, 4), x(3, 4, 5)), r"bmm: a of shape \[2, 3, 4\] and b of shape"),
        (ops.bmm, (x(3, 4), x(4, 5)), r"bmm: a has the shape \[3, 4\]; it needs 3 dimensions"),
        (ops.addmm, (x(4, 5), x(3, 4), x(4, 5)), r"addmm: c of shape \[4, 5\] does not broadcast"),
        (ops.addmm, (x(1, 3, 5), x(3, 4), x(4, 5)), r"addmm: c of shape \[1, 3, 5\] does not"),
        (ops.baddbmm, (x(3, 5).double(), x(2, 3, 4), x(2, 4, 5)), r"baddbmm: c is .*float"),
        (ops.linear, (x(3, 4), x(5, 6)), r"linear: input of shape \[3, 4\] and weight of shape"),
        (ops.linear, (x(3, 4), x(5, 4), x(4)), r"linear: bias has the shape \[4\]; .*\[5\]"),
        (ops.linear, (x(), x(5, 4)), r"linear: input of shape \[\] and weight"),
        (ops.mv, (x(3, 4), x(3)), r"mv: a of shape \[3, 4\] and x of shape \[3\]"),
        (ops.transpose, (x(3),), r"transpose: x has the shape \[3\]; it needs 2 dimensions"),
        (ops.sum.dim, (x(3, 4), 2), r"sum: dim is 2, but x has the shape \[3, 4\]"),
        (ops.argmax.dim, (x(3), -2), r"argmax: dim is -2, but x has the shape \[3\]"),
        (
            ops.spmm_csr_vector,
            (offsets, offsets[:1].float(), x(1), x(4)),
            r"spmm_csr_vector: col_indices is neither int32 nor int64",
        ),
        (
            ops.spmm_csr_vector,
            (offsets, offsets, x(2), x(4)),
            r"spmm_csr_vector: col_indices has 3 elements, but values has 2",
        ),
        (
            ops.spmm_csr_vector,
            (offsets[:0], offsets[:2], x(2), x(4)),
            r"spmm_csr_vector: crow_indices is empty",
        ),
    ]


@pytest.mark.parametrize("index", range(len(mistakes("cpu"))))
def test_mistakes(device: str, index: int) -> None:
    op, args, sentence = mistakes(device)[index]
    with pytest.raises((RuntimeError, NotImplementedError), match=sentence):
        op(*args)


@pytest.mark.parametrize("index", range(len(mistakes("cpu"))))
def test_mistakes_without_data(index: int) -> None:
    op, args, sentence = mistakes("cpu")[index]
    bare = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in args]
    with pytest.raises((RuntimeError, NotImplementedError), match=sentence):
        op(*bare)


def test_devices_are_not_mixed(cuda: str) -> None:
    a, b = uniform(3, 4, device=cuda), uniform(4, 5, device="cpu")
    with pytest.raises(RuntimeError, match="mm: b is on the CPU"):
        ops.mm(a, b)
    with pytest.raises(RuntimeError, match="mm: a is on the CPU"):
        ops.mm(b.mT, a.mT)


def test_double_is_for_the_cpu(cuda: str) -> None:
    a = uniform(3, 3, device=cuda, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="mm: a is not float32"):
        ops.mm(a, a)
