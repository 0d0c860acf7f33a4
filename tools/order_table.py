"""What benchmarks/register_order measured, beside what tools/register_banks.py says of its kernels."""

import re

from bench_reports import Report, Row, command_text, percent, times_of_samples

# What a kernel of the benchmark is called in machine code, and its Order's number.
SYMBOL = re.compile(r"\d([a-z_]+)ILN\w*?5OrderE(\d+)EEE")
MISSHAPEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)


def orders_of(file, data):
    """The orders by number, {(kernel, order): Row}."""
    if not isinstance(data, dict) or data.get("program") != "register_order" \
            or data.get("schema_version") != 1:
        raise ValueError(f"{file}: not a report of register_order with schema_version 1")
    try:
        report = Report(file, data["device"]["gpu"]["GPU"], data["date"][:10],
                        command_text(data["argv"]), "", data["ceilings"]["fp32_flops_per_s"] / 1e12,
                        {}, {})
        rows = {(row["kernel"], row["order"]):
                Row(row["kernel"], row["order"], False, (), (), float(row["flops"]),
                    times_of_samples(row), None, report) for row in data["rows"]}
        if not report.ceiling > 0 or not rows:
            raise ValueError("no ceiling or no rows")
        return list(data["orders"]), rows
    except MISSHAPEN as error:
        raise ValueError(f"{file}: not as schema_version 1 has it: {error!r}") from None


def banks_of(file, data, orders):
    """Of each kernel and order: cycles per FFMA, share of peak, and that share if each FFMA waited for
    its own reads."""
    try:
        found = {}
        for kernel in data["kernels"]:
            match = SYMBOL.search(kernel["symbol"])
            if not match:
                continue
            ffmas, others = kernel["ffmas"], kernel["other_instructions"]
            waiting = ffmas / (kernel["waiting_cycles"] + others)
            found[match[1], orders[int(match[2])]] = (kernel["cycles_per_ffma"] * 1.0,
                                                      kernel["efficiency"] * 1.0, waiting)
        return found
    except MISSHAPEN as error:
        raise ValueError(f"{file}: not as tools/register_banks.py writes it: {error!r}") from None


def of(measured, modelled):
    """(header, cells, rows) of two (file, data). Throws ValueError with a sentence."""
    orders, rows = orders_of(*measured)
    model = banks_of(*modelled, orders)
    alone = [*((modelled[0], *key) for key in rows if key not in model),
             *((measured[0], *key) for key in model if key not in rows)]
    if alone:
        file, kernel, order = alone[0]
        raise ValueError(f"{file}: no row of {kernel} with the order {order}, which the other file has")
    cells = []
    for (kernel, order), row in rows.items():
        cycles, share, waiting = model[kernel, order]
        cells.append([f"`{kernel}`", f"`{order}`", f"{cycles:.3f}", f"{100 * share:.1f} %",
                      f"{100 * waiting:.1f} %", percent(row.teraflops / row.report.ceiling, row),
                      row.rate_text()])
    header = ["kernel", "order", "model: cycles per FFMA", "model: of peak",
              "if each waited: of peak", "measured: of peak", "TFLOP/s"]
    return header, cells, list(rows.values())
