#!/usr/bin/python3
"""Commands print the same from an index as from events: for recordings of all
kinds (tests/outputs), as text and JSON, with filters, groups, peaks, timelines,
pages. test_model.py compares the measures with a model."""

import glob
import shutil

from gnomon_test import *

OUTPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "outputs")
QUESTIONS = (
    [], ["--json"], ["--sort", "own-peak", "--by", "thread"],
    ["--sort", "peak", "--by", "size-class,library", "--json"],
    ["--alive-at", "50%"], ["--alive-at", "50%", "--json", "--by", "block"],
    ["--size-min", "100", "--sort", "total"], ["--fate", "temporary"],
    ["--lifetime-min", "1us", "--by", "lifetime-class", "--sort", "count"],
    ["--group-peak-time-min", "50%"], ["--chain-length-min", "2"],
    ["--map", "heap", "--json"], ["--by", "mapping,arena", "--sort", "total"],
    ["--from", "30%", "--to", "90%", "--json"], ["--from", "start"],
    ["--timeline", "--by", "thread", "--top", "3"], ["--sizes"],
    ["--timeline", "--by", "function", "--json", "--top", "4"],
    ["--pages", "--by", "function"], ["--by", "within-function"],
    ["--by", "block", "--top", "20"],
)

TABLES = (
    [], "select * from maps", "select * from residency",
    "select mapping, pages, live_bytes from pages order by address",
), (
    ["--function", "churn|grow", "--depth-min", "2"],
    "select size_class, lifetime_class, sum(blocks), sum(bytes), "
    "sum(temporary), sum(live_bytes) from sums group by 1, 2 order by 1, 2",
    "select thread_name, sum(bytes) from sums group by 1 order by 1",
), (
    ["--not-function", "main|[bc]", "--size-max", "4k"],
    "select size_class, count(*), sum(bytes) from sums group by 1 order by 1",
    "select arena, sum(live_bytes) from sums group by 1 order by 1",
), (
    ["--not-function", "churn"],
    "select size_class, sum(blocks), sum(bytes) from sums group by 1 order "
    "by 1",
    "select thread, sum(blocks), sum(live_bytes) from sums group by 1 order "
    "by 1",
)


def answers(trace, words, way):
    """What is told on the way, of making an index, is left out."""
    done = gnomon("report", way, *words, trace, statuses=(0, 1, 2, 3))
    return done.status, done.out


def same(directory, trace):
    path = os.path.join(directory, os.path.basename(trace))
    shutil.copy(trace, path)
    for words in QUESTIONS:
        equal(answers(path, words, "--index"),
              answers(path, words, "--no-index"),
              "%s: report %s" % (os.path.basename(trace), " ".join(words)))
    return os.path.exists(path + ".idx")


@case
def reports_are_the_same(directory):
    indexed = [same(directory, trace) for trace in
               sorted(glob.glob(os.path.join(OUTPUTS, "*.trace")))]
    check(sum(indexed) > len(indexed) // 2, "most of them have an index")


@case
def tables_are_the_same(directory):
    rows = 0
    for trace in sorted(glob.glob(os.path.join(OUTPUTS, "*.trace"))):
        path = os.path.join(directory, os.path.basename(trace))
        shutil.copy(trace, path)
        for options, *statements in TABLES:
            # Estimates are rounded once for each sum.
            if options and os.path.basename(trace) == "sampled.trace":
                continue
            for statement in statements:
                said = [gnomon("sql", "-q", "--csv", way, *options, path,
                               statement, statuses=(0, 1, 2, 3))
                        for way in ("--index", "--no-index")]
                equal(said[0].out, said[1].out, "%s: %s" % (path, statement))
                rows += said[0].out.count("\n") - 1
    check(rows > 200, "%d rows" % rows)


@case
def mappings_are_the_same(directory):
    """Of a program with many that come and go, and stacks of threads."""
    for name, options in (("plain", []),
                          ("snapshots", ["--snapshot-every", "20ms"])):
        where = os.path.join(directory, name)
        os.mkdir(where)
        # A child has a trace of its own.
        recorded([program("mappings")], where, options=options)
        trace = max(glob.glob(os.path.join(where, "*.trace")),
                    key=os.path.getsize)
        for statement in ("select * from maps", "select * from residency",
                          "select origin, count(*), sum(bytes) from maps "
                          "where context is not null group by 1"):
            said = [gnomon("sql", "-q", "--csv", way, trace, statement).out
                    for way in ("--index", "--no-index")]
            check(said[0].count("\n") > 3 or "residency" in statement, said[0])
            equal(said[0], said[1], statement)


@case
def what_only_events_tell(directory):
    """Who frees, and what is live of what was left out."""
    for options in (["--free-stacks"], ["--depth", "0"], ["--limit", "1M"],
                    ["--sample=1k"], ["--cull=1ms"]):
        trace = recorded([program("known_answers")], directory,
                         options=options).trace
        for words in ([], ["--json"], ["--map", "heap", "--json"],
                      ["--size-min", "64"], ["--by", "thread", "--json"]):
            equal(answers(trace, words, "--index"),
                  answers(trace, words, "--no-index"),
                  "%s: report %s" % (options, " ".join(words)))
        for left in glob.glob(os.path.join(directory, "known_answers.*")):
            os.unlink(left)


if __name__ == "__main__":
    main()
