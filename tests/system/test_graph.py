#!/usr/bin/python3
"""Measures over time: `gnomon report --timeline`, and `gnomon graph` as
picture, page and table."""

import csv
import io
import json
import os
import re
import shutil
from xml.etree import ElementTree

from browser import browsed
from exported import (FILTERS, ODD_NAMES, PROGRAMS, being_written, summary,
                      trace, with_nothing)
from gnomon_test import (GNOMON, bare, case, check, equal, gnomon, main,
                         program, recorded)

STEPS = 37
# Of a step: of a row.
SUMS = {"allocations": "count", "allocated_bytes": "total_bytes",
        "frees": "frees", "temporary": "temporary"}
BYS = ("stack", "site", "function", "thread", "library,size-class",
       "within-function", "within-library,thread")
COSTS = {"live": "live_bytes", "peak": "live_bytes_max",
         "total": "allocated_bytes", "count": "allocations",
         "temporary": "temporary"}
SVG = "{http://www.w3.org/2000/svg}"
OUTPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "outputs")


def timelines(path, *words, steps=STEPS):
    return json.loads(gnomon("report", path, "--json", "--timeline", "--steps",
                             str(steps), *words).out)


def table(path, *words, statuses=(0,)):
    """Series by their names, in order, as CSV has them."""
    series = {}
    out = gnomon("graph", path, "--format", "csv", *words,
                 statuses=statuses).out
    for row in csv.DictReader(io.StringIO(out, newline="")):
        series.setdefault(row.pop("series"), []).append(
            {key: value if key == "kind" else int(value)
             for key, value in row.items()})
    return series


def drawn(directory, path, name, *words, statuses=(0,)):
    output = os.path.join(directory, name)
    gnomon("graph", *([path] if isinstance(path, str) else path), "-o", output,
           *words, statuses=statuses)
    return output


def figures_of(steps, figures, what):
    """The steps add up to the figures."""
    for one, other in SUMS.items():
        equal(sum(step[one] for step in steps), figures[other],
              "%s: %s" % (what, one))
    equal(steps[-1]["live_bytes"], figures["live_bytes"], what + ": live")
    equal(steps[-1]["live_blocks"], figures["live_blocks"], what + ": blocks")


@case
def steps_add_up(directory):
    """To the figures of rows and of the whole; groups without blocks in
    common, to the whole in each step."""
    for name in PROGRAMS:
        for by in BYS if name != "cc1plus" else ("function", "thread"):
            said = timelines(trace(name), "--by", by, "--top", "5", "--sort",
                             "total")
            what = "%s by %s" % (name, by)
            rows = [row["timeline"] for row in said["rows"]]
            check(rows, what)
            for row in said["rows"]:
                figures_of(row["timeline"], row, what)
            whole, others = said["timeline_all"], said["timeline_others"]
            totals = said["summary"]
            figures_of(whole, dict(totals, count=totals["allocations"]), what)
            equal(max(step["live_bytes_max"] for step in whole),
                  totals["peak_bytes"], what + ": the peak")
            equal({len(steps) for steps in rows + [whole, others]}, {STEPS},
                  "steps")
            for key in whole[0]:
                for i in range(STEPS if "within" not in by and
                               key not in ("time_ns", "live_bytes_max")
                               else 0):
                    equal(sum(steps[i][key] for steps in rows + [others]),
                          whole[i][key], "%s: %s" % (what, key))


@case
def filters_hold(directory):
    for name, words in FILTERS:
        if "--alive-at" in words:
            continue
        said = timelines(trace(name), "--by", "thread", *words)
        totals = said["summary"]
        figures_of(said["timeline_all"],
                   dict(totals, count=totals["allocations"]), name)


