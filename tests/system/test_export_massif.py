#!/usr/bin/python3
"""`gnomon export --format massif`, read back by ms_print."""

import collections
import os
import re

from exported import (FILTERS, ODD_NAMES, PROGRAMS, SUMMARY, being_written,
                      exported, summary, trace, with_nothing)
from gnomon_test import (bare, case, check, environment, equal, main, need,
                         program, recorded)

Snapshot = collections.namedtuple("Snapshot",
                                  "number time total heap extra tree")
# A line of a tree: its depth, bytes, and what it says.
Line = collections.namedtuple("Line", "depth bytes text")
HEAD = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc."


def number(text):
    return int(text.replace(",", ""))


def printed(path, directory, *words):
    need("ms_print")
    done = bare(["ms_print", *words, path], environment(TMPDIR=directory))
    # Perl says so of what recurs a hundred times, as trees may.
    err = "".join(line for line in done.err.splitlines()
                  if not line.startswith("Deep recursion on subroutine"))
    equal((done.status, err), (0, ""), "ms_print")
    return done.out


def snapshots(text):
    """Those that ms_print shows, each with its tree; which is the peak."""
    found = []
    for line in text.splitlines():
        row = re.match(r" *(\d+) +([\d,.]+) +([\d,]+) +([\d,]+) +([\d,]+) +0$",
                       line)
        if row:
            found.append(Snapshot(int(row[1]), float(row[2].replace(",", "")),
                                  number(row[3]), number(row[4]),
                                  number(row[5]), []))
        row = re.match(r"([| ]*(?:->)?)\d\d+\.\d\d% \(([\d,]+)B\) ?(.*)$",
                       line)
        if row:
            found[-1].tree.append(Line(len(row[1]) // 2, number(row[2]),
                                       row[3]))
    equal([snapshot.number for snapshot in found], list(range(len(found))),
          "numbers")
    equal(len(found), int(re.search(r"Number of snapshots: (\d+)", text)[1]),
          "snapshots")
    peak = re.search(r"(\d+) \(peak\)", text)
    return found, found[int(peak[1])] if peak else None


def massif(path, directory, *words, name="out", **more):
    path = exported(path, "massif", *words,
                    output=os.path.join(directory, name), **more)
    return snapshots(printed(path, directory))


def check_tree(tree, total, what):
    """Whoever has callers has no more than they do, in all."""
    check(tree and tree[0] == Line(0, total, HEAD), "%s: %s" % (what, tree[:3]))
    around = []
    for line in tree:
        del around[line.depth:]
        if around:
            around[-1][1] += line.bytes
        around.append([line, 0])
        for whole, inside in around:
            check(inside <= whole.bytes, "%s: %s" % (what, whole))


def check_times(found, said, what):
    times = [snapshot.time for snapshot in found]
    equal(times, sorted(times), what + ": times")
    check(abs(times[-1] - said["duration_ns"] / 1e6) < 0.001, what + ": end")
    check(all(snapshot.total == snapshot.heap + snapshot.extra
              for snapshot in found), what)


@case
def peak_and_end_are_those_of_the_report(directory):
    for name in PROGRAMS:
        said = summary(trace(name))
        found, peak = massif(trace(name), directory)
        check_times(found, said, name)
        equal((peak.heap, found[-1].heap),
              (said["peak_bytes"], said["live_bytes"]), name)
        check(abs(peak.time - said["peak_time_ns"] / 1e6) < 0.001,
              name + ": when")
        check_tree(peak.tree, said["peak_bytes"], name + " peak")
        check_tree(found[-1].tree, said["live_bytes"], name + " end")
        # Each site, and those that are too small, is the whole.
        equal(sum(line.bytes for line in peak.tree if line.depth == 1),
              said["peak_bytes"], name + ": the sites of the peak")
        check(20 < len(found) <= 103, "%s: %d" % (name, len(found)))
        equal(max(snapshot.heap for snapshot in found), peak.heap,
              name + ": the largest")


@case
def what_the_allocator_adds(directory):
    """At the end, as the report has it; what is mapped by itself has two words
    of header, the rest one."""
    for name, words in (*((name, ()) for name in PROGRAMS), *FILTERS):
        heap = summary(trace(name), *words)["live_heap"]
        found, peak = massif(trace(name), directory, *words)
        equal(found[-1].extra, sum(
            share["usable_bytes"] - share["bytes"] +
            share["blocks"] * (16 if part == "mmapped" else 8)
            for part, share in heap.items() if part != "unknown"),
            "%s %s: at the end" % (name, words))
        check(any(one.extra > 0 for one in found), name)
        check(name != "cc1plus" or len({one.extra for one in found}) > 10,
              "it changes")


@case
def what_is_small_is_summed_up(directory):
    path = exported(trace("cc1plus"), "massif",
                    output=os.path.join(directory, "out"))
    found, peak = snapshots(printed(path, directory, "--threshold=0"))
    small = [line for line in peak.tree if line.text.startswith("in ")]
    check(small, "nothing is small")
    for line in small:
        check(re.fullmatch(r"in (1 place,|\d+ places, all) below massif's "
                           r"threshold \(1\.00%\)", line.text), line.text)
    check(all(line.bytes * 100 >= peak.heap for line in peak.tree
              if not line.text.startswith("in ")), "the rest is not")


