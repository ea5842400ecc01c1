"""bench_throw.py: part "throw": a C++ throw, bare and recorded.

Twenty frames between throw and catch, half of them with a destructor. The
exception object's malloc is captured at the throw's full depth. In "barriers"
a barrier stands in the middle of those frames at every throw (the switch for
tests forces it, and the trace's counters prove it), in "gnomon" where the
policy wants one, in "validate" none.
"""

import os

import bench_run
import bench_table

THROWS = 40000
QUICK_THROWS = 10000
BARRIER = 8         # frames out from the malloc in the C++ library
# name: options of the recording; None: not recorded
VARIANTS = {
    "bare": None,
    "gnomon": {},
    "barriers": {"GNOMON_DEBUG_BARRIER": str(BARRIER)},
    "validate": {"GNOMON_SHADOW_STACK": "validate"},
}
GOAL = 1.1


def measure_once(bench, variant, throws):
    command = [bench.tool("bench-throw"), str(throws)]
    if VARIANTS[variant] is None:
        return bench.run_json(command)
    trace = bench.new_path("throw.trace")
    result = bench.run_json(bench.recorded(trace, command),
                            env=VARIANTS[variant])
    info = bench.trace_info(trace)
    os.unlink(trace)
    for key in ("barriers_placed", "barriers_met"):
        result[key] = info[key] / throws
    result["dropped"] = info["dropped"]
    return result


def measure(bench):
    bench_run.note("throw")
    throws = QUICK_THROWS if bench.quick else THROWS
    runs = bench_run.interleave(
        tuple(VARIANTS), bench.repeat(9, 5),
        lambda variant: measure_once(bench, variant, throws))
    rows = []
    bare = bench_run.median(runs["bare"], "ns")
    for variant, results in runs.items():
        row = {"variant": variant, "throws": throws,
               "frames": results[0]["frames"],
               "ns": bench_run.median(results, "ns"),
               "spread": round(bench_run.spread(results, "ns"), 3)}
        row["ratio"] = row["ns"] / bare
        for key in ("barriers_placed", "barriers_met", "dropped"):
            row[key] = bench_run.median(results, key)
        rows.append(row)
    return rows


def show(rows):
    bench_table.show("throw: ns for a C++ throw through 20 frames", [
        "recorded", "ns", "times bare", "spread",
        "barriers placed a throw", "met a throw"], [
            [row["variant"], bench_table.text(row["ns"]),
             bench_table.text(row["ratio"], 3),
             bench_table.percent(row["spread"]),
             bench_table.text(row["barriers_placed"], 2),
             bench_table.text(row["barriers_met"], 2)] for row in rows], (
                 f"barriers: one stands {BARRIER} frames out at every throw; "
                 "gnomon: as the policy has it.",))


def figures(rows):
    by = {row["variant"]: row for row in rows}
    for variant, standing in (("gnomon", None), ("barriers", 1.0)):
        row = by[variant]
        ok = row["ratio"] <= GOAL
        name = "throw: times bare, 20 frames, gnomon"
        if standing:
            name = "throw: times bare, 20 frames, a barrier at each"
            ok = ok and row["barriers_placed"] >= standing
        yield {"name": name, "value": round(row["ratio"], 3),
               "goal": f"<= {GOAL}", "reached": ok}
