#!/usr/bin/python3
# TIMEOUT: 120
"""`gnomon export --format heaptrack`, read back by heaptrack_print."""

import gzip
import os
import re

from exported import (PROGRAMS, being_written, exported, summary, trace,
                      with_nothing)
from gnomon_test import (GNOMON, bare, case, check, environment, equal, gnomon,
                         main, need, program)


def printed(path, *words):
    """What heaptrack_print says of a file."""
    need("heaptrack_print")
    done = bare(["heaptrack_print", "-f", path,
                 "--disable-builtin-suppressions", *words])
    equal((done.status, done.err.strip()), (0, ""), "heaptrack_print")
    return done.out


def stacks(path, cost):
    """Of each stack, outermost frame first: its cost, to the byte."""
    text = path + "." + cost
    said = printed(path, "-a", "0", "-p", "0", "-T", "0", "-F", text,
                   "--flamegraph-cost-type", cost, "-t", "0")
    with open(text, encoding="utf-8") as file:
        lines = [line.rpartition(" ") for line in file.read().splitlines()]
    return said, [(stack, int(value)) for stack, _, value in lines]


def figure(text, what):
    return int(re.search(r"^%s: (\d+)" % what, text, re.M)[1])


def compare(path, said, peak="peak_bytes", temporary=True):
    """An export against what the report says."""
    text, leaked = stacks(path, "leaked")
    equal(figure(text, "calls to allocation functions"), said["allocations"],
          "calls")
    if temporary:
        equal(figure(text, "temporary memory allocations"), said["temporary"],
              "temporary")
    equal(sum(value for _, value in leaked), said["live_bytes"], "leaked")
    if peak:
        equal(sum(value for _, value in stacks(path, "peak")[1]), said[peak],
              "peak")
    return text


def export(name, directory, *words, ending=".zst"):
    return exported(trace(name), "heaptrack", *words,
                    output=os.path.join(directory, name + ending))


@case
def totals_are_those_of_the_report(directory):
    for name in PROGRAMS:
        said = summary(trace(name))
        path = export(name, directory)
        with open(path, "rb") as file:
            equal(file.read(4), b"\x28\xb5\x2f\xfd", "a frame of zstd")
        text = compare(path, said, temporary=said["threads"] == 1)
        check(figure(text, "temporary memory allocations") <=
              said["temporary"], name + ": temporary ones")
        rss = re.search(r"^peak RSS .*: ([\d.]+)([KM])$", text, re.M)
        check(abs(float(rss[1]) * {"K": 1e3, "M": 1e6}[rss[2]] -
                  said["rss_peak_bytes"]) < 6e3, "peak RSS: " + rss[0])
        runtime = float(re.search(r"^total runtime: ([\d.]+)s", text, re.M)[1])
        check(abs(runtime - said["duration_ns"] / 1e9) < 0.0011,
              "runtime %s" % runtime)


@case
def filters_hold(directory):
    """At a moment nothing ends; of a part of the blocks, the report's peak is
    their share of that of all."""
    for name, words, peak in (
            ("sqlite3", ("--function", "sqlite3_step"), None),
            ("python3", ("--size-min", "1k"), None),
            ("python3", ("--to", "50%"), None),
            ("cc1plus", ("--alive-at", "50%"), "live_bytes"),
            ("many_names", ("--lifetime-max", "10s"), None)):
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        compare(export(name, directory, *words), said, peak,
                said["threads"] == 1 and "--alive-at" not in words)


@case
def the_name_says_how_it_is_packed(directory):
    plain = export("many_names", directory, ending=".txt")
    with open(plain, "rb") as file:
        text = file.read()
    check(text.startswith(b"v 10400 3\nX "), "the head: %r" % text[:20])
    equal(exported(trace("many_names"), "heaptrack"), text.decode(),
          "standard output")
    with gzip.open(export("many_names", directory, ending=".gz")) as file:
        equal(file.read(), text, "gzip")
    done = bare(["zstd", "-dc", export("many_names", directory)])
    equal(done.out, text.decode(), "zstd")
    said = summary(trace("many_names"))
    for ending in (".txt", ".gz"):
        compare(os.path.join(directory, "many_names" + ending), said,
                temporary=False)


