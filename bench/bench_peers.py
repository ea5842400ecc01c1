"""bench_peers.py: part "peers": gnomon beside other heap profilers and
unwinders, in one run.

Recording: three programs, each by every profiler that is here
(bench/bench_peer_tools.py). "pairs" is bench-pairs with one thread, malloc and
free in stacks that come again; python3 makes every object by malloc. Wall time
is to the moment when the data is complete; CPU time that of all processes. The
time added is the wall time over that of the base, for each allocation; of a
program with `"ns"` in its output (pairs) also what a malloc and its free take
longer inside the program. The memory is the program's own: what is recorded
beside it by other processes does not count, their CPU time does.

Capture: ns for one stack, by gnomon and the unwinders that profilers use, the
stack the same again or with 3 changed frames (rows as those of bench_capture.py).

A run of over 10 s is not repeated: so large a difference needs no median. A
peer that is not here, or fails, is left out, and a row of kind "skipped" says
why. Kinds of rows: "recording", "capture", "skipped".
"""

import json
import os
import shutil

import bench_capture
import bench_inputs
import bench_peer_tools
import bench_run
import bench_table

PAIRS = 1_000_000
QUICK_PAIRS = 50_000
NAMES = ("cc1plus", "python3")
QUICK_NAMES = ("python3",)
# The same with a fifteenth of the objects, once.
QUICK_PYTHON = bench_inputs.PYTHON_SCRIPT.replace("range(6)", "range(1)") \
    .replace("build(7,", "build(5,")
# Without these there is nothing to compare.
MUST = (bench_peer_tools.BARE, bench_peer_tools.GNOMON)
ROUNDS = 5
SLOW_NS = 10_000_000_000	# a run that takes longer is not repeated
DEPTHS = (10, 30, 100)
QUICK_DEPTHS = (10, 30)
CHANGED = (0, 3)
GNOMON = ("gnomon", "gnomon-off")
# unwinder: of which peer, and what to install
UNWINDERS = {
    "unw_backtrace": ("libunwind's unw_backtrace", "install libunwind8"),
    "unw_step": ("libunwind's unw_step", "install libunwind-dev"),
    "framehop": ("framehop", "install cargo, and run `make bench-peers` "
                             "where crates.io can be reached"),
    "_Unwind_Backtrace": ("libgcc's _Unwind_Backtrace", None),
}


def programs(bench):
    pairs = bench_inputs.Program("pairs", [
        bench.tool("bench-pairs"), "1",
        str(QUICK_PAIRS if bench.quick else PAIRS)])
    others = bench_inputs.prepare(bench,
                                  QUICK_NAMES if bench.quick else NAMES)
    if bench.quick:
        bench_inputs.write_text(others[0].command[-1], QUICK_PYTHON)
    return [pairs, *others]


def skipped(peer, why):
    return {"kind": "skipped", "peer": peer, "why": why}


