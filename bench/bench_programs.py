"""bench_programs.py: part "programs": five real programs, recorded.

Wall time is what the user waits for: for gnomon that of `gnomon run`, to the
moment the trace is complete; for heaptrack that of the program under its
library alone, into /dev/null. CPU time is the program's; gnomon's writer is
given beside it, per event.

Counts of allocations are compared with heaptrack's raw output of a further
run, where every successful call is a line that begins with "+ " (realloc's
too, after a "- " for the old block; memalign and pvalloc it does not see).
"""

import os

import bench_inputs
import bench_run
import bench_table

VARIANTS = ("bare", "gnomon", "heaptrack")
COUNTED = ("jq", "sqlite3", "perl")
WALL_GOAL = 1.15
BOTTOM_GOAL = 0.9999


def facts_of_trace(bench, trace):
    info = bench.trace_info(trace)
    report = bench.ask("report", "--top", "1", trace)
    allocations = bench_run.find_int(report, "allocations")
    events = max(info["events"], 1)
    walks = info["tier_join"] + info["tier_full"] + info["tier_plain"]
    captures = max(info["tier_path"] + walks, 1)
    return {
        "events": info["events"], "dropped": info["dropped"],
        "ring_waits": info["ring_waits"],
        "bytes_per_event": info["bytes"] / events,
        "writer_ns_per_event": info["writer_cpu_ns"] / events,
        "tiers": {tier: info[f"tier_{tier}"] / captures
                  for tier in ("path", "join", "full", "plain")},
        "bottom": 1 - (bench_run.find_int(report, "stopped")
                       / max(allocations, 1)),
        "allocations": allocations,
    }


def run_once(bench, program, variant, facts):
    if variant == "bare":
        return bench.run(program.command, env=program.env,
                         stdin=program.stdin)
    if variant == "heaptrack":
        return bench.run(program.command, stdin=program.stdin,
                         env={**program.env, **bench_run.heaptrack_env()})
    trace = bench.new_path("program.trace")
    result = bench.run(bench.recorded(trace, program.command),
                       env=program.env, stdin=program.stdin)
    facts.append(facts_of_trace(bench, trace))
    os.unlink(trace)
    return result


def heaptrack_count(bench, program):
    """Allocations as heaptrack's raw output has them."""
    path = bench.new_path("heaptrack.raw")
    bench.run(program.command, stdin=program.stdin,
              env={**program.env, **bench_run.heaptrack_env(path)})
    with open(path, "rb") as stream:
        count = sum(line.startswith(b"+ ") for line in stream)
    os.unlink(path)
    return count


def measure_program(bench, program):
    facts = []
    runs = bench_run.interleave(
        VARIANTS, bench.repeat(5),
        lambda variant: run_once(bench, program, variant, facts))
    row = {"program": program.name}
    for variant in VARIANTS:
        for key in ("wall_ns", "cpu_ns", "instructions", "branch_misses",
                    "page_faults", "rss_kb"):
            row[f"{variant}_{key}"] = bench_run.median(runs[variant], key)
    for variant in VARIANTS[1:]:
        row[f"{variant}_wall_ratio"] = (row[f"{variant}_wall_ns"]
                                        / row["bare_wall_ns"])
        row[f"{variant}_cpu_ratio"] = (row[f"{variant}_cpu_ns"]
                                       / row["bare_cpu_ns"])
    for key in ("events", "bytes_per_event", "writer_ns_per_event", "bottom",
                "ring_waits", "allocations"):
        row[key] = bench_run.median(facts, key)
    row["dropped"] = max(fact["dropped"] for fact in facts)
    row["tiers"] = facts[-1]["tiers"]
    row["heaptrack_allocations"] = (heaptrack_count(bench, program)
                                    if program.name in COUNTED else None)
    return row


def measure(bench):
    rows = []
    for program in bench_inputs.prepare(bench):
        bench_run.note(f"programs: {program.name}")
        rows.append(measure_program(bench, program))
    return rows


