#!/usr/bin/python3
# TIMEOUT: 240
"""Counts of allocations against heaptrack's, within 0.1 %. It sees neither
memalign nor pvalloc; none of these programs uses them."""

from gnomon_test import *
from real_programs import *

TOLERANCE = 0.001


def heaptrack_count(argv, changes, directory):
    """Allocations as heaptrack counts them."""
    done = bare(["heaptrack", "-o", os.path.join(directory, "heaptrack"),
                 *argv], environment(**changes))
    equal(done.status, 0, "heaptrack: " + done.err)
    found = re.search(r"^\s*allocations:\s+(\d+)", done.out + done.err, re.M)
    check(found, "heaptrack says nothing of allocations: " + done.err)
    return int(found.group(1))


def make(name):
    def agrees(directory):
        need("heaptrack")
        argv, changes = real_program(name, directory)
        theirs = heaptrack_count(argv, changes, directory)
        done = recorded(argv, directory, env=environment(**changes))
        ours = Report(done.trace).summary["allocations"]
        check(abs(ours - theirs) <= TOLERANCE * theirs,
              "%d against heaptrack's %d" % (ours, theirs))
    agrees.__name__ = name
    return agrees


for each in ("jq", "sqlite3", "perl"):
    case(make(each))

main()
