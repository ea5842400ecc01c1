#!/usr/bin/python3
"""Exits that involve other threads than the main one: status and output are the
program's own, and the trace has all that was counted."""

import resource

from gnomon_test import *

WAYS = ["thread_exit", "thread__exit", "thread_abort", "thread_fault",
        "outlive", "handlers", "quick"]


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_both(way, directory, by):
    argv = [program("leaving"), way]
    alone = bare(argv, preexec_fn=no_core)
    done = recorded(argv, directory, by=by, preexec_fn=no_core)
    equal((done.status, done.out), (alone.status, alone.out), "result")
    return done, Report(done.trace)


def make(way, by):
    def leaves(directory):
        done, report = run_both(way, directory, by)
        agree(done.expected, report)
        equal(info(done.trace)["end"]["reason"], "exit", "reason")
    leaves.__name__ = "%s_by_%s" % (way, by)
    return leaves


for each in WAYS:
    for means in "run", "preload":
        case(make(each, means))


@case
def threads_before_and_after_main(directory):
    """Threads of constructors, of destructors, of thread-local ones."""
    alone = bare([program("early")])
    for by in "run", "preload":
        part = os.path.join(directory, by)
        os.mkdir(part)
        done = recorded([program("early")], part, by=by)
        equal((done.status, done.out), (0, alone.out), "result: " + done.err)
        agree(done.expected, Report(done.trace))


@case
def threads_allocate_while_the_process_ends(directory):
    """Nobody knows how far they get; what was counted is all there."""
    for by in ("run", "preload"):
        part = os.path.join(directory, by)
        os.mkdir(part)
        done, report = run_both("busy", part, by)
        sums = report.sums()
        for key, value in sums.items():
            equal(value, done.expected[key], by + ": " + key)
        equal(report.summary["dropped"], 0, "dropped")
        check(report.sums("never_stop")["allocations"] > 1000, "the others")


main()
