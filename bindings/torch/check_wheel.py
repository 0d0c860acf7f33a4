#!/usr/bin/env python3
"""Builds the wheel around a built libwarpladder, installs it beside PyTorch, checks its tag, and runs its tests.

Usage: check_wheel.py LIBRARY FOLDER
       check_wheel.py --prepare FOLDER    only installs what the first needs

FOLDER keeps a virtual environment; one process at a time prepares it. Of PyTorch's dependencies only those are installed that it does not
load without: a machine with a CUDA toolkit has most of them.
Exit codes: 77 where PyTorch, Python's venv or the library cannot be had, with one sentence.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

BINDING = Path(__file__).resolve().parent
TORCH = "torch>=2.10,<2.12"  # what a recording was made with; newer ones are expected to do
PURE = ["filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "setuptools", "numpy"]
TOOLS = ["pytest", "scikit-build-core", "cmake>=3.25", "ninja"]
QUICK = "-O1 -DNDEBUG"  # no test here measures time, and -O3 takes five seconds longer
# The packages of the libraries that PyTorch loads; {} is the CUDA version's first number.
PACKAGES = {
    "libcublas": "nvidia-cublas", "libcublasLt": "nvidia-cublas", "libcudart": "nvidia-cuda-runtime",
    "libcudnn": "nvidia-cudnn-cu{}", "libcufft": "nvidia-cufft", "libcufile": "nvidia-cufile",
    "libcupti": "nvidia-cuda-cupti", "libcurand": "nvidia-curand", "libcusolver": "nvidia-cusolver",
    "libcusparse": "nvidia-cusparse", "libcusparseLt": "nvidia-cusparselt-cu{}",
    "libnccl": "nvidia-nccl-cu{}", "libnvJitLink": "nvidia-nvjitlink", "libnvrtc": "nvidia-cuda-nvrtc",
    "libnvToolsExt": "nvidia-nvtx", "libnvshmem_host": "nvidia-nvshmem-cu{}",
}  # fmt: skip


def skip(sentence: str) -> None:
    print(f"skipped: {sentence}")
    sys.exit(77)


def pip(python: Path, *arguments: str, needed: str) -> None:
    # Of thousands of modules a few are loaded, and compiled then.
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        skip(f"{needed} cannot be installed: {reason}")


def pins(python: Path) -> dict[str, str]:
    """{package: requirement} of what the installed PyTorch asks for exactly."""
    code = "import importlib.metadata as m; print(*m.requires('torch') or [], sep='\\n')"
    text = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)
    return {name: f"{name}=={version}" for name, version in found}


def why_not_loaded(python: Path) -> str | None:
    """The last line of what `import torch` says; None where it works."""
    code = "import torch; print('PyTorch', torch.__version__)"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    if done.returncode == 0:
        print(done.stdout.strip(), flush=True)
        return None
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def install_torch(python: Path) -> None:
    pip(python, "--no-deps", TORCH, needed="PyTorch")
    pip(python, *PURE, needed="what PyTorch is made of")
    exact = pins(python)
    tried: set[str] = set()
    while reason := why_not_loaded(python):
        missing = re.search(r"(lib\w+)\.so[\w.]*: cannot open shared object file", reason)
        if not missing or missing[1] not in PACKAGES or missing[1] in tried:
            break
        tried.add(missing[1])
        major = next((m[1] for m in map(re.compile(r"nvidia-\w+-cu(\d+)").match, exact) if m), "13")
        package = PACKAGES[missing[1]].format(major)
        pip(python, "--no-deps", exact.get(package, package), needed=package)
    if reason is None:
        return
    pip(python, TORCH, needed="PyTorch with all that it names")  # libraries of other versions are here
    if reason := why_not_loaded(python):
        skip(f"PyTorch does not load here: {reason}")


def why_not_for_all(wheel: str) -> str | None:
    """Why a wheel, whose file WHEEL this is, does not serve every Python from 3.10 on; None where it does."""
    tags = re.findall(r"^Tag: (\S+)$", wheel, re.MULTILINE)
    if tags and all(tag.startswith("cp310-abi3-linux_") for tag in tags):
        return None
    return f"the wheel's tags are {', '.join(tags) or 'none'}, not cp310-abi3 for Linux"


def prepare(folder: Path) -> Path:
    """Python of an environment that has PyTorch and what builds and tests the wheel."""
    python, prepared = folder / "bin" / "python", folder / "prepared.txt"
    wanted = "\n".join([TORCH, *PURE, *TOOLS])
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if python.is_file() and prepared.is_file() and prepared.read_text() == wanted:
            return python
        if not python.is_file():
            done = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True)
            if done.returncode:
                skip("Python has no venv here (Debian: python3-venv)")
        if why_not_loaded(python):
            install_torch(python)
        pip(python, *TOOLS, needed="what builds and tests the wheel")
        prepared.write_text(wanted)
    return python


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[2]).resolve()
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")  # not beside the sources
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each import of PyTorch would compile all of it again
    if sys.argv[1] == "--prepare":
        prepare(folder)
        return
    library = Path(sys.argv[1]).resolve()
    if not library.is_file():
        skip(f"this build has no {library.name}: without CUDA there is no library")
    python = prepare(folder)
    environment = {**os.environ, "WARPLADDER_LIBRARY": str(library),
                   "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    for leftover in ("PYTHONPATH", "WARPLADDER_JIT"):
        environment.pop(leftover, None)
    build = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation",
             "--no-compile", "--force-reinstall", "--config-settings",
             f"cmake.define.CMAKE_CXX_FLAGS_RELEASE={QUICK}", str(BINDING)]  # fmt: skip
    subprocess.run(build, env=environment, check=True)
    code = "import importlib.metadata as m; print(m.distribution('warpladder').read_text('WHEEL'))"
    wheel = subprocess.run([str(python), "-c", code], env=environment, capture_output=True, text=True, check=True)
    if reason := why_not_for_all(wheel.stdout):
        sys.exit(reason)
    tests = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", str(BINDING / "tests")]
    sys.exit(subprocess.run(tests, env=environment, cwd=folder).returncode)


if __name__ == "__main__":
    main()
