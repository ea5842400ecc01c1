"""bench_bars.py: the chart of part "peers", recording: for each program what
each profiler adds to the wall time, ns for one allocation, as bars on one
logarithmic axis.

Bars of profilers that sample are outlines, not filled, and gnomon's have a
colour of their own; every bar has its number beside it.
"""

import math

import bench_peers
import bench_plot
from bench_plot import text

TITLES = {
    "pairs": "bench-pairs: malloc and free alone, stacks that repeat",
    "cc1plus": "g++ compiling <regex> (cc1plus)",
    "python3": "python3, every object by malloc",
}
# class: (colour on light, on dark)
BARS = {"ours": ("#0b4fa8", "#5aa2ff"), "peer": ("#b86e00", "#f0b14a")}
WIDTH = 860
LEFT, RIGHT, TOP, BOTTOM = 190, 150, 92, 30
LEGEND_Y, LEGEND_STEP = 66, 165
BAR, STEP, HEAD, GAP = 14, 22, 26, 18
FLOOR_NS = 1.0		# a logarithm needs one


def style():
    def rules(index):
        for name, colours in BARS.items():
            yield (f".{name} {{ fill: {colours[index]}; "
                   f"stroke: {colours[index]} }}")

    return bench_plot.sheet(
        ["rect.bar { stroke-width: 1.5 }", "rect.sampled { fill: none }",
         "path { fill: none }", "rect.bar.sampled { fill-opacity: 0 }"],
        rules)


def kind(row):
    return (("ours" if row["tool"].startswith("gnomon") else "peer")
            + ("" if row["every"] else " sampled"))


def said(row):
    return f"{number(row['added_ns'])}, {times(row['wall_ratio'])}"


def times(value):
    return f"{value:.2f}×" if value < 9.995 else f"{value:.0f}×"


def number(ns):
    if ns < FLOOR_NS:
        return f"< {FLOOR_NS:g} ns"
    if ns >= 10000:
        return f"{ns / 1000:.0f} µs"
    if ns >= 1000:
        return f"{ns / 1000:.1f} µs"
    return f"{ns:.0f} ns"


def bar(row, scale, top):
    length = scale(max(row["added_ns"], FLOOR_NS)) - LEFT
    yield text(LEFT - 8, top + 11, row["tool"], "", "end")
    yield (f'<rect class="bar {kind(row)}" x="{LEFT}" y="{top}" '
           f'width="{max(length, 1.5):.1f}" height="{BAR}"/>')
    yield text(round(LEFT + length + 8, 1), top + 11, said(row))


def panel(program, rows, scale, decades, top):
    bottom = top + HEAD + len(rows) * STEP - (STEP - BAR)
    yield text(LEFT, top + 12, TITLES[program], "head")
    for ns in decades:
        yield (f'<path class="grid" d="M{scale(ns)},{top + HEAD - 4}'
               f'V{bottom + 4}"/>')
    for index, row in enumerate(rows):
        yield from bar(row, scale, top + HEAD + index * STEP)


def legend():
    for index, (look, words) in enumerate((
            ("ours", "gnomon"), ("peer", "others"),
            ("peer sampled", "outlined: samples"))):
        x = LEFT + index * LEGEND_STEP
        yield (f'<rect class="bar {look}" x="{x}" y="{LEGEND_Y}" width="28" '
               f'height="{BAR}"/>')
        yield text(x + 36, LEGEND_Y + 11, words)


def recording(document):
    """The chart, from bench.py's document with rows of part "peers"."""
    rows = [row for row in bench_peers.of_kind(document["peers"], "recording")
            if not row["is_base"]]
    top_ns = max(max(row["added_ns"] for row in rows), 10 * FLOOR_NS)
    decades = [10.0 ** power
               for power in range(math.ceil(math.log10(top_ns)) + 1)]
    scale = bench_plot.Scale(FLOOR_NS, decades[-1], LEFT, WIDTH - RIGHT)
    body = [text(20, 26, "What recording adds to one allocation", "title"),
            text(20, 46, "wall time over the program without a profiler, ns "
                 "for one allocation (logarithmic), and its ratio; "
                 f"{document['machine']['cpu']}", "faint"), *legend()]
    top = TOP
    for program in TITLES:
        group = [row for row in rows if row["program"] == program]
        if group:
            body += panel(program, group, scale, decades, top)
            top += HEAD + len(group) * STEP + GAP
    for ns in decades:
        body.append(text(scale(ns), top + 4, bench_plot.duration(ns), "faint",
                         "middle"))
    return bench_plot.drawing(WIDTH, top + BOTTOM, "ns added to one "
                              "allocation, by profiler", style(), body)
