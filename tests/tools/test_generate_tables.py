"""Tests of tools/generate_tables.py and tools/draw_climb.py: tiny reports, cells computed by hand."""

import contextlib
import copy
import io
import json
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import bench_reports  # noqa: E402
import draw_climb  # noqa: E402
import generate_tables  # noqa: E402
import profile_table  # noqa: E402

FOLDER = "results/current/nvidia-h200"
FILE = f"{FOLDER}/bench.json"
MORE = f"{FOLDER}/more.json"
SVG = "{http://www.w3.org/2000/svg}"
TIMES = f"<!-- times: {FILE} sgemm at 1000x1000x1000 -->\n<!-- end -->\n"
CLIMB = f"<!-- climb: {FILE} sgemm/row_ at 1000x1000x1000 to climb.svg -->\n<!-- end -->\n"


def statistics(median, spread):
    quarter = median * spread / 2
    return {"median": median, "q1": median - quarter, "q3": median + quarter, "low": None, "high": None}


def row(rung, median, spread=0.004, size=1000, rival=False, cold=None, **more):
    fields = {"op": "sgemm", "rung": rung, "rival": rival, "shape": [size] * 3, "skipped": "",
              "failure": "", "invalid": "", "verified": True, "flops": 2.0 * size**3,
              "samples_s": [median], "statistics_s": statistics(median, spread), "sm_clock_mhz": None}
    if cold:
        fields["cold_statistics_s"] = statistics(cold, spread)
    return {**fields, **more}


def untimed(rung, size=1000, **why):
    fields = row(rung, 1, size=size, **why)
    del fields["statistics_s"]
    return fields


def report(*rows):
    return {"schema_version": 1, "verb": "bench", "target": "gpu", "date": "2026-11-21T10:11:12Z",
            "argv": ["/ada/bin/warpladder", "bench", "sgemm", "-a", "m,n,k=[1000]", "--json", "/o/b.json"],
            "device": {"gpu": {"GPU": "NVIDIA H200"}, "cpu": {}}, "libraries": {"cuBLAS": "13.1.0"},
            "ceilings": {"fp32_flops_per_s": 2e13, "memory_bytes_per_s": None},
            # A thousand million flops a second.
            "baselines": [{"op": "sgemm", "rung": "row_00_serial", "shape": [100] * 3, "flops": 2e6,
                           "samples_s": [0.002] * 3 + [0.002001], "median_s": 0.002}],
            "rows": list(rows)}


# 2·10⁹ flops: 1 ms is 2 TFLOP/s. cuBLAS makes 10, the ceiling is 20.
USUAL = report(
    untimed("row_00_serial", skipped="runs on the CPU"),
    row("row_01_naive", 1e-3, 0.004, cold=1.25e-3),
    row("row_02_tile", 0.4e-3, 0.04),
    row("col_01_naive", 0.8e-3, 0.00002),
    row("cublas", 0.2e-3, 0.004, rival=True))


class Documents(unittest.TestCase):
    """A repository of one document and a few reports."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / FOLDER).mkdir(parents=True)
        (self.root / "docs").mkdir()
        self.document, self.picture = self.root / "docs/PAGE.md", self.root / "docs/climb.svg"
        self.give(USUAL)

    def give(self, data, file=FILE):
        text = data if isinstance(data, str) else json.dumps(data)
        (self.root / file).write_text(text, encoding="utf-8")

    def run_tool(self, text=None, *flags):
        """(exit code, what it said)"""
        if text is not None:
            self.document.write_text(text, encoding="utf-8")
        said = io.StringIO()
        with mock.patch.object(generate_tables, "ROOT", self.root), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return generate_tables.main(["program", *flags]), said.getvalue()

    def generated(self, text):
        self.assertEqual(self.run_tool(text)[0], 0)
        return self.document.read_text(encoding="utf-8")

    def refuses(self, sentence, text=TIMES):
        """Exit code 1, one line that names the reason, and nothing written."""
        for flags in ((), ("--check",)):
            code, said = self.run_tool(text, *flags)
            self.assertEqual((code, said.count("\n")), (1, 1), said)
            self.assertIn(sentence, said)
            self.assertIn("docs/PAGE.md: ", said)
            self.assertEqual(self.document.read_text(encoding="utf-8"), text)
            self.assertFalse(self.picture.exists())


class TimesTable(Documents):
    def test_cells_by_hand(self):
        """A spread of 0.4 % lets three digits stand, 4 % two, 0.002 % four, and shares three."""
        self.assertIn("""-->
