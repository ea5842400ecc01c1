#!/usr/bin/python3
"""Unusual frames: interrupted anywhere by a signal, or of functions with
unusual shapes."""

from gnomon_test import *
from stack_samples import contexts


@case
def every_instruction(directory):
    """Stacks at every instruction of lazy binding, of hand-written assembly,
    of the vdso and of odd frames, in a signal handler."""
    for argument in ([], ["stack"]):
        part = os.path.join(directory, "-".join(argument) or "plain")
        os.mkdir(part)
        done = recorded([program("steps"), *argument], part,
                        env=environment(GNOMON_DEBUG_ORACLE=1))
        equal(done.status, 0, "status, stderr: " + done.err)
        expected = done.expected
        count = pcs = frames = 0
        for times, root, *addresses in contexts(done.trace):
            if expected["restorer"] not in addresses:
                continue
            at = addresses.index(expected["restorer"]) + 1
            equal(root, 0, "reason of the end at %x" % (addresses[at] - 1))
            count += times
            # As recorded: one past the interrupted instruction's address.
            pcs += times * (addresses[at] - 1)
            # All but the function that calls malloc.
            frames += times * (len(addresses) - 1)
        check(count > 10000, "only %d steps" % count)
        equal(count, expected["steps"], "steps")
        equal(pcs, expected["pcs"], "sum of program counters")
        equal(frames, expected["frames"], "frames")
        equal(find_key(info(done.trace), "oracle_differences"), 0,
              "differences")


SHAPES = (
    ("last_of_tail",),
    ("realigned",),
    ("variable", "realigned"),
    ("leaves", "ends_in_call"),
    ("cold_malloc", "split"),
)


@case
def shapes_of_functions(directory):
    done = recorded([program("shapes")], directory)
    equal(done.status, 0, "status")
    report = Report(done.trace)
    agree(done.expected, report)
    found = {}
    for row in report.rows_with("tgt_malloc"):
        names = [frame["function"] for frame in row["stack"]]
        check("main" in names, "no main in %s" % names)
        found[tuple(names[1:names.index("main")])] = row["count"]
    equal(found, {shape: done.expected["times"] for shape in SHAPES},
          "stacks")


@case
def odd_images(directory):
    """Libraries in memory only, removed, replaced, without section headers."""
    done = recorded([program("odd_images"), directory,
                     program("libepoch_a.so")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    counts = {}
    for row in Report(done.trace).rows_with("use$"):
        names = [frame.get("function") for frame in row["stack"]]
        check(names[-1] == "_start", "not to the bottom: %s" % names)
        # inner, outer, epoch_make; then the program.
        equal(names.index("use"), 3, "frames of the library in %s" % names)
        counts[row["total_bytes"] // row["count"]] = row["count"]
    equal(counts, dict.fromkeys(range(1001, 1005), done.expected["blocks"]),
          "allocations by size")


main()
