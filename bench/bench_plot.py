"""bench_plot.py: the chart of captures (parts "capture" and "peers"), as a
self-contained SVG, and what all charts share.

A panel for each number of changed frames, ns over depth, both logarithmic and with
the same scales in all panels. Colours come from one table of classes that also has
those for a dark background; marks differ in shape as well, so that colour is never
the only distinction.
"""

import math
from xml.sax.saxutils import escape

import bench_capture

# unwinder: (name in the legend, class, mark); drawn in this order
SERIES = {
    "_Unwind_Backtrace": ("_Unwind_Backtrace", "libgcc", "triangle"),
    "backtrace": ("glibc backtrace()", "glibc", "diamond"),
    "unw_step": ("unw_step", "step", "diamond"),
    "framehop": ("framehop", "framehop", "cross"),
    "unw_backtrace": ("unw_backtrace", "libunwind", "square"),
    "frame-pointers": ("frame pointers", "fp", "cross"),
    "gnomon-off": ("gnomon, off", "off", "circle"),
    "gnomon-validate": ("gnomon, validate", "validate", "circle"),
    "gnomon": ("gnomon, auto", "auto", "circle"),
}
# class: (colour on light, on dark, width of the line, dashes)
LINES = {
    "libgcc": ("#a04fb0", "#d495e0", 1.5, ""),
    "glibc": ("#c2403a", "#f28b82", 1.5, "6 3"),
    "framehop": ("#00808a", "#5fd0d8", 1.5, "3 2"),
    "libunwind": ("#b86e00", "#f0b14a", 1.5, ""),
    "step": ("#b86e00", "#f0b14a", 1.5, "6 3"),
    "fp": ("#3f7d20", "#93cf6c", 1.5, ""),
    "off": ("#5f7fae", "#8fa9cf", 1.5, "2 3"),
    "validate": ("#3a78c9", "#7fb0f0", 1.5, "7 3"),
    "auto": ("#0b4fa8", "#5aa2ff", 3, ""),
}
COLUMNS = 2
PANEL_W, PANEL_H = 400, 250
LEFT, TOP, RIGHT, BOTTOM = 64, 118, 16, 58
GAP_X, GAP_Y = 28, 58
WIDTH = LEFT + COLUMNS * PANEL_W + (COLUMNS - 1) * GAP_X + RIGHT
LEGEND_COLUMN = 205
FLOOR_NS = 1.0      # a logarithm needs one


# What charts have in common: (colour on light, on dark).
BASE = {"back": ("#ffffff", "#0d1117"), "text": ("#1f2328", "#e6edf3"),
        "faint": ("#5c646d", "#9aa4af"), "grid": ("#dfe3e8", "#2b323b")}


def sheet(fixed, rules):
    """A style sheet: fixed rules, and those of colours, rules(0) on light
    and rules(1) on dark."""
    def coloured(index):
        yield f".back {{ fill: {BASE['back'][index]} }}"
        yield f"text {{ fill: {BASE['text'][index]} }}"
        yield f".faint {{ fill: {BASE['faint'][index]} }}"
        yield f".grid {{ stroke: {BASE['grid'][index]} }}"
        yield from rules(index)

    return "\n".join([
        "text { font: 12px system-ui, sans-serif }",
        ".title { font-size: 17px; font-weight: 600 }",
        ".head { font-size: 13px; font-weight: 600 }",
        ".grid { stroke-width: 1 }", *fixed, *coloured(0),
        "@media (prefers-color-scheme: dark) {", *coloured(1), "}"])


def style():
    def rules(index):
        for name, look in LINES.items():
            yield (f".{name} {{ stroke: {look[index]} }} "
                   f".mark.{name} {{ fill: {look[index]} }}")

    fixed = ["path { fill: none; stroke-linejoin: round }",
             ".mark { stroke-width: 1.5 }"]
    fixed += [f"path.line.{name} {{ stroke-width: {width}"
              + (f"; stroke-dasharray: {dashes}" if dashes else "") + " }"
              for name, (_, _, width, dashes) in LINES.items()]
    return sheet(fixed, rules)