| rung | time | TFLOP/s | of cublas | of the FP32 ceiling | × serial CPU | cold |
| :-- | --: | --: | --: | --: | --: | --: |
| `row_00_serial` | skipped | – | – | – | – | – |
| `row_01_naive` | 1.00 ms | 2.00 | 20.0 % | 10.0 % | 2,000× | 1.25 ms |
| `row_02_tile` | 400 µs | 5.0 | 50 % | 25 % | 5,000× | – |
| `col_01_naive` | 800.0 µs | 2.500 | 25.0 % | 12.5 % | 2,500× | – |
| `cublas` (rival) | 200 µs | 10.0 | 100 % | 50.0 % | 10,000× | – |

- `row_00_serial`: skipped: runs on the CPU

""", self.generated(TIMES))

    def test_the_lines_below(self):
        text = self.generated(TIMES)
        self.assertIn("\nSerial CPU measured at 100³, scaled by flops.\n", text)
        self.assertIn("\nNVIDIA H200, cuBLAS 13.1.0, 2026-11-21, recording: [bench.json]"
                      "(../results/current/nvidia-h200/bench.json), `warpladder bench sgemm -a 'm,n,k=[1000]' "
                      "--json b.json`.\n<!-- end -->", text)

    def test_a_wrong_or_impossible_row_gives_no_number(self):
        self.give(report(untimed("row_01_naive", failure="C[0] is | <b>\nNaN"),
                         row("row_02_tile", 1e-3, invalid="above the ceiling")))
        text = self.generated(TIMES)
        self.assertIn("| `row_01_naive` | failed | – | – |", text)
        self.assertIn("| `row_02_tile` | invalid | – | – |", text)
        self.assertIn("- `row_01_naive`: failed: C\\[0\\] is \\| &lt;b&gt; NaN\n", text)
        self.assertIn("- `row_02_tile`: invalid: above the ceiling\n", text)

    def test_without_rival_baseline_and_ceiling_their_cells_are_empty(self):
        data = report(row("row_01_naive", 1e-3))
        data["baselines"], data["libraries"] = [], {}
        del data["ceilings"]
        self.give(data)
        text = self.generated(TIMES)
        self.assertIn("| `row_01_naive` | 1.00 ms | 2.00 | – | – | – | – |", text)
        self.assertNotIn("Serial CPU", text)

    def test_a_share_is_of_the_rival_in_the_same_run(self):
        self.give(report(row("row_01_naive", 9e-3), row("row_03_more", 0.5e-3),
                         row("cublas", 0.25e-3, rival=True)), MORE)
        text = self.generated(TIMES.replace(FILE, f"{FILE},{MORE}"))
        names = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
        self.assertEqual(names, ["row_00_serial", "row_01_naive", "row_02_tile", "col_01_naive",
                                 "row_03_more", "cublas"])
        self.assertIn("| `row_01_naive` | 1.00 ms |", text)  # of the first file
        self.assertIn("| `row_03_more` | 500 µs | 4.00 | 50.0 % | 20.0 % |", text)  # 4 of 8, not of 10
        self.assertEqual(text.count("recording:"), 2)

    def test_by_size(self):
        self.give(report(untimed("row_00_serial", skipped="no"), row("row_01_naive", 1e-3),
                         row("cublas", 0.2e-3, rival=True), untimed("row_00_serial", 100, skipped="no"),
                         row("row_01_naive", 1e-6, size=100),
                         untimed("row_02_wide", size=100, skipped="needs m % 128 = 0"),
                         row("row_02_wide", 1e-6, shape=[100, 10, 1000], flops=2e6)))
        self.assertIn("""-->
| TFLOP/s | 100×10×1000 | 100³ | 1000³ |
| :-- | --: | --: | --: |
| `row_00_serial` | – | skipped | skipped |
| `row_01_naive` | – | 2.00 | 2.00 |
| `row_02_wide` | 2.00 | skipped | – |
| `cublas` (rival) | – | – | 10.0 |

- `row_00_serial` at 100³, 1000³: skipped: no
- `row_02_wide` at 100³: skipped: needs m % 128 = 0

