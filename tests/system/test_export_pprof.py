#!/usr/bin/python3
"""`gnomon export --format pprof`, read back by `go tool pprof` (of each
installed Go) and by protoc."""

import collections
import functools
import gzip
import json
import os
import re
import shutil

from exported import (PROGRAMS, being_written, with_nothing)
from exported import directory as shared
from exported import exported, summary, trace
from gnomon_test import bare, case, check, equal, gnomon, main, recorded
from pprof_profile import (TYPES, checked, decoded, gos, one, pprof, raw, sums,
                           top_total, totals)

KEYS = ("allocations", "total_bytes", "live_blocks", "live_bytes")
PEAK = KEYS[:2] + ("peak_blocks", "peak_bytes")
FILTERS = (("sqlite3", ("--function", "sqlite3_step")),
           ("python3", ("--size-min", "1k")),
           ("cc1plus", ("--alive-at", "50%")),
           ("many_names", ("--lifetime-max", "10s")))
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "programs")


@functools.lru_cache(None)
def plain(name):
    """The export of a program without options, made once."""
    return exported(trace(name), "pprof",
                    output=os.path.join(shared.name, name + ".pb.gz"))


@functools.lru_cache(None)
def said_of(name):
    return summary(trace(name))


# ---- cases ----

@case
def totals_are_those_of_the_report(directory):
    for name in PROGRAMS:
        said = said_of(name)
        got = raw(plain(name))
        equal((got.types, got.default), (list(TYPES), ["inuse_space"]),
              name + ": types")
        equal(sums(got), [said[key] for key in KEYS], name)
        path = exported(trace(name), "pprof", "--cost", "peak",
                        output=os.path.join(directory, "peak"))
        got = raw(path)
        equal(sums(got), [said[key] for key in PEAK], name + " at the peak")
        check(re.search(r"^Comment: inuse_\* are live at the peak, ",
                        got.text, re.M), "the peak is said")


@case
def each_type_in_tables(directory):
    """What people look at, by each Go."""
    said, path = said_of("sqlite3"), plain("sqlite3")
    for go in gos():
        for kind, key in zip(TYPES, KEYS):
            equal(top_total(path, "-sample_index=" + kind, go=go), said[key],
                  "%s of %s" % (kind, go))
        equal(totals(path, go=go), [said[key] for key in KEYS], go)
        equal(top_total(path, go=go), said["live_bytes"], "by default")
        check(" sqlite3" in pprof("-traces", path, go=go), "stacks")


@case
def filters_hold(directory):
    for name, words in FILTERS:
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        path = exported(trace(name), "pprof", *words,
                        output=os.path.join(directory, name))
        got = raw(path)
        equal(sums(got), [said[key] for key in KEYS], "%s %s" % (name, words))
        check("Comment: filters: " + " ".join(words) in got.text,
              "filters are said")


@case
def the_cost_is_what_is_shown_first(directory):
    said = said_of("many_names")
    for cost, default, key in (
            ("live", "inuse_space", "live_bytes"),
            ("peak", "inuse_space", "peak_bytes"),
            ("total", "alloc_space", "total_bytes"),
            ("count", "alloc_objects", "allocations"),
            ("temporary", "temporary_objects", "temporary")):
        path = exported(trace("many_names"), "pprof", "--cost", cost,
                        output=os.path.join(directory, cost))
        equal(raw(path).default, [default], cost)
        equal(top_total(path), said[key], cost)
        checked(decoded(path), raw(path).types)
    equal(totals(path), [said[key] for key in KEYS + ("temporary",)],
          "with temporary ones")


@case
def it_is_as_the_format_demands(directory):
    for name in PROGRAMS:
        profile = decoded(plain(name))
        texts = checked(profile)
        said = said_of(name)
        equal(texts[one(profile["mapping"][0], "filename")], said["program"],
              "the first mapping")
        notes = bare(["readelf", "-n", said["program"]]).out
        equal([texts[one(profile["mapping"][0], "build_id")]],
              re.findall(r"Build ID: (\w+)", notes) or [""], "its build-id")
        period, = profile["period_type"]
        equal((texts[one(period, "type")], texts[one(period, "unit")],
               one(profile, "period")), ("space", "bytes", 1), "the period")
        equal(one(profile, "duration_nanos"), said["duration_ns"], "duration")
        started = os.stat(trace(name)).st_mtime - one(profile,
                                                      "time_nanos") / 1e9
        check(0 < started < 300, "it began %.1f s before" % started)
        check("command: " + said["command"] in [
            texts[number] for number in profile["comment"]], "the command")
        check(texts[one(profile, "drop_frames")], "frames to leave out")


@case
def names_survive(directory):
    path = exported(trace("many_names"), "pprof", "--full-names",
                    output=os.path.join(directory, "out"))
    profile = decoded(path)
    texts = checked(profile)
    names = {texts[one(function, "name")]: function
             for function in profile["function"]}
    wanted = ["odd name with blanks", "odd'quote,comma`",
              "odd;semicolon#hash", "odd<a>&amp;{b}[c] 17",
              "größe_日本(unsigned long)",
              "operators::operator,(unsigned long)"]
    for name in wanted:
        check(name in names, "%s is not among %s" % (name, sorted(names)))
    check(max(map(len, names)) > 10000, "the long name is shorter")
    shown = pprof("-traces", "-symbolize=none", path)
    for name in [*wanted, max(names, key=len)]:
        check(name in shown, "pprof does not show " + name)
    linkers = texts[one(names["größe_日本(unsigned long)"], "system_name")]
    equal(linkers, "_Z14größe_日本m", "the linker's name")


