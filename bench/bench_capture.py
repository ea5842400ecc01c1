"""bench_capture.py: part "capture": ns for one capture, beside its peers."""

import bench_run
import bench_table

DEPTHS = (10, 30, 100)
CHANGED = (0, 1, 3, 8)
# name, program; the walk by frame pointers needs a call tree that has them
UNWINDERS = (
    ("gnomon", "bench-capture"),
    ("gnomon-validate", "bench-capture"),
    ("gnomon-off", "bench-capture"),
    ("unw_backtrace", "bench-capture"),
    ("backtrace", "bench-capture"),
    ("_Unwind_Backtrace", "bench-capture"),
    ("frame-pointers", "bench-capture-fp"),
)


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
           "ns": {}, "calls_ns": {}, "frames": {}, "spread": {}, "tiers": {}}
    for (name, _), results in runs.items():
        row["ns"][name] = round(bench_run.median(results, "ns"), 2)
        row["calls_ns"][name] = bench_run.median(results, "calls_ns")
        row["frames"][name] = results[0]["frames"]
        row["spread"][name] = round(bench_run.spread(results, "ns"), 2)
        if name.startswith("gnomon"):
            row["tiers"][name] = {tier: bench_run.median(results, tier)
                                  for tier in ("path", "join", "full")}
    return row


def measure(bench):
    rows = []
    for depth, changed, repeating in plan():
        bench_run.note(f"capture: depth {depth}, {changed} changed")
        rows.append(measure_row(bench, depth, changed, repeating))
    return rows


def show(rows):
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


def figures(rows):
    by = {(row["depth"], row["changed"]): row["ns"] for row in rows
          if not row["repeating"]}
    for changed, goal in ((0, 8.0), (3, 2.5)):
        ns = by[30, changed]
        ratio = ns["unw_backtrace"] / max(ns["gnomon"], 0.1)
        yield {"name": "capture: times faster than unw_backtrace, depth 30, "
                       f"{changed} changed",
               "value": round(ratio, 2), "goal": f">= {goal}",
               "reached": ratio >= goal}
