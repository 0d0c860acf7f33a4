#!/usr/bin/env python3
"""report: one page of recordings that needs nothing else, and its data for other programs.

Usage: test_report.py PROGRAM [TEST...]
"""

from __future__ import annotations

import csv
import html.parser
import json
import lzma
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import test_command_line as cli
from test_command_line import BAD_INPUT

RESULTS = cli.ROOT / "results" / "current"
H200 = RESULTS / "nvidia-h200"
FOLDER = tempfile.TemporaryDirectory()  # until the program ends


def plain(compressed: Path) -> Path:
    """A recording as the program reads it."""
    path = Path(FOLDER.name) / compressed.stem
    path.write_bytes(lzma.decompress(compressed.read_bytes()))
    return path


BENCH, WIDE, ACCURACY, VERIFY = (
    plain(H200 / "sgemm_tensor.json.xz"),
    H200 / "sgemm_tensor_wide.json",
    plain(H200 / "sgemm_accuracy_top.json.xz"),
    plain(H200 / "sgemm_tensor_verify.json.xz"),
)
# A class of shapes on an H100, whichever is kept: newer pages replace older ones.
SHAPES = plain(min((RESULTS / "nvidia-h100").glob("sgemm_every_shape_[!a]*.json.xz")))
DOCTOR = '{"schema_version": 1, "verb": "doctor", "checks": []}'
VOID = {"meta", "input", "br", "link", "img"}


