#!/usr/bin/python3
"""Debuggers and tracers of a recorded program see its own tasks only: they
never stop, follow or wait for gnomon's."""

from gnomon_test import *


def preloaded(directory):
    return environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
        directory, "%e.%p.trace"))


def one_whole_trace(directory, name):
    settle(directory)
    traces = [trace for trace in traces_in(directory) if name in trace]
    equal(len(traces), 1, "traces: %s" % traces)
    adds_up(Report(traces[0]))


@case
def gdb_follows_children(directory):
    """With follow-fork-mode child it would go on with a task of ours, and
    leave the program."""
    need("gdb")
    words = ["set startup-with-shell off", "set follow-fork-mode child",
             "break puts", "set breakpoint pending on", "run", "continue"]
    argv = ["gdb", "-q", "-batch", "-nx",
            *(word for each in words for word in ("-ex", each)),
            program("basic")]
    plain = bare(argv)
    done = bare(argv, preloaded(directory))
    shown = [re.sub(r"0x[0-9a-f]+|\d+", "#", run.out)
             for run in (plain, done)]
    equal(shown[1], shown[0], "what gdb says")
    check("fork" not in done.out, "a fork is spoken of: " + done.out)
    one_whole_trace(directory, "basic")


@case
def strace_follows_all(directory):
    need("strace")
    log = os.path.join(directory, "log")
    argv = ["strace", "-f", "-qq", "-o", log, "-E", "LD_PRELOAD=" + LIBRARY,
            "-E", "GNOMON_OUTPUT=" + os.path.join(
                directory, "%e.%p.trace"), program("basic")]
    done = bare(argv)
    equal(done.status, 0, "status: " + done.err)
    with open(log, encoding="utf-8", errors="replace") as file:
        tasks = {line.split()[0] for line in file}
    equal(len(tasks), 1, "tasks that strace followed: %s" % tasks)
    one_whole_trace(directory, "basic")


main()
