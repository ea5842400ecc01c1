#!/usr/bin/python3
# TIMEOUT: 1500
"""SIGKILL at any moment: the trace has every operation that the program had
reported as done. Also if the recorder is killed, with the program or before
it."""

import glob
import random
import struct

from gnomon_test import *

THREADS = 4
KILLS = int(os.environ.get("GNOMON_TEST_KILLS") or 60)
LONGEST_SECONDS = 0.12
STARTING_SECONDS = 0.03


def spawn(directory, *words, **variables):
    counts = os.path.join(directory, "counts")
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
        directory, "%e.trace"), **variables)
    process = subprocess.Popen([program("killable"), counts, *words], env=env,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    return process, counts


def start(directory, *words, **variables):
    process, counts = spawn(directory, *words, **variables)
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


def has_ended(pid):
    """Its files are closed: it is gone, or waits to be waited for."""
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def ended(*pids):
    """A recorder that dies holds its trace for a moment, so that nobody else
    folds what it left."""
    check(wait_for(lambda: all(map(has_ended, pids))), "it is still there")


def kill_in_turn(process, pids):
    """Both, as near together as can be. A program that outlives its recorder for
    long fills its rings and drops what follows: so it is told to stop before
    that, and at most comes to it a moment later."""
    if pids[-1] == process.pid:
        os.kill(process.pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    ended(*pids)


def kills(directory, share, one):
    """So many of the kills, each in a directory of its own. Which one went
    wrong is said."""
    generator = random.Random(share)
    for number in range(KILLS // share):
        part = os.path.join(directory, str(number))
        os.mkdir(part)
        try:
            one(part, generator)
        except Failure as failure:
            raise Failure("kill %d: %s" % (number, failure))
        shutil.rmtree(part)


def a_moment(generator):
    time.sleep(generator.random() ** 2 * LONGEST_SECONDS)


def finished(part):
    """The trace of the program that was killed, when its recorder is done."""
    trace = os.path.join(part, "killable.trace")
    check(wait_for(lambda: has_end(trace)), "no end")
    return trace


@case
def at_random_moments(directory):
    def one(part, generator):
        process, counts = start(part)
        a_moment(generator)
        process.kill()
        process.wait()
        compare(counts, finished(part))

    kills(directory, 3, one)


@case
def while_rings_grow(directory):
    """They start so small that each thread gets larger ones again and again
    in the time in which it may be killed."""
    def one(part, generator):
        process, counts = start(part, GNOMON_RING="4k")
        a_moment(generator)
        process.kill()
        process.wait()
        compare(counts, finished(part))

    kills(directory, 6, one)


@case
def together_with_the_recorder(directory):
    """Either of them first: what the trace lacks is in the live file."""
    def one(part, generator):
        process, counts = start(part, GNOMON_RING=generator.choice(
            ["4k", "64k"]))
        wait_begun(os.path.join(part, "killable.trace"))
        a_moment(generator)
        victims = recorders_of(process.pid) + [process.pid]
        equal(len(victims), 2, "recorder and program")
        kill_in_turn(process, generator.sample(victims, 2))
        report = compare(counts, os.path.join(part, "killable.trace"),
                         statuses=(0, 3))
        equal(report.summary["dropped"], 0, "dropped")

    kills(directory, 6, one)


@case
def the_recorder_alone(directory):
    """All that was done before is in the trace, and what rings had room for.
    That there was more is counted. A recorder that was killed before it had
    begun may leave no trace."""
    def one(part, generator):
        process, counts = start(part, GNOMON_RING=generator.choice(
            ["4k", "64k"]))
        recorder = wait_recorder(process.pid)
        a_moment(generator)
        before = published(counts)
        os.kill(recorder, signal.SIGKILL)
        a_moment(generator)
        process.kill()
        process.wait()
        ended(recorder)
        trace = os.path.join(part, "killable.trace")
        if not begun(trace):
            return
        report = Report(trace, statuses=(0, 3))
        missing = 0
        for thread in range(THREADS):
            rows = report.rows_with("killable_make_%d$" % thread)
            made = sum(row["count"] for row in rows)
            freed = made - sum(row["live_blocks"] for row in rows)
            for got, least, most in zip((made, freed), before,
                                        published(counts)):
                check(least[thread] <= got <= most[thread] + 1,
                      "thread %d: %d published before, %d in the end, %d in "
                      "the trace" % (thread, least[thread], most[thread], got))
                missing += max(most[thread] - got, 0)
        check(missing == 0 or report.summary["dropped"] > 0,
              "%d are missing, none are counted as dropped" % missing)

    kills(directory, 6, one)


@case
def while_it_forks(directory):
    """The children end by themselves, their traces are whole."""
    def one(part, generator):
        process, counts = start(part, "forks")
        a_moment(generator)
        process.kill()
        process.wait()
        compare(counts, finished(part))
        settle(part)
        children = [trace for trace in traces_in(part)
                    if not trace.endswith("killable.trace")]
        for trace in children[-2:]:
            equal(Report(trace).sums()["frees"], 100, "a child's frees")

    kills(directory, 6, one)


@case
def while_it_starts(directory):
    """Before there is a trace, half a trace, or just after."""
    def one(part, generator):
        process, counts = spawn(part)
        time.sleep(generator.random() * STARTING_SECONDS)
        process.kill()
        process.wait()
        trace = os.path.join(part, "killable.trace")
        settle(part)
        if not os.path.exists(trace):
            return
        done = gnomon("report", trace, "--json", statuses=(0, 2, 3))
        check(done.status != 2 or os.path.getsize(trace) < HEADER_SIZE,
              "unreadable: " + done.err)
        if os.path.exists(counts) and os.path.getsize(counts):
            compare(counts, trace)

    kills(directory, 6, one)


@case
def the_command(directory):
    """Whoever started the recording is killed: it goes on without."""
    def one(part, generator):
        counts = os.path.join(part, "counts")
        command = subprocess.Popen(
            [GNOMON, "run", "-q", "-o", os.path.join(part, "%e.trace"),
             program("killable"), counts], env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        equal(command.stdout.readline(), b"ready\n", "start")
        with open("/proc/%d/task/%d/children" % (
                command.pid, command.pid)) as children:
            target = int(children.read().split()[0])
        a_moment(generator)
        command.kill()
        command.wait()
        a_moment(generator)
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass	# it may follow the command of its own accord
        compare(counts, finished(part))

    kills(directory, 12, one)


def kill_both(directory, first):
    """Kills recorder and program as near together as can be, in this order."""
    process, counts = start(directory)
    trace = wait_begun(os.path.join(directory, "killable.trace"))
    time.sleep(0.05)
    recorder = wait_recorder(process.pid)
    kill_in_turn(process, [recorder, process.pid] if first else
                 [process.pid, recorder])
    return counts, trace


@case
def recorder_killed_first(directory):
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
def trace_that_was_renamed(directory):
    """Its live file stays for whoever reads it by its new name."""
    counts, trace = kill_both(directory, True)
    live = info_without_folding(trace)["live"]
    if not live.startswith("/dev/shm/"):
        raise Skip("no live files in /dev/shm")
    renamed = os.path.join(directory, "precious")
    os.rename(trace, renamed)
    elsewhere = os.path.join(directory, "elsewhere")
    os.mkdir(elsewhere)
    done = bare([GNOMON, "run", "-q", "-o",
                 os.path.join(elsewhere, "x.trace"), "true"])
    equal((done.status, done.err), (0, ""), "result")
    check(os.path.exists(live), "the live file is gone")
    compare(counts, renamed, statuses=(0, 3))
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
def target_goes_on_without_recorder(directory):
    """The recorder dies alone: the program is not stopped by it."""
    process, counts = start(directory)
    trace = wait_begun(os.path.join(directory, "killable.trace"))
    os.kill(wait_recorder(process.pid), signal.SIGKILL)
    before = sum(published(counts)[0])
    check(wait_for(lambda: sum(published(counts)[0]) > before + 5000000),
          "the program stands still: %d operations" %
          (sum(published(counts)[0]) - before))
    process.kill()
    process.wait()
    report = Report(trace, statuses=(0, 3))
    check(report.summary["dropped"] > 0, "drops are not counted")


@case
def lost_recorder_is_reported_once(directory):
    """A recorder that was killed, by the program that has lost it."""
    process = subprocess.Popen(
        [program("churn"), "100000000"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env=environment(
            LD_PRELOAD=LIBRARY,
            GNOMON_OUTPUT=os.path.join(directory, "x.trace")))
    try:
        wait_begun(os.path.join(directory, "x.trace"))
        os.kill(wait_recorder(process.pid), signal.SIGKILL)
        check("the recorder was killed: recording has stopped" in
              process.stderr.readline(), "the message")
    finally:
        process.kill()
        rest = process.communicate()[1]
    equal(rest, "", "what else it says")


@case
def recorder_ends_before_it_has_begun(directory):
    """Between its execve and its first word in the live file: killed, ended,
    or killed when rings are full already. The program is as without us, and
    nothing is left."""
    alone = {name: bare([program(name)]) for name in ("basic", "churn")}
    for way in "kill -KILL $$", "exit 3", "sleep 0.3; kill -KILL $$":
        script = os.path.join(directory, "recorder")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % way)
        os.chmod(script, 0o755)
        for name, wanted in alone.items():
            done = bare([program(name)], env=environment(
                LD_PRELOAD=LIBRARY, GNOMON_RECORDER=script,
                GNOMON_LIVE_DIR=directory,
                GNOMON_OUTPUT=os.path.join(directory, "x.trace")))
            equal((done.status, done.out), (wanted.status, wanted.out),
                  "%s, %s" % (way, name))
            said = done.err.splitlines()
            # who has ended before its ring was full has missed nobody
            check(len(said) == (name == "churn"), "messages: " + done.err)
            for message in said:
                # and nothing of a trace, which there is not
                equal(message, "gnomon: the recorder was killed: recording "
                      "has stopped", "message")
        gnomon("run", "-q", "--force", "-o", os.path.join(directory, "y.trace"),
               "--live-dir", directory, program("basic"))
        equal(glob.glob(directory + "/*.live"), [], "left: " + way)


@case
def live_trace_can_be_read(directory):
    process, counts = start(directory)
    trace = wait_begun(os.path.join(directory, "killable.trace"))
    first = Report(trace, statuses=(0, 3)).summary["allocations"]
    check(wait_for(lambda: Report(trace, statuses=(0, 3))
                   .summary["allocations"] > first),
          "no progress between two readings")
    process.kill()
    process.wait()
    settle(directory)
    compare(counts, trace)


main()
