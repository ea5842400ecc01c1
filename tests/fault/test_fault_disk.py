#!/usr/bin/python3
# TIMEOUT: 900
"""The disk becomes full at each chunk in turn: the trace's, the live file's,
or both at once; or a file may not grow any further. The target does not
notice, one message says it, what was written stays readable, and what the live
file holds is folded in when there is room again."""

import resource

from faults import *

TARGET = [program("fault_target"), "200"]
PAGE = 4096
WRITE, FALLOCATE = 1, 285
ENOSPC, EOPNOTSUPP = 28, 95
# Of two processes: one each that recording has stopped, and where the live file
# has no room either, or a file may not grow, also one that there is none.
MESSAGES, MESSAGES_LIMITED = 2, 4


def sizes(end, step, short_step):
    return range(PAGE, end, step if FULL else short_step)


def whole_size(directory):
    run = Run(TARGET, os.path.join(directory, "whole"))
    return sum(os.path.getsize(trace) for trace in traces_in(run.directory))


def judge_full(run, alone, disk=None, messages=MESSAGES):
    """First as it was left, then with room again."""
    check(len(run.done.err.splitlines()) <= messages, run.done.err)
    before = {trace: Told(trace, ["stopped"]).events
              for trace in traces_in(run.directory)}
    if disk:
        disk.enlarge()
    judge(run, alone)
    for trace, events in before.items():
        told = Told(trace, ["stopped"])
        check(told.events >= events, "%d events, then %d" % (
            events, told.events))
        check("missing" not in told.err, told.err)


def check_all(wrong):
    """Of (item, exception): one that cannot be tried here does not make up
    for others that went wrong."""
    failed = ["%s: %r" % each for each in wrong
              if not isinstance(each[1], Skip)]
    check(not failed, "\n".join(failed))
    for _, skip in wrong:
        raise skip


def in_parallel(items, one):
    wrong = []

    def careful(item):
        try:
            one(item)
        except Exception as failure:
            wrong.append((item, failure))

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(careful, items))
    check_all(wrong)
    return len(items)


def on_disks(directory, all_sizes, env_of, traces=True, messages=MESSAGES):
    alone = bare(TARGET)

    def one(size):
        part = os.path.join(directory, str(size))
        os.mkdir(part)
        with Disk(os.path.join(part, "disk"), size) as disk:
            run = Run(TARGET, os.path.join(part, "run"), env=env_of(disk),
                      traces=disk.place if traces else None)
            judge_full(run, alone, disk, messages)
        shutil.rmtree(part, ignore_errors=True)

    in_parallel(all_sizes, one)


@case
def full_for_the_trace(directory):
    end = whole_size(directory) + 128 * 1024
    on_disks(directory, sizes(end, PAGE, 10 * PAGE), lambda disk: {})


@case
def full_for_the_live_file(directory):
    """Its first parts, more rings, more nodes: whatever it was for."""
    on_disks(directory, sizes(6 << 20, 16 * PAGE, 200 * PAGE),
             lambda disk: {"GNOMON_LIVE_DIR": disk.place}, traces=False)


@case
def full_for_both(directory):
    on_disks(directory, sizes(7 << 20, 32 * PAGE, 250 * PAGE),
             lambda disk: {"GNOMON_LIVE_DIR": disk.place},
             messages=MESSAGES_LIMITED)


def failing(directory, nr, error, messages=MESSAGES):
    """Each call of this number fails, and all that follow it."""
    times = counting_run(directory, TARGET).most(nr)
    check(times > 8, "%d calls" % times)
    faults = [("%d of %d" % (nth, times),
               fault(nr=nr, nth=nth, count=0, error=error))
              for nth in range(1, times + 1, 1 if FULL else 9)]
    sweep(directory, TARGET, faults,
          judged=lambda run, alone: judge_full(run, alone,
                                               messages=messages))


@case
def each_write(directory):
    failing(directory, WRITE, ENOSPC)


@case
def each_reservation_of_the_disk(directory):
    """The live file's are the first of them."""
    failing(directory, FALLOCATE, ENOSPC, MESSAGES_LIMITED)


@case
def files_may_not_grow(directory):
    """RLIMIT_FSIZE, at the ends of chunks and around them."""
    run = Run(TARGET, os.path.join(directory, "whole"))
    with open(max(traces_in(run.directory), key=os.path.getsize),
              "rb") as file:
        ends = [at + size for at, _, size in chunks(file.read())]
    alone = bare(TARGET)

    def one(size):
        part = os.path.join(directory, str(size))
        limited = Run(TARGET, part, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)))
        # the log of the run is longer than that, but it is there already
        judge_full(limited, alone, None, MESSAGES_LIMITED)
        shutil.rmtree(part, ignore_errors=True)

    limits = sorted({end + more for end in ends for more in (-1, 0, 1)})
    in_parallel(limits if FULL else limits[::30], one)


main()
