"""scikit-build-core, told where PyTorch is.

pip builds in an environment of its own, where PyTorch would be downloaded again. Its headers are all
that the build needs, so the one of the environment that is installed into serves, where there is one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend

build_sdist = _backend.build_sdist
get_requires_for_build_sdist = _backend.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = _backend.prepare_metadata_for_build_wheel

HEADER = Path("include/torch/csrc/stable/library.h")


def _folders_of_torch() -> list[Path]:
    paths = [*sys.path, *(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))]
    return [Path(path) / "torch" for path in paths if path]


def torch_folder() -> Path | None:
    """The folder of a PyTorch whose headers have the stable interface."""
    if named := os.environ.get("WARPLADDER_TORCH"):
        return Path(named)
    spec = importlib.util.find_spec("torch")
    origins = [Path(spec.origin).parent] if spec and spec.origin else []
    return next((f for f in [*origins, *_folders_of_torch()] if (f / HEADER).is_file()), None)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    needed = _backend.get_requires_for_build_wheel(config_settings)
    return needed if torch_folder() else [*needed, "torch>=2.10"]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    folder = torch_folder()
    if folder is None:
        raise RuntimeError("warpladder: no PyTorch 2.10 or newer was found to build against")
    settings = dict(config_settings or {})
    settings.setdefault("cmake.define.WARPLADDER_TORCH", str(folder))
    if library := os.environ.get("WARPLADDER_LIBRARY"):
        settings.setdefault("cmake.define.WARPLADDER_LIBRARY", str(Path(library).resolve()))
    return _backend.build_wheel(wheel_directory, settings, metadata_directory)
