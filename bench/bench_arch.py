#!/usr/bin/python3
"""bench_arch.py ARCH PLUGIN BENCH-CAPTURE QEMU...: instructions of one capture
at a depth of 30 on an architecture, as a row of a table: the captures of a
cycle of bench-capture under qemu with count_plugin.c, minus the calls alone."""

import json
import re
import subprocess
import sys

DEPTH = 30
# What the hook does, and how many frames change each time.
COLUMNS = (("gnomon", 0), ("gnomon", 1), ("gnomon", 3), ("gnomon-off", 1))
SECONDS = 300


def count(emulator, plugin, bench, unwinder, changed):
    """(instructions, captures) of one cycle."""
    done = subprocess.run(
        [emulator[0], "-plugin", plugin, *emulator[1:], bench, unwinder,
         str(DEPTH), str(changed), "new", "count"],
        capture_output=True, text=True, timeout=SECONDS, check=True)
    counted = re.search(r"^instructions (\d+)$", done.stderr, re.M)
    return int(counted.group(1)), json.loads(done.stdout)["captures"]


def main():
    arch, plugin, bench, *emulator = sys.argv[1:]
    row = []
    for unwinder, changed in COLUMNS:
        calls, _ = count(emulator, plugin, bench, "nothing", changed)
        total, captures = count(emulator, plugin, bench, unwinder, changed)
        row.append("%d" % round((total - calls) / captures))
    print("| %s | %s |" % (arch, " | ".join(row)), flush=True)


main()
