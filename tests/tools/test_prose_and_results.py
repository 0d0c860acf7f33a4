#!/usr/bin/env python3
"""The judges are judged: the checks of documents' sentences and of what lies below results/."""

from __future__ import annotations

import json
import unittest
import unittest.mock
from pathlib import Path

from test_checks import Planted

import check_prose
import check_results


class Prose(Planted):
    check = check_prose
    long = " ".join(["word"] * 26)

    def test_long_sentences(self):
        for text, line in (
            (f"{self.long}.", 1),
            (f"# Title\n\nA sentence. {self.long}.\n", 3),
            (f"- one\n- {self.long}\n", 2),
            (f"1. one\n2. `a b` [{self.long}](x.md)\n", 2),
            (" ".join(["word"] * 13) + "\n" + " ".join(["word"] * 13), 1),
            (f"<!-- times: a -->\n| a |\n<!-- end -->\n{self.long}", 4),
        ):
            with self.subTest(text):
                self.write("A.md", text)
                self.assert_caught("A.md", line, "a sentence has at most 25")

    def test_no_document_is_exempt(self):
        for path in ("CHANGELOG.md", "src/ops/sgemm/EXPERIMENTS.md"):
            self.write(path, f"- {self.long}.\n")
            self.assert_caught(path, 1, "a sentence has at most 25")
            self.write(path)

    def test_what_is_no_sentence_of_prose(self):
        half = " ".join(["word"] * 20)
        for text in (
            f"{half}. {half.capitalize()}.",
            f"{half}. `{half}` {half}",
            f"{half}! [{half.capitalize()}](x.md)",
            f"- {half}\n- {half}\n",
            f"{half}\n\n{half}",
            f"| {self.long} |",
            f"# {self.long}",
            f"```\n{self.long}\n```",
            f"<!-- times: {self.long} -->\n{self.long}\n<!-- end -->",
            f"![{self.long}](x.png)",
        ):
            with self.subTest(text):
                self.write("A.md", text)
                self.assert_clean()

    def test_private_words(self):
        for line in ("Whoever reads it.", "A sentence. The former is fast.", "Every room has rungs.", "The room's template."):
            self.write("A.md", f"# Title\n\n{line}\n")
            self.assert_caught("A.md", 3, "is a private word")
        self.write("A.md", "There is room for `the former`.\n")
        self.assert_clean()

    def test_private_words_in_comments(self):
        for path, text, line in (
            ("src/a.hpp", "int a;  // of whoever called\n", 1),
            ("apps/a.cpp", "// One\n// line. The\n// latter is it.\n", 2),
            ("include/a.h", "int b;\n/* One\n   of the rooms. */\n", 3),
            ("src/ops/a/lab/rung.cu.template", "// A room's rung.\n", 1),
            ("bindings/a/CMakeLists.txt", "set(a b)\n# stands in for it\n", 2),
            ("bindings/a.py", "a = 1  # every room\n", 1),
            ("src/b.hpp", "// - This is\n//   of the\n//   latter.\n", 2),
            ("bindings/a.sh", "a=1\n# the\n# latter\n", 2),
        ):
            with self.subTest(path):
                self.write(path, text)
                self.assert_caught(path, line, "is a private word")
                self.write(path)
        for path, text in (("src/a.cpp", 'const char* s = "the former // whoever";\nint rooms;\n'),
                           ("tools/a.cpp", "// whoever\n"),
                           ("src/b.hpp", "int a;  // the\n\nint b;  // former\n")):
            with self.subTest(path):
                self.write(path, text)
                self.assert_clean()

    def test_long_sentences_in_comments(self):
        half = " ".join(["word"] * 13)
        for path, text, line in (
            ("src/a.hpp", f"int a;  // {self.long}.\n", 1),
            ("src/b.cu", f"// A sentence.\n//\n// Another\n// one. {half}\n// {half}.\n", 3),
            ("include/a.h", f"int b;\n/* {half}\n * {half}. */\n", 2),
            ("apps/a.cpp", f"  // - one\n  // - {half}\n  //   {half}\n", 2),
            ("bindings/a/a.c", f"/* {half}\n   {half} */\n", 1),
            ("tests/a.cpp", f"// As e.g. word {half}, i.e. {half}.\n", 1),
            ("benchmarks/a.cpp", f"// `{half}` f({half}) {self.long}.\n", 1),
        ):
            with self.subTest(path):
                self.write(path, text)
                self.assert_caught(path, line, "a sentence has at most 25")
                self.write(path)
        for path, text in (
            ("src/a.hpp", f"// {half}. {half}! cublasSgemm {half}. `{half}` {half}\n"),
            ("src/b.cu", f"// The bits:\n//   {half}\n//   {half}\n// - {half}\n// - {half}\n"),
            ("src/c.cu", f"int a;  // {half}\nint b;  // {half}\n// {half}\n"),
            ("src/d.cu", f"// {half}\n  // {half}\n"),
            ("src/e.cu", f"// f(a, b, c) = a + b · c → {half}, g({half}), `{half}` {' '.join(['word'] * 6)}.\n"),
            ("src/f.cpp", f'const char* s = "// {self.long}";\n'),
            ("src/g.py", f"# {self.long}\n"),
            ("tools/a.cpp", f"// {self.long}\n"),
        ):
            with self.subTest(path):
                self.write(path, text)
                self.assert_clean()

    def test_numbers_of_decisions(self):
        good = "# Decisions\n\n## Kernels\n\n### 2. Why?\nSo.\n\n## Lab\n\n### 1. How?\nThus.\n"
        self.write("DECISIONS.md", good)
        self.assert_clean()
        for heading, words in (("### 2. Who?", "another decision has the number 2"), ("### Who?", "has a number"),
                               ("## Who?", "has a number"), ("### 0. Who?", "decision 0 stands behind 1")):
            self.write("DECISIONS.md", f"{good}\n{heading}\nShe.\n")
            self.assert_caught("DECISIONS.md", 13, words)


