"""bench_programs.py: part "programs": real programs, recorded.

Wall time is the user's waiting time: for gnomon that of `gnomon run`, until the
trace is complete; for heaptrack that of the program under its library alone, into
/dev/null. CPU time is the program's, including `gnomon run`'s; the recorder's is
listed separately, from wait4(2) of the recorder itself (bench/run_counted.c), and
per event also from the trace.

Page faults and resident memory are the program's own, from runs with the library
alone: neither the recorder's nor those of `gnomon run` count. These runs embed
nothing, so that their traces compare with the output of heaptrack's library,
compressed by `zstd -3`; that output has neither times nor threads.

Counts of allocations are compared with heaptrack's raw output of a further run,
where every successful call is a line that begins with "+ " (realloc's too, after a
"- " for the old block; it does not see memalign and pvalloc).
"""

import os
import subprocess

import bench_inputs
import bench_run
import bench_table

NAMES = (*bench_inputs.FIRST, "lua", "ruby", "redis")
VARIANTS = ("bare", "gnomon", "heaptrack")
COUNTED = ("jq", "sqlite3", "perl")
# Wall time, times bare.
WALL_GOALS = {"cc1plus": 1.10, "lua": 1.2, "python3": 1.12, "ruby": 1.03,
              "perl": 1.05}
WALL_GOAL = 1.15	# of others
BYTES_GOALS = {"cc1plus": 3}
BYTES_GOAL = 4.5	# of others
BOTTOM_GOAL = 0.9999
RECORDER_NS = 12
RECORDER_MIB = 8
ZSTD_LEVEL = 3
# key, what it is, divided by, goal: of the program whose stacks are all new.
NEW_STACKS = "cc1plus"
NEW_STACKS_GOALS = (
    ("total_cpu_ratio", "CPU time with the recorder's, times bare", 1, 1.18),
    ("faults_added", "page faults added", 1, 1200),
    ("rss_added_kb", "resident MiB added", 1024, 16))


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
        return bench.run_program(program)
    if variant == "heaptrack":
        return bench.run_program(program, bench_run.heaptrack_env())
    trace = bench.new_path("program.trace")
    result = bench.run_program(
        program, command=bench.recorded(trace, program.command), adopt=True)
    if not result["adopted"]["count"] or not result["adopted"]["rss_kb"]:
        raise bench_run.Failed("nothing was measured of the recorder")
    facts.append({**facts_of_trace(bench, trace),
                  **{f"recorder_{key}": result["adopted"][key]
                     for key in ("cpu_ns", "rss_kb", "own_kb")}})
    result["total_cpu_ns"] = result["cpu_ns"] + result["adopted"]["cpu_ns"]
    os.unlink(trace)
    return result


def run_alone(bench, program, recorded):
    """A run whose faults and memory are the program's, which env(1) starts
    either way; with a trace that has nothing embedded."""
    if not recorded:
        return bench.run_program(program, {"LD_PRELOAD": ""})
    trace = bench.new_path("alone.trace")
    result = bench.run_program(program, {
        "LD_PRELOAD": bench.library, "GNOMON_OUTPUT": trace,
        "GNOMON_EMBED": "none"}, adopt=True)
    info = bench.trace_info(trace)
    result.update(trace_bytes=info["bytes"], events=info["events"])
    os.unlink(trace)
    return result


def measure_alone(bench, program):
    """What it adds to the program itself, and the trace's size."""
    runs = bench_run.interleave(
        (False, True), bench.repeat(3),
        lambda recorded: run_alone(bench, program, recorded))

    def taken(recorded, key):
        return bench_run.median(runs[recorded], key)

    return {"bare_faults": taken(False, "faults"),
            "faults_added": taken(True, "faults") - taken(False, "faults"),
            "rss_added_kb": taken(True, "rss_kb") - taken(False, "rss_kb"),
            "plain_bytes": taken(True, "trace_bytes"),
            "plain_bytes_per_event": (taken(True, "trace_bytes")
                                      / taken(True, "events"))}


def measure_heaptrack(bench, program):
    """What heaptrack's raw output has: allocations, and its size compressed.
    """
    path = bench.new_path("heaptrack.raw")
    bench.run_program(program, bench_run.heaptrack_env(path))
    count = None
    if program.name in COUNTED:
        with open(path, "rb") as stream:
            count = sum(line.startswith(b"+ ") for line in stream)
    subprocess.run(["zstd", "-q", f"-{ZSTD_LEVEL}", "--rm", path,
                    "-o", path + ".zst"], check=True)
    size = os.path.getsize(path + ".zst")
    os.unlink(path + ".zst")
    return {"heaptrack_allocations": count, "heaptrack_zstd_bytes": size}


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
    row["total_cpu_ns"] = bench_run.median(runs["gnomon"], "total_cpu_ns")
    row["total_cpu_ratio"] = row["total_cpu_ns"] / row["bare_cpu_ns"]
    for key in ("events", "bytes_per_event", "writer_ns_per_event", "bottom",
                "ring_waits", "allocations", "recorder_cpu_ns",
                "recorder_rss_kb", "recorder_own_kb"):
        row[key] = bench_run.median(facts, key)
    row["recorder_ns_per_event"] = row["recorder_cpu_ns"] / row["events"]
    row["dropped"] = max(fact["dropped"] for fact in facts)
    row["tiers"] = facts[-1]["tiers"]
    row.update(measure_alone(bench, program))
    row.update(measure_heaptrack(bench, program))
    row["heaptrack_zstd_bytes_per_event"] = (row["heaptrack_zstd_bytes"]
                                             / row["events"])
    return row


