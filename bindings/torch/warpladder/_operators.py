"""What Python adds to the compiled operators: the CPU, shapes without data and gradients.

On the CPU PyTorch's own kernels compute, in any floating dtype, so that models run and gradients are
checked without a GPU. Gradients can be differentiated again, for their products are the operators too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd import forward_ad

from warpladder import _library, _shapes  # noqa: F401  the first registers the schemas

fragment = torch.library.Library("warpladder", "FRAGMENT")
_ops = torch.ops.warpladder
REDUCTIONS = ("sum", "mean", "min", "max", "argmin", "argmax")


def _define(name: str, shape: Callable[..., list[int]], on_cpu: Callable[..., Tensor]) -> None:
    """Registers the CPU's kernel and the one for tensors without data. `shape` checks, too."""
    dtype = torch.int64 if name.startswith("arg") else None

    def fake(*args: Any, **kwargs: Any) -> Tensor:
        like = args[2] if name == "spmm_csr_vector" else args[0]
        return like.new_empty(shape(*args, **kwargs), dtype=dtype or like.dtype)

    def cpu(*args: Any, **kwargs: Any) -> Tensor:
        shape(*args, **kwargs)
        if torch.is_autocast_enabled("cpu"):  # the operators compute in the dtype that they are given
            with torch.autocast("cpu", enabled=False):
                return on_cpu(*args, **kwargs)
        return on_cpu(*args, **kwargs)

    torch.library.register_fake(f"warpladder::{name}", fake, lib=fragment)
    fragment.impl(name, cpu, "CPU")


def _added(op: str, dims: int) -> Callable[..., list[int]]:
    return lambda c, a, b, *, beta=1.0, alpha=1.0: _shapes.added_product(op, c, a, b, dims)


