#!/usr/bin/python3
"""A program that locks its memory locks only its own: its limit suffices as
without a recorder, and reserved memory does not become resident."""

from gnomon_test import *

# What the loader has of the library, of which the kernel may map all that is
# in its cache, and the rings' first pages.
OURS_KIB = 3 << 9
NOBODY = "65534"


def both(directory, *arguments):
    argv = [program("lockall"), *arguments]
    alone, done = bare(argv), recorded(argv, directory)
    equal(done.status, alone.status, "status, stderr: " + done.err)
    equal(alone.status, 0, "status alone")
    for key in ("result", "later", "wrong"):
        equal(done.expected[key], alone.expected[key], key)
    return alone.expected, done.expected


@case
def without_a_limit(directory):
    alone, done = both(directory)
    if alone["result"]:
        raise Skip("nobody may lock memory here")
    for key in ("locked_kib", "resident_kib"):
        more = done[key] - alone[key]
        check(0 <= more < OURS_KIB, "%s: %d more" % (key, more))
    check(done["later_kib"] >= 64, "later memory is not locked")


@case
def within_a_limit(directory):
    """What is enough for the program is far less than we have reserved."""
    need_root("become another user")
    alone, _ = both(directory)
    os.chmod(directory, 0o777)
    kib = alone["locked_kib"] + OURS_KIB
    bare_one, done = both(directory, str(kib), NOBODY)
    equal(bare_one["result"], 0, "result alone")
    check(done["locked_kib"] - bare_one["locked_kib"] < OURS_KIB, "locked")


@case
def beyond_a_limit(directory):
    need_root("become another user")
    os.chmod(directory, 0o777)
    alone, _ = both(directory, "256", NOBODY)
    equal(alone["result"], 1, "result alone")


main()
