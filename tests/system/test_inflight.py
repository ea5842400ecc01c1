#!/usr/bin/python3
"""Libraries that are closed while threads are or were inside, that are loaded
into namespaces of their own, and that audit the loader."""

from gnomon_test import *

LIBINFLIGHT = program("libinflight.so")
JOBS = 60 * 3
OUTSIDE = 2 * JOBS  # allocations of the program before and after its visit
OF_LOADER = JOBS  # and for thread-local data, in the middle of it


def whole(report):
    equal(report.summary["stopped"], 0, "stacks that are not whole")


@case
def unloaded_under_threads(directory):
    for name, env in (("plain", {}),
                      ("off", {"GNOMON_SHADOW_STACK": "off"}),
                      ("barriers", {"GNOMON_DEBUG_BARRIER": 2}),
                      ("oracle", {"GNOMON_DEBUG_ORACLE": 1})):
        part = os.path.join(directory, name)
        os.mkdir(part)
        done = recorded([program("inflight"), LIBINFLIGHT], part,
                        env=environment(**env))
        equal(done.status, 0, "status: " + done.err)
        report = Report(done.trace)
        agree(done.expected, report, name + ": ")
        whole(report)
        equal(report.sums("inflight_start")["allocations"],
              done.expected["allocations"] - OUTSIDE + OF_LOADER,
              "through the library")
        counters = info(done.trace)["counters"]
        equal(counters["oracle_differences"], 0, "differences")


@case
def libraries_in_namespaces(directory):
    """What another C library allocates there is not seen; what our own does,
    called from there, is."""
    done = recorded([program("namespaces"), LIBINFLIGHT], directory)
    alone = bare([program("namespaces"), LIBINFLIGHT])
    equal((done.status, done.out), (0, alone.out), "result: " + done.err)
    check("another_allocator 1" in done.out, done.out)
    report = Report(done.trace)
    agree(done.expected, report)
    check(1234 not in [row["total_bytes"] for row in report.rows],
          "a block of the other allocator")


@case
def program_under_an_auditor(directory):
    env = environment(LD_AUDIT=program("libaudit.so"))
    for argv in ([program("mixture")],
                 [program("inflight"), LIBINFLIGHT]):
        part = os.path.join(directory, os.path.basename(argv[0]))
        os.mkdir(part)
        alone = bare(argv, env)
        done = recorded(argv, part, by="preload", env=env)
        equal((done.status, done.out), (alone.status, alone.out), done.err)
        report = Report(done.trace)
        agree(done.expected, report)
        whole(report)


main()
