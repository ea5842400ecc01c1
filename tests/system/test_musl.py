#!/usr/bin/python3
"""Programs of another C library, recorded by the same preload library."""

from gnomon_test import *

LIBRARY_THAT_ALLOCATES = program("libmusl_ctor.so")
CHILDREN = 5


def run_way(way, directory, name="musl_life"):
    need("musl-gcc")
    argv = [program(name), LIBRARY_THAT_ALLOCATES, way]
    alone = bare(argv)
    done = recorded(argv, directory)
    equal((done.status, done.out), (alone.status, alone.out),
          "result: " + done.err)
    return done


def make(way):
    def runs(directory):
        done = run_way(way, directory)
        agree(done.expected, Report(done.trace))
    runs.__name__ = way
    return runs


for each in "threads", "small", "load", "leave", "exit":
    case(make(each))


def forks(name, directory):
    """The children's threads all come at once, to a recorder not begun."""
    done = run_way("fork", directory, name)
    reports = re.split(r"^(?:child|parent) \d+\n", done.out, flags=re.M)[1:]
    wanted = sorted(Done(0, each, "").expected["allocations"]
                    for each in reports)
    equal(len(wanted), CHILDREN + 1, "processes")
    found = sorted(Report(trace).sums()["allocations"]
                   for trace in done.traces)
    equal(found, wanted, "allocations of each process")


@case
def fork(directory):
    forks("musl_life", directory)


@case
def fork_with_glibc(directory):
    forks("glibc_life", directory)


@case
def in_every_mode(directory):
    need("musl-gcc")
    for variables in ({"GNOMON_SHADOW_STACK": "off"},
                      {"GNOMON_SHADOW_STACK": "validate"},
                      {"GNOMON_DEBUG_BARRIER": 2},
                      {"GNOMON_DEBUG_ORACLE": 1}):
        part = os.path.join(directory, "-".join(map(str, variables.values())))
        os.mkdir(part)
        done = recorded([program("musl")], part,
                        env=environment(**variables))
        equal(done.status, 0, "status: " + done.err)
        agree(done.expected, Report(done.trace))
        equal(info(done.trace)["counters"]["oracle_differences"], 0,
              "differences")


@case
def stripped(directory):
    """Without symbols the program's own functions have no names; the
    numbers are the same. With both C libraries."""
    for name in "mixture", "musl":
        part = os.path.join(directory, name)
        os.mkdir(part)
        path = os.path.join(part, name)
        shutil.copy(program(name), path)
        check(bare(["strip", path]).status == 0, "strip")
        alone = bare([path])
        done = recorded([path], part)
        equal((done.status, done.out), (alone.status, alone.out), done.err)
        report = Report(done.trace)
        adds_up(report)
        summary = report.summary
        check(0 <= summary["allocations"] - done.expected["allocations"] < 50,
              "%d allocations" % summary["allocations"])


main()
