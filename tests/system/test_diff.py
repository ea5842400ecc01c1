#!/usr/bin/python3
"""`gnomon diff`: new, gone, grown and shrunk between two traces and between
two moments; nothing between two runs of a program that does the same."""

import json
import os
import re
import shutil
import subprocess

from gnomon_test import (GNOMON, PROGRAMS, bare, case, check, equal, gnomon,
                         main, need, program, recorded)

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "programs", "answers", "changing.c")
BYTES = ("live", "peak", "total")


def diff(*arguments, statuses=(0, 1)):
    done = gnomon("diff", "--json", "--top", "0", *arguments,
                  statuses=statuses)
    document = json.loads(done.out)
    equal(done.status, 1 if document["summary"]["differs"] else 0, "status")
    return document


def by_function(document, cost):
    """{function of the target: (state, before, after)}"""
    result = {}
    for row in document["rows"]:
        names = [frame["function"] for frame in row["stack"]
                 if (frame["function"] or "").startswith("tgt_")]
        if row["cost"] == cost and names:
            result[names[0]] = (row["state"], row["before_value"],
                                row["after_value"])
    return result


def trace_of(directory, *arguments):
    os.mkdir(directory)
    return recorded([program("changing"), *arguments], directory).trace


@case
def two_traces(directory):
    before = trace_of(os.path.join(directory, "a"), "before")
    after = trace_of(os.path.join(directory, "b"), "after")
    document = diff(before, after)
    equal(by_function(document, "live"), {
        "tgt_grown": ("grown", 1000, 3000),
        "tgt_shrunk": ("shrunk", 5000, 2000),
        "tgt_gone": ("gone", 64, 0), "tgt_new": ("new", 0, 48)}, "live")
    equal(by_function(document, "count"), {
        "tgt_grown": ("grown", 10, 30), "tgt_shrunk": ("shrunk", 5, 2),
        "tgt_gone": ("gone", 1, 0), "tgt_new": ("new", 0, 1)}, "count")
    equal(by_function(document, "temporary"), {}, "temporary")
    live = document["summary"]["live"]
    equal([live[state] for state in ("new", "gone", "grown", "shrunk")],
          [1, 1, 1, 1], "states")
    for cost in BYTES:
        difference = sum(row["difference"] for row in document["rows"]
                         if row["cost"] == cost)
        key = cost + "_bytes"
        equal(difference, document["summary"]["after"][key] -
              document["summary"]["before"][key], "sum of " + cost)
    # the other way round everything has the other sign
    turned = diff(after, before)
    equal({name: (old, new) for name, (_, new, old) in
           by_function(turned, "live").items()},
          {name: (old, new) for name, (_, old, new) in
           by_function(document, "live").items()}, "turned")


@case
def runtime_frames_are_left_out(directory):
    before = trace_of(os.path.join(directory, "a"), "before")
    after = trace_of(os.path.join(directory, "b"), "after")
    start = "__libc_start"
    text = gnomon("diff", before, after, statuses=(1,)).out
    check("tgt_grown" in text and "main" in text and start not in text, text)
    text = gnomon("diff", "--runtime-frames", before, after,
                  statuses=(1,)).out
    check(start in text, text)
    done = gnomon("diff", "--json", "--runtime-frames", before, after,
                  statuses=(2,))
    check("leave out the second" in done.err, done.err)
    rules = ["check", "--max-live", "1000", after]
    check(start not in gnomon(*rules, statuses=(1,)).out, "check")
    check(start in gnomon(*rules, "--runtime-frames", statuses=(1,)).out,
          "check, all frames")


