#!/usr/bin/python3
"""The driver of the measurements (bench/): programs that hang or are missing,
the evaluation of results, and the instruments of runs."""

import contextlib
import io
import shutil
import subprocess

from gnomon_test import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "bench"))

import bench_capture
import bench_inputs
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

# In place of the captures: 2 ns a changed frame, and 3 if they are wrapped.
# unw_backtrace takes 100, and framehop is where there is its library.
CAPTURES = """#!/bin/sh
[ $1 != framehop ] || [ -e %s ] || exit 77
changed=$3 wrapped=$(($# - 5))
[ $3 != all ] || changed=$((25 - wrapped))
ns=$((10 + (2 + wrapped) * changed))
[ $1 != unw_backtrace ] || ns=100
thread=
case $1 in
gnomon*)
	thread=', "thread": {"mode": "off", "bytes_new": 0, "bytes": 0,
		"path_bytes": 0, "path_bytes_max": 0, "barriers_placed": 0,
		"barriers_met": 0}' ;;
esac
echo "{\\"changed\\": $changed, \\"ns\\": $ns, \\"calls_ns\\": 1,
	\\"first_ns\\": 1, \\"frames\\": 30, \\"path\\": 1, \\"join\\": 0,
	\\"full\\": 0 $thread}"
"""


def driver(directory):
    tools = os.path.join(directory, "bench")
    os.mkdir(tools)
    pids = os.path.join(directory, "pids")
    captures = CAPTURES % os.path.join(directory, "framehop")
    for name, text in (("bench-run", RUN), ("bench-lives", STEPS % pids),
                       ("bench-capture", captures),
                       ("bench-capture-fp", captures)):
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
def steps_without_a_comparison_must_end(directory):
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


def captured(bench):
    """Rows and figures of captures, and what is shown."""
    rows = bench_capture.measure(bench)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        bench_capture.show(rows)
    return (rows, {figure["name"]: figure
                   for figure in bench_capture.figures(rows)}, out.getvalue())


@case
def captures_with_framehop_and_without(directory):
    bench, _ = driver(directory)
    library = os.path.join(directory, "framehop")
    try:
        rows, _, text = captured(bench)
        check(not any("framehop" in row["ns"] for row in rows), "who has it?")
        check("framehop is absent" in text, text)
        with open(library, "wb"):
            pass
        rows, _, text = captured(bench)
    finally:
        bench.close()
    check(all("framehop" in row["ns"] for row in rows
              if row["draw"] == "outer" and not row["wrapped"]), "rows")
    check("framehop is absent" not in text, text)


@case
def figures_of_captures(directory):
    bench, _ = driver(directory)
    try:
        _, figures, _ = captured(bench)
    finally:
        bench.close()
    for name, value, where in (
            ("ns of a new frame, 8 to all changed", 2, None),
            ("share of unw_backtrace, depth 30, 8 changed", 0.26, None),
            ("share of unw_backtrace, depth 30, all changed", 0.6, None),
            ("wrapped over direct, 1 changed, whole stack redrawn", 1.08,
             None),
            ("share of unw_backtrace at worst, same outer frames, wrapped",
             0.82, "depth 30, 24 (all) changed")):
        figure = figures["capture: " + name]
        equal((figure["value"], figure.get("where")), (value, where), name)
    names = {name for name in figures if not figures[name]["reached"]}
    equal(names, {f"capture: times faster than {what}"
                  for what in ("unw_backtrace, depth 30, 0 changed",
                               "unw_backtrace, depth 1000, 1 changed",
                               "frame pointers, depth 30, 0 changed",
                               "frame pointers, depth 30, 1 changed",
                               "frame pointers, depth 1000, 0 changed",
                               "frame pointers, depth 1000, 1 changed")},
          "not reached")


@case
def recorder_left_behind_is_measured(directory):
    """bench-run says what a recorder took, which is nobody's child."""
    recorder = os.path.join(directory, "gnomon-recorder")
    shutil.copy(shutil.which("sleep"), recorder)
    result = os.path.join(directory, "result")
    command = [os.path.join(BUILD, "bench", "bench-run"), "--adopt", result,
               "sh", "-c", recorder + " 1 & echo $!; exit 3"]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=RUN_SECONDS)
    lasted = time.monotonic() - begun
    equal((done.returncode, done.stderr), (3, ""), "status, stderr")
    check(has_ended(int(done.stdout)), "it was not waited for")
    with open(result, encoding="ascii") as file:
        measured = json.load(file)
    adopted = measured["adopted"]
    equal(adopted["count"], 1, "adopted")
    check(measured["wall_ns"] / 1e9 < lasted - 0.3,
          "the wall time is not the command's")
    check(adopted["faults"] > 0 and 0 < adopted["own_kb"] <=
          adopted["rss_kb"], "what it took: %r" % adopted)


@case
def companion_of_a_program_is_ended(directory):
    bench, _ = driver(directory)
    pid = os.path.join(directory, "pid")
    bench_run.TIME_LIMIT_S = 1
    try:
        bench.run_program(bench_inputs.Program(
            "", ["true"], beside=["true"]))
        bench.run_program(bench_inputs.Program(
            "", ["sh", "-c", "until [ -s %s ]; do sleep 0.01; done" % pid],
            beside=["sh", "-c", "echo $$ > %s; exec sleep 1000" % pid]))
    except subprocess.TimeoutExpired:
        with open(pid, encoding="utf-8") as file:
            check(has_ended(int(file.read())), "it is left")
    else:
        raise Failure("it ended")
    finally:
        bench.close()


main()
