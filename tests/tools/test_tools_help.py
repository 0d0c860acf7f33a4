"""Every tool says how it is called, and meets arguments that it does not know with a sentence."""

import subprocess
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def scripts():
    """Not the modules that others import."""
    found = [*TOOLS.glob("*.py"), *TOOLS.glob("checks/*.py")]
    return sorted(path for path in found if '__name__ == "__main__"' in path.read_text(encoding="utf-8"))


def run(script, *arguments):
    command = [sys.executable, "-B", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


class Tools(unittest.TestCase):
    def test_help(self):
        self.assertGreater(len(scripts()), 10)
        for script in scripts():
            with self.subTest(script.name):
                done = run(script, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(script.name, done.stdout)

    def test_nonsense_is_refused_without_a_traceback(self):
        for script in scripts():
            with self.subTest(script.name):
                done = run(script, "--nonsense")
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn("Traceback", done.stderr)
                self.assertTrue(done.stderr.strip() or done.stdout.strip())


if __name__ == "__main__":
    unittest.main()
