"""Reads stacks out of traces, address by address, and the stacks that the C
runtime's unwinder found for the same allocations (libcompare.c)."""

import collections
import struct

from gnomon_test import bare, check, equal, program


def contexts(trace):
    """(allocations, root, address …) of each context, innermost first; root
    is 0 where the stack is whole (enum gt_stop)."""
    done = bare([program("trace_dump"), trace])
    equal(done.status, 0, "trace_dump")
    for line in done.out.splitlines():
        count, root, *addresses = line.split()
        yield (int(count), int(root),
               *(int(address, 16) for address in addresses))


def sampled_stacks(path):
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
    stacks = collections.Counter()
    for count, _, *addresses in contexts(trace):
        if not addresses or not sampled[0] < addresses[0] <= sampled[1]:
            continue
        rest = [address for address in addresses[1:]
                if not ours[0] <= address < ours[1]]
        stacks[tuple(rest)] += count
    return stacks


def cut_to(stacks, wanted):
    """Each as far as the longest of `wanted` that it begins with."""
    result = collections.Counter()
    lengths = sorted({len(stack) for stack in wanted}, reverse=True)
    for stack, count in stacks.items():
        cut = next((stack[:n] for n in lengths if stack[:n] in wanted), stack)
        result[cut] += count
    return result


def compare(trace, output, prefixes=False, least=10):
    """All that was sampled is in the trace, and is the same there; with
    `prefixes`, as far as it goes."""
    ours, sampled, wanted = sampled_stacks(output)
    got = recorded_stacks(trace, ours, sampled)
    total = sum(wanted.values())
    check(total > least, "only %d samples" % total)
    equal(sum(got.values()), total, "samples")
    if prefixes:
        got = cut_to(got, wanted)
    missing = sum((wanted - got).values())
    examples = list((wanted - got).items())[:2] + \
        list((got - wanted).items())[:2]
    check(missing == 0, "%d of %d stacks differ: %s" % (
        missing, total, "\n".join(
            "%d × %s" % (count, " ".join("%x" % pc for pc in stack))
            for stack, count in examples)))
