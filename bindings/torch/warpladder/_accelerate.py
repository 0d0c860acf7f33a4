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


def _sum(name: str) -> Any:
    """The function that takes aten's addmm or baddbmm, and the one for its out= form."""
    compiled_op = getattr(torch.ops.warpladder, f"_{name}_or_pass").default
    compiled_out = getattr(torch.ops.warpladder, f"_{name}_or_pass_out").default
    product = torch.mm if name == "addmm" else torch.bmm
    index = OPERATORS.index(name)

    def with_complex(c: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any) -> Tensor:
        compiled.warpladder_torch_count(index, _COMPLEX)
        return product(a, b) * alpha + (c * beta if beta != 0 else 0)

    def take(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        if isinstance(beta, complex) or isinstance(alpha, complex):
            return with_complex(c, a, b, beta, alpha)
        return compiled_op(c, a, b, beta, alpha)

    def take_out(
        c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor
    ) -> Tensor:
        if isinstance(beta, complex) or isinstance(alpha, complex):
            return out.copy_(with_complex(c, a, b, beta, alpha))
        if compiled_out(c, a, b, beta, alpha, out):
            out.add_(c, alpha=beta)
        return out

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
            raise RuntimeError("warpladder: PyTorch did not let aten's products be replaced")


def _want(more: int) -> None:
    global _wanted
    _wanted += more
    if _wanted in (0, more):
        _route(_wanted > 0)


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
            report[op] = {why: n for why, n in zip(VERDICTS, row) if n}
    return report


def report() -> Report:
    """What enable() and accelerate() have routed since the last reset_report(), and what not and why."""
    return _counts(reset=False)


def reset_report() -> None:
    _counts(reset=True)


def _print_report() -> None:
    print(f"warpladder: {report()}", file=sys.stderr)


if os.environ.get("WARPLADDER_LOG") == "1":
    compiled.warpladder_torch_log(1)
    atexit.register(_print_report)
