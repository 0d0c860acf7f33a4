"""What `warpladder explain` says of rungs, each asked for once."""

import concurrent.futures
import json
import os
import subprocess

from bench_reports import Fault

KNOWN = {}  # by program, rung and what was asked for


def explanations(program, root, rungs, asked_for):
    """Of each rung, as JSON: two rungs a process, and a process for each processor."""
    def explain(pair):
        done = subprocess.run([program, "explain", *pair, *asked_for, "--json", "-"],
                              capture_output=True, text=True, cwd=root)
        if done.returncode:
            raise Fault(f"{' and '.join(pair)} at {', '.join(asked_for[1::2])}: {done.stderr.strip()}")
        return json.loads(done.stdout)["rungs"]

    missing = [rung for rung in rungs if (program, rung, *asked_for) not in KNOWN]
    pairs = [missing[i:i + 2] for i in range(0, len(missing), 2)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for pair, found in zip(pairs, pool.map(explain, pairs)):
            KNOWN.update({(program, rung, *asked_for): each for rung, each in zip(pair, found)})
    return [KNOWN[(program, rung, *asked_for)] for rung in rungs]
