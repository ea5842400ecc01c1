#!/usr/bin/python3
# TIMEOUT: 240
"""Real programs behave the same with and without the profiler."""

from gnomon_test import *
from real_programs import *


def make(name):
    def same(directory):
        argv, changes = real_program(name, directory)
        alone = bare(argv, environment(**changes))
        traces = os.path.join(directory, "traces")
        os.mkdir(traces)
        done = recorded(argv, traces, by="preload",
                        env=environment(**changes))
        equal((done.status, done.out, done.err),
              (alone.status, alone.out, alone.err), "result")
        check(alone.status == 0, "the program itself fails: " + alone.err)
        check(done.traces, "no trace")
        for trace in done.traces:
            adds_up(Report(trace), trace + ": ", forked=True)
    same.__name__ = name.replace("+", "p")
    return same


for each in ("bash", "git", "python3", "perl", "g++", "sqlite3", "jq"):
    case(make(each))


def reaches_bottom(name):
    def bottom(directory):
        """Nearly all stacks end in the outermost frame."""
        argv, changes = real_program(name, directory)
        done = recorded(argv, directory, env=environment(**changes))
        counters = info(max(done.traces, key=os.path.getsize))
        stops = {key: int(value) for key, value in all_keys(counters)
                 if key.startswith("stop_")}
        total = sum(stops.values())
        check(total > 0, "no stops are counted")
        check(stops.get("stop_bottom", 0) >= 0.999 * total, "stops %s" % stops)
    bottom.__name__ = name.replace("+", "p") + "_stacks_reach_the_bottom"
    return bottom


def all_keys(document):
    if isinstance(document, dict):
        for key, value in document.items():
            if isinstance(value, (dict, list)):
                yield from all_keys(value)
            else:
                yield key, value
    elif isinstance(document, list):
        for value in document:
            yield from all_keys(value)


for each in ("python3", "perl", "cc1plus", "sqlite3", "jq"):
    case(reaches_bottom(each))

main()
