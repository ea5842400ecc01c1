"""What the tests of exports share: traces of four programs, and the totals that
every format has to agree with."""

import json
import os
import tempfile

from gnomon_test import check, environment, gnomon, program, recorded
from real_programs import real_program

# The fourth: threads, inlined frames, names that are hard to write down.
PROGRAMS = ("sqlite3", "python3", "cc1plus", "many_names")

# Keys of the summary by the word for --cost.
SUMMARY = {"live": "live_bytes", "peak": "peak_bytes", "total": "total_bytes",
           "count": "allocations", "temporary": "temporary"}

directory = tempfile.TemporaryDirectory(prefix="gnomon-export-")
traces = {}


def trace(name):
    """A trace of one of the programs, recorded once for a test file."""
    if name not in traces:
        folder = os.path.join(directory.name, name)
        os.mkdir(folder)
        argv, changes = [program(name)], {}
        if name != "many_names":
            argv, changes = real_program(name, folder)
        done = recorded(argv, folder, env=environment(**changes))
        check(done.status == 0, "%s: status %d, %s" % (name, done.status,
                                                       done.err))
        traces[name] = done.trace
    return traces[name]


def summary(path, *words):
    """What the report says of it, with the same filters."""
    return json.loads(gnomon("report", path, "--json", "--top", "1",
                             *words).out)["summary"]


def exported(path, form, *words, output=None, statuses=(0,)):
    """The text of an export, or its file's name if one is given."""
    more = ["-o", output] if output else []
    done = gnomon("export", "--format", form, path, *words, *more,
                  statuses=statuses)
    return output or done.out