@case
def inlined_frames_are_lines_of_one_location(directory):
    profile = decoded(plain("many_names"))
    texts = checked(profile)
    functions = {one(function, "id"): function
                 for function in profile["function"]}
    chains = [[functions[one(line, "function_id")]
               for line in location["line"]]
              for location in profile["location"]]
    chain, = [chain for chain in chains
              if chain and texts[one(chain[0], "name")] == "innermost"]
    equal([texts[one(function, "name")] for function in chain],
          ["innermost", "middle", "outer(unsigned long)"],
          "innermost one first")
    with open(texts[one(chain[0], "filename")], encoding="utf-8") as file:
        source = file.read().split("\n")
    check(all(texts[one(function, "name")].split("(")[0] in
              source[one(function, "start_line") - 1] for function in chain),
          "where they start: %s" % chain)
    flags = profile["mapping"][0]
    check(all(one(flags, "has_" + what) for what in
              ("functions", "filenames", "line_numbers", "inline_frames")),
          "all is known of the program: %s" % flags)


@case
def threads_are_labels(directory):
    path = exported(trace("many_names"), "pprof", "--threads",
                    output=os.path.join(directory, "out"))
    profile = decoded(path)
    texts = checked(profile, threads=True)
    got = collections.Counter()
    for sample in profile["sample"]:
        labels = {texts[one(label, "key")]: label
                  for label in sample["label"]}
        equal(texts[one(labels["thread"], "str")], "many_names", "name")
        got[one(labels["tid"], "num")] += sample["value"][1]
    report = json.loads(gnomon("report", trace("many_names"), "--json", "--by",
                               "thread", "--top", "0").out)
    equal(dict(got), {row["tid"]: row["total_bytes"]
                      for row in report["rows"]}, "bytes by thread")
    equal(len(got), 4, "threads")
    tags = pprof("-tags", "-sample_index=alloc_space", path)
    check(all(str(tid) in tags for tid in got), tags)
    equal(totals(path), totals(plain("many_names")), "sums")


@case
def two_are_compared(directory):
    early = exported(trace("python3"), "pprof", "--to", "50%",
                     output=os.path.join(directory, "early"))
    late = plain("python3")
    before, after = summary(trace("python3"), "--to", "50%"), said_of("python3")
    equal(totals(late, "-base", early),
          [after[key] - before[key] for key in KEYS], "the difference")
    check(pprof("-top", "-diff_base", early, late), "a table")
    equal(totals(late, "-base", late) or [0] * 4, [0] * 4, "with itself")


@case
def pprof_finds_the_same_lines_by_itself(directory):
    """Where symbols are not here, mappings and addresses are what others find
    them by. Go's pprof takes no file for one with a build-id."""
    hidden = os.path.join(directory, "hidden")
    os.mkdir(hidden)
    target = os.path.join(directory, "target")
    done = bare([os.environ.get("CC") or "gcc", "-g", "-O1", "-fno-inline",
                 "-fno-optimize-sibling-calls", "-Wl,--build-id=none",
                 "-I" + SOURCES, "-o", target,
                 os.path.join(SOURCES, "answers", "basic.c")])
    equal(done.status, 0, done.err)
    done = recorded([target], directory)
    known = exported(done.trace, "pprof", output=os.path.join(directory, "a"))
    os.rename(target, os.path.join(hidden, "target"))
    other = exported(done.trace, "pprof", output=os.path.join(directory, "b"))
    profile = decoded(other)
    checked(profile)
    equal([flag for flag in profile["mapping"][0] if flag[:4] == "has_"],
          [], "nothing is known of the program")

    def lines(path, *words, **more):
        return re.findall(r"\b(?:make|churn|main|tgt_\w+) .*\.[ch]:\d+$",
                          pprof("-traces", "-lines", *words, path, **more),
                          re.M)

    for go in gos():
        wanted = lines(known, "-symbolize=none", go=go)
        check(len(wanted) > 10, "lines of the program: %s" % wanted)
        equal(lines(other, "-symbolize=local", go=go,
                    PPROF_BINARY_PATH=hidden), wanted, "lines by " + go)


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as written_now:
        path = exported(written_now, "pprof",
                        output=os.path.join(directory, "out"))
        said = summary(written_now)
        check(said["allocations"] > 0, "it has allocated")
        equal(totals(path), [said[key] for key in KEYS], "so far")
        checked(decoded(path))


@case
def traces_with_nothing_in_them(directory):
    for path, words in with_nothing(directory):
        path = exported(path, "pprof", *words, statuses=(0, 3),
                        output=os.path.join(directory, "out"))
        profile = decoded(path)
        checked(profile)
        equal((len(profile["sample"]), len(profile["mapping"])), (0, 1),
              "samples, mappings")
        for go in gos():
            equal(raw(path, go=go).types, list(TYPES), "types by " + go)
            pprof("-top", path, go=go)


@case
def the_same_trace_is_the_same_file(directory):
    contents = []
    for name in ("a.trace", "another name.trace"):
        copy = os.path.join(directory, name)
        shutil.copy(trace("cc1plus"), copy)
        path = exported(copy, "pprof", output=copy + ".pb.gz")
        with open(path, "rb") as file:
            contents.append(file.read())
    equal(contents[0], contents[1], "contents")
    equal(contents[0][:10], b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
          "gzip's header: no name, no time")


main()
