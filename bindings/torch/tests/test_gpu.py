"""Streams, devices, graphs, memory and threads of a CUDA device."""

from __future__ import annotations

import threading

import pytest
import torch

import warpladder
from layouts import close, uniform

ops = torch.ops.warpladder


def test_the_current_stream_is_used(cuda: str) -> None:
    stream = torch.cuda.Stream()
    a = torch.zeros(512, 512, device=cuda)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        a.fill_(1)
        total = ops.sum(ops.mm(a, a))
    # On another stream the product would have been of zeros.
    stream.synchronize()
    assert total.item() == 512**3


def test_workspaces_come_from_the_caching_allocator(cuda: str) -> None:
    a, b = uniform(4096, 4096, device=cuda), uniform(4096, 4096, device=cuda)
    ops.mm(a, b)
    torch.cuda.synchronize()
    free, _ = torch.cuda.mem_get_info()
    held = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    c = ops.mm(a, b)
    torch.cuda.synchronize()
    used = torch.cuda.max_memory_allocated() - held
    assert used > c.numel() * 4, "a workspace beside the result"
    assert torch.cuda.memory_allocated() == held + c.numel() * 4, "and it is returned"
    assert torch.cuda.mem_get_info()[0] >= free - (8 << 20), "nothing is taken beside PyTorch"


def test_capture_in_a_graph(cuda: str) -> None:
    a, b = uniform(256, 2048, device=cuda), uniform(2048, 256, device=cuda)
    x = uniform(300, 7000, device=cuda)

    def work() -> tuple[torch.Tensor, ...]:
        c = ops.mm(a, b)
        with warpladder.accelerate():
            d = torch.addmm(b[0, :256], c, c)
        return c, d, ops.sum.dim(x, 1), ops.argmax(x), ops.mv(x, x[0])

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = work()
    for seed in range(3):
        torch.manual_seed(seed)
        for tensor in (a, b, x):
            tensor.copy_(uniform(*tensor.shape, device=cuda))
        graph.replay()
        for mine, again in zip(captured, work()):
            assert torch.equal(mine, again)
    assert close(captured[0], a.double() @ b.double(), 2048)


def test_same_bits_in_every_stream_and_thread(cuda: str) -> None:
    a, b = uniform(700, 1030, device=cuda), uniform(1030, 650, device=cuda)
    expected = ops.mm(a, b)
    torch.cuda.synchronize()
    wrong: list[int] = []

    def work(index: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                if not torch.equal(ops.mm(a, b), expected):
                    wrong.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_devices(cuda: str) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("one CUDA device; this needs two")
    a = [uniform(300, 400, device=f"cuda:{i}") for i in range(2)]
    b = [uniform(400, 500, device=f"cuda:{i}") for i in range(2)]
    for current in range(2):
        with torch.cuda.device(current):
            for i in range(2):
                c = ops.mm(a[i], b[i])
                assert c.device.index == i and torch.cuda.current_device() == current
                assert close(c, a[i].double() @ b[i].double(), 400)
    with pytest.raises(RuntimeError, match="b is on cuda:1, but a on cuda:0"):
        ops.mm(a[0], b[1])


def test_products_are_no_farther_from_the_truth_than_pytorchs(cuda: str) -> None:
    for k in (64, 1000, 8192):
        a, b = uniform(256, k, device=cuda), uniform(k, 256, device=cuda)
        exact = a.double() @ b.double()
        ours, theirs = ((x.double() - exact).norm().item() for x in (ops.mm(a, b), torch.mm(a, b)))
        assert ours <= 1.1 * theirs, k


def test_nothing_waits_for_the_gpu(cuda: str) -> None:
    a = uniform(64, 64, device=cuda)
    ops.mm(a, a), ops.sum.dim(a, 0), ops.mv(a, a[0])
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        ops.mm(a, a), ops.addmm(a, a, a), ops.bmm(a[None], a[None]), ops.linear(a, a, a[0])
        ops.mv(a, a[0]), ops.sum(a), ops.argmax.dim(a, 0), ops.transpose(a)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_what_the_profiler_shows(cuda: str) -> None:
    a = uniform(512, 512, device=cuda)
    ops.mm(a, a)
    with torch.profiler.profile() as profile:
        ops.mm(a, a)
        torch.cuda.synchronize()
    averages = {event.key: event for event in profile.key_averages()}
    assert averages["warpladder::mm"].count == 1
    assert averages["warpladder::mm"].device_time_total > 0
