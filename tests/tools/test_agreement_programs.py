"""Tests of tools/agreement_programs.py and of its half for a GPU: a program of one kernel, and stand-ins for nvcc, ncu
and warpladder that write what those write, cut down."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import agreement_programs  # noqa: E402
import keep_recording  # noqa: E402
from agreement_raw import COUNTERS, FMAS  # noqa: E402

FIELDS = "id\trepository\tcommit\tfiles\tincludes\tdefines\targuments\n"
LIST = "program\tlaunch\targuments\tkernels\tshows\n"
# Misses all kernels but the first where it is asked for several.
NCU = """#!{python}
import sys
arguments = sys.argv[1:]
if "--import" in arguments:
    print('"ID","Kernel Name"\\n"",""')
    for name in open(arguments[arguments.index("--import") + 1]).read().split():
        print(f'"0","{{name}}"')
elif "--export" in arguments:
    several = "--kernel-id" in arguments
    names = arguments[arguments.index("--kernel-id" if several else "--kernel-name") + 1]
    names = names.split("^")[1].split("$")[0].strip("()").split("|")[:1]
    open(arguments[arguments.index("--export") + 1], "w").write(" ".join(names))
"""
NVCC = """#!/bin/sh
while [ "$1" != -o ]; do shift || exit; done
case $2 in *broken) exit 1 ;; esac
touch "$2"
"""
# Counts one load of 4 bytes, or of 16 where the machine code has those.
WARPLADDER = """#!{python}
import json, sys
arguments = sys.argv[1:]
file = arguments[arguments.index("--") - 1]
code = open(arguments[arguments.index("--as-compiled") + 1]).read() if "--as-compiled" in arguments else ""
assert code in ("", f"copy<T>\\t{{file}}\\t3\\tglobal\\tload\\t16\\n"), code
access = {{"space": "global", "kind": "load", "bytes": 16 if code else 4, "requests": 2 if code else 8, "sectors": 32,
          "lanes": 64, "wavefronts": 0, "ideal_wavefronts": 0}}
