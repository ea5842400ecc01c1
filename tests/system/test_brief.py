#!/usr/bin/python3
"""Forked children that record little and mostly end before their recorder runs.
Each has a complete trace."""

import glob

from gnomon_test import *


def children(prefix):
    """What each says that it has done, by its number."""
    found = {}
    for path in glob.glob(prefix + ".*"):
        with open(path, encoding="utf-8") as report:
            found[int(path.rsplit(".", 1)[1])] = Done(
                0, report.read(), "").expected
    return found


def compare(directory, prefix, count):
    found = children(prefix)
    equal(len(found), count, "children")
    reports = {}
    for pid, expected in found.items():
        trace, = [path for path in traces_in(directory)
                  if ".%d." % pid in path]
        reports[pid] = Report(trace)
        equal(reports[pid].summary["dropped"], 0, "dropped")
        agree(expected, reports[pid], "child %d: " % pid)
    return reports


def by(way, count=1, ended="exited with status 0"):
    def ends(directory):
        prefix = os.path.join(directory, "report")
        done = recorded([program("brief"), way], directory, by="preload",
                        env=environment(FORKS_PREFIX=prefix))
        equal((done.status, done.err), (0, ""), "result")
        for pid in compare(directory, prefix, count):
            trace, = glob.glob(os.path.join(directory, "*.%d.trace" % pid))
            facts = info(trace)
            equal(find_key(facts, "exit"), ended, "how it ended")
    ends.__name__ = "by_" + way
    return ends


case(by("exits"))
case(by("killed", ended="killed by signal 9 (Killed)"))
case(by("forks", 2))
case(by("unshares"))
case(by("many"))


@case
def report_without_the_programs_help(directory):
    """While the child does nothing; its group is stopped, even."""
    prefix = os.path.join(directory, "report")
    env = environment(FORKS_PREFIX=prefix, LD_PRELOAD=LIBRARY,
                      GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"))
    process = subprocess.Popen([program("brief"), "stopped"], env=env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        pid = int(process.stdout.readline())
        wait_begun(os.path.join(directory, "brief.%d.trace" % pid))
    finally:
        process.communicate(b"")
    equal(process.returncode, 0, "status")
    settle(directory)
    compare(directory, prefix, 1)


main()
