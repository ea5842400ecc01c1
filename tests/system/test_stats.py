#!/usr/bin/python3
"""The lines of measures in TRACE.stats."""

import stat

from gnomon_test import *


def lines(path):
    with open(path) as source:
        # the last one may be written just now
        head, *rest = source.read().rpartition("\n")[0].splitlines()
    equal(head[0], "#", "the first line names the columns")
    names = head[2:].split()
    return [dict(zip(names, map(float, line.split()))) for line in rest]


@case
def lines_at_an_interval(directory):
    done = recorded([program("mixed_lifetimes"), "200000"], directory,
                    options=("--stats-every", "20ms"))
    equal(done.status, 0, "status: " + done.err)
    trace = [each for each in done.traces if not each.endswith(".stats")][0]
    found = lines(trace + ".stats")
    check(len(found) >= 2, "lines: %d" % len(found))
    for before, after in zip(found, found[1:]):
        check(before["seconds"] <= after["seconds"], "in order of time")
        check(before["allocations"] <= after["allocations"], "counts grow")
        for kind in ("total", "live"):
            of_class = [sum(line["%s_%d" % (kind, i)] for i in range(64))
                        for line in (before, after)]
            known = "allocations" if kind == "total" else "live_blocks"
            equal(of_class, [before[known], after[known]], kind)
    summary = json.loads(bare([GNOMON, "report", "--json", trace]).out)[
        "summary"]
    last = found[-1]
    classes = json.loads(bare([GNOMON, "report", "--json", "--sizes",
                               trace]).out)["sizes"]
    for row in classes:
        at = row["min"].bit_length()
        equal((last["total_%d" % at], last["live_%d" % at]),
              (row["count"], row["live_blocks"]), str(row))
    equal(sum(row["count"] for row in classes), last["allocations"],
          "classes")
    equal(last["allocations"], summary["allocations"], "allocations")
    equal(last["bytes"], summary["total_bytes"], "bytes")
    equal(last["live_bytes"], summary["live_bytes"], "live")
    equal(last["live_blocks"], summary["live_blocks"], "live blocks")
    equal(last["peak_bytes"], summary["peak_bytes"], "peak")
    mode = stat.S_IMODE(os.stat(trace + ".stats").st_mode)
    equal(mode, 0o600, "nobody else reads it")


@case
def lines_while_nothing_happens(directory):
    stats = os.path.join(directory, "a.trace.stats")
    process = subprocess.Popen(["sleep", str(RUN_SECONDS)], env=environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(directory, "a.trace"),
        GNOMON_STATS_EVERY="10ms"))
    try:
        check(wait_for(lambda: os.path.exists(stats) and
                       len(lines(stats)) >= 40), "lines")
    finally:
        process.kill()
        process.wait()


@case
def stats_without_events(directory):
    """--depth 0: no events, and all the sums."""
    options = ("--depth", "0")
    done = recorded([program("mixed_lifetimes"), "20000"], directory, options=options)
    equal(done.status, 0, "status: " + done.err)
    whole = os.path.join(directory, "whole")
    os.mkdir(whole)
    other = recorded([program("mixed_lifetimes"), "20000"], whole)
    a, b = (json.loads(bare([GNOMON, "report", "--json", each.trace]).out)
            ["summary"] for each in (other, done))
    for key in ("allocations", "total_bytes", "frees", "live_blocks",
                "live_bytes", "temporary"):
        equal(b[key], a[key], key)
    equal(b["left_out_peak_bytes"], a["peak_bytes"], "peak")
    equal(info(done.trace)["end"]["events"], 0, "no events")
    check(os.path.getsize(done.trace) < 32 << 10, "a small trace")


@case
def too_often(directory):
    done = bare([GNOMON, "run", "-o", os.path.join(directory, "a.trace"),
                 "--stats-every", "1ms", "--", program("mixed_lifetimes"), "100"])
    check("--stats-every" in done.err, "said: " + done.err)


main()