def measure(bench):
    rows = []
    for program in bench_inputs.prepare(bench, NAMES):
        bench_run.note(f"programs: {program.name}")
        rows.append(measure_program(bench, program))
    return rows


def seconds(value):
    return f"{value / 1e9:.2f}"


def show(rows):
    show_times(rows)
    show_memory(rows)
    show_traces(rows)
    show_bytes(rows)
    show_counters(rows)
    counted = [[row["program"], bench_table.text(int(row["allocations"])),
                bench_table.text(row["heaptrack_allocations"]),
                bench_table.percent(difference(row), 4)]
               for row in rows if row["heaptrack_allocations"]]
    bench_table.show("allocations counted", [
        "program", "gnomon", "heaptrack", "difference"], counted)


def show_times(rows):
    head = ["program", "bare s", "gnomon s", "heaptrack s", "gnomon",
            "heaptrack", "CPU: gnomon", "with recorder", "heaptrack"]
    bench_table.show("programs: time", head, [
        [row["program"], seconds(row["bare_wall_ns"]),
         seconds(row["gnomon_wall_ns"]), seconds(row["heaptrack_wall_ns"]),
         bench_table.text(row["gnomon_wall_ratio"], 2) + "x",
         bench_table.text(row["heaptrack_wall_ratio"], 2) + "x",
         bench_table.text(row["gnomon_cpu_ratio"], 2) + "x",
         bench_table.text(row["total_cpu_ratio"], 2) + "x",
         bench_table.text(row["heaptrack_cpu_ratio"], 2) + "x"]
        for row in rows], [
            "wall time of `gnomon run`, and of the program under heaptrack's "
            "library alone, into /dev/null",
            *(f"{name} is not installed: left out"
              for name in bench_inputs.OPTIONAL if bench_inputs.absent(name))])


def show_memory(rows):
    head = ["program", "page faults", "added", "resident MiB", "added",
            "recorder MiB", "its own", "recorder ns/ev"]
    bench_table.show("programs: memory", head, [
        [row["program"], bench_table.text(int(row["bare_faults"])),
         bench_table.text(int(row["faults_added"])),
         bench_table.text(row["bare_rss_kb"] / 1024),
         bench_table.text(row["rss_added_kb"] / 1024),
         bench_table.text(row["recorder_rss_kb"] / 1024),
         bench_table.text(row["recorder_own_kb"] / 1024),
         bench_table.text(row["recorder_ns_per_event"])]
        for row in rows], (
            "the program's own, with the library alone; the recorder's: all "
            "that is resident of it, with",
            "what it shares with the program; its own: what it shares with no "
            "other process; its",
            "processor time from start to end"))


def show_bytes(rows):
    head = ["program", "whole trace", "nothing embedded", "heaptrack, zstd -3",
            "of that"]
    bench_table.show("programs: bytes an event", head, [
        [row["program"], bench_table.text(row["bytes_per_event"], 3),
         bench_table.text(row["plain_bytes_per_event"], 3),
         bench_table.text(row["heaptrack_zstd_bytes_per_event"], 3),
         bench_table.percent(beside_heaptrack(row))]
        for row in rows], (
            "heaptrack's raw output has neither times nor threads; of that: "
            "our trace with nothing embedded",))


def beside_heaptrack(row):
    return row["plain_bytes"] / row["heaptrack_zstd_bytes"]


def show_traces(rows):
    head = ["program", "events", "dropped", "waits", "bytes/ev",
            "recorder ns/ev", "path", "join", "full", "plain", "bottom"]
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


def at_most(name, value, goal, digits=3):
    return {"name": name, "value": round(value, digits), "goal": f"<= {goal}",
            "reached": value <= goal}


def figures(rows):
    for row in rows:
        name = row["program"]
        yield from (
            at_most(f"{name}: wall time, times bare",
                    row["gnomon_wall_ratio"],
                    WALL_GOALS.get(name, WALL_GOAL)),
            {"name": f"{name}: events dropped", "value": row["dropped"],
             "goal": "0", "reached": row["dropped"] == 0},
            {"name": f"{name}: stacks that reach the bottom",
             "value": round(row["bottom"], 6), "goal": f">= {BOTTOM_GOAL}",
             "reached": row["bottom"] >= BOTTOM_GOAL},
            at_most(f"{name}: trace bytes per event", row["bytes_per_event"],
                    BYTES_GOALS.get(name, BYTES_GOAL)),
            {"name": f"{name}: trace with nothing embedded, of heaptrack's "
                     "by zstd", "value": round(beside_heaptrack(row), 3),
             "goal": "< 1", "reached": beside_heaptrack(row) < 1},
            at_most(f"{name}: recorder's ns of CPU per event",
                    row["recorder_ns_per_event"], RECORDER_NS, 2),
            at_most(f"{name}: MiB resident of the recorder",
                    row["recorder_rss_kb"] / 1024, RECORDER_MIB, 2))
        if name == NEW_STACKS:
            for key, what, unit, goal in NEW_STACKS_GOALS:
                yield at_most(f"{name}: {what}", row[key] / unit, goal, 2)
        if row["heaptrack_allocations"]:
            yield {"name": f"{name}: allocations beside heaptrack's",
                   "value": round(difference(row), 6), "goal": "+-0.001",
                   "reached": abs(difference(row)) <= 0.001}
