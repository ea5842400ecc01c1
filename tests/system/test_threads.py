#!/usr/bin/python3
"""Many threads, at once and one after the other: no event and no thread is
lost."""

from gnomon_test import *

# The end of a thread is seen by looking, not so where the process has ended
# before: this long after its last thread all have been looked at.
AFTERWARDS_MS = 1000


def storm(directory, count, at_once, *more):
    argv = [program("storm"), str(count), str(at_once), *more]
    done = recorded(argv, directory)
    equal(done.status, 0, "status: " + done.err)
    agree(done.expected, Report(done.trace))
    found = info(done.trace)
    equal(len(found["threads"]), count + 1, "threads")
    return found


@case
def storm_of_short_threads(directory):
    """Rings are used again and again; nothing is lost, nor is a thread."""
    found = storm(directory, 20000, 1, str(AFTERWARDS_MS))
    check(found["counters"]["ring_bytes"] < 32 << 20, "memory of rings: %d"
          % found["counters"]["ring_bytes"])
    for each in found["threads"]:
        if not each["main"]:
            check(each["start_ns"] <= each.get("end_ns", 0), "%r" % each)


@case
def storm_of_many_at_once(directory):
    storm(directory, 6000, 50)


@case
def crowd(directory):
    """Five thousand threads at one time, within the memory allowed."""
    done = recorded([program("many_threads"), "5000"], directory)
    equal(done.status, 0, "status: " + done.err)
    agree(done.expected, Report(done.trace))
    found = info(done.trace)
    equal(len(found["threads"]), 5001, "threads")
    counters = found["counters"]
    check(counters["ring_bytes"] + counters["area_bytes"] < 256 << 20,
          "memory: %r" % counters)


main()
