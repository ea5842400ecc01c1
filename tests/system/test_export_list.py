#!/usr/bin/python3
"""`gnomon export --format json`, `ndjson` and `csv`, read by Python's own
modules, by jq and by sqlite3."""

import csv
import functools
import io
import json
import os

from exported import (PROGRAMS, being_written, exported, summary, trace)
from exported import directory as shared
from gnomon_test import (GNOMON, HEADER_SIZE, bare, case, check, environment,
                         equal, gnomon, main, need)

FORMATS = ("json", "ndjson", "csv")
# Of a context: the name of the sum of them in a summary.
SUMS = {"count": "allocations", "frees": "frees", "total_bytes": "total_bytes",
        "live_bytes": "live_bytes", "live_blocks": "live_blocks",
        "peak_bytes": "peak_bytes", "peak_blocks": "peak_blocks",
        "temporary": "temporary"}
FILTERS = (("sqlite3", ("--function", "sqlite3_step")),
           ("python3", ("--size-min", "1k")),
           ("cc1plus", ("--alive-at", "50%")),
           ("many_names", ("--lifetime-max", "10s")),
           ("many_names", ("--fate", "temporary", "--from", "20%")))
HARD = ("odd name with blanks", "odd'quote,comma`", "odd;semicolon#hash",
        "odd<a>&amp;{b}[c] 17", "größe_日本(unsigned long)",
        "operators::operator,(unsigned long)")


@functools.lru_cache(None)
def said_of(name, *words):
    return summary(trace(name), *words)


def cells(text):
    """Rows of a table: with numbers where there are some."""
    equal(text.count("\n"), text.count("\r\n"), "ends of lines")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    return [{key: int(value) if value.isdigit() else value or None
             for key, value in row.items()} for row in rows]


def rows(path, form, by, *words, **more):
    """What is listed, by whatever format."""
    output = exported(path, form, "--by", by, *words, **more,
                      output=os.path.join(shared.name, "listed." + form))
    with open(output, encoding="utf-8", newline="") as file:
        text = file.read()
    if form == "json":
        return json.loads(text)["blocks" if by == "block" else "contexts"]
    if form == "ndjson":
        return [json.loads(line) for line in text.splitlines()]
    return cells(text)


def context_sums(listed):
    return {key: sum(row[of] for row in listed) for of, key in SUMS.items()}


def block_sums(listed):
    live = [row for row in listed if row["fate"] == "live"]
    equal([row for row in listed if (row["end_ns"] is None) !=
           (row["fate"] == "live")], [], "what has ended")
    return {"allocations": len(listed),
            "total_bytes": sum(row["size"] for row in listed),
            "frees": sum(row["fate"] in ("freed", "moved") for row in listed),
            "live_blocks": len(live),
            "live_bytes": sum(row["size"] for row in live),
            "temporary": sum(row["temporary"] for row in listed)}


def part(said, keys):
    return {key: said[key] for key in keys}


def unescaped(stack):
    """The names of a table's stack."""
    names, escape = [""], False
    for letter in stack:
        if escape or letter not in "\\;":
            names[-1] += letter
            escape = False
        elif letter == ";":
            names.append("")
        else:
            escape = True
    return names


@case
def contexts_add_up(directory):
    for name in PROGRAMS:
        for form in FORMATS:
            got = context_sums(rows(trace(name), form, "stack"))
            equal(got, part(said_of(name), got), "%s %s" % (name, form))


@case
def the_cost_is_what_they_are_sorted_by(directory):
    for cost, key in (("live", "live_bytes"), ("peak", "peak_bytes"),
                      ("total", "total_bytes"), ("count", "count"),
                      ("temporary", "temporary")):
        for form in FORMATS:
            listed = [row[key] for row in rows(trace("many_names"), form,
                                               "stack", "--cost", cost)]
            equal(listed, sorted(listed, reverse=True), cost + " " + form)
    done = bare([GNOMON, "export", "-F", "csv", "--by", "block", "--cost",
                 "peak", trace("many_names")], environment())
    equal((done.status, done.out), (2, ""), "blocks by cost")


@case
def blocks_add_up(directory):
    for name, forms in (("many_names", FORMATS), ("sqlite3", ("csv",)),
                        ("python3", ("ndjson",)), ("cc1plus", ("json",))):
        for form in forms:
            listed = rows(trace(name), form, "block")
            got = block_sums(listed)
            equal(got, part(said_of(name), got), "%s %s" % (name, form))
            if name == "python3":
                check(any(row["fate"] == "moved" for row in listed),
                      "realloc moved nothing")