@case
def thresholds_and_filters(directory):
    before = trace_of(os.path.join(directory, "a"), "before")
    after = trace_of(os.path.join(directory, "b"), "after")
    document = diff(before, after, "--cost", "live", "--threshold", "2000")
    equal(list(by_function(document, "live")), ["tgt_shrunk"], "over 2000")
    equal(document["summary"]["live"]["below_threshold"], 3, "below")
    document = diff(before, after, "--cost", "live", "--threshold", "3000")
    equal(document["rows"], [], "not larger than the threshold")
    check(not document["summary"]["differs"], "differs")
    # 6564 bytes live before: a third of it is 2166
    document = diff(before, after, "--cost", "live", "--threshold", "33%")
    equal(list(by_function(document, "live")), ["tgt_shrunk"], "over 33 %")
    document = diff(before, after, "--sort", "live", "--function", "tgt_new",
                    "--function", "tgt_gone")
    equal(sorted(by_function(document, "live")), ["tgt_gone", "tgt_new"],
          "filtered")
    document = diff(before, after, "--cost", "live", "--size-max", "100")
    equal(sorted(by_function(document, "live")),
          ["tgt_gone", "tgt_grown", "tgt_new"], "small blocks")


@case
def groups(directory):
    before = trace_of(os.path.join(directory, "a"), "before")
    after = trace_of(os.path.join(directory, "b"), "after")
    for by, rows in (("function", 4), ("site", 4), ("file", 1),
                     ("library", 1)):
        document = diff(before, after, "--cost", "live", "--by", by)
        equal(len(document["rows"]), rows, by)
        equal(sum(row["difference"] for row in document["rows"]),
              2000 - 3000 - 64 + 48, by)
    text = gnomon("diff", before, after, "--by", "file", statuses=(1,)).out
    check("changing.c" in text, text)


@case
def text_within_80_columns(directory):
    before = trace_of(os.path.join(directory, "a"), "before")
    after = trace_of(os.path.join(directory, "b"), "after")
    for by in ("stack", "site", "function", "file", "library"):
        text = gnomon("diff", before, after, "--by", by, statuses=(1,)).out
        for line in text.splitlines()[2:]:
            check(len(line) <= 80, line)
        check(re.search(r"shrunk +-2\.9K  from 4\.9K to 2\.0K", text) or
              by in ("file", "library"), text)
        check(re.search(r"live .* -1016 B", text), text)


@case
def stacks_are_whole(directory):
    trace = recorded([program("copied")], directory).trace
    arguments = ("diff", trace, "--from", "start", "--cost", "live")
    for by, wanted in (("stack", r"\n +\w*strdup .*\n +main "),
                       ("site", r"\n  new     \+11 B\n      main .*\n$")):
        out = gnomon(*arguments, "--by", by, statuses=(1,)).out
        check(re.search(wanted, out), "by %s: %s" % (by, out))
    summary = diff(trace, "--from", "start")["summary"]["after"]
    equal((summary["allocations"], summary["live_bytes"]), (1, 11), "sums")
    check(not [key for key in summary if key.startswith("own_peak")],
          "own peaks have no sum: %s" % summary)


@case
def two_moments(directory):
    trace = trace_of(os.path.join(directory, "a"), "phases")
    document = diff(trace, "--from", "200ms", "--to", "600ms")
    equal(by_function(document, "live"), {
        "tgt_grown": ("shrunk", 1000, 500),
        "tgt_new": ("new", 0, 48)}, "live")
    equal(by_function(document, "count"), {"tgt_new": ("new", 0, 1)}, "count")
    document = diff(trace, "--from", "start", "--to", "200ms")
    equal(by_function(document, "live"), {"tgt_grown": ("new", 0, 1000)},
          "from the start")
    document = diff(trace, "--from", "600ms")
    equal(by_function(document, "live"), {"tgt_gone": ("new", 0, 64)},
          "to the end")
    document = diff(trace, "--from", "600ms", "--to", "600ms")
    equal(document["rows"], [], "one moment")
    gnomon("diff", trace, "--from", "@nowhere", statuses=(2,))
    gnomon("diff", trace, "--from", "soon", statuses=(2,))


