#!/usr/bin/env python3
"""The tour, as `make demo` runs it, and the page that it ends with.

Usage: test_demo.py PROGRAM [TEST...]; PROGRAM holds the tour's rungs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser

import test_command_line as cli
from test_command_line import environment


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open, self.addresses = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("meta", "path", "rect", "line", "circle"):
            self.open.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass


class Demo(cli.CommandLine):
    def test_tour(self):
        done = subprocess.run(
            [cli.ROOT / "tools/demo.sh", cli.PROGRAM, self.path("demo.html")],
            cwd=cli.ROOT, env=environment(), capture_output=True, text=True, timeout=300,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("bank conflicts", done.stdout)
        self.assertIn("missing_barrier.cu:", done.stdout)
        self.assertEqual(self.names(), ["demo.html"])
        text = (self.folder / "demo.html").read_text()
        page = Elements()
        page.feed(text)
        self.assertEqual(page.open, [])
        self.assertEqual(page.addresses, [], "the page needs nothing else")
        self.assertEqual(page.seen.count("h2"), 4)
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertRegex(text, r'class="blamed"> +\d+ +tile\.out\[')
        for command in re.findall(r"<dt>make ([\w-]+)", text):
            self.assertRegex((cli.ROOT / "Makefile").read_text(), rf"(?m)^{command}:")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
