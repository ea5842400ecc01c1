#!/usr/bin/python3
"""Groups by several keys in the text report: labels of rows, invalid
combinations, passes over the trace, and the limit of groups. test_model.py
compares their measures with a model."""

import csv
import io
import json
import os
import re

from gnomon_test import case, check, equal, gnomon, main

MEDLEY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "outputs", "medley.trace")


def report(*arguments, statuses=(0,)):
    return gnomon("report", *arguments, MEDLEY, statuses=statuses)


def rows_of(*arguments):
    return json.loads(report("-q", "--json", "--top", "0", *arguments).out)


def headings(text):
    """Of each row, its lines before the first stack."""
    parts = re.split(r"^ +\d+\.  .*\n", text, flags=re.M)[1:]
    return [re.split(r"^     - ", part, flags=re.M)[0].split("\n")
            for part in parts]


@case
def a_line_for_each_key(directory):
    text = report("--by", "library,thread,size-class", "--sort", "total",
                  "--top", "3").out
    found = [[line.strip() for line in lines if line.strip()]
             for lines in headings(text)]
    equal(len(found), 3, "rows")
    for library, thread, size in found:
        equal(library, "medley", "library")
        check(thread.startswith("thread "), thread)
        check(re.match(r"of [\d.]+.* to ", size), size)
    check("more groups: --by library,thread,size-class --sort total --top 0"
          in text, "how to see the others")


@case
def products_add_up_to_the_whole(directory):
    whole = rows_of()["summary"]
    for by in ("site,thread", "line,size", "arena,thread,lifetime-class"):
        rows = rows_of("--by", by)["rows"]
        for figure, of_all in (("count", "allocations"),
                               ("total_bytes", "total_bytes"),
                               ("live_bytes", "live_bytes"),
                               ("peak_bytes", "peak_bytes")):
            equal(sum(row[figure] for row in rows), whole[of_all],
                  "%s by %s" % (figure, by))
        check(not any("own_peak_bound" in row for row in rows), "own peaks")


@case
def a_key_that_is_anywhere_in_the_stack(directory):
    rows = rows_of("--by", "within-function,thread")["rows"]
    outermost = [row for row in rows
                 if row["within"]["function"] == "_start"]
    equal(len(outermost), 1, "threads that _start called")
    of_first = [row for row in rows_of("--by", "thread")["rows"]
                if row["tid"] == outermost[0]["tid"]]
    equal(outermost[0]["total_bytes"], of_first[0]["total_bytes"], "bytes")
    done = report("--by", "within-function", "--sort", "own-peak",
                  statuses=(2,))
    check("no peak of their own" in done.err, done.err)


@case
def what_makes_no_sense_is_said(directory):
    for by, why in (("library,library", "given twice"),
                    ("stack,site", "leave out 'site'"),
                    ("within-file,within-library", "one key"),
                    ("thread,size,size-class,arena", "3 keys at most"),
                    ("library,block", "cannot be combined with others"),
                    ("library,", "not understood"),
                    ("libraries", "not understood")):
        done = report("--by", by, statuses=(2,))
        check(why in done.err, "%s: %s" % (by, done.err))
        equal(done.out, "", "output of a wrong question")


@case
def how_often_a_trace_is_read(directory):
    def explained(*arguments):
        done = report("--explain", *arguments)
        return (int(re.match(r"read (\d) time", done.out).group(1)),
                "not from a pipe" in done.out)
    equal(explained(), (1, False), "as it comes")
    equal(explained("--by", "library,thread"), (1, False), "one pass")
    equal(explained("--by", "stack", "--sort", "own-peak"), (1, False),
          "of single stacks")
    equal(explained("--by", "thread,size-class", "--sort", "own-peak"),
          (2, False), "own peaks, which are sums else")
    equal(explained("--size-min", "100"), (2, True), "words")
    equal(explained("--alive-at", "50%", "--by", "library,thread"), (3, True),
          "ends")
    equal(explained("--by", "lifetime-class"), (2, True), "lifetimes")
    equal(explained("--timeline", "--by", "file"), (2, True), "over time")
    equal(explained("--by", "stack,thread", "--sort", "own-peak"), (1, False),
          "of contexts")
    equal(explained("--json", "--by", "site", "--fate", "live"), (4, True),
          "but one")
    equal(explained("--json", "--by", "site", "--fate", "live", "--timeline"),
          (5, True), "all of them")


@case
def what_is_explained_is_so(directory):
    """From a pipe one pass is possible, and no other."""
    copy = os.path.join(directory, "copy")
    for words, statuses in ((["--by", "library,thread"], (0,)),
                            (["--by", "lifetime-class"], (2,)),
                            (["--size-min", "100"], (2,))):
        os.mkfifo(copy)
        child = os.fork()
        if child == 0:
            try:
                with open(MEDLEY, "rb") as source, open(copy, "wb") as to:
                    to.write(source.read())
            except OSError:
                pass
            os._exit(0)
        done = gnomon("report", *words, copy, statuses=statuses)
        if statuses == (2,):
            check("no regular file" in done.err, done.err)
            with open(copy, "rb") as unread:    # who writes there may end
                unread.read()
        os.waitpid(child, 0)
        os.unlink(copy)


