"""The pictures of the lessons: what lies where, and who waits when. Each is computed from numbers,
where it is of a kernel from the constants in the kernel's file. A picture is (alternative text, SVG).
"""

import re

from draw_climb import BAR, FAINT, FONT, FRAME, INK, MONO, PAPER, clean, rectangle, stroke, text_at

PALE, WARM, COOL = "#eaeef2", "#d9822b", "#274b7a"
COLOURS = [BAR, "#e3b27a", "#9cc3a0", "#c79bc9", "#d98f8f", "#8fbcd9", "#cfc98a", "#b0b0b0"]
PAD, TITLE = 20, 34


def picture(width, height, title, told, parts):
    """The whole file; `told` is for readers who see no picture, without its full stop."""
    return told, "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description" '
        f'font-family="{FONT}">',
        f'<title id="title">{clean(title)}</title>', f'<desc id="description">{clean(told)}.</desc>',
        rectangle(0.5, 0.5, width - 1, height - 1, PAPER, f' rx="8" stroke="{FRAME}"'),
        text_at(PAD, TITLE, clean(title), 16, INK, "start", ' font-weight="600"'),
        *parts, "</svg>"]) + "\n"


def constants(source):
    """The whole numbers that a kernel's file names, by name."""
    found = {}
    for list_of in re.findall(r"\bint ((?:\w+ = [^;{}()]+?)(?:,\s+\w+ = [^;{}()]+?)*);", source):
        for name, value in re.findall(r"(\w+) = ([\w +*/-]+)", list_of):
            try:
                found[name] = value_of(value, found)
            except ValueError:
                continue
    return found


def value_of(expression, known):
    """Of a sum of products of known names and whole numbers."""
    plain = re.sub(r"\b(?:kConfig|c|C)(?:\.|::)", "", expression).strip()
    words = re.sub(r"[A-Za-z_]\w*", lambda name: str(known.get(name[0], "?")), plain)
    if not re.fullmatch(r"[\d +*/-]+", words):
        raise ValueError(f"cannot compute '{expression}' from the file's constants")
    return int(eval(words.replace("/", "//")))  # digits and operators alone


def shared_array(source, file):
    """(rows, words a row) of the first __shared__ array of floats."""
    match = re.search(r"__shared__ [^;]*?\bfloat \w+\[([^\]]+)\]\[([^\]]+)\]", source)
    if not match:
        raise ValueError(f"{file} has no __shared__ array of floats with two dimensions")
    known = constants(source)
    return value_of(match[1], known), value_of(match[2], known)


