#!/usr/bin/python3
"""Where each block lies in the C library's heap, and its usable size, compared
with what the program queries itself. Other allocators' blocks have neither."""

from gnomon_test import *

PARTS = ("main", "other", "mmapped")
# What the C library allocates for itself, in the main arena.
OWN_BLOCKS, OWN_BYTES = 3, 2000


def shares(directory, **changes):
    done = recorded([program("heap_layout")], directory,
                    env=environment(**changes))
    equal(done.status, 0, "status, stderr: " + done.err)
    return Report(done.trace).summary["live_heap"], done.expected


def as_asked(heap, expected):
    for part in PARTS:
        for key in ("blocks", "bytes", "usable_bytes"):
            more = heap[part][key] - expected["%s_%s" % (part, key)]
            own = part == "main" and (
                OWN_BLOCKS if key == "blocks" else OWN_BYTES)
            check(0 <= more <= own, "%s %s: %d too many" % (part, key, more))
    equal(heap["unknown"]["blocks"], 0, "blocks without a header")


@case
def blocks_agree_with_the_allocator(directory):
    as_asked(*shares(directory))


@case
def blocks_agree_under_tunables(directory):
    """Blocks that are mapped from another size on."""
    heap, expected = shares(
        directory, GLIBC_TUNABLES="glibc.malloc.mmap_threshold=3000:"
        "glibc.malloc.tcache_count=0")
    # The target calls those blocks the main arena's; their sums agree.
    for key in ("blocks", "bytes", "usable_bytes"):
        got = sum(heap[part][key] for part in PARTS)
        more = got - sum(expected["%s_%s" % (part, key)] for part in PARTS)
        check(0 <= more <= OWN_BYTES, "%s: %d too many" % (key, more))
    check(heap["mmapped"]["blocks"] > expected["mmapped_blocks"],
          "no more mappings than without")


@case
def blocks_of_another_allocator_are_unknown(directory):
    """Its blocks have other headers, or none."""
    heap, expected = shares(directory, LD_PRELOAD=program("libbump.so"))
    check(heap["unknown"]["blocks"] >= sum(
        expected[part + "_blocks"] for part in PARTS), "unknown ones")
    for part in PARTS:
        equal(heap[part]["blocks"], 0, part)


main()
