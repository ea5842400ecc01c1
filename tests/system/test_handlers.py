#!/usr/bin/python3
"""Exceptions whose cleanups place barriers at several distances: never over the
return into the frame that handles the exception, which the unwinder would not
recognise (unwind/placement.c), but in other frames."""

from gnomon_test import *
from matrix import *

DISTANCES = (4, 5, 10, 20)
for distance in DISTANCES:
    MODES["near%d" % distance] = {
        "GNOMON_SHADOW_STACK": "auto",
        "GNOMON_DEBUG_BARRIER": str(distance)}


def placed(done, mode):
    """At least one process has some: a target may fork."""
    counts = [number(info(trace).get("counters") or {}, "barriers_placed")
              for trace in done.traces]
    check(max(counts) > 0, mode + ": no barrier was placed")


def near(name, *arguments):
    target("_".join([name, *arguments]), [matrix_program(name), *arguments],
           modes=["near%d" % each for each in DISTANCES], each=placed)


near("throws")
near("throws_late")
near("terminate", "noexcept")
near("terminate", "destructor")
near("terminate", "guarded")

main()
