#!/usr/bin/python3
# TIMEOUT: 240
"""Every cached capture, compared with a full walk, over whole programs."""

from gnomon_test import *
from real_programs import *


def make(name):
    def oracle(directory):
        argv, env = real_program(name, directory)
        done = recorded(argv, directory, env=environment(
            GNOMON_DEBUG_ORACLE=1, **env))
        equal(done.status, 0, "status, stderr: " + done.err)
        # Of several processes, the one that did most of the work.
        counters = info(max(done.traces, key=os.path.getsize))
        checks = int(find_key(counters, "oracle_checks"))
        check(checks > 1000, "%d checks" % checks)
        equal(int(find_key(counters, "oracle_differences")), 0, "differences")
    oracle.__name__ = name
    return oracle


for each in ("sqlite3", "python3", "perl", "cc1plus", "jq"):
    case(make(each))

main()