@case
def blocks_are_where_they_were(directory):
    """A program that says when it does what."""
    done = recorded([program("paced_blocks"), "plateau"], directory)
    equal(done.status, 0, done.err)
    steps = timelines(done.trace, steps=160)["timeline_all"]
    large = 30 << 20
    for second, live in ((5, 100), (490, 100), (510, 2 * large + 100),
                         (790, 2 * large + 100), (810, large + 100),
                         (1580, large + 100)):
        found = [step for step in steps
                 if step["time_ns"] <= second * 10**9][-1]
        equal(found["live_bytes"], live, "live after %ds" % second)
    equal(sum(step["frees"] for step in steps[75:85]), 1, "frees")
    one = table(done.trace, "--size-max", "100", "--steps", "160")
    equal([sum(step["allocations"] for step in steps)
           for steps in one.values()], [1], "one block")
    picture = drawn(directory, done.trace, "a.svg", "--size-max", "100")
    equal(len(paths(picture)), 1, "one series")


@case
def text_is_what_json_says(directory):
    path = trace("many_names")
    said = timelines(path, "--by", "function", "--sort", "count", "--top", "2",
                     steps=5)
    out = gnomon("report", path, "--timeline", "--by", "function", "--sort",
                 "count", "--top", "2", "--steps", "5").out
    head, _, rest = out.partition("ROWS OVER TIME")
    check("\nCOUNT: " in head, "rows come first")
    columns = [said["timeline_all"]] + [row["timeline"] for row in
                                        said["rows"]] + [
        said["timeline_others"]]
    lines = [line.split()[1:] for line in rest.splitlines()[-5:]]
    for i, line in enumerate(lines):
        equal([int(word.replace(",", "")) for word in line],
              [steps[i]["allocations"] for steps in columns], "step %d" % i)
    for row in said["rows"]:
        check(row["function"].split("(")[0] in rest, row["function"])
    alone = gnomon("report", path, "--timeline").out
    check("ROWS OVER TIME: bytes live" in alone and "\nPEAK" not in alone,
          "no rows that nobody asked for")
    check("\nrows that held most at the peak (--sort own-peak: " in alone and
          "at the peak" not in rest, "how rows are chosen")
    check("own-peak" not in gnomon("report", path, "--timeline", "--by",
                                   "within-function").out, "a refused measure")


@case
def what_makes_no_sense_is_refused(directory):
    path = trace("many_names")
    for words, remedy in (
            (("--timeline", "--alive-at", "50%"), "leave out one"),
            (("--timeline", "--tree", "top-down"), "leave out one"),
            (("--timeline", "--by", "block"), "leave out one"),
            (("--timeline", "--sort", "age"), "sort by live"),
            (("--timeline", "--merge"), "gnomon graph"),
            (("--timeline", trace("sqlite3")), "gnomon graph"),
            (("--timeline", "--steps", "0"), "limits"),
            (("--timeline", "--steps", "2049"), "limits"),
            (("--steps", "5"), "--timeline")):
        done = gnomon("report", path, *words, statuses=(2,))
        check(remedy in done.err, "%s: %s" % (words, done.err))
    for name, words, remedy in (
            ("a.svg", ("--format", "html"), "name it .html"),
            ("a.HTM", ("--format", "svg"), "name it .svg"),
            ("a.png", (), "name it .svg or .html"),
            ("a.svg", ("--alive-at", "5%"), "--from and --to"),
            ("a.svg", ("--by", "within-file", "--layout", "stacked"),
             "use lines"),
            ("a.svg", ("--cost", "peak", "--layout", "stacked"), "use lines"),
            ("a.svg", ("--by", "colour"), "give stack"),
            ("a.svg", ("--by", "site", trace("sqlite3")), "only one"),
            ("a.svg", ("--steps", "2049"), "limits")):
        done = gnomon("graph", path, "-o", os.path.join(directory, name),
                      *words, statuses=(2,))
        check(remedy in done.err, "%s: %s" % (words, done.err))
    equal(os.listdir(directory), [], "files")
    for command in (["report", "--timeline"], ["graph"]):
        done = bare(["/bin/sh", "-c", 'cat "$1" | "$0" %s /dev/stdin' %
                     " ".join(command), GNOMON, path])
        equal(done.status, 2, "a pipe")
        check("more than once" in done.err, done.err)


