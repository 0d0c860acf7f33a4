"""Finds and loads the compiled part, which registers the operators with PyTorch."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parent
LEAST_TORCH = (2, 10)


def _check_torch() -> None:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < LEAST_TORCH:
        raise ImportError(
            f"warpladder needs PyTorch {'.'.join(map(str, LEAST_TORCH))} or newer, whose C interface "
            f"is stable; this is {torch.__version__}"
        )


def _compiled() -> Path:
    found = sorted(FOLDER.glob("_C*.so"))
    if found:
        return found[0]
    if os.environ.get("WARPLADDER_JIT") == "1":
        from warpladder import _just_in_time

        return _just_in_time.build()
    raise ImportError(
        f"warpladder has no compiled part in {FOLDER}: install it with `pip install ./bindings/torch`, "
        "or set WARPLADDER_JIT=1 to compile it now"
    )


def _load() -> ctypes.CDLL:
    _check_torch()
    path = _compiled()
    torch.ops.load_library(str(path))
    library = ctypes.CDLL(str(path))
    library.warpladder_torch_copies.restype = ctypes.c_int64
    library.warpladder_torch_release.argtypes = [ctypes.c_int64]
    for name in ("operator", "verdict", "refusal", "unsupported"):
        getattr(library, f"warpladder_torch_{name}").restype = ctypes.c_char_p
    return library


compiled = _load()


def copies_made() -> int:
    """How many copies of their inputs the operators have made, because BLAS cannot express them."""
    return compiled.warpladder_torch_copies()


def why_unsupported(device: int | torch.device = 0) -> str | None:
    """Why the operators do not run on a CUDA device; None where they do."""
    if isinstance(device, torch.device):
        device = device.index or 0
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    reason = compiled.warpladder_torch_unsupported(device)
    return reason.decode() if reason else None