class Results(Planted):
    check = check_results
    path = "results/current/nvidia-h200/sgemm.json"
    good = {
        "recorded": {"gpu": "NVIDIA H200", "date": "2026-11-24", "commit": "0" * 12, "raw_sha256": "0" * 64},
        "rows": [{"samples_s": [1e-05]}, {"samples_s": [2e-05]}],
    }
    index = "path,sha256,commit,subject,kept_as\n"

    def keep(self, recording, path=path):
        self.write(path, check_results.keep_recording.rendered(recording))

    def test_recordings(self):
        self.keep(self.good)
        self.assert_clean()
        self.write(self.path, json.dumps(self.good))
        self.assert_caught(self.path, 1, "not one line a row")
        self.keep({**self.good, "recorded": {"gpu": "NVIDIA H200"}})
        self.assert_caught(self.path, 1, "does not say its commit")
        self.keep({"rows": []})
        self.assert_caught(self.path, 1, "holds no `recorded`")
        self.write(self.path, "[")
        self.assert_caught(self.path, 1, "holds no `recorded`")

    def test_compressed_recordings(self):
        path = self.path + ".xz"
        keep_recording = check_results.keep_recording
        self.write(path)
        for text, fault in ((keep_recording.rendered(self.good), None), (json.dumps(self.good), "not one line a row")):
            (self.root / path).write_bytes(keep_recording.bytes_of(Path(path), text))
            self.assert_caught(path, 1, fault) if fault else self.assert_clean()
        self.write(path, "x")
        self.assert_caught(path, 1, "holds no `recorded`")

    def test_a_large_recording_is_compressed(self):
        rows = [{"samples_s": [1e-05] * 61}] * 50
        self.keep({**self.good, "rows": rows})
        self.assert_caught(self.path, 1, "compress it")
        with unittest.mock.patch.object(check_results, "PLAIN", {self.path}):
            self.assert_clean()

    def test_places(self):
        self.keep(self.good, "results/current/nvidia-h100/sgemm.json")
        self.assert_caught("results/current/nvidia-h100/sgemm.json", 1, "was recorded on nvidia-h200")
        for path in ("results/2026-11-24_a/x.json", "results/current/x.json", "results/current/cpu/x.md"):
            self.write(path, "{}")
            self.assert_caught(path, 1, "results/current/GPU/OP_SUBJECT.json")

    def test_texts(self):
        head = check_results.keep_recording.TEXT_HEAD + json.dumps(self.good["recorded"])
        path = self.path.replace(".json", ".csv")
        self.write(path, head + '\n"ID"\n')
        self.assert_clean()
        self.write(path, '"ID"\n')
        self.assert_caught(path, 1, "holds no `recorded`")

    def test_index(self):
        row = f"results/old/a.json,{'a' * 64},{'b' * 12},bench sgemm,\n"
        self.write("results/index.csv", self.index + row)
        self.assert_clean()
        for bad, words in (("results/old/b.json,1,2,,\n", "hexadecimal"), ("a,b\n", "2 columns, not 5")):
            self.write("results/index.csv", self.index + row + bad)
            self.assert_caught("results/index.csv", 3, words)
        self.write("results/index.csv", row)
        self.assert_caught("results/index.csv", 1, "columns are not")

    def test_recordings_that_the_index_names(self):
        raw = self.good["recorded"]["raw_sha256"]
        rows = f"results/old/a.json,{raw},{'b' * 12},bench sgemm,{self.path}\n"
        self.write("results/index.csv", self.index + rows)
        self.assert_caught("results/index.csv", 2, "is listed as kept, but is not there")
        self.keep(self.good)
        self.assert_clean()
        self.write("results/index.csv", self.index + rows.replace(raw, "a" * 64))
        self.assert_caught("results/index.csv", 2, "was made of another report")

    def test_sizes(self):
        self.write("src/a.cpp", "/" * (check_results.FILE_BYTES + 1))
        self.assert_caught("src/a.cpp", 1, "the limit is 300000")
        self.write("src/a.cpp")
        for i in range(check_results.TREE_BYTES // check_results.FILE_BYTES + 1):
            self.write(f"data/{i}.txt", "x" * check_results.FILE_BYTES)
        self.assert_caught(".", 1, "the limit is 15000000")


if __name__ == "__main__":
    unittest.main()
