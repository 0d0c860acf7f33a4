#!/usr/bin/env python3
"""Builds the documents to HTML: build_docs.py

The folder build/docs gets `environment` (mkdocs-material, installed by pip), `source` (the documents, with the
pictures and sources that they link to, in the folders in which they lie) and `html`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/checks"))

from common import files  # noqa: E402

LINKED = {".md", ".svg", ".png", ".cu", ".hpp", ".cpp", ".h", ".c"}


def stage(target):
    """Copies what the pages show or link to. Raw results stay where they are."""
    shutil.rmtree(target, ignore_errors=True)
    for name in files(ROOT):
        if Path(name).suffix in LINKED and not name.startswith(("results/", "tests/")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)


def installed(folder):
    """The documentation tool in an environment of its own."""
    program = folder / "bin/mkdocs"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", "-r", ROOT / "docs/requirements.txt"],
                       check=True)
    return program


def main(arguments):
    if arguments:
        print(__doc__)
        return 0 if {"--help", "-h"} & set(arguments) else 2
    folder = ROOT / "build/docs"
    try:
        program = installed(folder / "environment")
        stage(folder / "source")
        subprocess.run([program, "build", "-q", "-f", ROOT / "docs/mkdocs.yml"], check=True,
                       env=dict(os.environ, NO_MKDOCS_2_WARNING="1"))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"build_docs.py: {error}", file=sys.stderr)
        return 1
    print(f"{folder / 'html/index.html'} is the first page")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
