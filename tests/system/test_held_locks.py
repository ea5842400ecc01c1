#!/usr/bin/python3
"""A thread holds another component's lock (the loader's, stdio's, the
allocator's) for any time. Meanwhile a recorded program can do everything that
it can do without gnomon."""

import glob

from gnomon_test import *

WAYS = ("auto", "validate", "off")
# Ended by the programs themselves long before.
SECONDS = 120
LIBRARY_HELD = program("libheld.so")


def sums(done):
    return {key: value for key, value in done.expected.items()}


@case
def callback_of_dl_iterate_phdr_holds_a_lock(directory):
    """The callback of dl_iterate_phdr wants what allocating threads hold."""
    alone = bare([program("loader_lock")], seconds=SECONDS)
    equal(alone.status, 0, "status alone")
    for way in WAYS:
        inside = os.path.join(directory, way)
        os.mkdir(inside)
        done = recorded([program("loader_lock")], inside, seconds=SECONDS,
                        options=("--shadow-stack", way))
        equal((done.status, sums(done)), (0, sums(alone)), way)
        agree(done.expected, Report(done.trace), way + ": ")


@case
def listing_under_the_oracle(directory):
    done = recorded([program("loader_lock")], directory, seconds=SECONDS,
                    env=environment(GNOMON_DEBUG_ORACLE=1))
    equal(done.status, 0, "status")
    facts = info(done.trace)
    check(int(find_key(facts, "oracle_checks")) > 1000, "checks")
    equal(find_key(facts, "oracle_differences") or 0, 0, "differences")


def make(lock):
    def held(directory):
        argv = [program("held_locks"), lock, LIBRARY_HELD]
        alone = bare(argv, seconds=SECONDS)
        equal(alone.status, 0, "status alone: " + alone.out)
        for way in WAYS:
            inside = os.path.join(directory, way)
            os.mkdir(inside)
            done = recorded(argv, inside, seconds=SECONDS,
                            options=("--shadow-stack", way))
            equal(done.status, 0, "%s: %s" % (way, done.out + done.err))
            equal(sums(done), sums(alone), way)
            # the children's are there as well
            first = max(glob.glob(inside + "/held_locks.*.trace"),
                        key=os.path.getsize)
            report = Report(first)
            equal(report.summary["dropped"], 0, way + ": dropped")
            equal(report.sums(), {key: done.expected[key]
                                  for key in report.sums()}, way)
    held.__name__ = "held_" + lock
    return held


for each in ("none", "iterate", "constructor", "streams", "list", "arena"):
    case(make(each))


main()
