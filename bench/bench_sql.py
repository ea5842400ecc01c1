"""bench_sql.py: for part "queries": the time of SQL statements on a trace that
has its index (bench_index.py). Times are those of the whole command; goals
exclude "nothing", an empty session, which reads the outline of a trace once.

Statements select blocks by size: by the smallest size of the N largest blocks,
for several N.
"""

import csv

import bench_run
import bench_table

TIME_LIMIT_S = 1800
SHARES = (0.01, 0.3)
# Of a trace with all blocks: seconds.
GOALS = {"blocks, 1 %": 0.5, "blocks, 30 %": 3, "sums": 1}
BLOCKS = 100_000_000
SUMS = "select function(context), sum(bytes) from sums where size_min = " \
    "4096 and alive_at = '50%' group by 1 order by 2 desc limit 20"


def rows(bench, trace, statement):
    """What it took, and the rows that came."""
    out = bench.new_path("sql.csv")
    took = bench.run([bench.command, "sql", "-q", trace, "--csv", statement],
                     stdout=out, limit=TIME_LIMIT_S)
    with open(out, encoding="utf-8", newline="") as stream:
        return took, list(csv.reader(stream))[1:]


def limits(bench, trace):
    """For each share the size from which on blocks are so many, about."""
    _, sizes = rows(bench, trace, "select size, sum(blocks) from sums where "
                    "size >= 0 group by 1 order by 1 desc")
    whole = sum(int(count) for _, count in sizes)
    found, above = {}, 0
    for size, count in sizes:
        above += int(count)
        for share in SHARES:
            if above >= share * whole:
                found.setdefault(share, int(size))
    return found


def measure(bench, trace):
    bench_run.note("queries: asking in SQL")
    asked = [("nothing", "select 1")]
    for share, size in limits(bench, trace).items():
        asked.append((f"blocks, {100 * share:g} %", "select count(*), "
                      f"sum(size) from blocks where size >= {size}"))
    asked += [("all blocks", "select count(*), sum(size) from blocks"),
              ("sums", SUMS)]
    result = []
    for name, statement in asked:
        took = [rows(bench, trace, statement)
                for _ in range(bench.repeat(3, 2))]
        best = min((one for one, _ in took), key=lambda one: one["wall_ns"])
        result.append({"name": name, "statement": statement,
                       "wall_ns": best["wall_ns"], "cpu_ns": best["cpu_ns"],
                       "answer": took[0][1][0]})
    return result


def show(asked):
    bench_table.show("queries: SQL", ["statement", "s", "s of CPU", "first "
                                      "row"], [
        [one["name"], bench_table.text(one["wall_ns"] / 1e9, 3),
         bench_table.text(one["cpu_ns"] / 1e9, 3), " ".join(one["answer"])]
        for one in asked])


def figures(asked):
    blocks, = (int(one["answer"][0]) for one in asked
               if one["name"] == "all blocks")
    nothing, = (one["wall_ns"] for one in asked if one["name"] == "nothing")
    for one in asked:
        if one["name"] not in GOALS:
            continue
        goal = GOALS[one["name"]]
        seconds = (one["wall_ns"] - nothing) / 1e9
        # a smaller trace in quick runs, but for what a command takes anyway
        goal = max(goal * min(blocks / BLOCKS, 1), 0.1)
        yield {"name": f"SQL: {one['name']}, s", "value": round(seconds, 3),
               "goal": f"<= {goal:g}", "reached": seconds <= goal}
