"""bench_reader.py: part "reader": how fast `gnomon report` reads."""

import os

import bench_run
import bench_table

PAIRS = 12_000_000
QUICK_PAIRS = 2_000_000


def measure(bench):
    bench_run.note("reader: recording")
    pairs = QUICK_PAIRS if bench.quick else PAIRS
    trace = bench.path("reader.trace")
    bench.run(bench.recorded(trace, [bench.tool("bench-pairs"), "1",
                                     str(pairs)]))
    events = bench.trace_info(trace)["events"]
    bench_run.note("reader: reading")
    runs = [bench.run([bench.command, "report", "-q", trace])
            for _ in range(bench.repeat(3))]
    row = {"events": events, "bytes": os.path.getsize(trace),
           "wall_ns": bench_run.median(runs, "wall_ns"),
           "cpu_ns": bench_run.median(runs, "cpu_ns"),
           "rss_kb": bench_run.median(runs, "rss_kb")}
    row["events_per_s"] = round(events / row["wall_ns"] * 1e9)
    os.unlink(trace)
    return [row]


def show(rows):
    bench_table.show("reader: `gnomon report`", [
        "events", "trace MiB", "s", "events/s", "peak MiB"], [
            [bench_table.text(row["events"]),
             bench_table.text(row["bytes"] / (1 << 20)),
             bench_table.text(row["wall_ns"] / 1e9, 2),
             bench_table.text(row["events_per_s"]),
             bench_table.text(row["rss_kb"] / 1024)] for row in rows])


def figures(rows):
    for row in rows:
        yield {"name": "report: events per second",
               "value": row["events_per_s"], "goal": ">= 5000000",
               "reached": row["events_per_s"] >= 5_000_000}