@case
def a_program_that_does_the_same(directory):
    need("jq")
    traces = []
    for name in "ab":
        folder = os.path.join(directory, name)
        os.mkdir(folder)
        done = recorded(["jq", "-n", "[range(3000)] | map(. * 2) | add"],
                        folder)
        equal(done.out, "8997000\n", "jq")
        traces.append(done.trace)
    document = diff(*traces)
    equal(document["rows"], [], "two runs")
    check(document["summary"]["count"]["equal"] > 50, "stacks that are equal")
    # they were not at the same addresses
    images = [json.loads(gnomon("info", trace, "--json").out)
              for trace in traces]
    check(str(images[0]) != str(images[1]), "the same run")


@case
def another_build(directory):
    """Comments above, other optimisation of nothing: other addresses. The
    sources of a release lie in a directory of its own."""
    need("gcc")
    traces = []
    for name, flags in (("a", ["-O0"]), ("b", ["-O0", "-falign-functions=64",
                                              "-fno-pie", "-no-pie"])):
        folder = os.path.join(directory, name)
        os.mkdir(folder)
        source = os.path.join(folder, "changing.c")
        shutil.copy(SOURCE, source)
        # the name of a release
        binary = os.path.join(folder, "changing-" + name)
        subprocess.run(["gcc", "-g", *flags, "-fno-builtin", "-o", binary,
                        source], check=True)
        traces.append(recorded([binary, "before"], folder).trace)
    for key in "stack", "site", "function", "file", "line", "library":
        document = diff(*traces, "--by", key)
        equal(by_function(document, "live"), {}, "live by " + key)
        equal(by_function(document, "count"), {}, "count by " + key)


@case
def lines_that_moved_are_told(directory):
    """A line above, in the new version."""
    need("gcc")
    with open(SOURCE, encoding="utf-8") as file:
        original = file.read()
    traces = []
    for name, above in ("a", ""), ("b", "/* new */\n"):
        folder = os.path.join(directory, name)
        os.mkdir(folder)
        with open(os.path.join(folder, "changing.c"), "w",
                  encoding="utf-8") as file:
            file.write(above + original)
        binary = os.path.join(folder, "changing")
        subprocess.run(["gcc", "-g", "-O0", "-o", binary, file.name],
                       check=True)
        traces.append(recorded([binary, "before"], folder).trace)
    told = "of the new differ from a gone one only in lines: --by function"
    check(told in gnomon("diff", *traces, statuses=(1,)).out, "not told")
    check(told not in gnomon("diff", *traces, "--by", "function").out, "told")
    check(told not in gnomon("diff", traces[0], traces[0]).out, "told")


@case
def directories_are_sums(directory):
    one, two = (os.path.join(directory, name) for name in "ab")
    trace_of(one, "before")
    trace = trace_of(two, "before")
    shutil.copy(trace, trace + ".copy.trace")
    document = diff(one, two, "--cost", "live")
    equal(by_function(document, "live")["tgt_grown"], ("grown", 1000, 2000),
          "twice as much")
    equal(document["summary"]["after"]["traces"], 2, "traces")


@case
def into_a_file(directory):
    a, b = (trace_of(os.path.join(directory, name), name)
            for name in ("before", "after"))
    path = os.path.join(directory, "changes")
    for more in ((), ("--json",)):
        done = gnomon("diff", a, b, "--output", path, *more, statuses=(1,))
        equal(done.out, "", "nothing else")
        with open(path) as file:
            equal(file.read(), gnomon("diff", a, b, *more, statuses=(1,)).out,
                  more)
    with open(b, "rb") as file:
        before = file.read()
    gnomon("diff", a, b, "-o", b, statuses=(2,))
    with open(b, "rb") as file:
        equal(file.read(), before, "the trace is as it was")


@case
def wrong_use(directory):
    trace = trace_of(os.path.join(directory, "a"), "before")
    for arguments in ([trace], [], [trace] * 3, [trace, trace + ".none"],
                      [trace, trace, "--threshold", "-1"],
                      [trace, trace, "--cost", "age"]):
        done = bare([GNOMON, "diff", *arguments], cwd=PROGRAMS)
        equal(done.status, 2, " ".join(arguments))
        check(done.err.startswith("gnomon: "), done.err)


main()
