"""bench_stores.py: where gnomon's code stores for one malloc and one free.

valgrind's lackey lists each instruction and store of bench-pairs, whose stacks
repeat, under libgnomon.so. Stores of the library's code are assigned to the
mapping of their address. Each pair begins with the loop's own store to a word that
the program names; the median pair counts.
"""

import glob
import os
import re
import statistics

import bench_callgrind
import bench_run

PAIRS = 300
WARM_UP = 2000      # 40 stacks, each to be met twice
LINE = 64
LIBRARY = "libgnomon.so"
MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$",
                     re.M)


class Places:
    """Where things are, as bench-pairs tells."""

    def __init__(self, text):
        self.pair = int(re.search(r"^pair (\S+)$", text, re.M).group(1), 16)
        stack = int(re.search(r"^stack (\S+)$", text, re.M).group(1), 16)
        self.code, self.live = [], []
        self.stack = range(0)
        for start, end, access, path in MAPPING.findall(text):
            place = range(int(start, 16), int(end, 16))
            if stack in place:
                self.stack = place
            elif path.endswith(LIBRARY) and "x" in access:
                self.code.append(place)
            elif ".live" in path:
                self.live.append(place)
        if not self.code or not self.live or not self.stack:
            raise bench_run.Failed("stores: places not found")

    def name(self, address):
        if address in self.stack:
            return "stack"
        if any(address in place for place in self.live):
            return "live"
        return "other"

    def is_ours(self, pc):
        return any(pc in place for place in self.code)


def address_of(line):
    return int(line[3:line.index(b",")], 16)


def pairs_of(log, places):
    """For each pair, [(place, address)] of our code's stores."""
    pairs, where = [], b""
    with open(log, "rb") as stream:
        for line in stream:
            kind = line[:2]
            if kind == b"I ":
                where = line
            elif kind in (b" S", b" M"):
                address = address_of(line)
                if address == places.pair:
                    pairs.append([])
                elif pairs and places.is_ours(address_of(where)):
                    pairs[-1].append((places.name(address), address))
    # the last one has no end
    return pairs[WARM_UP:-1]


def count(bench):
    """{place: {"stores", "lines"}} of the median pair."""
    pattern = bench.new_path("lackey")
    trace = bench.new_path("lackey.trace")
    done = bench.run(
        ["valgrind", "--tool=lackey", "--trace-mem=yes",
         *bench_callgrind.FOLLOW, f"--log-file={pattern}.%p",
         "env", f"LD_PRELOAD={bench.library}", f"GNOMON_OUTPUT={trace}",
         bench.tool("bench-pairs"), "1", str(PAIRS), str(WARM_UP)])
    logs = glob.glob(f"{pattern}.*")
    pairs = pairs_of(max(logs, key=os.path.getsize), Places(done["stderr"]))
    for path in logs:
        os.unlink(path)
    if len(pairs) != PAIRS - 1:
        raise bench_run.Failed(f"stores: {len(pairs)} pairs were seen")
    result = {}
    for name in ("stack", "live", "other"):
        stores = [[address for place, address in pair if place == name]
                  for pair in pairs]
        result[name] = {
            "stores": statistics.median(len(pair) for pair in stores),
            "lines": statistics.median(
                len({address // LINE for address in pair})
                for pair in stores)}
    return result