NVIDIA H200""", self.generated(f"<!-- times-by-size: {FILE} sgemm -->\n<!-- end -->\n"))

    def test_samples_without_a_spread_support_two_digits(self):
        self.give(report(row("row_01_naive", 1.234e-3, 0)))
        self.assertIn("| `row_01_naive` | 1.2 ms | 1.6 |", self.generated(TIMES))

    def test_a_round_up_gains_no_digit(self):
        self.assertEqual(bench_reports.rounded(9.996, 3), "10.0")
        self.assertEqual(bench_reports.rounded(123456, 2), "120,000")
        self.assertEqual(bench_reports.rounded(0.001234, 2), "0.0012")


ORDERS, BANKS = f"{FOLDER}/register_order.json", f"{FOLDER}/register_banks.json"
ORDER = f"<!-- register-order: {ORDERS} {BANKS} -->\n<!-- end -->\n"


def order_row(kernel, order, median):
    """Quartiles 0.4 % apart: three digits."""
    return {"kernel": kernel, "order": order, "flops": 1e9, "median_s": median,
            "samples_s": [median * (1 + at / 1000) for at in (-4, -2, 0, 2, 4)]}


def order_report(*rows):
    return {"schema_version": 1, "program": "register_order", "date": "2026-11-21T10:11:12Z",
            "argv": ["/ada/bin/register_order", "--json", "/o/r.json"],
            "device": {"gpu": {"GPU": "NVIDIA H200"}}, "ceilings": {"fp32_flops_per_s": 2e13},
            "orders": ["rows", "rows_snake"], "rows": list(rows)}


def bank_kernel(kernel, number, waiting, cycles):
    """100 FFMAs and 25 other instructions."""
    return {"symbol": f"_ZN1a12_GLOBAL__N_1{len(kernel)}{kernel}ILNS0_5OrderE{number}EEEvNS0_1GE",
            "ffmas": 100, "other_instructions": 25, "ffma_cycles": cycles, "waiting_cycles": waiting,
            "cycles_per_ffma": cycles / 100, "efficiency": 100 / (cycles + 25)}


class RegisterOrderTable(Documents):
    ROWS = [order_row("multiply", "rows", 1e-4), order_row("multiply", "rows_snake", 8e-5),
            order_row("issue_only", "rows", 6.25e-5)]
    KERNELS = [bank_kernel("issue_only", 0, 100, 90), bank_kernel("multiply", 1, 135, 110),
               bank_kernel("multiply", 0, 175, 125), {"symbol": "_Z4spinx", "ffmas": 0}]

    def give_both(self, rows=None, kernels=None):
        self.give(order_report(*(self.ROWS if rows is None else rows)), ORDERS)
        self.give({"kernels": self.KERNELS if kernels is None else kernels}, BANKS)

    def test_cells_by_hand(self):
        """10⁹ flops in 100 µs are 10 TFLOP/s, half of the peak of 20; 100 / (175 + 25) is a half."""
        self.give_both()
        self.assertIn("""-->
| kernel | order | model: cycles per FFMA | model: of peak | if each waited: of peak | \
measured: of peak | TFLOP/s |
| :-- | :-- | --: | --: | --: | --: | --: |
| `multiply` | `rows` | 1.250 | 66.7 % | 50.0 % | 50.0 % | 10.0 |
| `multiply` | `rows_snake` | 1.100 | 74.1 % | 62.5 % | 62.5 % | 12.5 |
| `issue_only` | `rows` | 0.900 | 87.0 % | 80.0 % | 80.0 % | 16.0 |

