#!/usr/bin/python3
"""How much memory tables take, and images whose tables are not where they
usually are."""

import glob

from gnomon_test import *

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
LIBRARIES_MAX = 150


def table_ratio(what, files):
    """Our tables' bytes by those of the .eh_frame sections, when every FDE of
    all the files was looked up in one process."""
    done = bare([program("rule_dump"), "-c", "-s"] + sorted(files))
    equal(done.status, 0, "rule_dump's status: " + done.err)
    words = done.out.split()
    ratio = int(words[3]) / int(words[5])
    print("# %s: %s, ratio %.3f" % (what, done.out.strip(), ratio))
    return ratio


def mapped_files(path):
    """What a process of this program maps; our library, too."""
    done = bare(["ldd", path])
    equal(done.status, 0, "ldd " + path)
    files = set(os.path.realpath(word) for word in done.out.split()
                if word.startswith("/"))
    return files | {os.path.realpath(path), LIBRARY}


def compiler_proper():
    """The C++ compiler's largest part."""
    return bare(["g++", "-print-prog-name=cc1plus"]).out.strip()


@case
def memory_of_all_libraries(directory):
    files = set(os.path.realpath(path)
                for path in glob.glob(LIBRARIES + "*.so*"))
    files = sorted(f for f in files if open(f, "rb").read(4) == b"\x7fELF")
    ratio = table_ratio("%d libraries" % len(files[:LIBRARIES_MAX]),
                        files[:LIBRARIES_MAX])
    check(ratio <= 1, "tables take more than what they come from")


@case
def memory_of_processes(directory):
    for path in ("/usr/bin/true", "/usr/bin/jq", "/usr/bin/python3",
                 compiler_proper()):
        if not os.path.exists(path):
            raise Skip("no " + path)
        ratio = table_ratio("a process of " + path, mapped_files(path))
        check(ratio <= 1, "tables take more than what they come from")


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
