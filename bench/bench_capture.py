"""bench_capture.py: part "capture": ns for one capture, compared with others.

The rows: each depth with some frames changed, for all unwinders; and one depth
with other stacks (bench/call_tree.c: draws), for gnomon and the fastest other
unwinder. `changed` with `all` means all functions of the call tree: the frames of
main and of the C library, 5 with the caller of the tree, stay.
"""

import bench_run
import bench_table

DEPTHS = (10, 30, 100, 300, 1000)
QUICK_DEPTHS = (10, 30, 1000)
CHANGED = (0, 1, 3, 8)
ALL = "all"
# In this depth each number of changed frames, and each draw.
DEPTH = 30
COLUMNS = (*CHANGED, 16, ALL)
# Where all frames change there are soon too many contexts (16384 for each level).
ALL_DEPTHS = (10, 30, 100)
# name, program; the walk by frame pointers needs a call tree that has them
UNWINDERS = (
    ("gnomon", "bench-capture"),
    ("gnomon-validate", "bench-capture"),
    ("gnomon-off", "bench-capture"),
    ("gnomon-walk", "bench-capture"),
    ("gu_walk", "bench-capture"),
    ("unw_backtrace", "bench-capture"),
    ("framehop", "bench-capture"),
    ("backtrace", "bench-capture"),
    ("_Unwind_Backtrace", "bench-capture"),
    ("frame-pointers", "bench-capture-fp"),
)
# What only part "peers" measures.
PROGRAMS = {**dict(UNWINDERS), "unw_step": "bench-capture"}
OPTIONAL = ("framehop",)
CANNOT_BE_HAD = 77
RIVALS = ("gnomon", "gnomon-off", "unw_backtrace", "framehop")
PAIR = ("gnomon", "unw_backtrace")
# draw, wrapped: who is measured
DRAWS = {
    ("outer", False): ("gnomon", "unw_backtrace", "framehop"),
    ("outer", True): PAIR,
    ("new", True): PAIR,
    ("unseen", False): PAIR,
}
# Of the table by changed frames: what is said of a row, unwinder, draw, wrapped
LINES = (
    ("gnomon, same outer frames", "gnomon", "outer", False),
    ("gnomon, whole stack redrawn", "gnomon", "new", False),
    ("gnomon, redrawn, never seen before", "gnomon", "unseen", False),
    ("gnomon, same outer frames, wrapped", "gnomon", "outer", True),
    ("gnomon, whole stack redrawn, wrapped", "gnomon", "new", True),
    ("gnomon, full walk each time", "gnomon-off", "new", False),
    ("gu_walk", "gu_walk", "new", False),
    ("unw_backtrace", "unw_backtrace", "new", False),
    ("framehop", "framehop", "new", False),
    ("backtrace", "backtrace", "new", False),
    ("_Unwind_Backtrace", "_Unwind_Backtrace", "new", False),
    ("frame pointers", "frame-pointers", "new", False),
)
# (depth, changed, goal): at least so many times faster than unw_backtrace
FASTER = ((30, 0, 12.0), (30, 1, 6.0), (30, 3, 3.5), (1000, 1, 50.0))
# changed: at most this share of what unw_backtrace takes, at DEPTH
SHARES = ((8, 0.6), (ALL, 0.7))
# Where gnomon must never be slower. Stacks that are always new are not among
# them: gnomon makes contexts for them, which no other unwinder does.
NEVER_SLOWER = (("whole stack redrawn", "new", False),
                ("same outer frames", "outer", False),
                ("whole stack redrawn, wrapped", "new", True),
                ("same outer frames, wrapped", "outer", True),
                ("few stacks, which repeat", "repeating", False))
NEW_FRAME_NS = 4.0
WRAPPED = 1.5       # times the direct call, 1 changed
WALK_NS = 150       # gu_walk at DEPTH
FLAT = 1.6          # cost at depth 1000 over that at depth 30, 1 changed
FLOOR_NS = 0.1      # what a difference of medians may at least be


def plan(depths):
    """(depth, changed, draw, wrapped, names) of each row."""
    names = tuple(name for name, _ in UNWINDERS)
    for depth in depths:
        for changed in COLUMNS if depth == DEPTH else CHANGED:
            yield depth, changed, "new", False, names
        if depth != DEPTH and depth in ALL_DEPTHS:
            yield depth, ALL, "new", False, RIVALS
        yield depth, 3, "repeating", False, names
    for (draw, wrapped), who in DRAWS.items():
        for changed in COLUMNS:
            yield DEPTH, changed, draw, wrapped, who


