#!/usr/bin/python3
"""A recorder that is stopped, or makes no progress for long: the program
continues without it, and unrecorded events are reported."""

import signal

from gnomon_test import *


def stopped(directory, *options):
    """What came of a program that needs more and more of a recorder that is
    stopped: its output, the report and the counters."""
    trace = os.path.join(directory, "x.trace")
    process = subprocess.Popen(
        [program("node_flood")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=trace,
                        **dict(options)))
    try:
        equal(process.stdout.readline(), b"ready\n", "its first line")
        recorder = recorder_of(trace)
        os.kill(recorder, signal.SIGSTOP)
        try:
            out, _ = process.communicate(b"\n", RUN_SECONDS)
        finally:
            os.kill(recorder, signal.SIGCONT)
    finally:
        process.kill()
        process.wait()
    equal(process.returncode, 0, "status")
    settle(directory)
    return Done(0, out.decode(), "", directory).expected, trace


@case
def program_continues_without_its_recorder(directory):
    """At most a few waits of seconds, not one at each new stack, or in each
    new thread."""
    for overflow in "wait", "drop":
        part = os.path.join(directory, overflow)
        os.mkdir(part)
        expected, trace = stopped(part, ("GNOMON_OVERFLOW", overflow))
        report = Report(trace)
        check(report.summary["dropped"] > 0, overflow + ": nothing dropped")
        check(0 < report.summary["allocations"] < expected["allocations"],
              "%s: %d of %d" % (overflow, report.summary["allocations"],
                                expected["allocations"]))
        equal(find_key(info(trace), "reason"), "exit", "end")


@case
def program_is_recorded_completely(directory):
    """The same program is recorded whole."""
    process = bare([GNOMON, "run", "-q", "-o",
                    os.path.join(directory, "x.trace"), program("node_flood")])
    equal(process.status, 0, process.err)
    agree(process.expected, Report(os.path.join(directory, "x.trace")))


main()