def drawing(width, height, title, styles, body):
    """The whole document."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" role="img">\n'
            f"<title>{escape(title)}</title>\n<style>\n{styles}\n</style>\n"
            '<rect class="back" width="100%" height="100%"/>\n'
            + "\n".join(body) + "\n</svg>\n")


class Scale:
    """A logarithmic axis: values to places."""

    def __init__(self, low, high, start, end):
        self.low, self.start = math.log10(low), start
        self.factor = (end - start) / (math.log10(high) - self.low)

    def __call__(self, value):
        return round(self.start
                     + (math.log10(value) - self.low) * self.factor, 1)


def text(x, y, words, kind="", anchor="start"):
    return (f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(words)}</text>")


def duration(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def mark(x, y, kind, shape):
    if shape == "circle":
        return f'<circle class="mark {kind}" cx="{x}" cy="{y}" r="3"/>'
    outline = {
        "square": f"M{x - 3},{y - 3}h6v6h-6z",
        "triangle": f"M{x},{y - 4}l4,7h-8z",
        "diamond": f"M{x},{y - 4}l4,4l-4,4l-4,-4z",
        "cross": f"M{x - 3},{y - 3}l6,6m0,-6l-6,6",
    }[shape]
    return f'<path class="mark {kind}" d="{outline}"/>'


def line(points, kind, shape, title):
    way = "L".join(f"{x},{y}" for x, y in points)
    return (f'<g><title>{escape(title)}</title>'
            f'<path class="line {kind}" d="M{way}"/>'
            + "".join(mark(x, y, kind, shape) for x, y in points) + "</g>")


def grid(x, y, depths, decades, box):
    left, top, right, bottom = box
    for ns in decades:
        at = y(ns)
        yield f'<path class="grid" d="M{left},{at}H{right}"/>'
        if left == LEFT:
            yield text(left - 8, at + 4, duration(ns), "faint", "end")
    for depth in depths:
        at = x(depth)
        yield f'<path class="grid" d="M{at},{top}V{bottom}"/>'
        yield text(at, bottom + 17, str(depth), "faint", "middle")


def panel(rows, changed, decades, left, top):
    """One panel's rows, by rising depth."""
    depths = [row["depth"] for row in rows]
    right, bottom = left + PANEL_W, top + PANEL_H
    x = Scale(depths[0] / 1.15, depths[-1] * 1.15, left, right)
    y = Scale(decades[0], decades[-1], bottom, top)
    words = ("the same stack again" if changed == 0 else
             f"{changed} frame{'s' if changed > 1 else ''} changed")
    yield text(left, top - 9, words, "head")
    yield from grid(x, y, depths, decades, (left, top, right, bottom))
    for name, (label, kind, shape) in SERIES.items():
        if name not in rows[0]["ns"]:
            continue
        points = [(x(row["frames"]["gnomon"]),
                   y(max(row["ns"][name], decades[0]))) for row in rows]
        title = label + ": " + ", ".join(
            f"{row['ns'][name]:.0f} ns at {row['depth']}" for row in rows)
        yield line(points, kind, shape, title)


def legend(rows):
    shown = [series for name, series in SERIES.items()
             if name in rows[0]["ns"]]
    for index, (label, kind, shape) in enumerate(reversed(shown)):
        x = LEFT + index % 4 * LEGEND_COLUMN
        y = 62 + index // 4 * 20
        yield line([(x, y), (x + 28, y)], kind, shape, label)
        yield text(x + 36, y + 4, label)


def decades_of(rows):
    values = [max(ns, FLOOR_NS) for row in rows for ns in row["ns"].values()]
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return [10.0 ** power for power in range(low, max(high, low + 1) + 1)]


def captures(document):
    """The chart, from bench.py's document with rows of part "capture"."""
    rows = sorted((row for row in document["capture"]
                   if row["changed"] in bench_capture.CHANGED
                   and row["draw"] == "new" and not row["wrapped"]
                   and not row["all"]), key=lambda row: row["depth"])
    decades = decades_of(rows)
    by = {}
    for row in rows:
        by.setdefault(row["changed"], []).append(row)
    height = (TOP + math.ceil(len(by) / COLUMNS) * (PANEL_H + GAP_Y) - GAP_Y
              + BOTTOM)
    body = [
        text(LEFT, 26, "What one stack costs, by its depth", "title"),
        text(LEFT, 44, f"median, one thread; {document['machine']['cpu']}",
             "faint"),
        *legend(rows),
        text(LEFT + (WIDTH - LEFT - RIGHT) / 2, height - 16,
             "frames on the stack", "faint", "middle")]
    for index, changed in enumerate(sorted(by)):
        body += panel(by[changed], changed, decades,
                      LEFT + index % COLUMNS * (PANEL_W + GAP_X),
                      TOP + index // COLUMNS * (PANEL_H + GAP_Y))
    return drawing(WIDTH, height, "ns for one capture, by depth", style(),
                   body)
