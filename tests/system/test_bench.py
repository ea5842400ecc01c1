#!/usr/bin/python3
"""The driver of the measurements (bench/), where what it runs does not end."""

import contextlib
import io

from gnomon_test import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "bench"))

import bench_lives
import bench_run

# In place of bench-run and of the program of steps; the latter waits for a
# child that does not end, where heaptrack's library (not one that the loader
# takes) is to be loaded.
RUN = """#!/bin/sh
echo '{"user_ns": 0, "system_ns": 0}' > "$1"
shift
"$@"
"""
STEPS = """#!/bin/sh
case $LD_PRELOAD in
*heaptrack*)
	sleep 1000 &
	echo $! >> %s
	wait ;;
esac
echo '{"ns": 7000}'
"""


def driver(directory):
    tools = os.path.join(directory, "bench")
    os.mkdir(tools)
    pids = os.path.join(directory, "pids")
    for name, text in ("bench-run", RUN), ("bench-lives", STEPS % pids):
        path = os.path.join(tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    bench_run.HEAPTRACK = os.path.join(directory, "heaptrack.so")
    with open(bench_run.HEAPTRACK, "wb"):
        pass
    return bench_run.Bench(directory, True), pids


def has_ended(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


@case
def steps_that_do_not_end(directory):
    """The row lacks heaptrack's figure and says why; nothing is left."""
    bench, pids = driver(directory)
    bench_lives.STEPS_LIMIT_S = 5
    try:
        rows = [bench_lives.measure_times(bench, what)
                for what in ("forks", "execs", "maps")]
    finally:
        bench.close()
    for row in rows:
        late = [] if row["what"] == "execs" else ["heaptrack"]
        equal(row, {"what": row["what"], "bare_ns": 7000, "gnomon_ns": 7000,
                    "heaptrack_ns": None if late else 7000, "late": late},
              "row")
    with open(pids, encoding="utf-8") as file:
        started = file.read().split()
    equal(len(started), 2, "late once, and not run again")
    check(wait_for(lambda: all(map(has_ended, started))), "something is left")
    rows += [{"what": "idle", "dirty_bytes": 0, "address_bytes": 0},
             {"what": "library", "stripped_bytes": 0}]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        bench_lives.show(rows)
    check("forks: under heaptrack the steps had not ended after 5 s" in
          out.getvalue(), "the note: " + out.getvalue())


@case
def others_have_to_end(directory):
    """Without gnomon's or the bare figure there is nothing to compare."""
    bench, _ = driver(directory)
    bench_lives.STEPS_LIMIT_S = 1
    bench_lives.settings = lambda *_: {"LD_PRELOAD": bench_run.HEAPTRACK}
    try:
        bench_lives.measure_times(bench, "forks")
    except bench_run.Late as late:
        check("more than 1 s" in str(late), str(late))
    else:
        raise Failure("it was measured")
    finally:
        bench.close()


main()
