#!/usr/bin/env python3
"""What each instruction of a profiled kernel counted, a line of JSON for each launch. Needs Nsight Compute's own
Python module, and nothing else of the project.

Usage: extract_instructions.py REPORT.ncu-rep OUT.jsonl.gz
"""

import collections
import glob
import gzip
import importlib
import json
import sys

SOURCE_METRICS = ("inst_executed", "thread_inst_executed_true", "memory_l1_wavefronts_shared",
                  "memory_l1_wavefronts_shared_ideal", "memory_l2_theoretical_sectors_global")


def nsight_module():
    for pattern in ("/opt/nvidia/nsight-compute/*/extras/python", "/usr/local/cuda*/nsight-compute*/extras/python"):
        sys.path += glob.glob(pattern)
    try:
        return importlib.import_module("ncu_report")
    except ImportError:
        sys.exit("ncu_report is not to be found: Nsight Compute brings it, in extras/python")


def instruction_counts(action):
    """What each instruction of a launch counted, in the order of the code."""
    code = collections.defaultdict(dict)
    for name in set(SOURCE_METRICS) & set(action.metric_names()):
        metric = action.metric_by_name(name)
        places = metric.correlation_ids()
        for i in range(metric.num_instances()):
            code[places.as_uint64(i)][name] = metric.as_uint64(i)
    begin = min(code, default=0)
    for place in sorted(code):
        row = {"at": place - begin, **{name: n for name, n in code[place].items() if n}}
        row["sass"] = action.sass_by_pc(place)
        source = action.source_info(place)
        if source is not None:
            row["file"], row["line"] = source.file_name(), source.line()
        yield row


def main(report_file, out_file):
    ncu_report = nsight_module()
    report = ncu_report.load_report(report_file)
    with gzip.open(out_file, "wt", encoding="utf-8") as out:
        for r in range(report.num_ranges()):
            actions = report.range_by_idx(r)
            for i in range(actions.num_actions()):
                action = actions.action_by_idx(i)
                launch = {"name": action.name(ncu_report.IAction.NameBase_MANGLED),
                          "code": list(instruction_counts(action))}
                out.write(json.dumps(launch) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
    elif len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    else:
        main(*sys.argv[1:])
