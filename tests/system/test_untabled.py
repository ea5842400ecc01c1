#!/usr/bin/python3
"""Stacks of plain C without unwind tables and frame pointers, by its code alone:
each names every function (nested_untabled.c has the shapes of frames, and
realigned_untabled.c those of stacks that functions align)."""

from gnomon_test import *

# They allocate in the others' name, or are in no stack.
OWN = "take fails never_returns ends_in_a_call".split()
# They allocate by another one alone.
SILENT = ["compares", "order"]
# Behind its call lies a jump by a table. Behind the other's is no way out.
UNKNOWN = {("switches", "take"), ("fails", "take")}


def stacks(directory, name, **changes):
    """A program's own functions in each stack, outermost first, and what there
    should be: each function calls the next one and allocates."""
    done = recorded([program(name)], directory, by="preload",
                    env=environment(**changes))
    equal(done.status, 0, "status, stderr: " + done.err)
    names = done.out.split("\n")[-2].split()
    found = set()
    for row in Report(done.trace).rows:
        own = [frame.get("function") for frame in reversed(row["stack"])]
        own = [name for name in own if name in names + OWN]
        if "take" in own:
            found.add(tuple(own))
    wanted = {tuple(names[:n] + ["take"]) for n in range(2, len(names) + 1)
              if names[n - 1] not in SILENT}
    return found, wanted, done


def whole(directory, mode):
    found, wanted, done = stacks(directory, "nested_untabled",
                                 GNOMON_SHADOW_STACK=mode,
                                 GNOMON_DEBUG_ORACLE="1")
    kept = {stack for stack in wanted if stack[-2:] not in UNKNOWN}
    check(len(kept) > 9, "%d stacks" % len(kept))
    equal(kept - found, set(), "missing")
    equal(found - kept, UNKNOWN, "others")
    counters = agrees(done)
    check(int(counters["stop_no_rule"]) > 0, "none that ends early")


def agrees(done):
    counters = info(done.trace)["counters"]
    equal(int(counters["oracle_differences"]), 0, "oracle_differences")
    check(int(counters["oracle_checks"]) > 0, "no oracle")
    return counters


def realigned(directory, mode):
    found, wanted, done = stacks(directory, "realigned_untabled",
                                 GNOMON_SHADOW_STACK=mode,
                                 GNOMON_DEBUG_ORACLE="1")
    check(len(wanted) > 9, "%d stacks" % len(wanted))
    equal(found, wanted, "stacks")
    equal(int(agrees(done)["stop_no_rule"]), 0, "that end early")


@case
def each_function_has_its_frame(directory):
    whole(directory, "auto")


@case
def also_where_functions_align_their_stacks(directory):
    for mode in "auto", "off":
        place = os.path.join(directory, mode)
        os.mkdir(place)
        realigned(place, mode)


@case
def and_with_each_stack_walked_anew(directory):
    whole(directory, "off")


main()
