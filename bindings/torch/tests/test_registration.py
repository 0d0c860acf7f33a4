"""What PyTorch asks of an operator: schema, tensors without data, gradients, tracing."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from conftest import skip_without_triton
from layouts import uniform

ops = torch.ops.warpladder


def csr(rows: int, columns: int, device: str, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    dense = uniform(rows, columns, device="cpu", dtype=dtype)
    dense[torch.rand(rows, columns) < 0.5] = 0
    sparse = dense.to_sparse_csr()
    return (
        sparse.crow_indices().clone().to(device),
        sparse.col_indices().to(device, torch.int32),
        sparse.values().clone().to(device),
    )


def calls(device: str, dtype: torch.dtype, grad: bool) -> dict[str, tuple[Any, tuple, dict]]:
    """{name: (operator, arguments, keyword arguments)}: each operator once or more."""

    def x(*shape: int) -> torch.Tensor:
        return uniform(*shape, device=device, dtype=dtype).requires_grad_(grad)

    crow, col, values = csr(6, 5, device, dtype)
    found = {
        "mm": (ops.mm.default, (x(3, 4), x(4, 5)), {}),
        "mm of views": (ops.mm.default, (x(4, 3).mT, x(4, 10)[:, ::2]), {}),
        "addmm": (ops.addmm.default, (x(3, 5), x(3, 4), x(4, 5)), {"beta": 0.5, "alpha": 2.0}),
        "addmm of a row": (ops.addmm.default, (x(5), x(3, 4), x(4, 5)), {}),
        "bmm": (ops.bmm.default, (x(2, 3, 4), x(2, 4, 5)), {}),
        "baddbmm": (ops.baddbmm.default, (x(3, 5), x(2, 3, 4), x(2, 4, 5)), {"alpha": 2.0}),
        "linear": (ops.linear.default, (x(2, 3, 4), x(5, 4), x(5)), {}),
        "linear without bias": (ops.linear.default, (x(3, 4), x(5, 4)), {}),
        "mv": (ops.mv.default, (x(3, 4), x(4)), {}),
        "spmm_csr_vector": (
            ops.spmm_csr_vector.default,
            (crow, col, values.requires_grad_(grad), x(5)),
            {},
        ),
        "transpose": (ops.transpose.default, (x(3, 4),), {}),
        "transpose of a batch": (ops.transpose.default, (x(2, 3, 4),), {}),
    }
    for name in ("sum", "mean", "min", "max", "argmin", "argmax"):
        packet = getattr(ops, name)
        found[name] = (packet.default, (x(3, 4),), {})
        found[f"{name} along 1"] = (packet.dim, (x(3, 4), 1), {})
        found[f"{name} along 0, kept"] = (packet.dim, (x(3, 4, 2), 0, True), {})
    return found


NAMES = list(calls("cpu", torch.float32, False))
DIFFERENTIABLE = [name for name in NAMES if not name.startswith("arg")]


def test_every_operator_is_tested() -> None:
    tested = {op.name() for op, _, _ in calls("cpu", torch.float32, False).values()}
    registered = {
        f"{name}"
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("warpladder::") and not name.startswith("warpladder::_")
    }
    assert registered == tested


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(device: str, name: str, grad: bool) -> None:
    op, args, kwargs = calls(device, torch.float32, grad)[name]
    torch.library.opcheck(op, args, kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_tensors_without_data(device: str, name: str) -> None:
    op, args, kwargs = calls(device, torch.float32, False)[name]
    real = op(*args, **kwargs)
    bare = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in args]
    fake = op(*bare, **kwargs)
    assert (fake.shape, fake.dtype, fake.stride()) == (real.shape, real.dtype, real.stride())
    assert fake.device.type == "meta"


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name: str) -> None:
    op, args, kwargs = calls("cpu", torch.float64, True)[name]
    function = lambda *inputs: op(*inputs, **kwargs)  # noqa: E731
    assert torch.autograd.gradcheck(function, args)
    assert torch.autograd.gradgradcheck(function, args)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_float64(device: str, name: str) -> None:
    op, args, kwargs = calls(device, torch.float32, True)[name]
    exact = [
        a.detach().cpu().double().requires_grad_() if isinstance(a, torch.Tensor) and a.requires_grad
        else a.cpu() if isinstance(a, torch.Tensor) else a
        for a in args
    ]  # fmt: skip
    op(*args, **kwargs).square().sum().backward()
    op(*exact, **kwargs).square().sum().backward()
    for mine, theirs in zip(args, exact):
        if isinstance(mine, torch.Tensor) and mine.requires_grad and mine.is_leaf:
            assert torch.allclose(mine.grad.cpu().double(), theirs.grad, rtol=1e-5, atol=1e-6)


def test_backward_uses_the_operators_too(device: str) -> None:
    a, b = (uniform(*s, device=device).requires_grad_() for s in ((3, 4), (4, 5)))
    out = ops.mm(a, b)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        out.sum().backward()
    names = [event.key for event in profile.key_averages()]
    assert "warpladder::mm" in names
    if device == "cuda":
        assert "aten::mm" not in names


@pytest.mark.parametrize("name", ["mm", "addmm", "addmm of a row", "bmm", "baddbmm", "linear", "mv"])
def test_products_of_gradients_are_the_operators(name: str) -> None:
    op, args, kwargs = calls("cpu", torch.float32, True)[name]
    out = op(*args, **kwargs)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
        out.square().sum().backward()
    counts = {event.key: event.count for event in profile.key_averages()}
    ours, theirs = ([counts.get(f"{space}::{product}", 0) for product in ("mm", "bmm", "mv")]
                    for space in ("warpladder", "aten"))  # fmt: skip
    assert ours == theirs and sum(ours) == 2, "on the CPU each calls PyTorch's once"


def test_without_grad_nothing_is_saved(device: str) -> None:
    a = uniform(3, 4, device=device).requires_grad_()
    with torch.no_grad():
        assert not ops.mm(a, a.mT).requires_grad
    with torch.inference_mode():
        assert ops.mm(a, a.mT).is_inference()
    assert not ops.argmax(a).requires_grad


@pytest.mark.parametrize("name", NAMES)
def test_compile_in_one_graph(device: str, name: str) -> None:
    op, args, kwargs = calls(device, torch.float32, False)[name]
    compiled = torch.compile(
        lambda *inputs: op(*inputs, **kwargs) * 2, backend="aot_eager", fullgraph=True
    )
    assert torch.equal(compiled(*args), op(*args, **kwargs) * 2)
    torch.compiler.reset()


class Net(torch.nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.randn(8, 8) / 3 for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for weight in self.weights:
            x = torch.relu(ops.linear(x, weight, weight[0]))
        return ops.sum(x)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_model_trains_compiled_as_it_does_eagerly(device: str, backend: str) -> None:
    layers, options = 3, None
    if backend == "inductor":
        skip_without_triton(device)
        # It compiles kernels with g++: too few for a precompiled header or a search for vector instructions to pay.
        layers, options = 2, {"cpp_cache_precompile_headers": False, "cpp.vec_isa_ok": False}
    net = Net(layers).to(device)
    x = uniform(4, 8, device=device)
    net(x).backward()
    eager = [w.grad.clone() for w in net.weights]
    net.zero_grad()
    compiled = torch.compile(net, backend=backend, fullgraph=True, options=options)
    compiled(x).backward()
    for w, expected in zip(net.weights, eager):
        assert torch.allclose(w.grad, expected, rtol=1e-5, atol=1e-6)
    torch.compiler.reset()


def test_vmap(device: str) -> None:
    a, b = uniform(6, 2, 3, 4, device=device), uniform(6, 2, 4, 5, device=device)
    exact = a.double() @ b.double()
    assert torch.allclose(torch.vmap(ops.bmm)(a, b).double(), exact, atol=1e-5)
    moved = torch.vmap(ops.bmm, in_dims=(1, 0), out_dims=1)(a.movedim(0, 1), b)
    assert torch.allclose(moved.movedim(1, 0).double(), exact, atol=1e-5)
    shared = torch.vmap(ops.bmm, in_dims=(None, 0))(a[0], b)
    assert torch.allclose(shared.double(), a[0].double() @ b.double(), atol=1e-5)
    for in_dims, x, y in ((0, 0), a[:, 0], b[:, 0]), ((0, None), a[:, 0], b[0, 0]), (
        (None, 0), a[0, 0], b[:, 0]):  # fmt: skip
        got = torch.vmap(ops.mm, in_dims=in_dims)(x, y)
        assert torch.allclose(got.double(), x.double() @ y.double(), atol=1e-5)


def test_autocast_is_left_alone(device: str) -> None:
    a, b = uniform(3, 4, device=device), uniform(4, 5, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        assert ops.mm(a, b).dtype == torch.float32
        assert torch.mm(a, b).dtype == torch.bfloat16
