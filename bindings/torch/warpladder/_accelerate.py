"""aten's FP32 products on CUDA devices become the library's, for programs that change nothing.

mm and bmm are replaced by compiled functions. PyTorch's stable interface has no place for the scalars
of addmm and baddbmm, so that these two go through Python on their way to compiled ones.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from warpladder._library import compiled

_lock = threading.Lock()
_wanted = 0  # enable() counts once, each accelerate() once
_enabled = False
_sums: torch.library.Library | None = None


def _names(function: Any) -> list[str]:
    found: list[str] = []
    while (name := function(len(found))) is not None:
        found.append(name.decode())
    return found


OPERATORS = _names(compiled.warpladder_torch_operator)
VERDICTS = _names(compiled.warpladder_torch_verdict)
_COMPLEX = VERDICTS.index("beta or alpha is complex")
_REFUSED = VERDICTS.index("the library refused the call")
_CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)


def _own_kernel(name: str) -> Any:
    """What serves an operator on CUDA devices; None where PyTorch knows no such devices."""
    return torch.library.get_kernel(name, "CUDA").call_boxed if torch.backends.cuda.is_built() else None


def _sum(name: str) -> tuple[Any, Any]:
    """The function that takes aten's addmm or baddbmm, and the one for its out= form. What the compiled part does
    not take goes to the kernels that were in place before, with all exceptions of theirs."""
    compiled_op = getattr(torch.ops.warpladder, f"_{name}_or_pass").default.redispatch
    compiled_out = getattr(torch.ops.warpladder, f"_{name}_or_pass_out").default.redispatch
    own, own_out = _own_kernel(f"aten::{name}"), _own_kernel(f"aten::{name}.out")
    index = OPERATORS.index(name)

    def is_complex(beta: Any, alpha: Any) -> bool:
        found = isinstance(beta, complex) or isinstance(alpha, complex)
        if found:
            compiled.warpladder_torch_count(index, _COMPLEX, b"")
        return found

    def take(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        taken = None if is_complex(beta, alpha) else compiled_op(_CUDA, c, a, b, beta, alpha)
        return own(_CUDA, c, a, b, beta=beta, alpha=alpha) if taken is None else taken

    def take_out(
        c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor
    ) -> Tensor:
        is_c_left = None if is_complex(beta, alpha) else compiled_out(_CUDA, c, a, b, beta, alpha, out)
        if is_c_left is None:
            return own_out(_CUDA, c, a, b, beta=beta, alpha=alpha, out=out)
        return out.add_(c, alpha=beta) if is_c_left else out

    return take, take_out


def _route(wanted: bool) -> None:
    global _sums
    if not wanted:
        compiled.warpladder_torch_route(0)
        if _sums is not None:
            _sums._destroy()
        _sums = None
        return
    with warnings.catch_warnings():
        # PyTorch warns once that a kernel is replaced, which is what was asked for.
        warnings.simplefilter("ignore")
        _sums = torch.library.Library("aten", "IMPL")
        for name in ("addmm", "baddbmm"):
            take, take_out = _sum(name)
            _sums.impl(name, take, "CUDA")
            _sums.impl(f"{name}.out", take_out, "CUDA")
    if compiled.warpladder_torch_route(1) != 0:
        _route(False)
        raise RuntimeError("warpladder: the products of this PyTorch cannot be replaced")


def _want(more: int) -> None:
    global _wanted
    wanted = _wanted + more
    if wanted in (0, more):
        _route(wanted > 0)
    _wanted = wanted


def enable() -> None:
    """Routes FP32 mm, addmm, bmm and baddbmm on CUDA devices to warpladder, and so matmul, linear and
    einsum, in the whole process until disable(). Products in other dtypes, and in FP32 where
    torch.backends.cuda.matmul.fp32_precision allows TF32, stay PyTorch's."""
    global _enabled
    with _lock:
        if not _enabled:
            _want(1)
        _enabled = True


def disable() -> None:
    """Takes enable() back. An accelerate() that is still open stays in force."""
    global _enabled
    with _lock:
        if _enabled:
            _want(-1)
        _enabled = False


@contextlib.contextmanager
def accelerate() -> Iterator[None]:
    """enable() for a block, in all threads. Blocks may be nested."""
    with _lock:
        _want(1)
    try:
        yield
    finally:
        with _lock:
            _want(-1)


class Report(dict):
    """{operator: {verdict: calls}}; prints as a table."""

    def __str__(self) -> str:
        lines = []
        for op, verdicts in self.items():
            taken = verdicts.get("taken", 0)
            calls = sum(verdicts.values())
            lines.append(f"{op}: warpladder took {taken} of {calls} calls")
            lines += [f"  {n} passed on: {why}" for why, n in verdicts.items() if why != "taken"]
        return "\n".join(lines) if lines else "warpladder was asked for no product"


def _counts(reset: bool) -> Report:
    cells = (ctypes.c_int64 * (len(OPERATORS) * len(VERDICTS)))()
    compiled.warpladder_torch_counts(cells, int(reset))
    report = Report()
    for i, op in enumerate(OPERATORS):
        row = cells[i * len(VERDICTS) : (i + 1) * len(VERDICTS)]
        if any(row):
            report[op] = {_verdict(i, j): n for j, n in enumerate(row) if n}
    return report


def _verdict(op: int, verdict: int) -> str:
    if verdict != _REFUSED:
        return VERDICTS[verdict]
    return f"{VERDICTS[verdict]}, lastly: {compiled.warpladder_torch_refusal(op).decode()}"


def report() -> Report:
    """What enable() and accelerate() have routed since the last reset_report(), and what not and why: calls of mm, bmm,
    addmm, baddbmm and their out= forms. In-place forms and products with vectors are not among them."""
    return _counts(reset=False)


def reset_report() -> None:
    _counts(reset=True)


def _print_report() -> None:
    print(f"warpladder: {report()}", file=sys.stderr)


if os.environ.get("WARPLADDER_LOG") == "1":
    compiled.warpladder_torch_log(1)
    atexit.register(_print_report)
