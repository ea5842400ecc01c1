#!/usr/bin/python3
# TIMEOUT: 1500
"""Each system call of the library and the recorder fails, where it is made and
as it may: the target has the same output and status, and the trace says what is
missing."""

from faults import *

TARGET = [program("fault_target"), "100"]

E = dict(PERM=1, NOENT=2, INTR=4, IO=5, CHILD=10, AGAIN=11, NOMEM=12, ACCES=13,
         INVAL=22, NFILE=23, MFILE=24, FBIG=27, NOSPC=28, PIPE=32, NOSYS=38,
         NOLCK=37, OPNOTSUPP=95, DQUOT=122, FAULT=14)

# How calls fail in life. "short": a part is done, "void": nothing is, and 0
# is the answer. Errors that mean "again" come once.
WAYS = {
    0: "IO INTR short void", 1: "NOSPC INTR IO AGAIN DQUOT FBIG PIPE short",
    3: "IO INTR", 8: "IO", 9: "NOMEM PERM", 10: "NOMEM ACCES PERM",
    11: "NOMEM", 14: "FAULT PERM", 17: "IO INTR", 28: "INVAL NOMEM NOSYS",
    35: "INTR", 61: "INTR CHILD", 62: "PERM", 63: "PERM", 72: "PERM INVAL",
    73: "AGAIN NOLCK INTR", 77: "IO INTR PERM", 112: "PERM", 137: "NOSYS ACCES",
    144: "PERM INVAL", 157: "INVAL PERM", 202: "INTR AGAIN void",
    218: "NOSYS", 228: "NOSYS", 234: "PERM NOSYS", 257: "MFILE ACCES NOENT "
    "NOMEM INTR", 258: "ACCES", 262: "ACCES NOENT", 263: "ACCES NOENT",
    267: "ACCES NOENT", 271: "INTR NOMEM NOSYS", 285: "OPNOTSUPP NOSPC INTR "
    "IO NOSYS", 318: "NOSYS AGAIN INTR", 434: "NOSYS MFILE "
    "PERM", 436: "NOSYS PERM", CLONE: "PERM AGAIN NOSYS NOMEM",
}
# getpid, exit, gettid, exit_group: the kernel does not refuse them
NEVER = {39, 60, 186, 231, ALLOC, RESERVE}
ONCE = {"INTR", "AGAIN", "void", "short"}

# What must cost nothing: there is another way, or it is to be done again.
REPLACED = {14, 35, 61, 62, 63, 73, 112, 137, 144, 202, 234, 267, 271, 318,
            434, 436}
REPEATED = {(nr, way) for nr in (0, 1, 285) for way in ("INTR", "short")} \
    | {(1, "AGAIN")}


def is_harmless(nr, way):
    return nr in REPLACED or (nr, way) in REPEATED


def judge_harmless(run, alone):
    judge(run, alone)
    for trace in traces_in(run.directory):
        told = Told(trace, [])
        check(told.whole and not told.dropped, "%s: status %d, %d dropped" % (
            told.trace, told.status, told.dropped))
    equal(run.done.err, "", "messages")


def spec(nr, site, way, nth, forever):
    keys = {"nr": nr, "site": site, "nth": nth,
            "count": 0 if forever and way not in ONCE else 1}
    if way in ("short", "void"):
        return fault(**keys, **{way: 1})
    return fault(**keys, error=E[way])


def moments(times):
    """(nth, for ever) for a site that is called so often."""
    yield 1, False
    if times > 1:
        yield 1, True
        yield times // 2 + 1, True
        yield times // 2 + 1, False
        yield times, False
    if times > 2:
        yield 2, False


def all_faults(sites):
    """[(name, fault, harmless)] by site: for each a list of all its ways and
    moments."""
    names = names_of(list(sites))
    result = []
    for (nr, site), times in sorted(sites.items()):
        if nr in NEVER:
            continue
        mine = [("%s %s %d of %d%s" % (names[nr, site], way, nth, times,
                                       " on" if forever else ""),
                 spec(nr, site, way, nth, forever), is_harmless(nr, way))
                for way in WAYS.get(nr, "IO PERM").split()
                for nth, forever in moments(times)]
        result.append(mine)
    return result


@case
def each_call_where_it_is_made(directory):
    by_site = all_faults(counting_run(directory, TARGET).sites)
    if FULL:
        chosen = [each for mine in by_site for each in mine]
    else:
        # another one of each site's faults every time the list changes
        chosen = [mine[(7 * i) % len(mine)] for i, mine in enumerate(by_site)]
    harmless = {spec for _, spec, harmless in chosen if harmless}

    def judged(run, alone):
        (judge_harmless if run.fault in harmless else judge)(run, alone)

    sweep(directory, TARGET, [(name, spec) for name, spec, _ in chosen],
          judged=judged)


EXECVE = 59


def not_recorded(run, alone, path):
    """One message of the first process, one at most of its children."""
    equal((run.done.status, run.done.out), (alone.status, alone.out), "result")
    messages = run.done.err.splitlines()
    check(1 <= len(messages) <= 2, "messages: " + run.done.err)
    for message in messages:
        check(message.startswith("gnomon: the recorder cannot be started: " +
                                 path + ": ")
              and message.endswith(": this process is not recorded"), message)
    equal(traces_in(run.directory), [], "traces")
    check(not run.stayed, "processes were left: %s" % run.stayed)
    left = live_files_of(run)
    check(not left, "live files are left: %s" % left)


@case
def the_recorder_is_not_executed(directory):
    alone = bare(TARGET)
    for name in "NOENT ACCES AGAIN NOMEM PERM".split():
        run = Run(TARGET, os.path.join(directory, name),
                  fault(nr=EXECVE, nth=1, count=0, error=E[name]))
        not_recorded(run, alone, FAULT_RECORDER)


@case
def nor_from_plain_forks(directory):
    """Where no task can share the memory."""
    alone = bare(TARGET)
    for name, path in ("none", "/nonexistent"), ("other", "/etc/passwd"):
        run = Run(TARGET, os.path.join(directory, name),
                  fault(nr=CLONE, nth=1, count=0, error=E["PERM"]),
                  {"GNOMON_RECORDER": path})
        not_recorded(run, alone, path)


main()