line = {{"file": "copy.cu", "line": 3, "accesses": [access], "fmas": 0, "barriers": 0, "shuffles": 0}}
kernels = [{{"kernels": [{{"kernel": "copy<T>", "grid": [n, 1, 1], "block": [32, 1, 1]}}], "lines": [line]}} for n in (2, 4)]
open(arguments[arguments.index("--json") + 1], "w").write(json.dumps({{"kernels": kernels}}))
"""


def write_program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.format(python=sys.executable) if "{python}" in text else text, encoding="utf-8")
    path.chmod(0o755)
    return path


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        source = self.root / "clones" / "owner" / "copy.cu"
        source.parent.mkdir(parents=True)
        source.write_text('#include "copy.cuh"\n', encoding="utf-8")
        source.with_suffix(".cuh").write_text("// A header.\n", encoding="utf-8")
        (self.root / "corpus.tsv").write_text(f"{FIELDS}copy\towner/copy\t0\towner/copy.cu\towner\tN=4\t8 1\n")
        (self.root / "results/current/nvidia-h100").mkdir(parents=True)
        self.recording = self.root / "results/current/nvidia-h100/agreement_programs.json.xz"
        (self.root / "reasons.txt").write_text("# None.\n", encoding="utf-8")
        for name, value in (("ROOT", self.root), ("LIST", self.root / "list.tsv"), ("REASONS", self.root / "reasons.txt"),
                            ("DOCUMENT", self.root / "page.md"), ("CORPUS", [self.root / "corpus.tsv"])):
            patch = mock.patch.object(agreement_programs, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.list("copy\t1\t=\tcopy\tcoalesced access\n")

    def list(self, *rows):
        (self.root / "list.tsv").write_text(LIST + "".join(rows), encoding="utf-8")

    def run_tool(self, *arguments):
        self.said = io.StringIO()
        with contextlib.redirect_stdout(self.said), contextlib.redirect_stderr(self.said):
            return agreement_programs.main([str(a) for a in arguments])

    def measure(self, grid="(2, 1, 1)"):
        """What a GPU's half leaves of the program: two requests of 16 bytes a lane."""
        out = self.root / "out"
        (out / "copy").mkdir(parents=True, exist_ok=True)
        (out / "origin.json").write_text(json.dumps({"gpu": "NVIDIA H100 80GB HBM3", "date": "2020-02-02"}))
        names = ["Kernel Name", "Block Size", "Grid Size", *COUNTERS.values(), *FMAS]
        row = ["_Z4copyIfEvPT_", "(32, 1, 1)", grid, "2", "32", *["0"] * 8]
        text = "\n".join(",".join(f'"{cell}"' for cell in cells) for cells in (names, [""] * len(names), row))
        with gzip.open(out / "copy/counters_0.csv.gz", "wt", encoding="utf-8") as file:
            file.write("==PROF== said\n" + text + "\n")
        place = {"file": "/somewhere/sources/owner/copy.cu", "line": 3}
        code = [{"at": 0, "sass": "LDG.E.128 R4, [R2.64]", "inst_executed": 2, "thread_inst_executed_true": 64,
                 "memory_l2_theoretical_sectors_global": 32, **place}]
        with gzip.open(out / "copy/source_0.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(json.dumps({"name": "_Z4copyIfEvPT_", "code": code}) + "\n")
        return self.run_tool("reduce", out, "--commit", "0123")

    def count(self):
        stand_in = write_program(self.root / "bin/warpladder", WARPLADDER)
        return self.run_tool("count", self.recording, "--program", stand_in, "--repositories", self.root / "clones")

    def test_the_repositorys_list_names_programs_of_the_corpus(self):
        corpus = [ROOT / "tests/programs" / f"{name}.tsv" for name in ("corpus", "corpus_fresh")]
        with mock.patch.multiple(agreement_programs, LIST=ROOT / "benchmarks/agreement/programs.tsv", CORPUS=corpus):
            rows = agreement_programs.read_list()
        self.assertEqual(len({row["row"] for row in rows}), len(rows))
        self.assertGreaterEqual(sum(len(row["kernels"].split()) for row in rows), 30)
        self.assertTrue(all(int(row["launch"]) > 0 and row["shows"] and row["files"] for row in rows))

    def test_a_program_that_the_corpus_lacks_is_refused(self):
        self.list("copies\t1\t=\tcopy\tx\n")
        self.assertEqual(self.run_tool("pack", "--repositories", self.root, "--to", self.root / "pack"), 2)
        self.assertIn("the corpus has no program copies", self.said.getvalue())

    def test_kernels_that_one_run_misses_get_their_own(self):
        self.list("copy\t1\t=\tcopy scale\tx\n", "copy\t2\t9\tcopy\tx\n", "broken\t1\t=\tcopy\tx\n")
        with open(self.root / "corpus.tsv", "a", encoding="utf-8") as file:
            file.write("broken\towner/copy\t0\towner/copy.cu\t\t\t\n")
        pack, out, tools = (self.root / name for name in ("pack", "out", "bin"))
        pack.mkdir()
        self.assertEqual(self.run_tool("pack", "--repositories", self.root / "clones", "--to", pack), 0)
        self.assertTrue((pack / "sources/owner/copy.cuh").is_file())
        write_program(tools / "ncu", NCU)
        for name in ("nvcc", "cuobjdump", "nvidia-smi"):
            write_program(tools / name, NVCC if name == "nvcc" else "#!/bin/sh\necho NVIDIA H100, 1\n")
        call = [sys.executable, pack / "agreement_programs_gpu.py", pack, out]
        done = subprocess.run(call, capture_output=True, text=True, check=True,
                              env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(done.stdout.splitlines()[:3], ["copy: profiled", "copy_: profiled", "broken: not built"])
        files = {str(file.relative_to(out)) for file in out.glob("*/*.gz")}
        self.assertEqual(files, {"copy/counters_0.csv.gz", "copy/counters_2.csv.gz", "copy_/counters_0.csv.gz"})
        log = (out / "copy_/log.txt").read_text(encoding="utf-8")
        self.assertIn("--kernel-id ::regex:^(copy)$:2 --launch-count 1 --kill yes", log)
        self.assertTrue(log.split("\n")[0].endswith("bin/copy 9"), log)
        self.assertEqual(json.loads((out / "origin.json").read_text(encoding="utf-8"))["gpu"], "NVIDIA H100")

    def test_counts_stand_beside_a_gpus(self):
        self.assertEqual(self.measure(), 0, self.said.getvalue())
        recorded = json.loads(keep_recording.text_of(self.recording))
        self.assertEqual(recorded["files"], ["owner/copy.cu"])
        self.assertEqual(recorded["rows"][0]["lines"], [[0, 3, "LDG", 16, 0, 2, 2, 64, 32, 0]])
        self.assertEqual(recorded["rows"][0]["kernel"], "copy<float>")
        self.assertEqual(self.count(), 0, self.said.getvalue())
        self.assertIn("copy: 14 of 14 pairs agree", self.said.getvalue())
        page = (self.root / "page.md").read_text(encoding="utf-8")
        self.assertIn("| global load requests | 1 | 0 | 1 | 1 of 1 |", page)
        self.assertIn("| `copy` | `copy` | coalesced access | `8 1` | 1 | 2 of 2 |", page)
        self.assertEqual(self.run_tool("page", self.recording, "--check"), 0, self.said.getvalue())
        (self.root / "page.md").write_text("else", encoding="utf-8")
        self.assertEqual(self.run_tool("page", self.recording, "--check"), 2)

    def test_another_launch_than_the_gpus_is_refused(self):
        self.assertEqual(self.measure("(3, 1, 1)"), 0)
        self.assertEqual(self.count(), 2)
        self.assertIn("launches of copy<float> are others than the GPU's", self.said.getvalue())

    def test_a_kernel_that_was_not_measured_is_told(self):
        self.list("copy\t1\t=\tcopy scale\tcoalesced access\n")
        self.assertEqual(self.measure(), 0)
        self.assertIn("not recorded: scale of copy", self.said.getvalue())

    def test_an_exception_needs_a_reason(self):
        self.measure()
        text = keep_recording.text_of(self.recording).replace('"counters":[2,32,', '"counters":[2,30,')
        self.recording.write_bytes(keep_recording.bytes_of(self.recording, text))
        self.assertEqual(self.count(), 0)
        self.assertEqual(self.run_tool("page", self.recording, "--check"), 2)
        self.assertIn("1 exceptions have no reason in reasons.txt", self.said.getvalue())
        (self.root / "reasons.txt").write_text("copy|copy*|global load sectors|Planted.\n", encoding="utf-8")
        self.assertEqual(self.run_tool("page", self.recording), 0)
        self.assertEqual(self.run_tool("page", self.recording, "--check"), 2)
        self.assertIn("only 13 of 14 (92.9 %) of the pairs agree", self.said.getvalue())
        with mock.patch.object(agreement_programs, "LEAST", 0.9):
            self.assertEqual(self.run_tool("page", self.recording, "--check"), 0, self.said.getvalue())

    def test_a_recording_has_the_lists_kernels(self):
        self.measure()
        self.assertEqual(self.count(), 0)
        for row in ("copy\t2\t=\tcopy\tx\n", "copy\t1\t=\tcopy scale\tx\n", "copy\t1\t9\tcopy\tx\n"):
            self.list(row)
            self.assertEqual(self.run_tool("page", self.recording, "--check"), 2)
            self.assertIn("the recording's kernels are not those of list.tsv", self.said.getvalue())


if __name__ == "__main__":
    unittest.main()
