#!/usr/bin/python3
# TIMEOUT: 240
"""Counts of allocations against heaptrack's, within 0.1 %. It sees neither
memalign nor pvalloc; none of these programs uses them."""

from gnomon_test import *
from real_programs import *

TOLERANCE = 0.001


def heaptrack_count(argv, changes, directory):
    """Allocations as heaptrack_print counts them."""
    base = os.path.join(directory, "heaptrack")
    done = bare(["heaptrack", "--record-only", "-o", base, *argv],
                environment(**changes))
    equal(done.status, 0, "heaptrack: " + done.err)
    data, = [os.path.join(directory, name) for name in os.listdir(directory)
             if name.startswith("heaptrack.")]
    text = bare(["heaptrack_print", "-p0", "-a0", "-T0", "-l0", data]).out
    found = re.search(r"calls to allocation functions: (\d+)", text)
    check(found, "heaptrack_print says nothing of allocations: " + text[:500])
    return int(found.group(1))


def make(name):
    def agrees(directory):
        need("heaptrack", "heaptrack_print")
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
