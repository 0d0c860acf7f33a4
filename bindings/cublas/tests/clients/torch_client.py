#!/usr/bin/env python3
"""PyTorch as a client of cuBLAS: errors beside float64, times, and a training step.

Prints a line for each operation. Run it with and without the library preloaded; TF32 stays off.
Exit code 1 where a result is wrong.
"""

from __future__ import annotations

import sys

import torch
from medians import CALLS, WAIT_CYCLES, median_of
from torch import nn

torch.manual_seed(1)
FAILED = []


def seconds(call, wait_cycles: int = WAIT_CYCLES) -> float:
    """The GPU's time of a call; with no wait, the host's where the host is slower."""
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(wait_cycles)
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / CALLS / 1e3


def check(name: str, call, truth, flops: float = 0) -> None:
    """`truth` gives the same in float64; the error is a share of its largest element."""
    result, exact = call(), truth()
    error = ((result.double() - exact).abs().max() / exact.abs().max()).item()
    good = error < 2e-5
    if not good:
        FAILED.append(name)
    time = median_of(lambda: seconds(call))
    rate = f", {flops / time / 1e12:6.1f} TFLOP/s" if flops else ""
    print(f"torch: {name:34} error {error:.1e} {'right' if good else 'WRONG'}, "
          f"{time * 1e6:8.1f} µs{rate}", flush=True)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda")


def products() -> None:
    for m, n, k in [(4096, 4096, 4096), (1024, 1024, 1024), (1000, 777, 333), (128, 128, 128)]:
        a, b = random(m, k), random(k, n)
        check(f"mm {m}x{n}x{k}", lambda a=a, b=b: a @ b, lambda a=a, b=b: a.double() @ b.double(),
              2.0 * m * n * k)
    a, b = random(2048, 1024), random(2048, 1024)
    check("mm of a transpose", lambda: a.t() @ b, lambda: a.double().t() @ b.double())
    a, b = random(48, 512, 64), random(48, 64, 512)
    check("bmm 48x512x512x64", lambda: torch.bmm(a, b), lambda: torch.bmm(a.double(), b.double()))
    a, x = random(4096, 4096), random(4096)
    check("mv 4096x4096", lambda: a @ x, lambda: a.double() @ x.double())
    c, b = random(512, 512), random(512, 512)
    d = random(512, 512)
    check("addmm, beta 0.5", lambda: torch.addmm(c, b, d, beta=0.5, alpha=2),
          lambda: torch.addmm(c.double(), b.double(), d.double(), beta=0.5, alpha=2))


def layers() -> None:
    x = random(2048, 1024)
    for bias in [False, True]:
        layer = nn.Linear(1024, 4096, bias=bias, device="cuda")
        exact = nn.Linear(1024, 4096, bias=bias, device="cuda").double()
        exact.load_state_dict(layer.state_dict())
        with torch.no_grad():
            check(f"nn.Linear, bias={bias}", lambda l=layer: l(x), lambda e=exact: e(x.double()),
                  2.0 * 2048 * 1024 * 4096)
    weight, bias = random(1024, 4096), random(4096)
    for gelu in [False, True]:
        name = "_addmm_activation, " + ("GELU" if gelu else "ReLU")

        def exact(gelu=gelu):
            sums = torch.addmm(bias.double(), x.double(), weight.double())
            return nn.functional.gelu(sums, approximate="tanh") if gelu else sums.relu()

        check(name, lambda g=gelu: torch._addmm_activation(bias, x, weight, use_gelu=g), exact)


def training() -> None:
    """Gradients of a small network, beside float64."""
    def network():
        torch.manual_seed(2)
        return nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.ReLU(),
                             nn.Linear(1024, 10)).cuda()

    x, y = random(256, 512), torch.randint(10, (256,), device="cuda")
    grads = []
    for double in [False, True]:
        model = network().double() if double else network()
        loss = nn.functional.cross_entropy(model(x.double() if double else x), y)
        loss.backward()
        grads.append([p.grad.double() for p in model.parameters()])
    worst = max(((f - d).abs().max() / d.abs().max()).item() for f, d in zip(*grads))
    good = worst < 1e-4
    if not good:
        FAILED.append("gradients")
    print(f"torch: gradients of a network: error {worst:.1e} {'right' if good else 'WRONG'}")

    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    time = median_of(lambda: seconds(step, wait_cycles=0))
    print(f"torch: a training step takes {time * 1e6:.1f} µs", flush=True)


def graphs() -> None:
    """Products in a CUDA graph, replayed with other operands."""
    a, b = random(1024, 1024), random(1024, 1024)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a @ b
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        c = (a @ b) @ b
    a.copy_(random(1024, 1024))
    graph.replay()
    torch.cuda.synchronize()
    exact = (a.double() @ b.double()) @ b.double()
    error = ((c.double() - exact).abs().max() / exact.abs().max()).item()
    good = error < 2e-5
    if not good:
        FAILED.append("graph")
    print(f"torch: products in a CUDA graph: error {error:.1e} {'right' if good else 'WRONG'}")


def main() -> int:
    print(f"torch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}")
    products()
    layers()
    graphs()
    training()
    print("torch: " + (f"WRONG: {', '.join(FAILED)}" if FAILED else "all right"))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
