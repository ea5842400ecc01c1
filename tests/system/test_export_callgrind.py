#!/usr/bin/python3
"""`gnomon export --format callgrind`, read back by callgrind_annotate."""

import collections
import json
import os
import re

from exported import (FILTERS, ODD_NAMES, PROGRAMS, SUMMARY, being_written,
                      exported, summary, trace, with_nothing)
from gnomon_test import bare, case, check, equal, gnomon, main, need

EVENTS = {"LiveBytes": "live_bytes", "LiveBlocks": "live_blocks",
          "PeakBytes": "peak_bytes", "PeakBlocks": "peak_blocks",
          "TotalBytes": "total_bytes", "Allocations": "allocations",
          "Temporary": "temporary"}
FIRST = {"live": "LiveBytes", "peak": "PeakBytes", "total": "TotalBytes",
         "count": "Allocations", "temporary": "Temporary"}
ORDER = "Allocations"

# totals: by event. functions: (file, name, library) -> by event.
Annotated = collections.namedtuple("Annotated", "totals functions text")


def annotated(path, inclusive=False, sort=ORDER):
    need("callgrind_annotate")
    done = bare(["callgrind_annotate", "--auto=no", "--show-percs=no",
                 "--threshold=100", "--sort=" + sort,
                 "--show=" + ",".join(EVENTS),
                 "--inclusive=" + ("yes" if inclusive else "no"), path],
                # It cuts its own folder off some names, not off others.
                cwd=os.path.dirname(path))
    equal((done.status, done.err), (0, ""), "callgrind_annotate")
    totals, functions = None, {}
    pattern = re.compile(r" *" + r"([\d,.]+) +" * len(EVENTS) + r" ?(.*)$")
    for line in done.out.splitlines():
        row = pattern.match(line)
        if not row:
            continue
        values = {event: 0 if text == "." else int(text.replace(",", ""))
                  for event, text in zip(EVENTS, row.groups())}
        what = row[len(EVENTS) + 1]
        if what.startswith("PROGRAM TOTALS"):   # "(calculated)": all are 0
            totals = values
            continue
        file, _, rest = what.partition(":")
        name, _, library = rest.rpartition(" [")
        functions[file, name, library[:-1]] = values
    return Annotated(totals, functions, done.out)


def callgrind(path, directory, *words, name="out", **more):
    return exported(path, "callgrind", *words,
                    output=os.path.join(directory, name), **more)


def of_report(said):
    return {event: said[key] for event, key in EVENTS.items()}


def rows_by_function(path, *words):
    """(function, library) -> inclusive figures; functions with a name."""
    report = json.loads(gnomon("report", path, "--json", "--by", "function",
                               "--top", "0", *words).out)
    return {(row["function"], row.get("library")): row["inclusive"]
            for row in report["rows"] if row.get("function")}


@case
def totals_are_those_of_the_report(directory):
    for name in PROGRAMS:
        said = of_report(summary(trace(name)))
        path = callgrind(trace(name), directory)
        got = annotated(path)
        equal(got.totals, said, name)
        sums = dict.fromkeys(EVENTS, 0)
        for values in got.functions.values():
            for event in EVENTS:
                sums[event] += values[event]
        equal(sums, said, name + ": of all functions")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        equal([line.partition(": ")[2].split() for line in lines
               if re.match("(summary|totals):", line)],
              [[str(said[event]) for event in EVENTS]] * 2, "summary, totals")


