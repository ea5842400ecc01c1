"""bench_options.py: part "options": the cost of recording less, or more.

For each set of options: its cost for a malloc and a free (bench-pairs, one thread
and two), and the wall time of the five programs of part "programs". The wall
time is that of the program with the library preloaded, to its own end; the trace
is complete a moment later.
"""

import os

import bench_hooks
import bench_inputs
import bench_run
import bench_table

SETS = {
    "bare": None,
    "all": {},
    "sample 512k": {"SAMPLE": "512k"},
    "sample 16k": {"SAMPLE": "16k"},
    "min-size 4k": {"MIN_SIZE": "4k"},
    "depth 8": {"DEPTH": "8"},
    "depth 0": {"DEPTH": "0"},
    "off": {"OFF": "1"},
}
PROGRAM_SETS = ("bare", "all", "sample 512k", "min-size 4k", "depth 8")
SAMPLE = "sample 512k"
ADDED_GOAL = 5
WALL_GOAL = 1.02


def setting(bench, name, trace):
    """The environment that records so; None: nothing is recorded."""
    if SETS[name] is None:
        return None
    return {"LD_PRELOAD": bench.library, "GNOMON_OUTPUT": trace,
            "GNOMON_FORCE": "1",
            **{f"GNOMON_{key}": value for key, value in SETS[name].items()}}


def remove(trace):
    if os.path.exists(trace):
        os.unlink(trace)


def pairs_once(bench, name, threads, pairs):
    trace = bench.new_path("options.trace")
    command = [bench.tool("bench-pairs"), str(threads), str(pairs)]
    result = bench.run_json(command, env=setting(bench, name, trace))
    remove(trace)
    return result


def measure_pairs(bench, threads):
    pairs = bench_hooks.QUICK_PAIRS if bench.quick else bench_hooks.PAIRS
    runs = bench_run.interleave(
        tuple(SETS), bench.repeat(9, 3),
        lambda name: pairs_once(bench, name, threads, pairs))
    bare = min(run["cpu_ns"] for run in runs["bare"])
    for name in SETS:
        # the minimum: disturbances only make a run longer
        least = min(run["cpu_ns"] for run in runs[name])
        yield {"what": "pair", "threads": threads, "set": name,
               "ns": least, "added_ns": round(least - bare, 2),
               "median_ns": bench_run.median(runs[name], "cpu_ns")}


def program_once(bench, program, name):
    trace = bench.new_path("options.trace")
    result = bench.run(program.command, stdin=program.stdin,
                       env={**program.env,
                            **(setting(bench, name, trace) or {})})
    result["trace_bytes"] = (os.path.getsize(trace)
                             if os.path.exists(trace) else 0)
    remove(trace)
    return result


def measure_program(bench, program):
    runs = bench_run.interleave(
        PROGRAM_SETS, bench.repeat(7, 2),
        lambda name: program_once(bench, program, name))
    for name in PROGRAM_SETS:
        row = {"what": "program", "program": program.name, "set": name,
               "trace_bytes": bench_run.median(runs[name], "trace_bytes")}
        for key in ("wall_ns", "cpu_ns"):
            row[key] = min(run[key] for run in runs[name])
            row[key + "_ratio"] = row[key] / min(
                run[key] for run in runs["bare"])
        yield row


def measure(bench):
    rows = []
    for threads in bench_hooks.THREADS:
        bench_run.note(f"options: {threads} thread(s)")
        rows += measure_pairs(bench, threads)
    for program in bench_inputs.prepare(bench):
        bench_run.note(f"options: {program.name}")
        rows += measure_program(bench, program)
    return rows


def show(rows):
    bench_table.show(
        "options: ns of CPU that are added to one malloc and one free",
        ["options", *(f"{n} thread(s)" for n in bench_hooks.THREADS)], [
            [name, *(bench_table.text(row["added_ns"], 2) for row in rows
                     if row["what"] == "pair" and row["set"] == name)]
            for name in SETS],
        ("the least of all runs, as in part \"hooks\"",))
    programs = [row for row in rows if row["what"] == "program"]
    names = list(dict.fromkeys(row["program"] for row in programs))
    for key, title in (("wall_ns_ratio", "wall time"),
                       ("cpu_ns_ratio", "CPU time")):
        bench_table.show(f"options: {title} of programs, times bare",
                         ["program", *PROGRAM_SETS], [
                             [name, *(bench_table.text(row[key], 3)
                                      for row in programs
                                      if row["program"] == name)]
                             for name in names])


def figures(rows):
    for row in rows:
        if row["set"] != SAMPLE:
            continue
        if row["what"] == "pair":
            yield {"name": f"{SAMPLE}: ns added to a pair, "
                           f"{row['threads']} thread(s)",
                   "value": row["added_ns"], "goal": f"<= {ADDED_GOAL}",
                   "reached": row["added_ns"] <= ADDED_GOAL}
        else:
            yield {"name": f"{SAMPLE}: {row['program']}: wall time, times "
                           "bare",
                   "value": round(row["wall_ns_ratio"], 3),
                   "goal": f"<= {WALL_GOAL}",
                   "reached": row["wall_ns_ratio"] <= WALL_GOAL}
