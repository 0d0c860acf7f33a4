"""Tests of tools/torch_table.py, benchmarks/torch/draw.py and timeline.py: made-up reports, cells by hand."""

import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks" / "torch")]
import generate_tables  # noqa: E402
import timeline  # noqa: E402
import torch_table  # noqa: E402


def run(seconds, products, other, losses=()):
    return {"median_s": seconds, "step_s": [seconds], "losses": list(losses), "peak_bytes": 3 * 2**29,
            "products_s": products, "other_s": other, "kernels": [], "calls": {}}


def report(program, rows):
    return {"schema_version": 1, "program": program, "argv": [f"{program}.py", "--compare"], "rows": rows,
            "date": "2026-11-25T10:11:12Z", "commit": "0", "gpu": {"GPU": "NVIDIA H200", "driver": "580.1"},
            "libraries": {"PyTorch": "2.11.0"}}


def operator(number, name, start=0, length=9, thread=7):
    return {"cat": "cpu_op", "name": name, "ts": start, "dur": length, "tid": thread, "args": {"External id": number}}


def kernel(start, length, number):
    args = {} if number is None else {"External id": number}
    return {"cat": "kernel", "name": "k", "ts": start, "dur": length, "args": args}


GPT = report("gpt", [
    {"label": "GPT train 4x1024", "stock": run(0.08, 0.06, 0.02, [3, 2, 1]), "speedup": 2.5, "losses_apart": 2e-5,
     "warpladder": run(0.032, 0.012, 0.02, [3, 2, 1.00002])},
    {"label": "GPT forward <8x512>", "stock": run(0.026, 0, 0), "warpladder": run(0.01, 0, 0), "speedup": 2.6}])
OPERATORS = report("operators", [
    {"label": "mm 4096^3", "kind": "gpu", "stock": {"median_s": 2.5e-3}, "warpladder": {"median_s": 6.25e-4},
     "speedup": 4.0},
    {"label": "torch.mm", "kind": "host", "median_s": 2.4e-5}])


