"""bench_callgrind.py: callgrind's instruction counts of a command, by function.

The command itself marks the measured part with callgrind's requests
(CALLGRIND_TOGGLE_COLLECT). The recorder, which the command starts, runs outside
of valgrind.
"""

import glob
import os
import re
import subprocess

import bench_run

# valgrind's options: follow the command, but not into its recorder.
FOLLOW = ("--trace-children=yes", "--trace-children-skip=*/gnomon-recorder")
# "12,345  /root/./unwind/shadow.c:shadow_update [/path/of/object]": only
# functions of gnomon's are told apart.
FUNCTION = re.compile(r"^\s*([\d,]+)\s+(?:\S*/)?((?:unwind|preload|arch)/\S+?)"
                      r":(\S+)")


def annotate(path, inclusive):
    """{"file:function": instructions} of a callgrind.out file. Of an inlined
    function the file is its own, the function the one it was inlined in."""
    listing = subprocess.run(
        ["callgrind_annotate", "--auto=no", "--threshold=100",
         "--show-percs=no", f"--inclusive={'yes' if inclusive else 'no'}",
         path],
        capture_output=True, text=True, check=True).stdout
    functions = {}
    for line in listing.splitlines():
        found = FUNCTION.match(line)
        if found:
            name = f"{found.group(2)}:{found.group(3)}"
            functions[name] = (functions.get(name, 0)
                               + int(found.group(1).replace(",", "")))
    return functions


def count(bench, command, env=None):
    """{"total", "self", "inclusive": by function, "printed"}."""
    pattern = bench.new_path("callgrind.out")
    stdout = bench.new_path("stdout")
    setting = [f"{name}={value}" for name, value in (env or {}).items()]
    # env(1) inside valgrind, which is a script and is not to be recorded
    measured = bench.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no",
         *FOLLOW, f"--callgrind-out-file={pattern}.%p",
         "env", *setting, *command], stdout=stdout)
    # the child that starts the recorder ends before
    found = re.findall(r"^==(\d+)== Collected\s*:\s*(\d+)",
                       measured["stderr"], re.M)
    if not found:
        raise bench_run.Failed(f"callgrind: {measured['stderr'][-400:]}")
    pid, total = found[-1]
    out = f"{pattern}.{pid}"
    with open(stdout, encoding="utf-8") as stream:
        printed = stream.read()
    result = {"total": int(total), "printed": printed,
              "self": annotate(out, False), "inclusive": annotate(out, True)}
    for path in (*glob.glob(f"{pattern}.*"), stdout):
        os.unlink(path)
    return result


def per(functions, times):
    """Instructions for one of `times`, without what rounds to nothing."""
    return {name: round(value / times, 1)
            for name, value in sorted(functions.items(),
                                      key=lambda item: -item[1])
            if value / times >= 0.05}