@case
def by_process(directory):
    """Of several traces: what each of them says of itself."""
    traces = [MEDLEY.replace("medley", name)
              for name in ("medley", "culled", "cleared")]
    done = gnomon("report", "--json", "--top", "0", "--merge", "--by",
                  "process", *traces)
    rows = {row["pid"]: row for row in json.loads(done.out)["rows"]}
    equal(len(rows), 3, "processes")
    for trace in traces:
        one = json.loads(gnomon("report", "--json", trace).out)["summary"]
        row = rows[one["pid"]]
        equal(row["program"], one["program"], "program")
        for figure, of_one in (("count", "allocations"),
                               ("total_bytes", "total_bytes"),
                               ("live_bytes", "live_bytes"),
                               ("peak_bytes", "peak_bytes")):
            equal(row[figure], one[of_one], "%s of %s" % (figure, trace))
        check(row["own_peak_bound"], "peaks of sums are marked")
    done = gnomon("report", "--json", "--top", "0", "--merge", "--by",
                  "process,within-function", *traces)
    equal({row["pid"] for row in json.loads(done.out)["rows"]}, set(rows),
          "processes by function")
    one = rows_of("--by", "process")["rows"]
    equal(len(one), 1, "of one trace, one")


SITE = ("function", "file", "line", "library")


def site_of(row):
    """Of a row with a stack: the innermost frame that is of the program."""
    frame = next(frame for frame in row["stack"]
                 if frame["library"] == "medley")
    return {name: "" if frame[name] is None else str(frame[name])
            for name in SITE}


@case
def as_a_table(directory):
    """CSV has what JSON has."""
    for words in (["--by", "library,thread,lifetime-class"],
                  ["--by", "site,size-class", "--sort", "own-peak"],
                  ["--by", "function"], ["--by", "within-file,size"], []):
        rows = rows_of(*words)["rows"]
        table = list(csv.DictReader(io.StringIO(
            report("-q", "--csv", *words).out)))
        equal(len(table), len(rows), "rows of %s" % words)
        for line, row in zip(table, rows):
            row.update({"within_" + name: value for name, value
                        in row.pop("within", {}).items()})
            for name, field in line.items():
                if name in ("stack", "stopped", "own_peak_bound", "stacks"):
                    continue
                if name in SITE and "stack" in row:
                    equal(field, site_of(row)[name], name)
                    continue
                value = row.get(name)
                equal(field, "" if value is None else str(value).lower()
                      if isinstance(value, bool) else str(value),
                      "%s of %s" % (name, words))
    tree = list(csv.DictReader(io.StringIO(
        report("--csv", "--tree", "top-down").out)))
    rows = rows_of("--tree", "top-down")["rows"]
    equal([(line["function"], line["depth"], line["live_bytes"],
            line["self_count"]) for line in tree],
          [(row["function"], str(row["depth"]), str(row["live_bytes"]),
            str(row["self"]["count"])) for row in rows], "tree")
    for words, begins in (([], "context,function,file,line,library,stack,"),
                          (["--by", "file,line,function"],
                           "file,library,line,function,named,"),
                          (["--tree", "top-down"], "depth,function,")):
        nothing = report("--csv", "--size-min", "1G", *words).out
        check(nothing.startswith(begins), nothing)
        equal(nothing.count("\n"), 1, "lines of nothing")
        heads = nothing.strip().split(",")
        equal(len(heads), len(set(heads)), "columns are told apart")
    equal(report("--csv", "--by", "function", "--sort", "own-peak", "--top",
                 "2").out.count("\n"), 3, "rows of --top")
    for words in (["--json"], ["--by", "block"], ["--sizes"], ["--timeline"]):
        report("--csv", *words, statuses=(2,))


@case
def so_many_groups(directory):
    whole = rows_of("--by", "thread,size")
    done = gnomon("report", "--json", "--by", "thread,size", "--top", "0",
                  "--groups-max", "10", MEDLEY)
    some = json.loads(done.out)
    check("group is shown as not known" in done.err, done.err)
    check(len(some["rows"]) < len(whole["rows"]), "rows")
    for figure in ("count", "total_bytes", "live_bytes", "peak_bytes"):
        equal(sum(row[figure] for row in some["rows"]),
              sum(row[figure] for row in whole["rows"]), figure)
    unknown = [row for row in some["rows"] if "size" not in row]
    equal(len(unknown), 1, "rows of what is not known")
    check("not known" not in report("--by", "thread,size").err, "no need")
    timed = json.loads(gnomon("report", "--json", "--by", "thread,size",
                              "--top", "0", "--groups-max", "10",
                              "--timeline", "--steps", "3", MEDLEY).out)
    for row in timed["rows"]:
        equal(sum(step["allocations"] for step in row["timeline"]),
              row["count"], "allocations over time of %s" % row.get("size"))


main()