Medians; the peak is 20.0 TFLOP/s. The model is that of `tools/register_banks.py`.
NVIDIA H200, 2026-11-21, recording: [register_order.json](../results/current/nvidia-h200/register_order.json), \
`register_order --json r.json`.
<!-- end -->""", self.generated(ORDER))

    def test_a_changed_measurement_makes_it_stale(self):
        self.give_both()
        self.generated(ORDER)
        self.assertEqual(self.run_tool(None, "--check"), (0, ""))
        self.give_both(rows=[order_row("multiply", "rows", 2e-4), *self.ROWS[1:]])
        self.assertEqual(self.run_tool(None, "--check")[0], 1)

    def test_a_row_without_its_partner(self):
        self.give_both(kernels=self.KERNELS[1:])
        self.refuses(f"{BANKS}: no row of issue_only with the order rows,", ORDER)
        self.give_both(rows=self.ROWS[:2])
        self.refuses(f"{ORDERS}: no row of issue_only with the order rows,", ORDER)

    def test_files_that_cannot_be_used(self):
        for rows, kernels, sentence in (([], None, "no rows"),
                                        ([order_row("multiply", "rows", -1.0)], None, "cannot be"),
                                        (None, [{}], "KeyError('symbol')"),
                                        (None, [bank_kernel("multiply", 7, 1, 1)], "IndexError")):
            self.give_both(rows, kernels)
            self.refuses(sentence, ORDER)
        self.refuses("not a report of register_order", ORDER.replace(ORDERS, FILE))
        self.refuses("no such file", ORDER.replace(BANKS, MORE))
        self.refuses("is not register_order.json register_banks.json", ORDER.replace(BANKS, ""))


class SharesTable(Documents):
    BLOCK = f"<!-- shares: {FILE} transpose of memcpy -->\n<!-- end -->\n"

    def rows(self, *wanted):
        return [{**row(rung, 1e-4, rival=rival, cold=cold), "op": "transpose", "shape": shape,
                 "flops": 0.0} for rung, cold, shape, rival in wanted]

    def test_cells_by_hand(self):
        """100 µs of the copy are half of the naive rung's 200 µs."""
        self.give(report(*self.rows(("01_naive", 2e-4, [64, 32], False),
                                    ("memcpy", 1e-4, [64, 32], True),
                                    ("memcpy", 3e-4, [128, 128], True))))
        lines = self.generated(self.BLOCK).splitlines()
        self.assertEqual(lines[1:5], ["| % of memcpy | 64×32 | 128×128 |", "| :-- | --: | --: |",
                                      "| `01_naive` | 50.0 % | – |",
                                      "| `memcpy` (rival) | 100 % | 100 % |"])

    def test_why_a_row_was_not_timed(self):
        self.give(report(*self.rows(*self.SEVERAL), {**untimed("03_thin", skipped="too wide"),
                                                     "op": "transpose", "shape": [4, 4]}))
        text = self.generated(self.BLOCK)
        self.assertIn("| `03_thin` | – | skipped | – |", text)
        self.assertIn("- `03_thin` at 4×4: skipped: too wide\n", text)

    def test_what_was_not_timed_beside_it(self):
        self.give(report(*self.rows(("01_naive", 2e-4, [64, 32], False))))
        self.refuses("memcpy was not timed at 64×32", self.BLOCK)
        self.refuses("is not FILES OP of RIVAL", self.BLOCK.replace(" of memcpy", ""))

    SEVERAL = (("01_naive", 4e-4, [2, 2], False), ("02_tile", 2e-4, [2, 2], False),
               ("memcpy", 1e-4, [2, 2], True), ("01_naive", 1e-4, [4, 4], False),
               ("02_tile", 5e-4, [4, 4], False), ("memcpy", 2e-4, [4, 4], True),
               ("02_tile", 5e-5, [8, 8], False), ("memcpy", 1e-4, [8, 8], True))

    def test_the_geometric_mean_is_of_the_fastest_rungs_and_of_no_rival(self):
        """Of a half, 2 and 2: the cube root of 2. The copy itself would make it less."""
        self.give(report(*self.rows(*self.SEVERAL)))
        text = self.generated(self.BLOCK.replace("memcpy", "memcpy, geomean"))
        self.assertIn("\nGeometric mean of the fastest rung at each, 3 shares: 126 %; "
                      "the least: 50.0 %, at 2×2.\n", text)

    def test_the_geometric_mean_of_some_sizes(self):
        """Of 2/5 and 2: 89.4 %. A size on either bound counts."""
        self.give(report(*self.rows(*(r for r in self.SEVERAL if r[0] != "01_naive"))))
        text = self.generated(self.BLOCK.replace("memcpy", "memcpy, geomean 16..64"))
        self.assertIn("\nGeometric mean of `02_tile`, 2 shares, 4×4 to 8×8: 89.4 %; "
                      "the least: 40.0 %, at 4×4.\n", text)
        self.refuses("no shares of which", self.BLOCK.replace("memcpy", "memcpy, geomean 65..99"))

    def test_launches_in_a_graph(self):
        """10 µs of the copy's are a quarter of 40; a shape without such samples has no place."""
        rows = self.rows(*self.SEVERAL[:6])
        for fields, median in zip(rows, (4e-5, 2e-5, 1e-5)):
            fields["graph_statistics_s"] = statistics(median, 0.004)
        self.give(report(*rows))
        text = self.generated(self.BLOCK.replace("memcpy", "memcpy, in a graph"))
        self.assertIn("| % of memcpy | 2×2 |\n| :-- | --: |\n| `01_naive` | 25.0 % |\n", text)
        self.assertIn("in a captured graph", text)
        text = self.generated(self.BLOCK.replace("shares", "medians").replace(" of memcpy", ""))
        self.assertIn("| time | 2×2 | 4×4 |\n| :-- | --: | --: |\n| `01_naive` | 400 µs | 100 µs |\n", text)
        text = self.generated(f"<!-- medians: {FILE} transpose, in a graph -->\n<!-- end -->\n")
        self.assertIn("| `02_tile` | 20.0 µs |\n", text)

    def test_samples_that_nobody_took(self):
        self.give(report(*self.rows(*self.SEVERAL[:3])))
        graph = self.BLOCK.replace("memcpy", "memcpy, in a graph")
        self.refuses("none of these rows has such samples", graph)
        self.refuses("none of these rows has such samples",
                     graph.replace("shares", "medians").replace(" of memcpy", ""))

    def test_a_column_a_variant(self):
        """8/4, 4/4 and 1/2: their geometric mean is 1."""
        wanted = (("01_a", 4e-4, [2, 2], False, "n"), ("02_b", 1e-4, [2, 2], False, "n"),
                  ("blas", 8e-4, [2, 2], True, "n"), ("01_a", 4e-4, [2, 2], False, "t"),
                  ("blas", 4e-4, [2, 2], True, "t"), ("01_a", 2e-4, [4, 2], False, "t"),
                  ("blas", 1e-4, [4, 2], True, "t"))
        rows = [{**fields, "variant": variant}
                for *one, variant in wanted for fields in self.rows(one)]
        self.give(report(*rows))
        block = f"<!-- shares-by-variant: {FILE} transpose/01_a of blas, geomean -->\n<!-- end -->\n"
        text = self.generated(block)
        self.assertIn("| `01_a`, % of blas | `n` | `t` |\n| :-- | --: | --: |\n"
                      "| 2×2 | 200 % | 100 % |\n| 4×2 | – | 50.0 % |\n", text)
        self.assertIn("\nGeometric mean of `01_a`, 3 shares: 100 %; the least: 50.0 %, `t` at 4×2.\n", text)
        self.refuses("no rows of transpose/03_c", block.replace("01_a", "03_c"))
        self.refuses("is not FILES OP/RUNG of RIVAL", block.replace("/01_a", ""))