class TorchTable(unittest.TestCase):
    def test_cells_by_hand(self):
        _, rows = torch_table.programs([("a", GPT)])
        self.assertEqual(rows[0], ["GPT train 4x1024", "80.00", "75 %", "32.00", "38 %", "2.50", "1.50", "1.50",
                                   "2e-05"])
        self.assertEqual(rows[1][1:6] + rows[1][8:], ["26.00", "–", "10.00", "–", "2.60", "–"])
        self.assertEqual(torch_table.operators([("a", OPERATORS)])[1], [["mm 4096^3", "2500.0", "625.0", "4.00"]])
        self.assertEqual(torch_table.host([("a", OPERATORS)])[1], [["torch.mm", "24.0"]])

    def test_reports_that_do_not_fit(self):
        other_gpu, foreign = copy.deepcopy(GPT), copy.deepcopy(GPT)
        other_gpu["gpu"]["GPU"] = "NVIDIA L4"
        foreign["program"] = "bench"
        for reports in ([("a", GPT), ("b", other_gpu)], [("a", foreign)]):
            with self.assertRaises(ValueError):
                torch_table.programs(reports)

    def test_the_picture(self):
        svg = torch_table.picture([("a", GPT)])
        root = ElementTree.fromstring(svg)
        name = "{http://www.w3.org/2000/svg}"
        bars = [r for r in root.iter(f"{name}rect") if r.get("height") == "14.00"]
        widths = [float(r.get("width")) for r in bars[:4]]
        self.assertAlmostEqual(widths[0] / (widths[0] + widths[1]), 0.75, 3)
        self.assertAlmostEqual((widths[0] + widths[1]) / (widths[2] + widths[3]), 2.5, 2)
        self.assertEqual(len(list(root.iter(f"{name}polyline"))), 2, "two losses of one training")
        self.assertEqual(svg, torch_table.picture([("a", GPT)]))
        stock_alone = copy.deepcopy(GPT)
        for row in stock_alone["rows"]:
            del row["stock"]
        with self.assertRaises(ValueError):
            torch_table.picture([("a", stock_alone)])

    def test_the_timeline_of_a_trace(self):
        first = [kernel(i, 1, 1) for i in range(5)]
        last = [kernel(1000, 10, 1), kernel(1011, 5, 1), kernel(1016.5, 4, 2), kernel(1030, 6, None),
                kernel(1050, 7, 1)]
        operators = [operator(1, "aten::mm"), operator(2, "aten::_efficient_attention_forward", 20)]
        trace = {"traceEvents": [*last[::-1], *operators, {"ph": "M", "name": "process_name"}, *first]}
        self.assertEqual(timeline.timeline(timeline.kernels(trace, ("aten::mm",)), 2),
                         [(0, 0, 16), (1, 16.5, 4), (2, 30, 6), (0, 50, 7)])

    def test_each_kernel_counts_once(self):
        products = ("aten::mm", "aten::addmm")
        operators = [
            operator(1, "aten::matmul", 0, 50), operator(2, "aten::mm", 10, 20),  # the first operator of a profile
            {"cat": "overhead", "name": "Activity Buffer Request", "ts": 12, "dur": 4, "tid": 7,
             "args": {"External id": 2}},
            operator(3, "aten::addmm", 100, 50), operator(4, "warpladder::_addmm_or_pass", 110, 30),
            operator(5, "aten::sub", 120, 5),
            operator(6, "aten::relu", 150, 5),  # begins as addmm ends
            operator(7, "aten::relu", 110, 5, thread=8),  # of another thread, while addmm runs
            operator(8, "aten::_scaled_dot_product_attention_math", 200, 50), operator(9, "aten::mul", 210, 5),
            operator(10, "aten::mm", 220, 5)]
        work = [kernel(1000 + number, length, number) for number, length in
                ((2, 60), (3, 1), (4, 20), (5, 2), (6, 7), (7, 8), (8, 30), (9, 3), (10, 4))]
        work += [kernel(2000, 5, None), dict(kernel(2010, 6, 2), cat="gpu_memcpy", name="copy")]
        trace = {"traceEvents": [*operators[::-1], *work]}
        products_s, other_s, longest = timeline.busy(timeline.kernels(trace, products), 2)
        self.assertAlmostEqual(products_s, (60 + 1 + 20 + 2 + 4 + 6) * 0.5e-6, 12)
        self.assertAlmostEqual(other_s, (7 + 8 + 30 + 3 + 5) * 0.5e-6, 12)
        self.assertEqual([name for name, _ in longest], ["k", "copy"])
        self.assertAlmostEqual(sum(seconds for _, seconds in longest), products_s + other_s, 12)

    def test_shares_that_cannot_be(self):
        fits = dict(run(0.01, 0.006, 0.003), kernels=[{"name": "k", "s": 0.009}])
        self.assertIsNone(timeline.why_wrong(fits))
        for wrong in ({"products_s": 0.012, "other_s": -0.003}, {"products_s": float("nan")},
                      {"kernels": [{"name": "k", "s": 0.0091}]}):
            self.assertRegex(timeline.why_wrong(fits | wrong), "^products take .* a kernel was counted twice")

    def test_the_picture_of_a_timeline(self):
        traced = copy.deepcopy(GPT)
        traced["rows"][0]["stock"]["timeline"] = [[0, 0, 60], [1, 60, 20], [0, 80, 20]]
        traced["rows"][0]["warpladder"]["timeline"] = [[0, 0, 20], [2, 25, 25]]
        root = ElementTree.fromstring(torch_table.picture([("a", traced)]))
        paths = [p.get("d") for p in root.iter("{http://www.w3.org/2000/svg}path")]
        self.assertEqual([d.count("M") for d in paths], [2, 1, 0, 1, 0, 1])
        width = float(paths[0].split("h")[1].split("v")[0])
        self.assertAlmostEqual(float(paths[3].split("h")[1].split("v")[0]), width / 3, delta=0.1)

    def test_the_blocks(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(generate_tables, "ROOT", Path(folder).resolve()):
            root = generate_tables.ROOT
            (root / "results" / "one").mkdir(parents=True)
            for name, data in (("gpt", GPT), ("operators", OPERATORS)):
                (root / "results" / "one" / f"{name}.json").write_text(json.dumps(data))
            document = root / "torch.md"
            block = "<!-- {} -->\n<!-- end -->\n"
            document.write_text("".join(block.format(text) for text in (
                "torch-programs: results/one/gpt.json to programs.svg",
                "torch-operators: results/one/operators.json",
                "torch-host: results/one/operators.json")))
            self.assertEqual(generate_tables.main(["none", str(document)]), 0)
            text = document.read_text()
            self.assertIn("| GPT train 4x1024 | 80.00 | 75 % |", text)
            self.assertIn("](programs.svg)", text)
            self.assertIn("| torch.mm | 24.0 |", text)
            self.assertIn("[gpt.json](results/one/gpt.json), `gpt.py --compare`", text)
            self.assertTrue((root / "programs.svg").read_text().startswith("<svg"))
            self.assertEqual(generate_tables.main(["none", "--check", str(document)]), 0)
            (root / "programs.svg").write_text("stale")
            self.assertEqual(generate_tables.main(["none", "--check", str(document)]), 1)


if __name__ == "__main__":
    unittest.main()
