#!/usr/bin/python3
"""A signal that switches the recording: blocks allocated after the handler has
returned are recorded or not, as requested, block by block."""

from gnomon_test import *

SIGNALS = ("--signal", "USR1=toggle", "--signal", "USR2=toggle")
WAYS = ("raise", "kill", "pthread_kill", "sigqueue", "other", "triple",
        "pending", "call", "mixed")
# However late the recorder is: so many signals can be noted
# (preload/ring/gate.h).
ROUNDS = 2000


def toggled(directory, how, threads, options=(), begins="on", rounds=150,
            name=None):
    place = os.path.join(directory, name or "%s.%d.%s" % (how, threads,
                                                          begins))
    os.mkdir(place)
    if begins == "off":
        options = (*options, "--off")
    signals = ("--signal", "USR1=clear") if how == "clear" else SIGNALS
    done = recorded([program("toggled"), begins, how, str(rounds),
                     str(threads)], place, options=(*signals, *options))
    equal(done.status, 0, "status: " + done.err)
    for trace in done.traces:
        equal(int(find_key(info(trace), "late_signals") or 0), 0, "late")
    return done


def whole(trace):
    """Of all that was recorded: blocks to be recorded and their bytes, and
    blocks not to be recorded."""
    document = json.loads(gnomon("report", "--from", "start", "--json",
                                 "--by", "stack", "--top", "0", trace).out)
    sums = {"tgt_on": [0, 0], "tgt_off": [0, 0]}
    for row in document["rows"]:
        for frame in row["stack"]:
            if frame.get("function") in sums:
                sums[frame["function"]][0] += row["count"]
                sums[frame["function"]][1] += row["total_bytes"]
    equal(document["summary"]["dropped"], 0, "dropped")
    return sums


def exact(done):
    made, sums = done.expected, whole(done.trace)
    how = os.path.basename(done.directory)
    equal(sums["tgt_on"], [made["made"], made["made_bytes"]],
          how + ": recorded")
    equal(sums["tgt_off"], [0, 0], how + ": not to be recorded")
    exact_at_the_end(done)


def exact_at_the_end(done, trace=None):
    made = done.expected
    summary = Report(trace or done.trace).summary
    equal((summary["allocations"], summary["total_bytes"]),
          (made["last"], made["last_bytes"]), "since the last start")
    equal((summary["dropped"], summary["unpaired"]), (0, 0), "lost")


@case
def one_thread(directory):
    for how in WAYS:
        for begins in ("on", "off"):
            exact(toggled(directory, how, 0, begins=begins))


@case
def several_threads(directory):
    for how in WAYS:
        for begins in ("on", "off"):
            exact(toggled(directory, how, 3, begins=begins))


@case
def with_stacks_of_frees(directory):
    exact(toggled(directory, "mixed", 2, ("--free-stacks",)))


@case
def while_lines_are_written(directory):
    exact(toggled(directory, "mixed", 2, ("--stats-every", "10ms"),
                  rounds=ROUNDS))


@case
def short_lives_are_left_out(directory):
    for threads in (0, 3):
        exact_at_the_end(toggled(directory, "mixed", threads, ("--cull",),
                                 rounds=ROUNDS))


@case
def without_stacks(directory):
    for threads in (0, 3):
        exact_at_the_end(toggled(directory, "mixed", threads,
                                 ("--depth", "0"), rounds=ROUNDS))


@case
def toggles_with_a_size_limit(directory):
    for threads in (0, 3):
        done = toggled(directory, "mixed", threads, ("--limit", "1M"),
                       rounds=ROUNDS)
        newest = [trace for trace in done.traces
                  if ".part" not in trace and ".files" not in trace]
        equal(len(newest), 1, "traces: %r" % done.traces)
        exact_at_the_end(done, newest[0])


@case
def a_clear_means_its_moment(directory):
    for name, options in (("plain", ()), ("cull", ("--cull",)),
                          ("depth", ("--depth", "0"))):
        for threads in (0, 3):
            exact_at_the_end(toggled(
                directory, "clear", threads, options, rounds=500,
                name="%s.%d" % (name, threads)))


@case
def together_with_the_command(directory):
    """Whatever is asked for meanwhile: none of the signals is lost."""
    process = subprocess.Popen(
        [program("toggled"), "on", "mixed", str(ROUNDS), "2"],
        stdout=subprocess.PIPE, env=environment(
            LD_PRELOAD=LIBRARY, GNOMON_SIGNAL="USR1=toggle,USR2=toggle",
            GNOMON_OUTPUT=os.path.join(directory, "%p.trace")))
    while process.poll() is None:
        gnomon("snapshot", str(process.pid), statuses=(0, 1, 2, 3))
    out = process.communicate(timeout=RUN_SECONDS)[0].decode()
    settle(directory)
    done = Done(process.returncode, out, "", directory)
    equal(done.status, 0, "status")
    exact(done)


main()