class ProfileTable(Documents):
    CSV, LAUNCHES = f"{FOLDER}/ncu.csv", f"{FOLDER}/ncu_launches.json"
    BLOCK = f"<!-- profile: {CSV} {LAUNCHES} -->\n<!-- end -->\n"

    def give_both(self, launches=2, drop=""):
        columns = [("ID", "")] + [(metric, "%" if "pct" in metric else "register/thread")
                                  for _, metric, _ in profile_table.COLUMNS if metric != drop]
        lines = ["==PROF== Connected to process 1"]
        lines += [",".join(f'"{cell}"' for cell in cells) for cells in zip(*columns)]
        lines += [",".join(f'"{launch},{i}00.25"' for i in range(len(columns)))
                  for launch in range(1, launches + 1)]
        self.give("\n".join(lines) + "\n", self.CSV)
        rows = [("row_00_serial", "a host function"), ("row_01_naive", ""), ("row_02_tile", "")]
        self.give({"rows": [{"rung": rung, "skipped": why} for rung, why in rows]}, self.LAUNCHES)

    def test_cells_by_hand(self):
        """The second launch's third metric is "2,300.25": a comma between thousands."""
        self.give_both()
        lines = self.generated(self.BLOCK).splitlines()
        self.assertEqual(lines[3], "| `row_01_naive` | 1100.2 % | 1200.2 % | 1300.2 % | 1400 % "
                                   "| 1500 | 1600.2 % | 1700.2 % |")
        self.assertIn("| `row_02_tile` | 2100.2 % | 2200.2 % | 2300.2 % |", lines[4])
        self.assertEqual(lines[6], "Recording: [ncu.csv](../results/current/nvidia-h200/ncu.csv).")

    def test_files_that_cannot_be_used(self):
        self.give_both(launches=3)
        self.refuses("ncu.csv holds 3 launches, but ncu_launches.json tells of 2 rungs", self.BLOCK)
        self.give_both(drop="lts__t_sector_hit_rate.pct")
        self.refuses("ncu.csv lacks the metric lts__t_sector_hit_rate.pct", self.BLOCK)
        self.give("==ERROR== no counters\n", self.CSV)
        self.refuses("ncu.csv holds no profile", self.BLOCK)
        self.refuses("no such file", self.BLOCK.replace("ncu.csv", "none.csv"))
        self.refuses("is not COUNTERS.csv LAUNCHES.json", self.BLOCK.replace(self.CSV, ""))


