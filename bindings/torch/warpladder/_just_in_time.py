"""Compiles the extension when it is first imported, with torch.utils.cpp_extension.

The GPU code is that of a built libwarpladder, so that a C++ compiler and ninja are all that this needs:
WARPLADDER_LIBRARY names the library, or it is looked for in the build folder of the source tree.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import torch

BINDING = Path(__file__).resolve().parents[1]
ROOT = BINDING.parents[1]
TARGET_VERSION = "0x020a000000000000"  # PyTorch 2.10


def _library() -> Path:
    named = os.environ.get("WARPLADDER_LIBRARY")
    path = Path(named) if named else ROOT / "build" / "lib" / "libwarpladder.so"
    if not path.is_file():
        raise ImportError(
            f"warpladder: {path} is not there; build the library with `cmake -S . -B build "
            "-DWARPLADDER_LAB=OFF && cmake --build build`, or set WARPLADDER_LIBRARY to a built one"
        )
    return path.resolve()


def _toolkit_version(home: str) -> str | None:
    """The CUDA version of a toolkit's compiler; None where there is none."""
    try:
        text = subprocess.run(
            [str(Path(home) / "bin" / "nvcc"), "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"release (\d+\.\d+)", text)
    return found[1] if found else None


def check_tools(need_toolkit: bool) -> str | None:
    """One sentence where something is missing or does not fit, and an ImportError. Returns the folder
    of the CUDA toolkit, which a static library needs for CUDA's runtime."""
    if shutil.which("ninja") is None:
        raise ImportError("warpladder: ninja is not found, which compiles extensions; `pip install ninja`")
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise ImportError(f"warpladder: the C++ compiler {compiler} is not found; set CXX")
    if not need_toolkit:
        return None
    from torch.utils import cpp_extension

    home = os.environ.get("CUDA_HOME") or cpp_extension.CUDA_HOME
    version = _toolkit_version(home) if home else None
    if version is None:
        raise ImportError(
            f"warpladder: CUDA_HOME is {home or 'not set'}, and no CUDA toolkit is there; set it to one, or "
            "WARPLADDER_LIBRARY to libwarpladder.so, which needs none"
        )
    if torch.version.cuda and version.split(".")[0] != torch.version.cuda.split(".")[0]:
        raise ImportError(
            f"warpladder: CUDA_HOME is {home} of CUDA {version}, but this PyTorch is built for CUDA "
            f"{torch.version.cuda}; set CUDA_HOME to a toolkit of the same major version"
        )
    return home


def _joined(folder: Path) -> Path:
    """One file of all sources: most of what the compiler reads of each is PyTorch's headers."""
    joined = folder / "sources.cpp"
    text = "".join(f'#include "{source}"\n' for source in sorted((BINDING / "src").glob("*.cpp")))
    if not joined.is_file() or joined.read_text() != text:
        joined.write_text(text)
    return joined


def build() -> Path:
    """Compiles the extension in PyTorch's folder for extensions, or finds it there."""
    library = _library()
    home = check_tools(need_toolkit=library.suffix == ".a")
    from torch.utils import cpp_extension

    linked = [str(library), "-ldl", "-lpthread", "-lrt", "-Wl,--exclude-libs,ALL"]
    if home:
        linked.insert(1, str(Path(home) / "lib64" / "libcudart_static.a"))
    else:
        linked.append(f"-Wl,-rpath,{library.parent}")
    name = "warpladder_C"
    folder = Path(cpp_extension._get_build_directory(name, verbose=False))
    cpp_extension.load(
        name,
        sources=[str(_joined(folder))],
        extra_include_paths=[str(ROOT / "include")],
        extra_cflags=["-O2", "-std=c++20", "-fvisibility=hidden", f"-DTORCH_TARGET_VERSION={TARGET_VERSION}"],
        extra_ldflags=linked,
        with_cuda=False,
        is_python_module=False,
        verbose=os.environ.get("WARPLADDER_LOG") == "1",
    )
    return folder / f"{name}.so"
