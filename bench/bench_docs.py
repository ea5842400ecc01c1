"""bench_docs.py: what the documents have of part "peers": tables in README.md and
docs/BENCHMARKS.md, between lines that mark them, and the charts beside them.

    <!-- make bench-charts: NAME -->
    …
    <!-- end of NAME -->

All is taken from one run's DIR/bench-peers.json. A quick run is refused: its
numbers are not for documents.
"""

import json
import os
import re
import textwrap

import bench_bars
import bench_peer_tools
import bench_peers
import bench_plot
from bench_bars import times

COMMAND = "make bench-peers"
CHARTS = "docs/images"
PROGRAMS = {"pairs": "`bench-pairs`", "cc1plus": "g++ (cc1plus)",
            "python3": "python3 (`PYTHONMALLOC=malloc`)"}
UNWINDERS = {"gnomon": "gnomon", "gnomon-off": "gnomon, all walked",
             "unw_backtrace": "`unw_backtrace`", "unw_step": "`unw_step`",
             "framehop": "framehop",
             "_Unwind_Backtrace": "`_Unwind_Backtrace`"}
# Of README's lines: unwinders and what they are called there.
RIVALS = {"unw_backtrace": "libunwind", "framehop": "framehop",
          "_Unwind_Backtrace": "libgcc"}
SHORT = {"memray --native": "memray", "tcmalloc HEAPPROFILE": "tcmalloc",
         "jemalloc prof, every": "jemalloc"}
# Whose data are sums by stack, of a size that no number of allocations changes.
SUMS = ("jemalloc prof, every", "tcmalloc HEAPPROFILE")
DEPTH = 30		# of README's lines
MIB = 1 << 20
COLUMNS = 88		# of prose


class Refused(Exception):
    """The documents are not written; says why."""


def number(value):
    """Digits as the documents have them: 0.04, 9.7, 120, 2275, 16 090."""
    if 0 < abs(value) < 0.095:
        return f"{value:.2f}"
    if abs(value) < 9.95:
        return f"{value:.1f}"
    return f"{value:,.0f}".replace(",", " " if abs(value) >= 9999.5 else "")


def wrapped(words, indent=""):
    return textwrap.fill(words, COLUMNS, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") if row else
                     "|" + "---|" * len(head) for row in [head, None, *rows])


def machine(document):
    facts = document["machine"]
    kernel = ".".join(facts["kernel"].split(".")[:2])
    return f"{facts['cpu']}, {facts['cores']} cores, Linux {kernel}"


def recordings(document):
    return bench_peers.of_kind(document["peers"], "recording")


def recording_table(document):
    return table(
        ["program", "profiler", "records", "wall time", "CPU time of all",
         "MiB added", "MiB written", "ns per allocation"],
        [[PROGRAMS[row["program"]], row["tool"],
          "every allocation" if row["every"] else "samples",
          times(row["wall_ratio"]), times(row["cpu_ratio"]),
          number(row["rss_added_kb"] / 1024), number(row["bytes"] / MIB),
          number(row["added_ns"])]
         for row in recordings(document) if not row["is_base"]])


def capture_table(document):
    rows = bench_peers.of_kind(document["peers"], "capture")
    names = [name for name in UNWINDERS
             if any(name in row["ns"] for row in rows)]
    return table(
        ["depth", "changed", *(UNWINDERS[name] for name in names)],
        [[str(row["depth"]), str(row["changed"]),
          *(number(row["ns"][name]) if name in row["ns"] else "–"
            for name in names)] for row in rows])


def pair_table(document):
    """What bench-pairs itself measures: no start, no end, no helpers."""
    rows = [row for row in recordings(document)
            if row["program"] == "pairs" and row["every"]
            and not row["is_base"]]
    return table([row["tool"] for row in rows],
                 [[number(row["inner_added_ns"]) for row in rows]])


def left_out(document):
    rows = bench_peers.of_kind(document["peers"], "skipped")
    return ["", "Left out:", "",
            *(wrapped(f"* {row['peer']}: {row['why']}", "  ")
              for row in rows)] \
        if rows else []


