#!/usr/bin/python3
"""A library is closed and another takes its place: each stack names the one
that was there when the block was made."""

from gnomon_test import *


@case
def same_place(directory):
    done = recorded([program("epochs"), PROGRAMS], directory)
    equal(done.status, 0, "status")
    expected = done.expected
    if not expected["same_place"]:
        raise Skip("the loader put the libraries at different places")
    report = Report(done.trace)
    for which, other in ("ab", "ba"):
        rows = report.rows_with("epoch_%s_inner$" % which)
        equal(sum(row["count"] for row in rows), expected["blocks_each"],
              "blocks of library " + which)
        equal(sum(row["total_bytes"] for row in rows),
              expected["blocks_each"] * expected["size_" + which],
              "bytes of library " + which)
        for row in rows:
            names = [frame["function"] for frame in row["stack"]]
            check("epoch_%s_outer" % which in names, "outer of " + which)
            check(not any("epoch_%s_" % other in (name or "")
                          for name in names), "mixed stack %s" % names)
            check("main" in names, "main in %s" % names)
            for frame in row["stack"]:
                if (frame["function"] or "").startswith("epoch_"):
                    check("libepoch_%s" % which in frame["library"],
                          "library of %s" % frame)
    adds_up(report)


@case
def paths_are_those_of_the_time(directory):
    """The writer writes an image down later: another may be there then."""
    runs = 8
    started = [subprocess.Popen(
        [GNOMON, "run", "-q", "-o", os.path.join(directory, "%d.trace" % i),
         "--", program("epochs"), PROGRAMS], stdout=subprocess.DEVNULL)
        for i in range(runs)]
    for child in started:
        equal(child.wait(timeout=60), 0, "status")
    ids = {}
    for i in range(runs):
        for image in info(os.path.join(directory, "%d.trace" % i))["images"]:
            if "libepoch_" in image["path"]:
                ids.setdefault(image["path"], set()).add(image["build_id"])
    equal(len(ids), 2, "libraries: %s" % ids)
    for path, seen in ids.items():
        equal(len(seen), 1, "build-ids of %s" % path)


main()
