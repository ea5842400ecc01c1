#!/usr/bin/python3
# TIMEOUT: 240
"""The stacks of every 100th allocation, compared with those of the C runtime's
unwinder, address by address, over whole programs (see libcompare.c)."""

from gnomon_test import *
from real_programs import *
from stack_samples import compare


def make(name, mode):
    def stacks(directory):
        argv, changes = real_program(name, directory)
        output = os.path.join(directory, "stacks")
        done = bare(argv, environment(
            LD_PRELOAD=program("libcompare.so") + ":" + LIBRARY,
            GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"),
            GNOMON_SHADOW_STACK=mode, COMPARE_OUTPUT=output, **changes))
        equal(done.status, 0, "status, stderr: " + done.err)
        settle(directory)
        trace, = traces_in(directory)
        compare(trace, output, least=100)
    stacks.__name__ = "%s_%s" % (name, mode)
    return stacks


for each in ("python3", "perl", "cc1plus", "sqlite3", "jq"):
    case(make(each, "auto"))
case(make("python3", "off"))

main()