def benchmarks(document):
    return "\n".join([
        wrapped(f"`{COMMAND}`, on {machine(document)}; medians of "
                f"{bench_peers.ROUNDS} runs in turns. A run that takes over "
                f"{bench_peers.SLOW_NS // 10**9} s is not repeated."), "",
        "![Time added to one allocation, by program and profiler]"
        "(images/bench-recording.svg)", "",
        recording_table(document), "",
        "Time added to one pair in the loop of `bench-pairs`, ns:", "",
        pair_table(document), "",
        "One capture, ns:", "",
        "![ns for one stack, by depth](images/bench-capture.svg)", "",
        capture_table(document), *left_out(document)])


def capture_line(document, changed, title):
    """One line of README's table."""
    row = next(row for row in
               bench_peers.of_kind(document["peers"], "capture")
               if (row["depth"], row["changed"]) == (DEPTH, changed))
    return [title, number(row["ns"]["gnomon"]) + " ns", ", ".join(
        f"{words} {number(row['ns'][name])} ns"
        for name, words in RIVALS.items() if name in row["ns"]) or "–"]


def recording_line(document, program, title, say):
    """One line: say(row) of gnomon, and of all peers that record every
    allocation and have an answer."""
    rows = [row for row in recordings(document)
            if row["program"] == program and row["every"]
            and not row["is_base"]]
    mine = next(row for row in rows
                if row["tool"] == bench_peer_tools.GNOMON)
    return [title, say(mine), ", ".join(
        f"{SHORT.get(row['tool'], row['tool'])} {say(row)}"
        for row in rows if row is not mine and say(row)) or "–"]


def slowdown(row):
    return times(row["wall_ratio"])


def size(row):
    """None for sums: their size says nothing of one allocation."""
    return None if row["tool"] in SUMS else \
        f"{number(row['bytes'] / row['allocations'])} B"


def readme(document):
    lines = [
        capture_line(document, 0, f"a known stack of {DEPTH} frames captured"),
        capture_line(document, 3, f"a stack of {DEPTH} frames captured, "
                     "3 of them changed"),
        recording_line(document, "pairs",
                       "added to `malloc` and `free` together",
                       lambda row: number(row["inner_added_ns"]) + " ns"),
        recording_line(document, "python3",
                       "slowdown of python3 with `PYTHONMALLOC=malloc`",
                       slowdown),
        recording_line(document, "cc1plus", "slowdown of g++", slowdown),
        recording_line(document, "cc1plus",
                       "bytes written for an allocation of g++", size)]
    return "\n".join([
        table(["", "gnomon", "others"], lines), "",
        wrapped(f"From `{COMMAND}`, on {machine(document)}. The other profilers "
                "are configured to record every allocation. [BENCHMARKS]"
                "(docs/BENCHMARKS.md) has all tables and their conditions.")])


def between_marks(content, name, body):
    """The document's text, with another body between the marks."""
    begin, end = (f"<!-- make bench-charts: {name} -->",
                  f"<!-- end of {name} -->")
    pattern = re.compile(re.escape(begin) + "\n.*?" + re.escape(end), re.S)
    replaced, count = pattern.subn(lambda _: f"{begin}\n{body}\n{end}",
                                   content)
    if count != 1:
        raise Refused(f"{count} places are marked with {begin}")
    return replaced


def write(out, root):
    """Writes the documents in `root`; the paths written."""
    source = os.path.join(out, "bench-peers.json")
    with open(source, encoding="utf-8") as stream:
        document = json.load(stream)
    if document["quick"]:
        raise Refused(f"{source}: of a quick run: run `{COMMAND}`")
    captures = {**document, "capture": bench_peers.of_kind(
        document["peers"], "capture")}
    texts = {f"{CHARTS}/bench-recording.svg": bench_bars.recording(document),
             f"{CHARTS}/bench-capture.svg": bench_plot.captures(captures)}
    for path, name, body in (
            ("README.md", "numbers", readme(document)),
            ("docs/BENCHMARKS.md", "peers", benchmarks(document))):
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            texts[path] = between_marks(stream.read(), name, body)
    for path, content in texts.items():
        with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
            stream.write(content)
    return list(texts)