class Page(html.parser.HTMLParser):
    """Every tag is closed, ids are unique, and nothing comes from elsewhere."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.ids, self.tags, self.links, self.texts, self.faults = [], set(), [], [], [], []
        self.feed(text)
        self.faults += [f"{tag} is not closed" for tag in self.open]
        self.faults += [f"no element has the id {link}" for link in self.links if link not in self.ids]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                if value in self.ids:
                    self.faults.append(f"the id {value} stands twice")
                self.ids.add(value)
            if name in ("src", "srcset", "data", "action"):
                self.faults.append(f"{tag} {name}={value}")
            if name == "href":
                self.links.append(value.lstrip("#"))
            if name.startswith("on"):
                self.faults.append(f"{tag} {name}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.texts.append(data)


class Report(cli.CommandLine):
    def page(self, *recordings) -> Page:
        self.good("report", *recordings, "--html", self.path("r.html"))
        self.text = (self.folder / "r.html").read_text()
        page = Page(self.text)
        self.assertEqual(page.faults, [])
        return page

    def test_every_section(self):
        page = self.page(BENCH, WIDE, ACCURACY, VERIFY, SHAPES)
        for part in ("climbs", "shapes", "roofline", "accuracy", "verdicts", "rows", "provenance"):
            self.assertIn(part, page.ids)
        text = " ".join(page.texts)
        for words in ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "6463dd3063a4", "cuBLAS 13.1", "FP16 tensor cores"):
            self.assertIn(words, text)

    def test_needs_nothing_else(self):
        self.page(BENCH, SHAPES)
        without_names = self.text.replace("http://www.w3.org/2000/svg", "")
        self.assertNotRegex(without_names, r"https?:|//[a-z]+\.|@import|url\(")

    def test_holds_every_row(self):
        report = json.loads(BENCH.read_text())
        page = self.page(BENCH)
        rows = re.search(r'id="rows0">.*?<tbody>(.*?)</tbody>', self.text, re.DOTALL)[1]
        self.assertEqual(rows.count("<tr"), len(report["rows"]))
        climbs = [name for name in page.texts if name.strip() == "tc_10_full_range"]
        self.assertGreater(len(climbs), len({tuple(r["shape"]) for r in report["rows"]}) // 2)
        medians = re.findall(r'<td class="n" data-v="([^"]+)">[^<]* [mµ]s</td>', rows)
        hot = {f"{r['statistics_s']['median']:.9g}" for r in report["rows"] if "statistics_s" in r}
        self.assertLessEqual(hot, set(medians))

    def test_the_same_bytes_each_time(self):
        self.page(BENCH, SHAPES)
        first = self.text
        self.page(BENCH, SHAPES)
        self.assertEqual(self.text, first)

    def test_a_folder(self):
        folder = self.folder / "folder"
        (folder / "inner").mkdir(parents=True)
        for recording in (BENCH, WIDE):
            shutil.copy(recording, folder)
        shutil.copy(VERIFY, folder / "inner")
        (folder / "doctor.json").write_text(DOCTOR)
        printed = self.good("report", "folder", "--html", self.path("r.html"), cwd=self.folder)
        self.assertIn("doctor.json' holds no rows", printed)
        self.assertIn("3 recordings", printed)
        page = Page((self.folder / "r.html").read_text())
        self.assertEqual(page.faults, [])
        self.assertIn("folder/", page.texts)
        self.assertIn(f"inner/{VERIFY.name}", page.texts)

    def test_climbs_follow_the_ladder(self):
        report = json.loads(BENCH.read_text())
        report["rows"].reverse()
        (self.folder / "back.json").write_text(json.dumps(report))
        page = self.page(self.path("back.json"))
        figure = re.search(r"<figure>(.*?)</figure>", self.text, re.DOTALL)[1]
        names = re.findall(r">((?:row|tc)_\d\d_\w+)</text>", figure)
        self.assertGreater(len(names), 3)
        self.assertEqual(names, sorted(names))
        self.assertIn("climbs", page.ids)

    def test_columns_without_text_are_left_out(self):
        self.page(BENCH, SHAPES)
        heads = [re.findall(r"<th[^>]*>([^<]*)</th>", head) for head in
                 re.findall(r'id="rows\d+"><thead>(.*?)</thead>', self.text, re.DOTALL)]
        self.assertNotIn("class", heads[0])
        self.assertIn("class", heads[1])
        for table in re.findall(r"<table.*?</table>", self.text, re.DOTALL):
            cells = {row.count("<td") for row in re.findall(r"<tr class.*?</tr>", table)}
            self.assertEqual(cells, {table.count("<th") - table.count("<thead")})

    def test_this_machines_recordings(self):
        flags = ["-a", "shape=[16x16x16]", "--device", "cpu", "--json", self.path("b.json")]
        self.good("bench", "sgemm/row_01_naive", "sgemm/row_02_block_tile", "sgemm/row_03_thread_tile", *flags)
        page = self.page(self.path("b.json"))
        self.assertIn("climbs", page.ids)
        self.assertNotIn("roofline", page.ids)
        self.assertIn("the 32-byte sectors that the executor counted", self.text)

    def test_hostile_names_stay_text(self):
        report = json.loads(BENCH.read_text())
        evil = "</script><script>alert(1)</script>\"'&\x1b[2J"
        report["rows"][0]["rung"] = report["rows"][1]["variant"] = report["rows"][2]["op"] = evil
        report["device"]["gpu"]["GPU"] = report["argv"][0] = evil
        report["rows"][3]["flops"] = 1e308
        report["rows"][3]["samples_s"] = [1e-300] * 9
        report["rows"][4]["shape"] = [0, 0, 0]
        report["ceilings"]["fp32_flops_per_s"] = 1e300
        (self.folder / "evil.json").write_text(json.dumps(report))
        page = self.page(self.path("evil.json"))
        self.assertEqual(page.tags.count("script"), 1)
        self.assertNotIn("\x1b", self.text)

    def test_files_for_other_programs(self):
        files = ["--csv", self.path("r.csv"), "--junit", self.path("r.xml")]
        wrong = json.loads(BENCH.read_text())
        wrong["rows"][0]["failure"] = "C(0, 0) is 3, not 4"
        (self.folder / "wrong.json").write_text(json.dumps(wrong))
        report = self.report("report", self.path("wrong.json"), VERIFY, *files)
        self.assertEqual([r["label"] for r in report["recordings"]], ["R1", "R2"])
        self.assertEqual(len(report["rows"]), len(wrong["rows"]))
        first = next(r for r in report["rows"] if r["over_rival"] and not r["rival"])
        rivals = [
            r["hot_median_s"]
            for r in report["rows"]
            if r["rival"] and (r["shape"], r["variant"]) == (first["shape"], first["variant"]) and r["hot_median_s"]
        ]
        self.assertIn(round(first["over_rival"], 9), [round(r / first["hot_median_s"], 9) for r in rivals])
        with open(self.path("r.csv"), newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(wrong["rows"]))
        suite = ElementTree.parse(self.path("r.xml")).getroot().find("testsuite")
        cases = sum(len(r["cases"]) or 1 for r in json.loads(VERIFY.read_text())["rows"])
        self.assertEqual(int(suite.get("tests")), len(wrong["rows"]) + cases)
        self.assertEqual([f.get("message") for f in suite.iter("failure")], ["C(0, 0) is 3, not 4"])

    def test_bad_input(self):
        out = ["--html", self.path("r.html")]
        (self.folder / "cut.json").write_text(BENCH.read_text()[:5000])
        (self.folder / "doctor.json").write_text(DOCTOR)
        (self.folder / "empty").mkdir()
        for words, arguments in (
            ("report needs --html FILE", [BENCH]),
            ("RESULTS is required", out),
            ("cut.json' ends within a value", [self.path("cut.json"), *out]),
            ("holds no rows of bench, verify or accuracy", [self.path("doctor.json"), *out]),
            ("RESULTS holds no report", [self.path("empty"), *out]),
            ("the same file", [BENCH, *out, "--csv", self.path("r.html")]),
        ):
            self.refused(BAD_INPUT, words, "report", *arguments)
        self.assertEqual(self.names(), ["cut.json", "doctor.json", "empty"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cli.PROGRAM = sys.argv.pop(1)
    unittest.main()
