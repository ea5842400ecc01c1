"""bench_queries.py: part "queries": the time of queries of an index.

Not among the parts of `make bench`: 100 million generated rows take 2 GB of disk.
The rows come from a seed (store_rows.c): 5 000 contexts, 8 threads, sizes by
context, lifetimes of two modes, a tenth live at the end. The index is in the page
cache; the queries use all cores, and times are wall-clock times.
"""

import os
import shutil

import bench_index
import bench_run
import bench_sql
import bench_table

ROWS = 100_000_000
BYTES_OF_ROW = 24
QUICK_PART = 20
TIME_LIMIT_S = 1800
# Of a row: how many bytes it may take, in the mean.
GOAL_BYTES = 24
# Of a question with all rows: seconds.
GOALS = {
    "count and sum, size >= 256": 0.3,
    "count and sum, size >= 4096": 0.3,
    "rows one by one, size >= 4096": 0.5,
    "sums by node, size >= 256": 1,
    "sums by node, size >= 256, alive at half": 1,
    "timeline, size >= 256": 1,
    "peaks of 100 groups, size >= 256": 5,
}
GOAL_MIB = 300
COLUMNS = ("begin", "end", "alloc edge", "end edge", "how", "address", "size",
           "layout", "thread", "node", "end thread", "end node", "chain",
           "place", "between", "flags")


def measure(bench):
    rows = ROWS // (QUICK_PART if bench.quick else 1)
    if shutil.disk_usage(bench.out).free < rows * BYTES_OF_ROW:
        raise bench_run.Failed(f"{bench.out}: {rows * BYTES_OF_ROW >> 30} GiB "
                               "are needed")
    store = os.path.join(bench.out, "queries.idx")
    try:
        bench_run.note("queries: making a store")
        made = bench.run_json([bench.tool("bench-queries"), "make", store,
                               str(rows)], limit=TIME_LIMIT_S)
        bench_run.note("queries: asking it")
        asked = bench.run_json([bench.tool("bench-queries"), "ask", store,
                                str(bench.repeat(5, 3))], limit=TIME_LIMIT_S)
    finally:
        if os.path.exists(store):
            os.unlink(store)
    building, statements = bench_index.measure(bench, bench_sql.measure)
    return [{"making": made, "asking": asked, "building": building,
             "sql": statements}]


def show(rows):
    for row in rows:
        made, asked = row["making"], row["asking"]
        bench_table.show("queries: to a column store", [
            "question", "s", "s of CPU", "answer"], [
                [query["query"], bench_table.text(query["wall_ns"] / 1e9, 3),
                 bench_table.text(query["cpu_ns"] / 1e9, 3),
                 bench_table.text(query["answer"])]
                for query in asked["queries"]], (
                    f"{made['rows']} rows, {made['live']} of them live, made "
                    f"in {made['wall_ns'] / 1e9:.1f} s; "
                    f"{asked['bytes'] / made['rows']:.1f} bytes a row",
                    f"memory: {asked['rss_kb'] / 1024:.0f} MiB at most"))
        bench_table.show("queries: bytes a row", ["column", "bytes"], [
            [name, bench_table.text(size / made["rows"], 2)]
            for name, size in zip(COLUMNS, asked["columns"])])
        bench_index.show(row["building"])
        bench_sql.show(row["sql"])


def figures(rows):
    for row in rows:
        made, asked = row["making"], row["asking"]
        part = made["rows"] / ROWS
        size = asked["bytes"] / made["rows"]
        yield {"name": "store: bytes a row", "value": round(size, 2),
               "goal": f"<= {GOAL_BYTES}", "reached": size <= GOAL_BYTES}
        for query in asked["queries"]:
            goal = GOALS.get(query["query"])
            if goal is None:
                continue
            seconds = query["wall_ns"] / 1e9
            yield {"name": f"store: {query['query']}, s",
                   "value": round(seconds, 3), "goal": f"<= {goal * part:g}",
                   "reached": seconds <= goal * part}
        mib = asked["rss_kb"] / 1024
        yield {"name": "store: memory, MiB", "value": round(mib),
               "goal": f"<= {GOAL_MIB}", "reached": mib <= GOAL_MIB}
        yield from bench_index.figures(row["building"])
        yield from bench_sql.figures(row["sql"])
