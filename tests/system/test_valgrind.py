#!/usr/bin/python3
"""A program under valgrind, which knows no task that shares memory without
being a thread: it is not recorded, and not harmed."""

from gnomon_test import *


@case
def under_valgrind(directory):
    need("valgrind")
    argv = ["valgrind", "-q", "--error-exitcode=9", program("basic")]
    plain = bare(argv)
    equal(plain.status, 0, "without gnomon")
    env = environment(LD_PRELOAD=LIBRARY,
                      GNOMON_OUTPUT=os.path.join(directory, "%p.trace"))
    done = bare(argv, env)
    equal(done.status, 0, "status; stderr: " + done.err)
    equal(done.out, plain.out, "output")
    check("not recorded" in done.err, "a message: " + done.err)
    settle(directory)


main()
