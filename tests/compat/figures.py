"""What the traces of a run say: sums over all its processes."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
from gnomon_test import GNOMON, find_key, program, settle, traces_in

BOTTOM, JIT = 0, 11		# enum gt_stop
SUMMED = ("allocations", "frees", "total_bytes", "live_bytes", "live_blocks",
          "dropped", "repaired")
READ_SECONDS = 120


def ask(*arguments):
    """What a command of gnomon prints as JSON; None: nothing readable."""
    done = subprocess.run([GNOMON, *arguments], capture_output=True,
                          timeout=READ_SECONDS)
    if done.returncode not in (0, 3):
        return None
    return json.loads(done.stdout)


class Figures:
    """processes: traces; unpaired: events without their counterpart in
    processes that began with exec; inherited: the same in forked ones, which
    may free what their parent had allocated; whole, jit, stacks:
    allocations whose stack reaches the bottom, ends in code made at run time,
    and all."""

    def __init__(self):
        for key in SUMMED:
            setattr(self, key, 0)
        self.processes = self.unpaired = self.inherited = 0
        self.whole = self.jit = self.stacks = self.peak_bytes = 0
        self.events = self.trace_bytes = 0
        self.ends, self.wrong = {}, []

    def share(self):
        good = self.whole + self.jit
        return good / self.stacks if self.stacks else 1.0

    def add(self, trace):
        info = ask("info", trace, "--json")
        report = ask("report", trace, "--json", "--top", "1")
        name = os.path.basename(trace)
        if info is None or report is None:
            self.wrong.append("%s cannot be read" % name)
            return
        summary = report["summary"]
        forked = find_key(info, "parent_trace") is not None
        for key in SUMMED:
            setattr(self, key, getattr(self, key) + summary[key])
        self.processes += 1
        self.events += info["events"]
        self.trace_bytes += os.path.getsize(trace)
        self.peak_bytes = max(self.peak_bytes, summary["peak_bytes"])
        if forked:
            self.inherited += summary["unpaired"]
        else:
            self.unpaired += summary["unpaired"]
        if info.get("damaged"):
            self.wrong.append("%s is damaged" % name)
        self.plausible(summary, forked, name)
        self.add_stacks(trace)

    def plausible(self, summary, forked, name):
        live, peak = summary["live_bytes"], summary["peak_bytes"]
        if not live <= peak <= summary["total_bytes"]:
            self.wrong.append("%s: live %d, peak %d, total %d" % (
                name, live, peak, summary["total_bytes"]))
        left = summary["allocations"] - summary["frees"]
        if not forked and not summary["unpaired"] and \
                left != summary["live_blocks"]:
            self.wrong.append("%s: %d allocations less frees, %d live" % (
                name, left, summary["live_blocks"]))

    def add_stacks(self, trace):
        with subprocess.Popen([program("trace_dump"), trace],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as dump:
            for line in dump.stdout:
                count, root = line.split(b" ", 2)[:2]
                count, root = int(count), int(root)
                self.stacks += count
                self.ends[root] = self.ends.get(root, 0) + count
        self.whole = self.ends.get(BOTTOM, 0)
        self.jit = self.ends.get(JIT, 0)


def read_traces(directory):
    """The sums over all traces there, once they have ended."""
    settle(directory)
    figures = Figures()
    for trace in traces_in(directory):
        figures.add(trace)
    return figures
