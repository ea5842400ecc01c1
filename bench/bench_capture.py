"""bench_capture.py: part "capture": ns for one capture, beside its peers."""

import bench_run
import bench_table

DEPTHS = (10, 30, 100, 300, 1000)
CHANGED = (0, 1, 3, 8)
# name, program; the walk by frame pointers needs a call tree that has them
UNWINDERS = (
    ("gnomon", "bench-capture"),
    ("gnomon-validate", "bench-capture"),
    ("gnomon-off", "bench-capture"),
    ("gnomon-walk", "bench-capture"),
    ("unw_backtrace", "bench-capture"),
    ("backtrace", "bench-capture"),
    ("_Unwind_Backtrace", "bench-capture"),
    ("frame-pointers", "bench-capture-fp"),
)
# (depth, changed, goal): at least so many times faster than unw_backtrace
FASTER = ((30, 0, 12.0), (30, 1, 6.0), (30, 3, 3.5), (1000, 1, 50.0))
FLAT = 2.0          # cost at depth 1000 over that at depth 30, 1 changed
FLOOR_NS = 0.1      # what a difference of medians may at least be


def plan():
    """(depth, changed, repeating) of each row."""
    for depth in DEPTHS:
        for changed in CHANGED:
            yield depth, changed, False
        yield depth, 3, True


def measure_row(bench, depth, changed, repeating):
    def once(unwinder):
        name, program = unwinder
        return bench.run_json([
            bench.tool(program), name, str(depth), str(changed),
            "repeating" if repeating else "new", "time"])

    runs = bench_run.interleave(UNWINDERS, bench.repeat(3), once)
    row = {"depth": depth, "changed": changed, "repeating": repeating,
           "ns": {}, "calls_ns": {}, "frames": {}, "spread": {}, "tiers": {},
           "first_ns": {}, "thread": {}}
    for (name, _), results in runs.items():
        row["ns"][name] = round(bench_run.median(results, "ns"), 2)
        row["calls_ns"][name] = bench_run.median(results, "calls_ns")
        row["first_ns"][name] = bench_run.median(results, "first_ns")
        row["frames"][name] = results[0]["frames"]
        row["spread"][name] = round(bench_run.spread(results, "ns"), 2)
        if name.startswith("gnomon"):
            row["tiers"][name] = {tier: bench_run.median(results, tier)
                                  for tier in ("path", "join", "full")}
            row["thread"][name] = results[-1]["thread"]
    return row


def measure(bench):
    rows = []
    for depth, changed, repeating in plan():
        bench_run.note(f"capture: depth {depth}, {changed} changed")
        rows.append(measure_row(bench, depth, changed, repeating))
    return rows


def show(rows):
    show_times(rows)
    show_first(rows)
    show_threads(rows)


def show_times(rows):
    names = [name for name, _ in UNWINDERS]
    head = ["depth", "changed", *names, "by path", "by join"]
    cells = []
    for row in rows:
        tiers = row["tiers"]["gnomon"]
        changed = f"{row['changed']}{'*' if row['repeating'] else ''}"
        cells.append([str(row["depth"]), changed]
                     + [bench_table.text(row["ns"][name]) for name in names]
                     + [bench_table.percent(tiers["path"]),
                        bench_table.percent(tiers["join"])])
    bench_table.show("capture: ns for one stack", head, cells, (
        "changed: frames replaced since the capture before; with any, no "
        "whole stack",
        "comes again within 16384 captures. *: drawn from 64 stacks. The cost "
        "of the",
        "calls themselves is subtracted. depth 10 with 8 changed has 14 "
        "frames."))


def show_first(rows):
    names = [name for name, _ in UNWINDERS]
    bench_table.show("capture: ns for the first stack of a process", [
        "depth", *names], [
            [str(row["depth"])]
            + [bench_table.text(int(row["first_ns"][name])) for name in names]
            for row in rows if row["changed"] == 0], (
                "All tables and caches are cold; what a library loads at its "
                "first use counts.",))


def kib(value):
    return bench_table.text(value / 1024)


def show_threads(rows):
    cells = []
    for row in rows:
        thread = row["thread"]["gnomon"]
        changed = f"{row['changed']}{'*' if row['repeating'] else ''}"
        cells.append([
            str(row["depth"]), changed, thread["mode"],
            *(kib(thread[key]) for key in ("bytes_new", "bytes", "path_bytes",
                                           "path_bytes_max")),
            bench_table.text(thread["barriers_placed"]),
            bench_table.text(thread["barriers_met"])])
    bench_table.show("capture: what gnomon (auto) keeps for the thread, KiB", [
        "depth", "changed", "mode", "at start", "at the end", "path cache",
        "its bound", "barriers placed", "met"], cells)


def figures(rows):
    by = {(row["depth"], row["changed"]): row["ns"] for row in rows
          if not row["repeating"]}
    for depth, changed, goal in FASTER:
        ns = by[depth, changed]
        ratio = ns["unw_backtrace"] / max(ns["gnomon"], FLOOR_NS)
        yield {"name": "capture: times faster than unw_backtrace, "
                       f"depth {depth}, {changed} changed",
               "value": round(ratio, 2), "goal": f">= {goal}",
               "reached": ratio >= goal}
    ratio = by[1000, 1]["gnomon"] / max(by[30, 1]["gnomon"], FLOOR_NS)
    yield {"name": "capture: depth 1000 over depth 30, 1 changed",
           "value": round(ratio, 2), "goal": f"<= {FLAT}",
           "reached": ratio <= FLAT}
    for depth in (30, 100, 300, 1000):
        for changed in (0, 1):
            ns = by[depth, changed]
            ratio = ns["frame-pointers"] / max(ns["gnomon"], FLOOR_NS)
            yield {"name": "capture: times faster than frame pointers, "
                           f"depth {depth}, {changed} changed",
                   "value": round(ratio, 2), "goal": "> 1",
                   "reached": ratio > 1}
