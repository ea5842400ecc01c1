#!/usr/bin/python3
"""Exports in bounded memory: two traces with the same contexts, one eight times
as long as the other, take the same memory. Longer ones: `make
bench-exports`."""

import os
import subprocess

from gnomon_test import (BUILD, GNOMON, RUN_SECONDS, case, check, environment,
                         equal, main)

GENERATE = os.path.join(BUILD, "bench", "bench-generate")
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "bench", "models", "cc1plus.txt")
EVENTS = (500_000, 4_000_000)
CONTEXTS = 10_000
LIVE = 10_000
GROWTH_MAX_KB = 6 << 10
# Pairs of a size and a stack are kept, up to a million of them, and here are
# many sizes.
HEAPTRACK_MAX_KB = 24 << 10
SECONDS = 60

FORMATS = (
    ("pprof",), ("collapsed",), ("speedscope",), ("heaptrack",), ("replay",),
    ("json",), ("ndjson",), ("csv",), ("csv", "--by", "block"), ("dhat",),
    ("massif",), ("massif", "--library", "generated"), ("callgrind",),
    ("firefox",))


def peak_kb(*argv):
    """Of a command whose output is thrown away."""
    child = subprocess.Popen([GNOMON, *argv], env=environment(),
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    equal(child.returncode, 0, "status of " + " ".join(argv))
    return usage.ru_maxrss


def generated(directory):
    traces = []
    for events in EVENTS:
        traces.append(os.path.join(directory, "%d.trace" % events))
        subprocess.run([GENERATE, MODEL, traces[-1], "--events", str(events),
                        "--contexts", str(CONTEXTS), "--live", str(LIVE)],
                       check=True, timeout=RUN_SECONDS)
    return traces


@case
def memory_is_that_of_contexts_and_live_blocks(directory):
    traces = generated(directory)
    wrong = []
    for argv in (*(("export", "--format", *words) for words in FORMATS),
                 ("flamegraph", "--svg"), ("flamegraph", "--html")):
        short, long = (peak_kb(*argv, "-q", trace) for trace in traces)
        limit = HEAPTRACK_MAX_KB if "heaptrack" in argv else GROWTH_MAX_KB
        if long > short + limit:
            wrong.append("%s: %d kB of %d events, %d kB of %d" % (
                " ".join(argv), short, EVENTS[0], long, EVENTS[1]))
    check(not wrong, "\n".join(wrong))


main()
