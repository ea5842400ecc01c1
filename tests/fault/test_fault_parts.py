#!/usr/bin/python3
"""From one part of a trace to the next (--limit), where a file system refuses
links, or names: all there is can be read by the trace's name."""

from faults import *

TARGET = [program("mixed_lifetimes"), "200000"]
RENAMEAT2, LINKAT = 316, 265
EPERM, EIO = 1, 5


def run(directory, nr, error):
    done = Run(TARGET, os.path.join(directory, "run"),
               fault(nr=nr, nth=1, count=0, error=error),
               {"GNOMON_OUTPUT": os.path.join(directory, "run", "a.trace"),
                "GNOMON_LIMIT": "1M"})
    check(done.log.failed > 0, "nothing failed")
    equal(done.done.status, 0, "status: " + done.done.err)
    names = sorted(name for name in os.listdir(done.directory)
                   if name.startswith("a.trace"))
    check("a.trace" in names, "files: %r" % names)
    check("a.trace.next" not in names, "files: %r" % names)
    return done, names


def summary(done):
    path = os.path.join(done.directory, "a.trace")
    return json.loads(gnomon("report", "--json", "--top", "1", path,
                             statuses=(0, 3)).out)["summary"]


@case
def no_links(directory):
    """The old part is renamed, and nothing is missing."""
    done, names = run(directory, LINKAT, EPERM)
    check(len(names) > 2, "parts: %r" % names)
    wanted = bare(TARGET).expected["allocations"]
    made = summary(done)["allocations"]
    check(0 <= made - wanted < 20, "%d allocations, %d were made" %
          (made, wanted))


@case
def no_names(directory):
    """No part follows the first; that stays, by its own name alone."""
    done, names = run(directory, RENAMEAT2, EIO)
    equal(names, ["a.trace"], "files")
    check(summary(done)["allocations"] > 0, "nothing is in it")


main()
