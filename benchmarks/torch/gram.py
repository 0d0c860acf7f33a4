#!/usr/bin/env python3
"""A Gram matrix and its Cholesky factor in FP32, stock PyTorch and warpladder beside each other."""

from __future__ import annotations

from collections.abc import Callable

import common
import torch


def factorisation(rows: int, columns: int) -> Callable[[], torch.Tensor]:
    a = torch.randn(rows, columns, device="cuda")
    ridge = torch.full((columns,), 1e-3 * rows, device="cuda")

    def step() -> torch.Tensor:
        gram = a.T @ a
        gram.diagonal().add_(ridge)
        factor = torch.linalg.cholesky(gram)
        return 2 * factor.diagonal().log().sum()  # the logarithm of the determinant

    return step


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--columns", type=int, default=4000)
    options = parser.parse_args()
    common.require_gpu()
    label = f"Gram + Cholesky {options.rows}x{options.columns}"
    make = lambda contestant: factorisation(options.rows, options.columns)  # noqa: E731
    common.write_report(options, "gram", [common.compared(label, make, options)])


if __name__ == "__main__":
    main()
