"""bench_barriers.py: part "barriers": the depth from which barriers pay off.

The stacks of part "capture" with a barrier forced at a fixed distance, compared
with gnomon's own choice (auto) and none (validate). The last rows change more
frames than lie inward of the barrier: every capture then follows a return
through one, which the processor mispredicts, and places another.
"""

import bench_run
import bench_table

DEPTHS = (30, 60, 100, 200, 300, 1000)
DISTANCES = (8, 16, 32, 64)
# frames changed: within every distance, and beyond the nearest ones
CHANGED = (1, 3)
RETURNED = ((1000, 10), (1000, 20), (1000, 40))
# name: unwinder, forced distance
VARIANTS = {
    "validate": ("gnomon-validate", None),
    "auto": ("gnomon", None),
    **{str(distance): ("gnomon", distance) for distance in DISTANCES},
}


def measure_row(bench, depth, changed):
    def once(variant):
        unwinder, distance = VARIANTS[variant]
        env = {"GNOMON_DEBUG_BARRIER": str(distance)} if distance else None
        return bench.run_json([bench.tool("bench-capture"), unwinder,
                               str(depth), str(changed), "new", "time"], env)

    runs = bench_run.interleave(tuple(VARIANTS), bench.repeat(3), once)
    row = {"depth": depth, "changed": changed, "ns": {}, "mode": {},
           "placed": {}, "met": {}}
    for variant, results in runs.items():
        row["ns"][variant] = round(bench_run.median(results, "ns"), 2)
        thread = results[-1]["thread"]
        row["mode"][variant] = thread["mode"]
        row["placed"][variant] = thread["barriers_placed"]
        row["met"][variant] = thread["barriers_met"]
    return row


def measure(bench):
    plan = [(depth, changed) for depth in DEPTHS for changed in CHANGED]
    rows = []
    for depth, changed in [*plan, *RETURNED]:
        bench_run.note(f"barriers: depth {depth}, {changed} changed")
        rows.append(measure_row(bench, depth, changed))
    return rows


def show(rows):
    names = list(VARIANTS)
    bench_table.show("barriers: ns for one stack, by distance in frames", [
        "depth", "changed", *names, "mode of auto"], [
            [str(row["depth"]), str(row["changed"]),
             *(bench_table.text(row["ns"][name]) for name in names),
             row["mode"]["auto"]] for row in rows])
    bench_table.show("barriers: placed and met in a process", [
        "depth", "changed", *names[1:]], [
            [str(row["depth"]), str(row["changed"]),
             *(f"{row['placed'][name]:,}, {row['met'][name]:,}"
               for name in names[1:])] for row in rows])


def figures(_rows):
    return []
