#!/usr/bin/python3
# TIMEOUT: 120
"""A port: the unwinder as a library of its own, in the guide's example, which is
plain C without unwind tables where the compiler makes none."""

from port import *

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
EXAMPLE = os.path.join(ROOT, "docs", "unwind_example.c")
ARCHIVE = os.path.join(TARGET, "libgnomon-unwind.a")
WAYS = {
    "archive": [ARCHIVE],
    "static": ["-static", "-Wl,--eh-frame-hdr", ARCHIVE],
    "shared": ["-L", TARGET, "-lgnomon-unwind", "-Wl,-rpath," + TARGET],
}


def example(directory, flags):
    output = os.path.join(directory, "example")
    done = bare([*os.environ.get("CC", "cc").split(), "-g", "-O1",
                 "-fno-optimize-sibling-calls", "-no-pie",
                 "-I", os.path.join(ROOT, "library"), "-o", output, EXAMPLE,
                 *flags])
    equal((done.status, done.err), (0, ""), "compiler")
    return output


def linked(way):
    def stacks_are_complete(directory):
        done = bare([example(directory, WAYS[way])])
        equal(done.status, 0, "status, stderr: " + done.err)
        lines = done.out.splitlines()
        equal([line.split(":")[0] for line in lines],
              ["1000 calls, complete", "500 calls, complete"], "stacks")
        equal(len(lines[1].split()) - len(lines[0].split()), 1,
              "frames more of the deeper one: " + done.out)
    stacks_are_complete.__name__ += "_" + way
    return stacks_are_complete


@case
def hidden_names_are_its_own(directory):
    """A program may have functions of the same names."""
    listing = bare(["readelf", "-sW", ARCHIVE]).out
    names = [line.split()[-1] for line in listing.splitlines()
             if " GLOBAL " in line and " UND " not in line]
    strange = [name for name in names if not name.startswith(
        ("gu_", "entered_gu_", "gnomon_unwind_"))]
    equal(strange, [], "global names")


for one in WAYS:
    case(linked(one))
main()
