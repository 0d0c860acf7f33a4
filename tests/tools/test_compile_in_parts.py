"""Tests of tools/compile_in_parts.sh: what it compiles runs, in a folder whose name holds a space."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "compile_in_parts.sh"
CXX = shutil.which("g++")
PROGRAM = """
#include <cstdio>
static int table[64];
__attribute__((noinline)) static int twice(int i) { return table[i] = 2 * i; }
template <int kBy> __attribute__((noinline)) static int sum_to(int n) {
  int sum = 0;
  for (int i = 0; i < n; i += kBy) sum += twice(i);
  return sum;
}
int main(int count, char**) { std::printf("%d %d\\n", sum_to<1>(9 + count), sum_to<3>(9 + count)); }
"""


def compiles_in_parts():
    if not CXX:
        return False
    shown = subprocess.run([CXX, "-v"], capture_output=True, text=True, check=False).stderr
    return "lto" in shown and "clang" not in shown


@unittest.skipUnless(compiles_in_parts(), "no g++ with link-time optimisation")
class CompileInParts(unittest.TestCase):
    def compile(self, folder, text):
        source, self.object = folder / "a.cpp", folder / "a.o"
        source.write_text(text)
        command = [SCRIPT, CXX, "-O2", f"-ffile-prefix-map={folder}=/of the test", "-Wall", "-MD", "-MF",
                   folder / "a.d", "-o", self.object, "-c", source]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_the_object_is_an_ordinary_one(self):
        with tempfile.TemporaryDirectory(prefix="two words ") as name:
            folder = Path(name)
            compiled = self.compile(folder, PROGRAM)
            self.assertEqual((compiled.returncode, compiled.stdout, compiled.stderr), (0, "", ""))
            self.assertIn("a.cpp", (folder / "a.d").read_text())
            program = folder / "a"
            subprocess.run([CXX, "-fno-lto", self.object, "-o", program], check=True)
            ran = subprocess.run([program], capture_output=True, text=True, check=True)
            self.assertEqual(ran.stdout, f"{2 * sum(range(10))} {2 * sum(range(0, 10, 3))}\n")
            self.assertEqual(sorted(p.name for p in folder.iterdir()), ["a", "a.cpp", "a.d", "a.o"])

    def test_an_error_is_told_once_and_leaves_no_object(self):
        with tempfile.TemporaryDirectory() as name:
            compiled = self.compile(Path(name), "int main() { return nothing; }")
            self.assertNotEqual(compiled.returncode, 0)
            self.assertEqual(compiled.stderr.count("error:"), 1)
            self.assertFalse(self.object.exists())


if __name__ == "__main__":
    unittest.main()
