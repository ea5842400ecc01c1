#!/usr/bin/python3
"""`gnomon report --sizes`: live memory over time, bytes copied by realloc."""

import re

from gnomon_test import *


def sections(trace, *options):
    out = gnomon("report", trace, "--sizes", *options).out
    return (out[out.index("\nOVER TIME"):out.index("\nREALLOC CHAINS")],
            out[out.index("\nREALLOC CHAINS"):])


def bytes_of(text):
    """Of `1.5M`, `640 B`: about."""
    number, unit = re.match(r"([\d.]+) ?([BKMG])$", text).groups()
    return float(number) * 1024 ** "BKMG".index(unit)


def near(got, wanted, what):
    check(abs(got - wanted) <= wanted / 50 + 1, "%s: %d, wanted %d" % (
        what, got, wanted))


@case
def the_timeline_ends_with_what_is_live_and_has_the_peak(directory):
    done = recorded([program("wordy")], directory)
    summary = Report(done.trace).summary
    over_time, _ = sections(done.trace)
    lives = [bytes_of(re.match(r"\S+ +([\d.]+(?:[KMG]| B)) ", line.strip())
                      .group(1)) for line in over_time.splitlines()
             if re.match(r" +[\d.]+(us|ms|s) ", line)]
    equal(len(lives), 16, "rows")
    near(max(lives), summary["peak_bytes"], "peak")
    # the most of a sixteenth, in which some is freed
    check(summary["live_bytes"] * 0.98 <= lives[-1] <=
          summary["peak_bytes"] * 1.02, "at the end: %d" % lives[-1])
    check(over_time.count("##############") >= 1, "a longest bar")
    check("resident" in over_time, "resident")


@case
def the_chains_are_those_of_the_program(directory):
    trace = recorded([program("wordy")], directory).trace
    _, chains = sections(trace, "--function", "grow_by_realloc")
    steps = [int(number) for number in
             re.findall(r" copied in \d+ of (\d+) steps$", chains, re.M)]
    equal(steps, [99 + 19], "steps: %s" % chains)
    check("2 blocks, from 1000 B to 58.6K on average, in up to 99 steps" in
          chains, chains)
    check("grow_by_realloc  wordy.cc:" in chains, chains)
    _, chains = sections(trace, "--not-function", "grow_by_realloc")
    check("\n      none\n" in chains, chains)


@case
def only_of_one_trace(directory):
    recorded([program("wordy")], directory)
    recorded([program("wordy")], directory)
    out = gnomon("report", "--merge", directory, "--sizes").out
    check("SIZES" in out and "OVER TIME" not in out and
          "REALLOC" not in out, out)


if __name__ == "__main__":
    main()
