#!/usr/bin/python3
"""A process that is not dumpable, and a child forked from it: the process
itself opens the files of /proc that the recorder needs."""

from gnomon_test import *


@case
def undumpable_program_is_recorded_completely(directory):
    need_root("become another user")
    need_reach()
    os.chmod(directory, 0o777)
    done = recorded([program("undumpable")], directory, by="preload")
    if done.status == 77:
        raise Skip("not allowed here")
    equal((done.status, done.err), (0, ""), "the program")
    equal(len(done.traces), 2, "traces")
    for trace in done.traces:
        document = info(trace)
        equal(find_key(document, "exe"), program("undumpable"), "program")
        check(int(find_key(document, "maps_looks")) > 0, "maps")
        check(int(find_key(document, "usage_details")) > 0, "sizes")
        with open(trace, "rb") as file:
            check(b"/libc" in file.read(), "no path of the C library")


main()
