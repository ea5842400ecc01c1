"""bench_throw.py: part "throw": a C++ throw, with and without recording.

Twenty frames between throw and catch, half of them with a destructor; the same
frames at every throw, or different ones (then the capture itself takes time). The
exception object's malloc is captured at the throw's full depth. In "barriers" a
barrier lies in the middle of those frames at every throw (the switch for tests
forces it, and the trace's counters prove it), in "gnomon" where the placement
policy puts one, in "validate" there is none.
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
STACKS = ("same", "new")
GOAL = 1.1
PLACED = 0.99       # for each throw a new one: the first few may miss


def measure_once(bench, variant, stacks, throws):
    command = [bench.tool("bench-throw"), str(throws), stacks]
    if VARIANTS[variant] is None:
        return bench.run_json(command)
    trace = bench.new_path("throw.trace")
    result = bench.run_json(bench.recorded(trace, command),
                            env=VARIANTS[variant])
    info = bench.trace_info(trace)
    os.unlink(trace)
    for key in ("barriers_placed", "barriers_met"):
        result[key] = info[key] / (result["throws"] + result["warm_up"])
    result["dropped"] = info["dropped"]
    return result


def measure_stacks(bench, stacks):
    throws = QUICK_THROWS if bench.quick else THROWS
    runs = bench_run.interleave(
        tuple(VARIANTS), bench.repeat(9, 3),
        lambda variant: measure_once(bench, variant, stacks, throws))
    bare = bench_run.median(runs["bare"], "ns")
    for variant, results in runs.items():
        row = {"variant": variant, "stacks": stacks, "throws": throws,
               "frames": results[0]["frames"],
               "ns": bench_run.median(results, "ns"),
               "spread": round(bench_run.spread(results, "ns"), 3)}
        row["ratio"] = row["ns"] / bare
        for key in ("barriers_placed", "barriers_met", "dropped"):
            row[key] = bench_run.median(results, key)
        yield row


def measure(bench):
    rows = []
    for stacks in STACKS:
        bench_run.note(f"throw: {stacks} frames")
        rows += measure_stacks(bench, stacks)
    return rows


def show(rows):
    bench_table.show("throw: ns for a C++ throw through 20 frames", [
        "recorded", "frames", "ns", "times bare", "spread",
        "barriers placed a throw", "met a throw"], [
            [row["variant"], row["stacks"], bench_table.text(row["ns"]),
             bench_table.text(row["ratio"], 3),
             bench_table.percent(row["spread"]),
             bench_table.text(row["barriers_placed"], 2),
             bench_table.text(row["barriers_met"], 2)] for row in rows], (
                 f"barriers: one stands {BARRIER} frames out at every throw; "
                 "gnomon: as the policy has it.",))


def figures(rows):
    for row in rows:
        if row["variant"] not in ("gnomon", "barriers") or \
                row["stacks"] != "same":
            continue
        ok = row["ratio"] <= GOAL
        name = "throw: times bare, 20 frames"
        if row["variant"] == "barriers":
            name += ", a barrier among them"
            ok = ok and row["barriers_placed"] >= PLACED
        yield {"name": name, "value": round(row["ratio"], 3),
               "goal": f"<= {GOAL}", "reached": ok}
