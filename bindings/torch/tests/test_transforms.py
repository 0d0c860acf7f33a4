"""torch.func's transforms of the operators give what they give of PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import layouts

ops = torch.ops.warpladder
Operator = Callable[..., torch.Tensor]


def x(*shape: int) -> torch.Tensor:
    return layouts.uniform(*shape, device="cpu", dtype=torch.float64)


# {name: (ours, PyTorch's, the arguments' shapes)}
CASES: dict[str, tuple[Operator, Operator, tuple[tuple[int, ...], ...]]] = {
    "mm": (ops.mm, torch.mm, ((3, 4), (4, 2))),
    "bmm": (ops.bmm, torch.bmm, ((2, 3, 4), (2, 4, 2))),
    "addmm": (
        lambda *args: ops.addmm(*args, beta=0.5, alpha=2.0),
        lambda *args: torch.addmm(*args, beta=0.5, alpha=2.0),
        ((2,), (3, 4), (4, 2)),
    ),
    "addmm of a matrix": (ops.addmm, torch.addmm, ((3, 2), (3, 4), (4, 2))),
    "baddbmm": (
        lambda *args: ops.baddbmm(*args, alpha=-1.0),
        lambda *args: torch.baddbmm(*args, alpha=-1.0),
        ((3, 2), (2, 3, 4), (2, 4, 2)),
    ),
    "linear": (ops.linear, torch.nn.functional.linear, ((2, 3, 4), (2, 4), (2,))),
    "linear of a vector": (ops.linear, torch.nn.functional.linear, ((4,), (2, 4), (2,))),
    "linear without bias": (ops.linear, torch.nn.functional.linear, ((3, 4), (2, 4))),
    "mv": (ops.mv, torch.mv, ((3, 4), (4,))),
    "transpose": (ops.transpose, lambda t: t.mT.clone(), ((3, 4),)),
    "sum": (ops.sum, torch.sum, ((3, 4),)),
    "sum along 0": (lambda t: ops.sum.dim(t, 0), lambda t: torch.sum(t, 0), ((3, 4),)),
    "mean along -1, kept": (
        lambda t: ops.mean.dim(t, -1, True),
        lambda t: torch.mean(t, -1, True),
        ((3, 4, 2),),
    ),
    "sum of a number": (lambda t: ops.sum.dim(t, 0, True), lambda t: torch.sum(t, 0, True), ((),)),
    "max": (ops.max, torch.amax, ((3, 4),)),
}


def loss(op: Operator) -> Operator:
    return lambda *args: op(*args).sin().sum()


def of_gradient(op: Operator, arguments: tuple[int, ...]) -> Operator:
    """A number made of the gradients, so that its own gradient is a second one."""
    return lambda *args: sum(g.cos().sum() for g in grad(loss(op), arguments)(*args))


def pulled_back(op: Operator, *args: torch.Tensor) -> Any:
    out, pull = vjp(op, *args)
    return out, pull(torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape))


# {name: what it makes of an operator, the numbers of its arguments, and the arguments}
TRANSFORMS: dict[str, Callable[[Operator, tuple[int, ...], list[torch.Tensor]], Any]] = {
    "grad": lambda op, all_of, args: grad(loss(op), all_of)(*args),
    "vjp": lambda op, all_of, args: pulled_back(op, *args),
    "jacrev": lambda op, all_of, args: jacrev(op, all_of)(*args),
    "grad of grad": lambda op, all_of, args: grad(of_gradient(op, all_of), all_of)(*args),
    "jacrev of jacrev": lambda op, all_of, args: jacrev(jacrev(loss(op), all_of), all_of)(*args),
    "vmap of grad of grad": lambda op, all_of, args: vmap(grad(of_gradient(op, all_of), all_of))(
        *(torch.stack([a, -a, 2 * a]) for a in args)
    ),
    "grad of vmap": lambda op, all_of, args: grad(
        lambda *stacked: loss(vmap(op, in_dims=-1))(*stacked), all_of
    )(*(torch.stack([a, -a, 2 * a], -1) for a in args)),
}


def assert_equal(ours: Any, theirs: Any) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


@pytest.mark.filterwarnings("error:There is a performance drop")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CASES)
def test_reverse_mode(name: str, transform: str) -> None:
    ours, theirs, shapes = CASES[name]
    args, all_of = [x(*shape) for shape in shapes], tuple(range(len(shapes)))
    make = TRANSFORMS[transform]
    assert_equal(make(ours, all_of, args), make(theirs, all_of, args))


@pytest.mark.filterwarnings("error:There is a performance drop")
@pytest.mark.parametrize("name", CASES)
def test_vmap_over_some_arguments(name: str) -> None:
    ours, theirs, shapes = CASES[name]
    for batched in range(1, 2 ** len(shapes)):
        in_dims = tuple(0 if batched >> i & 1 else None for i in range(len(shapes)))
        args = [x(*shape) if d is None else x(5, *shape) for d, shape in zip(in_dims, shapes)]
        assert_equal(vmap(ours, in_dims)(*args), vmap(theirs, in_dims)(*args))
        of_each = vmap(grad(loss(ours), tuple(range(len(shapes)))), in_dims)(*args)
        assert_equal(of_each, vmap(grad(loss(theirs), tuple(range(len(shapes)))), in_dims)(*args))


def test_places_of_extremes_in_a_batch() -> None:
    t = x(5, 3, 4)
    for name in ("argmin", "argmax"):
        ours, theirs = getattr(ops, name), getattr(torch, name)
        assert torch.equal(vmap(ours, 1)(t), vmap(theirs, 1)(t))
        assert torch.equal(vmap(lambda s: ours.dim(s, 1))(t), theirs(t, 2))


def test_a_transform_within_an_ordinary_gradient() -> None:
    a, b = x(3, 4).requires_grad_(), x(4, 2)
    found = [torch.autograd.grad(grad(loss(mm))(a, b).sin().sum(), a)[0] for mm in (ops.mm, torch.mm)]
    assert_equal(*found)


def test_no_grad_holds_inside_a_transform() -> None:
    def stopped(mm: Operator) -> Operator:
        def f(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                still = mm(a, b)
            return (still * mm(a, b)).sum()

        return f

    a, b = x(3, 4), x(4, 2)
    assert_equal(grad(stopped(ops.mm))(a, b), grad(stopped(torch.mm))(a, b))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, of its own decompositions
def test_forward_mode_is_refused() -> None:
    a, b = x(3, 4), x(4, 2)
    for call in (
        lambda: jvp(lambda t: ops.mm(t, b), (a,), (a,)),
        lambda: jacfwd(ops.mm)(a, b),
        lambda: hessian(loss(ops.mm))(a, b),
    ):
        with pytest.raises(NotImplementedError, match="forward mode"):
            call()
    with torch.autograd.forward_ad.dual_level():
        assert_equal(ops.mm(a, b), torch.mm(a, b))
        with pytest.raises(NotImplementedError, match="forward mode"):
            ops.mm(torch.autograd.forward_ad.make_dual(a, a), b)
