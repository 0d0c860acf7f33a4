#!/usr/bin/env python3
"""The drop-in's knobs, each in a process of its own; Python as a client; and the library as it is
installed.

Usage: test_processes.py FOLDER CLIENT OLD_CLIENT STATIC_CLIENT DRIVER LIBRARY_UNDER_TEST LIBRARY EXPORTS
                         [TEST...]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

(FOLDER, CLIENT, OLD_CLIENT, STATIC_CLIENT, DRIVER, UNDER_TEST, LIBRARY,
 EXPORTS) = (Path(sys.argv.pop(1)) for _ in range(8))

TAKEN = "2 1 4 2"  # the FP32 product and that of a vector by us, TF32 by cuBLAS
THEIRS = "0 3 4 2"
TAKEN_AND_COMPARED = "2 3 4 2"

PYTHON = """
import ctypes, sys
folder = sys.argv[1]
user = ctypes.CDLL(folder + "/libuser_of_13.so", ctypes.RTLD_LOCAL)
print(user.passed_on_to_13(), user.taken_of_13())
cublas = ctypes.CDLL(folder + "/libcublas.so.13", ctypes.RTLD_LOCAL)
handle, one = ctypes.c_void_p(), ctypes.c_float(1)
assert cublas.cublasCreate_v2(ctypes.byref(handle)) == 0
a, c = (ctypes.c_float * 16)(*[1.0] * 16), (ctypes.c_float * 16)()
print(cublas.cublasSgemm_v2(handle, 0, 0, 4, 4, 4, ctypes.byref(one), a, 4, a, 4,
                            ctypes.byref(ctypes.c_float()), c, 4), c[0], c[15])
