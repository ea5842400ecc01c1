#!/usr/bin/python3
"""`gnomon export`: common properties of all formats, and collapsed stacks."""

import json
import os
import shutil
import subprocess

from exported import PROGRAMS, SUMMARY, exported, summary, trace
from gnomon_test import (GNOMON, RUN_SECONDS, bare, case, check, environment,
                         equal, gnomon, main, program, recorded)


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
                        ("many_names", ("--lifetime-max", "10s"))):
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


def told(path, *words, statuses=(0,)):
    return gnomon("export", path, *words, "-o", os.devnull,
                  statuses=statuses).err


@case
def what_was_not_recorded_is_said(directory):
    argv = [program("sampled"), "1", "500"]
    part = recorded(argv, directory, options=["--min-size", "200"]).trace
    said = summary(part)
    number = "{:,} allocations".format(said["unrecorded_allocations"])
    for words in (["json"], ["csv", "--by", "block"], ["heaptrack"],
                  ["collapsed"]):
        check(number in told(part, "-F", *words), "%s: nothing" % words)
    got = json.loads(exported(part, "json"))["summary"]
    for key in ("unrecorded_allocations", "unrecorded_bytes"):
        equal(got[key], said[key], key)
    equal(got["allocations"] + got["unrecorded_allocations"],
          said["allocations"], "in all")
    equal(told(trace("many_names"), "-F", "json"), "", "of a whole trace")


@case
def sums_alone_are_said(directory):
    """Without stacks there are neither blocks nor a peak."""
    path = recorded([program("sampled"), "1", "500"], directory,
                    options=["--depth", "0"]).trace
    check("the peak (" in told(path, "-F", "massif"), "no word of the peak")
    check("blocks were left out" in told(path, "-F", "csv", "--by", "block"),
          "an empty list")
    check("filters" in told(path, "-F", "json", "--size-min", "2"),
          "no word of what filters leave")


@case
def pipes_are_read_once(directory):
    """`-` is standard input; what needs more leaves the output alone."""
    path = os.path.join(directory, "out")
    with open(trace("many_names"), "rb") as file:
        data = file.read()
    for form in ("replay", "heaptrack"):
        with open(path, "w", encoding="utf-8") as file:
            file.write("before")
        done = subprocess.run([GNOMON, "export", "-F", form, "-", "-o", path],
                              input=data, env=environment(),
                              timeout=RUN_SECONDS,
                              stderr=subprocess.PIPE, check=False)
        equal(done.returncode, 2, form)
        check(b"regular file" in done.stderr, done.stderr)
        with open(path, encoding="utf-8") as file:
            equal(file.read(), "before", form)
    done = subprocess.run([GNOMON, "export", "-F", "collapsed", "-"],
                          input=data, env=environment(), timeout=RUN_SECONDS,
                          stdout=subprocess.PIPE, check=True)
    equal(sorted(done.stdout.decode().splitlines()),
          sorted(exported(trace("many_names"), "collapsed").splitlines()),
          "through a pipe")


@case
def what_does_not_fit_is_refused(directory):
    path = trace("many_names")
    for words, why in ((("-F", "replay", "--threads"), "always has"),
                       (("-F", "json", "--threads"), "--by block"),
                       (("-F", "csv", "--by", "block", "--threads"),
                        "always has"),
                       (("-F", "collapsed", "--threads"), "not support")):
        check(why in told(path, *words, statuses=(2,)), words)
    for words in (("--svg", "--html"), ("-o", "a.png")):
        done = bare([GNOMON, "flamegraph", path, *words], environment(),
                    cwd=directory)
        equal((done.status, done.out), (2, ""), words)
    equal(os.listdir(directory), [], "files")
    for command in ((), ("run",), ("export",)):
        equal(gnomon(*command, "-h").out, gnomon(*command, "--help").out, "-h")


main()
