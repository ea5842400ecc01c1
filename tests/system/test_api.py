#!/usr/bin/python3
"""gnomon/gnomon.h: a program that tells of its own memory, steers its own
recording and asks for its numbers."""

from gnomon_test import *


def heap_sums(rows):
    return {"allocations": sum(row["count"] for row in rows),
            "frees": sum(row["count"] - row["live_blocks"] for row in rows),
            "total": sum(row["total_bytes"] for row in rows),
            "live": sum(row["live_bytes"] for row in rows)}


def expected_of(done, name):
    return {key: done.expected["%s_%s" % (name, key)]
            for key in ("allocations", "frees", "total", "live")}


@case
def heaps_and_pools(directory):
    done = recorded([program("api_pools")], directory)
    equal(done.status, 0, "status")
    check("confused" not in done.out, done.out)
    report = Report(done.trace)
    adds_up(report)
    equal(heap_sums(report.rows_with("fill_arena$")),
          expected_of(done, "arena"), "arena")
    equal(heap_sums(report.rows_with("use_macros$")),
          expected_of(done, "malloclike"), "malloclike")
    rows = [row for row in report.rows_with("(use_pools|churn)$")
            if row["total_bytes"] != row["count"] * 16 * 256]
    equal(heap_sums(rows), expected_of(done, "mempool"), "pools")


@case
def stub_alone(directory):
    """Linked with the stub and not recorded, the program does its work."""
    alone = bare([program("api_pools")])
    equal((alone.status, alone.err), (0, ""), "alone")
    check("arena_allocations 600\n" in alone.out, alone.out)


main()