@case
def filters_hold(directory):
    for name, words in FILTERS:
        said = said_of(name, *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        got = context_sums(rows(trace(name), "json", "stack", *words))
        equal(got, part(said, got), "contexts: %s %s" % (name, words))
        got = block_sums(rows(trace(name), "csv", "block", *words))
        if "--alive-at" in words:
            # Ends come later, and are not told.
            equal(got.pop("frees"), 0, "ends")
            equal(got.pop("temporary"), 0, "short ones")
        equal(got, part(said, got), "blocks: %s %s" % (name, words))


@case
def json_is_as_the_report(directory):
    """Rows, figures and stacks; by jq, too."""
    need("jq")
    path = trace("many_names")
    output = exported(path, "json", "--by", "block",
                      output=os.path.join(directory, "a.json"))
    with open(output, encoding="utf-8") as file:
        document = json.load(file)
    report = json.loads(gnomon("report", path, "--json", "--by", "stack",
                               "--top", "0").out)
    equal(document["schema"], 1, "schema")
    for key, value in document["summary"].items():
        equal(value, report["summary"][key], key)
    frames = document["frames"]
    check(len({json.dumps(frame) for frame in frames}) == len(frames),
          "frames are there once")
    by_context = {row["context"]: dict(row, stack=[
        frames[number] for number in row["stack"]])
                  for row in document["contexts"]}
    wanted = {row["context"]: row for row in report["rows"]
              if row["count"] > 0}
    equal(by_context, wanted, "contexts")
    for row in document["blocks"]:
        check(row["context"] in by_context, "a block's context: %s" % row)
        check(row["end_ns"] is None or row["end_ns"] >= row["time_ns"],
              "times: %s" % row)
    for lines, program, key in (
            ("a.json", "[.blocks[].size] | add", "total_bytes"),
            ("a.json", "[.contexts[].live_bytes] | add", "live_bytes"),
            ("a.json", '[.blocks[] | select(.fate == "live")] | length',
             "live_blocks")):
        equal(int(bare(["jq", program, os.path.join(directory, lines)]).out),
              report["summary"][key], program)
    lines = exported(path, "ndjson", output=os.path.join(directory, "lines"))
    equal(int(bare(["jq", "-s", "[.[].count] | add", lines]).out),
          report["summary"]["allocations"], "jq of lines")


@case
def live_blocks_are_those_of_the_report(directory):
    path = trace("many_names")
    report = json.loads(gnomon("report", path, "--json", "--by", "block",
                               "--top", "0").out)["rows"]
    keys = ("address", "size", "time_ns", "tid", "thread", "context")
    for form in FORMATS:
        live = [part(row, keys) for row in rows(path, form, "block")
                if row["fate"] == "live"]
        equal(sorted(map(str, live)),
              sorted(str(part(row, keys)) for row in report), form)


@case
def databases_read_the_table(directory):
    """sqlite3 joins the two tables."""
    need("sqlite3")
    path = trace("many_names")
    for by in ("stack", "block"):
        exported(path, "csv", "--by", by, "--full-names",
                 output=os.path.join(directory, by + ".csv"))
    done = bare([
        "sqlite3", ":memory:",
        ".import --csv %s/stack.csv stacks" % directory,
        ".import --csv %s/block.csv blocks" % directory,
        "select sum(count), sum(total_bytes), sum(live_bytes) from stacks;",
        "select count(*), sum(size), sum(size) filter (where fate = 'live') "
        "from blocks;",
        "select count(*) from (select context, count(*) n, sum(size) s from "
        "blocks group by context) b join stacks using (context) where "
        "n + 0 = count + 0 and s + 0 = total_bytes + 0;",
        "select count(*) from stacks;",
        "select max(length(stack)) > 10000 from stacks;"])
    equal((done.status, done.err), (0, ""), "sqlite3")
    said = said_of("many_names")
    totals = "%d|%d|%d" % (said["allocations"], said["total_bytes"],
                           said["live_bytes"])
    lines = done.out.split()
    equal(lines[:2], [totals, totals], "totals")
    equal(lines[2], lines[3], "contexts whose blocks add up")
    equal(lines[4:], ["1"], "the long name")


@case
def names_survive(directory):
    path = trace("many_names")
    wanted = {}
    for row in rows(path, "ndjson", "stack", "--full-names"):
        wanted[row["context"]] = [frame["function"] for frame in row["stack"]]
    names = {name for stack in wanted.values() for name in stack}
    for name in HARD:
        check(name in names, "%s is not among %s" % (name, names))
    check(max(len(name or "") for name in names) > 10000,
          "the long name is shorter")
    inlined = [stack for stack in wanted.values() if "innermost" in stack]
    check(inlined and all(stack[1:4] == ["innermost", "middle",
                                         "outer(unsigned long)"]
                          for stack in inlined), "inlined: %s" % inlined)
    for row in rows(path, "csv", "stack", "--full-names"):
        got = unescaped(row["stack"])
        equal(len(got), len(wanted[row["context"]]), "frames")
        for have, want in zip(got, wanted[row["context"]]):
            equal(have, want or have, "a name")
            check(want or "+0x" in have, "without a name: %s" % have)


@case
def traces_with_nothing_in_them(directory):
    cut = os.path.join(directory, "cut.trace")
    with open(trace("many_names"), "rb") as file:
        head = file.read(HEADER_SIZE)
    with open(cut, "wb") as file:
        file.write(head)
    for path, words in ((cut, ()), (trace("many_names"),
                                    ("--size-min", "1T"))):
        for form in FORMATS:
            for by in ("stack", "block"):
                equal(rows(path, form, by, *words, statuses=(0, 3)), [],
                      "%s by %s" % (form, by))


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as written_now:
        path = written_now
        said = summary(path)
        check(said["allocations"] > 0, "it has allocated")
        for form in FORMATS:
            got = context_sums(rows(path, form, "stack"))
            equal(got, part(said, got), form + " so far")
            got = block_sums(rows(path, form, "block"))
            equal(got, part(said, got), form + " so far, by block")


@case
def what_cannot_be_listed_is_refused(directory):
    output = os.path.join(directory, "out")
    done = bare(["sh", "-c", 'cat "$1" | "$2" export -F csv --by block '
                 '/dev/stdin -o "$3"', "sh", trace("many_names"), GNOMON,
                 output], environment())
    equal((done.status, os.path.exists(output)), (2, False), "a pipe")
    check("no regular file" in done.err, done.err)
    done = bare([GNOMON, "export", "-F", "collapsed", "--by", "block",
                 trace("many_names")], environment())
    equal(done.status, 2, "blocks as stacks")
    check("ndjson" in done.err, done.err)


main()
