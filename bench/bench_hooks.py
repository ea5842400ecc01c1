"""bench_hooks.py: part "hooks": ns that a profiler adds to malloc + free."""

import os

import bench_run
import bench_table

THREADS = (1, 2)
PAIRS = 3_000_000
QUICK_PAIRS = 500_000
VARIANTS = ("bare", "gnomon", "heaptrack")
# threads: of what heaptrack's library adds, the share that gnomon may add
GOALS = {1: 1 / 8, 2: 1 / 12}


def measure_once(bench, variant, threads, pairs):
    command = [bench.tool("bench-pairs"), str(threads), str(pairs)]
    if variant == "bare":
        return bench.run_json(command)
    if variant == "heaptrack":
        return bench.run_json(command, env=bench_run.heaptrack_env())
    trace = bench.new_path("hooks.trace")
    result = bench.run_json(bench.recorded(trace, command))
    info = bench.trace_info(trace)
    os.unlink(trace)
    events = max(info["events"], 1)
    result["writer_ns_per_event"] = info["writer_cpu_ns"] / events
    result["writer_ns_per_pair"] = info["writer_cpu_ns"] / (threads * pairs)
    result["bytes_per_event"] = info["bytes"] / events
    for key in ("events", "dropped", "ring_waits"):
        result[key] = info[key]
    return result


def measure_threads(bench, threads, pairs):
    def once(variant):
        return measure_once(bench, variant, threads, pairs)

    runs = bench_run.interleave(VARIANTS, bench.repeat(7, 3), once)
    row = {"threads": threads, "pairs": pairs}
    for variant in VARIANTS:
        row[f"{variant}_ns"] = bench_run.median(runs[variant], "ns")
        row[f"{variant}_cpu_ns"] = bench_run.median(runs[variant], "cpu_ns")
        row[f"{variant}_spread"] = round(
            bench_run.spread(runs[variant], "ns"), 2)
    for variant in VARIANTS[1:]:
        row[f"{variant}_added_ns"] = round(
            row[f"{variant}_ns"] - row["bare_ns"], 2)
        row[f"{variant}_added_cpu_ns"] = round(
            row[f"{variant}_cpu_ns"] - row["bare_cpu_ns"], 2)
    for key in ("events", "dropped", "ring_waits", "writer_ns_per_event",
                "writer_ns_per_pair", "bytes_per_event"):
        row[key] = bench_run.median(runs["gnomon"], key)
    return row


def measure(bench):
    pairs = QUICK_PAIRS if bench.quick else PAIRS
    rows = []
    for threads in THREADS:
        bench_run.note(f"hooks: {threads} thread(s)")
        rows.append(measure_threads(bench, threads, pairs))
    return rows


def show(rows):
    head = ["threads", "bare", "gnomon", "heaptrack", "gnomon adds",
            "heaptrack adds", "share", "CPU: gnomon adds", "heaptrack adds",
            "recorder", "dropped", "ring waits", "recorder ns/ev", "bytes/ev"]
    cells = [[str(row["threads"])]
             + [bench_table.text(row[key]) for key in (
                 "bare_ns", "gnomon_ns", "heaptrack_ns", "gnomon_added_ns",
                 "heaptrack_added_ns")]
             + [bench_table.percent(share(row))]
             + [bench_table.text(row[key]) for key in (
                 "gnomon_added_cpu_ns", "heaptrack_added_cpu_ns",
                 "writer_ns_per_pair")]
             + [bench_table.text(row["dropped"]),
                bench_table.text(row["ring_waits"]),
                bench_table.text(row["writer_ns_per_event"]),
                bench_table.text(row["bytes_per_event"], 2)]
             for row in rows]
    bench_table.show("hooks: ns for one malloc and one free, per thread",
                     head, cells, (
                         "24 to 33 frames, blocks of 24, 72, 200 and 1024 "
                         "bytes, 64 of them live; heaptrack's",
                         "library into /dev/null. CPU: the thread's own time; "
                         "recorder: the recorder's, for one pair."))


def share(row):
    return row["gnomon_added_ns"] / max(row["heaptrack_added_ns"], 0.1)


def figures(rows):
    for row in rows:
        value, goal = share(row), GOALS[row["threads"]]
        yield {"name": "hooks: added cost, share of heaptrack's, "
                       f"{row['threads']} thread(s)",
               "value": round(value, 3), "goal": f"<= 1/{round(1 / goal)}",
               "reached": value <= goal}
