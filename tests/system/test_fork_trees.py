#!/usr/bin/python3
"""Children without exec, in all ways: each separate process has a trace of its
own, and each trace is right."""

import glob

from gnomon_test import *


def make(way, least):
    def breeds(directory):
        prefix = os.path.join(directory, "report")
        argv = [program("fork_trees"), way]
        alone = bare(argv)
        done = recorded(argv, directory, by="preload",
                        env=environment(FORKS_PREFIX=prefix))
        equal((done.status, done.err), (alone.status, ""), "result")
        traces = {}
        for trace in done.traces:
            facts = info(trace)
            traces.setdefault(int(find_key(facts, "pid")), []).append(trace)
            equal(find_key(facts, "reason"), "exit", trace)
        children = {int(path.rsplit(".", 1)[1]): path
                    for path in glob.glob(prefix + ".*")}
        check(len(children) >= least, "%d children" % len(children))
        for pid, path in children.items():
            with open(path, encoding="utf-8") as report:
                expected = Done(0, report.read(), "").expected
            if not expected["allocations"] and pid not in traces:
                continue        # a worker for whom no request was left
            equal(len(traces.get(pid, ())), 1, "traces of %d" % pid)
            check(find_key(info(traces[pid][0]), "parent_trace")
                  in done.traces, "parent of %d" % pid)
            report = Report(traces[pid][0])
            equal(report.summary["dropped"], 0, "dropped")
            equal({key: report.sums()[key] for key in expected}, expected,
                  "child %d" % pid)
        parent, = set(traces) - set(children) if way != "handler" else (
            max(traces, key=lambda pid: os.path.getsize(traces[pid][0])),)
        agree(done.expected, Report(traces[parent][0]), "parent: ")
    breeds.__name__ = "by_" + way
    return breeds


for each, count in (("chain", 14), ("threads", 32), ("handler", 1),
                    ("workers", 4), ("clone", 7), ("shared", 0),
                    ("loader", 20)):
    case(make(each, count))


@case
def two_hundred(directory):
    """All recorded; not all are read here, as that takes long."""
    prefix = os.path.join(directory, "report")
    done = recorded([program("fork_trees"), "many"], directory, by="preload",
                    env=environment(FORKS_PREFIX=prefix))
    equal((done.status, done.err), (0, ""), "result")
    equal(len(done.traces), 201, "traces")
    pids = [int(path.rsplit(".", 1)[1]) for path in glob.glob(prefix + ".*")]
    equal(len(pids), 200, "children")
    for pid in pids[::20]:
        with open("%s.%d" % (prefix, pid), encoding="utf-8") as report:
            expected = Done(0, report.read(), "").expected
        trace, = [path for path in done.traces if ".%d." % pid in path]
        agree(expected, Report(trace), "child %d: " % pid)


main()
