#!/usr/bin/python3
"""make screenshots: pictures of the page of `gnomon serve`, in light and in dark.

usage: screenshots.py FOLDER

The pictures show gnomon itself, with debug symbols: it reads the trace of a
compiler, once for a short report and once for a long one.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "system"))

from browser import browsed  # noqa: E402
from gnomon_test import GNOMON  # noqa: E402
from served import Server  # noqa: E402

SIZE = [1280, 800]
COLOURS = 96
SOURCES = "/usr/src/concordance"
PARTS = ["gnomon", "gnomon-recorder", "libgnomon.so"]
MAX_BYTES = 120000

VIEWS = {
    "overview": "#overview",
    "flame-graph": "#flame?cost=peak",
    "groups": "#groups?by=function&sort=total&spark=1",
    "tree": "#tree?sort=peak",
    "callers": "#callers?of=grow_resize&sort=total",
    "allocations": "#blocks?order=size",
    "sizes": "#histograms",
    "threads": "#threads",
    "memory": "#memory?alive-at=90%25",
    "diff": "#diff?old=before&cost=peak&as=graph",
    "diff-table": "#diff?old=before&cost=peak&by=function",
    "source": "#source?of=query&cost=total&trace=concordance",
    "sql": "#sql?as=chart&q=select end_ns, live_bytes, allocated_bytes from "
           "timeline where steps = 200",
}


def recorded(folder, name, *argv):
    """By a copy: mappings have paths, and those of a tree tell nobody anything."""
    path = os.path.join(folder, name + ".trace")
    for part in PARTS:
        shutil.copy(os.path.join(os.path.dirname(GNOMON), part), folder)
    subprocess.run(["./gnomon", "run", "-q", "--follow", "all", "--free-stacks",
                    "--snapshot-every", "20ms", "-o", path, "--", *argv],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return path


def record(folder, served):
    """The compiler is a child of gcc: its trace is the largest."""
    compiled = os.path.abspath(os.path.join(ROOT, "demo", "concordance.c"))
    first = recorded(folder, "gcc", "gcc", "-O2", "-S", "-o", "/dev/null",
                     compiled)
    largest = max((os.path.join(folder, name) for name in os.listdir(folder)
                   if name.startswith(os.path.basename(first))),
                  key=os.path.getsize)
    os.rename(largest, os.path.join(served, "cc1.trace"))
    for name, more in (("before", ["--by", "stack", "--sort", "peak"]),
                       ("after", ["--by", "site", "--depth-max", "12"])):
        recorded(served, name, "./gnomon", "report", "-q", "-o", "/dev/null",
                 "cc1.trace", *more)
    os.remove(os.path.join(served, "cc1.trace"))
    subprocess.run(["gcc", "-g", "-O2", "-o", "concordance",
                    "-fdebug-prefix-map=%s=%s" % (
                        os.path.dirname(compiled), SOURCES), compiled],
                   cwd=served, check=True)
    texts = sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    for text in texts:
        shutil.copy(text, served)
    recorded(served, "concordance", "./concordance",
             *map(os.path.basename, texts))


def shoot(served, folder):
    runs = {}
    for name, address in VIEWS.items():
        if "trace=" not in address:
            address += ("&" if "?" in address else "?") + "trace=after"
        for scheme in ("light", "dark"):
            runs["%s-%s" % (name, scheme)] = {
                "hash": address, "scheme": scheme, "size": SIZE,
                "list": [["button", "Got it"], ["shot", os.path.join(
                    served, "%s-%s.png" % (name, scheme))]]}
    with Server("--source-root", "%s=%s" % (SOURCES, os.path.join(
            ROOT, "demo")), served) as server:
        browsed("serve.mjs", {"url": server.url, "runs": runs})
    for name in runs:
        path = os.path.join(folder, name + ".png")
        subprocess.run(["pngquant", "--force", "--strip", "--speed", "1",
                        "--nofs", "--output", path, str(COLOURS),
                        os.path.join(served, name + ".png")], check=True)
        size = os.path.getsize(path)
        print("%7d %s" % (size, path))
        if size > MAX_BYTES:
            sys.exit("%s: more than %d bytes" % (path, MAX_BYTES))


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gnomon-") as scratch, \
            tempfile.TemporaryDirectory(prefix="gnomon-") as served:
        record(scratch, served)
        shoot(served, folder)


main()