def seconds(value):
    return f"{value / 1e9:.2f}"


def show(rows):
    show_times(rows)
    show_traces(rows)
    show_counters(rows)
    counted = [[row["program"], bench_table.text(int(row["allocations"])),
                bench_table.text(row["heaptrack_allocations"]),
                bench_table.percent(difference(row), 4)]
               for row in rows if row["heaptrack_allocations"]]
    bench_table.show("allocations counted", [
        "program", "gnomon", "heaptrack", "difference"], counted)


def show_times(rows):
    head = ["program", "bare s", "gnomon s", "heaptrack s", "gnomon",
            "heaptrack", "CPU: gnomon", "heaptrack"]
    bench_table.show("programs: time", head, [
        [row["program"], seconds(row["bare_wall_ns"]),
         seconds(row["gnomon_wall_ns"]), seconds(row["heaptrack_wall_ns"]),
         bench_table.text(row["gnomon_wall_ratio"], 2) + "x",
         bench_table.text(row["heaptrack_wall_ratio"], 2) + "x",
         bench_table.text(row["gnomon_cpu_ratio"], 2) + "x",
         bench_table.text(row["heaptrack_cpu_ratio"], 2) + "x"]
        for row in rows], (
            "wall time of `gnomon run`, and of the program under heaptrack's "
            "library alone, into /dev/null",))


def show_traces(rows):
    head = ["program", "events", "dropped", "waits", "bytes/ev",
            "writer ns/ev", "path", "join", "full", "plain", "bottom"]
    bench_table.show("programs: traces", head, [
        [row["program"], bench_table.text(int(row["events"])),
         bench_table.text(row["dropped"]),
         bench_table.text(int(row["ring_waits"])),
         bench_table.text(row["bytes_per_event"], 2),
         bench_table.text(row["writer_ns_per_event"]),
         *(bench_table.percent(row["tiers"][tier], 2)
           for tier in ("path", "join", "full", "plain")),
         bench_table.percent(row["bottom"], 3)]
        for row in rows], (
            "path, join, full, plain: share of captures by how the stack was "
            "found; bottom: share that",
            "reached the outermost frame"))


def show_counters(rows):
    names = ("instructions", "branch_misses", "page_faults")
    cells = []
    for row in rows:
        for variant in VARIANTS:
            cells.append([f"{row['program']}, {variant}", *(
                "not available" if row[f"{variant}_{name}"] is None
                else bench_table.text(int(row[f"{variant}_{name}"]))
                for name in names)])
    bench_table.show("programs: counters of perf_event_open, user space",
                     ["program", "instructions", "branch misses",
                      "page faults"], cells)


def difference(row):
    return (row["allocations"] / row["heaptrack_allocations"]) - 1


def figures(rows):
    for row in rows:
        name = row["program"]
        yield from (
            {"name": f"{name}: wall time, times bare",
             "value": round(row["gnomon_wall_ratio"], 3),
             "goal": f"<= {WALL_GOAL}",
             "reached": row["gnomon_wall_ratio"] <= WALL_GOAL},
            {"name": f"{name}: events dropped", "value": row["dropped"],
             "goal": "0", "reached": row["dropped"] == 0},
            {"name": f"{name}: stacks that reach the bottom",
             "value": round(row["bottom"], 6), "goal": f">= {BOTTOM_GOAL}",
             "reached": row["bottom"] >= BOTTOM_GOAL},
            {"name": f"{name}: trace bytes per event",
             "value": round(row["bytes_per_event"], 3), "goal": "<= 4.5",
             "reached": row["bytes_per_event"] <= 4.5},
            {"name": f"{name}: writer ns of CPU per event",
             "value": round(row["writer_ns_per_event"], 2), "goal": "<= 25",
             "reached": row["writer_ns_per_event"] <= 25})
        if row["heaptrack_allocations"]:
            yield {"name": f"{name}: allocations beside heaptrack's",
                   "value": round(difference(row), 6), "goal": "+-0.001",
                   "reached": abs(difference(row)) <= 0.001}
