"""Shared by the tests of other architectures: programs built by Debian's cross
compilers, and traces of them. No target code runs: these helpers write the
traces as a recorder there would."""

import os
import re
import subprocess

from gnomon_test import RUN_SECONDS, check, equal, need, program
from symbolized import run

# As a trace calls it: the prefix of its tools, word_bytes, byte_order.
TARGETS = {
    "aarch64": ("aarch64-linux-gnu", 8, "little"),
    "arm": ("arm-linux-gnueabihf", 4, "little"),
    "mips64el": ("mips64el-linux-gnuabi64", 8, "little"),
    "mips64": ("mips64-linux-gnuabi64", 8, "big"),
}

# Where a loader may have put program and libc: what is 32 bits wide has no
# more; MIPS has its libraries far above 4 GiB.
BIASES = {4: (0x400000, 0xf7000000), 8: (0x5500000000, 0xfff2000000)}


def tool(target, name):
    """A cross tool; without it, the case is left out."""
    path = "%s-%s" % (TARGETS[target][0], name)
    need(path)
    return path


def libc(target):
    return "/usr/%s/lib/libc.so.6" % TARGETS[target][0]


def functions(target, path, *options):
    """Start and size by name; of Thumb's functions without the mark of that."""
    out = run([tool(target, "readelf"), "-sW", *options, path])
    found = {}
    for start, size, name in re.findall(
            r": ([0-9a-f]{8,16}) +(\d+) FUNC .* ([\w.@$]+)$", out, re.M):
        value = int(start, 16)
        if target == "arm":
            value &= ~1
        if value and int(size):
            found[name.split("@")[0]] = value, int(size)
    return found


def id_of(target, path):
    return re.search(r"Build ID: ([0-9a-f]+)",
                     run([tool(target, "readelf"), "-n", path]))[1]


def calls_in(target, path, function):
    """Where calls in a function return to, by the cross objdump."""
    start, size = functions(target, path)[function]
    out = run([tool(target, "objdump"), "-d", "--no-show-raw-insn",
               "--start-address=%#x" % start,
               "--stop-address=%#x" % (start + size), path])
    places = [(int(at, 16), word) for at, word in
              re.findall(r"^ +([0-9a-f]+):\s+(\S+)", out, re.M)]
    skipped = 2 if target.startswith("mips") else 1
    return [places[i + skipped][0] for i, (_, word) in
            enumerate(places[:-skipped])
            if word in ("bl", "blx", "jalr", "jal", "bal", "blr")]


class Trace:
    """A trace of a foreign process, in a script for tests/tools."""

    def __init__(self, target, **info):
        _, word, order = TARGETS[target]
        facts = {"arch": target, "word_bytes": word, "byte_order": order,
                 "pid": 4000, "exe": "/opt/program", "page_size": 4096,
                 "start_realtime_ns": 1, **info}
        self.biases = iter(BIASES[word])
        self.lines = ["new"] + ["info %s %s" % one for one in facts.items()]
        self.images = 0
        self.nodes = 20

    def file(self, path, build_id, size=0x800000):
        """A mapped file; returns its bias."""
        bias = next(self.biases)
        self.lines.append("%s %d %#x %#x %s %s" % (
            "file" if build_id else "library", self.images, bias, size, path,
            build_id or ""))
        self.images += 1
        return bias

    def stack(self, addresses):
        """The outermost first; returns its context."""
        parent = 0
        for address in addresses:
            self.lines.append("node %d %d %#x" % (self.nodes, parent,
                                                  address))
            parent = self.nodes
            self.nodes += 1
        return parent

    def write(self, path, blocks):
        """blocks: (context, size), which stay."""
        self.lines += ["thread 0 4000 1 1 main"]
        for i, (context, size) in enumerate(blocks):
            self.lines.append("alloc 0 %d %#x %d %d" % (
                10 + i, 0x10000 + 0x1000 * i, size, context))
        self.lines += ["sync 1000", "write " + path]
        done = subprocess.run([program("trace_script")], text=True,
                              input="\n".join(self.lines) + "\n",
                              capture_output=True, timeout=RUN_SECONDS)
        equal((done.returncode, done.stderr), (0, ""), "trace_script")
        check(os.path.getsize(path), "no trace")
        return path
