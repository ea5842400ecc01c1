#!/usr/bin/python3
"""The path of the trace, and failures to write it: the program never
notices."""

import resource
import stat
import threading

from gnomon_test import *

BLOCKS = "300000"


def preload(argv, output, env=None, **options):
    env = dict(env or environment())
    env.update(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=output)
    return bare(argv, env, **options)


def unharmed(done, argv):
    alone = bare(argv)
    equal((done.status, done.out), (alone.status, alone.out),
          "result, stderr: " + done.err)


@case
def all_descriptors_closed(directory):
    argv = [program("churn"), BLOCKS, "close"]
    done = recorded(argv, directory, by="preload")
    unharmed(done, argv)
    agree(done.expected, Report(done.trace))


@case
def fifo(directory):
    """The output is a FIFO that someone else reads."""
    path = os.path.join(directory, "fifo")
    os.mkfifo(path)
    copy = os.path.join(directory, "copy.trace")

    def read():
        with open(path, "rb") as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    argv = [program("churn"), BLOCKS]
    done = preload(argv, path)
    unharmed(done, argv)
    reader.join(SETTLE_SECONDS)
    check(not reader.is_alive(), "the FIFO was never closed")
    agree(done.expected, Report(copy))


@case
def fifo_whose_reader_leaves(directory):
    path = os.path.join(directory, "fifo")
    os.mkfifo(path)

    def read():
        with open(path, "rb") as source:
            source.read(1000)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    argv = [program("churn"), BLOCKS]
    unharmed(preload(argv, path), argv)


@case
def fifo_that_nobody_reads(directory):
    """The program does not wait for one, and the command says why nothing
    came."""
    path = os.path.join(directory, "fifo")
    os.mkfifo(path)
    for options in ([], ["-f"]):
        done = bare([GNOMON, "run", *options, "-o", path, "echo", "x"])
        equal((done.status, done.out), (0, "x\n"), "result")
        check("nobody reads " + path in done.err, done.err)
        check(stat.S_ISFIFO(os.stat(path).st_mode), "the FIFO was replaced")


@case
def fifo_by_the_command(directory):
    """It is read to its end, and opened by nobody afterwards."""
    path = os.path.join(directory, "fifo")
    os.mkfifo(path)
    copy = os.path.join(directory, "copy.trace")
    with open(copy, "wb") as target:
        reader = subprocess.Popen(["cat", path], stdout=target)
    argv = [program("basic")]
    done = bare([GNOMON, "run", "-f", "-o", path, *argv])
    equal(done.status, 0, "status, stderr: " + done.err)
    equal(reader.wait(10), 0, "reader")
    agree(done.expected, Report(copy))


@case
def standard_output_as_the_output(directory):
    for name in "-", "/dev/stdout":
        done = subprocess.run([GNOMON, "run", "-o", name, "true"],
                              capture_output=True, cwd=directory,
                              env=environment(), timeout=RUN_SECONDS)
        equal(done.returncode, 0, name + ": %r" % done.stderr)
        check(b"went to /dev/stdout" in done.stderr, "%r" % done.stderr)
        path = os.path.join(directory, "copy.trace")
        with open(path, "wb") as copy:
            copy.write(done.stdout)
        Report(path)
        equal(os.listdir(directory), ["copy.trace"], "files")


@case
def device(directory):
    """It is used as it is, by all processes, and stays."""
    done = bare([GNOMON, "run", "-f", "-o", "/dev/null", "sh", "-c",
                 "echo x; :"])
    equal((done.status, done.out), (0, "x\n"), "result: " + done.err)
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "replaced")
    equal([name for name in os.listdir("/dev") if name.startswith("null.")],
          [], "files beside it")


@case
def standard_output_of_a_pipe(directory):
    """A pipe of the program's own as standard output is never disturbed."""
    argv = ["sh", "-c", "cat | tr a-z A-Z"]
    process = subprocess.run(
        [GNOMON, "run", *argv], input=b"lower\n" * 1000, capture_output=True,
        cwd=directory, env=environment(), timeout=RUN_SECONDS)
    equal(process.stdout, b"LOWER\n" * 1000, "stdout")


@case
def directory_not_writable(directory):
    """The state directory is next, with a message."""
    state = os.path.join(directory, "state")
    os.mkdir(state)
    argv = [program("basic")]
    done = preload(argv, "/proc/no/such/%e.trace",
                   env=environment(XDG_STATE_HOME=state))
    unharmed(done, argv)
    equal(len(done.err.splitlines()), 1, "lines in %r" % done.err)
    place = os.path.join(state, "gnomon")
    check(os.path.isdir(place), "nothing in the state directory: " + done.err)
    settle(place)
    trace, = traces_in(place)
    agree(done.expected, Report(trace))


@case
def nowhere_writable(directory):
    argv = [program("basic")]
    done = preload(argv, "/proc/no/such/%e.trace",
                   env=environment(XDG_STATE_HOME="/proc/no", TMPDIR="/proc/no",
                                   HOME="/proc/no"))
    unharmed(done, argv)
    check(1 <= len(done.err.splitlines()) <= 2, "lines in %r" % done.err)


