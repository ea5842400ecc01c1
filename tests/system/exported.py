"""Shared by the tests of exports: traces of four programs, and the totals that
every format must agree with."""

import contextlib
import fcntl
import glob
import json
import os
import subprocess
import tempfile

from gnomon_test import (GNOMON, HEADER_SIZE, RUN_SECONDS, begun, check,
                         environment, gnomon, program, recorded, traces_in,
                         wait_for)
from real_programs import real_program

# The fourth: threads, inlined frames, names that are hard to write down.
PROGRAMS = ("sqlite3", "python3", "cc1plus", "many_names")

# Filters that let something pass, and not all.
FILTERS = (("sqlite3", ("--function", "sqlite3_step")),
           ("python3", ("--size-min", "1k")),
           ("cc1plus", ("--alive-at", "50%")),
           ("many_names", ("--lifetime-max", "10s")))

# Names of functions of many_names, as they are.
ODD_NAMES = ("odd name with blanks", "odd'quote,comma`", "odd;semicolon#hash",
             "odd<a>&amp;{b}[c] 17", "größe_日本(unsigned long)",
             "operators::operator,(unsigned long)")

# Keys of the summary by the word for --cost.
SUMMARY = {"live": "live_bytes", "peak": "peak_bytes", "total": "total_bytes",
           "count": "allocations", "temporary": "temporary"}

directory = tempfile.TemporaryDirectory(prefix="gnomon-export-")
traces = {}


def record(name, folder):
    os.mkdir(folder)
    argv, changes = [program(name)], {}
    if name != "many_names":
        argv, changes = real_program(name, folder, name != "cc1plus")
    done = recorded(argv, folder, env=environment(**changes))
    check(done.status == 0, "%s: status %d, %s" % (name, done.status,
                                                   done.err))
    return done.trace


def trace(name):
    """A trace of one of the programs, recorded once for a run of tests, or for
    a test file that is run by itself. Nobody may write to it: who comes first
    records it, under a lock, and gives the folder its name when all is done."""
    if name not in traces:
        base = os.environ.get("GNOMON_TEST_SHARED") or directory.name
        folder = os.path.join(base, "export-" + name)
        with open(folder + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(folder):
                part = tempfile.mkdtemp(dir=base)
                record(name, os.path.join(part, name))
                os.rename(os.path.join(part, name), folder)
        traces[name], = traces_in(folder)
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


@contextlib.contextmanager
def being_written(folder):
    """A trace of a program that goes on as long as the context does."""
    run = subprocess.Popen([GNOMON, "run", "-q", "-o",
                            os.path.join(folder, "%p.trace"), "--", "cat"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           env=environment())
    try:
        run.stdin.write(b"x\n")
        run.stdin.flush()
        check(run.stdout.readline(), "cat answers")
        # not another one that lies there
        check(wait_for(lambda: any(map(begun, glob.glob(
            os.path.join(folder, "[0-9]*.trace"))))), "a trace")
        yield glob.glob(os.path.join(folder, "[0-9]*.trace"))[0]
    finally:
        run.stdin.close()
        run.wait(timeout=RUN_SECONDS)
        run.stdout.close()


def with_nothing(folder):
    """Traces, and words for filters, of which nothing comes."""
    with open(trace("many_names"), "rb") as file:
        head = file.read(HEADER_SIZE)
    cut = os.path.join(folder, "cut.trace")
    with open(cut, "wb") as file:
        file.write(head)
    return (cut, ()), (trace("many_names"), ("--size-min", "1T"))
