#!/usr/bin/python3
# TIMEOUT: 240
"""SIGKILL at any moment: all that the program had reported as done is in the
trace. Also where the writer is killed, with the program or before it."""

import random
import struct

from gnomon_test import *

THREADS = 4
KILLS = 200
LONGEST_SECONDS = 0.12


def start(directory):
    counts = os.path.join(directory, "counts")
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
        directory, "%e.trace"))
    process = subprocess.Popen([program("killable"), counts], env=env,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    return process, counts


def published(counts):
    with open(counts, "rb") as file:
        words = struct.unpack("<%dQ" % (2 * THREADS), file.read())
    return words[:THREADS], words[THREADS:]


def compare(counts, trace, statuses=(0,)):
    """Every operation published is in the trace, and at most one more of each
    kind and thread, that was done but not published yet."""
    allocations, frees = published(counts)
    report = Report(trace, statuses)
    for thread in range(THREADS):
        rows = report.rows_with("killable_make_%d$" % thread)
        made = sum(row["count"] for row in rows)
        freed = made - sum(row["live_blocks"] for row in rows)
        what = "thread %d: " % thread
        check(0 <= made - allocations[thread] <= 1,
              "%s%d allocations published, %d in the trace" % (
                  what, allocations[thread], made))
        check(0 <= freed - frees[thread] <= 1,
              "%s%d frees published, %d in the trace" % (
                  what, frees[thread], freed))
    return report


def writers_of(pid):
    """The tasks that are named as the writer and share this one's memory:
    they are not its children, so look for the mapping of its live file."""
    result = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/comm" % other) as comm:
                if not comm.read().startswith("gnomon"):
                    continue
            with open("/proc/%s/cmdline" % other, "rb") as ours, \
                    open("/proc/%d/cmdline" % pid, "rb") as theirs:
                if ours.read() == theirs.read():
                    result.append(int(other))
        except OSError:
            pass
    return result


@case
def at_random_moments(directory):
    generator = random.Random(1)
    for number in range(KILLS):
        part = os.path.join(directory, str(number))
        os.mkdir(part)
        process, counts = start(part)
        time.sleep(generator.random() ** 2 * LONGEST_SECONDS)
        process.kill()
        process.wait()
        trace, = traces_in(part)
        check(wait_for(lambda path=trace: has_end(path)),
              "no end after kill %d" % number)
        compare(counts, trace)
        shutil.rmtree(part)


def kill_both(directory, first):
    """Kills writer and program as near together as can be, in this order."""
    process, counts = start(directory)
    time.sleep(0.05)
    check(wait_for(lambda: writers_of(process.pid)), "no writer to be seen")
    writer = writers_of(process.pid)[0]
    for pid in [writer, process.pid] if first else [process.pid, writer]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    return counts, traces_in(directory)[0]


@case
def writer_killed_first(directory):
    counts, trace = kill_both(directory, True)
    report = compare(counts, trace, statuses=(0, 3))
    check(report.summary["dropped"] == 0, "dropped")
    # Folded now: a second reading says the same and needs no live file.
    again = compare(counts, trace, statuses=(0, 3))
    equal(again.summary["allocations"], report.summary["allocations"],
          "second reading")


@case
def program_killed_first(directory):
    counts, trace = kill_both(directory, False)
    compare(counts, trace, statuses=(0, 3))


@case
def live_file_whose_trace_was_removed(directory):
    """The next recording, wherever it is, removes what nobody can read."""
    counts, trace = kill_both(directory, True)
    live = info_without_folding(trace)["live"]
    if not live.startswith("/dev/shm/"):
        raise Skip("no live files in /dev/shm")
    os.unlink(trace)
    elsewhere = os.path.join(directory, "elsewhere")
    os.mkdir(elsewhere)
    done = bare([GNOMON, "run", "-q", "-o",
                 os.path.join(elsewhere, "x.trace"), "true"])
    equal((done.status, done.err), (0, ""), "result")
    check(not os.path.exists(live), "the live file is still there")


@case
def next_run_folds_what_was_left(directory):
    """Nobody reads the trace; another recording in the same directory is
    enough."""
    counts, trace = kill_both(directory, True)
    live = info_without_folding(trace)["live"]
    check(live and os.path.exists(live), "no live file was left")
    done = bare([GNOMON, "run", "-q", "-o",
                 os.path.join(directory, "other.%p.trace"), "true"])
    equal(done.status, 0, "status")
    check(not os.path.exists(live), "the live file is still there")
    compare(counts, trace, statuses=(0, 3))


def info_without_folding(trace):
    """The INFO chunk as the file has it, which no command must be asked for:
    any reader would fold."""
    with open(trace, "rb") as file:
        data = file.read()
    found = re.search(rb"^live=([^\n]*)$", data, re.M)
    return {"live": found.group(1).decode() if found else None}


@case
def target_goes_on_without_writer(directory):
    """The writer dies alone: the program is not stopped by it."""
    process, counts = start(directory)
    check(wait_for(lambda: writers_of(process.pid)), "no writer to be seen")
    os.kill(writers_of(process.pid)[0], signal.SIGKILL)
    before = sum(published(counts)[0])
    check(wait_for(lambda: sum(published(counts)[0]) > before + 5000000, 20),
          "the program stands still: %d operations" %
          (sum(published(counts)[0]) - before))
    process.kill()
    process.wait()
    report = Report(traces_in(directory)[0], statuses=(0, 3))
    check(report.summary["dropped"] > 0, "drops are not counted")


@case
def live_trace_can_be_read(directory):
    process, counts = start(directory)
    trace, = traces_in(directory)
    report = Report(trace, statuses=(0, 3))
    time.sleep(0.3)
    later = Report(trace, statuses=(0, 3))
    check(later.summary["allocations"] > report.summary["allocations"],
          "no progress between two readings")
    process.kill()
    process.wait()
    settle(directory)
    compare(counts, trace)


main()