def inner_ns(path):
    """What the program said of its own time, if it did: one line of JSON,
    perhaps among those of a script."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = [line for line in stream if line.startswith('{"')]
    return json.loads(lines[-1]).get("ns") if lines else None


def reason(error):
    """Why a run failed, in a line without its command."""
    if error.status is None:
        return f"not at its end after {bench_run.TIME_LIMIT_S} s"
    said = str(error).partition(f"status {error.status}: ")[2].splitlines()
    return f"status {error.status}" + (f": {said[-1].strip()}" if said else "")


def run_once(bench, program, tool):
    """One run: what bench-run measured of all, with the size of the data."""
    folder = bench.new_path("peer")
    os.mkdir(folder)
    out = os.path.join(folder, "out")
    prefix = os.path.join(folder, "data")
    command, env = tool.start(bench, program, prefix)
    result = bench.run(command, {**program.env, **env}, program.stdin, out,
                       adopt=True)
    result["all_cpu_ns"] = result["cpu_ns"] + result["adopted"]["cpu_ns"]
    result["inner_ns"] = inner_ns(out)
    if tool.name == bench_peer_tools.GNOMON:
        report = bench.ask("report", "--top", "1", f"{prefix}.trace")
        result["allocations"] = bench_run.find_int(report, "allocations")
    result["bytes"] = bench_peer_tools.written(prefix)
    if tool.alone:
        alone = bench.run(program.command, {
            **program.env, **tool.alone(bench, prefix)}, program.stdin, out,
                          adopt=True)
        result["rss_kb"] = alone["rss_kb"]
    shutil.rmtree(folder)
    return result


def measure_program(bench, program, tools):
    """The rows of one program. A peer that fails is left out from then on,
    one that is slow has been measured well enough; gnomon and the bare program
    have to succeed."""
    failed, slow = {}, set()

    def once(tool):
        if tool.name in failed or tool.name in slow:
            return None
        bench_run.note(f"peers: {program.name}: {tool.name}")
        try:
            result = run_once(bench, program, tool)
            if result["wall_ns"] > SLOW_NS:
                slow.add(tool.name)
            return result
        except bench_run.Failed as error:
            if tool.name in MUST:
                raise
            failed[tool.name] = reason(error)
            return None

    runs = bench_run.interleave(
        tuple(tool for tool in tools if tool.records(program)),
        bench.repeat(ROUNDS), once)
    runs = {tool.name: (tool, [result for result in results if result])
            for tool, results in runs.items() if tool.name not in failed}
    allocations = int(bench_run.median(runs[bench_peer_tools.GNOMON][1],
                                       "allocations"))
    for name, (tool, results) in runs.items():
        if tool.base not in runs:
            failed[name] = f"the program failed with {tool.base}"
            continue
        yield recording(program, tool, results, runs[tool.base][1],
                        allocations)
    for name, why in failed.items():
        yield skipped(name, f"{program.name}: {why}")


def recording(program, tool, results, base, allocations):
    row = {"kind": "recording", "program": program.name, "tool": tool.name,
           "base": tool.base, "is_base": tool.name in bench_peer_tools.BASES,
           "every": tool.every, "runs": len(results),
           "allocations": allocations}
    for key in ("wall_ns", "all_cpu_ns", "rss_kb", "bytes", "inner_ns"):
        row[key] = bench_run.median(results, key)
    row["spread"] = round(bench_run.spread(results, "wall_ns"), 2)

    def of_base(key):
        return bench_run.median(base, key)

    row["wall_ratio"] = row["wall_ns"] / of_base("wall_ns")
    row["cpu_ratio"] = row["all_cpu_ns"] / of_base("all_cpu_ns")
    row["rss_added_kb"] = row["rss_kb"] - of_base("rss_kb")
    row["added_ns"] = (row["wall_ns"] - of_base("wall_ns")) / allocations
    row["inner_added_ns"] = None if row["inner_ns"] is None else \
        row["inner_ns"] - of_base("inner_ns")
    return row


def measure_recording(bench):
    tools = []
    for tool in [*bench_peer_tools.bases(), *bench_peer_tools.TOOLS]:
        why = tool.missing(bench)
        if why is None:
            tools.append(tool)
        elif tool.name not in bench_peer_tools.BASES:
            yield skipped(tool.name, why)
    for program in programs(bench):
        yield from measure_program(bench, program, tools)


def measure_captures(bench):
    names = list(GNOMON)
    for name, (peer, install) in UNWINDERS.items():
        if bench_capture.had(bench, name):
            names.append(name)
        else:
            yield skipped(peer, f"not here: {install}")
    for depth in QUICK_DEPTHS if bench.quick else DEPTHS:
        for changed in CHANGED:
            bench_run.note(f"peers: depth {depth}, {changed} changed")
            row = bench_capture.measure_row(bench, depth, changed, "new",
                                            False, names, ROUNDS)
            yield {"kind": "capture", **row}


def measure(bench):
    return [*measure_recording(bench), *measure_captures(bench)]


def of_kind(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def show(rows):
    show_recording(of_kind(rows, "recording"))
    show_captures(of_kind(rows, "capture"))
    left_out = of_kind(rows, "skipped")
    if left_out:
        print("\nleft out\n")
    for row in left_out:
        print(f"  {row['peer']}: {row['why']}")


def mib(value, divisor):
    return bench_table.text(value / divisor)


def show_recording(rows):
    head = ["program, profiler", "allocations", "wall s", "over base",
            "CPU of all", "MiB", "added", "written MiB", "ns/allocation",
            "ns inside", "runs", "spread"]
    bench_table.show("peers: recording", head, [
        [f"{row['program']}, {row['tool']}",
         "-" if row["is_base"] else "every" if row["every"] else "sampled",
         bench_table.text(row["wall_ns"] / 1e9, 2),
         bench_table.text(row["wall_ratio"], 2) + "x",
         bench_table.text(row["cpu_ratio"], 2) + "x",
         mib(row["rss_kb"], 1 << 10), mib(row["rss_added_kb"], 1 << 10),
         mib(row["bytes"], 1 << 20), bench_table.text(row["added_ns"]),
         bench_table.text(row["inner_added_ns"]), str(row["runs"]),
         bench_table.percent(row["spread"], 0)] for row in rows], (
             "over the same program with the same allocator and no profiler: "
             "wall time to the moment when",
             "the data is complete, CPU time of all processes, resident "
             "memory of the program alone, wall time",
             "for each allocation; inside: what one malloc and its free take "
             "longer in the program"))


def show_captures(rows):
    names = [name for name in (*GNOMON, *UNWINDERS)
             if any(name in row["ns"] for row in rows)]
    bench_table.show("peers: capture, ns for one stack", [
        "depth", "changed", *names], [
            [str(row["depth"]), str(row["changed"]),
             *(bench_table.text(row["ns"].get(name)) for name in names)]
            for row in rows], (
                "changed: frames replaced since the stack before; gnomon-off: "
                "all frames walked each time",))


def fastest(rows, key):
    return min(rows, key=lambda row: row[key])


def figures(rows):
    """That no peer is faster which does as much."""
    groups = {}
    for row in of_kind(rows, "recording"):
        if row["every"] and not row["is_base"]:
            groups.setdefault(row["program"], []).append(row)
    for program, group in groups.items():
        mine = next(row for row in group
                    if row["tool"] == bench_peer_tools.GNOMON)
        peers = [row for row in group if row is not mine]
        if not peers:
            continue
        best = fastest(peers, "added_ns")
        value = mine["added_ns"] / max(best["added_ns"],
                                       bench_capture.FLOOR_NS)
        yield {"name": f"peers: {program}: wall time added, share of the "
                       "fastest peer's", "value": round(value, 3),
               "goal": "< 1", "reached": value < 1, "where": best["tool"]}
    for row in of_kind(rows, "capture"):
        peers = {name: row["ns"][name] for name in UNWINDERS
                 if name in row["ns"]}
        if not peers:
            continue
        best = min(peers, key=peers.get)
        value = row["ns"]["gnomon"] / peers[best]
        yield {"name": f"peers: capture, depth {row['depth']}, "
                       f"{row['changed']} changed: share of the fastest "
                       "peer's", "value": round(value, 3), "goal": "< 1",
               "reached": value < 1, "where": best}
