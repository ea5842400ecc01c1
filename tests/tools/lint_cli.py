"""The folders of cli/: what may include what (for lint.py).

	base ◀─┬─ symbol ◀───────────┬─ model ◀─ stack ◀─ query ◀─ command ◀─ one folder
	       └─ trace ◀─── store ◀─┘                    for each group of commands

No command includes another: what two of them need lies below both. The folders
within a layer have an order of their own, which is free, but has no circles:
neither folders nor headers include each other in one. Only main.c and the list
of commands lie in cli/ itself.
"""

import collections
import os
import re

from lint_preload import FOLDER_MAX, circles

# From below: each may include those named before it; but symbol, and trace and
# what is above it up to the model, know nothing of each other.
LAYERS = ["base", "symbol", "trace", "store", "model", "stack", "query",
          "command"]
APART = [{"symbol", "trace"}, {"symbol", "store"}]
COMMANDS = ["annotate", "cfi", "check", "control", "diff", "export",
            "flamegraph", "graph", "info", "report", "run", "serve", "sql",
            "transform"]
TOP = {"cli/main.c", "cli/commands.h"}

# What a layer, or a folder of it, may include from outside of cli/. The command
# shares the table of recording options, and the layout of a plan, with both
# sides of `run`.
OUTSIDE = {
    "trace": ["preload/format.h"],
    "symbol": ["unwind/"],
    "command": ["preload/base/options.h", "preload/base/signal_list.h"],
    "run": ["preload/base/options.h", "preload/base/patch_format.h"],
}

# Below the commands nothing prints (cli/base/notes.h), nor do formats; what is
# named for a command is that command.
PRINTS = ["cli/base/terminal/log.h", "cli/base/terminal/bar.h"]
SILENT = ["symbol", "trace", "store", "model", "stack", "query", "export",
          "flamegraph", "graph"]

# What a model is made of is known to its folder, and to the unit tests of the
# files in there: all others ask by cli/model/model.h.
STATE = "cli/model/model_state.h"

# The recorder (cli/recorder/recorder.h) has one of each of these, and they
# ask it for each other: one folder, as far as circles go.
RECORDER_PARTS = {
    "cli/recorder/" + name
    for name in "live_blocks dump embed emit memory".split()}


def may_include():
    """Folder: prefixes of what its files may include, as lint.py has them."""
    table = {"cli": ["cli/commands.h", "cli/base/"]}
    for at, layer in enumerate(LAYERS):
        below = [name for name in LAYERS[:at]
                 if {name, layer} not in APART]
        table["cli/" + layer] = ["cli/%s/" % name for name in below + [layer]]
    for command in COMMANDS:
        table["cli/" + command] = ["cli/commands.h"] + [
            "cli/%s/" % name for name in LAYERS + [command]]
    # The store has rows, not events.
    table["cli/store"] = ["cli/base/", "cli/store/", "cli/trace/format/",
                          "cli/trace/decode/cursor.h"]
    for name, others in OUTSIDE.items():
        table["cli/" + name] += others
    return table


def included(path, folders="cli"):
    with open(path, encoding="utf-8") as source:
        return re.findall(r'^\s*#\s*include\s+"((?:%s)/[^"]+)"' % folders,
                          source.read(), re.M)


def folder_of(path):
    folder = os.path.dirname(path)
    return "cli/recorder" if folder in RECORDER_PARTS else folder


def check_places(paths, offend):
    files = collections.Counter(os.path.dirname(path) for path in paths)
    for folder, count in sorted(files.items()):
        if count > FOLDER_MAX:
            offend(folder, "has %d files, more than %d" % (count, FOLDER_MAX))
    known = set(LAYERS + COMMANDS + ["recorder"])
    for path in paths:
        if path not in TOP and path.split("/")[1] not in known:
            offend(path, "lies in none of the folders of cli/")


def check_silence(path, offend):
    if path.split("/")[1] in SILENT and \
            not os.path.basename(path).startswith("cmd_"):
        for name in set(included(path)) & set(PRINTS):
            offend(path, 'may not print, and includes "%s"' % name)


def knows_state(path, paths):
    """Whether a file may include STATE, itself or through others."""
    folder, name = os.path.split(path)
    folders = ("cli/model", "cli/model/index")
    tested = re.fullmatch(r"test_(\w+)\.c", name)
    of = folder.removeprefix("tests/unit/")
    return folder in folders or \
        (of in folders and tested is not None and
         any(of + "/" + tested[1] + end in paths for end in (".c", ".h")))


def check_state(paths, offend):
    includes = {path: included(path, "cli|tests|bench") for path in paths}
    reach, new = {STATE}, True
    while new:
        new = {path for path in set(paths) - reach
               if reach & set(includes[path])}
        reach |= new
    for path in sorted(reach - {STATE}):
        if not knows_state(path, paths):
            offend(path, 'may not include "%s", not even through others' %
                   STATE)


def check(paths, offend):
    """paths: of all C files. offend: called with where and what."""
    check_state(paths, offend)
    paths = [path for path in paths if path.startswith("cli/")]
    check_places(paths, offend)
    headers, folders = collections.defaultdict(set), \
        collections.defaultdict(set)
    for path in paths:
        check_silence(path, offend)
        for name in included(path):
            if path.endswith(".h"):
                headers[path].add(name)
            if folder_of(path) != folder_of(name):
                folders[folder_of(path)].add(folder_of(name))
    for circle in circles(headers):
        offend(circle[0], "headers include each other: " + " ".join(circle))
    for circle in circles(folders):
        offend(circle[0], "folders include each other: " + " ".join(circle))
