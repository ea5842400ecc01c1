"""bench_cold.py: part "cold": the cost of the first capture in a module.

A module that was mapped when the unwinder was set up, and the same one loaded
later: then the first capture in it also registers it. Each value is the median
of its processes.
"""

import bench_run
import bench_table

LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.3",
             "libsqlite3.so.0", "libpython3.11.so.1.0", "libperl.so.5.36",
             "libLLVM-14.so.1")
KEYS = ("first_ns", "function_ns", "again_ns", "table_bytes")
CANNOT_BE_HAD = 77


def had(bench, library):
    """Whether the library is on this system and of the common form."""
    try:
        bench.run_json([bench.tool("bench-cold"), library, "early"])
    except bench_run.Failed as error:
        if error.status == CANNOT_BE_HAD:
            return False
        raise
    return True


def measure_library(bench, library):
    runs = bench_run.interleave(
        ("early", "late"), bench.repeat(7, 3),
        lambda when: bench.run_json([bench.tool("bench-cold"), library,
                                     when]))
    early, late = runs["early"], runs["late"]
    row = {key: early[0][key] for key in ("image", "path", "functions",
                                          "eh_frame_bytes", "ended")}
    row.update({key: bench_run.median(early, key) for key in KEYS})
    row["late_first_ns"] = bench_run.median(late, "first_ns")
    row["table_share"] = row["table_bytes"] / row["eh_frame_bytes"]
    return row


def measure(bench):
    rows = []
    for library in LIBRARIES:
        bench_run.note(f"cold: {library}")
        if had(bench, library):
            rows.append(measure_library(bench, library))
    return rows


def show(rows):
    bench_table.show("cold: ns for one frame in an image", [
        "image", "functions", "first frame", "first, image loaded late",
        "each new function", "met before", ".eh_frame KiB", "tables KiB",
        "share"], [
            [row["image"], bench_table.text(row["functions"]),
             bench_table.text(int(row["first_ns"])),
             bench_table.text(int(row["late_first_ns"])),
             bench_table.text(row["function_ns"]),
             bench_table.text(row["again_ns"]),
             bench_table.text(row["eh_frame_bytes"] / 1024),
             bench_table.text(row["table_bytes"] / 1024),
             bench_table.percent(row["table_share"])] for row in rows], (
                 "Of two frames, the outer one known. tables: when every "
                 "function was met; share: of .eh_frame.",
                 "The C library is never loaded late; other images bring "
                 "what they need with them."))


def figures(rows):
    if not rows:
        return
    worst = max(rows, key=lambda row: row["table_share"])
    yield {"name": "cold: all tables of an image over its .eh_frame "
                   f"({worst['image']} is largest)",
           "value": round(worst["table_share"], 3), "goal": "<= 1",
           "reached": worst["table_share"] <= 1}
