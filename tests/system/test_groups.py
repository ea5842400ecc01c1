#!/usr/bin/python3
"""Programs in a control group with a memory limit: the recorder takes little of
it. The trace of a program that exceeds the limit and is killed is complete."""

import contextlib

from gnomon_test import *

MIB = 1 << 20
LIMIT = 64 * MIB
FITS, TOO_MUCH = 40, 200  # mebibytes
ENDLESS = 1 << 60
GROUPS = "/sys/fs/cgroup"


def hierarchy():
    """Where groups of memory are, the path of our own in there, and the name
    of the file that limits."""
    with open("/proc/self/cgroup") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            return GROUPS + "/memory", path, "memory.limit_in_bytes"
    for number, _, path in lines:
        if number == "0":
            return GROUPS, path, "memory.max"
    raise Skip("no control groups here")


def limit_of(path):
    try:
        with open(path) as file:
            word = file.read().strip()
    except OSError:
        return ENDLESS  # the root of all has none
    return ENDLESS if word == "max" else int(word)


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


@contextlib.contextmanager
def group():
    """A new group beside our own, with the limit. Nobody is taken out of one
    that limits him already."""
    top, own, limit = hierarchy()
    at = own
    while at != "/":
        if limit_of(top + at + "/" + limit) < ENDLESS:
            raise Skip("this machine limits our memory already")
        at = os.path.dirname(at)
    try:
        path = tempfile.mkdtemp(prefix="gnomon-test.", dir=top)
    except OSError as error:
        raise Skip("no control group can be made: %s" % error)
    try:
        if not os.path.exists(os.path.join(path, limit)):
            raise Skip("new control groups here do not limit memory")
        put(os.path.join(path, limit), str(LIMIT))
        swap = os.path.join(path, "memory.swap.max")
        if os.path.exists(swap):
            put(swap, "0")
        yield path
    finally:
        def gone():
            try:
                os.rmdir(path)
                return True
            except OSError:
                return False
        wait_for(gone)


def within(path):
    """To be called by the child that is to be in the group."""
    return lambda: put(os.path.join(path, "cgroup.procs"), str(os.getpid()))


def recorded_by(by, argv, directory, preexec_fn):
    return recorded(argv, directory, by=by, preexec_fn=preexec_fn)


def both(directory, mebibytes, by):
    """Bare, recorded, and what each had counted, each in a new group."""
    counts = os.path.join(directory, "count")
    argv = [program("held_memory"), str(mebibytes), counts]
    results = []
    for bare_one in True, False:
        with group() as path:
            join = within(path)
            done = bare(argv, preexec_fn=join) if bare_one else \
                recorded_by(by, argv, directory, join)
        with open(counts, "rb") as file:
            results.append((done, struct.unpack("<Q", file.read())[0]))
    return results


def make(by):
    def fits(directory):
        (alone, _), (done, _) = both(directory, FITS, by)
        equal((done.status, done.out), (alone.status, alone.out), "result")
        equal(done.status, 0, "status")
        settle(directory)
        agree(done.expected, Report(done.trace))

    def killed(directory):
        (alone, wanted), (done, count) = both(directory, TOO_MUCH, by)
        if alone.status == 0:
            raise Skip("the limit has no effect here")
        equal((alone.status, done.status), (-signal.SIGKILL,) * 2, "status")
        check(count > wanted * 0.8, "%d blocks, %d bare" % (count, wanted))
        report = Report(done.trace)
        made = report.sums()["allocations"]
        check(0 <= made - count <= 1, "%d blocks, %d in the trace" % (
            count, made))
        # the kernel ends the program alone: its recorder sees how
        equal(find_key(info(done.trace), "reason"), "exit", "reason")
        equal(report.summary["exit"], "killed by signal 9 (Killed)", "how it ended")
        live = find_key(info(done.trace), "live")
        check(not live or not os.path.exists(live), "the live file is left")

    fits.__name__ = "fits_into_the_group_by_" + by
    killed.__name__ = "killed_for_want_of_memory_by_" + by
    return fits, killed


for each in "run", "preload":
    for one in make(each):
        case(one)


main()
