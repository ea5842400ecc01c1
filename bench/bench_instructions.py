"""bench_instructions.py: part "instructions": what callgrind counts.

Repeatable to the instruction, on any machine. Of a malloc and its free: the pairs
of bench-pairs under libgnomon.so, minus the same pairs alone; their stacks
repeat. Of a capture, and of each new frame of it: the bursts of bench-capture,
minus the calls alone. Both also by function. Also the stores of gnomon's code for
a malloc and its free, by memory area (bench_stores.py).
"""

import glob
import re
import time

import bench_callgrind
import bench_run
import bench_stores
import bench_table

PAIRS = 20000
PAIR_GOAL = 220
RECORDER_S = 10     # that it may take to end
DEPTHS = (30, 1000)
CHANGED = (0, 1, 3, 8)
QUICK = {30: CHANGED, 1000: (1,)}
SHOWN = 1.0         # instructions: functions with fewer are not in the table
PAIR = "malloc + free: added by recording, path hits"
STACKED = "malloc + free: added with --free-stacks, path hits"
MAPS = "mmap + munmap: added by recording"
STORES = "malloc + free: stores of gnomon's code, path hits"


def count_captures(bench, depth, changed):
    """A row: instructions of one capture."""
    def run(name):
        return bench_callgrind.count(bench, [
            bench.tool("bench-capture"), name, str(depth), str(changed),
            "new", "count"])

    calls, gnomon = run("nothing"), run("gnomon")
    captures = int(re.search(r'"captures":(\d+)',
                             gnomon["printed"]).group(1))
    return {"what": f"capture at depth {depth}, {changed} changed",
            "instructions": round((gnomon["total"] - calls["total"])
                                  / captures, 1),
            "depth": depth, "changed": changed,
            "self": bench_callgrind.per(gnomon["self"], captures),
            "inclusive": bench_callgrind.per(gnomon["inclusive"], captures)}


def were_recorded(bench, trace):
    """Whether the pairs are in a trace: its recorder writes them to the end
    when the program has ended. The launcher of valgrind, which env starts, has
    a trace of its own."""
    end = time.monotonic() + RECORDER_S
    while time.monotonic() < end:
        if any(bench.trace_info(path)["events"] >= 2 * PAIRS
               for path in glob.glob(f"{trace}*")):
            return True
        time.sleep(0.05)
    return False


def count_recorded(bench, command, free_stacks):
    trace = bench.new_path("callgrind.trace")
    recorded = bench_callgrind.count(bench, command, {
        "LD_PRELOAD": bench.library,
        "GNOMON_FREE_STACKS": free_stacks, "GNOMON_OUTPUT": trace})
    if not were_recorded(bench, trace):
        raise bench_run.Failed("instructions: the pairs were not recorded")
    return recorded


def count_pairs(bench):
    """Rows: instructions of a malloc and a free, bare and added."""
    command = [bench.tool("bench-pairs"), "1", str(PAIRS)]
    bare = bench_callgrind.count(bench, command)
    recorded = count_recorded(bench, command, 0)
    stacked = count_recorded(bench, command, 1)
    return [{"what": "malloc + free of the C library and the loop",
             "instructions": round(bare["total"] / PAIRS, 1)},
            {"what": PAIR,
             "instructions": round((recorded["total"] - bare["total"])
                                   / PAIRS, 1),
             "self": bench_callgrind.per(recorded["self"], PAIRS),
             "inclusive": bench_callgrind.per(recorded["inclusive"], PAIRS)},
            {"what": STACKED,
             "instructions": round((stacked["total"] - bare["total"])
                                   / PAIRS, 1)}]


def count_maps(bench):
    """A row: what a mapping that comes and goes is more."""
    command = [bench.tool("bench-lives"), "maps", str(PAIRS)]
    bare = bench_callgrind.count(bench, command)
    recorded = bench_callgrind.count(bench, command, {
        "LD_PRELOAD": bench.library,
        "GNOMON_OUTPUT": bench.new_path("callgrind.trace")})
    return {"what": MAPS,
            "instructions": round((recorded["total"] - bare["total"])
                                  / PAIRS, 1)}


def measure(bench):
    rows, by = [], {}
    for depth in DEPTHS:
        for changed in QUICK[depth] if bench.quick else CHANGED:
            bench_run.note(f"instructions: depth {depth}, {changed} changed")
            by[depth, changed] = count_captures(bench, depth, changed)
    rows += by.values()
    rows.append({"what": "capture: each new frame", "instructions": round(
        (by[30, 8]["instructions"] - by[30, 1]["instructions"]) / 7, 1)})
    bench_run.note("instructions: pairs")
    rows += count_pairs(bench)
    rows.append(count_maps(bench))
    bench_run.note("instructions: stores")
    rows.append({"what": STORES, "instructions": None,
                 "stores": bench_stores.count(bench)})
    return rows


def show(rows):
    bench_table.show("instructions, by callgrind", ["of", "instructions"], [
        [row["what"], bench_table.text(row["instructions"])]
        for row in rows if row["instructions"] is not None])
    show_stores(rows[-1]["stores"])
    columns = [row for row in rows if "self" in row]
    heads = [f"{row['depth']}, {row['changed']}" if "depth" in row
             else "malloc + free" for row in columns]
    show_functions("self", "instructions by function, of its own code", heads,
                   columns)
    show_functions("inclusive", "instructions by function, with what it calls",
                   heads, columns)


def show_stores(stores):
    bench_table.show(STORES, ["to", "stores", "cache lines"], [
        [name, bench_table.text(int(places["stores"])),
         bench_table.text(int(places["lines"]))]
        for name, places in stores.items()], (
            "live: the ring and the context nodes; other: what should not be "
            "written to.",))


def show_functions(key, title, heads, columns):
    most = {}
    for row in columns:
        for name, value in row[key].items():
            most[name] = max(most.get(name, 0.0), value)
    names = sorted((name for name in most if most[name] >= SHOWN),
                   key=lambda name: -most[name])
    bench_table.show(title, ["file:function", *heads], [
        [name, *(bench_table.text(row[key].get(name)) for row in columns)]
        for name in names], (
            "columns: depth, changed frames of one capture. With another "
            "function's file, what the compiler put into it.",))


def figures(rows):
    for row in rows:
        if row["what"] == PAIR:
            yield {"name": "instructions added to a malloc + free pair",
                   "value": row["instructions"], "goal": f"<= {PAIR_GOAL}",
                   "reached": row["instructions"] <= PAIR_GOAL}
        if row["what"] == STORES:
            lines = int(row["stores"]["other"]["lines"])
            yield {"name": "cache lines written for a pair, but the ring's "
                           "and the stack's",
                   "value": lines, "goal": "0", "reached": lines == 0}
