#!/usr/bin/python3
"""fork, vfork, exec and posix_spawn: each process has a trace of its own, and
each agrees with what that process counted."""

import glob

from gnomon_test import *

CHILDREN = 10


def by_pid(done):
    """The traces of each process, in the order they were made."""
    result = {}
    for trace in done.traces:
        result.setdefault(int(find_key(info(trace), "pid")), []).append(trace)
    for traces in result.values():
        traces.sort(key=lambda path: (len(path), path))
    return result


def run_forks(way, directory, **options):
    """Runs it; compares each process that reported with its last trace.
    Returns the children's pids."""
    prefix = os.path.join(directory, "report")
    done = recorded([program("forks"), way], directory,
                    env=environment(FORKS_PREFIX=prefix), **options)
    equal(done.status, 0, "status, stderr: " + done.err)
    traces = by_pid(done)
    children = {}
    for path in glob.glob(prefix + ".*"):
        with open(path, encoding="utf-8") as report:
            children[int(path.rsplit(".", 1)[1])] = Done(0, report.read(), "")
    for pid, child in children.items():
        check(pid in traces, "child %d has no trace" % pid)
        agree(child.expected, Report(traces[pid][-1]), "child %d: " % pid)
    parents = [pid for pid in traces if pid not in children]
    return done, traces, children, parents


@case
def fork(directory):
    done, traces, children, parents = run_forks("fork", directory)
    equal(len(children), CHILDREN + 1, "children")
    equal(len(parents), 1, "parents")
    agree(done.expected, Report(traces[parents[0]][0]), "parent: ")


@case
def fork_by_threads(directory):
    """Whichever thread forked: the child's stack is known to be its own, and
    walks are joined to what is known of it."""
    done, traces, children, parents = run_forks("threads", directory)
    equal(len(children), CHILDREN, "children")
    for pid in children:
        counters = info(traces[pid][0])["counters"]
        # (of a stack that is not known to be its own, none is joined; those
        # that were met before are walked as they are expected)
        check(counters["tier_join"] > counters["tier_full"],
              "joined: %d, walked in full: %d" % (counters["tier_join"],
                                                  counters["tier_full"]))


@case
def fork_and_exec(directory):
    done, traces, children, parents = run_forks("exec", directory)
    equal(len(children), CHILDREN, "children")
    equal(len(parents), 1, "parents")
    agree(done.expected, Report(traces[parents[0]][0]), "parent: ")
    # Every second child allocates before its exec: that is a trace too.
    before = [pids for pid, pids in traces.items()
              if pid in children and len(pids) == 2]
    check(len(before) >= CHILDREN // 2, "traces of children before exec")
    for first, _ in before:
        allocations = Report(first).sums()["allocations"]
        check(allocations in (0, 50), "%d before exec" % allocations)


@case
def vfork_and_exec(directory):
    done, traces, children, parents = run_forks("vfork", directory)
    equal(len(children), CHILDREN // 2, "children")
    agree(done.expected, Report(traces[parents[0]][0]), "parent: ")


@case
def posix_spawn(directory):
    done, traces, children, parents = run_forks("spawn", directory)
    equal(len(children), CHILDREN, "children")
    agree(done.expected, Report(traces[parents[0]][0]), "parent: ")


@case
def exec_in_the_same_process(directory):
    """The new program takes the next name; both traces are complete."""
    done, traces, children, parents = run_forks("same", directory)
    equal(len(children), 1, "leaf reports")
    equal(len(traces), 1, "pids")
    (pid, (before, after)), = traces.items()
    equal(after, before + ".1", "name after exec")
    agree(done.expected, Report(before), "before exec: ")


@case
def children_by_preload_alone(directory):
    done, traces, children, parents = run_forks("fork", directory,
                                                by="preload")
    equal(len(children), CHILDREN + 1, "children")
    agree(done.expected, Report(traces[parents[0]][0]), "parent: ")


@case
def children_in_other_directories(directory):
    """A name without a directory means where the recording was begun."""
    other = os.path.join(directory, "other")
    os.mkdir(other)
    done = bare([GNOMON, "run", "sh", "-c",
                 "cd other; %s; true" % program("basic")], cwd=directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    settle(directory)
    equal(traces_in(other), [], "traces elsewhere")
    equal(len(traces_in(directory)), 2, "traces here")


@case
def child_behind_a_new_root(directory):
    """Where nothing can be written the child runs unrecorded."""
    cage = os.path.join(directory, "cage")
    os.mkdir(cage)
    script = ("import os\n"
              "os.chroot(%r); os.chdir('/')\n"
              "pid = os.fork()\n"
              "x = [bytes(1000 + i) for i in range(5000)]\n"
              "if pid: print(os.waitpid(pid, 0)[1])\n" % cage)
    need_root("change its root directory")
    argv = ["/usr/bin/python3", "-c", script]
    alone = bare(argv)
    done = recorded(argv, directory, by="preload",
                    env=environment(PYTHONMALLOC="malloc"))
    equal((done.status, done.out), (alone.status, alone.out), "result")
    check(len(done.err.splitlines()) <= 1, "lines in %r" % done.err)
    adds_up(Report(max(done.traces, key=os.path.getsize)))


@case
def shell_pipeline(directory):
    """Many short processes, some of which allocate nothing of note."""
    script = "for i in 1 2 3; do echo $i | sed s/1/x/ | sort; done"
    alone = bare(["bash", "-c", script])
    done = recorded(["bash", "-c", script], directory)
    equal((done.status, done.out), (alone.status, alone.out), "result")
    check(len(done.traces) >= 7, "%d traces" % len(done.traces))
    for trace in done.traces:
        adds_up(Report(trace), trace + ": ", forked=True)


@case
def waits_for_all_children(directory):
    """No child of ours appears, not even to who asks for all (__WALL)."""
    alone = bare([program("waitall")])
    for by in ("run", "preload"):
        part = os.path.join(directory, by)
        os.mkdir(part)
        done = recorded([program("waitall")], part, by=by)
        equal((done.status, done.out), (0, alone.out), by)
        equal(done.expected["reaped"], 1, by)


@case
def frees_what_it_inherited(directory):
    """That is no fault of the recording, and the report does not look like
    it."""
    done = recorded([program("inherited")], directory)
    foreign = {}
    for trace in done.traces:
        text = gnomon("report", "--all", trace).out
        summary = Report(trace).summary
        equal(summary["unpaired"], 0, "unpaired")
        foreign[summary["foreign_frees"]] = text
    equal(sorted(foreign), [0, 50], "from before")
    check("50 frees of blocks from before a fork" in foreign[50], foreign[50])
    check("fork" not in foreign[0], foreign[0])


main()
