#!/usr/bin/python3
# TIMEOUT: 300
"""An assertion of the library that fails (unwind/base/assertion.h): the recording
ends and says which it was, once; the program goes on as if nothing was
recorded."""

from faults import *

TARGET = [program("fault_target"), "4000"]
RING_ASSERT = "ring_is_valid(ring)"


@case
def ends_the_recording(directory):
    alone = bare(TARGET)
    run = Run(TARGET, os.path.join(directory, "run"),
              fault(nr=ASSERT, nth=1, count=1))
    check(run.log.failed == 1, "the assertion was not reached")
    equal((run.done.status, run.done.out), (alone.status, alone.out), "result")
    check(not run.stayed, "processes were left: %s" % run.stayed)
    said = [line for line in run.done.err.splitlines() if RING_ASSERT in line]
    equal(len(said), 1, "messages: " + run.done.err)
    found = re.fullmatch(r"gnomon: assertion failed: "
                         r"(preload/ring/ring\.c:\d+: .*): recording has "
                         r"stopped", said[0])
    check(found, "message: " + said[0])
    told = []
    for trace in traces_in(run.directory):
        done = gnomon("info", trace, statuses=(0, 3))
        if found.group(1) in done.out + done.err:
            told.append(trace)
    equal(len(told), 1, "traces that say so")


@case
def all_hold(directory):
    """As it runs, with all of them looked at."""
    alone = bare(TARGET)
    run = Run(TARGET, os.path.join(directory, "run"))
    judge(run, alone)
    check(run.log.sites and any(nr == ASSERT for nr, _ in run.log.sites),
          "no assertion was reached")
    check("assertion failed" not in run.done.err, run.done.err)


main()