def had(bench, name):
    """Whether an unwinder is here."""
    try:
        bench.run_json([bench.tool(PROGRAMS[name]), name, "10", "0",
                        "new", "check"])
    except bench_run.Failed as error:
        if error.status == CANNOT_BE_HAD:
            return False
        raise
    return True


def measure_row(bench, depth, changed, draw, wrapped, names, rounds=3):
    def once(name):
        return bench.run_json([
            bench.tool(PROGRAMS[name]), name, str(depth), str(changed), draw,
            "time", *(["wrapped"] if wrapped else [])])

    runs = bench_run.interleave(names, bench.repeat(rounds), once)
    row = {"depth": depth, "changed": runs["gnomon"][0]["changed"],
           "repeating": draw == "repeating", "draw": draw,
           "wrapped": wrapped, "all": changed == ALL,
           "ns": {}, "calls_ns": {}, "frames": {}, "spread": {}, "tiers": {},
           "first_ns": {}, "thread": {}}
    for name, results in runs.items():
        row["ns"][name] = round(bench_run.median(results, "ns"), 2)
        row["calls_ns"][name] = bench_run.median(results, "calls_ns")
        row["first_ns"][name] = bench_run.median(results, "first_ns")
        row["frames"][name] = results[0]["frames"]
        row["spread"][name] = round(bench_run.spread(results, "ns"), 2)
        if "thread" in results[-1]:
            row["tiers"][name] = {tier: bench_run.median(results, tier)
                                  for tier in ("path", "join", "full")}
            row["thread"][name] = results[-1]["thread"]
    return row


def measure(bench):
    absent = [name for name in OPTIONAL if not had(bench, name)]
    rows = []
    for depth, changed, draw, wrapped, names in plan(
            QUICK_DEPTHS if bench.quick else DEPTHS):
        bench_run.note(f"capture: depth {depth}, {changed} changed, {draw}")
        rows.append(measure_row(
            bench, depth, changed, draw, wrapped,
            tuple(name for name in names if name not in absent)))
    return rows


def is_plain(row):
    """Whether it is a row of the tables by depth."""
    return row["draw"] in ("new", "repeating") and not row["wrapped"]


def show(rows):
    show_changed(rows)
    rows = [row for row in rows if is_plain(row)]
    show_times(rows)
    rows = [row for row in rows if not row["all"]]
    show_first(rows)
    show_threads(rows)


def changed_text(row):
    return (f"{row['changed']}{'*' if row['repeating'] else ''}"
            f"{' (all)' if row['all'] else ''}")


def table_of(rows, draw, wrapped):
    """{column of COLUMNS: row} of one kind of stacks."""
    return {ALL if row["all"] else row["changed"]: row for row in rows
            if (row["depth"], row["draw"], row["wrapped"])
            == (DEPTH, draw, wrapped)}


def show_changed(rows):
    cells = []
    for title, name, draw, wrapped in LINES:
        table = table_of(rows, draw, wrapped)
        values = [table[column]["ns"].get(name) if column in table else None
                  for column in COLUMNS]
        cells.append([title, *(bench_table.text(ns) for ns in values)])
    notes = ["changed: frames replaced since the capture before; all: 25, what "
             "is not of main, the C library",
             "and the bench. redrawn: the whole stack, every 32 captures; "
             "unless never seen before, the stacks",
             "come again after 16384 captures. wrapped: called through a "
             "function that is always the same",
             "(all: 24). The cost of the calls themselves is subtracted. The "
             "stacks of all but frame pointers",
             "were compared with backtrace()'s."]
    if not any("framehop" in row["ns"] for row in rows):
        notes.append("framehop is absent: no cargo, or none that could build "
                     "it here.")
    bench_table.show(f"capture: ns for one stack of {DEPTH} frames, by changed "
                     "frames", ["", *(str(column) for column in COLUMNS)],
                     cells, notes)


def show_times(rows):
    names = [name for name, _ in UNWINDERS]
    head = ["depth", "changed", *names, "by path", "by join"]
    cells = []
    for row in rows:
        tiers = row["tiers"]["gnomon"]
        cells.append([str(row["depth"]), changed_text(row)]
                     + [bench_table.text(row["ns"].get(name))
                        for name in names]
                     + [bench_table.percent(tiers["path"]),
                        bench_table.percent(tiers["join"])])
    bench_table.show("capture: ns for one stack", head, cells, (
        "changed: frames replaced since the capture before; with any, no "
        "whole stack",
        "comes again within 16384 captures. *: drawn from 64 stacks. The cost "
        "of the",
        "calls themselves is subtracted. depth 10 with 8 changed has 14 "
        "frames."))