@case
def each_function_has_what_the_report_says(directory):
    """Inclusive costs; none is over the whole, whatever recurs."""
    recurs = 0
    for name in PROGRAMS:
        got = annotated(callgrind(trace(name), directory), inclusive=True)
        rows = rows_by_function(trace(name))
        places = collections.Counter((function, library)
                                     for _, function, library in
                                     got.functions)
        seen = 0
        for (_, function, library), values in got.functions.items():
            check(all(values[event] <= got.totals[event] for event in EVENTS),
                  "%s: %s has more than all" % (name, function))
            row = rows.get((function, library))
            # Reports do not tell two files apart.
            if row is None or places[function, library] != 1:
                continue
            seen += 1
            equal(values, {event: row["count" if event == "Allocations"
                                      else key]
                           for event, key in EVENTS.items()},
                  "%s: %s" % (name, function))
        check(seen >= min(50, len(rows) * 3 // 4),
              "%s: compared %d of %d" % (name, seen, len(rows)))
        stacks = exported(trace(name), "collapsed", "--cost", "count")
        recurs += any(len(set(stack)) < len(stack) for stack in
                      (line.rpartition(" ")[0].split(";")
                       for line in stacks.splitlines()))
    check(recurs > 0, "nothing recurs")


@case
def each_function_has_its_own_cost(directory):
    """That of stacks which end in it, as collapsed stacks have it."""
    for name in PROGRAMS:
        for cost in ("total", "temporary"):
            got, wanted = collections.Counter(), collections.Counter()
            for (_, function, _), values in annotated(
                    callgrind(trace(name), directory)).functions.items():
                got[function.replace(";", ":")] += values[FIRST[cost]]
            for line in exported(trace(name), "collapsed", "--cost",
                                 cost).splitlines():
                stack, _, value = line.rpartition(" ")
                wanted[stack.split(";")[-1]] += int(value)
            equal(+got, +wanted, "%s %s" % (name, cost))


@case
def filters_hold(directory):
    for name, words in FILTERS:
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        got = annotated(callgrind(trace(name), directory, *words))
        equal(got.totals, of_report(said), "%s %s" % (name, words))
        check(", filters: " + " ".join(words) in got.text, "they are said")


@case
def what_only_calls_is_read_without_a_warning(directory):
    """Sources of which no line has a cost to be sorted by."""
    path = callgrind(trace("many_names"), directory, "--fate", "freed")
    for words in (["--tree=both"], ["--inclusive=yes", "--auto=yes"]):
        done = bare(["callgrind_annotate", *words, path], cwd=directory)
        equal((done.status, done.err), (0, ""), words)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check(not re.search(r"^fn=.*\ncob=", text, re.M), "no line of its own")


@case
def the_cost_comes_first(directory):
    for cost, event in FIRST.items():
        path = callgrind(trace("sqlite3"), directory, "--cost", cost)
        done = bare(["callgrind_annotate", "--auto=no", path], cwd=directory)
        order = re.search(r"Event sort order: (.*)", done.out)[1].split()
        equal((order[0], sorted(order)), (event, sorted(EVENTS)), cost)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        equal(re.findall(r"^event: (\S+) : \S", text, re.M), order,
              "long names")
        equal(annotated(path).totals[event],
              summary(trace("sqlite3"))[SUMMARY[cost]], cost)


@case
def names_survive(directory):
    path = callgrind(trace("many_names"), directory, "--full-names")
    got = annotated(path, inclusive=True)
    names = {function for _, function, _ in got.functions}
    for name in (*ODD_NAMES, "innermost", "middle", "outer(unsigned long)"):
        check(name in names, "%s is not among %s" % (name, sorted(names)))
    check(max(map(len, names)) > 10000, "the long name is shorter")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for key in ("fn", "fl", "ob"):
        told = re.findall(r"^c?%s=\((\d+)\) (.*)$" %
                          key.replace("fl", "f[il]"), text, re.M)
        equal(len({number for number, _ in told}), len(told), "numbers")
        equal(len({name for _, name in told}), len(told), "names")


@case
def callers_and_sources_are_shown(directory):
    path = callgrind(trace("many_names"), directory)
    words = ["--show-percs=no", "--show=Allocations", "--sort=Allocations"]
    done = bare(["callgrind_annotate", "--auto=yes", *words, path],
                cwd=directory)
    check(re.search(r"^ *4,512  \treturn allocate\(size\);$", done.out, re.M),
          done.out)
    done = bare(["callgrind_annotate", "--auto=no", "--threshold=100",
                 "--tree=both", *words, path], cwd=directory)
    block, = (block for block in done.out.split("\n\n")
              if re.search(r"  \*  .*many_names\.cc:outer\(", block))
    callers, callees = re.split(r"\n.*  \*  .*\n", block)
    check(re.search(r"^ *603  < .*:work\(int\) \(603x\) \[many_names\]$",
                    callers, re.M), callers)
    check(re.search(r"^ *603  > .*:middle \(603x\) \[many_names\]$",
                    callees, re.M), callees)


@case
def traces_with_little_in_them(directory):
    for path, words in with_nothing(directory):
        got = annotated(callgrind(path, directory, *words, statuses=(0, 3)))
        check(not got.functions, "functions: %s" % got.text)
    with being_written(directory) as path:
        got = annotated(callgrind(path, directory))
        said = summary(path)
    check(said["allocations"] > 0, "it has allocated")
    equal(got.totals, of_report(said), "so far")


@case
def the_same_trace_is_the_same_file(directory):
    contents = []
    for name in "ab":
        with open(callgrind(trace("cc1plus"), directory, name=name),
                  encoding="utf-8") as file:
            contents.append(file.read())
    equal(*contents, "contents")


main()
