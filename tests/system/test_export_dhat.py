#!/usr/bin/python3
"""`gnomon export --format dhat`, opened in dh_view.html, DHAT's own viewer,
which validates its input."""

import collections
import functools
import http.server
import json
import os
import threading

from browser import browsed
from exported import (FILTERS, ODD_NAMES, PROGRAMS, being_written, exported,
                      summary, trace, with_nothing)
from gnomon_test import case, check, equal, gnomon, main, need_file

KEYS = {"total": ("allocations", "total_bytes"),
        "peak": ("peak_blocks", "peak_bytes"),
        "end": ("live_blocks", "live_bytes")}
SORTED = ("Total (bytes)", "Total (blocks), short-lived", "At t-gmax (bytes)",
          "At t-end (bytes)")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


def viewed(**files):
    """What the viewer says of each file."""
    page = need_file("/usr/lib*/valgrind/dh_view.html")
    handler = functools.partial(Quiet, directory=os.path.dirname(page))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/dh_view.html" % server.server_port
        said = browsed("dh_view.mjs", {
            name: {"url": url, "file": path, "sorted": SORTED}
            for name, path in files.items()})
        server.shutdown()
    for name in files:
        check("wrong" not in said[name], "%s: %s" % (name, said[name]))
    return said


def totals_equal(got, said, what):
    for moment, keys in KEYS.items():
        equal(got[moment], [said[key] for key in keys],
              "%s: %s" % (what, moment))


def dhat(path, directory, *words, name="out", **more):
    return exported(path, "dhat", *words,
                    output=os.path.join(directory, name), **more)


def content(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


@case
def the_viewer_has_the_totals_of_the_report(directory):
    said = viewed(**{name: dhat(trace(name), directory, name=name)
                     for name in PROGRAMS})
    for name in PROGRAMS:
        totals_equal(said[name], summary(trace(name)), name)
        check("Command: " in said[name]["text"] and
              "µs" in said[name]["text"], said[name]["text"][:500])


@case
def filters_hold(directory):
    said = viewed(**{name: dhat(trace(name), directory, *words, name=name)
                     for name, words in FILTERS})
    for name, words in FILTERS:
        wanted = summary(trace(name), *words)
        check(wanted["allocations"] > 0, "%s: nothing passes" % name)
        totals_equal(said[name], wanted, "%s %s" % (name, words))


# Reports of all stacks, and of all blocks: those of the others are large.
SMALLER = ("sqlite3", "many_names")


def stack_of(row):
    """Stacks that read the same are one in the file."""
    return tuple((frame["function"], frame["file"], frame["line"],
                  frame["inlined"], frame["library"],
                  frame["function"] or frame["module_offset"])
                 for frame in row["stack"])


def of_rows(rows):
    return (sum(row["own_peak_bytes"] for row in rows),
            sum(row["own_peak_blocks"] for row in rows),
            sum(row["total_bytes"] for row in rows))


@case
def each_stack_has_its_own_peak(directory):
    """The exact one: where several stacks read the same, they did not have
    theirs at the same time."""
    less = 0
    for name in SMALLER:
        points = content(dhat(trace(name), directory, "--cost",
                              "total"))["pps"]
        report = json.loads(gnomon("report", trace(name), "--json", "--by",
                                   "stack", "--top", "0").out)
        stacks = collections.defaultdict(list)
        for row in report["rows"]:
            stacks[stack_of(row)].append(row)
        equal(len(points), len(stacks), name + ": stacks")
        got = collections.Counter((point["mb"], point["mbk"], point["tb"])
                                  for point in points)
        alone = collections.Counter(of_rows(rows) for rows in stacks.values()
                                    if len(rows) == 1)
        check(not alone - got, "%s: %s" % (name, alone - got))
        equal(len({tuple(point["fs"]) for point in points}), len(points),
              "stacks")
        bounds = sum(of_rows(rows)[0] for rows in stacks.values())
        exact = sum(point["mb"] for point in points)
        check(exact <= bounds and all(
            max(point["gb"], point["eb"]) <= point["mb"] <= point["tb"]
            for point in points), name + ": peaks")
        less += exact < bounds
    check(less > 0, "sums of peaks")


@case
def each_stack_has_its_lifetime(directory):
    for name in SMALLER:
        file = content(dhat(trace(name), directory))
        report = json.loads(gnomon("report", trace(name), "--json", "--by",
                                   "stack", "--top", "0").out)
        equal((file["tg"], file["te"]),
              tuple(report["summary"][key] // 1000 for key in
                    ("peak_time_ns", "duration_ns")), "times")
        stacks = collections.defaultdict(list)
        for row in report["rows"]:
            stacks[stack_of(row)].append(row)
        lived = sum(point["tl"] for point in file["pps"] if not point["ebk"])
        wanted = sum(row["lifetime_ns"] * row["frees"]
                     for rows in stacks.values() for row in rows
                     if not any(row["live_blocks"] for row in rows)) / 1000
        check(abs(lived - wanted) <= len(file["pps"]) + wanted / 1000,
              "%s: they lived %d µs, not %d" % (name, lived, wanted))
        check(all(point["tl"] <= point["tbk"] * (file["te"] + 1)
                  for point in file["pps"]), "nobody lives longer")
        blocks = json.loads(gnomon("report", trace(name), "--json", "--by",
                                   "block", "--top", "0").out)["rows"]
        ages = sum(block["age_ns"] for block in blocks) / 1000
        freed = sum(row["lifetime_ns"] * row["frees"]
                    for row in report["rows"]) / 1000
        total = sum(point["tl"] for point in file["pps"])
        check(abs(total - ages - freed) <= 2 * len(file["pps"]) +
              total / 1000, "%s: %d µs, not %d" % (name, total, ages + freed))


@case
def names_survive(directory):
    path = dhat(trace("many_names"), directory, "--full-names")
    said = viewed(names=path)["names"]
    equal(said["frames"][0], "[root]", "the first frame")
    for name in ODD_NAMES:
        check(any(": %s (" % name in frame for frame in said["frames"]),
              "%s is not among %s" % (name, said["frames"]))
    check(max(map(len, said["frames"])) > 10000, "the long name is shorter")
    check("odd;semicolon#hash" in said["text"], "it is shown")
    frames = content(path)["ftbl"]
    stack = next(point["fs"] for point in content(path)["pps"]
                 if ": innermost (" in frames[point["fs"][1]])
    check(all(": %s(" % name in frames[number].replace(" (", "(") and
              "many_names.cc:" in frames[number] for name, number in
              zip(("innermost", "middle", "outer"), stack[1:])),
          "inlined frames, innermost first: %s" % [frames[number]
                                                   for number in stack])


@case
def traces_with_little_in_them(directory):
    (cut, none), (whole, words) = with_nothing(directory)
    with being_written(directory) as path:
        so_far = dhat(path, directory, name="so_far")
        wanted = summary(path)
    said = viewed(cut=dhat(cut, directory, *none, name="1", statuses=(0, 3)),
                  none=dhat(whole, directory, *words, name="2"),
                  so_far=so_far)
    totals_equal(said["cut"], dict.fromkeys(wanted, 0), "a cut trace")
    totals_equal(said["none"], dict.fromkeys(wanted, 0), "nothing passes")
    check(wanted["allocations"] > 0, "it has allocated")
    totals_equal(said["so_far"], wanted, "so far")


@case
def the_same_trace_is_the_same_file(directory):
    paths = [dhat(trace("cc1plus"), directory, name=name) for name in "ab"]
    equal(*map(content, paths), "contents")


main()