@case
def names_and_places_survive(directory):
    path = export("many_names", directory, "--full-names")
    text, made = stacks(path, "allocations")
    everything = "\n".join(stack for stack, _ in made)
    for name in ("odd name with blanks", "odd'quote,comma`",
                 "odd;semicolon#hash", "odd<a>&amp;{b}[c] 17",
                 "größe_日本(unsigned long)",
                 "operators::operator,(unsigned long)"):
        check(name in everything, name + " is not there")
    check(max(map(len, everything.split(";"))) > 10000,
          "the long name is shorter")
    check("Debuggee command was: " + program("many_names") in text,
          "the command")
    place = (r"\n      at \S*/many_names.cc:\d+"
             r"(?:\n      in \S*/many_names)?\n    ")
    check(re.search(place.join(["\n    innermost", "middle",
                                r"outer\(unsigned long\)", r"work\(int\)"]),
                    printed(path, "-n", "9", "-s", "20", "-t", "0")),
          "inlined frames, innermost one first, with files and libraries")


@case
def times_go_on_and_indexes_are_known(directory):
    """What heaptrack's reader takes in silence."""
    for name in ("sqlite3", "many_names"):
        now, strings, ips, traces, pairs, live = 0, 0, 0, 0, 0, {}
        text = exported(trace(name), "heaptrack")
        for line in text.splitlines():
            kind, _, rest = line.partition(" ")
            numbers = [int(word, 16) for word in rest.split(" ")] \
                if kind in ("c", "i", "t", "a", "+", "-", "R") else []
            if kind == "c":
                check(numbers[0] > now, "time: " + line)
                now = numbers[0]
            elif kind == "s":
                size, _, string = rest.partition(" ")
                equal(len(string.encode()), int(size, 16), line)
                strings += 1
            elif kind == "i":
                check(numbers[1] <= strings and len(numbers) % 3 == 2 and
                      all(max(numbers[i:i + 2]) <= strings
                          for i in range(2, len(numbers), 3)), line)
                ips += 1
            elif kind == "t":
                check(0 < numbers[0] <= ips and numbers[1] <= traces, line)
                traces += 1
            elif kind == "a":
                check(0 < numbers[1] <= traces, line)
                pairs += 1
            elif kind == "+":
                check(0 < numbers[0] < pairs, line)
                live[numbers[0]] = live.get(numbers[0], 0) + 1
            elif kind == "-" and numbers[0] != 0:
                live[numbers[0]] -= 1
                check(live[numbers[0]] >= 0, line)
        equal(sum(live.values()), summary(trace(name))["live_blocks"], name)


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as written_now:
        path = exported(written_now, "heaptrack",
                        output=os.path.join(directory, "out.zst"))
        said = summary(written_now)
        check(said["allocations"] > 0, "it has allocated")
        compare(path, said)


@case
def traces_with_nothing_in_them(directory):
    for path, words in with_nothing(directory):
        path = exported(path, "heaptrack", *words, statuses=(0, 3),
                        output=os.path.join(directory, "out.zst"))
        text = printed(path)
        equal(figure(text, "calls to allocation functions"), 0, "calls")


@case
def what_was_left_out_is_said(directory):
    small = os.path.join(directory, "small.trace")
    gnomon("strip", trace("sqlite3"), "-o", small, "--lifetime", "1m")
    done = bare([GNOMON, "export", "--format", "heaptrack", small, "-o",
                 os.path.join(directory, "out")], environment())
    equal(done.status, 0, done.err)
    left, = re.findall(r": ([\d,]+) blocks were left out of the trace",
                       done.err)
    text = printed(os.path.join(directory, "out"))
    equal(figure(text, "calls to allocation functions") +
          int(left.replace(",", "")),
          summary(trace("sqlite3"))["allocations"], "together")


main()
