#!/usr/bin/python3
"""A program under valgrind, which does not support tasks that share memory
without being threads: it is recorded, and not harmed."""

from gnomon_test import *


def under_valgrind(directory, name, *options):
    """The run, and the program's trace: valgrind's launchers have others."""
    need("valgrind")
    argv = ["valgrind", "-q", *options, program(name)]
    plain = bare(argv)
    equal(plain.status, 0, "without gnomon")
    done = bare(argv, environment(LD_PRELOAD=LIBRARY,
                                  GNOMON_OUTPUT=os.path.join(directory,
                                                             "%e.trace")))
    equal((done.status, done.out), (plain.status, plain.out),
          "result; stderr: " + done.err)
    check("gnomon:" not in done.err, "a message: " + done.err)
    settle(directory)
    return done, os.path.join(directory, name + ".trace")


@case
def programs_are_recorded_under_valgrind(directory):
    done, trace = under_valgrind(directory, "basic", "--tool=none")
    agree(done.expected, Report(trace))
    check_no_live_file(trace)


@case
def memcheck_finds_no_error(directory):
    """Where valgrind has its own allocator in front of ours."""
    _, trace = under_valgrind(directory, "basic", "--error-exitcode=9")
    equal(info(trace)["dropped"], 0, "dropped")


main()
