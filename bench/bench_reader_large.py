"""bench_reader_large.py: part "reader-large": a report of a billion events.

Not among the parts of `make bench`: it needs some 6 GB of disk and takes
minutes. 2 million contexts, 5 million blocks live at the end.
"""

import os
import shutil

import bench_reader
import bench_run
import bench_table

EVENTS = 1_000_000_000
QUICK_EVENTS = 50_000_000
CONTEXTS = 2_000_000
LIVE = 5_000_000
BYTES_OF_EVENT = 6
TIME_LIMIT_S = 3600
MEMORY_GOAL_KB = 3 << 19		# 1.5 GiB
QUICK_PART = 20


def measure(bench):
    events = QUICK_EVENTS if bench.quick else EVENTS
    free = shutil.disk_usage(bench.out).free
    if free < events * BYTES_OF_EVENT:
        raise bench_run.Failed(f"{bench.out}: {events * BYTES_OF_EVENT >> 30} "
                               "GiB are needed")
    part = QUICK_PART if bench.quick else 1
    trace = os.path.join(bench.out, "reader-large.trace")
    rows = []
    try:
        bench_run.note("reader-large: making the trace")
        making = bench_reader.generate(
            bench, "cc1plus", trace, "--events", str(events), "--contexts",
            str(CONTEXTS // part), "--live", str(LIVE // part),
            limit=TIME_LIMIT_S)
        for arguments in (["--json", "--top", "1"], []):
            bench_run.note("reader-large: report " + " ".join(arguments))
            rows.append(bench_reader.reading(bench, "cc1plus", trace, 1,
                                             arguments, TIME_LIMIT_S))
            rows[-1]["arguments"] = " ".join(arguments)
            rows[-1]["making_wall_ns"] = making["wall_ns"]
    finally:
        if os.path.exists(trace):
            os.unlink(trace)
    return rows


def show(rows):
    bench_table.show("reader-large: `gnomon report`", [
        "arguments", "events", "MiB", "s", "s of CPU", "events/s",
        "peak MiB"], [
            [row["arguments"] or "none", bench_table.text(row["events"]),
             bench_table.text(row["bytes"] / (1 << 20)),
             bench_table.text(row["wall_ns"] / 1e9, 1),
             bench_table.text(row["cpu_ns"] / 1e9, 1),
             bench_table.text(row["events_per_s"]),
             bench_table.text(row["rss_kb"] / 1024)] for row in rows],
        ("events per second of CPU",))


def figures(rows):
    for row in rows:
        name = f"report {row['arguments']}".strip()
        yield {"name": f"{name}: MiB for {row['events']:,} events",
               "value": round(row["rss_kb"] / 1024, 1),
               "goal": f"<= {MEMORY_GOAL_KB >> 10}",
               "reached": row["rss_kb"] <= MEMORY_GOAL_KB}
