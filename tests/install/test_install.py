#!/usr/bin/env python3
"""The installed library, consumed: by pkg-config, CMake, dlopen and as a subdirectory.

The prefix has a space in its name and is moved after installation. The consumers find no nvcc.
Usage: test_install.py BUILD_DIR SOURCE_DIR
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, SOURCE = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
CONSUMERS = SOURCE / "tests/install/consumers"
WITHOUT_NVCC = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin"}
WITHOUT_NVCC.pop("CUDA_HOME", None)


def run(command, environment=None, folder=None) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        command,
        env=environment or WITHOUT_NVCC,
        cwd=folder,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="install "))
        first = cls.folder / "first prefix"
        run(["cmake", "--install", str(BUILD), "--prefix", str(first)], os.environ)
        cls.prefix = cls.folder / "moved prefix"
        first.rename(cls.prefix)
        cls.libraries = next(cls.prefix.rglob("libwarpladder.so")).parent
        cls.loads = {**WITHOUT_NVCC, "LD_LIBRARY_PATH": str(cls.libraries)}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_files(self):
        headers = sorted(p.name for p in (self.prefix / "include/warpladder").iterdir())
        self.assertEqual(headers, ["warpladder.h", "warpladder.hpp"])
        self.assertTrue((self.libraries / "libwarpladder.so.0").exists())
        self.assertTrue((self.libraries / "libwarpladder.a").exists())

    def test_exports_its_interface_and_nothing_else(self):
        symbols = run(["nm", "-D", "--defined-only", str(self.libraries / "libwarpladder.so")])
        names = {line.split()[-1] for line in symbols.splitlines()}
        header = (self.prefix / "include/warpladder/warpladder.h").read_text()
        declared = set(re.findall(r"\b(warpladder_\w+)\(\s*(?:void|warpladder|size_t|int)", header))
        self.assertEqual(names, {n for n in names if n.startswith("warpladder_")})
        self.assertEqual(names, declared)

    def test_needs_nothing_of_cuda_to_load(self):
        needed = run(["readelf", "-d", str(self.libraries / "libwarpladder.so")])
        libraries = set(re.findall(r"NEEDED.*\[(.*)\]", needed))
        self.assertLessEqual({n.split(".so")[0] for n in libraries},
                             {"libc", "libm", "libdl", "librt", "libpthread", "ld-linux-x86-64"})
        self.assertIn("[libwarpladder.so.0]", needed)

    def test_c99_with_pkg_config(self):
        environment = {**self.loads, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        program = self.folder / "sgemm"
        # eval: pkg-config quotes the space of the prefix.
        run(f"eval cc -std=c99 -pedantic -Wall -Werror '{SOURCE}/examples/sgemm.c' "
            f"$(pkg-config --cflags --libs warpladder) -o \"'{program}'\"", environment)
        self.assertRegex(run([str(program)], environment), r"4 5\n10 11|no GPU here")
        self.assertEqual(run(["pkg-config", "--modversion", "warpladder"], environment).strip(), "0.1.0")

    def test_cpp17_with_find_package(self):
        for extra in ["-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON", "-DEXTRA=none"]:
            build = self.folder / f"find {len(extra)}"
            run(["cmake", "-S", str(CONSUMERS / "find_package"), "-B", str(build), extra,
                 f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DEXAMPLE={SOURCE}/examples/layer.cpp"])
            run(["cmake", "--build", str(build)])
            for program in build.glob("layer*"):
                if program.is_file() and os.access(program, os.X_OK):
                    self.assertRegex(run([str(program)], self.loads), "64|NO_DEVICE")

    def test_subdirectory(self):
        build = self.folder / "subdirectory"
        run(["cmake", "-S", str(CONSUMERS / "add_subdirectory"), "-B", str(build),
             f"-DWARPLADDER={SOURCE}", f"-DEXAMPLE={SOURCE}/examples/layer.cpp"], os.environ)
        run(["cmake", "--build", str(build), "--target", "layer_object"], os.environ)
        help_text = run(["cmake", "--build", str(build), "--target", "help"], os.environ)
        self.assertIn("warpladder_shared", help_text)
        self.assertNotIn("rung_tests", help_text, "the workbench is not part of a subdirectory")

    def test_dlopen(self):
        program = self.folder / "dlopened"
        run(["cc", "-std=c99", f"-I{self.prefix}/include", str(CONSUMERS / "dlopen.c"), "-ldl", "-o",
             str(program)])
        run([str(program), str(self.libraries / "libwarpladder.so.0")])
        run([str(program)], self.loads)

    def test_packages(self):
        packages = self.folder / "packages"
        run(["cpack", "-G", "TGZ;DEB", "-B", str(packages)], os.environ, str(BUILD))
        names = sorted(p.name for p in packages.iterdir() if p.is_file())
        self.assertTrue(any(n.endswith(".tar.gz") for n in names), names)
        deb = next(p for p in packages.iterdir() if p.suffix == ".deb")
        listing = run(["dpkg-deb", "--contents", str(deb)])
        for part in ["libwarpladder.so.0", "warpladder.h", "warpladder.pc", "warpladderConfig.cmake"]:
            self.assertIn(part, listing)


if __name__ == "__main__":
    unittest.main()
