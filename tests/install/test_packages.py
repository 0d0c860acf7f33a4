#!/usr/bin/env python3
"""The packages for Debian, unpacked and used; and what pip is told.

Usage: test_packages.py BUILD_DIR SOURCE_DIR
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_install import BUILD, SOURCE, run

HAS_LIBRARY = (BUILD / "lib" / "libwarpladder.a").exists()
WORKBENCH = [
    "bin/warpladder", "share/warpladder/programs/program.o", "share/man/man1/warpladder.1", "share/doc/warpladder/copyright",
    "share/bash-completion/completions/warpladder", "share/fish/vendor_completions.d/warpladder.fish", "zsh/vendor-completions/_warpladder",
]  # fmt: skip
LIBRARY = [
    "libwarpladder.so.0", "libwarpladder.a", "warpladder.h", "warpladder.pc", "warpladderConfig.cmake",
    "share/doc/libwarpladder/copyright",
]  # fmt: skip


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="packages "))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(["cpack", "-G", "DEB", "-B", str(cls.folder)], folder=str(BUILD))
        cls.packages = {deb.name.split("_")[0]: str(deb) for deb in cls.folder.glob("*.deb")}

    def field(self, package: str, name: str) -> str:
        return run(["dpkg-deb", "--field", self.packages[package], name]).strip()

    def holds(self, package: str, parts: list[str]) -> None:
        listing = run(["dpkg-deb", "--contents", self.packages[package]])
        for part in parts:
            self.assertRegex(listing, rf"\./usr/\S*{re.escape(part)}\b")

    def test_packages(self):
        self.assertEqual(set(self.packages), {"warpladder", "libwarpladder"} if HAS_LIBRARY else {"warpladder"})
        for package in self.packages:
            self.assertEqual(self.field(package, "Version"), "0.1.0")
            versioned = r" \(>= " if shutil.which("dpkg-shlibdeps") else ""
            self.assertRegex(self.field(package, "Depends"), rf"\Alibc6{versioned}")

    def test_workbench(self):
        self.holds("warpladder", WORKBENCH)
        root = self.folder / "root"
        run(["dpkg-deb", "--extract", self.packages["warpladder"], str(root)])
        program = str(root / "usr/bin/warpladder")
        self.assertRegex(run([program, "--version"]), r"\Awarpladder 0\.1\.0 ")
        done = subprocess.run([program, "check", str(SOURCE / "examples/race.cu")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("race", done.stdout + done.stderr)

    @unittest.skipUnless(HAS_LIBRARY, "this build has no library: it has no CUDA")
    def test_library(self):
        self.holds("libwarpladder", LIBRARY)


@unittest.skipUnless(HAS_LIBRARY, "this build has no library: it has no CUDA")
class Archives(unittest.TestCase):
    def test_library(self):
        with tempfile.TemporaryDirectory() as folder:
            run(["cpack", "-G", "TGZ", "-B", folder, "-D", "CPACK_COMPONENTS_ALL=library"], folder=str(BUILD))
            (archive,) = Path(folder).glob("*.tar.gz")
            listing = run(["tar", "-tzf", str(archive)])
        for part in LIBRARY:
            self.assertIn(part, listing)


class Pip(unittest.TestCase):
    """What pip is told agrees with CMake; test_pip.py installs with it."""

    def test_settings(self):
        text = (SOURCE / "pyproject.toml").read_text()
        cmake = (SOURCE / "CMakeLists.txt").read_text()
        version = re.search(r"project\(warpladder VERSION (\S+)", cmake)[1]
        self.assertIn(f'\nversion = "{version}"\n', text)
        for option in re.findall(r"cmake\.define\.(\w+)", text):
            self.assertIn(f"option({option} ", cmake)
        (component,) = re.search(r'install\.components = \["(\w+)"\]', text).groups()
        self.assertIn(f"COMPONENT {component} ", (SOURCE / "cmake/install_workbench.cmake").read_text())


if __name__ == "__main__":
    unittest.main()
