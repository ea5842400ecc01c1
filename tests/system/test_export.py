#!/usr/bin/python3
"""`gnomon export`: what all formats have in common, and collapsed stacks."""

import os
import shutil

from exported import PROGRAMS, SUMMARY, exported, summary, trace
from gnomon_test import GNOMON, bare, case, check, environment, equal, main


def stacks(text):
    """(frames, value) of each line."""
    for line in text.splitlines():
        stack, _, value = line.rpartition(" ")
        yield stack.split(";"), int(value)


def collapsed_total(path, cost, *words):
    return sum(value for _, value in stacks(
        exported(path, "collapsed", "--cost", cost, *words)))


@case
def collapsed_adds_up(directory):
    """Of each program, by each cost."""
    for name in PROGRAMS:
        said = summary(trace(name))
        for cost, key in SUMMARY.items():
            equal(collapsed_total(trace(name), cost), said[key],
                  "%s %s" % (name, cost))


@case
def filters_hold(directory):
    for name, words in (("sqlite3", ("--function", "sqlite3_step")),
                        ("python3", ("--size-min", "1k")),
                        ("cc1plus", ("--alive-at", "50%")),
                        ("many_names", ("--lifetime-max", "1ms"))):
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        for cost in ("live", "count"):
            equal(collapsed_total(trace(name), cost, *words),
                  said[SUMMARY[cost]], "%s %s %s" % (name, words, cost))


@case
def names_survive(directory):
    """No frame is lost or cut in two, whatever its name."""
    lines = list(stacks(exported(trace("many_names"), "collapsed", "--cost",
                                 "count", "--full-names")))
    frames = {frame for stack, _ in lines for frame in stack}
    for name in ("odd name with blanks", "odd'quote,comma`",
                 "odd:semicolon#hash", "odd<a>&amp:{b}[c] 17",
                 "größe_日本(unsigned long)",
                 "operators::operator,(unsigned long)"):
        check(name in frames, "%s is not among %s" % (name, sorted(frames)))
    check(max(map(len, frames)) > 10000, "the long name is shorter")
    inlined = [stack for stack, _ in lines if stack[-2] == "innermost"]
    check(inlined and all(stack[-4:-1] == ["outer(unsigned long)", "middle",
                                           "innermost"] for stack in inlined),
          "inlined frames: %s" % inlined)


@case
def output_is_kept(directory):
    """A trace that cannot be read, or would be overwritten, costs nothing."""
    path = os.path.join(directory, "out")
    with open(path, "w", encoding="utf-8") as file:
        file.write("before")
    exported(os.path.join(directory, "none"), "collapsed", output=path,
             statuses=(2,))
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "before", "content")
    copy = shutil.copy(trace("many_names"), os.path.join(directory, "copy"))
    exported(copy, "collapsed", output=copy, statuses=(2,))
    check(summary(copy)["allocations"] > 0, "the trace")
    done = bare([GNOMON, "export", trace("many_names")], environment())
    equal(done.status, 2, "without a format")
    check("--format" in done.err, done.err)


main()