class AccuracyPicture(Documents):
    BLOCK = f"<!-- accuracy: {MORE} sgemm/row_01 sgemm/row_02 on uniform,one_huge to errors.svg -->\n<!-- end -->\n"

    def draw(self, command, **_):
        """The program is played by what it was asked."""
        self.asked = command[1:-1]
        self.read = json.loads(Path(self.asked[4]).read_text())
        Path(command[-1]).write_text("<svg/>")
        return mock.Mock(returncode=0)

    def test_the_program_draws_it(self):
        report = {"device": {"gpu": {"GPU": "NVIDIA H200"}}, "date": "2026-11-22T13:50:28Z"}
        self.give(report, MORE)
        with mock.patch.object(generate_tables.subprocess, "run", self.draw):
            text = self.generated(self.BLOCK)
        recorded = self.asked.pop(4)  # a file of its own, for a recording may be compressed
        self.assertEqual((Path(recorded).name, self.read), ("recorded.json", report))
        self.assertEqual(self.asked, ["accuracy", "sgemm/row_01", "sgemm/row_02", "--recorded",
                                      "--distribution", "uniform,one_huge", "--svg"])
        self.assertEqual((self.root / "docs/errors.svg").read_text(), "<svg/>")
        self.assertIn("![Error against k, on uniform, one huge](errors.svg)\n\nNVIDIA H200, 2026-11-22, recording: "
                      "[more.json](../results/current/nvidia-h200/more.json)", text)

    def test_what_the_program_refuses(self):
        self.give({"device": {}}, MORE)
        refusal = mock.Mock(returncode=2, stderr="warpladder: no report of accuracy\n")
        with mock.patch.object(generate_tables.subprocess, "run", return_value=refusal):
            self.refuses("no report of accuracy", self.BLOCK)
        self.refuses("is not RECORDING.json OP/RUNG", self.BLOCK.replace(" on ", " at "))


class Staleness(Documents):
    def test_fresh_blocks_pass_and_a_second_run_writes_nothing(self):
        self.generated(TIMES + CLIMB)
        self.assertEqual(self.run_tool(None, "--check"), (0, ""))
        self.assertEqual(self.run_tool(), (0, ""))

    def test_a_planted_number_is_caught_and_not_repaired(self):
        text = self.generated(TIMES + CLIMB)
        for old, new in (("| 2.00 |", "| 2.01 |"), ("5.0 with row", "6.0 with row")):
            self.assertIn(old, text)
            code, said = self.run_tool(text.replace(old, new), "--check")
            self.assertEqual((code, "docs/PAGE.md" in said), (1, True))
            self.assertIn(new, self.document.read_text(encoding="utf-8"))

    def test_a_planted_bar_is_caught_and_so_is_a_missing_picture(self):
        self.generated(CLIMB)
        good = self.picture.read_bytes()
        for bad in (good.replace(b">5.0<", b">6.0<"), None):
            self.assertNotEqual(bad, good)
            self.picture.write_bytes(bad) if bad else self.picture.unlink()
            code, said = self.run_tool(None, "--check")
            self.assertEqual((code, said.split(":")[0]), (1, "docs/climb.svg"))
            self.assertEqual(self.picture.read_bytes() if bad else None, bad)
        self.assertEqual(self.run_tool()[0], 0)
        self.assertEqual(self.picture.read_bytes(), good)

    def test_new_data_makes_both_stale(self):
        self.generated(TIMES + CLIMB)
        self.give(report(row("row_01_naive", 0.9e-3)))
        code, said = self.run_tool(None, "--check")
        self.assertEqual((code, said.count("stale")), (1, 2))


