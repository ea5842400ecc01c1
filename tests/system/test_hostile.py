#!/usr/bin/python3
# TIMEOUT: 300
"""Hostile input, under sanitizers: traces broken in every enumerated way
(tests/hostile), and the corpus of each fuzz target. The command itself reads
some of the broken traces, and must print the same."""

import glob

from gnomon_test import *

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZED = os.path.join(BUILD, "asan", "tests")
OPTIONS = "detect_leaks=0:quarantine_size_mb=16:allocator_may_return_null=1"


def sanitized(*argv):
    done = bare(argv, environment(ASAN_OPTIONS=OPTIONS))
    check(done.status == 0, "%s: status %d\n%s\n%s" % (
        argv[0], done.status, done.out, done.err[-4000:]))
    return done


@case
def a_recorded_trace(directory):
    done = recorded([program("basic")], directory)
    sanitized(os.path.join(SANITIZED, "hostile/hostile_trace"), done.trace)


@case
def fuzz_corpora(directory):
    corpora = sorted(glob.glob(SOURCE + "/fuzz/corpus/*.tar.gz"))
    check(len(corpora) > 20, "%d corpora" % len(corpora))
    for corpus in corpora:
        name = os.path.basename(corpus)[:-len(".tar.gz")]
        where = os.path.join(directory, name)
        subprocess.run([SOURCE + "/tools/corpus", "unpack", name, where],
                       check=True)
        files = sorted(glob.glob(where + "/*"))
        check(len(files) > 0, "%s: %d inputs" % (name, len(files)))
        sanitized(os.path.join(SANITIZED, "replay/fuzz_" + name), *files)


@case
def composed_traces(directory):
    """All of them there; of every so many, each command ends as it ended
    there."""
    sanitized(os.path.join(SANITIZED, "hostile/hostile_trace"), "-w",
              directory, "101")
    samples = sorted(glob.glob(directory + "/*.trace"))
    check(len(samples) > 15, "%d samples" % len(samples))
    for path in samples:
        wanted = int(path.split(".")[-2])
        for command in (["report", path], ["report", "--json", path],
                        ["info", path]):
            done = bare([GNOMON, *command], preexec_fn=processor(20))
            also = (wanted, 3) if command[0] == "info" else (wanted,)
            check(done.status in also, "%s %s: status %d\n%s" % (
                command, wanted, done.status, done.err))
            # that the program is not here, and so has no names, is no fault
            # of the trace
            said = [line for line in done.err.splitlines()
                    if not line.startswith("gnomon: /nowhere/") and
                    ": functions without names: " not in line]
            check(bool(said) == (done.status != 0) and all(
                line.startswith("gnomon: ") for line in said),
                  "%s: status %d: %s" % (command, done.status, done.err))


@case
def little_memory(directory):
    """A hundred rings, each with a chunk of some kilobytes that holds several
    megabytes of events, or says that it does."""
    sanitized(os.path.join(SANITIZED, "hostile/hostile_trace"), "-m",
              directory)
    samples = sorted(glob.glob(directory + "/*.trace"))
    check(len(samples) == 2, "%d samples" % len(samples))
    for path in samples:
        check(os.path.getsize(path) < 8 << 20, "%d bytes" %
              os.path.getsize(path))
        done = bare(["prlimit", "--as=%d" % (640 << 20), GNOMON, "report",
                     path], seconds=100)
        check(done.status == 3, "%s: status %d\n%s" % (
            path, done.status, done.err))


main()
