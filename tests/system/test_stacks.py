#!/usr/bin/python3
# TIMEOUT: 240
"""The stacks of every 100th allocation against those of the C runtime's own
unwinder, address by address, over whole programs (see libcompare.c)."""

import collections
import struct

from gnomon_test import *
from real_programs import *


def theirs(path):
    """The code ranges and a Counter of the stacks that were sampled."""
    with open(path, "rb") as file:
        data = file.read()
    words = struct.unpack("<%dQ" % (len(data) // 8), data)
    ours, sampled = words[0:2], words[2:4]
    stacks, at = collections.Counter(), 4
    while at < len(words):
        count = words[at]
        stacks[words[at + 1:at + 1 + count]] += 1
        at += 1 + count
    return ours, sampled, stacks


def recorded_stacks(trace, ours, sampled):
    """The stacks that were captured for the sampled allocations."""
    done = bare([program("trace_dump"), trace])
    equal(done.status, 0, "trace_dump")
    stacks = collections.Counter()
    for line in done.out.splitlines():
        count, root, *addresses = line.split()
        addresses = [int(address, 16) for address in addresses]
        if not addresses or not sampled[0] < addresses[0] <= sampled[1]:
            continue
        rest = [address for address in addresses[1:]
                if not ours[0] <= address < ours[1]]
        stacks[tuple(rest)] += int(count)
    return stacks


def make(name, mode):
    def stacks(directory):
        argv, changes = real_program(name, directory)
        output = os.path.join(directory, "stacks")
        done = bare(argv, environment(
            LD_PRELOAD=program("libcompare.so") + ":" + LIBRARY,
            GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"),
            GNOMON_SHADOW_STACK=mode, COMPARE_OUTPUT=output, **changes),
            seconds=200)
        equal(done.status, 0, "status, stderr: " + done.err)
        settle(directory)
        trace, = traces_in(directory)
        ours, sampled, wanted = theirs(output)
        got = recorded_stacks(trace, ours, sampled)
        total = sum(wanted.values())
        check(total > 100, "only %d samples" % total)
        equal(sum(got.values()), total, "samples")
        missing = sum((wanted - got).values())
        examples = list((wanted - got).items())[:2] + \
            list((got - wanted).items())[:2]
        check(missing == 0, "%d of %d stacks differ: %s" % (
            missing, total, "\n".join(
                "%d × %s" % (count, " ".join("%x" % pc for pc in stack))
                for stack, count in examples)))
    stacks.__name__ = "%s_%s" % (name, mode)
    return stacks


for each in ("python3", "perl", "cc1plus", "sqlite3", "jq"):
    case(make(each, "auto"))
case(make("python3", "off"))

main()
