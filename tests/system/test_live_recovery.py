#!/usr/bin/python3
"""Where live files lie, and that none remains after its use."""

from gnomon_test import *


def live_of(trace):
    """As the file says; a command that is asked would fold."""
    wait_begun(trace)
    with open(trace, "rb") as file:
        found = re.search(rb"^live=([^\n]*)$", file.read(), re.M)
    return found and found.group(1).decode()


def tasks_with(path):
    """The processes that have this file mapped."""
    result = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/maps" % pid) as maps, \
                    open("/proc/%s/comm" % pid) as comm:
                if path in maps.read():
                    result.append((int(pid), comm.read().strip()))
        except OSError:
            pass
    return result


SPACE = ["unshare", "-Urpf", "--kill-child"]


def start_in_space(directory):
    """In a namespace of process ids, where /proc is the outer one: there, the
    program's id is another process's."""
    if bare([*SPACE, "true"]).status:
        raise Skip("no namespaces here")
    process = subprocess.Popen(
        [*SPACE, "env", "LD_PRELOAD=" + LIBRARY, "GNOMON_OUTPUT=" +
         os.path.join(directory, "the.trace"), program("killable"),
         os.path.join(directory, "counts")],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    return process, os.path.join(directory, "the.trace")


@case
def killed_in_a_space_of_its_own(directory):
    process, trace = start_in_space(directory)
    live = live_of(trace)
    process.kill()
    process.wait()
    check(wait_for(lambda: not tasks_with(live)), "it lives")
    check(os.path.exists(live), "no live file was left")
    check(Report(trace, (0, 3)).summary["allocations"] > 0, "allocations")
    check(not os.path.exists(live), "the live file is still there")
    document = info(trace, (0, 3))["info"]
    equal(document["exe"], program("killable"), "program")
    check("killable" in document["command"], document["command"])
    equal(int(document["starttime"]), 0, "start time")


@case
def program_without_recorder_in_such_a_space(directory):
    """While the program lives, its live file stays."""
    process, trace = start_in_space(directory)
    live = live_of(trace)
    for pid, name in tasks_with(live):
        if name == "gnomon-recorder":
            os.kill(pid, signal.SIGKILL)
    check(wait_for(lambda: len(tasks_with(live)) == 1), "no recorder died")
    Report(trace, (0, 3))
    check(os.path.exists(live), "the live file is gone")
    process.kill()
    process.wait()
    check(wait_for(lambda: not tasks_with(live)), "it lives")

    def folded():
        """One that has no memory any more may still be about to end."""
        Report(trace, (0, 3))
        return not os.path.exists(live)

    check(wait_for(folded), "the live file is still there")


def kill_all(directory, live_dir):
    """A live file that was left there, of a trace that is no more."""
    trace = os.path.join(directory, "killed.trace")
    process = subprocess.Popen(
        [program("killable"), os.path.join(directory, "counts")],
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=trace,
                        GNOMON_LIVE_DIR=live_dir),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    live = live_of(trace)
    # "gnomon-recorder" first: it would finish the trace
    for pid, name in sorted(tasks_with(live), key=lambda task: task[1]):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    check(wait_for(lambda: not tasks_with(live)), "it lives")
    return trace, live


@case
def next_run_recovers_beside_its_live_file(directory):
    """Beside the trace, and in --live-dir."""
    elsewhere = os.path.join(directory, "elsewhere")
    os.mkdir(elsewhere)
    for number, options in enumerate(((directory,),
                                      (elsewhere, "--live-dir", directory))):
        trace, live = kill_all(directory, directory)
        if not os.path.exists(live):
            raise Failure("no live file was left")
        os.unlink(trace)
        done = bare([GNOMON, "run", "-q", *options[1:], "-o", os.path.join(
            options[0], "next%d.trace" % number), "true"])
        equal((done.status, done.err), (0, ""), "result")
        check(not os.path.exists(live), "the live file is still there")


@case
def next_run_recovers_beside_its_trace(directory):
    """Whose traces lie beside the next one's, wherever the live file is."""
    part = os.path.join(directory, "part")
    os.mkdir(part)
    for number, live_dir in enumerate(("", directory, part)):
        trace, live = kill_all(part, live_dir)
        check(os.path.exists(live), "no live file was left")
        options = ["--live-dir", live_dir] if live_dir else []
        done = bare([GNOMON, "run", "-q", *options, "-o", os.path.join(
            part, "next%d.trace" % number), "true"])
        equal((done.status, done.err), (0, ""), "result")
        check(not os.path.exists(live), "the live file is still there")
        check(has_end(trace), "the trace has no end")
        os.unlink(trace)


# System calls of the command up to the program's start, and from there on.
def calls_of_a_run(directory, trace):
    log = os.path.join(directory, "calls")
    done = bare(["strace", "-o", log, GNOMON, "run", "-q", "-o",
                 os.path.join(trace), "true"], cwd=directory)
    equal((done.status, done.err), (0, ""), "result")
    with open(log, encoding="utf-8", errors="replace") as lines:
        calls = lines.read().splitlines()
    start = next(i for i, call in enumerate(calls)
                 if re.match(r"v?fork|clone", call))
    return calls[:start], calls[start:]


def bytes_read(calls):
    return sum(int(size) for call in calls for size in
               re.findall(r"^p?read(?:64)?\(.* = (\d+)$", call))


@case
def many_old_traces(directory):
    """A hundred thousand do not delay a start, nor, much, an end."""
    need("strace")
    if bare(["strace", "true"]).status:
        raise Skip("strace may not trace")
    few = tempfile.mkdtemp(dir="/dev/shm")
    try:
        many = os.path.join(few, "many")
        os.mkdir(many)
        first = os.path.join(few, "first.trace")
        bare_start, bare_end = calls_of_a_run(directory, first)
        for number in range(100000):
            os.link(first, os.path.join(many, "old.%d.trace" % number))
        start, end = calls_of_a_run(directory,
                                    os.path.join(many, "new.trace"))
        check(len(start) < len(bare_start) + 50, "%d calls at the start, %d "
              "of them without others" % (len(start), len(bare_start)))
        check(bytes_read(start) < bytes_read(bare_start) + 100000,
              "%d bytes at the start" % bytes_read(start))
        opened = [call for call in end if "/old." in call]
        equal(opened, [], "opened in the end")
        names = [call for call in end if call.startswith("getdents")]
        others = len(end) - len(names) - len(bare_end)
        check(others < 200, "%d other calls at the end" % others)
    finally:
        shutil.rmtree(few)


@case
def live_file_is_kept_while_its_trace_is_hidden(directory):
    """In another mount namespace, its directory is another one."""
    need_mounts()
    own, shm = (os.path.join(directory, name) for name in ("own", "shm"))
    os.mkdir(own)
    os.mkdir(shm)
    trace, live = kill_all(own, shm)
    done = bare(["unshare", "-m", "sh", "-c",
                 'mount -t tmpfs none "$0" && exec "$@"', own, GNOMON, "run",
                 "-q", "--live-dir", shm, "-o", "/dev/null", "true"])
    equal((done.status, done.err), (0, ""), "result")
    check(os.path.exists(live), "the live file was removed")
    check(Report(trace, (0, 3)).summary["allocations"] > 0, "allocations")
    check(not os.path.exists(live), "the live file is still there")


# /dev/shm, and a file system for the trace, of these sizes.
SMALL = ('mount -t tmpfs -o size=$1 none /dev/shm && '
         'mount -t tmpfs -o size=$2 none "$3" && shift 3 && '
         '"$@" && grep -a -e ^live= -e ^guarantee= "$GNOMON_OUTPUT" && '
         '"$GNOMON" report --json "$GNOMON_OUTPUT"')


def with_room(shm, beside, directory):
    """What INFO says of the live file, and what the recorder said."""
    need_mounts()
    trace = os.path.join(directory, "the.trace")
    env = environment(GNOMON_OUTPUT=trace, GNOMON_MEMORY="64m", GNOMON=GNOMON)
    done = bare(["unshare", "-m", "sh", "-c", SMALL, "sh", shm, beside,
                 directory, GNOMON, "run", "-q", "-o", trace, "--memory",
                 "64m", program("churn"), "1000"], env)
    equal(done.status, 0, "status: " + done.err)
    lines = dict(re.findall("^(live|guarantee)=(.*)$", done.out, re.M))
    document = json.loads(done.out[done.out.index("{"):])
    check(document["summary"]["allocations"] >= 1000, "allocations")
    equal(document["summary"]["dropped"], 0, "dropped")
    return lines, done.err


@case
def live_file_in_memory_if_half_is_free(directory):
    lines, said = with_room("200m", "64m", directory)
    check(lines["live"].startswith("/dev/shm/gnomon-"), lines)
    equal((lines["guarantee"], said), ("file", ""), "guarantee")


@case
def beside_the_trace_where_that_is_too_little(directory):
    lines, said = with_room("40m", "64m", directory)
    check(lines["live"].startswith(directory + "/gnomon-"), lines)
    equal((lines["guarantee"], said), ("file", ""), "guarantee")


@case
def private_memory_where_there_is_no_room(directory):
    lines, said = with_room("40m", "300k", directory)
    equal(lines, {"guarantee": "memory"}, "guarantee")
    check("no live file" in said, said)


main()
