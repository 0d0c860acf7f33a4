#!/usr/bin/env python3
"""The judges are judged: each check catches a planted fault and passes its clean twin."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "tools" / "checks"
sys.path.insert(0, str(CHECKS))

import check_documents  # noqa: E402
import check_headers  # noqa: E402
import check_includes  # noqa: E402
import check_lines  # noqa: E402
import check_words  # noqa: E402
import common  # noqa: E402


class Planted(unittest.TestCase):
    """A temporary repository; `check` is the module under test."""

    check = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, path: str, text: str = ""):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")

    def found(self, *arguments):
        return list(self.check.offences(self.root, *arguments))

    def assert_clean(self, *arguments):
        self.assertEqual(self.found(*arguments), [])

    def assert_caught(self, path: str, line: int, words: str, *arguments):
        found = self.found(*arguments)
        self.assertTrue(
            any(p == path and n == line and words in s for p, n, s in found),
            f"{path}:{line} with {words!r} is not among {found}",
        )


class Files(Planted):
    def test_build_folders_are_left_out(self):
        self.write("src/base/a.cpp")
        self.write("build/a.cpp")
        self.write("build/CMakeCache.txt")
        self.write("b/CMakeCache.txt")
        self.write("b/deep/a.cpp")
        self.write("tools/__pycache__/a.pyc")
        self.assertEqual(common.files(self.root), ["src/base/a.cpp"])
        if not shutil.which("git"):
            self.skipTest("no git: what it leaves out cannot be asked")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        (self.root / "tools/__pycache__/a.pyc").unlink()
        self.assertEqual(common.files(self.root), ["src/base/a.cpp"])

    def test_comments_and_strings_are_blanked_and_lines_stay(self):
        text = 'a /* x\n y */ "b // c" // d\n\'"\' 1\'000 R"(\n#include "z"\n)" e\n'
        blanked = common.blanked(text)
        self.assertEqual(blanked.count("\n"), text.count("\n"))
        for gone in "xycdbz":
            self.assertNotIn(gone, blanked.replace("include", ""))
        self.assertIn("1'000", blanked)
        self.assertTrue(blanked.endswith(" e\n"))


class Includes(Planted):
    check = check_includes

    def setUp(self):
        super().setUp()
        for header in (
            "base/status.hpp",
            "device/launch.hpp",
            "parts/tile.cuh",
            "ladder/ladder.hpp",
            "ops/shared.hpp",
            "ops/sgemm/rung.hpp",
            "ops/sgemm/cases.hpp",
            "ops/reduce/rung.hpp",
            "lab/verify.hpp",
            "library/calls.hpp",
        ):
            self.write(f"src/{header}")
        self.write("include/warpladder/warpladder.h")
        self.write("tests/library/counts.hpp")
        self.write("src/ops/sgemm/rung_special.hpp")
        self.write("src/ops/sgemm/tensor/config.hpp")
        self.write("src/ops/sgemm/lab/config.hpp")
        self.write("src/ops/reduce/tensor/config.hpp")
        self.write("src/ops/sgemm/rungs/one.cu", '#include "ops/sgemm/rung.hpp"\n')
        self.write(
            "src/ops/sgemm/rungs/tc.cu",
            '#include "ops/sgemm/rung_special.hpp"\n#include "ops/sgemm/tensor/config.hpp"\n',
        )

    def including(self, path: str, header: str):
        self.write(path, f'// a reason\n#include "{header}"\n')

    def test_clean_twins(self):
        for path, header in (
            ("src/base/a.cpp", "base/status.hpp"),
            ("src/device/a.cpp", "base/status.hpp"),
            ("src/ops/sgemm/a.cpp", "ops/shared.hpp"),
            ("src/ops/sgemm/b.cpp", "cases.hpp"),
            ("src/lab/a.cpp", "ops/sgemm/cases.hpp"),
            ("src/library/a.cpp", "warpladder/warpladder.h"),
            ("src/ops/sgemm/rungs/two.cu", "parts/tile.cuh"),
            ("apps/warpladder/a.cpp", "lab/verify.hpp"),
            ("bindings/torch/a.cpp", "warpladder/warpladder.h"),
            ("bindings/torch/tests/a.cpp", "library/counts.hpp"),
            ("tests/lab/a.cpp", "lab/verify.hpp"),
            ("include/warpladder/b.hpp", "warpladder/warpladder.h"),
            ("src/base/b.cpp", "gtest/gtest.h"),
        ):
            self.including(path, header)
        self.assert_clean()

    def test_upwards(self):
        self.including("src/base/a.cpp", "device/launch.hpp")
        self.assert_caught("src/base/a.cpp", 2, "lies below src/device")

    def test_upwards_to_a_generated_header(self):
        self.including("src/parts/a.cuh", "lab/generated.hpp")
        self.assert_caught("src/parts/a.cuh", 2, "lies below src/lab")

    def test_upwards_with_angle_brackets(self):
        self.write("src/device/a.cpp", "#include <lab/verify.hpp>\n")
        self.assert_caught("src/device/a.cpp", 1, "lies below src/lab")

    def test_a_commented_include_is_none(self):
        self.write(
            "src/base/a.cpp", '// #include "lab/verify.hpp"\n/*\n#include "lab/verify.hpp"\n*/\n'
        )
        self.assert_clean()

    def test_other_operator(self):
        self.including("src/ops/sgemm/a.cpp", "ops/reduce/rung.hpp")
        self.assert_caught("src/ops/sgemm/a.cpp", 2, "the operator reduce")

    def test_other_operator_by_a_relative_path(self):
        self.including("src/ops/sgemm/a.cpp", "../reduce/rung.hpp")
        self.assert_caught("src/ops/sgemm/a.cpp", 2, "the operator reduce")

    def test_operators_share_the_lab_of_ops(self):
        self.including("src/ops/sgemm/lab/a.cpp", "ops/lab/operator.hpp")
        self.assert_clean()
        self.including("src/ops/sgemm/lab/a.cpp", "ops/reduce/lab/cases.hpp")
        self.assert_caught("src/ops/sgemm/lab/a.cpp", 2, "the operator reduce")

    def test_rung_sees_only_its_operator_and_parts(self):
        for header in (
            "ops/sgemm/cases.hpp",
            "ops/sgemm/lab/config.hpp",
            "ops/reduce/tensor/config.hpp",
            "ops/reduce/rung.hpp",
            "device/launch.hpp",
            "ops/shared.hpp",
        ):
            self.including("src/ops/sgemm/rungs/two.cu", header)
            self.assert_caught("src/ops/sgemm/rungs/two.cu", 2, "a rung includes only")

    def test_nobody_includes_a_rung(self):
        for path in ("src/ops/sgemm/rungs/two.cu", "tests/ops/a.cpp", "src/ops/sgemm/a.cpp"):
            self.including(path, "ops/sgemm/rungs/one.cu")
            self.assert_caught(path, 2, "nobody includes a rung")

    def test_front_door(self):
        self.including("include/warpladder/b.hpp", "base/status.hpp")
        self.assert_caught("include/warpladder/b.hpp", 2, "nothing of src/")
        self.including("bindings/torch/a.cpp", "library/calls.hpp")
        self.assert_caught("bindings/torch/a.cpp", 2, "only include/warpladder")
        self.including("bindings/cublas/a.cpp", "library/counts.hpp")
        self.assert_caught("bindings/cublas/a.cpp", 2, "only include/warpladder")
        self.including("src/lab/a.cpp", "warpladder/warpladder.h")
        self.assert_caught("src/lab/a.cpp", 2, "below the public headers")

    def test_unknown_layer(self):
        self.write("src/misc/a.cpp")
        self.assert_caught("src/misc/a.cpp", 1, "none of the layers")

    def test_assembly(self):
        self.write("src/parts/ptx/copy.cuh", 'void f() { asm volatile("nop;"); }\n')
        self.write("src/executor/relax.cpp", 'void f() { asm("pause"); }\n')
        self.write("src/parts/tile.cuh", '// asm("in a comment")\nconst char* s = "asm(1)";\n')
        self.assert_clean()
        self.write("src/parts/tile.cuh", 'void f() {\n  asm volatile("nop;");\n}\n')
        self.assert_caught("src/parts/tile.cuh", 2, "inline assembly")


class Lines(Planted):
    check = check_lines

    def kernel(
        self, lines: int, head: str = "__global__ void __launch_bounds__((256)) k(int n)"
    ) -> str:
        return (
            f"#define __global__\n{head} {{\n"
            + "  if (n) { n = '}'; }  // }\n" * (lines - 2)
            + "}\n"
        )

    def test_budgets_are_exact(self):
        for path, budget in (
            ("src/ops/a/rungs/x.cu", 150),
            ("src/ops/a/rungs/y.sm90a.cu", 190),
            ("src/lab/z.cpp", 600),
        ):
            self.write(path, "\n" * budget)
            self.assert_clean()
            self.write(path, "\n" * (budget + 1))
            self.assert_caught(path, budget + 1, f"{budget + 1} lines")
            self.write(path)

    def test_code_of_a_rung_on_tensor_cores(self):
        path = "src/ops/a/rungs/tc_01_x.sm90a.cu"
        self.write(path, "// told\n\nint n;\n" * 40 + "int n;\n" * 60)
        self.assert_clean()
        self.write(path, "int n;\n" * 101)
        self.assert_caught(path, 1, "101 lines of code")

    def test_kernel(self):
        self.write("src/parts/k.cuh", "__global__ void k(int n);\n" + self.kernel(90))
        self.assert_clean()
        self.write("src/parts/k.cuh", "__global__ void k(int n);\n" + self.kernel(91))
        self.assert_caught("src/parts/k.cuh", 3, "the kernel k has 91 lines")

    def test_kernel_with_braces_in_its_arguments(self):
        head = "template <class C>\n__global__ void k(int n = int{3}, dim3 m = {})"
        self.write("src/parts/k.cuh", self.kernel(90, head))
        self.assert_clean()
        self.write("src/parts/k.cuh", self.kernel(91, head))
        self.assert_caught("src/parts/k.cuh", 3, "the kernel k has 91 lines")

    def device(self, lines: int, head: str) -> str:
        return f"{head} {{\n" + "  if (n) { n = '}'; }  // }\n" * (lines - 2) + "}\n"

    DEVICE_HEADS = (
        "__device__ __forceinline__ void f(int n)",
        "template <class C>\n__host__ __device__ auto f(C n = C{3}) -> decltype(n)",
        "static __device__ void __noinline__ f(int n) noexcept",
        "struct S {\n__device__ bool f(int n) const",
        "struct S {\n__device__ explicit f(int n) : a{n}, b_(n), c<int>{1, 2}",
        "struct S {\n__device__ void f(int n) requires(sizeof(int) == 4)",
    )

    def test_device_function(self):
        for head in self.DEVICE_HEADS:
            with self.subTest(head):
                first = 2 + head.count("\n")
                declaration = "__device__ int f(int n);\n"
                self.write("src/parts/k.hpp", declaration + self.device(60, head))
                self.assert_clean()
                self.write("src/parts/k.hpp", declaration + self.device(61, head))
                words = "the device function f has 61 lines; 60"
                self.assert_caught("src/parts/k.hpp", first, words)

    def test_device_operator_and_lambda(self):
        text = self.device(61, "struct S {\n__device__ void operator()(int n) const")
        self.write("src/ops/a/rungs/x.cu", text)
        self.assert_caught("src/ops/a/rungs/x.cu", 2, "the device function operator() has 61")
        nested = "__device__ void f() {\n  auto l = [&] {\n" + "  g();\n" * 57 + "  };\n}\n"
        self.write("src/ops/a/rungs/x.cu", nested)
        self.assert_caught("src/ops/a/rungs/x.cu", 1, "the device function f has 61")

    def test_neither_variables_nor_host_functions_are_device_functions(self):
        table = "__device__ int table[] = {\n" + "  1,\n" * 80 + "};\n"
        self.write("src/parts/k.hpp", table + self.device(80, "void host(int n)"))
        self.assert_clean()

    def test_a_decision_lifts_the_budget(self):
        self.write("src/ops/a/rungs/x.cu", "\n" * 200)
        self.write(
            "DECISIONS.md",
            "`other/src/ops/a/rungs/x.cu` and `src/ops/a/rungs/x.cu.in` stay long.\n",
        )
        self.assert_caught("src/ops/a/rungs/x.cu", 151, "200 lines")
        self.write("DECISIONS.md", "`src/ops/a/rungs/x.cu` stays long.\n")
        self.assert_clean()


class Headers(Planted):
    check = check_headers
    PATH = "src/ops/a/rungs/x.cu"

    def test_clean_twin(self):
        self.write(self.PATH, "// Prediction: 3 loads. What\n// binds it: memory.\nint i;\n")
        self.write("src/ops/a/rung.hpp", "int i;\n")
        self.assert_clean()

    def test_each_is_missed(self):
        for text, words in (
            ("// What binds it: memory.\n", "Prediction"),
            ("// Prediction: 3 loads.\n", "What binds it"),
            ("// Prediction: 3 loads.\n\n// What binds it: memory.\n", "What binds it"),
            ("int i;  // Prediction\n// What binds it\n", "Prediction"),
            ("", "What binds it"),
        ):
            with self.subTest(text):
                self.write(self.PATH, text)
                self.assert_caught(self.PATH, 1, words)


class Words(Planted):
    check = check_words

    def test_clean_twin(self):
        self.write(
            "src/base/a.cpp",
            "// +----+ a diagram\n// see https://example.com/work/x, /home/ada/x\n"
            "int i;\n"
            'auto p = root / "work";  // n -- of them\n',
        )
        self.write("Makefile", "all:\n\ttrue\n")
        self.write("README.md", "| a | b |\n|---|---|\n\n----\n")
        self.write("tests/data/odd.mtx", "trailing \n1 2")
        (self.root / "image.png").write_bytes(b"\x89PNG\0 \n\t \n")
        self.assert_clean()

    def test_each_fault(self):
        for line, words in (
            ("// TO" "DO: later", "do it"),
            ("// FIX" "ME", "do it"),
            ("int XX" "X;", "do it"),
            ("// see /wo" "rk/main", "one machine"),
            ("// /ro" "ot", "one machine"),
            ("// =========", "banner"),
            ("// ---- parts ----", "banner"),
            ("/**********/", "banner"),
            ("//////////", "banner"),
            ("// ────────", "banner"),
            ("int i; ", "end of the line"),
            ("int i;\r", "end of the line"),
            ("\tint i;", "tab"),
        ):
            with self.subTest(line):
                self.write("src/base/a.cpp", f"int j;\n{line}\n")
                self.assert_caught("src/base/a.cpp", 2, words)

    def test_home_folder_in_a_result(self):
        self.write("results/current/cpu/a.json", '{"argv": "/ho' 'me/grace/x"} \n')
        self.assert_caught("results/current/cpu/a.json", 1, "one machine")
        self.assertEqual(len(self.found()), 1)

    def test_final_newline(self):
        self.write("src/base/a.cpp", "int i;\nint j;")
        self.assert_caught("src/base/a.cpp", 2, "no newline")


class Documents(Planted):
    check = check_documents

    def setUp(self):
        super().setUp()
        self.write("Makefile", "CUDA = auto\nX := 1\nall: build\ntest: all\n")
        self.write("src/lab/verify.cpp")
        self.write(
            "docs/other.md", "# A `b_c`, d!\n\n## Twice\n\n## Twice\n\n```\n# not a heading\n```\n"
        )
        self.bin = self.root / "programs"
        self.write("programs/warpladder", '#!/bin/sh\necho "said $*"\nexit "${1:-0}"\n')
        (self.bin / "warpladder").chmod(0o755)

    def readme(self, text: str):
        self.write("README.md", f"# Title\n\n{text}\n")

    def test_clean_twin(self):
        self.readme(
            "[a](docs/other.md) [b](docs/other.md#a-b_c-d) [c](docs/other.md#twice-1)\n"
            "[d](#title) "
            "[e](https://example.com/x) [![f](src/lab)](docs) `src/lab/verify.cpp:12`\n"
            "`src/ops/<op>/x` "
            "`src/*.cpp` `a/b` `[x](y)` `tests/...`[^1]\n\n[^1]: A footnote.\n[g]: docs/other.md\n\n"
            "```console\n$ make CUDA=off test -j2\n$ build/bin/warpladder 0\n"
            "$ warpladder 2  # exit 2\n"
            "$ build/bin/warpladder 3  # needs a GPU\n$ git nonsense\noutput\n"
            '$ build/bin/warpladder \\\n    0 > /tmp/x && test -z "$TMPDIR"\n```\n'
        )
        self.assert_clean(self.bin)

    def test_links(self):
        for text, words in (
            ("[a](docs/none.md)", "leads nowhere"),
            ("[a](docs/other.md#none)", "anchor"),
            ("[a](#none)", "anchor"),
            ("[a](docs/other.md#not-a-heading)", "anchor"),
            ("[a](docs/other.md#twice-2)", "anchor"),
            ("[a]: docs/none.md", "leads nowhere"),
            ('<img src="docs/none.webp" alt="a">', "leads nowhere"),
            ('<source media="(b)" srcset="docs/none.webp">', "leads nowhere"),
            ("`src/lab/none.cpp`", "names no file"),
            ("in /ro" "ot/x", "one machine"),
        ):
            with self.subTest(text):
                self.readme(text)
                self.assert_caught("README.md", 3, words)

    def test_make_targets(self):
        self.readme("```console\n$ make CUDA=off tset\n```")
        self.assert_caught("README.md", 4, "no target tset")

    def test_commands(self):
        for command, words in (
            ("build/bin/warpladder 1", "ended with 1: said 1"),
            ("build/bin/warpladder 1  # exit 2", "ended with 1"),
            ("build/bin/warpladder 0  # exit 2", "ended with 0"),
            ("build/bin/warpladder 3", "ended with 3"),
            ("build/bin/warpladder 1  # needs a GPU", "ended with 1"),
            ("no-such-program", "ended with 127"),
        ):
            with self.subTest(command):
                self.readme(f"```console\n$ {command}\n```")
                self.assert_clean()
                self.assert_caught("README.md", 4, words, self.bin)

    def test_what_is_shown_beneath_a_command(self):
        command = "```console\n$ build/bin/warpladder 0; echo second; echo third\n"
        for shown in ("said 0\nsecond\nthird", "said 0\n…\nthird", "second", ""):
            self.readme(f"{command}{shown}\n$ build/bin/warpladder 0\n```")
            self.assert_clean(self.bin)
        for shown in ("said", "third\nsecond", "second\nsecond"):
            self.readme(f"{command}{shown}\n```")
            self.assert_clean()
            self.assert_caught("README.md", 4, "does not print, in this order: ", self.bin)


class CommandLine(Planted):
    def run_check(self, name: str, *arguments):
        return subprocess.run(
            [sys.executable, "-B", str(CHECKS / f"{name}.py"), *map(str, arguments)],
            capture_output=True,
            text=True,
        )

    def test_exit_codes_and_the_form_of_an_offence(self):
        self.write("a.cpp", "int i;\n")
        for name in (
            "check_headers",
            "check_includes",
            "check_lines",
            "check_words",
            "check_documents",
        ):
            self.assertEqual(self.run_check(name, self.root).returncode, 0, name)
            self.assertNotEqual(self.run_check(name).returncode, 0, name)
        self.write("a.cpp", "int i; \n")
        done = self.run_check("check_words", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.cpp:1: white space at the end of the line\n", done.stdout)


class Dependencies(Planted):
    """tools/install_dependencies.sh, on a machine of stand-ins that leave a trace."""

    LIBRARIES = (
        "libcli11-dev libfmt-dev nlohmann-json3-dev libgtest-dev libopenblas-dev "
        "libopenblas-pthread-dev zlib1g-dev"
    )

    def setUp(self):
        super().setUp()
        for real in ("sh", "sed", "grep", "cat", "mktemp", "rm", "env"):
            found = next(
                Path(folder, real) for folder in ("/usr/bin", "/bin") if Path(folder, real).exists()
            )
            (self.root / real).symlink_to(found)
        for tool in ("g++", "make", "ninja", "pydoc3", "addr2line", "pkg-config", "xz"):
            self.program(tool, "")
        self.program("cmake", "echo cmake version 3.25.1")
        self.program("id", "echo 0")
        self.program("apt-get", f'echo "$*" >> {self.root}/apt.txt')
        self.have(self.LIBRARIES)

    def program(self, name: str, body: str):
        self.write(name, f"#!/bin/sh\n{body}\n")
        (self.root / name).chmod(0o755)

    def have(self, libraries: str):
        self.program(
            "dpkg-query",
            "\n".join(f"echo {name}=installed" for name in libraries.split()) + "\nexit 1",
        )

    def run_it(self, **environment):
        done = subprocess.run(
            [str(ROOT / "tools/install_dependencies.sh")],
            capture_output=True,
            text=True,
            env={"PATH": str(self.root), **environment},
        )
        trace = self.root / "apt.txt"
        return done, trace.read_text() if trace.exists() else ""

    def test_all_there(self):
        done, apt = self.run_it()
        self.assertEqual((done.returncode, done.stdout, done.stderr, apt), (0, "", "", ""))

    def test_installs_exactly_what_is_missing(self):
        self.have(self.LIBRARIES.replace("libfmt-dev ", ""))
        (self.root / "ninja").unlink()
        done, apt = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "dependencies: installing ninja-build libfmt-dev\n")
        self.assertIn("--no-install-recommends --no-remove ninja-build libfmt-dev\n", apt)
        self.assertIn("update", apt)

    def test_failing_apt(self):
        self.have("")
        self.program("apt-get", "echo the mirror is away\nexit 100")
        done, _ = self.run_it()
        self.assertEqual(done.returncode, 3)
        self.assertIn("the mirror is away", done.stderr)

    def test_neither_root_nor_sudo(self):
        self.have("")
        self.program("id", "echo 1000")
        done, apt = self.run_it()
        self.assertEqual((done.returncode, apt), (3, ""))
        self.assertIn("apt-get install --no-install-recommends libcli11-dev", done.stderr)

    def test_sudo(self):
        self.have("")
        self.program("id", "echo 1000")
        self.program("sudo", 'exec "$@"')
        done, apt = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libcli11-dev", apt)

    def test_other_systems(self):
        (self.root / "dpkg-query").unlink()
        done, _ = self.run_it()
        self.assertEqual(done.returncode, 3)
        self.assertIn("OpenBLAS", done.stderr)
        self.assertEqual(self.run_it(WARPLADDER_DEPENDENCIES="present")[0].returncode, 0)

    def test_old_cmake(self):
        self.program("cmake", "echo cmake version 3.22.1")
        done, _ = self.run_it()
        self.assertEqual(done.returncode, 3)
        self.assertIn("3.22.1 is too old", done.stderr)


if __name__ == "__main__":
    unittest.main()
