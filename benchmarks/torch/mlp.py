#!/usr/bin/env python3
"""Training of an FP32 MLP, stock PyTorch and warpladder.accelerate() beside each other."""

from __future__ import annotations

from collections.abc import Callable

import common
import torch
from torch import nn


def training(width: int, layers: int, batch: int) -> Callable[[], torch.Tensor]:
    device = torch.device("cuda")
    parts: list[nn.Module] = []
    for layer in range(layers):
        parts.append(nn.Linear(width, width, device=device))
        if layer + 1 < layers:
            parts.append(nn.ReLU())
    model = nn.Sequential(*parts)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
    teacher = torch.randn(width, width, device=device) / width**0.5

    def batch_of_teacher() -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randn(batch, width, device=device)
        return x, torch.relu(x @ teacher)

    data = common.batches(batch_of_teacher, 4)

    def step() -> torch.Tensor:
        x, y = next(data)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=8192)
    options = parser.parse_args()
    common.require_gpu()
    label = f"MLP {options.layers}x{options.width}, batch {options.batch}"
    make = lambda contestant: training(options.width, options.layers, options.batch)  # noqa: E731
    common.write_report(options, "mlp", [common.compared(label, make, options)])


if __name__ == "__main__":
    main()