def show_first(rows):
    names = [name for name, _ in UNWINDERS]
    bench_table.show(
        "capture: ns for the first stack of a process", ["depth", *names], [
            [str(row["depth"])]
            + [bench_table.text(int(row["first_ns"][name]))
               if name in row["first_ns"] else "-" for name in names]
            for row in rows if row["changed"] == 0], (
                "All tables and caches are cold; what a library loads at its "
                "first use counts.",))


def kib(value):
    return bench_table.text(value / 1024)


def show_threads(rows):
    cells = []
    for row in rows:
        thread = row["thread"]["gnomon"]
        cells.append([
            str(row["depth"]), changed_text(row), thread["mode"],
            *(kib(thread[key]) for key in ("bytes_new", "bytes", "path_bytes",
                                           "path_bytes_max")),
            bench_table.text(thread["barriers_placed"]),
            bench_table.text(thread["barriers_met"])])
    bench_table.show("capture: what gnomon (auto) keeps for the thread, KiB", [
        "depth", "changed", "mode", "at start", "at the end", "path cache",
        "its bound", "barriers placed", "met"], cells)


def ratio(ns, name, other):
    return ns[name] / max(ns[other], FLOOR_NS)


def at_most(name, value, goal, **more):
    return {"name": "capture: " + name, "value": round(value, 2),
            "goal": f"<= {goal}", "reached": value <= goal, **more}


def figures(rows):
    by = {(row["depth"], row["changed"]): row["ns"] for row in rows
          if row["draw"] == "new" and not row["wrapped"] and not row["all"]}
    for depth, changed, goal in FASTER:
        value = ratio(by[depth, changed], "unw_backtrace", "gnomon")
        yield {"name": "capture: times faster than unw_backtrace, "
                       f"depth {depth}, {changed} changed",
               "value": round(value, 2), "goal": f">= {goal}",
               "reached": value >= goal}
    yield at_most("depth 1000 over depth 30, 1 changed",
                  by[1000, 1]["gnomon"] / max(by[30, 1]["gnomon"], FLOOR_NS),
                  FLAT)
    for depth in (30, 100, 300, 1000):
        for changed in (0, 1):
            if (depth, changed) not in by:
                continue
            value = ratio(by[depth, changed], "frame-pointers", "gnomon")
            yield {"name": "capture: times faster than frame pointers, "
                           f"depth {depth}, {changed} changed",
                   "value": round(value, 2), "goal": "> 1",
                   "reached": value > 1}
    yield from slower_figures(rows)
    yield from changed_figures(rows)


def slower_figures(rows):
    """The worst row of each kind of stacks, beside unw_backtrace."""
    for title, draw, wrapped in NEVER_SLOWER:
        worst = max((row for row in rows
                     if (row["draw"], row["wrapped"]) == (draw, wrapped)),
                    key=lambda row: ratio(row["ns"], "gnomon",
                                          "unw_backtrace"))
        yield at_most(f"share of unw_backtrace at worst, {title}",
                      ratio(worst["ns"], "gnomon", "unw_backtrace"), 1,
                      where=f"depth {worst['depth']}, "
                            f"{changed_text(worst)} changed")


def changed_figures(rows):
    """Those of the table by changed frames."""
    new = table_of(rows, "new", False)
    for changed, goal in SHARES:
        yield at_most(f"share of unw_backtrace, depth {DEPTH}, {changed} "
                      "changed", ratio(new[changed]["ns"], "gnomon",
                                       "unw_backtrace"), goal)
    few, most = new[8], new[ALL]
    yield at_most("ns of a new frame, 8 to all changed",
                  (most["ns"]["gnomon"] - few["ns"]["gnomon"])
                  / (most["changed"] - few["changed"]), NEW_FRAME_NS)
    for title, draw in (("same outer frames", "outer"),
                        ("whole stack redrawn", "new")):
        direct = table_of(rows, draw, False)[1]["ns"]["gnomon"]
        wrapped = table_of(rows, draw, True)[1]["ns"]["gnomon"]
        yield at_most(f"wrapped over direct, 1 changed, {title}",
                      wrapped / max(direct, FLOOR_NS), WRAPPED)
    yield at_most(f"ns of gu_walk, depth {DEPTH}, at worst",
                  max(row["ns"]["gu_walk"] for row in new.values()), WALK_NS)