@case
def filters_hold(directory):
    """Those of stacks, which need another pass, too."""
    for name, words in (*FILTERS, ("cc1plus", ("--function", "^c_"))):
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        found, peak = massif(trace(name), directory, *words)
        check_times(found, said, name)
        equal(found[-1].heap, said["live_bytes"], "%s %s" % (name, words))
        most = max(snapshot.heap for snapshot in found)
        check(peak is None or peak.heap == most, "%s: %s, but %d" % (
            name, peak, most))
        # Of a moment there is one tree.
        if said["peak_bytes"] > 0 and "--alive-at" not in words:
            at_peak, = (snapshot for snapshot in found[:-1] if snapshot.tree)
            check_tree(at_peak.tree, said["peak_bytes"], name + " peak")
        check(len(found) > 20, "%s: %d snapshots" % (name, len(found)))
        if found[-1].heap > 0:
            check_tree(found[-1].tree, said["live_bytes"], name)


@case
def of_a_moment_nothing_is_freed(directory):
    for moment in ("30%", "60%", "90%"):
        found, peak = massif(trace("cc1plus"), directory, "--alive-at", moment)
        heaps = [snapshot.heap for snapshot in found]
        equal(heaps, sorted(heaps), "the curve")
        equal(peak, found[-1], "the peak is the end")
        check(len(set(heaps)) > 8, "a curve: %s" % heaps)
        equal(sum(snapshot.tree != [] for snapshot in found), 1, "trees")


@case
def the_peak_is_the_largest_or_none(directory):
    """The tree is of the program's peak: of short-lived blocks, more was live
    at another time, and then no snapshot is marked; of others, this is it."""
    done = recorded([program("paced_blocks"), "burst"], directory)
    equal(done.status, 0, done.err)
    for words, bytes_at_peak, marked in (
            (("--lifetime-max", "150s"), 100, False),
            (("--lifetime-max", "150s", "--size-max", "1k"), 100, True),
            (("--lifetime-min", "150s", "--size-min", "1M"), 30 << 20, True)):
        found, peak = massif(done.trace, directory, *words)
        at_peak, = (one for one in found[:-1] if one.tree)
        most = max(one.heap for one in found)
        equal((at_peak.heap, at_peak.heap == most, peak),
              (bytes_at_peak, marked, at_peak if marked else None), str(words))


@case
def the_curve_is_the_same_by_both_ways(directory):
    """A filter that keeps all takes the other one."""
    for cost in ("live", "total", "count"):
        one, _ = massif(trace("cc1plus"), directory, "--cost", cost)
        other, _ = massif(trace("cc1plus"), directory, "--cost", cost,
                          "--function", ".")
        equal([snapshot[:5] for snapshot in one],
              [snapshot[:5] for snapshot in other], cost)


@case
def each_cost(directory):
    for name in ("python3", "many_names"):
        said = summary(trace(name))
        for cost in ("total", "count", "temporary"):
            found, peak = massif(trace(name), directory, "--cost", cost)
            check_times(found, said, name)
            equal((peak.total, peak.number),
                  (said[SUMMARY[cost]], found[-1].number), cost)
            check_tree(peak.tree, said[SUMMARY[cost]], cost)
            totals = [snapshot.total for snapshot in found]
            equal(totals, sorted(totals), cost + " grows")
            check(cost == "temporary" or len(found) > 20, "no curve")
        one, _ = massif(trace(name), directory, "--cost", "peak")
        equal(one, massif(trace(name), directory)[0], "peak")


@case
def names_survive(directory):
    found, _ = massif(trace("many_names"), directory, "--full-names",
                      "--cost", "count")
    lines = [line.text for line in found[-1].tree]
    for name in ODD_NAMES:
        if name != "operators::operator,(unsigned long)":	# too small
            check(any(": %s (" % name.replace("#", "＃") in line
                      for line in lines),
                  "%s is not among %s" % (name, lines))
    found, _ = massif(trace("many_names"), directory, "--full-names",
                      "--function", "wide<")
    lines = [line.text for line in found[-1].tree]
    check(max(map(len, lines)) > 10000, "the long name is shorter")
    check(all(re.search(r" \(.*:\d+\)$", line) for line in lines
              if "wide<" in line), "with a place behind it")


@case
def traces_with_little_in_them(directory):
    for path, words in with_nothing(directory):
        found, peak = massif(path, directory, *words, statuses=(0, 3))
        equal((peak, found[-1].total, len(found[-1].tree)), (None, 0, 1),
              "nothing")
    with being_written(directory) as path:
        found, peak = massif(path, directory)
        said = summary(path)
    check(said["allocations"] > 0, "it has allocated")
    equal((peak.heap, found[-1].heap),
          (said["peak_bytes"], said["live_bytes"]), "so far")


@case
def the_same_trace_is_the_same_file(directory):
    contents = []
    for name in "ab":
        path = exported(trace("cc1plus"), "massif",
                        output=os.path.join(directory, name))
        with open(path, encoding="utf-8") as file:
            contents.append(file.read())
    equal(*contents, "contents")


main()
