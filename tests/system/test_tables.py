#!/usr/bin/python3
"""Unwind tables that are not where they usually are."""

import json

from gnomon_test import *


@case
def no_header(directory):
    """A program without .eh_frame_hdr: all its stacks are whole."""
    done = recorded([program("noheader"), "50"], directory)
    equal(done.status, 0, "status")
    headers = bare(["readelf", "-lW", program("noheader")]).out
    check("GNU_EH_FRAME" not in headers, "the program has the header")
    report = Report(done.trace)
    rows = report.rows_with("tgt_malloc")
    check(rows, "rows of the program")
    deepest = 0
    for row in rows:
        names = [frame["function"] for frame in row["stack"]]
        check("main" in names, "main in %s" % names)
        deepest = max(deepest, names.count("recurse"))
    equal(deepest, done.expected["bottom_recurse_frames"], "depth")


main()
