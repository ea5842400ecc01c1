#!/usr/bin/python3
"""Code made at run time: tables registered with the C runtime or shown to
debuggers, and code without any."""

from gnomon_test import *
from stack_samples import contexts

ENTRIES = ("frame", "info", "info_bases", "table", "info_table",
           "info_table_bases")


def record(how, directory, **env):
    plain = bare([program("jit_frames"), how])
    done = recorded([program("jit_frames"), how], directory,
                    env=environment(**env))
    equal((done.status, done.out), (plain.status, plain.out), how)
    equal(done.expected["right"], 1, how + ": results of the real functions")
    return done


def names_through(done):
    """The report's rows for the allocations, each with its functions."""
    for row in Report(done.trace).rows_with("allocate$"):
        yield row["count"], [frame.get("function") for frame in row["stack"]]


def make(how):
    def registered(directory):
        done = record(how, directory)
        for _, names in names_through(done):
            check("round_of" in names and "main" in names,
                  "%s: not walked through: %s" % (how, names))
        rounds, blocks = done.expected["rounds"], done.expected["blocks"]
        ours = [context for context in contexts(done.trace)
                if context[0] == blocks // rounds]
        # The same addresses in all rounds, but each time they mean new code.
        equal(len(ours), rounds, "contexts")
        equal(len(set(ours)), 1, "stacks")
    registered.__name__ = "registered_by_" + how
    return registered


for each in ENTRIES:
    case(make(each))


@case
def shown_to_debuggers(directory):
    done = record("gdb", directory)
    total = 0
    for count, names in names_through(done):
        total += count
        check("round_of" in names and "main" in names,
              "not walked through: %s" % names)
    equal(total, done.expected["blocks"], "allocations")


@case
def without_a_table(directory):
    """The stack ends in the code, and the trace says so."""
    done = record("none", directory)
    counters = info(done.trace)["counters"]
    check(counters["stop_jit"] > 0, "walks that ended in such code")
    equal(counters["stop_no_image"], 0, "stray addresses")
    for _, names in names_through(done):
        check("main" not in names, "%s" % names)


def with_map(directory, what):
    """The functions of the stacks, of a run that wrote such a map."""
    done = recorded([program("jit_frames"), "none", what], directory)
    map_file = "/tmp/perf-%d.map" % find_key(info(done.trace), "pid")
    for path in (map_file, map_file + ".real"):
        if os.path.lexists(path):
            os.unlink(path)
    equal(done.status, 0, "status")
    rows = list(names_through(done))
    equal(sum(count for count, _ in rows), done.expected["blocks"], "blocks")
    return {name for _, names in rows for name in names if name}, done


@case
def names_from_the_map(directory):
    names, done = with_map(directory, "map")
    check("made at run time" in names, "%s" % names)
    check(not names & {"older code", "before it"}, "%s" % names)
    equal(find_key(info(done.trace), "names_skipped"), 0, "skipped")


@case
def no_names_through_a_link(directory):
    names, _ = with_map(directory, "link")
    equal(names, {"allocate"}, "names")


@case
def oracle_agrees(directory):
    for how in ("none", "gdb") + ENTRIES:
        part = os.path.join(directory, how)
        os.mkdir(part)
        done = record(how, part, GNOMON_DEBUG_ORACLE=1)
        counters = info(done.trace)["counters"]
        check(counters["oracle_checks"] >= done.expected["blocks"], "checks")
        equal(counters["oracle_differences"], 0, how + ": differences")


main()
