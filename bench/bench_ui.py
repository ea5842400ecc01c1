"""bench_ui.py: part "ui": how fast the page of `gnomon serve` is.

The program bench-ui-heap is recorded: some ten million events from 8000 call
stacks in four threads. A headless browser measures the page for its trace and
index (ui_page.mjs): the overview, each view, each view when a filter is set, a
brush over time. Each round has a new server and a new browser, so nothing is
cached. Then the addresses of a process of 20 GiB, and, with ROWS=N, the list of
allocations of a trace with that many.

Not among the parts of `make bench`, since it needs a browser (`make deps-test`).
"""

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess

import bench_run
import bench_table

EVENTS = 10_000_000
QUICK_EVENTS = 1_000_000
THREADS = 4
SPREAD_GIB = 20
SPREAD_EVENTS = 100_000
BYTES_OF_ROW = 30		# in trace and index
ROUNDS = 3
TIME_LIMIT_S = 3600
VIEWS = [
    ["flame", "flame"], ["groups", "groups?by=site"],
    ["stacks", "groups?by=stack"], ["tree", "tree"],
    ["callers", "callers?of=work"], ["blocks", "blocks"],
    ["histograms", "histograms"], ["threads", "threads"],
    ["memory", "memory"], ["diff", "diff?of=moments&before=30%25&after=70%25"],
    ["source", "source?of=work"],
]
# Moments are compared, and one function is shown, by what these are.
WITHOUT = ["diff time", "source function"]
GOAL_FIRST_MS = 1000
GOAL_FILTER_MS = 300
GOAL_FRAMES = 30
GOAL_BYTES = 500_000


