#!/usr/bin/python3
# TIMEOUT: 900
"""No memory: each allocation of the library's own fails, and of the recorder's,
each reservation in the live mapping, and each time a task of ours is to be
made."""

from faults import *

TARGET = [program("fault_target"), "100"]
TASK_ERRORS = {"EPERM": 1, "EAGAIN": 11, "ENOMEM": 12, "ENOSYS": 38}


def failures_of(kind, times, **more):
    """Every one alone, and all from each on; in short, some of them."""
    step = 1 if FULL else 5
    for nth in range(1, times + 1):
        if nth % step == 0 or nth == times:
            yield "%d on" % nth, fault(nr=kind, nth=nth, count=0, **more)
        if FULL or nth % step == 1:
            yield "%d" % nth, fault(nr=kind, nth=nth, count=1, **more)


def times_of(directory, kind):
    times = counting_run(directory, TARGET).most(kind)
    check(times, "none were made")
    return times


@case
def each_allocation(directory):
    times = times_of(directory, ALLOC)
    sweep(directory, TARGET, list(failures_of(ALLOC, times)),
          judged=lambda run, alone: judge(run, alone, stacks=False))


@case
def each_reservation(directory):
    times = times_of(directory, RESERVE)
    sweep(directory, TARGET, list(failures_of(RESERVE, times)))


@case
def each_task(directory):
    times = times_of(directory, CLONE)
    sweep(directory, TARGET, [
        ("%s %s" % (name, error), spec)
        for error, number in TASK_ERRORS.items()
        for name, spec in failures_of(CLONE, times, error=number)])


main()
