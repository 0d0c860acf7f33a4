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
        """As a subdirectory the library is built by the commands that have built it in BUILD_DIR."""
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
        if cache["CMAKE_GENERATOR"] != "Ninja":
            self.skipTest("Ninja prints commands; this build is made by " + cache["CMAKE_GENERATOR"])
        build = self.folder / "subdirectory"
        same = ["CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CUDA_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CUDA_FLAGS",
                "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CUDA_COMPILER_LAUNCHER", "WARPLADDER_SANITIZE",
                "WARPLADDER_WERROR", "WARPLADDER_QUICK"]  # fmt: skip
        run(["cmake", "-G", "Ninja", "-S", str(CONSUMERS / "add_subdirectory"), "-B", str(build),
             *(f"-D{name}={cache[name]}" for name in same if name in cache),
             f"-DWARPLADDER_ARCHITECTURES={cache['WARPLADDER_BUILT_ARCHITECTURES']}",
             f"-DWARPLADDER={SOURCE}", f"-DEXAMPLE={SOURCE}/examples/layer.cpp"], os.environ)
        run(["cmake", "--build", str(build), "--target", "layer_object"], os.environ)
        theirs = self.commands(build, "warpladder/lib/libwarpladder.so")
        ours = self.commands(BUILD, "lib/libwarpladder.so")
        for source in (SOURCE / "src/library").glob("*.cpp"):
            self.assertTrue(any(f"src/library/{source.name}" in command for command in ours), source)
        self.assertEqual(theirs, ours)
        targets = run(["ninja", "-C", str(build), "-t", "targets", "all"])
        self.assertNotIn("rung_tests", targets, "the workbench is not part of a subdirectory")

    def commands(self, build: Path, target: str) -> list[str]:
        """What Ninja runs for this target, with each object named by its source alone."""
        text = run(["ninja", "-C", str(build), "-t", "commands", target], os.environ)
        # What CMake wrote into each build folder; quoted where the folder's name has a space.
        text = re.sub(r"(['\"])[^'\"]*/generated/([^'\"]*)\1|\S*/generated/", lambda m: "generated/" + (m[2] or ""), text)
        return re.sub(r"\.dir/(?:\S*/)?src/", ".dir/src/", text.replace(" warpladder/", " ")).splitlines()

    def test_dlopen(self):
        program = self.folder / "dlopened"
        run(["cc", "-std=c99", f"-I{self.prefix}/include", str(CONSUMERS / "dlopen.c"), "-ldl", "-o",
             str(program)])
        run([str(program), str(self.libraries / "libwarpladder.so.0")])
        run([str(program)], self.loads)


if __name__ == "__main__":
    unittest.main()