def paths(picture):
    """Those of series: (class, d), as they lie upon each other."""
    tree = ElementTree.parse(picture)
    legend = tree.find(".//%sg[@class='legend']" % SVG)
    inside = set(legend.iter()) if legend is not None else set()
    return [(path.get("class"), path.get("d"))
            for path in tree.iter(SVG + "path")
            if re.search("area|line", path.get("class")) and
            path not in inside]


def heights(line, steps):
    """How high a path is in the middle of each step, in points from the
    axis."""
    at, curve = 84, []
    y = None
    for word, number in re.findall(r"([MHV])([\d.]+(?: [\d.]+)?)",
                                   line.partition("Z")[0]):
        if word == "M":
            y = 464 - float(number.split()[1])
        elif word == "V":
            y = 464 - float(number)
        else:
            curve += [y] * round((float(number) - at) / 1092 * steps)
            at = float(number)
    return curve


@case
def pictures_are_drawn_to_scale(directory):
    """Lines, by all costs, against the table."""
    path = trace("python3")
    for cost, key in COSTS.items():
        words = ("--by", "library,thread", "--cost", cost, "--steps", "26",
                 "--top", "4")
        series = list(table(path, *words).values())
        lines = paths(drawn(directory, path, cost + ".svg", "--layout",
                            "lines", *words))
        most = max(step[key] for steps in series for step in steps)
        equal(len(lines), len(series), "series")
        for steps, (_, line) in zip(series, lines):
            for step, high in zip(steps, heights(line, 26)):
                check(abs(high - step[key] / most * 400) < .2,
                      "%s: %s is drawn at %s of %s" % (cost, step, high,
                                                       most))


@case
def areas_stand_upon_each_other(directory):
    path = trace("sqlite3")
    words = ("--by", "function", "--steps", "26", "--top", "3", "--cost",
             "total")
    series = list(table(path, *words).values())
    areas = paths(drawn(directory, path, "a.svg", *words))
    whole = [sum(steps[i]["allocated_bytes"] for steps in series)
             for i in range(26)]
    equal(whole, [step["allocated_bytes"] for step in timelines(
        path, steps=26)["timeline_all"]], "all series are the whole")
    below = [0] * 26
    for steps, (kind, line) in zip(series, areas):
        check("area" in kind and line.endswith("Z"), kind)
        below = [a + step["allocated_bytes"] for a, step in zip(below, steps)]
        for value, high in zip(below, heights(line, 26)):
            check(abs(high - value / max(whole) * 400) < .2, "%s, drawn %s" %
                  (value, high))


@case
def table_is_what_the_report_says(directory):
    path = trace("many_names")
    for by in ("function", "thread,library"):
        said = timelines(path, "--by", by, "--sort", "total", "--top", "6")
        series = list(table(path, "--by", by, "--cost", "total", "--top", "6",
                            "--steps", str(STEPS)).values())
        for row, steps in zip(said["rows"], series):
            for one, other in zip(row["timeline"], steps):
                equal(one["time_ns"], other["begin_ns"], "begin")
                for key in COSTS.values():
                    equal(other[key], one[key], "%s: %s" % (by, key))


@case
def hostile_names(directory):
    """In names of functions, and of the trace."""
    path = os.path.join(directory, "a<b>&'\"</script>]]>é\n\x01".replace(
        "/", "\u2044") + ".trace")
    shutil.copy(trace("many_names"), path)
    words = ("--by", "within-function", "--top", "0", "--full-names",
             "--cost", "count")
    names = list(table(path, *words))
    for name in ODD_NAMES:
        check(name in names, "%s is not in %s" % (name, names))
    tree = ElementTree.parse(drawn(directory, path, "a.svg", *words))
    texts = [text.text for text in tree.iter(SVG + "text")]
    for name in ODD_NAMES:
        check(name in texts, "%s is not in %s" % (name, texts))
    check(any("a<b>&'\"<\u2044script>" in text for text in texts if text),
          texts[:2])
    with open(drawn(directory, path, "a.html", *words),
              encoding="utf-8") as file:
        page = file.read()
    data = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
    equal([one["name"] for one in json.loads(data)["series"]], names, "names")
    check("<b>&'" not in page, "the title is escaped")