@contextlib.contextmanager
def served(bench, trace):
    """The address of a server that has only just begun."""
    with subprocess.Popen([bench.command, "serve", "--port", "0", trace],
                          env=bench_run.environment(), text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as server:
        try:
            url = server.stdout.readline().strip()
            if not url.startswith("http"):
                raise bench_run.Failed("ui: the server did not start")
            yield url
        finally:
            server.send_signal(signal.SIGTERM)


def browse(bench, trace, **job):
    """What ui_page.mjs says."""
    script = os.path.join(os.path.dirname(__file__), "ui_page.mjs")
    env = {**bench_run.environment(),
           "GNOMON_UI": os.path.join(bench.out, "tests", "ui"),
           "GNOMON_CHROMIUM": shutil.which("chromium") or "chromium"}
    with served(bench, trace) as url:
        done = subprocess.run(
            ["node", script, json.dumps({"url": url, **job})], env=env,
            capture_output=True, text=True, check=False,
            timeout=TIME_LIMIT_S)
    if done.returncode != 0:
        raise bench_run.Failed(f"ui: {done.stderr.strip()[-600:]}")
    said = json.loads(done.stdout)
    if said["errors"]:
        raise bench_run.Failed(f"ui: {said['errors']} {done.stderr[-600:]}")
    return said


def record(bench, name, *arguments):
    """The path of a trace that has its index."""
    trace = os.path.join(bench.out, name)
    bench.run([bench.command, "run", "-q", "-f", "--snapshot-every", "500ms",
               "-o", trace, "--", bench.tool("bench-ui-heap"),
               *map(str, arguments)], limit=TIME_LIMIT_S)
    bench.run([bench.command, "report", "-q", "--index", "--json", "--top",
               "1", "--no-own-peaks", trace], limit=TIME_LIMIT_S)
    return trace


def forget(trace):
    for path in (trace, trace + ".idx"):
        if os.path.exists(path):
            os.unlink(path)


def filters_of(bench, trace):
    """[name, hash] of each kind of filter."""
    threads = bench.run_json([bench.command, "report", "-q", "--json", "--by",
                              "thread", "--top", "2", "--no-own-peaks", trace])
    return [["function", "function=%5Eparse_"],
            ["size", "size-min=64&size-max=999"],
            ["thread", f"thread={threads['rows'][0]['tid']}"],
            ["time", "from=20%25&to=60%25"]]


def joined(rounds):
    """Medians of numbers that are at the same places; lists put together."""
    first = rounds[0]
    if isinstance(first, dict):
        return {key: joined([one[key] for one in rounds]) for key in first}
    if isinstance(first, list):
        return [number for one in rounds for number in one]
    return statistics.median(rounds)


def frame_rate(intervals):
    """Of all but the slowest twentieth of frames."""
    return 1000 / statistics.quantiles(intervals, n=20)[-1]


def of_filters(bench):
    """Overview, views and the brush."""
    trace = record(bench, "ui.trace",
                   QUICK_EVENTS if bench.quick else EVENTS, THREADS)
    try:
        filters = filters_of(bench, trace)
        rounds = []
        for number in range(bench.repeat(ROUNDS)):
            bench_run.note(f"ui: round {number + 1}")
            said = browse(bench, trace, views=VIEWS, filters=filters,
                          without=WITHOUT)
            rounds.append({key: said[key]
                           for key in ("overview", "views", "brush")})
        return {"events": bench.trace_info(trace)["events"],
                **joined(rounds)}
    finally:
        forget(trace)


def of_addresses(bench):
    bench_run.note("ui: addresses")
    trace = record(bench, "ui-spread.trace", SPREAD_EVENTS, 1,
                   1 if bench.quick else SPREAD_GIB)
    try:
        return browse(bench, trace, addresses=True)["addresses"]
    finally:
        forget(trace)


def of_rows(bench, count):
    """Two events are a row, mostly."""
    if shutil.disk_usage(bench.out).free < count * BYTES_OF_ROW:
        raise bench_run.Failed(f"{bench.out}: {count * BYTES_OF_ROW >> 30} GiB "
                               "are needed")
    bench_run.note(f"ui: {count:,} rows")
    trace = record(bench, "ui-rows.trace", 2 * count, THREADS)
    try:
        return browse(bench, trace, rows=True)
    finally:
        forget(trace)


def measure(bench):
    row = {**of_filters(bench), "addresses": of_addresses(bench)}
    count = os.environ.get("ROWS", "")
    if count and not re.fullmatch(r"\d+", count):
        raise bench_run.Failed(f"ROWS={count}: is no number")
    if count:
        row["rows"] = of_rows(bench, int(count))
    return [row]


def show(rows):
    for row in rows:
        names = list(next(iter(row["views"].values())))
        bench_table.show(
            f"ui: the page, of {row['events']:,} events: ms until a view is "
            "drawn", ["view", "opened", *names[1:], "whole"], [
                [view, *(bench_table.text(times[name]["drawn"], 0)
                         if name in times else "-" for name in names),
                 bench_table.text(times["none"]["whole"], 0)]
                for view, times in row["views"].items()],
            ("whole: as it is opened, with what comes later",))
        over, brush, space = (row[key] for key in ("overview", "brush",
                                                   "addresses"))
        lines = [
            ["overview: first answer, ms", over["first"], 0],
            ["overview: drawn, ms", over["drawn"], 0],
            ["overview: whole, ms", over["whole"], 0],
            ["brush: frames/s", frame_rate(brush["frames"]), 0],
            ["brush: drawn after, ms", brush["drawn"], 0],
            ["brush: whole after, ms", brush["whole"], 0],
            ["page: kB, compressed", over["bytes"] / 1000, 0],
            ["addresses: drawn, ms", space["drawn"], 0],
            ["addresses: frames/s, zoomed", frame_rate(space["zoom"]), 0],
            ["addresses: frames/s, moved", frame_rate(space["pan"]), 0]]
        if "rows" in row:
            places = [one["drawn"] for one in row["rows"]["rows"]["places"]]
            lines += [
                ["rows", row["rows"]["rows"]["count"], 0],
                ["rows: overview, first answer, ms",
                 row["rows"]["overview"]["first"], 0],
                ["rows: list drawn, ms", row["rows"]["rows"]["drawn"], 0],
                ["rows: a place, ms", statistics.median(places), 0],
                ["rows: the slowest place, ms", max(places), 0]]
        bench_table.show("ui: the page", ["what", "value"], [
            [name, bench_table.text(float(value), digits)]
            for name, value, digits in lines],
            ("frames/s: of all but the slowest twentieth of frames",))


def at_most(name, value, goal, **more):
    return {"name": name, "value": round(value, 1), "goal": f"<= {goal}",
            "reached": value <= goal, **more}


def at_least(name, value, goal):
    return {"name": name, "value": round(value, 1), "goal": f">= {goal}",
            "reached": value >= goal}


def figures(rows):
    for row in rows:
        over, brush, space = (row[key] for key in ("overview", "brush",
                                                   "addresses"))
        yield at_most("ui: overview, first answer, ms", over["first"],
                      GOAL_FIRST_MS)
        for name in next(iter(row["views"].values())):
            times = [(view[name]["drawn"], title) for title, view in
                     row["views"].items() if name in view]
            if name != "none":
                yield at_most(f"ui: filter by {name}, ms", *max(times)[:1],
                              GOAL_FILTER_MS, where=max(times)[1])
        yield at_least("ui: brush, frames/s", frame_rate(brush["frames"]),
                       GOAL_FRAMES)
        yield at_most("ui: brush, results, ms", brush["drawn"], GOAL_FILTER_MS)
        yield at_most("ui: page, bytes compressed", over["bytes"], GOAL_BYTES)
        for what in ("zoom", "pan"):
            yield at_least(f"ui: addresses, {what}, frames/s",
                           frame_rate(space[what]), GOAL_FRAMES)
        if "rows" in row:
            said = row["rows"]["rows"]
            yield at_most("ui: a place among all rows, ms",
                          max(one["drawn"] for one in said["places"]),
                          GOAL_FIRST_MS)
            yield {"name": "ui: the last row", "value": said["last"],
                   "goal": f"= {said['count']}",
                   "reached": said["last"] == said["count"]}
