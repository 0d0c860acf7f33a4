#!/usr/bin/env python3
"""A program that uses the API, kernels' language and libraries runs as it says, checked too.

Usage: test_language.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "language"
ROOT = Path(__file__).resolve().parents[2]


def warpladder(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [PROGRAM, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=240
    )


class Language(unittest.TestCase):
    def expect_all_ok(self, outcome: subprocess.CompletedProcess, count: int = 22):
        said = outcome.stdout.splitlines()
        self.assertEqual([row for row in said if not row.endswith(" ok")], [], outcome.stderr)
        self.assertEqual(len(said), count)

    def test_the_program_runs_and_ends_with_its_own_exit_code(self):
        outcome = warpladder("run", "api.cu", "--", "--own-flag", "3")
        self.expect_all_ok(outcome)
        self.assertEqual(outcome.returncode, 7)

    def test_nothing_is_found_in_it(self):
        outcome = warpladder("check", "api.cu", "--", "--own-flag", "3")
        self.expect_all_ok(outcome)
        self.assertIn("Nothing found in ", outcome.stderr)
        self.assertIn("But the program ended with exit code 7.", outcome.stderr)

    def test_libraries_and_tensor_cores(self):
        """No memory is taken for uninitialised either that is not."""
        for file, count in (("thrust.cu", 25), ("cub.cu", 14), ("tensor.cu", 8), ("layered.cu", 1), ("products.cu", 8), ("conversions.cu", 13),
                            ("random.cu", 10), ("halves.cu", 4)):
            with self.subTest(file):
                outcome = warpladder("check", "--uninitialised", file)
                self.expect_all_ok(outcome, count)
                self.assertRegex(outcome.stderr, "Nothing found in |No kernel was launched")
                self.assertEqual(outcome.returncode, 0)

    def test_no_memory_is_taken_for_uninitialised_that_is_not(self):
        for file in ("api.cu", "pointers.cu", "compiled.cu"):
            with self.subTest(file):
                outcome = warpladder("check", "--uninitialised", file, "--", "--own-flag", "3")
                self.assertRegex(outcome.stderr, "Nothing found in |No kernel was launched")

    def test_kernels_that_pointers_point_to(self):
        for verb in ("run", "check"):
            outcome = warpladder(verb, "pointers.cu")
            self.expect_all_ok(outcome, 17)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_a_warp_runs_volatile_code_in_lockstep(self):
        outcome = warpladder("run", "lockstep.cu")
        self.expect_all_ok(outcome, 3)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        counted = warpladder("explain", "lockstep.cu", "--json", "-")
        self.assertEqual([row for row in counted.stderr.splitlines() if row.endswith("ok")], outcome.stdout.splitlines())

    def test_fences_are_checked_too(self):
        outcome = warpladder("check", "compiled.cu")
        self.expect_all_ok(outcome, 1)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_atomics_of_the_host_mean_what_they_say(self):
        for verb in ("run", "check"):
            outcome = warpladder(verb, "host_atomics.cu")
            self.expect_all_ok(outcome, 6)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_threads_that_wait_beyond_a_block(self):
        outcome = warpladder("run", "cooperative.cu")
        self.expect_all_ok(outcome, 7)
        self.assertEqual(outcome.returncode, 0)

    def test_a_finding_in_a_header_names_the_header(self):
        rows = (FOLDER / "kernels.cuh").read_text().splitlines()
        line = next(n for n, row in enumerate(rows, 1) if row.endswith("// BUG"))
        outcome = warpladder("check", "header.cu")
        self.assertIn(f"kernels.cuh:{line}: access out of bounds: block (1,0,0) thread (31,0,0)", outcome.stderr)
        self.assertEqual(outcome.returncode, 1)

    def test_only_launches_that_change_nothing_are_left_out(self):
        outcome = warpladder("run", "repeats.cu")
        found = (8 * 1999 + 4) + (8 * 1999 + 4 * 1 + 1 * 2) + (4 + 8 * 5)
        self.assertEqual(outcome.stdout, "said\n" * 5 + "50 5 1 9\n" + f"{found}\n", outcome.stderr)
        outcome = warpladder("check", "repeats.cu", "--json", "-")
        kernels = {k["kernel"]: k for k in json.loads(outcome.stdout)["kernels"]}
        for name in ("scale", "flush_between"):
            self.assertGreater(kernels[name]["left_out"], 25, name)
        for name, launched in (("count", 50), ("say", 5), ("count_hidden", 9)):
            self.assertEqual(kernels[name]["left_out"], 0)
            self.assertEqual(kernels[name]["launched"], launched)

    def test_several_files_folders_and_macros(self):
        flags = ["-I", ".", "-I", "..", "-D", "FIRST=3", "-D", "SECOND"]
        outcome = warpladder("run", *flags, "several.cu", "host_part.cpp")
        self.assertEqual(outcome.stdout, "7\n", outcome.stderr)

    def test_explain_counts_per_line(self):
        outcome = warpladder("explain", "header.cu", "--kernel", "from_a_header", "--json", "-")
        # The fault ends the launch, so that nothing is counted of it.
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("access out of bounds", outcome.stderr)
        outcome = warpladder("explain", "api.cu", "--kernel", "add_one", "--json", "-", "--", "x", "3")
        kernels = json.loads(outcome.stdout)["kernels"]
        self.assertEqual([k["rung"] for k in kernels], ["add_one"])
        self.assertEqual(kernels[0]["totals"]["global_load_sectors"], 1)
        self.assertEqual(kernels[0]["totals"]["global_store_sectors"], 1)

    def test_counts_as_machine_code_has_the_accesses(self):
        source = FOLDER / "compiled.cu"
        line = next(n for n, row in enumerate(source.read_text().splitlines(), 1) if row.endswith("// joined"))
        def totals(*flags):
            outcome = warpladder("explain", str(source), "--json", "-", *flags)
            self.assertIn("sums ok", outcome.stderr)
            return json.loads(outcome.stdout)["kernels"][0]["totals"]
        asked = totals()
        with tempfile.TemporaryDirectory() as folder:
            code = Path(folder) / "code.tsv"
            code.write_text(f"sum_of_four\t{source}\t{line}\tglobal\tload\t16\n")
            made = totals("--as-compiled", str(code))
            for text in ("sum_of_four\n", f"sum_of_four\t{source}\tx\tglobal\tload\t16\n"):
                code.write_text(text)
                refused = warpladder("explain", str(source), "--as-compiled", str(code))
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn("line 1: not a kernel, a file, a line", refused.stderr)
        # Four loads of 512 bytes in all, and what rsqrtf divides is no division of the GPU's.
        for counted, requests, sectors, fmas in ((asked, 4, 64, 0), (made, 1, 16, 5 * 32)):
            self.assertEqual((counted["global_load_requests"], counted["global_load_sectors"], counted["fmas"]),
                             (requests, sectors, fmas))

    def test_reductions_of_groups_are_counted_as_on_the_named_gpu(self):
        outcome = warpladder("explain", "reductions.cu", "--gpu", "4090", "--json", "-")
        self.assertEqual(outcome.stderr.splitlines()[:2], ["tiles ok", "lanes ok"])
        kernel = json.loads(outcome.stdout)["kernels"][0]
        blocks = 128  # one for each multiprocessor
        self.assertEqual(kernel["kernels"][0]["grid"], [blocks, 1, 1])
        # A tile's halves take 5 shuffles, its integers one reduction; 16 lanes take a scan of 4 shuffles and another;
        # a double takes two.
        self.assertEqual(kernel["totals"]["shuffles"], blocks * (5 + 1 + 5 + 2))

    def test_a_program_sees_the_gpu_that_is_named(self):
        def lines(verb, *gpu):
            outcome = warpladder(verb, "device.cu", *gpu)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            return outcome.stdout.splitlines()

        kib, gib = 1 << 10, 1 << 30
        same = ["attributes agree: 1"]
        priorities = ["priorities: 0 to -5, -5 and 0"]
        self.assertEqual(lines("run", "--gpu", "h100"), [
            "name: NVIDIA H100 80GB HBM3", "capability: 9.0", "multiprocessors: 132", "threads: 2048, blocks: 32",
            f"shared: {228 * kib}, {227 * kib}", "clocks: 1980000, 2617187", f"bus: 5120, memory: {81079 << 20}, L2: {50 << 20}",
            *same, "at once: 8, 32, 11", "best: 264 of 1024", "best up to 128: 2112 of 128", *priorities])
        self.assertEqual(lines("check", "--gpu", "4090"), [
            "name: NVIDIA GeForce RTX 4090", "capability: 8.9", "multiprocessors: 128", "threads: 1536, blocks: 24",
            f"shared: {100 * kib}, {99 * kib}", "clocks: 2520000, 10500000", f"bus: 384, memory: {24 * gib}, L2: {72 << 20}",
            *same, "at once: 6, 24, 4", "best: 256 of 768", "best up to 128: 1536 of 128", *priorities])
        self.assertEqual(lines("run")[1:3], ["capability: 8.0", "multiprocessors: 16"])
        explained = warpladder("explain", "device.cu", "--gpu", "a100", "--json", "-")
        self.assertIn("multiprocessors: 108\n", explained.stderr)
        for gpu, said in (("h100,a100", "the program sees one GPU"), ("h10", "unknown GPU")):
            refused = warpladder("run", "--gpu", gpu, "device.cu")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(said, refused.stderr)

    def test_reports_for_machines_stand_alone_on_standard_output(self):
        sarif = json.loads(warpladder("check", "header.cu", "--format", "sarif").stdout)
        result = sarif["runs"][0]["results"][0]
        self.assertEqual((result["ruleId"], result["level"]), ("access-out-of-bounds", "error"))
        for flags in (["--json", "-"], ["--format", "json"], ["--format", "json", "--out", "-"]):
            report = json.loads(warpladder("check", "header.cu", *flags).stdout)
            self.assertEqual(report["findings"][0]["thread"], "31,0,0")
        gcc = warpladder("check", "header.cu", "--format", "gcc")
        self.assertRegex(gcc.stdout, r"(?m)^[\w/.]+:\d+:1: error: .* \[access-out-of-bounds\]$")
        self.assertEqual(gcc.returncode, 1)
        for flags in (["--out", "x"], ["--format", "xml"]):
            refused = warpladder("check", "header.cu", *flags)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))

    def test_waste_is_a_warning_with_its_line(self):
        source = ROOT / "examples/transpose.cu"
        lines = source.read_text().splitlines()
        naive = next(i for i, line in enumerate(lines, 1) if "out[x * kSize + y] =" in line)
        column = next(i for i, line in enumerate(lines, 1) if "32 lanes, one bank" in line)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "t.html"
            flags = ["--brief", "--html", page, "--gpu", "4090", "--format", "sarif"]
            outcome = warpladder("explain", source, *flags)
            text = page.read_text()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        results = json.loads(outcome.stdout)["runs"][0]["results"]
        found = {
            r["locations"][0]["physicalLocation"]["region"]["startLine"]: (r["ruleId"], r["level"])
            for r in results
        }
        self.assertEqual(
            found,
            {naive: ("uncoalesced-access", "warning"), column: ("bank-conflicts", "warning")},
        )
        self.assertIn("each store touches 32 sectors where 4 would do", text)
        self.assertIn("each load takes 32 wavefronts where 1 would do", text)
        self.assertRegex(text, r"of bank \d+, one of 32 words")
        self.assertIn("tile[ty][tx] = in[(row + ty) * kSize + column + tx];", text)
        self.assertIn("GeForce RTX 4090", text)

    def test_two_versions_side_by_side(self):
        source = (ROOT / "examples/transpose.cu").read_text()
        with tempfile.TemporaryDirectory() as folder:
            better = Path(folder) / "better.cu"
            better.write_text(source.replace("[kTile][kTile];", "[kTile][kTile + 1];"))
            outcome = warpladder(
                "explain", ROOT / "examples/transpose.cu", "--against", better, "--kernel", "tiled",
                "--brief", "--html", Path(folder) / "p.html",
            )
            page = (Path(folder) / "p.html").read_text()
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        for text in (outcome.stdout.replace("\n", " "), page):
            self.assertRegex(text, r"What changed from tiled .*transpose.cu\) to tiled .*better.cu\): "
                                   r"L1 cycles .*fewer\); shared load wavefronts 65,536 → 2,048 \(32× fewer\)")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