class Refusals(Documents):
    def test_files_that_cannot_be_used(self):
        self.refuses("results/none.json: no such file", TIMES.replace(FILE, "results/none.json"))
        self.refuses("below results/", TIMES.replace(FILE, "docs/bench.json"))
        self.refuses("below results/", TIMES.replace(FILE, "results/../bench.json"))
        for data, sentence in (("{", "not JSON"), ("[]", "not a report"),
                               ({**USUAL, "schema_version": 2}, "schema_version 1"),
                               ({**USUAL, "target": "cpu"}, "its target is cpu"),
                               ({**USUAL, "device": {}}, "KeyError('gpu')"),
                               (report(row("row_01_naive", 0.0)), "cannot be"),
                               (report(row("row_01_naive", float("nan"))), "cannot be")):
            self.give(data)
            self.refuses(sentence)

    def test_what_the_report_does_not_hold(self):
        self.refuses("no rows of sgemm at 7x7x7; there are 1000x1000x1000",
                     TIMES.replace("1000x1000x1000", "7x7x7"))
        self.refuses("no rows of sgemv", TIMES.replace("sgemm", "sgemv"))
        self.refuses("no rung of sgemm/hopper_ was timed", CLIMB.replace("row_", "hopper_"))

    def test_a_good_block_before_a_bad_one_is_not_written(self):
        self.refuses("no rows", TIMES + CLIMB + TIMES.replace("1000x1000x1000", "7x7x7"))

    def test_blocks_that_say_nothing_sensible(self):
        self.refuses("is not FILES OP at MxNxK", TIMES.replace(" at ", " of "))
        self.refuses("PICTURE.svg", CLIMB.replace("climb.svg", "climb.png"))
        self.refuses("no folder of the repository", CLIMB.replace("climb.svg", "../../climb.svg"))
        self.refuses("lacks its <!-- end -->", TIMES.replace("<!-- end -->\n", "") + CLIMB)

    def test_two_gpus_in_one_table(self):
        other = copy.deepcopy(USUAL)
        other["device"]["gpu"]["GPU"] = "NVIDIA A100"
        other["rows"].append(row("row_09_new", 1e-3))
        self.give(other, MORE)
        self.refuses("different GPUs", TIMES.replace(FILE, f"{FILE},{MORE}"))

    def test_two_climbs_in_one_picture(self):
        self.refuses("climb.svg is another picture too", CLIMB + CLIMB.replace("row_", "col_"))


