"""Linear layers with prepared weights."""

from __future__ import annotations

import copy
import gc
import os

import pytest
import torch
from torch import nn

import warpladder
from layouts import close, uniform


def model(device: str) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(320, 640), nn.ReLU(), nn.Sequential(nn.Linear(640, 320, bias=False))
    ).to(device)


def test_a_prepared_model_computes_the_same(device: str) -> None:
    net = model(device)
    x = uniform(2, 70, 320, device=device)
    exact = copy.deepcopy(net).double()(x.double())
    prepared = warpladder.prepare(net)
    kinds = [type(m) for m in prepared.modules()]
    assert kinds.count(warpladder.PreparedLinear) == 2 and nn.Linear not in kinds
    with torch.no_grad():
        assert close(prepared(x), exact, 640)
    with torch.inference_mode():
        assert close(prepared(x[0]), exact[0], 640)
        assert prepared(x[:0]).shape == (0, 70, 320)
        assert close(prepared(x[0, 0]), exact[0, 0], 640)


def test_prepared_layers_still_train(device: str) -> None:
    layer = warpladder.prepare(nn.Linear(8, 4).to(device))
    layer(uniform(3, 8, device=device)).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.shape == (4, 8)


def test_copies_and_moves(device: str) -> None:
    layer = warpladder.PreparedLinear(nn.Linear(300, 40).to(device))
    x = uniform(5, 300, device=device)
    with torch.no_grad():
        expected = layer(x)
        assert torch.equal(copy.deepcopy(layer)(x), expected)
        assert torch.allclose(layer.to("cpu")(x.cpu()), expected.cpu(), atol=1e-5)
        assert torch.equal(layer.to(device)(x), expected)
        assert layer.double()(x.double()).dtype == torch.float64


def test_compile(device: str) -> None:
    net = warpladder.prepare(model(device)).requires_grad_(False)
    x = uniform(7, 320, device=device)
    compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x), net(x))
    torch.compiler.reset()


def test_shared_weights_stay_shared() -> None:
    net = model("cpu")
    net[2][0].weight = nn.Parameter(net[0].weight.detach().T.clone())
    head = nn.Linear(320, 640, bias=False)
    head.weight = net[0].weight
    both = warpladder.prepare(nn.ModuleList([net, head]))
    assert both[1].weight is both[0][0].weight


def test_prepared_memory_is_returned(cuda: str) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("other processes use the GPU's memory, too")

    def used() -> int:
        gc.collect()
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free

    weight = nn.Linear(4096, 4096, bias=False, device=cuda).requires_grad_(False)
    x = uniform(512, 4096, device=cuda)
    layer = warpladder.PreparedLinear(weight)
    layer(x)
    before = used()
    for _ in range(10):
        layer = warpladder.PreparedLinear(weight)
        layer(x)
    assert used() <= before + 2 * 16 * 4096 * 4096, "the pool is used again"


def test_inputs_that_do_not_fit(cuda: str) -> None:
    layer = warpladder.PreparedLinear(nn.Linear(8, 4, device=cuda)).requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"input of shape \[3, 7\] and weight of shape \[4, 8\]"):
        layer(uniform(3, 7, device=cuda))
    with pytest.raises(RuntimeError, match="input is not float32"):
        layer(uniform(3, 8, device=cuda).half())
    with pytest.raises(RuntimeError, match="no weight was prepared as number 0"):
        torch.ops.warpladder._linear_prepared(uniform(3, 8, device=cuda), 0, 4)
