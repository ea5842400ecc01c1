#!/usr/bin/python3
"""A library is closed and another is mapped at its addresses: each stack names
the library that was mapped at the allocation."""

from gnomon_test import *


@case
def libraries_at_the_same_address(directory):
    done = recorded([program("epochs"), PROGRAMS], directory)
    equal(done.status, 0, "status")
    expected = done.expected
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
    """The recorder writes an image down later: another may be there then."""
    runs = 8
    started = [subprocess.Popen(
        [GNOMON, "run", "-q", "-o", os.path.join(directory, "%d.trace" % i),
         "--", program("epochs"), PROGRAMS], stdout=subprocess.DEVNULL)
        for i in range(runs)]
    for child in started:
        equal(child.wait(timeout=RUN_SECONDS), 0, "status")
    ids = {}
    for i in range(runs):
        for image in info(os.path.join(directory, "%d.trace" % i))["images"]:
            if "libepoch_" in image["path"]:
                ids.setdefault(image["path"], set()).add(image["build_id"])
    equal(len(ids), 2, "libraries: %s" % ids)
    for path, seen in ids.items():
        equal(len(seen), 1, "build-ids of %s" % path)


@case
def folders_with_a_line_feed_in_their_name(directory):
    """The kernel's list of mappings writes it as \\012, which may be a name,
    too. The file that is mapped tells which is meant."""
    for name in ("a\nb", "a\\012b", "c\nd", "e\\012f"):
        folder = os.path.join(directory, name)
        os.mkdir(folder)
        for file in ("epochs", "libepoch_a.so", "libepoch_b.so"):
            shutil.copy(os.path.join(PROGRAMS, file), folder)
        done = recorded([os.path.join(folder, "epochs"), folder], folder)
        equal(done.status, 0, "status")
        named = {frame["function"] for row in Report(done.trace).rows
                 for frame in row["stack"]}
        paths = {image["path"] for image in info(done.trace)["images"]}
        for function, file in (("main", "epochs"),
                               ("epoch_a_inner", "libepoch_a.so")):
            check(function in named, "%r: %s" % (name, function))
            check(os.path.join(folder, file) in paths,
                  "%r: %s" % (name, paths))
        said = gnomon("report", "--by", "library", "--full-names",
                      done.trace)
        check("a\nb" not in said.out + said.err, "a line that is none")


main()
