"""bench_instructions.py: part "instructions": what callgrind counts.

Repeatable to the instruction, on any machine. Of a malloc and its free: the
pairs of bench-pairs under libgnomon-thread.so, less the same pairs alone; they
come from stacks that repeat. Of a capture, and of each new frame of it: the
bursts of bench-capture with 1 and 8 frames changed, less the calls alone.

valgrind knows no processes that share memory, so the preload library is
linked a second time with a clone that makes threads of them (thread_writer.c).
callgrind switches collecting for each thread apart, so the writer's work is
not in the count.
"""

import glob
import os
import re

import bench_run
import bench_table

PAIRS = 20000
DEPTH = 30


def count(bench, command, env=None):
    """(instructions collected, what the command printed)."""
    out = bench.new_path("callgrind.out")
    stdout = bench.new_path("stdout")
    setting = [f"{name}={value}" for name, value in (env or {}).items()]
    # env(1) inside valgrind, which is a script and is not to be recorded
    measured = bench.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no",
         "--trace-children=yes", f"--callgrind-out-file={out}",
         "env", *setting, *command], stdout=stdout)
    found = re.search(r"Collected\s*:\s*(\d+)", measured["stderr"])
    if not found:
        raise bench_run.Failed(f"callgrind: {measured['stderr'][-400:]}")
    with open(stdout, encoding="utf-8") as stream:
        printed = stream.read()
    for path in (out, stdout):
        if os.path.exists(path):
            os.unlink(path)
    return int(found.group(1)), printed


def count_captures(bench, changed):
    """Instructions of one capture at DEPTH."""
    totals = {}
    for name in ("nothing", "gnomon"):
        totals[name], printed = count(bench, [
            bench.tool("bench-capture"), name, str(DEPTH), str(changed),
            "new", "count"])
    captures = int(re.search(r'"captures":(\d+)', printed).group(1))
    return (totals["gnomon"] - totals["nothing"]) / captures


def count_pairs(bench):
    """Instructions that recording adds to one malloc and one free."""
    command = [bench.tool("bench-pairs"), "1", str(PAIRS)]
    bare, _ = count(bench, command)
    trace = bench.new_path("callgrind.trace")
    env = {"LD_PRELOAD": bench.tool("libgnomon-thread.so"),
           "GNOMON_OUTPUT": trace}
    recorded, _ = count(bench, command, env)
    # the launcher of valgrind, which env starts, has a trace of its own
    if max(bench.trace_info(path)["events"]
           for path in glob.glob(f"{trace}*")) < 2 * PAIRS:
        raise bench_run.Failed("instructions: the pairs were not recorded")
    return bare / PAIRS, (recorded - bare) / PAIRS


def measure(bench):
    bench_run.note("instructions: captures")
    by_changed = {changed: count_captures(bench, changed)
                  for changed in (0, 1, 3, 8)}
    rows = [{"what": f"capture at depth {DEPTH}, {changed} changed",
             "instructions": round(value, 1)}
            for changed, value in by_changed.items()]
    rows.append({"what": "capture: each new frame",
                 "instructions": round((by_changed[8] - by_changed[1]) / 7,
                                       1)})
    bench_run.note("instructions: pairs")
    bare, added = count_pairs(bench)
    rows.append({"what": "malloc + free of the C library and the loop",
                 "instructions": round(bare, 1)})
    rows.append({"what": "malloc + free: added by recording, path hits",
                 "instructions": round(added, 1)})
    return rows


def show(rows):
    bench_table.show("instructions, by callgrind", ["of", "instructions"], [
        [row["what"], bench_table.text(row["instructions"])]
        for row in rows])


def figures(_rows):
    return []
