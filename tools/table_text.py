"""The Markdown of generated tables: how blocks ask for them, and how their cells are written."""

import html
import re

from bench_reports import Fault, rounded

REPORT = r"\S+\.json(?:\.xz)?"


def asked(pattern, argument, form):
    match = re.fullmatch(pattern, argument)
    if not match:
        raise Fault(f"'{argument}' is not {form}")
    return match.groups()


def time_text(times):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if times.median >= unit:
            return f"{rounded(times.median / unit, times.digits)} {name}"
    return f"{rounded(times.median * 1e9, times.digits)} ns"


def shape_label(shape):
    if len(shape) == 1 and shape[0] >= 1024 and shape[0].bit_count() == 1:
        return f"2^{shape[0].bit_length() - 1}"
    cube = len(shape) == 3 and len(set(shape)) == 1
    return f"{shape[0]}³" if cube else "×".join(map(str, shape))


def plain(text):
    """Free text that Markdown shall not read."""
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def table(header, rows, names=1):
    """The first `names` columns are names, the others numbers."""
    lines = ["| " + " | ".join(header) + " |",
             "|" + " :-- |" * names + " --: |" * (len(header) - names)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def body(rows_text, remarks, lines):
    notes = "".join(f"- {remark}\n" for remark in remarks)
    return rows_text + "\n" + (notes + "\n" if notes else "") + "\n".join(lines) + "\n"
