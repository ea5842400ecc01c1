#!/usr/bin/python3
"""`gnomon export --format firefox`: compared with the published description of
the format, and read by profiler-cli, which is the Firefox Profiler's own code
without its pages."""

import contextlib
import functools
import itertools
import json
import os
import subprocess
import tempfile

from browser import UI, need_npm
from exported import (FILTERS, ODD_NAMES, PROGRAMS, SUMMARY, being_written,
                      exported, summary, trace, with_nothing)
from gnomon_test import (GNOMON, RUN_SECONDS, bare, case, check, environment,
                         equal, gnomon, main, need, program, recorded,
                         wait_for)

READER = os.path.join(UI, "node_modules", "@firefox-devtools", "profiler-cli",
                      "dist", "profiler-cli.js")

# In the order of the threads behind those of events.
COSTS = ("live", "peak", "count", "temporary")
NAMES = ("live bytes", "bytes at the peak", "allocations",
         "temporary allocations")

TABLES = {
    "stackTable": ("frame", "prefix"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory",
                   "func", "nativeSymbol", "innerWindowID", "line",
                   "column"),
    "funcTable": ("name", "isJS", "relevantForJS", "resource", "source",
                  "lineNumber", "columnNumber"),
    "resourceTable": ("lib", "name", "host", "type"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "sources": ("id", "filename", "startLine", "startColumn",
                "sourceMapURL"),
}
MARKERS = ("data", "name", "startTime", "endTime", "phase", "category")

# What refers to what: table, column, the table, what is there instead.
REFERENCES = (
    ("stackTable", "frame", "frameTable", ()),
    ("frameTable", "func", "funcTable", ()),
    ("funcTable", "resource", "resourceTable", (-1,)),
    ("funcTable", "source", "sources", (None,)),
    ("funcTable", "name", "stringArray", ()),
    ("resourceTable", "name", "stringArray", ()),
    ("resourceTable", "lib", "libs", ()),
    ("sources", "filename", "stringArray", ()),
)


# ---- the description ----

def is_table(table, columns, what):
    for column in columns:
        equal(len(table[column]), table["length"], "%s: %s" % (what, column))


def is_shared(document):
    shared = document["shared"]
    for name, columns in TABLES.items():
        is_table(shared[name], columns, name)
        equal(sorted(shared[name]), sorted(columns + ("length",)), name)
    rows = {name: shared[name]["length"] for name in TABLES}
    rows["stringArray"] = len(shared["stringArray"])
    rows["libs"] = len(document["libs"])
    for name, column, other, instead in REFERENCES:
        for value in shared[name][column]:
            check(value in instead or 0 <= value < rows[other],
                  "%s.%s: %s of %d" % (name, column, value, rows[other]))
    for i, prefix in enumerate(shared["stackTable"]["prefix"]):
        check(prefix is None or 0 <= prefix < i,
              "stack %d is within %s" % (i, prefix))
    categories = document["meta"]["categories"]
    equal([one["subcategories"][0] for one in categories],
          ["Other"] * len(categories), "subcategories")
    equal(categories[0]["color"], "grey", "the default category")
    check(all(0 <= one < len(categories)
              for one in shared["frameTable"]["category"]), "categories")
    is_inlined(shared)


def is_inlined(shared):
    """What is inlined is around nothing but a deeper one of its address."""
    stacks, frames = shared["stackTable"], shared["frameTable"]
    for frame, prefix in zip(stacks["frame"], stacks["prefix"]):
        depth = frames["inlineDepth"][frame]
        if depth == 0:
            continue
        outer = stacks["frame"][prefix]
        equal(frames["inlineDepth"][outer], depth - 1, "the depth around")
        equal(frames["address"][outer], frames["address"][frame],
              "the address around")


def is_sampled(table, document, columns=()):
    """Samples, or native allocations: in order, with stacks that are there."""
    columns = ("time", "stack") + columns
    is_table(table, columns, "samples")
    times = table["time"]
    check(all(a <= b for a, b in zip(times, times[1:])), "not in order")
    if times:
        check(times[0] >= 0, "before the start")
        check(times[-1] < document["meta"]["profilingEndTime"],
              "behind the end, where readers do not look")
    stacks = document["shared"]["stackTable"]["length"]
    check(all(stack is None or 0 <= stack < stacks
              for stack in table["stack"]), "stacks")


def is_balanced(table):
    """Each free is one of an allocation, of as many bytes, and behind it."""
    live = {}
    for address, weight, stack in zip(table["memoryAddress"],
                                      table["weight"], table["stack"]):
        check(weight != 0, "nothing")
        if weight > 0:
            check(address not in live, "%d is there twice" % address)
            live[address] = weight
        else:
            equal(live.pop(address, None), -weight, "bytes of a free")
            equal(stack, None, "who freed")
    return sum(live.values())


def is_profile(document):
    """Version 63, as far as it is in the file. Returns its threads: those of
    events, then one by cost."""
    meta = document["meta"]
    equal(meta["preprocessedProfileVersion"], 63, "version")
    is_shared(document)
    for thread in document["threads"]:
        is_table(thread["markers"], MARKERS, "markers")
        weighted = thread["samples"]["weight"] is not None
        is_sampled(thread["samples"], document,
                   ("weight",) if weighted else ())
        if "nativeAllocations" in thread:
            table = thread["nativeAllocations"]
            equal(table["weightType"], "bytes", "type")
            is_sampled(table, document, ("weight",))
        equal(thread["pid"], document["threads"][0]["pid"], "pid")
    equal([one["isMainThread"] for one in document["threads"]],
          [True] + [False] * (len(document["threads"]) - 1), "main threads")
    count = len(document["threads"]) - len(COSTS)
    events, rest = document["threads"][:count], document["threads"][count:]
    for thread in events:
        is_table(thread["nativeAllocations"], ("memoryAddress", "threadId"),
                 "balanced")
    equal(tuple(one["name"] for one in rest), NAMES, "names")
    for counter in document["counters"]:
        samples = counter["samples"]
        is_table(samples, ("time", "count"), counter["name"])
        equal(samples["count"][0], 0, "which readers take for 0")
        check(all(a <= b for a, b in zip(samples["time"],
                                         samples["time"][1:])), "times")
        check(min(itertools.accumulate(samples["count"])) >= 0, "below 0")
    return events, dict(zip(COSTS, rest))


# ---- sums ----

def written(path, folder, *words, name="a.json", **more):
    exported(path, "firefox", *words, output=os.path.join(folder, name),
             **more)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def sums(document):
    """By cost."""
    events, rest = is_profile(document)
    result = {"total": 0}
    live = 0
    for thread in events:
        table = thread["nativeAllocations"]
        result["total"] += sum(one for one in table["weight"] if one > 0)
        live += is_balanced(table)
    for cost in ("live", "peak"):
        result[cost] = sum(rest[cost]["nativeAllocations"]["weight"])
    for cost in ("count", "temporary"):
        result[cost] = sum(rest[cost]["samples"]["weight"])
    equal(live, result["live"], "what is not freed")
    return result


def exact_to(document):
    """What it says of the times in it."""
    return next(one["value"] for one in document["meta"]["extra"][0]["entries"]
                if one["label"].startswith("Resolution"))


def wanted(said):
    return {cost: said[SUMMARY[cost]] for cost in (*COSTS, "total")}


@functools.lru_cache(None)
def said_of(name):
    return summary(trace(name))


# ---- the reader ----

class Reader:
    """profiler-cli with a profile; what it prints as JSON."""

    def __init__(self, path):
        self.path = path
        # Not in the test's own, whose name is too long for a socket.
        self.folder = tempfile.TemporaryDirectory(prefix="gnomon-")
        self.env = environment(PROFILER_CLI_SESSION_DIR=self.folder.name,
                               HOME=self.folder.name,
                               PROFILER_CLI_NO_SYMBOLICATE=1)
        self.daemon = None

    def __enter__(self):
        need("node")
        need_npm("@firefox-devtools/profiler-cli")
        # Its own `load` does not wait for a slow machine, and a command that
        # comes before it listens takes it for dead.
        self.daemon = subprocess.Popen(
            ["node", READER, "--daemon", self.path, "--session", "a"],
            env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: "Profile loaded" in self.log() or
                 self.daemon.poll() is not None, RUN_SECONDS)
        if "Profile loaded" not in self.log():
            said, ended = self.log(), self.daemon.poll()
            self.__exit__()
            check(False, "not loaded, status %s: %s" % (ended, said[-800:]))
        return self

    def __exit__(self, *_):
        self.daemon.kill()
        self.daemon.wait(timeout=RUN_SECONDS)
        self.folder.cleanup()

    def log(self):
        try:
            with open(os.path.join(self.folder.name, "a.log"),
                      encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def run(self, *words):
        return bare(["node", READER, *words, "--session", "a"], self.env)

    def ask(self, *words):
        done = self.run(*words, "--json")
        check(done.status == 0, "%s: %s" % (words, done.err or done.out))
        return json.loads(done.out)

    def functions(self, thread, strategy):
        """What it shows of each function: name, its own, with what it
        called."""
        said = self.ask("thread", "functions", "--thread", "t-%d" % thread,
                        "--strategy", strategy, "--limit", "0")
        equal(said["callTreeSummaryStrategy"], strategy, "what it shows")
        return said["functions"]

    def own(self, thread, strategy):
        return sum(one["selfSamples"]
                   for one in self.functions(thread, strategy))


def read(reader):
    """By cost, what the reader makes of a profile with one thread."""
    live = reader.own(0, "native-retained-allocations")
    equal(reader.own(1, "native-allocations"), live, "live bytes")
    return {"live": live, "total": reader.own(0, "native-allocations"),
            "peak": reader.own(2, "native-allocations"),
            "count": reader.own(3, "timing"),
            "temporary": reader.own(4, "timing")}


# ---- cases ----

@case
def totals_are_those_of_the_report(directory):
    for name in PROGRAMS:
        document = written(trace(name), directory)
        equal(sums(document), wanted(said_of(name)), name)
        check(exact_to(document)[-2:] in ("ns", "us", "ms"),
              exact_to(document))
        with Reader(os.path.join(directory, "a.json")) as reader:
            equal(read(reader), wanted(said_of(name)),
                  name + ", as profiler-cli has it")
            equal(reader.ask("thread", "info")["name"], NAMES[0], "selected")


@case
def filters_hold(directory):
    for name, words in FILTERS:
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        document = written(trace(name), directory, *words)
        equal(sums(document), wanted(said), "%s %s" % (name, words))


@case
def the_cost_is_shown_first(directory):
    for shown, cost in enumerate(("total",) + COSTS):
        got = written(trace("many_names"), directory, "--cost", cost)
        equal(got["meta"]["initialSelectedThreads"],
              [0 if cost == "total" else shown], cost)


@case
def counters_are_what_is_live(directory):
    for name in ("python3", "many_names"):
        document = written(trace(name), directory)
        said = said_of(name)
        counters = {one["name"]: one for one in document["counters"]}
        equal(sorted(counters), ["RSS", "live"], "counters")
        live = list(itertools.accumulate(
            counters["live"]["samples"]["count"]))
        equal(live[-1], said["live_bytes"], name + ": at the end")
        equal(max(live), said["peak_bytes"], name + ": at the peak")
        at = counters["live"]["samples"]["time"][live.index(max(live))]
        check(abs(at - said["peak_time_ns"] / 1e6) < 1e-3,
              "%s: the peak is at %s" % (name, at))
        check(max(itertools.accumulate(counters["RSS"]["samples"]["count"]))
              > 1 << 20, "resident memory")
        with Reader(os.path.join(directory, "a.json")) as reader:
            shown = reader.ask("counter", "list")["counters"]
            equal([one["label"] for one in shown],
                  ["Live heap", "Resident memory"], "counters")


@case
def a_range_has_what_was_live_then(directory):
    """What the reader shows from the start to a moment is what was live."""
    document = written(trace("many_names"), directory)
    table = document["threads"][0]["nativeAllocations"]
    with Reader(os.path.join(directory, "a.json")) as reader:
        for share in (0.3, 0.6, 0.9):
            at = table["time"][int(table["length"] * share)]
            said = summary(trace("many_names"), "--alive-at",
                           "%dns" % round(at * 1e6))
            # rows at the end of a range are not in it
            reader.ask("zoom", "push", "0,%.9f" % ((at + 1e-6) / 1e3))
            equal(reader.own(0, "native-retained-allocations"),
                  said["live_bytes"], "at %s ms" % at)
            reader.ask("zoom", "clear")


@case
def threads_are_told_apart(directory):
    document = written(trace("many_names"), directory, "--threads")
    equal(sums(document), wanted(said_of("many_names")), "sums")
    report = json.loads(gnomon("report", trace("many_names"), "--json", "--by",
                               "thread", "--top", "0").out)
    wants = {row["tid"]: row["total_bytes"] for row in report["rows"]}
    events, _ = is_profile(document)
    equal({one["tid"]: sum(weight for weight in
                           one["nativeAllocations"]["weight"] if weight > 0)
           for one in events}, wants, "bytes by thread")
    for one in events:
        equal(set(one["nativeAllocations"]["threadId"]), {one["tid"]}, "tid")
    with Reader(os.path.join(directory, "a.json")) as reader:
        for i, one in enumerate(events):
            equal(reader.own(i, "native-allocations"), wants[one["tid"]],
                  "thread %d" % one["tid"])


@case
def names_survive(directory):
    document = written(trace("many_names"), directory, "--full-names")
    with Reader(os.path.join(directory, "a.json")) as reader:
        names = [one["name"] for one in
                 reader.functions(0, "native-allocations")]
    for name in ODD_NAMES:
        check(name in names, "%s is not among %s" % (name, sorted(names)))
    shared = document["shared"]
    texts, funcs, frames = (shared["stringArray"], shared["funcTable"],
                            shared["frameTable"])
    check(max(map(len, texts)) > 10000, "the long name is shorter")
    inlined = [texts[funcs["name"][func]] for func, depth in
               zip(frames["func"], frames["inlineDepth"]) if depth > 0]
    check("innermost" in inlined and "middle" in inlined, inlined)
    func = [texts[name] for name in funcs["name"]].index("innermost")
    file = texts[shared["sources"]["filename"][funcs["source"][func]]]
    check(file.endswith("many_names.cc"), file)
    check(frames["line"][frames["func"].index(func)] > 20, "its line")


@case
def libraries_are_known_by_their_ids(directory):
    document = written(trace("many_names"), directory)
    own = next(one for one in document["libs"] if one["name"] == "many_names")
    notes = bare(["readelf", "-n", program("many_names")]).out
    wants = notes.split("Build ID:")[1].split()[0]
    equal(own["codeId"], wants, "build-id")
    guid = bytes.fromhex(wants[:32])
    equal(own["breakpadId"], (guid[3::-1] + guid[5:3:-1] + guid[7:5:-1] +
                              guid[8:]).hex().upper() + "0", "Breakpad's")
    shared = document["shared"]
    names = [shared["stringArray"][one] for one in shared["funcTable"]["name"]]
    frame = shared["frameTable"]["func"].index(names.index("work(int)"))
    said = bare(["addr2line", "-f", "-C", "-e", program("many_names"),
                 hex(shared["frameTable"]["address"][frame])]).out
    check(said.startswith("work(int)"), said)


@case
def many_blocks_are_told_together(directory):
    """The file does not grow with the blocks."""
    path = recorded([program("churn"), "400000"], directory).trace
    said = summary(path)
    check(said["allocations"] > 1 << 18, "too few: %s" % said["allocations"])
    document = written(path, directory)
    equal(sums(document), wanted(said), "sums")
    check(document["threads"][0]["nativeAllocations"]["length"] <= 1 << 18,
          "too many rows")
    check(exact_to(document)[-2:] in ("us", "ms"), exact_to(document))


@case
def without_events_sums_are_the_same(directory):
    """Of blocks that were left out, only sums are known; a pipe cannot be
    read a second time."""
    small = os.path.join(directory, "small.trace")
    gnomon("strip", trace("many_names"), "-o", small, "--lifetime", "1m")
    equal(sums(written(small, directory)), wanted(said_of("many_names")),
          "stripped")
    check(exact_to(written(small, directory)).startswith("none"), "times")
    output = os.path.join(directory, "pipe.json")
    done = bare(["sh", "-c", 'cat "$1" | "$2" export --format firefox '
                 '/dev/stdin -o "$3"', "sh", trace("many_names"), GNOMON,
                 output])
    equal(done.status, 0, done.err)
    with open(output, encoding="utf-8") as file:
        equal(sums(json.load(file)), wanted(said_of("many_names")), "a pipe")


@case
def traces_with_nothing_in_them(directory):
    for path, words in with_nothing(directory):
        document = written(path, directory, *words, statuses=(0, 3))
        equal(set(sums(document).values()), {0}, words)
        with Reader(os.path.join(directory, "a.json")) as reader:
            equal(len(reader.ask("thread", "list")["threads"]), 5, "threads")


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as path:
        document = written(path, directory)
        said = summary(path)
        check(said["allocations"] > 0, "it has allocated")
        equal(sums(document), wanted(said), "so far")


main()
