"""Products of every layout, beside float64."""

from __future__ import annotations

import pytest
import torch

import warpladder
from layouts import close, is_copied, matrices, uniform

ops = torch.ops.warpladder
SIZES = [(5, 7, 3), (64, 48, 80), (1, 9, 4), (6, 1, 5), (3, 8, 1), (1, 1, 1), (130, 33, 257)]


@pytest.mark.parametrize("m, n, k", SIZES)
def test_mm_of_every_layout(device: str, m: int, n: int, k: int) -> None:
    rights = matrices(k, n, device)
    for left_layout, a in matrices(m, k, device).items():
        for right_layout, b in rights.items():
            before = warpladder.copies_made()
            c = ops.mm(a, b)
            copies = warpladder.copies_made() - before
            assert close(c, a.double() @ b.double(), k), (left_layout, right_layout)
            assert c.is_contiguous()
            if device == "cuda":
                needed = is_copied(left_layout, m, k) + is_copied(right_layout, k, n)
                assert copies == needed, (left_layout, right_layout)


@pytest.mark.parametrize("m, n, k", SIZES)
def test_bmm_of_every_layout(device: str, m: int, n: int, k: int) -> None:
    batch = 3
    rights = matrices(k, n, device, batch)
    for left_layout, a in matrices(m, k, device, batch).items():
        for right_layout, b in rights.items():
            before = warpladder.copies_made()
            c = ops.bmm(a, b)
            copies = warpladder.copies_made() - before
            assert close(c, a.double() @ b.double(), k), (left_layout, right_layout)
            if device == "cuda":
                needed = is_copied(left_layout, m, k) + is_copied(right_layout, k, n)
                assert copies == needed, (left_layout, right_layout)


def test_a_shared_matrix_is_copied_once(cuda: str) -> None:
    a = uniform(8, 2 * 6, device=cuda)[:, ::2].expand(5, 8, 6)
    b = uniform(5, 6, 7, device=cuda)
    before, bytes_before = warpladder.copies_made(), torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    c = ops.bmm(a, b)
    assert warpladder.copies_made() == before + 1
    assert torch.cuda.max_memory_allocated() - bytes_before < 5 * 8 * 6 * 4 + c.numel() * 4 + 4096
    assert close(c, a.double() @ b.double(), 6)


@pytest.mark.parametrize("shape", [(6, 5), (5,), (1, 5), (6, 1), (1, 1), ()])
@pytest.mark.parametrize("beta, alpha", [(1.0, 1.0), (0.5, -2.0), (0.0, 1.0), (2.0, 0.0)])
def test_addmm(device: str, shape: tuple[int, ...], beta: float, alpha: float) -> None:
    a, b, c = (uniform(*s, device=device) for s in ((6, 9), (9, 5), shape))
    out = ops.addmm(c, a, b, beta=beta, alpha=alpha)
    exact = beta * c.double() + alpha * (a.double() @ b.double())
    assert close(out, exact.expand(6, 5), 10, 2.0)


@pytest.mark.parametrize("shape", [(4, 6, 5), (6, 5), (5,), (4, 1, 5)])
def test_baddbmm(device: str, shape: tuple[int, ...]) -> None:
    a, b, c = (uniform(*s, device=device) for s in ((4, 6, 9), (4, 9, 5), shape))
    out = ops.baddbmm(c, a, b, beta=0.5, alpha=2.0)
    assert close(out, 0.5 * c.double() + 2 * (a.double() @ b.double()), 10, 2)


def test_sums_are_contiguous_whatever_is_added(device: str) -> None:
    a, b = uniform(3, 6, 9, device=device), uniform(3, 9, 5, device=device)
    c = uniform(5, 6, 3, device=device).permute(2, 1, 0)
    assert ops.baddbmm(c, a, b).is_contiguous()
    out = ops.addmm(c[0], a[0], b[0])
    assert out.is_contiguous()
    assert close(out, c[0].double() + a[0].double() @ b[0].double(), 10, 2.0)


N = 512
BROADCAST = [(N,), (1, N), (300, 1), (1,), (3, 1, N), (100, N), (1, 100, N), (3, 100, 1)]


@pytest.mark.parametrize("shape", BROADCAST)
@pytest.mark.parametrize("columns", [N, N + 2])
@pytest.mark.parametrize("offset", [0, 1])
def test_what_is_broadcast_to_a_large_product(
    device: str, shape: tuple[int, ...], columns: int, offset: int
) -> None:
    shape = (*shape[:-1], columns if shape[-1] == N else 1)
    c = uniform(*shape[:-1], shape[-1] + offset, device=device)[..., offset:]
    c[..., 0] = float("nan")
    batch = () if shape[0] == 300 or len(shape) == 1 else (3,)
    rows = 100 if batch else 300
    a, b = uniform(*batch, rows, 0, device=device), uniform(*batch, 0, columns, device=device)
    out = ops.baddbmm(c, a, b) if batch else ops.addmm(c, a, b)
    assert torch.equal(out.nan_to_num(7), c.expand(*batch, rows, columns).nan_to_num(7))
    if not batch and shape[-1] == columns:
        weight, x = uniform(columns, 1, device=device), torch.zeros(rows, 1, device=device)
        assert torch.equal(ops.linear(x, weight, c).nan_to_num(7), c.expand(rows, -1).nan_to_num(7))


