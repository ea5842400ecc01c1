#!/usr/bin/python3
"""gnomon/gnomon.h: a program that tells of its own memory, steers its own
recording and asks for its numbers."""

from gnomon_test import *


OFF = os.path.join(BUILD, "libgnomon-off.so")


@case
def heaps_and_pools(directory):
    done = recorded([program("pools_told")], directory)
    equal(done.status, 0, "status")
    check("confused" not in done.out, done.out)
    adds_up(Report(done.trace))
    heaps = json.loads(gnomon("report", done.trace, "--json").out)["heaps"]
    equal({heap["name"] for heap in heaps},
          {"arena", "mempool", "malloclike"}, "heaps")
    for heap in heaps:
        for key in ("allocations", "frees", "total_bytes", "live_bytes"):
            equal(heap[key], done.expected[heap["name"] + "_" + key],
                  "%s of %s" % (key, heap["name"]))


def steered(done):
    equal((done.status, "wrong" in done.out), (0, False), done.out)
    mine = [trace for trace in done.traces
            if info(trace)["info"].get("parent_trace") is None]
    equal(len(mine), 1, "traces of the program itself")
    report = Report(mine[0])
    agree(done.expected, report)
    equal(report.rows_with("(make_unseen|free_unseen)$"), [],
          "what was not to be recorded")


@case
def steers_itself(directory):
    steered(recorded([program("steering")], directory))


@case
def begins_dormant(directory):
    """libgnomon-off.so records nothing until the program says so."""
    env = environment(LD_PRELOAD=OFF, API_OFF=1,
                      GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"))
    done = bare([program("steering")], env)
    done.directory = directory
    settle(directory)
    steered(done)


@case
def stub_alone(directory):
    """Linked with the stub and not recorded, the program does its work."""
    alone = bare([program("pools_told")])
    equal((alone.status, alone.err), (0, ""), "alone")
    check("arena_allocations 600\n" in alone.out, alone.out)
    equal(bare([program("steering")]).status, 0, "steering a stub")


main()