def tmpfs(directory, size):
    place = os.path.join(directory, "small")
    os.mkdir(place)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size,
                           "none", place], capture_output=True, text=True)
    if done.returncode:
        raise Skip("cannot mount: " + done.stderr.strip())
    return place


def enlarge(place):
    subprocess.run(["mount", "-o", "remount,size=100m", place], check=True)


def check_stopped(trace):
    """What is missing is told by all who tell of the trace."""
    for command in "report", "info":
        text = gnomon(command, trace, statuses=(3,)).out
        check("no space left on device: recording has stopped" in
              " ".join(text.split()), text)
        check("every event is here" not in text, text)


@case
def disk_full_by_the_command(directory):
    """The command tells when the recorder could not."""
    place = tmpfs(directory, "128k")
    try:
        done = bare([GNOMON, "run", "-o", os.path.join(place, "x.trace"),
                     program("churn"), BLOCKS])
        equal(done.status, 0, "status")
        check("no space left on device" in done.err, done.err)
        check("nothing dropped" not in done.err, done.err)
        trace, = traces_in(place)
        check(has_end(trace), "no END")
        check_stopped(trace)
        enlarge(place)
        Report(trace, statuses=(3,))
    finally:
        subprocess.run(["umount", "-l", place])


@case
def disk_full_at_the_very_end(directory):
    """Nothing is lost for good, since the program is over."""
    argv = [program("basic")]
    place = tmpfs(directory, "100m")
    stopped = 0
    try:
        for kilobytes in range(20, 48, 4):
            subprocess.run(["mount", "-o", "remount,size=%dk" % kilobytes,
                            place], check=True)
            done = bare([GNOMON, "run", "-o", os.path.join(place, "x.trace"),
                         *argv])
            trace, = traces_in(place)
            stopped += "no space left on device" in done.err
            enlarge(place)
            agree(done.expected, Report(trace),
                  "%dk: " % kilobytes)
            os.unlink(trace)
        check(0 < stopped < 7, "%d of 7 were too small" % stopped)
    finally:
        subprocess.run(["umount", "-l", place])


@case
def disk_full(directory):
    place = tmpfs(directory, "600k")
    try:
        argv = [program("churn"), "2000000"]
        done = preload(argv, os.path.join(place, "%e.trace"))
        unharmed(done, argv)
        equal(len(done.err.splitlines()), 1, "lines in %r" % done.err)
        trace, = traces_in(place)
        wait_for(lambda: not writing(trace))
        check(has_end(trace), "no END")
        report = Report(trace, statuses=(3,))
        check_stopped(trace)
        live = find_key(info(trace, statuses=(3,)), "live")
        check(os.path.exists(live), "the last events were not kept")
        enlarge(place)
        equal(Report(trace, statuses=(3,)).summary, report.summary,
              "with the rest folded in")
        check(not os.path.exists(live), "the live file was not folded in")
        check_stopped(trace)
        check(report.summary["allocations"] > 0, "nothing could be read")
        check(report.summary["allocations"] < done.expected["allocations"],
              "the disk was not full")
    finally:
        subprocess.run(["umount", "-l", place])


@case
def disk_full_for_the_live_file(directory):
    """Only the live file's place is too small: private memory serves."""
    place = tmpfs(directory, "200k")
    try:
        argv = [program("basic")]
        done = preload(argv, os.path.join(directory, "%e.trace"),
                       env=environment(GNOMON_LIVE_DIR=place))
        unharmed(done, argv)
        settle(directory)
        trace, = traces_in(directory)
        agree(done.expected, Report(trace))
    finally:
        subprocess.run(["umount", "-l", place])


@case
def file_size_limit(directory):
    """RLIMIT_FSIZE: its signal must not reach the program."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

    argv = [program("churn"), "2000000"]
    done = preload(argv, os.path.join(directory, "%e.trace"),
                   preexec_fn=limit)
    unharmed(done, argv)
    check(len(done.err.splitlines()) <= 2, "lines in %r" % done.err)
    for trace in traces_in(directory):
        wait_for(lambda path=trace: not writing(path))
        Report(trace, statuses=(0, 3))


@case
def few_descriptors(directory):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

    argv = [program("basic")]
    unharmed(preload(argv, os.path.join(directory, "%e.trace"),
                     preexec_fn=limit), argv)


@case
def little_address_space(directory):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))

    argv = [program("basic")]
    unharmed(preload(argv, os.path.join(directory, "%e.trace"),
                     preexec_fn=limit), argv)


@case
def small_memory_budget(directory):
    """What does not fit is counted, never wrong."""
    argv = [program("churn"), BLOCKS]
    done = recorded(argv, directory, options=["--memory", "8M"])
    unharmed(done, argv)
    report = Report(done.trace, statuses=(0, 3))
    lost = done.expected["allocations"] - report.sums()["allocations"]
    check(0 <= lost <= report.summary["dropped"]
          + sum(row["count"] for row in report.rows
                if not any(frame["function"] == "main"
                           for frame in row["stack"])),
          "%d allocations lost without a count" % lost)


@case
def many_threads_fit_the_budget(directory):
    argv = [program("turnover")]
    done = recorded(argv, directory, options=["--memory", "32M"])
    unharmed(done, argv)
    agree(done.expected, Report(done.trace))


main()
