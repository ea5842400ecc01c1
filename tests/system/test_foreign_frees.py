#!/usr/bin/python3
"""Blocks from before: a recording that was cleared, or that begins in a child,
counts only later allocations, and recognises frees of earlier blocks. The
counts are the target's own, in every kind of recording."""

from gnomon_test import *

WAYS = {
    "full": (),
    "cull": ("--cull=1ms",),
    "limit": ("--limit", "64M"),
    "depth": ("--depth", "0"),
    "stats": ("--stats-every", "50ms"),
    "stacks": ("--free-stacks",),
    "guard": ("--guard", "64"),
    "both": ("--depth", "0", "--cull=1ms"),
}


def summary(trace, *options):
    return json.loads(bare([GNOMON, "report", "--json", *options, trace])
                      .out)["summary"]


def told(out):
    return {key: int(value) for key, value in
            (line.split() for line in out.splitlines())}


def agrees(wanted, found, what):
    for key in ("allocations", "frees", "total_bytes", "live_blocks",
                "live_bytes"):
        equal(found[key], wanted[key], "%s: %s" % (what, key))
    equal(found["unpaired"], 0, what + ": unpaired")


def stats_agree(wanted, path, what):
    with open(path) as source:
        names, *_, last = source.read().splitlines()
    last = dict(zip(names[2:].split(), map(float, last.split())))
    equal(last["live_blocks"], wanted["live_blocks"],
          what + ": live blocks in its lines")
    equal(last["allocations"], wanted["allocations"],
          what + ": allocations in its lines")


@case
def clear_under_all_options(directory):
    for what, options in WAYS.items():
        place = os.path.join(directory, what)
        os.mkdir(place)
        done = recorded([program("renewed_threads"), "4", "8000"], place,
                        options=options)
        equal(done.status, 0, "%s: status: %s" % (what, done.err))
        wanted = told(done.out)
        trace = [each for each in done.traces
                 if each.endswith(".trace")][0]
        agrees(wanted, summary(trace), what)
        equal(wanted["now_live"], wanted["live_blocks"],
              what + ": live, as the program was told")
        equal(wanted["now_allocations"], wanted["allocations"],
              what + ": allocations, as the program was told")
        if what == "stats":
            stats_agree(wanted, trace + ".stats", what)


@case
def a_child_frees_its_parents(directory):
    for what, options in WAYS.items():
        place = os.path.join(directory, what)
        os.mkdir(place)
        done = recorded([program("fork_blocks")], place, options=options)
        equal(done.status, 0, "%s: status: %s" % (what, done.err))
        traces = [each for each in done.traces if each.endswith(".trace")]
        equal(len(traces), 2, what + ": traces")
        found = sorted((summary(each) for each in traces),
                       key=lambda each: each["allocations"])
        child, parent = found
        equal(child["unpaired"], 0, what + ": unpaired")
        equal(child["allocations"], 17, what + ": the child's")
        equal(child["frees"], 0, what + ": frees of the child's")
        equal(child["live_blocks"], 17, what + ": live in the child")
        equal(parent["unpaired"], 0, what + ": unpaired in the parent")
        equal(parent["live_blocks"], 0, what + ": live in the parent")


main()