def _added_on_cpu(torch_op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda c, a, b, *, beta=1.0, alpha=1.0: torch_op(c, a, b, beta=beta, alpha=alpha)


def _spmm_on_cpu(crow: Tensor, col: Tensor, values: Tensor, x: Tensor) -> Tensor:
    rows = _rows_of(crow, values.shape[0])
    out = values.new_zeros(crow.shape[0] - 1)
    return out.index_add_(0, rows, values * x.index_select(0, col.long()))


def _rows_of(crow: Tensor, entries: int) -> Tensor:
    """The row of each stored entry."""
    lengths = crow.long().diff()
    rows = torch.arange(lengths.shape[0], device=crow.device)
    return rows.repeat_interleave(lengths, output_size=entries)


def _define_reduction(name: str) -> None:
    # max and min of a tensor alone are amax and amin: values without places.
    own = getattr(torch, {"max": "amax", "min": "amin"}.get(name, name))
    _define(name, lambda x: _shapes.reduction(name, x, None, False), lambda x: own(x))
    _define(
        f"{name}.dim",
        lambda x, dim, keepdim=False: _shapes.reduction(name, x, dim, keepdim),
        lambda x, dim, keepdim=False: own(x, dim, keepdim=keepdim),
    )


_define("mm", lambda a, b: _shapes.product("mm", a, b, 2), torch.mm)
_define("bmm", lambda a, b: _shapes.product("bmm", a, b, 3), torch.bmm)
_define("addmm", _added("addmm", 2), _added_on_cpu(torch.addmm))
_define("baddbmm", _added("baddbmm", 3), _added_on_cpu(torch.baddbmm))
_define("linear", lambda x, w, b=None: _shapes.linear(x, w, b), torch.nn.functional.linear)
_define("mv", _shapes.mv, torch.mv)
_define("spmm_csr_vector", _shapes.spmm_csr_vector, _spmm_on_cpu)
_define("transpose", _shapes.transpose, lambda x: x.mT.clone(memory_format=torch.contiguous_format))
for _name in REDUCTIONS:
    _define_reduction(_name)


# Gradients. PyTorch's own registration costs each call several microseconds even where nothing needs a
# gradient; this one looks first.
_after_autograd = torch._C._after_autograd_keyset
_any_requires_grad = torch._C._any_requires_grad
_is_grad_enabled = torch.is_grad_enabled
_is_transformed = torch._C._are_functorch_transforms_active


def _differentiable(
    name: str,
    save: Callable[..., None],
    backward: Callable[..., tuple[Tensor | None, ...]],
) -> None:
    """`save(ctx, *args, **kwargs)` keeps what `backward(ctx, needs, grad)` needs. It returns a gradient for each
    argument; autograd drops each None behind the last."""
    packet, _, overload = name.partition(".")
    op = getattr(getattr(_ops, packet), overload or "default")
    redispatch = op._handle.redispatch_boxed

    class Gradient(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, keyset: Any, kwargs: dict[str, Any], *args: Any) -> Tensor:
            save(ctx, *args, **kwargs)
            return redispatch(keyset, *args, **kwargs)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
            return (None, None, *backward(ctx, ctx.needs_input_grad[2:], grad))

    class TransformedGradient(Gradient):
        """Of one level of torch.func. Autograd turns gradients off, but the levels outside want theirs."""

        @staticmethod
        def forward(ctx: Any, *args: Any) -> Tensor:
            with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
                return Gradient.forward(ctx, *args)

    Gradient.__name__ = Gradient.__qualname__ = f"warpladder_{name.replace('.', '_')}"
    # Function.apply() would ask torch.func for the level, which the dispatcher has found before.
    apply, apply_transformed = (super(torch.autograd.Function, f).apply for f in (Gradient, TransformedGradient))

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Tensor:
        keyset &= _after_autograd
        has_gradient = _any_requires_grad(*args) and _is_grad_enabled()
        if not has_gradient and forward_ad._current_level < 0:  # forward mode has no rule, and is refused
            return redispatch(keyset, *args, **kwargs)
        if not _is_transformed():
            return apply(keyset, kwargs, *args)
        with enable_single_level_autograd_function():
            return apply_transformed(keyset, kwargs, *args)

    fragment.impl(name, kernel, "Autograd", with_keyset=True)


def _save(ctx: Any, *args: Any) -> None:
    ctx.save_for_backward(*args)


def _save_sum(ctx: Any, c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> None:
    ctx.c_shape, ctx.beta, ctx.alpha = c.shape, beta, alpha
    ctx.save_for_backward(a, b)


def _mm_backward(ctx: Any, needs: tuple[bool, ...], grad: Tensor) -> tuple[Tensor | None, ...]:
    a, b = ctx.saved_tensors
    times = _ops.mm if a.dim() == 2 else _ops.bmm
    return (times(grad, b.mT) if needs[0] else None, times(a.mT, grad) if needs[1] else None)


def _addmm_backward(ctx: Any, needs: tuple[bool, ...], grad: Tensor) -> tuple[Tensor | None, ...]:
    a, b = ctx.saved_tensors
    times = _ops.mm if a.dim() == 2 else _ops.bmm
    needs_c, needs_a, needs_b = needs
    scaled = grad if ctx.alpha == 1.0 else grad * ctx.alpha
    return (
        (grad * ctx.beta).sum_to_size(ctx.c_shape) if needs_c else None,
        times(scaled, b.mT) if needs_a else None,
        times(a.mT, scaled) if needs_b else None,
    )


def _save_linear(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
    ctx.save_for_backward(x, weight)


def _linear_backward(ctx: Any, needs: tuple[bool, ...], grad: Tensor) -> tuple[Tensor | None, ...]:
    x, weight = ctx.saved_tensors
    rows = grad.reshape(-1, weight.shape[0])
    return (
        _ops.mm(rows, weight).reshape(x.shape) if needs[0] else None,
        _ops.mm(rows.mT, x.reshape(-1, weight.shape[1])) if needs[1] else None,
        _ops.sum.dim(rows, 0) if any(needs[2:]) else None,
    )


def _mv_backward(ctx: Any, needs: tuple[bool, ...], grad: Tensor) -> tuple[Tensor | None, ...]:
    a, x = ctx.saved_tensors
    return (
        _ops.mm(grad.unsqueeze(1), x.unsqueeze(0)) if needs[0] else None,
        _ops.mv(a.mT, grad) if needs[1] else None,
    )


def _transposed_csr(crow: Tensor, col: Tensor, values: Tensor, columns: int) -> tuple[Tensor, ...]:
    """The same matrix in compressed columns: the rows of its transpose, in the order of rows."""
    sorted_columns, order = col.long().sort(stable=True)
    edges = torch.arange(columns + 1, device=col.device)
    offsets = torch.searchsorted(sorted_columns, edges)
    rows = _rows_of(crow, values.shape[0])
    return offsets, rows.index_select(0, order), values.index_select(0, order)


def _spmm_backward(ctx: Any, needs: tuple[bool, ...], grad: Tensor) -> tuple[Tensor | None, ...]:
    crow, col, values, x = ctx.saved_tensors
    _, _, needs_values, needs_x = needs
    grad_values = grad_x = None
    if needs_values:
        rows = _rows_of(crow, values.shape[0])
        grad_values = grad.index_select(0, rows) * x.index_select(0, col.long())
    if needs_x:
        grad_x = _ops.spmm_csr_vector(*_transposed_csr(crow, col, values, x.shape[0]), grad)
    return None, None, grad_values, grad_x


_differentiable("mm", _save, _mm_backward)
_differentiable("bmm", _save, _mm_backward)
_differentiable("addmm", _save_sum, _addmm_backward)
_differentiable("baddbmm", _save_sum, _addmm_backward)
_differentiable("linear", _save_linear, _linear_backward)
_differentiable("mv", _save, _mv_backward)
_differentiable("spmm_csr_vector", _save, _spmm_backward)
_differentiable("transpose", lambda ctx, x: None, lambda ctx, needs, grad: (_ops.transpose(grad),))


def _save_reduction(ctx: Any, x: Tensor, dim: int | None = None, keepdim: bool = False) -> None:
    ctx.save_for_backward(x)
    ctx.dim, ctx.keepdim = dim if x.dim() > 0 else None, keepdim


def _along(ctx: Any, reduced: Tensor) -> Tensor:
    """The reduced dimension is there again, with one element."""
    return reduced if ctx.dim is None or ctx.keepdim else reduced.unsqueeze(ctx.dim)


def _mean_backward(ctx: Any, grad: Tensor, mean: bool) -> tuple[Tensor | None, ...]:
    (x,) = ctx.saved_tensors
    count = (x.numel() if ctx.dim is None else x.shape[ctx.dim]) if mean else 1
    return _along(ctx, grad / count if mean else grad).expand(x.shape), None, None


def _extreme_backward(ctx: Any, grad: Tensor, places: Any) -> tuple[Tensor | None, ...]:
    """The gradient goes to the first of the elements that have the extreme value."""
    (x,) = ctx.saved_tensors
    if ctx.dim is None:
        at = places(x).reshape(1)
        spread = x.new_zeros(x.numel()).scatter(0, at, grad.reshape(1)).reshape(x.shape)
    else:
        at = places.dim(x, ctx.dim, True)
        spread = torch.zeros_like(x).scatter(ctx.dim, at, _along(ctx, grad))
    return spread, None, None


for _suffix in ("", ".dim"):
    _differentiable(f"sum{_suffix}", _save_reduction, lambda c, _, g: _mean_backward(c, g, False))
    _differentiable(f"mean{_suffix}", _save_reduction, lambda c, _, g: _mean_backward(c, g, True))
    _differentiable(f"max{_suffix}", _save_reduction, lambda c, _, g: _extreme_backward(c, g, _ops.argmax))
    _differentiable(f"min{_suffix}", _save_reduction, lambda c, _, g: _extreme_backward(c, g, _ops.argmin))
