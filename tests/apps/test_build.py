#!/usr/bin/env python3
"""build: the stages of a compilation, on machines with nvcc, and with a made-up one.

Usage: test_build.py PROGRAM [TEST...]
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unittest
from pathlib import Path

import test_command_line as cli
from test_command_line import BAD_INPUT, RESOURCE

EXAMPLES = cli.ROOT / "examples" / "compile_flow"
HAS_NVCC = bool(shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists())

# What build asks of nvcc, ptxas and nvdisasm, without any of them.
MADE_UP = """#!/bin/sh
for word; do last=$word; done
case "$*" in
  *--version*) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit ;;
  *broken.cu*) echo 'broken.cu(1): error: expected a ";"' >&2; exit 2 ;;
esac
case "$0" in
  *ptxas) echo "ptxas info    : Compiling entry function '_Z4axpyi' for 'sm_90'"
    echo 'ptxas info    : Function properties for _Z4axpyi'
    echo '    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads'
    echo 'ptxas info    : Used 128 registers, 1024 bytes smem' ;;
  *) printf '.visible .entry _Z4axpyi(\\n)\\n.maxntid 256, 1, 1\\n' > "$last" ; exit ;;
esac >&2
: > "$last"
"""


class Build(cli.CommandLine):
    def made_up(self) -> dict:
        """An environment whose only CUDA toolkit is a made-up one, without disassemblers."""
        tools = self.folder / "cuda" / "bin"
        tools.mkdir(parents=True)
        for name in ("nvcc", "ptxas"):
            (tools / name).write_text(MADE_UP)
            (tools / name).chmod(0o755)
        (self.folder / "a.cu").write_text("__global__ void axpy(int) {}\n")
        (self.folder / "broken.cu").write_text("int\n")
        return cli.environment(PATH=f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def test_without_disassemblers(self):
        env = self.made_up()
        printed = " ".join(self.good("build", self.path("a.cu"), env=env).split())
        for words in (
            "with nvcc 13.0",
            "| sm_90 | PTX | nvcc -ptx |",
            "| sm_90 | axpy | 128 | 8 B | 8 B | 1,024 B | 256 | 25 %, registers | |",
            "- nvdisasm is missing, so no instructions are shown: pip install nvidia-cuda-nvdisasm",
            "- cuobjdump is missing",
        ):
            self.assertIn(words, printed)
        report = self.report("build", self.path("a.cu"), "--arch", "80,90", env=env)
        first, second = report["architectures"]
        self.assertEqual((first["architecture"], second["architecture"]), ("80", "90"))
        (kernel,) = second["kernels"]
        self.assertEqual((kernel["registers"], kernel["spill_load_bytes"], kernel["instructions"]), (128, 4, {}))
        self.assertEqual(kernel["occupancy"], {"blocks": 2, "share": 0.25, "limiter": "registers"})
        self.assertEqual(len(report["missing"]), 2)

    def test_doctor_says_what_is_there_and_what_is_missing(self):
        env = self.made_up()
        self.assertIn("13.0, ", self.report("doctor", env=env)["program"]["nvcc"])
        printed = " ".join(self.good("doctor", env=env).split())
        self.assertIn("- nvdisasm, with which build and explain --sass show instructions: pip install", printed)
        self.assertIn("- cuobjdump, with which build shows", printed)

    def test_keeps_files(self):
        env = self.made_up()
        self.good("build", self.path("a.cu"), "--keep", self.path("kept"), env=env)
        kept = sorted(os.listdir(self.path("kept")))
        self.assertEqual(kept, ["a.fatbin", "a.sm_90.cubin", "a.sm_90.ii", "a.sm_90.ptx"])

    def test_link_time_optimisation_without_its_library(self):
        env = self.made_up()
        (self.folder / "cuda" / "bin" / "nvlink").write_text("#!/bin/sh\nfor word; do last=$word; done\n: > $last\n")
        (self.folder / "cuda" / "bin" / "nvlink").chmod(0o755)
        printed = self.good("build", self.path("a.cu"), "--separate", self.path("a.cu"), env=env)
        self.assertIn("libnvvm.so is missing, so -dlto is left out", " ".join(printed.split()))
        self.assertIn("left out: nvlink finds no libnvvm.so", printed)

    def test_bad_input(self):
        env = self.made_up()
        good = self.path("a.cu")
        for words, arguments in (
            ("nvcc says: 'broken.cu(1): error: expected a \";\"'", [self.path("broken.cu")]),
            ("absent.cu' is no file", [self.path("absent.cu")]),
            ("'sgemm' is neither FILE.cu nor OP/RUNG", ["sgemm"]),
            ("'sgemm/row_99' has no source below", ["sgemm/row_99", "--source", cli.ROOT]),
            ("--source names the folder", ["sgemm/row_01_naive", "--source", self.folder]),
            ("--arch has 'sm_90'", [good, "--arch", "sm_90"]),
            ("--arch has '9'", [good, "--arch", "80,9"]),
            ("--separate", [good, "--separate", self.path("absent.cu")]),
        ):
            self.refused(BAD_INPUT, words, "build", *arguments, env=env)

    def test_lines_beside_machine_code(self):
        env = self.made_up() | {"WARPLADDER_SOURCE_DIR": str(cli.ROOT)}
        words = ["explain", "sgemm/row_03_thread_tile", "--shape", "64x64x64", "--sass"]
        self.refused(RESOURCE, "nvdisasm is missing", *words, "90", env=env)
        self.refused(BAD_INPUT, "--sass has 'sm_90', but must be as in 80 or 90a", *words, "sm_90", env=env)
        elsewhere = env | {"WARPLADDER_SOURCE_DIR": str(self.folder)}
        self.refused(BAD_INPUT, "WARPLADDER_SOURCE_DIR names the folder", *words, "90", env=elsewhere)
        # A disassembler that knows the kernel that runs, and another one on the same line.
        place = next(line for line in self.report(*words[:-1])["rungs"][0]["lines"] if line["fmas"] == 0)
        self.assertEqual([(a["space"], a["bytes"]) for a in place["accesses"]], [("shared", 4)])
        listing = "".join(
            f'\t.section\t.text._ZN10warpladder5sgemm8multiplyILb1ELb{b}EEEvNS0_4GemmE,"ax",@progbits\n'
            f'\t//## File "/src/{Path(place["file"]).name}", line {place["line"]}\n'
            f"        /*0000*/                   {instruction} R4, [R2] ;\n"
            for b, instruction in ((1, "LDS.128"), (0, "LDS.64"))
        )
        (self.folder / "listing").write_text(listing)
        (self.folder / "cuda" / "bin" / "nvdisasm").write_text(f"#!/bin/sh\ncat '{self.path('listing')}'\n")
        (self.folder / "cuda" / "bin" / "nvdisasm").chmod(0o755)
        printed = " ".join(self.good(*words, "90", env=env).split())
        self.assertIn("Machine code for sm_90 by nvcc 13.0, sgemm::multiply<true,true>:", printed)
        self.assertIn("shared loads of 4 B | 1 LDS.128 |", printed)
        at = f"{Path(place['file']).name}:{place['line']}"
        self.assertIn(f"Line {at}: ptxas merged shared loads of 4 B into LDS.128.", printed)
        report = self.report(*words, "90", env=env)
        code = report["rungs"][0]["machine_code"]
        self.assertEqual((report["nvcc"], code["architecture"]), ("13.0", "90"))
        self.assertEqual([line["instructions"] for line in code["lines"]], [{"LDS.128": 1}])

    @unittest.skipUnless(HAS_NVCC and shutil.which("nvdisasm"), "there is no nvcc, or no nvdisasm")
    def test_real_machine_code(self):
        printed = self.good("explain", "sgemm/row_03_thread_tile", "--shape", "64x64x64", "--sass", "90",
                            env=cli.environment(WARPLADDER_SOURCE_DIR=str(cli.ROOT)))
        self.assertEqual(printed.count("ptxas merged shared loads of 4 B into LDS.128"), 2)

    @unittest.skipIf(Path("/usr/local/cuda/bin/nvcc").exists(), "there is an nvcc")
    def test_without_nvcc(self):
        (self.folder / "a.cu").write_text("\n")
        self.refused(RESOURCE, "nvcc is neither in PATH", "build", self.path("a.cu"), env=cli.environment(PATH=""))

    @unittest.skipUnless(HAS_NVCC, "there is no nvcc")
    def test_real_stages(self):
        report = self.report("build", EXAMPLES / "normalise.cu", "--arch", "80,90a", "--fast-math")
        for each in report["architectures"]:
            stages = {stage["name"]: stage for stage in each["stages"]}
            self.assertGreater(stages["preprocess"]["bytes"], stages["PTX"]["bytes"])
            (kernel,) = each["kernels"]
            self.assertEqual((kernel["name"], kernel["threads"], kernel["spill_load_bytes"]), ("normalise", 256, 0))
            self.assertGreater(kernel["registers"], 8)
            flags = [way["flags"] for way in each["maths"]]
            self.assertEqual(
                flags,
                ["", "--use_fast_math", "-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fmad=false"],
            )
            if kernel["instructions"]:
                fused = [way["kernels"][0]["instructions"].get("FFMA", 0) for way in each["maths"]]
                self.assertLess(fused[1], fused[0], "an approximate division takes fewer multiply-adds")
                self.assertLess(fused[5], fused[0])

    def test_the_rung_in_two_files_is_the_rung(self):
        rung = (cli.ROOT / "src/ops/sgemm/rungs/row_03_thread_tile.cu").read_text()
        kernel = re.search(r"struct Config \{.*?(?=void launch)", rung, re.DOTALL)[0].rstrip()
        loops = r"WARPLADDER_UNROLL\s+for \(int i[^)]*\) \{\s+WARPLADDER_UNROLL\s+for \(int j[^)]*\)"
        calls = re.sub(loops + r" sum\[i\]\[j\] \+= [^;]*;\s+\}", "add_outer_product(sum, a_part, b_part);", kernel)
        self.assertNotEqual(calls, kernel)
        self.assertIn(calls, (EXAMPLES / "row_03_thread_tile.cu").read_text())

    @unittest.skipUnless(HAS_NVCC, "there is no nvcc")
    def test_real_separate_compilation(self):
        files = [EXAMPLES / "row_03_thread_tile.cu", "--separate", EXAMPLES / "outer_product.cu", "--arch", "90a"]
        report = self.report("build", *files, "--flag", f"-I{cli.ROOT / 'src'}", "--flag", "-DWARPLADDER_FLAVOUR=gpu")
        whole, apart, optimised = report["architectures"][0]["separate"]
        if not whole["kernels"]:
            self.skipTest("; ".join(report["missing"]))
        stack = lambda way: next(k["stack_bytes"] for k in way["kernels"] if "multiply" in k["name"])  # noqa: E731
        self.assertEqual(stack(whole), 0)
        self.assertGreater(stack(apart), 0, "arrays that are handed over by reference live in memory")
        if not optimised["left_out"]:
            self.assertEqual(stack(optimised), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
