"""bench_reader.py: part "reader": how fast `gnomon report` reads.

bench-generate makes traces from the statistics of real programs (bench/models),
and one is recorded: pairs of malloc and free, the shortest possible events. Events
a second are by the processor time of the whole command, so of one core. The report
groups by stack and shows one row, so that the time is for reading, not for
printing.

Compared with heaptrack_print: both tools record the same program, and each prints
its default output. heaptrack looks up symbols and lines while it records, in a
process of its own (heaptrack_interpret, listed separately); gnomon does so in the
report.
"""

import os

import bench_inputs
import bench_run
import bench_table

KINDS = ("cc1plus", "python3", "redis")
EVENTS = 50_000_000
QUICK_EVENTS = 5_000_000
PAIRS = 12_000_000
QUICK_PAIRS = 2_000_000
INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
RIVAL = ("python3", "sqlite3")	# heaptrack_interpret aborts on cc1plus
SPEED_GOAL = 15_000_000
RIVAL_GOAL = 5


def generate(bench, kind, trace, *options, limit=None):
    """A trace like that of a program; what making it took."""
    model = os.path.join(os.path.dirname(__file__), "models", kind + ".txt")
    return bench.run([bench.tool("bench-generate"), model, trace, *options],
                     limit=limit)


def reading(bench, kind, trace, rounds, arguments=("--json", "--top", "1"),
            limit=None):
    """A row: reading this trace."""
    events = bench.trace_info(trace)["events"]
    runs = [bench.run([bench.command, "report", "-q", *arguments, trace],
                      limit=limit) for _ in range(rounds)]
    row = {"kind": kind, "events": events, "bytes": os.path.getsize(trace),
           "wall_ns": bench_run.median(runs, "wall_ns"),
           "cpu_ns": bench_run.median(runs, "cpu_ns"),
           "rss_kb": bench_run.median(runs, "rss_kb")}
    row["events_per_s"] = round(events / row["cpu_ns"] * 1e9)
    return row


def made(bench, kind):
    bench_run.note(f"reader: {kind}")
    trace = bench.path("reader.trace")
    if kind == "pairs":
        pairs = QUICK_PAIRS if bench.quick else PAIRS
        bench.run(bench.recorded(trace, [bench.tool("bench-pairs"), "1",
                                         str(pairs)]))
    else:
        generate(bench, kind, trace, "--events",
                 str(QUICK_EVENTS if bench.quick else EVENTS))
    row = reading(bench, kind, trace, bench.repeat(3))
    os.unlink(trace)
    return row


def record_both(bench, program):
    """The trace, heaptrack's raw data, and what is made of it, with the
    measured run of that."""
    trace, raw = bench.path("own.trace"), bench.path("heaptrack.raw")
    bench.run(bench.recorded(trace, program.command), env=program.env,
              stdin=program.stdin)
    bench.run(program.command, stdin=program.stdin,
              env={**program.env, **bench_run.heaptrack_env(raw)})
    data = bench.path("heaptrack")
    interpreting = bench.run([INTERPRET], stdin=raw, stdout=data)
    os.unlink(raw)
    return trace, data, interpreting


def against(bench, program):
    """A row: reports of one program by both."""
    bench_run.note(f"reader: {program.name} and heaptrack")
    trace, data, interpreting = record_both(bench, program)
    commands = {
        "gnomon": [bench.command, "report", "-q", trace],
        "heaptrack": ["heaptrack_print", "-f", data],
    }
    runs = bench_run.interleave(list(commands), bench.repeat(3),
                                lambda which: bench.run(commands[which]))
    row = {"kind": program.name + ", recorded",
           "events": bench.trace_info(trace)["events"],
           "bytes": os.path.getsize(trace),
           "heaptrack_bytes": os.path.getsize(data),
           "interpret_cpu_ns": interpreting["cpu_ns"],
           "interpret_rss_kb": interpreting["rss_kb"]}
    for name, prefix in (("gnomon", ""), ("heaptrack", "heaptrack_")):
        for key in ("wall_ns", "cpu_ns", "rss_kb"):
            row[prefix + key] = bench_run.median(runs[name], key)
    os.unlink(trace)
    os.unlink(data)
    return row


def measure(bench):
    rows = [made(bench, kind) for kind in ("pairs", *KINDS)]
    return rows + [against(bench, program)
                   for program in bench_inputs.prepare(bench, RIVAL)]


def show(rows):
    bench_table.show("reader: `gnomon report --json --top 1`", [
        "trace", "events", "MiB", "s", "s of CPU", "events/s", "peak MiB"], [
            [row["kind"], bench_table.text(row["events"]),
             bench_table.text(row["bytes"] / (1 << 20)),
             bench_table.text(row["wall_ns"] / 1e9, 2),
             bench_table.text(row["cpu_ns"] / 1e9, 2),
             bench_table.text(row["events_per_s"]),
             bench_table.text(row["rss_kb"] / 1024)]
            for row in rows if "events_per_s" in row],
        ("events per second of CPU",))
    both = [row for row in rows if "heaptrack_cpu_ns" in row]
    if not both:
        return
    bench_table.show("reader: `gnomon report` and heaptrack_print", [
        "program", "events", "s of CPU", "heaptrack_print", "interpret",
        "peak MiB", "heaptrack_print", "interpret"], [
            [row["kind"], bench_table.text(row["events"]),
             *(bench_table.text(row[key] / 1e9, 2) for key in (
                 "cpu_ns", "heaptrack_cpu_ns", "interpret_cpu_ns")),
             *(bench_table.text(row[key] / 1024) for key in (
                 "rss_kb", "heaptrack_rss_kb", "interpret_rss_kb"))]
            for row in both],
        ("interpret: heaptrack_interpret, which looks up the symbols",))


def figures(rows):
    for row in rows:
        if "events_per_s" in row:
            yield {"name": f"report, {row['kind']}: events per second",
                   "value": row["events_per_s"],
                   "goal": f">= {SPEED_GOAL}",
                   "reached": row["events_per_s"] >= SPEED_GOAL}
        else:
            times = row["heaptrack_cpu_ns"] / row["cpu_ns"]
            memory = row["heaptrack_rss_kb"] / row["rss_kb"]
            yield from (
                {"name": f"report, {row['kind']}: times heaptrack_print",
                 "value": round(times, 2), "goal": f">= {RIVAL_GOAL}",
                 "reached": times >= RIVAL_GOAL},
                {"name": f"report, {row['kind']}: heaptrack_print's memory, "
                         "times ours", "value": round(memory, 2),
                 "goal": "> 1", "reached": memory > 1})
