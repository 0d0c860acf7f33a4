"""Linear layers whose weights are split into the tensor cores' numbers once, for inference."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from warpladder import _operators, _shapes
from warpladder._library import compiled, why_unsupported

_ops = torch.ops.warpladder


def _fake(input: Tensor, prepared: int, outputs: int, bias: Tensor | None = None) -> Tensor:
    _shapes.check_floats("_linear_prepared", input=input)
    return input.new_empty([*input.shape[:-1], outputs])


torch.library.register_fake("warpladder::_linear_prepared", _fake, lib=_operators.fragment)


class PreparedLinear(nn.Module):
    """A linear layer for inference. On a CUDA device its weight is held once more, 12 to 16 bytes an
    element, as products want it; changes of the weight are not seen. With gradients, and on the CPU, it
    is an ordinary layer."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._release: weakref.finalize | None = None
        self._prepare()

    def _prepare(self) -> None:
        weight = self.weight
        if self._release is not None:
            self._release()
        self._release, self._prepared = None, None
        if weight.is_cuda and weight.dtype == torch.float32 and why_unsupported(weight.device) is None:
            self._prepared = _ops._prepare(weight.detach())
            self._device = weight.device
            self._release = weakref.finalize(
                self, compiled.warpladder_torch_release, self._prepared
            )
            self._release.atexit = False  # CUDA may be gone by then

    def _apply(self, *args: Any, **kwargs: Any) -> PreparedLinear:
        """`.to()`, `.cuda()` and their like: the weight may lie elsewhere then."""
        moved = super()._apply(*args, **kwargs)
        moved._prepare()
        return moved

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None, "_release": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._prepare()

    def forward(self, input: Tensor) -> Tensor:
        needs_grad = torch.is_grad_enabled() and (input.requires_grad or self.weight.requires_grad)
        if self._prepared is None or needs_grad or input.device != self._device:
            return nn.functional.linear(input, self.weight, self.bias)
        return _ops._linear_prepared(input, self._prepared, self.weight.shape[0], self.bias)

    def extra_repr(self) -> str:
        outputs, inputs = self.weight.shape
        return f"in_features={inputs}, out_features={outputs}, bias={self.bias is not None}"


def prepare(module: nn.Module) -> nn.Module:
    """Puts a PreparedLinear in the place of each nn.Linear of a model, and returns the model. A layer
    whose weight is another's, such as GPT-2's head, keeps sharing it."""
    if type(module) is nn.Linear:
        return PreparedLinear(module)
    for name, child in module.named_children():
        setattr(module, name, prepare(child))
    return module