class Picture(Documents):
    def drawn(self):
        self.generated(CLIMB)
        return ElementTree.fromstring(self.picture.read_text(encoding="utf-8"))

    def test_the_document_shows_it(self):
        self.assertIn("""-->
![The climb of sgemm at 1000×1000×1000 on NVIDIA H200, from 2.00 TFLOP/s with row\\_01\\_naive to \
5.0 with row\\_02\\_tile; cuBLAS reaches 10.0](climb.svg)

NVIDIA H200, sgemm at 1000×1000×1000, recording: [bench.json](../results/current/nvidia-h200/bench.json). \
Not drawn: `row_00_serial` (skipped: runs on the CPU).
<!-- end -->""", self.generated(CLIMB))

    def test_bars_lines_and_whiskers_are_to_scale(self):
        tree = self.drawn()
        bars = [e for e in tree.iter(SVG + "rect") if e.get("class") == "bar"]
        self.assertEqual(len(bars), 2)  # row_ only, and what was timed
        one, two = (float(bar.get("width")) for bar in bars)
        self.assertAlmostEqual(two / one, 5 / 2, delta=0.001)
        left = float(bars[0].get("x"))
        lines = [float(e.get("x1")) - left for e in tree.iter(SVG + "line") if e.get("class") == "line"]
        self.assertAlmostEqual(lines[0] / one, 10 / 2, delta=0.001)
        self.assertAlmostEqual(lines[1] / one, 20 / 2, delta=0.001)
        whisker = [e for e in tree.iter(SVG + "line") if e.get("class") == "whisker"][1]
        self.assertAlmostEqual((float(whisker.get("x1")) - left) / two, 1 / 1.02, delta=0.001)
        self.assertAlmostEqual((float(whisker.get("x2")) - left) / two, 1 / 0.98, delta=0.001)

    def test_the_rungs_stand_in_the_order_of_the_ladder(self):
        self.give(report(row("row_10_c", 1e-3), row("row_02_b", 1e-3), row("cublas", 1e-3, rival=True)))
        texts = ["".join(e.itertext()) for e in self.drawn().iter(SVG + "text")]
        self.assertLess(texts.index("row_02_b"), texts.index("row_10_c"))

    def test_labels_and_what_is_read_aloud(self):
        tree = self.drawn()
        texts = {"".join(e.itertext()) for e in tree.iter(SVG + "text")}
        self.assertLessEqual({"row_02_tile", "5.050 %", "cuBLAS 10.0", "FP32 ceiling 20.0"}, texts)
        self.assertEqual(tree.find(SVG + "title").text, "sgemm at 1000×1000×1000")
        self.assertIn("row_01_naive 2.00, 20.0 %; row_02_tile 5.0, 50 %.", tree.find(SVG + "desc").text)

    def test_nothing_comes_from_outside_and_text_is_escaped(self):
        data = copy.deepcopy(USUAL)
        data["device"]["gpu"]["GPU"] = 'A<script>&"\x07 B]]>'
        self.give(data)
        tree = self.drawn()
        self.assertIn('A<script>&"  B]]>', tree.find(SVG + "desc").text)
        text = self.picture.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"<script|href|url\(|@import|<style|<image", text), [])
        self.assertEqual(text.count("http"), 1)  # the name space

    def test_a_rung_may_be_left_out(self):
        text = self.generated(CLIMB.replace("sgemm/row_", "sgemm/row_ but row_02"))
        self.assertIn("with row\\_01\\_naive", text)
        self.assertNotIn("row\\_02", text)

    def test_the_same_climb_gives_the_same_bytes(self):
        self.drawn()
        first = self.picture.read_bytes()
        self.picture.unlink()
        self.drawn()
        self.assertEqual(self.picture.read_bytes(), first)
        numbers = re.findall(rb' (?:x|y|x1|x2|y1|y2)="([^"]*)"', first)
        self.assertTrue(numbers and all(re.fullmatch(rb"-?\d+\.\d\d", n) for n in numbers), numbers)

    def test_texts_neither_meet_nor_are_cut(self):
        line = draw_climb.Line
        for values in ([1.0], [0.002, 0.0021], [1, 50, 99.5, 101], [67.4] * 12):
            for lines in ([], [line(60, "cuBLAS 60.0")], [line(60, "cuBLAS 60.0"), line(60.1, "ceiling 60.1")],
                          [line(70, "cuBLAS 70.0"), line(66.9, "FP32 ceiling 66.9")],
                          [line(0.01, "a rival with a long name 0.01"), line(99, "FP32 ceiling 99.0")]):
                for name in ("r", "row_07_a_name_of_more_than_forty_characters"):
                    bars = [draw_climb.Bar(name, v, v * 0.9, v * 1.3, "1,234.5", "104 %") for v in values]
                    climb = draw_climb.Climb("T" * 60, "s" * 150, "", "TFLOP/s", bars, lines)
                    self.assert_apart(ElementTree.fromstring(draw_climb.svg(climb)))

    def assert_apart(self, tree):
        """With 0.63 of the size a character, as in wide fonts."""
        boxes = []
        for e in tree.iter(SVG + "text"):
            size, x, y = (float(e.get(name)) for name in ("font-size", "x", "y"))
            width = 0.63 * size * len("".join(e.itertext())) + sum(float(s.get("dx", 0)) for s in e)
            x -= {"start": 0, "middle": width / 2, "end": width}[e.get("text-anchor")]
            boxes.append((x, y - 0.8 * size, x + width, y + 0.2 * size, "".join(e.itertext())))
        for n, (x1, y1, x2, y2, text) in enumerate(boxes):
            self.assertTrue(0 <= x1 and x2 <= float(tree.get("width")), f"{text} is cut")
            self.assertTrue(0 <= y1 and y2 <= float(tree.get("height")), f"{text} is cut")
            for u1, v1, u2, v2, other in boxes[:n]:
                self.assertTrue(x2 <= u1 or u2 <= x1 or y2 <= v1 or v2 <= y1, f"{text} meets {other}")


if __name__ == "__main__":
    unittest.main()
