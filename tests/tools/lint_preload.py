"""The folders of preload/: what may include what (for lint.py).

	base ◀─┬─ ring ◀──────┬─ sample ◀─ hooks ◀─┬─ api
	       └─ interpose ◀─┘                    ├─ patch      start sees all
	                                           └─ process ◀─ guard

A unit is a .c with the .h beside it. Neither units nor headers include each
other in a circle.
"""

import collections
import glob
import os
import re
import subprocess

FOLDER_MAX = 40     # files

BASE = {"base"}
HOOKS = BASE | {"ring", "interpose", "sample"}
ABOVE = HOOKS | {"hooks"}
MAY_INCLUDE = {
    "base": set(),
    "ring": BASE,
    "interpose": BASE,
    "sample": BASE | {"ring", "interpose"},
    "hooks": HOOKS,
    "api": ABOVE,
    "patch": ABOVE,
    "process": ABOVE,
    "guard": ABOVE | {"process"},
}
MAY_INCLUDE["start"] = set(MAY_INCLUDE)

# What lies in preload/ itself: whoever reads traces includes it.
OUTSIDE = "preload/format.h"

# What a folder's objects want of a folder that it may not include: the function,
# of which folder, and why that is so. The table only gets shorter: an entry that
# is not needed any more is an offence, too.
UPWARD = {
    "producer_thread": ("start", "a thread's first event makes it known, a "
                        "process's first one starts its recorder"),
    "producer_join": ("start", "the same"),
    "guard_note": ("guard", "guard_note.h: hooks tell it of guarded blocks"),
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
        if against_arrows(*edge):
            offend(edge[0], 'may not include "%s": against the arrows between '
                   "preload's folders" % edge[1])
    headers = collections.defaultdict(set)
    for path, name in edges:
        if path.endswith(".h"):
            headers[path].add(name)
    for circle in circles(headers):
        offend(circle[0], "headers include each other: " + " ".join(circle))
    for circle in circles(units_of(edges)):
        offend(circle[0], "units include each other: " + " ".join(circle))


def symbols(objects):
    """Of each object of the library: what it gives, and what it wants."""
    listing = subprocess.run(["nm", "-A", "--"] + objects, check=True,
                             capture_output=True, text=True).stdout
    gives, wants = {}, collections.defaultdict(set)
    for line in listing.splitlines():
        path, entry = line.split(":", 1)
        kind, name = entry.split()[-2:]
        if kind in "Uwv":
            wants[path].add(name)
        elif kind.isupper():
            gives[name] = path
    return gives, wants


def check_objects(root, offend):
    """root: of the objects made of preload/. The linker takes a function from
    wherever it is, whichever header declares it."""
    def folder(path):
        return os.path.relpath(path, root).split("/")[0]

    gives, wants = symbols(sorted(glob.glob(root + "/*/*.o")))
    upward = set()
    for path in sorted(wants):
        for name in sorted(wants[path] & set(gives)):
            other = folder(gives[name])
            if other == folder(path) or \
                    other in MAY_INCLUDE[folder(path)]:
                continue
            if UPWARD.get(name, "")[:1] == (other,):
                upward.add(name)
            else:
                offend(path, "may not want %s of %s/" % (name, other))
    for name in sorted(set(UPWARD) - upward):
        offend(root, "nobody wants %s against the arrows by now: take it out "
               "of lint_preload.py" % name)
