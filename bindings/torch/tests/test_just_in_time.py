"""Compiling the extension when it is imported, and what is said where that cannot be done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from warpladder import _just_in_time

BINDING = Path(__file__).resolve().parents[1]


def test_ninja_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ImportError, match="ninja is not found.*pip install ninja"):
        _just_in_time.check_tools(need_toolkit=False)


def toolkit(folder: Path, version: str) -> str:
    """A folder whose nvcc says that it is of this version."""
    nvcc = folder / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {version}, V{version}.1'\n")
    nvcc.chmod(0o755)
    return str(folder)


def with_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)


def test_cuda_home_is_of_another_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_tools(monkeypatch)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setenv("CUDA_HOME", toolkit(tmp_path / "old", "11.8"))
    with pytest.raises(ImportError, match="of CUDA 11.8, but this PyTorch is built for CUDA 13.0"):
        _just_in_time.check_tools(need_toolkit=True)
    assert _just_in_time.check_tools(need_toolkit=False) is None
    good = toolkit(tmp_path / "new", "13.2")
    monkeypatch.setenv("CUDA_HOME", good)
    assert _just_in_time.check_tools(need_toolkit=True) == good


def test_cuda_home_is_empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_tools(monkeypatch)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(ImportError, match="no CUDA toolkit is there"):
        _just_in_time.check_tools(need_toolkit=True)


def test_the_library_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPLADDER_LIBRARY", str(tmp_path / "libwarpladder.so"))
    with pytest.raises(ImportError, match="libwarpladder.so is not there; build the library with"):
        _just_in_time.build()


def from_sources(tmp_path: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(BINDING), "TORCH_EXTENSIONS_DIR": str(tmp_path), **environment},
    )


def test_sources_alone_say_what_to_do(tmp_path: Path) -> None:
    done = from_sources(tmp_path, "import warpladder", WARPLADDER_JIT="0")
    assert done.returncode != 0
    assert "install it with `pip install ./bindings/torch`, or set WARPLADDER_JIT=1" in done.stderr


def test_compiles_and_runs(tmp_path: Path) -> None:
    if not os.environ.get("WARPLADDER_LIBRARY"):
        pytest.skip("WARPLADDER_LIBRARY names no built library")
    if shutil.which("ninja") is None or shutil.which("c++") is None:
        pytest.skip("ninja or a C++ compiler is missing")
    code = (
        "import torch, warpladder\n"
        "a = torch.ones(3, 4)\n"
        "assert torch.equal(torch.ops.warpladder.mm(a, a.mT), a @ a.mT)\n"
        "print(warpladder._library._compiled())\n"
    )
    done = from_sources(tmp_path, code, WARPLADDER_JIT="1")
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout, "it was compiled, not found elsewhere"
