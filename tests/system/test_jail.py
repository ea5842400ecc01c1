#!/usr/bin/python3
"""Programs that forbid themselves system calls on pain of death: none that is
forbidden is made for us, and nothing that they allocate is lost."""

from gnomon_test import *


def run(way, directory):
    alone = bare([program("jail"), way])
    if alone.status == 77:
        raise Skip("this kernel has no such filter")
    done = recorded([program("jail"), way], directory)
    equal((done.status, done.out), (alone.status, alone.out),
          "result, stderr: " + done.err)
    return done


def make(way):
    def jailed(directory):
        done = run(way, directory)
        agree(done.expected, Report(done.trace))
    jailed.__name__ = "jailed_by_" + way
    return jailed


for each in "tight", "prctl", "raw", "refused":
    case(make(each))


@case
def threads_and_children_without_names(directory):
    """Threads that may not ask who they are: their rings are freed all the
    same. A child that may not start a recorder runs without."""
    done = run("ids", directory)
    agree(done.expected, Report(done.trace))
    threads = info(done.trace)["threads"]
    equal(len(threads), 81, "threads")
    tids = {thread["tid"] for thread in threads}
    check(0 not in tids and len(tids) > 70, "thread ids: %s" % tids)


@case
def children_of_who_may_less_and_less(directory):
    """Those who may still start a recorder are recorded."""
    done = run("forks", directory)
    first = [trace for trace in done.traces
             if not find_key(info(trace), "parent_trace")]
    equal((len(first), len(done.traces)), (1, 3), "traces")
    agree(done.expected, Report(first[0]))


@case
def without_a_counter(directory):
    """What cannot be stamped is dropped, counted and said."""
    for way, allocations in ("strict", 64), ("tsc", 1064):
        part = os.path.join(directory, way)
        os.mkdir(part)
        done = run(way, part)
        report = Report(done.trace)
        equal(report.sums()["allocations"], allocations, way)
        check(report.summary["dropped"] >= 2000, "dropped")


@case
def every_call_is_known(directory):
    """What a new recorder calls is what is looked for in a filter."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                        "..", "preload")
    used = set()
    for name in os.listdir(root):
        # These make calls that the program has just made itself; the last
        # three only where an option asks for it: the command's task may end,
        # and no forked child looks for files.
        if name.startswith("hooks_") or name in (
                "ids.c", "serve.c", "seccomp.c", "owner.c", "reporter.c",
                "embed_glob.c"):
            continue
        with open(os.path.join(root, name), encoding="utf-8") as source:
            used |= set(re.findall(r"__NR_(\w+)", source.read()))
    with open(os.path.join(root, "seccomp.c"), encoding="utf-8") as source:
        known = set(re.findall(r"(?:__NR_|SECCOMP_[A-Z]+\()(\w+)",
                               source.read()))
    equal(sorted(used - known), [], "calls that seccomp.c does not know")


main()
