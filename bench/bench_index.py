"""bench_index.py: for part "queries": the cost of making a trace's index, and
of extending the index of the first 90 % of its bytes.

The trace has 200 million generated events, of 100 million blocks.
"""

import os

import bench_reader
import bench_run
import bench_table

EVENTS = 200_000_000
OPTIONS = {"--contexts": 100_000, "--live": 1_000_000, "--threads": 8}
SHORTER = 0.9
QUICK_PART = 20
TIME_LIMIT_S = 1800
GOAL_EVENTS_PER_S = 5_000_000
GOAL_BYTES = 24


def shorten(trace, shorter):
    """A copy of its first bytes."""
    left = int(os.path.getsize(trace) * SHORTER)
    with open(trace, "rb") as source, open(shorter, "wb") as sink:
        while left > 0:
            left -= sink.write(source.read(min(left, 1 << 24)))


def measure(bench, ask):
    """{"whole", "shorter", "extended": what bench-index prints}, and what `ask`
    says of the trace, beside which its store lies then."""
    trace, shorter = bench.path("index.trace"), bench.path("shorter.trace")
    options = [str(word) for pair in OPTIONS.items() for word in pair]
    bench_run.note("queries: making a trace")
    bench_reader.generate(
        bench, "cc1plus", trace, "--events",
        str(EVENTS // (QUICK_PART if bench.quick else 1)), *options,
        limit=TIME_LIMIT_S)
    shorten(trace, shorter)
    made = {}
    for name, of, older in (("whole", trace, None), ("shorter", shorter, None),
                            ("extended", trace, "shorter")):
        bench_run.note("queries: making its store: " + name)
        command = [bench.tool("bench-index"), of, bench.path(name + ".idx")]
        if older:
            command.append(bench.path(older + ".idx"))
        made[name] = bench.run_json(command, limit=TIME_LIMIT_S)
    os.rename(bench.path("whole.idx"), trace + ".idx")
    asked = ask(bench, trace)
    for path in (trace, trace + ".idx", shorter, bench.path("shorter.idx"),
                 bench.path("extended.idx")):
        os.unlink(path)
    return made, asked


def show(made):
    bench_table.show("queries: making the store of a trace", [
        "store", "events", "blocks", "bytes a block", "s", "s of CPU",
        "M events/s", "MiB"], [
            [name, bench_table.text(one["events"]),
             bench_table.text(one["rows"]),
             bench_table.text(one["bytes"] / one["rows"], 1),
             bench_table.text(one["wall_ns"] / 1e9, 2),
             bench_table.text(one["cpu_ns"] / 1e9, 2),
             bench_table.text(one["events"] / one["wall_ns"] * 1e3, 1),
             bench_table.text(one["rss_kb"] / 1024, 0)]
            for name, one in made.items()])


def figures(made):
    whole, extended = made["whole"], made["extended"]
    speed = whole["events"] / whole["wall_ns"] * 1e9
    yield {"name": "store: making it, events/s", "value": round(speed),
           "goal": f">= {GOAL_EVENTS_PER_S}",
           "reached": speed >= GOAL_EVENTS_PER_S}
    size = whole["bytes"] / whole["rows"]
    yield {"name": "store: bytes a row, of a trace", "value": round(size, 2),
           "goal": f"<= {GOAL_BYTES}", "reached": size <= GOAL_BYTES}
    share = extended["wall_ns"] / whole["wall_ns"]
    yield {"name": "store: extending by a tenth, share of making it",
           "value": round(share, 3), "goal": "< 1",
           "reached": extended["extended"] and share < 1}
