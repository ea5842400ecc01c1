"""bench_lives.py: part "lives": costs of a recorded process besides its
allocations: a child's life, exec until main, mappings, and memory while idle.
Also the size of the library.

Times are medians of steps, and of processes, for heaptrack's library and ours. A
forked child under heaptrack may never end: if its steps do not end in time its
number is missing (null), and the row has it in "late".

Memory is the kernel's sum over the process's mappings, minus that of the same
program alone, and the whole reserved live file, touched or not.
"""

import os
import shutil
import subprocess
import threading
import time

import bench_run
import bench_table

VARIANTS = ("bare", "gnomon", "heaptrack")
STEPS = {"forks": 300, "execs": 300, "maps": 20000}
STEPS_LIMIT_S = 60  # of one process; they take a second
SETTLED_S = 1
KIB = 1024
MEMORY = ("Private_Dirty", "Size")


def settings(bench, variant):
    """The environment that records: what would do so without a command."""
    if variant == "bare":
        return {}
    if variant == "heaptrack":
        return bench_run.heaptrack_env()
    return {"LD_PRELOAD": bench.library,
            "GNOMON_OUTPUT": bench.path("%p.%n.trace")}


def step(bench, what, variant):
    """{"ns"}; children's recorders have ended before the next one begins."""
    env = settings(bench, variant)
    command = [bench.tool("bench-lives"), what,
               str(bench.repeat(STEPS[what], STEPS[what] // 10))]
    if what == "execs":
        command += [f"{name}={value}" for name, value in env.items()]
        env = None
    result = bench.run_json(command, env=env, limit=STEPS_LIMIT_S)
    for name in os.listdir(bench.scratch):
        if ".trace" in name:
            os.unlink(bench.path(name))
    return result


def measure_times(bench, what):
    late = []

    def measured(variant):
        """Whoever was late once is not run again."""
        if variant in late:
            return {"ns": None}
        try:
            return step(bench, what, variant)
        except bench_run.Late:
            if variant != "heaptrack":
                raise
            late.append(variant)
            return {"ns": None}

    variants = [variant for variant in VARIANTS if variant != "heaptrack"
                or os.path.exists(bench_run.HEAPTRACK)]
    runs = bench_run.interleave(variants, bench.repeat(7, 3), measured)
    return {"what": what, **{f"{variant}_ns": bench_run.median(rows, "ns")
                             for variant, rows in runs.items()},
            "late": late}


def memory_of(pid):
    """Bytes by field, summed over all mappings."""
    sums = dict.fromkeys(MEMORY, 0)
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as stream:
        for line in stream:
            name, _, rest = line.partition(":")
            if name in sums:
                sums[name] += int(rest.split()[0]) * KIB
    return sums


def reserved(pid):
    """Bytes of its live file, which are dirty in no mapping before they are
    touched."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as stream:
        paths = {line.split()[-1] for line in stream}
    return sum(os.stat(path).st_blocks * 512 for path in paths
               if path.endswith(".live"))


def idle(bench, variant):
    env = {**bench_run.environment(), **settings(bench, variant)}
    with subprocess.Popen([bench.tool("bench-lives"), "idle"], env=env,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        limit = threading.Timer(STEPS_LIMIT_S, process.kill)
        limit.start()
        process.stdout.readline()
        time.sleep(SETTLED_S)
        memory = {**memory_of(process.pid),
                  "reserved": reserved(process.pid)}
        process.stdin.close()
    limit.cancel()
    if process.returncode != 0:
        raise bench_run.Failed("bench-lives idle", process.returncode)
    return memory


def measure_memory(bench):
    rounds = bench.repeat(5)
    runs = bench_run.interleave(("bare", "gnomon"), rounds,
                                lambda variant: idle(bench, variant))
    taken = {field: int(bench_run.median(runs["gnomon"], field)
                        - bench_run.median(runs["bare"], field))
             for field in (*MEMORY, "reserved")}
    return {"what": "idle",
            "dirty_bytes": taken["Private_Dirty"] + taken["reserved"],
            "address_bytes": taken["Size"]}


def measure_library(bench):
    stripped = bench.path("stripped.so")
    shutil.copy(bench.library, stripped)
    subprocess.run(["strip", "--strip-unneeded", stripped], check=True)
    return {"what": "library", "stripped_bytes": os.path.getsize(stripped)}


def measure(bench):
    rows = []
    for what in STEPS:
        bench_run.note(f"lives: {what}")
        rows.append(measure_times(bench, what))
    return rows + [measure_memory(bench), measure_library(bench)]


def by_name(rows):
    return {row["what"]: row for row in rows}


def show(rows):
    named = by_name(rows)
    notes = [f"{row['what']}: under {variant} the steps had not ended after "
             f"{STEPS_LIMIT_S} s" for row in rows
             for variant in row.get("late", ())]
    bench_table.show("lives: us a step", ["step", *VARIANTS, "added"], [
        [text, *[micro(named[what].get(f"{variant}_ns"))
                 for variant in VARIANTS],
         micro(named[what]["gnomon_ns"] - named[what]["bare_ns"])]
        for what, text in (
            ("forks", "fork, one allocation, exit"),
            ("execs", "from exec to main"),
            ("maps", "mmap, a page, munmap"))], notes)
    bench_table.show("lives: what one thread that idles takes", [
        "", "KiB"], [
            ["dirty memory", kibi(named["idle"]["dirty_bytes"])],
            ["addresses", kibi(named["idle"]["address_bytes"])],
            ["library, stripped",
             kibi(named["library"]["stripped_bytes"])]])


def micro(ns):
    return "-" if ns is None else f"{ns / 1000:.1f}"


def kibi(size):
    return bench_table.text(size // KIB)


def figures(rows):
    if not rows:
        return
    named = by_name(rows)
    for what, text, goal in (("forks", "a fork, an allocation, an exit", 500),
                             ("execs", "from exec to main", 800)):
        added = (named[what]["gnomon_ns"] - named[what]["bare_ns"]) / 1000
        yield figure(f"lives: {text}, us added", added, goal)
    yield figure("lives: mmap and munmap, over bare",
                 named["maps"]["gnomon_ns"] / named["maps"]["bare_ns"], 1.03)
    yield figure("lives: dirty memory of an idle process, MiB",
                 named["idle"]["dirty_bytes"] / KIB / KIB, 1)
    yield figure("lives: addresses of an idle process, MiB",
                 named["idle"]["address_bytes"] / KIB / KIB, 64)
    yield figure("lives: library, stripped, MB",
                 named["library"]["stripped_bytes"] / 1e6, 0.45)


def figure(name, value, goal):
    return {"name": name, "value": round(value, 3), "goal": f"<= {goal}",
            "reached": value <= goal}
