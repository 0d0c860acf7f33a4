"""FP32 operators for NVIDIA GPUs in PyTorch.

    import torch, warpladder
    c = torch.ops.warpladder.mm(a, b)          # an operator of its own
    with warpladder.accelerate():              # or: aten's products become warpladder's
        loss = model(x).square().mean()
    print(warpladder.report())
"""

from warpladder import _operators, _vmap  # noqa: F401  registers the operators
from warpladder._accelerate import accelerate, disable, enable, report, reset_report
from warpladder._library import copies_made, why_unsupported
from warpladder._prepared import PreparedLinear, prepare

__all__ = [
    "PreparedLinear",
    "accelerate",
    "copies_made",
    "disable",
    "enable",
    "prepare",
    "report",
    "reset_report",
    "why_unsupported",
]
