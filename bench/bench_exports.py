"""bench_exports.py: part "exports": memory and time of each format.

Two traces with the same contexts and blocks that live for ever, one ten times as
long as the other, made by bench-generate: an export's memory may grow with
contexts and live blocks, not with events. The second number is the memory beyond
that of `gnomon report`, per context.

Not among the parts of `make bench`: it needs some 4 GB of disk and takes
minutes.
"""

import os
import shutil

import bench_reader
import bench_run
import bench_table

EVENTS = (10_000_000, 100_000_000)
QUICK_EVENTS = (1_000_000, 10_000_000)
CONTEXTS = 100_000
LIVE = 100_000
BYTES_OF_EVENT = 40		# with what is exported of it
TIME_LIMIT_S = 1200
GROWTH_GOAL_KB = 16 << 10
REPORT = "report"
COMMANDS = {
    REPORT: ("report", "--json", "--top", "1"),
    **{name: ("export", "--format", name)
       for name in ("pprof", "collapsed", "speedscope", "heaptrack", "dhat",
                    "massif", "callgrind", "firefox", "json", "ndjson",
                    "csv", "replay")},
    "csv --by block": ("export", "--format", "csv", "--by", "block"),
    "flamegraph --svg": ("flamegraph", "--svg"),
    "flamegraph --html": ("flamegraph", "--html"),
}


def measured(bench, trace, command):
    """One run, with the size of what it wrote."""
    out = os.path.join(bench.out, "exports.out")
    try:
        run = bench.run([bench.command, *command, "-q", trace], stdout=out,
                        limit=TIME_LIMIT_S)
        run["bytes"] = os.path.getsize(out)
    finally:
        if os.path.exists(out):
            os.unlink(out)
    return run


def of_length(bench, events):
    """{name: a run} for a trace of so many events."""
    trace = os.path.join(bench.out, "exports.trace")
    runs = {}
    try:
        bench_run.note(f"exports: making {events:,} events")
        bench_reader.generate(bench, "cc1plus", trace, "--events", str(events),
                              "--contexts", str(CONTEXTS), "--live",
                              str(LIVE), limit=TIME_LIMIT_S)
        for name, command in COMMANDS.items():
            bench_run.note(f"exports: {name} of {events:,} events")
            runs[name] = measured(bench, trace, command)
    finally:
        if os.path.exists(trace):
            os.unlink(trace)
    return runs


def measure(bench):
    lengths = QUICK_EVENTS if bench.quick else EVENTS
    free = shutil.disk_usage(bench.out).free
    if free < lengths[1] * BYTES_OF_EVENT:
        raise bench_run.Failed(f"{bench.out}: "
                               f"{lengths[1] * BYTES_OF_EVENT >> 30} GiB are "
                               "needed")
    short, long = (of_length(bench, events) for events in lengths)
    return [{"format": name, "contexts": CONTEXTS, "events": list(lengths),
             **{key: [runs[name][key] for runs in (short, long)]
                for key in ("rss_kb", "cpu_ns", "wall_ns", "bytes")},
             "bytes_a_context": round(
                 (long[name]["rss_kb"] - long[REPORT]["rss_kb"]) * 1024 /
                 CONTEXTS)}
            for name in COMMANDS]


def show(rows):
    events = rows[0]["events"]
    bench_table.show(f"exports of {events[0]:,} and {events[1]:,} events, "
                     f"{CONTEXTS:,} contexts", [
        "format", "peak MiB", "of the long", "B/context", "s of CPU",
        "of the long", "MiB out", "of the long"], [
            [row["format"],
             *(bench_table.text(kb / 1024, 1) for kb in row["rss_kb"]),
             bench_table.text(row["bytes_a_context"]),
             *(bench_table.text(ns / 1e9, 1) for ns in row["cpu_ns"]),
             *(bench_table.text(size / (1 << 20), 1)
               for size in row["bytes"])]
            for row in rows],
        ("B/context: peak memory beyond that of report",))


def figures(rows):
    for row in rows:
        short, long = row["rss_kb"]
        yield {"name": f"{row['format']}: KiB more for "
                       f"{row['events'][1] // row['events'][0]} times the "
                       "events",
               "value": long - short, "goal": f"<= {GROWTH_GOAL_KB}",
               "reached": long - short <= GROWTH_GOAL_KB}
