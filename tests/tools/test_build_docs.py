#!/usr/bin/env python3
"""Tests of tools/build_docs.py: pages are staged with all that they link to, and every link of the HTML leads somewhere."""

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import build_docs  # noqa: E402


def mkdocs():
    """A program with the theme, or None: what `make docs` installed, or one on PATH."""
    for program in (ROOT / "build/docs/environment/bin/mkdocs", shutil.which("mkdocs")):
        if program and Path(program).is_file():
            python = Path(program).parent / "python3"
            if python.exists() and subprocess.run([python, "-c", "import material"], capture_output=True).returncode == 0:
                return program
    return None


class Staged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.target = Path(folder.name).resolve() / "tree", Path(folder.name) / "staged"

    def write(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def staged(self):
        build_docs.stage(self.root, self.target)
        return sorted(str(path.relative_to(self.target)) for path in self.target.rglob("*") if path.is_file())

    def test_what_pages_link_to_comes_along(self):
        self.write("docs/a.md", "[the\nlicence](../LICENSE), ![x](x.svg), [r](../results/r.json#a)\n"
                   '<picture><source srcset="z.svg"><img src="w.svg" alt="w"></picture>\n')
        for path in ("LICENSE", "docs/w.svg", "docs/x.svg", "docs/y.svg", "docs/z.svg", "results/r.json", "tools/t.py"):
            self.write(path)
        self.assertEqual(self.staged(), ["LICENSE", "docs/a.md", "docs/w.svg", "docs/x.svg", "docs/z.svg", "results/r.json"])

    def test_links_to_folders_become_text(self):
        text = "A [folder `b`](b), [b](b/c.py), [d](https://d.test/b), [e](#e) and `[b](b)`.\n\n```\n[b](b)\n```\n"
        self.write("a.md", text)
        self.write("b/c.py")
        self.staged()
        self.assertEqual((self.target / "a.md").read_text(), text.replace("[folder `b`](b)", "folder `b`"))


class Downloads(unittest.TestCase):
    """A tool that cannot be downloaded is no fault of the documents; a version that no index has is one."""

    def refused(self, word, text, kind):
        def run(*command):
            if word in command:
                raise subprocess.CalledProcessError(1, command, text)

        with mock.patch.object(build_docs, "run", run), self.assertRaises(kind) as caught:
            build_docs.installed(Path("/nowhere"))
        return caught.exception

    def test_no_index(self):
        reason = self.refused("install", "no version of it (from versions: none)", build_docs.CannotDownload)
        self.assertIn("no package index", str(reason))
        self.assertIn("python3-venv", str(self.refused("venv", "no ensurepip", build_docs.CannotDownload)))
        with mock.patch.object(build_docs, "installed", side_effect=reason), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(build_docs.main([]), build_docs.CANNOT_DOWNLOAD)
        self.assertRegex(said.getvalue(), r"\A.*no HTML of the documents: .*\n\Z")

    def test_a_version_that_no_index_has(self):
        self.refused("install", "no such version (from versions: 9.7.1, 9.8.0)", subprocess.CalledProcessError)


class Built(unittest.TestCase):
    """With mkdocs's strict mode, which knows the links of the HTML and the pages of its navigation."""

    def setUp(self):
        self.program = mkdocs()
        if self.program is None:
            self.skipTest("no mkdocs-material: `make docs` installs it")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        build_docs.stage(ROOT, self.folder / "source")
        self.configuration = self.folder / "mkdocs.yml"
        self.configuration.write_text(f"INHERIT: {ROOT}/docs/mkdocs.yml\ndocs_dir: source\nsite_dir: html\n")

    def fault(self):
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            build_docs.build(self.program, self.configuration)
        return caught.exception.stdout

    def test_the_documents(self):
        build_docs.build(self.program, self.configuration)
        for path in ("index.html", "LICENSE", "docs/tuning.html", "src/ops/sgemm/EXPERIMENTS.html"):
            self.assertTrue((self.folder / "html" / path).is_file(), path)

    def test_a_dead_link_and_a_page_outside_the_navigation(self):
        page = self.folder / "source/docs/terms.md"
        page.write_text(page.read_text() + "\n[gone](gone.json)\n")
        self.assertIn("'gone.json'", self.fault())
        page.write_text("# Glossary\n")
        (self.folder / "source/docs/lost.md").write_text("# Lost\n")
        self.assertIn("docs/lost.md", self.fault())


if __name__ == "__main__":
    unittest.main()