def test_beta_of_zero_does_not_read_c(device: str) -> None:
    a, b = uniform(6, 9, device=device), uniform(9, 5, device=device)
    nothing = torch.full((6, 5), float("nan"), device=device)
    assert close(ops.addmm(nothing, a, b, beta=0.0), a.double() @ b.double(), 9)
    assert torch.isnan(ops.addmm(nothing, a, b, beta=1.0)).all()


@pytest.mark.parametrize("shape", [(), (6,), (2, 6), (2, 3, 4)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_linear(device: str, shape: tuple[int, ...], with_bias: bool) -> None:
    x, weight = uniform(*shape, 9, device=device), uniform(5, 9, device=device)
    bias = uniform(5, device=device) if with_bias else None
    exact = x.double() @ weight.double().T + (bias.double() if with_bias else 0)
    assert close(ops.linear(x, weight, bias), exact, 10)


def test_linear_of_every_layout(device: str) -> None:
    weight = uniform(5, 9, device=device)
    inputs = {
        "rows apart": uniform(4, 6, 12, device=device)[..., :9],
        "turned": uniform(9, 24, device=device).T.unflatten(0, (4, 6)),
        "copied: swapped": uniform(6, 4, 9, device=device).transpose(0, 1),
        "copied: expanded": uniform(9, device=device).expand(4, 6, 9),
    }
    for layout, x in inputs.items():
        before = warpladder.copies_made()
        out = ops.linear(x, weight, None)
        copies = warpladder.copies_made() - before
        assert close(out, x.double() @ weight.double().T, 9), layout
        if device == "cuda":
            assert copies == layout.startswith("copied"), layout


@pytest.mark.parametrize("m, n", [(5, 7), (64, 48), (1, 9), (6, 1), (300, 2000)])
def test_mv_of_every_layout(device: str, m: int, n: int) -> None:
    vectors = {
        "contiguous": uniform(n, device=device),
        "every third": uniform(3 * n, device=device)[::3],
        "a column": uniform(n, 2, device=device)[:, 1],
        "copied: expanded": uniform(1, device=device).expand(n),
    }
    for layout, a in matrices(m, n, device).items():
        for vector_layout, x in vectors.items():
            before = warpladder.copies_made()
            y = ops.mv(a, x)
            copies = warpladder.copies_made() - before
            assert close(y, a.double() @ x.double(), n), (layout, vector_layout)
            if device == "cuda":
                needed = is_copied(layout, m, n) + (vector_layout.startswith("copied") and n > 1)
                assert copies == needed, (layout, vector_layout)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("rows, columns, density", [(50, 40, 0.1), (300, 300, 0.02), (7, 5, 0.0)])
def test_spmm_csr_vector(
    device: str, index: torch.dtype, rows: int, columns: int, density: float
) -> None:
    dense = uniform(rows, columns, device="cpu")
    dense[torch.rand(rows, columns) >= density] = 0
    csr = dense.to_sparse_csr()
    x = uniform(columns, device=device)
    y = ops.spmm_csr_vector(
        csr.crow_indices().to(device, index),
        csr.col_indices().to(device, index),
        csr.values().to(device),
        x,
    )
    assert close(y, dense.double() @ x.double().cpu(), columns)


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (0, 4, 0)])
def test_nothing_to_multiply(device: str, m: int, n: int, k: int) -> None:
    a, b = uniform(m, k, device=device), uniform(k, n, device=device)
    zeros = torch.zeros(m, n, device=device)
    assert torch.equal(ops.mm(a, b), zeros)
    assert torch.equal(ops.mm(b.mT, a.mT), zeros.mT)
    assert torch.equal(ops.bmm(a.expand(2, m, k), b.expand(2, k, n)), zeros.expand(2, m, n))
    assert ops.bmm(a.expand(0, m, k), b.expand(0, k, n)).shape == (0, m, n)
    c = uniform(m, n, device=device)
    assert torch.equal(ops.addmm(c, a, b, beta=0.5), c * 0.5)
    bias = uniform(n, device=device)
    assert torch.equal(ops.linear(a, b.mT, bias), bias.expand(m, n))
    nothing = uniform(0, device=device)
    assert torch.equal(ops.mv(nothing.expand(m, 0), nothing), torch.zeros(m, device=device))
    assert ops.mv(nothing.expand(k, 0).mT, uniform(k, device=device)).shape == (0,)


def test_infinities_and_nan_stay_where_they_are(device: str) -> None:
    a, b = uniform(40, 300, device=device), uniform(300, 50, device=device)
    a[3, 7], a[5, 11], b[2, 9] = float("inf"), float("nan"), float("-inf")
    ours, theirs = ops.mm(a, b), torch.mm(a.double(), b.double())
    assert torch.equal(torch.isnan(ours), torch.isnan(theirs))
    assert torch.equal(torch.isinf(ours), torch.isinf(theirs))