"""


def run(command, library=UNDER_TEST, **environment) -> tuple[str, str]:
    """Standard output and error of a command with the library preloaded."""
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("WARPLADDER_", "CUBLAS_", "NVIDIA_TF32"))}
    clean |= {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
    done = subprocess.run([str(word) for word in command], env=clean | environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.strip(), done.stderr


class Knobs(unittest.TestCase):
    def client(self, result, *sentences, **environment) -> str:
        """Runs the client; its counts and what stands on stderr, line by line."""
        out, errors = run([CLIENT], **environment)
        self.assertEqual(out, result, errors)
        for sentence in sentences:
            self.assertRegex(errors, sentence)
        if not sentences:
            self.assertEqual(errors, "")
        for line in errors.splitlines():
            self.assertTrue(line.startswith("libwarpladder_cublas: "), line)
        return errors

    def rules(self, text, result, *sentences):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write(text)
            file.flush()
            return self.client(result, *sentences, WARPLADDER_CUBLAS_RULES=file.name)

    def test_taken_in_silence(self):
        self.client(TAKEN)
        self.client(TAKEN, WARPLADDER_CUBLAS="on")
        self.client(TAKEN, WARPLADDER_CUBLAS="")

    def test_off(self):
        self.client(THEIRS, WARPLADDER_CUBLAS="off")

    def test_log(self):
        errors = self.client(
            TAKEN,
            r"cublasSgemm m=8 n=8 k=8 NT: taken\n",
            r"cublasSgemv m=8 n=8 N: taken\n",
            r"cublasSgemm m=8 n=8 k=8 NT: passed on: TF32 is allowed\n",
            r": 2 of 3 calls taken\n",
            r"  cublasSgemm: 1 taken\n",
            r"  cublasSgemm: 1 passed on: TF32 is allowed\n",
            WARPLADDER_CUBLAS="log")
        self.assertEqual(len(errors.splitlines()), 7)

    def test_log_names_no_sizes_where_none_were_read(self):
        out, errors = run([CLIENT, "refused"], WARPLADDER_CUBLAS="log")
        self.assertEqual(out, "0 8", errors)
        calls = [line.removeprefix("libwarpladder_cublas: ") for line in errors.splitlines()]
        name, sizes = "cublasLtMatmul", "cublasLtMatmul m=8 n=8 k=8 NN"
        self.assertEqual(calls[:8], [
            f"{name}: passed on: the compute type is not FP32",
            f"{name}: passed on: TF32 is allowed",
            f"{name}: passed on: a type is not FP32",
            f"{name}: passed on: alpha and beta lie in device memory",
            f"{sizes}: passed on: a number of multiprocessors is asked for",
            f"{sizes}: passed on: the epilogue is another one",
            f"{name}: passed on: an argument or the handle is not valid",
            "0 of 8 calls taken"])
        self.assertIn("  cublasLtMatmul: 2 passed on: a type is not FP32", calls)

    def test_summary(self):
        errors = self.client(TAKEN, r"2 of 3 calls taken", WARPLADDER_CUBLAS_SUMMARY="1")
        self.assertEqual(len(errors.splitlines()), 4)
        self.client(TAKEN, WARPLADDER_CUBLAS_SUMMARY="0")

    def test_bad_values_leave_all_to_cublas(self):
        for name, value in [("WARPLADDER_CUBLAS", "yes"), ("WARPLADDER_CUBLAS_SUMMARY", "yes"),
                            ("WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS", "1e6"),
                            ("WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS", "-1"),
                            ("WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS", "9" * 20),
                            ("WARPLADDER_CUBLAS_RULES", "/nowhere/rules")]:
            with self.subTest(name=name, value=value):
                errors = self.client(THEIRS, f"{name}.*{value}.*all calls go to cuBLAS", **{name: value})
                self.assertEqual(len(errors.splitlines()), 1)

    def test_threshold(self):
        for least, result in [("64", TAKEN), ("65", "1 2 4 2"), ("512", "1 2 4 2"), ("513", THEIRS)]:
            self.client(result, WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS=least)

    def test_a_small_product_with_an_activation(self):
        # What a call asks cublasLt: little where it is passed on.
        self.assertEqual(run([CLIENT, "activated"]), ("0 1 2 0", ""))
        self.assertEqual(run([CLIENT, "activated"], WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS="513"), ("0 1 2 0", ""))
        # Two attributes that this cublasLt does not have.
        self.assertEqual(run([CLIENT, "activated"], WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS="512"), ("1 0 2 2", ""))
        self.assertEqual(run([CLIENT, "activated"], WARPLADDER_CUBLAS="off"), ("0 1 2 0", ""))

    def test_attributes_that_must_be_asked_for(self):
        hides = {"MADE_UP_CUBLASLT_HIDES_VALUES": "1"}
        self.assertEqual(run([CLIENT, "activated"], **hides), ("0 1 2 14", ""))
        self.assertEqual(run([CLIENT, "activated"], WARPLADDER_CUBLAS_MIN_MULTIPLY_ADDS="512", **hides), ("1 0 2 37", ""))

    def test_environment_of_others(self):
        # No TF32 anywhere: then a handle that allows it gets FP32, which we compute.
        self.client("3 0 4 2", NVIDIA_TF32_OVERRIDE="0")
        self.client(THEIRS, NVIDIA_TF32_OVERRIDE="1")
        self.client(THEIRS, CUBLAS_EMULATE_SINGLE_PRECISION="1")
        self.client(TAKEN, CUBLAS_EMULATE_SINGLE_PRECISION="0")

    def test_rules(self):
        self.rules("# nothing\n\n", TAKEN)
        self.rules("cublasSgemm pass\n", "1 2 4 2")
        self.rules("cublas* m=8 n=..8 k=1..8 pass # all\n", THEIRS)
        self.rules("cublasSgem? k=9.. pass\ncublasSgemm m=9 pass\n", TAKEN)
        self.rules("cublasSgemm take\ncublas* pass\n", "1 2 4 2")

    def test_bad_rules_are_ignored(self):
        for line, sentence in [("cublasSgemm m=x pass", "'m=x' is no size"),
                               ("cublasSgemm m=5..3 pass", "'m=5..3' is no size"),
                               ("cublasSgemm m=.. pass", "'m=..' is no size"),
                               ("cublasSgemm q=3 pass", "'q=3' is no size"),
                               ("cublasSgemm m=3", "neither take nor pass"),
                               ("cublasSgemm pass m=3", "'m=3' stands behind 'pass'"),
                               ("cublasZherk pass", "a name like 'cublasZherk'"),
                               ("cublasSgemm " + " " * 600 + "pass", "longer than")]:
            with self.subTest(line=line):
                errors = self.rules(f"{line}\ncublasSgemv pass\n", "1 2 4 2",
                                    f":1 is ignored: .*{re.escape(sentence)}")
                self.assertEqual(len(errors.splitlines()), 1)

    def test_more_rules_than_there_is_room_for(self):
        self.rules("cublasSgemm m=7 pass\n" * 300, TAKEN, r":257 and what follows is ignored")

    def test_verify(self):
        errors = self.client(TAKEN_AND_COMPARED, r"cublasSgemm m=8 n=8 k=8 NT: agrees",
                             r"cublasSgemv m=8 n=8 N: agrees",
                             r"2 products compared with cuBLAS, 0 of them beyond the bound",
                             WARPLADDER_CUBLAS="verify")
        self.assertNotIn("DIFFERS", errors)

    def test_verify_catches_a_planted_fault_and_hands_over_cublas_result(self):
        self.client(TAKEN_AND_COMPARED, r"cublasSgemm m=8 n=8 k=8 NT: DIFFERS: 1 elements",
                    r"2 products compared with cuBLAS, 2 of them beyond the bound",
                    WARPLADDER_CUBLAS="verify", MADE_UP_FAULT="1")

    def test_a_fault_changes_the_result_without_verify(self):
        self.client("2 1 5 3", MADE_UP_FAULT="1")


class Clients(unittest.TestCase):
    def test_the_old_interface(self):
        out, errors = run([OLD_CLIENT])
        self.assertEqual((out, errors), ("0 0\n1 0", ""))
        self.assertEqual(run([OLD_CLIENT], WARPLADDER_CUBLAS="off")[0], "1 1\n2 1")

    def test_a_static_cublas_is_told_at_exit(self):
        for mode in [{"WARPLADDER_CUBLAS": "log"}, {"WARPLADDER_CUBLAS_SUMMARY": "1"}]:
            out, errors = run([STATIC_CLIENT, DRIVER], **mode)
            self.assertEqual(out, "1")
            self.assertEqual(errors, "libwarpladder_cublas: no call was seen; a program that holds cuBLAS statically "
                                     "calls it without the dynamic linker, and cannot be served\n")
            # A program without CUDA is not told.
            self.assertEqual(run([STATIC_CLIENT], **mode), ("1", ""))
        self.assertEqual(run([STATIC_CLIENT, DRIVER]), ("1", ""))
        self.assertEqual(run([STATIC_CLIENT, DRIVER], WARPLADDER_CUBLAS="off"), ("1", ""))

    def test_calls_that_are_seen_come_from_no_static_cublas(self):
        errors = run([CLIENT], WARPLADDER_CUBLAS_SUMMARY="1",
                     LD_PRELOAD=f"{UNDER_TEST}:{DRIVER}")[1]
        self.assertNotIn("statically", errors)
        self.assertIn("2 of 3 calls taken", errors)

    def test_python_that_loads_locally(self):
        out, errors = run([sys.executable, "-c", PYTHON, FOLDER], WARPLADDER_CUBLAS="log")
        self.assertEqual(out, "1 0\n0 4.0 4.0", errors)
        self.assertIn("cublasSgemm_v2: looked up by handle, served all the same", errors)
        self.assertIn("2 of 3 calls taken", errors)
        out, errors = run([sys.executable, "-c", PYTHON, FOLDER], WARPLADDER_CUBLAS="off")
        self.assertEqual((out, errors), ("1 1\n0 4.0 4.0", ""))

    def test_programs_without_cublas_notice_nothing(self):
        for mode in ["on", "log", "verify", "nonsense"]:
            self.assertEqual(run(["/bin/sh", "-c", "echo fine"], WARPLADDER_CUBLAS=mode),
                             ("fine", ""))


class Installed(unittest.TestCase):
    """The library with the real libwarpladder and CUDA's runtime in it."""

    def read(self, *flags) -> str:
        return subprocess.run(["readelf", *flags, str(LIBRARY)], capture_output=True, text=True,
                              check=True).stdout

    def test_needs_neither_cublas_nor_the_driver(self):
        dynamic = self.read("-d")
        needed = {n.split(".so")[0] for n in re.findall(r"NEEDED.*\[(.*)\]", dynamic)}
        self.assertLessEqual(needed, {"libwarpladder", "libc", "libm", "libdl", "librt",
                                      "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"})
        self.assertIn("libwarpladder", needed)
        self.assertNotIn("SONAME", dynamic)
        self.assertRegex(dynamic, r"R(UN)?PATH.*\$ORIGIN")

    def test_exports_what_it_takes_and_nothing_else(self):
        symbols = self.read("--dyn-syms", "-W")
        defined = set(re.findall(r"(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\S+)", symbols))
        listed = EXPORTS.read_text().split("local:")[0]
        self.assertEqual(defined, set(re.findall(r"(\w+);", listed)))

    def test_without_a_gpu_all_goes_to_cublas(self):
        out, errors = run([CLIENT], LIBRARY, CUDA_VISIBLE_DEVICES="", WARPLADDER_CUBLAS="log")
        self.assertEqual(out, THEIRS)
        self.assertRegex(errors, "0 of 3 calls taken")
        self.assertRegex(errors, "the thread has no usable CUDA context")


if __name__ == "__main__":
    unittest.main(verbosity=1)