@case
def nothing_and_what_is_still_written(directory):
    for (path, words), statuses in zip(with_nothing(directory),
                                       ((2, 3), (0,))):
        for name in ("a.svg", "a.html", "a.csv", "a.json"):
            drawn(directory, path, name, *words, statuses=statuses)
        gnomon("report", path, "--timeline", *words, statuses=statuses)
        if statuses == (0,):
            equal(paths(os.path.join(directory, "a.svg")), [], "series")
            with open(os.path.join(directory, "a.csv"),
                      encoding="utf-8") as file:
                check(file.read().startswith("series,kind,begin_ns"), "head")
    with being_written(directory) as path:
        gnomon("graph", path)
        said = timelines(path)
        figures_of(said["timeline_all"], dict(
            said["summary"], count=said["summary"]["allocations"]), "so far")


@case
def several_traces(directory):
    """By the clock if they are near each other, else from their starts."""
    near = [recorded([program("paced_blocks"), "plateau"], os.path.join(
        directory, name)).trace for name in ("one", "two")
        if os.mkdir(os.path.join(directory, name)) is None]
    picture = drawn(directory, near, "near.svg")
    equal([re.search("s[0-9]", kind).group() for kind, _ in paths(picture)],
          ["s1", "s2"], "colours")
    with open(picture, encoding="utf-8") as file:
        check("by the clock" in file.read(), "near")
    out = json.loads(gnomon("graph", *near, "--format", "json").out)
    equal([max(one["live_bytes"]) for one in out["series"]],
          [(60 << 20) + 100] * 2, "live")
    far = [recorded([program("basic")], directory).trace,
           os.path.join(OUTPUTS, "medley.trace")]
    out = json.loads(gnomon("graph", *far, "--format", "json").out)
    check("own start" in out["about"] and not out["adds_up"], out["about"])
    equal([one["from"] for one in out["series"]], [0, 0], "starts")
    equal([sum(one["allocations"]) for one in out["series"]],
          [summary(path)["allocations"] for path in far], "allocations")
    done = gnomon("graph", *far, "--layout", "stacked", statuses=(2,))
    check("use lines" in done.err, done.err)
    gnomon("graph", near[0], os.path.join(directory, "none"), statuses=(3,))


@case
def page_is_driven(directory):
    path = trace("sqlite3")
    words = ("--by", "function", "--steps", "40", "--top", "5")
    page = drawn(directory, path, "page.html", *words)
    said = browsed("graph.mjs", {"page": {"file": page}})["page"]
    data = json.loads(gnomon("graph", path, "--format", "json", *words).out)
    series = [data["all"]] + data["series"]
    equal(said["names"], [one["name"] for one in series], "names")
    for cost, key in COSTS.items():
        equal(said["costs"][cost]["layout"],
              "lines" if cost == "peak" else "stacked", cost)
        if cost in ("count", "temporary"):
            equal(said["costs"][cost]["most"],
                  [max(one[key]) for one in series], cost)
    equal(said["then"], [one["allocations"][20] for one in series],
          "the step in the middle")
    equal(said["about"], "allocations, by function", "what it is")
    check(" – " in said["moment"] and said["walked"] != said["moment"],
          said["moment"])
    check(said["drawn"] > 100 and said["less"] < said["drawn"],
          "hidden: %s of %s" % (said["less"], said["drawn"]))
    check(said["dark"] != said["light"], "colours: %s" % said["dark"])
    equal(said["wide"], {"400": 0, "2000": 0}, "what is beside the window")


main()
