"""bench_reader_large.py: part "reader-large": a report of a billion events,
and one of a million groups.

Not among the parts of `make bench`: it needs some 6 GB of disk and takes
minutes. A billion events: 2 million contexts, 5 million blocks live at the
end. A million groups: 100 million events, stacks by the threads that use them.
"""

import os
import shutil

import bench_reader
import bench_run
import bench_table

BYTES_OF_EVENT = 6
TIME_LIMIT_S = 3600
QUICK_PART = 20
SUBJECTS = (
    {"events": 1_000_000_000, "goal_mib": 1.2 * 1024, "goal_s": 50,
     "options": {"--contexts": 2_000_000, "--live": 5_000_000},
     "reports": (["--json", "--top", "1"], [])},
    {"events": 100_000_000, "goal_mib": 1024, "goal_s": 12,
     "options": {"--contexts": 500_000, "--threads": 16},
     "reports": (["--by", "stack,thread", "--top", "10"],)},
)


def of_subject(bench, subject, trace):
    part = QUICK_PART if bench.quick else 1
    options = ["--events", str(subject["events"] // part)]
    for name, value in subject["options"].items():
        options += [name, str(value if name == "--threads" else value // part)]
    bench_run.note("reader-large: making a trace")
    making = bench_reader.generate(bench, "cc1plus", trace, *options,
                                   limit=TIME_LIMIT_S)
    for arguments in subject["reports"]:
        bench_run.note("reader-large: report " + " ".join(arguments))
        row = bench_reader.reading(bench, "cc1plus", trace, 1, arguments,
                                   TIME_LIMIT_S)
        row.update({"arguments": " ".join(arguments),
                    "making_wall_ns": making["wall_ns"],
                    "goal_mib": subject["goal_mib"],
                    "goal_s": subject["goal_s"] / part})
        yield row


def measure(bench):
    part = QUICK_PART if bench.quick else 1
    needed = SUBJECTS[0]["events"] // part * BYTES_OF_EVENT
    if shutil.disk_usage(bench.out).free < needed:
        raise bench_run.Failed(f"{bench.out}: {needed >> 30} GiB are needed")
    trace = os.path.join(bench.out, "reader-large.trace")
    rows = []
    for subject in SUBJECTS:
        try:
            rows += of_subject(bench, subject, trace)
        finally:
            if os.path.exists(trace):
                os.unlink(trace)
    return rows


def show(rows):
    bench_table.show("reader-large: `gnomon report`", [
        "arguments", "events", "MiB", "s", "s of CPU", "events/s",
        "peak MiB"], [
            [row["arguments"] or "none", bench_table.text(row["events"]),
             bench_table.text(row["bytes"] / (1 << 20)),
             bench_table.text(row["wall_ns"] / 1e9, 1),
             bench_table.text(row["cpu_ns"] / 1e9, 1),
             bench_table.text(row["events_per_s"]),
             bench_table.text(row["rss_kb"] / 1024)] for row in rows],
        ("events per second of CPU",))


def figures(rows):
    for row in rows:
        name = f"report {row['arguments']}".strip()
        mib, cpu_s = row["rss_kb"] / 1024, row["cpu_ns"] / 1e9
        yield {"name": f"{name}: MiB for {row['events']:,} events",
               "value": round(mib, 1), "goal": f"<= {row['goal_mib']:.0f}",
               "reached": mib <= row["goal_mib"]}
        yield {"name": f"{name}: s of CPU for {row['events']:,} events",
               "value": round(cpu_s, 1), "goal": f"<= {row['goal_s']:g}",
               "reached": cpu_s <= row["goal_s"]}
