"""Routing of aten's products: what is taken, what is not and why, and that all of it can be undone."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
import torch

import warpladder
from conftest import skip_without_triton
from layouts import close, uniform

ROUTED = ("mm", "mm.out", "bmm", "bmm.out", "addmm", "addmm.out", "baddbmm", "baddbmm.out")


def kernels() -> list[str]:
    """What serves each routed operator on CUDA devices."""
    tables = [torch._C._dispatch_dump_table(f"aten::{name}").splitlines() for name in ROUTED]
    return [next(line for line in table if line.startswith("CUDA:")) for table in tables]


@pytest.fixture(autouse=True)
def from_zero() -> Iterator[None]:
    warpladder.reset_report()
    yield
    warpladder.disable()
    torch.backends.cuda.matmul.allow_tf32 = False


def test_kernels_are_replaced_and_put_back() -> None:
    own = kernels()
    for _ in range(3):
        with warpladder.accelerate():
            inside = kernels()
            assert all(a != b for a, b in zip(own, inside)), inside
            with warpladder.accelerate():
                assert kernels() == inside
            warpladder.enable()
            warpladder.enable()
            assert kernels() == inside
        assert kernels() != own
        warpladder.disable()
        warpladder.disable()
        assert kernels() == own


def test_an_exception_ends_the_block() -> None:
    own = kernels()
    with pytest.raises(KeyError):
        with warpladder.accelerate():
            raise KeyError
    assert kernels() == own


def test_threads_share_the_route() -> None:
    own = kernels()

    def work() -> None:
        for _ in range(20):
            with warpladder.accelerate():
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kernels() == own


def test_nothing_is_printed_and_the_cpu_stays_as_it_is() -> None:
    program = (
        "import warpladder, torch\n"
        "with warpladder.accelerate():\n"
        "    a = torch.randn(3, 3); a @ a; torch.addmm(a, a, a, beta=2)\n"
        "assert str(warpladder.report()) == 'warpladder was asked for no product'\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "overrid" not in done.stderr + done.stdout


# Each call returns the product and a function of what it is: one of doubles, made outside of the block.
Result = tuple[torch.Tensor, Callable[[], torch.Tensor]]
CALLS: dict[str, tuple[str, Callable[[str], Result]]] = {}


def routed(op: str) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    def add(function: Callable[[str], Result]) -> Callable[[str], Result]:
        CALLS[function.__name__] = (op, function)
        return function

    return add


@routed("mm")
def matmul(device: str) -> Result:
    a, b = uniform(30, 40, device=device), uniform(40, 50, device=device)
    return a @ b, lambda: a.double() @ b.double()


@routed("mm")
def matmul_of_a_batch_and_a_matrix(device: str) -> Result:
    a, b = uniform(3, 30, 40, device=device), uniform(40, 50, device=device)
    return a @ b, lambda: a.double() @ b.double()


@routed("bmm")
def matmul_of_batches(device: str) -> Result:
    a, b = uniform(2, 3, 30, 40, device=device), uniform(3, 40, 50, device=device)
    return a @ b, lambda: a.double() @ b.double()


@routed("addmm")
def linear(device: str) -> Result:
    x, w, b = (uniform(*s, device=device) for s in ((2, 30, 40), (50, 40), (50,)))
    return torch.nn.functional.linear(x, w, b), lambda: x.double() @ w.double().T + b.double()


@routed("mm")
def linear_without_bias(device: str) -> Result:
    x, w = uniform(30, 40, device=device), uniform(50, 40, device=device)
    return torch.nn.functional.linear(x, w), lambda: x.double() @ w.double().T


@routed("addmm")
def addmm(device: str) -> Result:
    c, a, b = (uniform(*s, device=device) for s in ((30, 50), (30, 40), (40, 50)))
    return torch.addmm(c, a, b, beta=2, alpha=0.5), lambda: 2 * c.double() + 0.5 * a.double() @ b.double()


@routed("baddbmm")
def baddbmm(device: str) -> Result:
    c, a, b = (uniform(*s, device=device) for s in ((50,), (3, 30, 40), (3, 40, 50)))
    return torch.baddbmm(c, a, b, alpha=-1), lambda: c.double() - a.double() @ b.double()


@routed("bmm")
def einsum(device: str) -> Result:
    a, b = uniform(3, 30, 40, device=device), uniform(3, 50, 40, device=device)
    return torch.einsum("bik,bjk->bij", a, b), lambda: a.double() @ b.double().mT


@routed("mm")
def mm_out(device: str) -> Result:
    a, b = uniform(30, 40, device=device), uniform(40, 50, device=device)
    return torch.mm(a, b, out=torch.empty(30, 50, device=device)), lambda: a.double() @ b.double()


@routed("addmm")
def addmm_out(device: str) -> Result:
    c, a, b = (uniform(*s, device=device) for s in ((50,), (30, 40), (40, 50)))
    out = torch.addmm(c, a, b, out=torch.empty(30, 64, device=device)[:, :50])
    return out, lambda: c.double() + a.double() @ b.double()


@pytest.mark.parametrize("name", CALLS)
def test_fp32_products_are_taken(cuda: str, name: str) -> None:
    op, call = CALLS[name]
    with warpladder.accelerate():
        actual, exact = call(cuda)
    assert close(actual, exact(), 41, 2.0)
    assert warpladder.report() == {op: {"taken": 1}}
    call(cuda)
    assert warpladder.report() == {op: {"taken": 1}}, "outside of the block nothing is"


def test_gradients_are_routed_too(cuda: str) -> None:
    layer = torch.nn.Linear(40, 50, device=cuda)
    x = uniform(30, 40, device=cuda).requires_grad_()
    with warpladder.accelerate():
        layer(x).square().sum().backward()
    assert warpladder.report() == {"addmm": {"taken": 1}, "mm": {"taken": 2}}
    ours = [layer.weight.grad.clone(), layer.bias.grad.clone(), x.grad.clone()]
    layer.zero_grad(), x.grad.zero_()
    layer(x).square().sum().backward()
    for mine, theirs in zip(ours, (layer.weight.grad, layer.bias.grad, x.grad)):
        assert torch.allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def test_tf32_is_pytorchs(cuda: str) -> None:
    a = uniform(64, 64, device=cuda)
    matmul = torch.backends.cuda.matmul
    with warpladder.accelerate():
        for allow in (lambda: setattr(matmul, "allow_tf32", True),
                      lambda: torch.set_float32_matmul_precision("high")):  # fmt: skip
            warpladder.reset_report()
            allow()
            a @ a, torch.addmm(a, a, a), a.expand(2, 64, 64) @ a.expand(2, 64, 64)
            assert all("taken" not in verdicts for verdicts in warpladder.report().values())
            assert "TF32" in str(warpladder.report())
            torch.set_float32_matmul_precision("highest")
            a @ a
            assert warpladder.report()["mm"]["taken"] == 1


def test_fp32_precision_says_so_too(cuda: str) -> None:
    # PyTorch refuses a program that uses this setting and allow_tf32.
    program = (
        "import torch, warpladder\n"
        "a = torch.ones(64, 64, device='cuda')\n"
        "with warpladder.accelerate():\n"
        "    for precision in ('tf32', 'ieee'):\n"
        "        torch.backends.cuda.matmul.fp32_precision = precision\n"
        "        a @ a\n"
        "taken, passed = warpladder.report()['mm'].values()\n"
        "assert (taken, passed) == (1, 1) and 'TF32' in str(warpladder.report())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_other_products_are_passed_on(cuda: str) -> None:
    with warpladder.accelerate():
        for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.complex64):
            a = uniform(16, 16, device=cuda).to(dtype)
            exact = (a.cpu().to(torch.complex128) @ a.cpu().to(torch.complex128))
            for actual in (a @ a, torch.addmm(a * 0, a, a), torch.bmm(a[None], a[None])[0],
                           torch.mm(a, a, out=torch.empty_like(a))):  # fmt: skip
                assert actual.dtype == dtype
                assert (actual.cpu().to(torch.complex128) - exact).abs().max() < 0.2
        a = uniform(3, 3, device=cuda).to(torch.complex64)
        assert torch.allclose(torch.addmm(a, a, a, alpha=2j), a + 2j * (a @ a), atol=1e-5)
    report = warpladder.report()
    assert set(report) == {"mm", "bmm", "addmm"}
    assert all(not verdicts.get("taken") for verdicts in report.values())
    assert report["mm"]["not float32"] >= 8 and "complex" in str(report)


def test_autocast_multiplies_as_before(cuda: str) -> None:
    a = uniform(16, 16, device=cuda)
    with warpladder.accelerate(), torch.autocast("cuda", dtype=torch.bfloat16):
        assert (a @ a).dtype == torch.bfloat16
    assert warpladder.report() == {"mm": {"not float32": 1}}


def test_empty_products(cuda: str) -> None:
    with warpladder.accelerate():
        assert (uniform(0, 4, device=cuda) @ uniform(4, 5, device=cuda)).shape == (0, 5)
        zero = uniform(3, 0, device=cuda) @ uniform(0, 5, device=cuda)
    assert torch.equal(zero, torch.zeros(3, 5, device=cuda))
    assert warpladder.report()["mm"]["nothing to compute"] == 1


def test_mistakes_are_exceptions(cuda: str) -> None:
    a, b = uniform(3, 4, device=cuda), uniform(5, 6, device=cuda)
    with warpladder.accelerate():
        for call in (lambda: a @ b, lambda: torch.mm(a, b.half()), lambda: torch.addmm(b, a, a.mT),
                     lambda: torch.bmm(a[None], b[None]), lambda: torch.mm(a, a.mT.cpu())):  # fmt: skip
            with pytest.raises(RuntimeError):
                call()
        assert close(a @ a.mT, a.double() @ a.double().mT, 4), "and the next product is right"


def on_the_cuda_kernel(name: str, *args: torch.Tensor, **kwargs: object) -> torch.Tensor:
    """Calls what serves an operator on CUDA devices, on whatever device the arguments are."""
    packet, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.aten, packet), overload or "default")
    return op.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *args, **kwargs)


def needs_cuda_build() -> None:
    if torch.version.cuda is None:
        pytest.skip("this PyTorch has no CUDA")


MISTAKES = {  # arguments that reach the kernel of CUDA devices, none of which is on one
    "mm": ((3, 4), (5, 6)),
    "bmm": ((2, 3, 4), (2, 5, 6)),
    "bmm of a matrix": ((2, 3, 4), (4, 5)),
    "addmm": ((3,), (3, 4), (5, 6)),
    "baddbmm": ((3,), (2, 3, 4), (2, 5, 6)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_passed_on_fails_as_in_pytorch(
    name: str, dtype: torch.dtype, capfd: pytest.CaptureFixture[str]
) -> None:
    needs_cuda_build()
    args = [torch.ones(shape).to(dtype) for shape in MISTAKES[name]]
    sentences = []
    for block in (contextlib.nullcontext(), warpladder.accelerate()):
        with block, pytest.raises(RuntimeError) as raised:
            on_the_cuda_kernel(name.split()[0], *args)
        sentences.append((type(raised.value), str(raised.value)))
    assert sentences[0] == sentences[1]
    assert "aoti" not in capfd.readouterr().err, "an exception is not printed, too"
    assert sum(sum(verdicts.values()) for verdicts in warpladder.report().values()) == 1


def test_devices_that_differ_are_named_as_in_pytorch() -> None:
    needs_cuda_build()
    a, b = torch.ones(3, 3), torch.ones(3, 3, device="meta")
    for name, args in {"mm": (a, b), "bmm": (a[None], b[None]), "addmm": (a, a, b)}.items():
        with warpladder.accelerate(), pytest.raises(RuntimeError, match="Expected all tensors .* mat2 is on meta"):
            on_the_cuda_kernel(name, *args)


@pytest.mark.parametrize("name", ["addmm", "addmm.out", "baddbmm", "baddbmm.out"])
def test_exceptions_of_pytorchs_sums_keep_their_type(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutMemory:
        def call_boxed(self, *args: object, **kwargs: object) -> torch.Tensor:
            raise torch.OutOfMemoryError("CUDA out of memory, as the test wants")

    monkeypatch.setattr(torch.library, "get_kernel", lambda op, key: WithoutMemory())
    a = torch.ones(3, 3) if name.startswith("addmm") else torch.ones(2, 3, 3)
    out = {"out": torch.empty_like(a)} if name.endswith("out") else {}
    with warpladder.accelerate():
        for scalars in ({}, {"alpha": 2j}):
            with pytest.raises(torch.OutOfMemoryError, match="as the test wants"):
                on_the_cuda_kernel(name, a, a, a, **scalars, **out)


def test_no_memory_is_an_out_of_memory_error(cuda: str) -> None:
    column, row, c = (uniform(*s, device=cuda) for s in ((2**20, 1), (1, 2**20), (2**20,)))
    with warpladder.accelerate():
        for call in (
            lambda: column @ row,
            lambda: column.half() @ row.half(),
            lambda: torch.bmm(column[None], row[None]),
            lambda: torch.addmm(c, column, row),
            lambda: torch.baddbmm(c, column[None], row[None]),
        ):
            with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
                call()
        assert "lastly: PyTorch: no memory for a result of shape [1048576, 1048576]" in str(warpladder.report())
        assert close(row @ column, row.double() @ column.double(), 2**20), "and the next product is right"


def test_the_report_says_why_the_library_refused() -> None:
    from warpladder._accelerate import OPERATORS, VERDICTS
    from warpladder._library import compiled

    why = "the library refused the call"
    for sentence in (b"sgemm: the first", b"sgemm: lda is 3"):
        compiled.warpladder_torch_count(OPERATORS.index("bmm"), VERDICTS.index(why), sentence)
    assert warpladder.report() == {"bmm": {f"{why}, lastly: sgemm: lda is 3": 2}}
    assert f"2 passed on: {why}, lastly: sgemm: lda is 3" in str(warpladder.report())


def test_outputs_that_overlap_or_do_not_fit(cuda: str) -> None:
    a = uniform(8, 8, device=cuda)
    exact = a.double() @ a.double()
    with warpladder.accelerate():
        wrong = torch.empty(3, device=cuda)
        with pytest.warns(UserWarning, match="resized"):
            torch.mm(a, a, out=wrong)
        assert close(wrong, exact, 8)
        turned = torch.empty(8, 8, device=cuda).T
        assert close(torch.mm(a, a, out=turned), exact, 8)
        c = uniform(8, 8, device=cuda)
        sum_of_both = c.double() + exact
        assert close(torch.addmm(c, a, a, out=c), sum_of_both, 9)


def test_sums_that_overlap_their_output_are_pytorchs(cuda: str) -> None:
    a, c = uniform(8, 8, device=cuda), uniform(8, 8, device=cuda)
    sources = {"turned": c.T, "a row": c[0], "shifted": c.flatten()[1:].expand(1, 63)[:, :8]}
    with warpladder.accelerate():
        for layout, source in sources.items():
            warpladder.reset_report()
            with contextlib.suppress(RuntimeError):  # PyTorch refuses most of these
                torch.addmm(source, a, a, out=c)
            assert "taken" not in warpladder.report()["addmm"], layout


def test_compiled_models_are_routed(cuda: str) -> None:
    skip_without_triton(cuda)
    layer = torch.nn.Linear(64, 64, device=cuda)
    x = uniform(64, 64, device=cuda)
    expected = layer(x)
    compiled = torch.compile(layer, fullgraph=True)
    with warpladder.accelerate():
        assert torch.allclose(compiled(x), expected, atol=1e-5)
    assert sum(verdicts.get("taken", 0) for verdicts in warpladder.report().values()) >= 1
    torch.compiler.reset()


def test_log(cuda: str) -> None:
    program = (
        "import torch, warpladder\n"
        "a = torch.ones(4, 5, device='cuda')\n"
        "with warpladder.accelerate(): a @ a.T; a.half() @ a.T.half()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "WARPLADDER_LOG": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert "warpladder: mm [4, 5] x [5, 4]: taken" in done.stderr
    assert "warpladder: mm [4, 5] x [5, 4]: passed on, not float32" in done.stderr
    assert "warpladder took 1 of 2 calls" in done.stderr
