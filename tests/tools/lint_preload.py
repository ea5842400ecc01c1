"""The folders of preload/: what may include what (for lint.py).

	base ◀─ ring ◀─ sample ◀─┬─ hooks ◀─┬─ process
	  ▲                      │          ├─ patch       start sees all
	  └─── interpose ◀───────┴─ api     └─ guard

A unit is a .c with the .h beside it. Neither units nor headers include each
other in a circle.
"""

import collections
import os
import re

FOLDER_MAX = 40     # files

BASE = {"base"}
SAMPLE = BASE | {"ring"}
HOOKS = SAMPLE | {"sample", "interpose"}
ABOVE = HOOKS | {"hooks"}
MAY_INCLUDE = {
    "base": set(),
    "ring": BASE,
    "interpose": BASE,
    "sample": SAMPLE,
    "hooks": HOOKS,
    "api": HOOKS,
    "process": ABOVE,
    "patch": ABOVE,
    "guard": ABOVE,
}
MAY_INCLUDE["start"] = set(MAY_INCLUDE)

# What lies in preload/ itself: whoever reads traces includes it.
OUTSIDE = "preload/format.h"

# (file, what it includes): why that is so although it is against the arrows,
# or closes a circle of units. The table only gets shorter: an entry that is
# not needed any more is an offence, too.
EXCEPTIONS = {
    ("preload/api/api.h", "preload/hooks/hooks.h"):
        "a pool's block is recorded as a hook's is, inline",
    ("preload/process/ending.c", "preload/guard/guard_end.h"):
        "a process's last steps are one row, the look at its guarded blocks "
        "among them",
    ("preload/ring/arenas.c", "preload/interpose/real.h"):
        "the ring's slow branch asks the real mallinfo2 for the recorder",
    ("preload/ring/ring.c", "preload/sample/aside.h"):
        "a thread whose ring has no room looks whether anything is recorded",
    ("preload/sample/aside.c", "preload/interpose/real.h"):
        "who may come back to hooks takes a closer look to choose",
    ("preload/sample/aside.c", "preload/interpose/patched_code.h"):
        "the same",
    # units
    ("preload/ring/arenas.c", "preload/ring/ring.h"):
        "arenas.h is a part of the layout of shared.h; its functions work on "
        "all of that",
    ("preload/ring/gate.c", "preload/ring/ring_shared.h"):
        "gate.h is a part of the layout of shared.h, likewise",
    ("preload/ring/ask.c", "preload/ring/recorder.h"):
        "ask.h is a part of struct recorder; its functions work on all of "
        "that",
}


def included(path):
    with open(path, encoding="utf-8") as source:
        return re.findall(r'^\s*#\s*include\s+"(preload/[^"]+)"',
                          source.read(), re.M)


def circles(graph):
    """Strongly connected parts of more than one node (Tarjan)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def unit(path):
    return os.path.splitext(path)[0]


def units_of(edges):
    graph = collections.defaultdict(set)
    for path, name in edges:
        if unit(path) != unit(name):
            graph[unit(path)].add(unit(name))
    return graph


def against_arrows(path, name):
    if OUTSIDE in (path, name):
        return path == OUTSIDE
    folder, other = path.split("/")[1], name.split("/")[1]
    return other != folder and other not in MAY_INCLUDE.get(folder, ())


def closes_circle(edge, edges):
    """Whether it does so without the help of other exceptions."""
    graph = units_of([other for other in edges if other == edge or
                      other not in EXCEPTIONS])
    return any(unit(edge[0]) in circle and unit(edge[1]) in circle
               for circle in circles(graph))


def check(paths, offend):
    """paths: of all C files. offend: called with where and what."""
    paths = [path for path in paths if path.startswith("preload/")]
    files = collections.Counter(os.path.dirname(path) for path in paths)
    for folder, count in sorted(files.items()):
        if count > FOLDER_MAX:
            offend(folder, "has %d files, more than %d" % (count, FOLDER_MAX))
    for path in paths:
        if path != OUTSIDE and (path.count("/") != 2 or
                                path.split("/")[1] not in MAY_INCLUDE):
            offend(path, "lies in none of preload's folders")
    edges = sorted({(path, name) for path in paths for name in included(path)})
    for edge in edges:
        if against_arrows(*edge) and edge not in EXCEPTIONS:
            offend(edge[0], 'may not include "%s": against the arrows between '
                   "preload's folders" % edge[1])
    headers = collections.defaultdict(set)
    for path, name in edges:
        if path.endswith(".h"):
            headers[path].add(name)
    for circle in circles(headers):
        offend(circle[0], "headers include each other: " + " ".join(circle))
    for circle in circles(units_of([edge for edge in edges
                                    if edge not in EXCEPTIONS])):
        offend(circle[0], "units include each other: " + " ".join(circle))
    for edge in sorted(EXCEPTIONS):
        if edge not in edges or not (against_arrows(*edge) or
                                     closes_circle(edge, edges)):
            offend(edge[0], 'may include "%s" by now, or does not: take it '
                   "out of lint_preload.py" % edge[1])