def coalescing(strides):
    cell, parts, said = 5.5, [], []
    for n, stride in enumerate(strides):
        touched = {lane * stride * 4 // 32 for lane in range(32)}
        y = TITLE + 26 + n * 62
        label = f"lanes {stride} word{'s' * (stride > 1)} apart: {len(touched)} sectors"
        said.append(label)
        parts.append(text_at(PAD, y + 12, clean(label), 12.5))
        parts += [rectangle(PAD + i * cell, y + 20, cell - 0.8, 18, WARM if i in touched else PALE)
                  for i in range(128)]
    width = round(2 * PAD + 128 * cell)
    return picture(width, TITLE + 36 + 62 * len(strides), "The sectors that a request of 32 floats touches",
                   "The sectors that one request touches: " + "; ".join(said), parts)


def banks(kernels):
    """Of [(file, source)]: where the words of the tile's first column lie."""
    cell, parts, said = 8, [], []
    for n, (file, source) in enumerate(kernels):
        rows, pitch = shared_array(source, file)
        words = [row * pitch for row in range(rows)]
        wavefronts = max([word % 32 for word in words].count(bank) for bank in range(32))
        left, top = PAD + n * (32 * cell + 110), TITLE + 52
        name = file.rpartition("/")[2].partition(".")[0]
        label = f"{name}: rows of {pitch} words, {wavefronts} wavefront{'s' * (wavefronts > 1)}"
        said.append(label)
        parts.append(text_at(left, top - 22, clean(label), 12.5))
        parts.append(text_at(left, top - 7, "bank 0", 10.5, FAINT))
        parts.append(text_at(left + 32 * cell, top - 7, "bank 31", 10.5, FAINT, "end"))
        for line in range(max(words) // 32 + 1):
            parts += [rectangle(left + bank * cell, top + line * cell, cell - 1, cell - 1,
                                WARM if line * 32 + bank in words else PALE) for bank in range(32)]
    width = 2 * PAD + len(kernels) * (32 * cell + 110) - 40
    return picture(width, TITLE + 76 + 33 * cell, "The first column of the tile, in shared memory",
                   "Where the words of a column of the tile lie: " + "; ".join(said), parts)


LOAD, COMPUTE, TILES = 8, 2, 8  # time units of the pipeline's picture


def pipeline(stages):
    """When each of TILES tiles is loaded and computed on, with so many stages: [(load, compute)]."""
    times, computed, loaded = [], [0] * TILES, -1
    for i in range(TILES):
        begin = max(loaded, computed[i - stages] if i >= stages else 0, 0)
        loaded = begin + 1  # the next load may be asked for one unit later
        start = max(begin + LOAD, computed[i - 1] if i else 0)
        computed[i] = start + COMPUTE
        times.append((begin, start))
    return times


def timeline(numbers):
    unit, parts, said, y = 9, [], [], TITLE + 20
    longest = max(pipeline(s)[-1][1] + COMPUTE for s in numbers)
    for stages in numbers:
        times = pipeline(stages)
        end = times[-1][1] + COMPUTE
        busy = round(100 * TILES * COMPUTE / end)
        label = f"{stages} stage{'s' * (stages > 1)}: {end} units for {TILES} tiles"
        said.append(f"{label}, the multipliers busy for {busy} %")
        parts.append(text_at(PAD, y + 12, clean(said[-1]), 12.5))
        for i, (load, compute) in enumerate(times):
            lane = y + 20 + i % stages * 15
            parts.append(rectangle(PAD + load * unit, lane, LOAD * unit - 1, 13, "#c9d7ea"))
            parts.append(text_at(PAD + load * unit + 4, lane + 10, f"load {i}", 9.5))
            row = y + 20 + stages * 15
            parts.append(rectangle(PAD + compute * unit, row, COMPUTE * unit - 1, 13, WARM))
            parts.append(text_at(PAD + compute * unit + 6, row + 10, str(i), 9.5, PAPER))
        y += 20 + stages * 15 + 13 + 18
    return picture(2 * PAD + max(longest * unit, 420), y, "Loading and computing",
                   f"{TILES} tiles, a load takes {LOAD} units and the products of a tile {COMPUTE}: " + "; ".join(said), parts)


def grid_of(left, top, rows, columns, label, text_of, parts):
    width, height = 34, 17
    parts.append(text_at(left, top - 7, clean(label), 12.5))
    for r in range(rows):
        for c in range(columns):
            lane, word = text_of(r, c)
            x, y = left + c * width, top + r * height
            parts.append(rectangle(x, y, width - 1, height - 1, COLOURS[lane // 4]))
            parts.append(text_at(x + width / 2 - 1, y + 12, f"{lane} {word}", 9.5, INK, "middle",
                                 f' font-family="{MONO}"'))


def fragments():
    """m16n8k8 of TF32, as src/parts/ptx/mma.hpp has it."""
    parts, top = [], TITLE + 44
    grid_of(PAD, top, 16, 8, "A, 16×8", lambda r, c: (r % 8 * 4 + c % 4, f"a{r // 8 + c // 4 * 2}"),
            parts)
    grid_of(PAD + 300, top, 8, 8, "B, 8×8", lambda r, c: (c * 4 + r % 4, f"b{r // 4}"), parts)
    grid_of(PAD + 600, top, 16, 8, "C, 16×8",
            lambda r, c: (r % 8 * 4 + c // 2, f"c{r // 8 * 2 + c % 2}"), parts)
    return picture(600 + 2 * PAD + 272, top + 16 * 17 + PAD,
                   "Which lane holds which element: lane, and the word in it",
                   "Fragments of m16n8k8: lane l holds with g = l / 4 and t = l % 4 the rows g and g + 8 of "
                   "A and C, and column g of B", parts)


def swizzle(lines):
    """The 128-byte swizzle: piece p of 16 bytes of line r lies at place p XOR r mod 8."""
    width, height, parts, left, top = 58, 19, [], PAD + 52, TITLE + 42
    for place in range(8):
        parts.append(text_at(left + place * width + width / 2, top - 7, f"banks {place * 4}–{place * 4 + 3}", 9, FAINT,
                             "middle"))
    for line in range(lines):
        parts.append(text_at(PAD, top + line * height + 13, f"line {line}", 11.5))
        for place in range(8):
            piece, x, y = place ^ line % 8, left + place * width, top + line * height
            parts.append(rectangle(x, y, width - 1, height - 1, COLOURS[piece]))
            parts.append(text_at(x + width / 2, y + 13, f"piece {piece}", 10, INK, "middle"))
    told = (f"The 128-byte swizzle of {lines} lines: piece p of line r lies at place p XOR r mod 8, so one piece of "
            "eight lines meets all 32 banks")
    return picture(left + 8 * width + PAD, top + lines * height + 14, "The 128-byte swizzle", told, parts)


def split(total, pieces):
    cell, parts, top = 22, [], TITLE + 30
    for bit in range(total):
        parts.append(rectangle(PAD + bit * cell, top, cell - 1, 20, BAR))
    parts.append(text_at(PAD + total * cell + 8, top + 15, f"FP32: {total} significant bits", 12))
    at = 0
    for n, (name, bits) in enumerate(zip(("hi", "lo"), pieces)):
        y = top + 34 * (n + 1)
        parts += [rectangle(PAD + (at + bit) * cell, y, cell - 1, 20, COLOURS[n + 1])
                  for bit in range(bits)]
        parts.append(text_at(PAD + total * cell + 8, y + 15, f"{name}: {bits}", 12))
        at += bits
    told = f"Two halves of {pieces[0]} and {pieces[1]} bits hold {at} of the {total} bits of an FP32 number"
    return picture(PAD * 2 + total * cell + 190, top + 34 * 3 + 8, "x = hi + lo", told, parts)


def tree(values):
    cell, parts, said = 34, [], []
    for n, (name, adds) in enumerate((
            ("every other thread adds", lambda t, s: t % (2 * s) == 0),
            ("the first threads add", lambda t, s: t < s))):
        left, y = PAD + n * (values * cell + 40), TITLE + 40
        is_first = n == 0
        steps = [2 ** i for i in range(values.bit_length() - 1)]
        parts.append(text_at(left, y - 8, clean(name), 12.5))
        for s in steps if is_first else reversed(steps):
            for t in range(values):
                x = left + t * cell
                parts.append(rectangle(x, y, cell - 6, 18, WARM if adds(t, s) else PALE))
                if adds(t, s):
                    parts.append(text_at(x + 14, y + 13, f"+{t + s}", 9.5, PAPER, "middle"))
            y += 26
        said.append(name)
    return picture(2 * PAD + 2 * values * cell + 40, y + 12, f"{values} values become one: who adds which value",
                   f"Two trees over {values} values, a round a line: in the first {said[0]}, in the second "
                   f"{said[1]}", parts)


def rows(lengths):
    """Four lanes on rows of these lengths: a row for a lane, and a row for all four."""
    cell, lanes, parts, said, y = 18, len(lengths), [], [], TITLE + 34
    alone = [[row if step < length else None for step in range(max(lengths))]
             for row, length in enumerate(lengths)]
    together = [[] for _ in range(lanes)]
    for row, length in enumerate(lengths):
        for step in range(-(-length // lanes)):
            for lane in range(lanes):
                together[lane].append(row if step * lanes + lane < length else None)
    for name, work in (("a row for each lane", alone), ("a row for all lanes", together)):
        steps = len(work[0])
        busy = round(100 * sum(lengths) / (steps * lanes))
        said.append(f"{name}: {steps} steps, lanes busy for {busy} %")
        parts.append(text_at(PAD, y - 8, clean(said[-1]), 12.5))
        for lane in range(lanes):
            parts += [rectangle(PAD + step * cell, y + lane * cell, cell - 1, cell - 1,
                                PALE if row is None else COLOURS[row]) for step, row in enumerate(work[lane])]
        y += lanes * cell + 34
    told = f"Rows of {', '.join(map(str, lengths))} entries on {lanes} lanes: " + "; ".join(said)
    return picture(2 * PAD + max(max(lengths) * cell, 420), y - 14, "Who works when", told, parts)


def tiles(file, source):
    """C's tile of a block, its warps' and one thread's elements, from a register-tile rung's Config."""
    known, parts, top, scale = constants(source), [], TITLE + 40, 2.4
    m, n, thread_m, thread_n = (known[k] for k in ("block_m", "block_n", "thread_m", "thread_n"))
    warp_m, warp_n = known.get("warp_m", 0), known.get("warp_n", 0)
    parts.append(rectangle(PAD, top, n * scale, m * scale, PALE))
    for y in range(warp_m, m, warp_m) if warp_m else ():
        parts.append(stroke(PAD, top + y * scale, PAD + n * scale, top + y * scale, FAINT))
    for x in range(warp_n, n, warp_n) if warp_n else ():
        parts.append(stroke(PAD + x * scale, top, PAD + x * scale, top + m * scale, FAINT))
    if warp_m:
        parts.append(rectangle(PAD, top, warp_n * scale - 1, warp_m * scale - 1, "#c9d7ea"))
    # With warp tiles a thread has a quarter of its elements in each quarter of its warp's tile.
    pieces = [(y, x) for y in (0, warp_m // 2) for x in (0, warp_n // 2)] if warp_m else [(0, 0)]
    part = 2 if warp_m else 1
    parts += [rectangle(PAD + x * scale, top + y * scale, thread_n // part * scale,
                        thread_m // part * scale, WARM) for y, x in pieces]
    right = PAD + n * scale + 16
    said = [f"block: {m}×{n} elements of C", *([f"warp: {warp_m}×{warp_n}"] if warp_m else []),
            f"thread: {thread_m}×{thread_n}, {thread_m * thread_n} sums in registers",
            f"step of k: {known['block_k']}"]
    for i, (line, colour) in enumerate(zip(said, [FAINT, *(["#6f93c2"] if warp_m else []), WARM, INK])):
        parts.append(text_at(right, top + 14 + 20 * i, clean(line), 12.5, colour))
    name = file.rpartition("/")[2].partition(".")[0]
    return picture(round(right + 300), round(top + m * scale + PAD), f"{name}: who computes what",
                   f"The tile of {name}: " + "; ".join(said), parts)
