#!/usr/bin/python3
"""`gnomon flamegraph`: pictures and pages, as a browser shows them."""

import json
import os
import re

from browser import browsed
from exported import (PROGRAMS, SUMMARY, being_written, exported, summary,
                      trace)
from gnomon_test import (bare, case, check, equal, gnomon, main, need, program,
                         recorded)

HARD = ["odd name with blanks", "odd'quote,comma`", "odd;semicolon#hash",
        "odd<a>&amp;{b}[c] 17", "größe_日本(unsigned long)",
        "operators::operator,(unsigned long)"]
OUTER = "outer(unsigned long)"  # called from one line only
NAMES = {"sqlite3": ["sqlite3_step"], "python3": ["PyObject_Vectorcall"],
         "cc1plus": ["c_parse_file()"], "many_names": HARD + [OUTER]}


def drawn(directory, path, name, *words):
    output = os.path.join(directory, name)
    gnomon("flamegraph", path, "-o", output, *words)
    return output


def through(path, name, cost):
    """What goes through a function, by the collapsed stacks."""
    lines = exported(path, "collapsed", "--cost", cost, "--full-names")
    return sum(int(line.rpartition(" ")[2]) for line in lines.splitlines()
               if name.replace(";", ":") in
               line.rpartition(" ")[0].split(";"))


def page_data(path):
    """The JSON in a page."""
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'id="data">(.*?)</script>', file.read(),
                                    re.S).group(1))


def boxes_named(boxes, name):
    return [box for box in boxes if box["name"] == name]


def exact(told):
    return int(re.search(r"([\d,]+) (?:bytes|allocations)", told).group(1)
               .replace(",", ""))


@case
def pages_show_what_reports_say(directory):
    """Totals and functions, by all costs, of each program."""
    said = browsed("flamegraph.mjs", {name: {
        "kind": "whole", "file": drawn(directory, trace(name), name + ".html",
                                       "--full-names"),
        "names": ["^%s$" % re.escape(one) for one in NAMES[name]]}
        for name in PROGRAMS})
    for name in PROGRAMS:
        totals = summary(trace(name))
        for cost, key in SUMMARY.items():
            equal(said[name]["figures"][cost], totals[key],
                  "%s %s" % (name, cost))
            equal(said[name]["costs"][cost], cost, "cost shown")
        for function, look in zip(NAMES[name], said[name]["looks"].values()):
            equal(look["name"], function, "the name")
    for cost in SUMMARY:
        equal(said["many_names"]["looks"]["^%s$" % re.escape(OUTER)]
              ["figures"][cost], through(trace("many_names"), OUTER, cost),
              "outer by %s" % cost)


@case
def page_is_driven(directory):
    path = trace("many_names")
    page = drawn(directory, path, "page.html")
    said = browsed("flamegraph.mjs", {"page": {"kind": "page",
                                               "file": page}})["page"]
    for name in HARD[:4] + [OUTER]:
        share = through(path, name, "count") / summary(path)["allocations"]
        check(abs(said["widths"].get(name, 0) - share) < .02,
              "%s: %s of %s" % (name, share, said["widths"]))
    equal(said["count"], "count", "key 4")
    equal(said["stack"][0], said["clicked"], "the stack of what was clicked")
    equal(len(said["stack"]), 3, "frames of a box in the third row")
    check(any("many_names" in place or ".so" in place
              for place in said["places"]), said["places"])
    check(said["zoomed"] and said["reset"], "zoom: %s" % said)
    equal(said["bottom"], "all", "the root of a flame")
    equal(said["flame"], said["clicked"], "the third row of a flame")
    equal(said["top"], "all", "the root of an icicle")
    equal(said["walked"], 2, "frames two steps in")
    check(said["entered"] and said["escaped"], "keys: %s" % said)
    equal(said["outermost"], 1, "after a click at the outermost frame")
    check("peak" in said["timeline"] and "live" in said["moment"] and
          said["timeline"] != said["moment"], said["moment"])
    check(re.search(r"in %s$" % re.escape(said["clicked"]), said["share"]) and
          re.search(r"[\d.]+% of it", said["share"]), said["share"])
    check(said["tip"].count("\n") >= 1 and "%" in said["tip"], said["tip"])
    equal(said["wide"], {"400": 0, "2000": 0}, "what is beside the window")


NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9,
               "h": 3600e9}


def nanoseconds(text):
    """Of 250.0ms, 8m20s and the like."""
    return sum(float(number) * NANOSECONDS[unit] for number, unit in
               re.findall(r"([\d.]+)([a-z]+)", text))


@case
def the_curve_is_where_it_belongs(directory):
    """A program that does nothing for a while, then holds much, then half of
    it: in the picture and in the words for a moment. It says when."""
    done = recorded([program("paced_blocks"), "plateau"], directory)
    equal(done.status, 0, done.err)
    data = page_data(drawn(directory, done.trace, "page.html"))["timeline"]
    said = browsed("flamegraph.mjs", {"page": {
        "kind": "page", "file": os.path.join(directory, "page.html")}})["page"]
    end = data["end_ns"]
    peak = int(100 * data["peak_ns"] / end)
    curve = said["curve"]
    equal(peak, 100 * 500 // 1600, "the peak, in hundredths of all")
    check(max(curve[:peak - 3]) < 0.2, "before: %s" % curve)
    check(min(curve[peak + 2:peak + 8]) > 0.8, "at the peak: %s" % curve)
    check(all(0.4 < high < 0.6 for high in curve[52:98]), "half: %s" % curve)
    for part, words in zip((.02, .5, .98), said["moments"]):
        begin, finish = [nanoseconds(word) for word in
                         re.match(r"(.*?) – (.*?): ", words).groups()]
        check(begin - 0.01 * end <= part * end <= finish + 0.01 * end,
              "%s is said at %s" % (words, part))


@case
def shares_over_time(directory):
    """What was live of each part is in sum what was live of all."""
    for name, words in (("python3", ()), ("cc1plus", ()),
                        ("many_names", ("--function", "outer"))):
        data = page_data(drawn(directory, trace(name), name + ".html", *words))
        said = summary(trace(name), *words)
        tracks = data["tracks"]
        live = [0] * len(tracks["live"][0])
        for track in tracks["live"]:
            now = 0
            for row, more in enumerate(track):
                now += more
                live[row] += now
                check(now >= 0, "less than nothing is live")
        equal(live[-1], said["live_bytes"], name + " at the end")
        check(words or said["peak_bytes"] * 0.8 < max(live) <=
              said["peak_bytes"], "%s: its peak: %d" % (name, max(live)))
        depth = data["nodes"]["depth"]
        check(tracks["nodes"][0] == 0 and len(tracks["nodes"]) > 5 and
              all(depth[node] > 0 for node in tracks["nodes"][1:]),
              tracks["nodes"])


@case
def a_moment_and_a_trace_that_is_still_written(directory):
    path = trace("python3")
    data = page_data(drawn(directory, path, "a.html", "--alive-at", "50%"))
    equal(data["nodes"]["live"][0],
          summary(path, "--alive-at", "50%")["live_bytes"], "at a moment")
    check("tracks" not in data, "at a moment nothing ends")
    with being_written(directory) as path:
        data = page_data(drawn(directory, path, "b.html"))
        said = summary(path)
        check(said["allocations"] > 0, "it has allocated")
        for cost, key in SUMMARY.items():
            equal(data["nodes"][cost][0], said[key], "so far: " + cost)
        equal(sum(sum(track) for track in data["tracks"]["live"]),
              said["live_bytes"], "over time, so far")


@case
def picture_is_driven(directory):
    path = trace("many_names")
    picture = drawn(directory, path, "a.svg", "--cost", "count")
    said = browsed("flamegraph.mjs", {"a": {
        "kind": "picture", "file": picture, "click": OUTER,
        "find": "^odd|^outer|^middle"}})["a"]
    total = summary(path)["allocations"]
    whole = boxes_named(said["before"], "all")[0]
    outer = boxes_named(said["before"], OUTER)[0]
    equal(round(whole["width"]), 979, "the width of all")
    check(abs(outer["width"] / whole["width"] -
              through(path, OUTER, "count") / total) < .002,
          "the share of outer: %s of %s" % (outer, whole))
    equal(exact(said["told"]), through(path, OUTER, "count"),
          "told of outer")
    zoomed = boxes_named(said["zoomed"], OUTER)
    equal([round(box["width"]) for box in zoomed], [979], "zoomed")
    check(not boxes_named(said["zoomed"], HARD[0]), "others are hidden")
    check(boxes_named(said["zoomed"], "middle"), "what it called is shown")
    deep = {box["name"]: box["y"] for box in said["turned"]}
    check(deep["middle"] < deep["all"], "a flame grows upwards")
    equal(said["after"], said["before"], "after the reset")
    odd = sum(through(path, name, "count") for name in HARD[:4] + [OUTER])
    equal(exact(said["found"]), odd, "found")
    check("%.1f%%" % (100 * odd / total) in said["found"], said["found"])
    equal(said["coloured"], int(said["found"].split()[0]), "coloured")
    check("not a regular" in said["wrong"], said["wrong"])
    equal(said["cleared"], "", "after Escape")
    equal(round(boxes_named(said["narrow"], "all")[0]["width"]), 679,
          "in a narrow window")
    for boxes in (said["before"], said["zoomed"], said["narrow"]):
        check(all(box["over"] <= 0 for box in boxes), "names are cut: %s" %
              [box for box in boxes if box["over"] > 0])


@case
def picture_stands_still(directory):
    """Well-formed, and a picture without its script, too."""
    need("xmllint")
    files = {}
    for name in PROGRAMS:
        for cost in ("live", "total", "count"):
            if name == "cc1plus" and cost != "live":
                continue
            output = drawn(directory, trace(name), "%s.%s.svg" % (name, cost),
                           "--cost", cost, "--full-names",
                           "--layout", "flame")
            done = bare(["xmllint", "--noout", output])
            equal((done.status, done.err), (0, ""), output)
            files[name, cost] = output
    with open(files["many_names", "total"], encoding="utf-8") as file:
        text = file.read()
    check("odd&lt;a&gt;&amp;amp;{b}[c] 17" in text, "an escaped name")
    check(re.search(r"[^\n]{10000}", text), "the long name is shorter")
    said = browsed("flamegraph.mjs", {cost: {
        "kind": "still", "file": files["many_names", cost]}
        for cost in ("live", "count")})
    for cost in ("live", "count"):
        equal(exact(said[cost]["about"]),
              summary(trace("many_names"))[SUMMARY[cost]], cost)
        boxes = said[cost]["boxes"]
        check(all(box["over"] <= 0 for box in boxes), "names are cut")
        check(boxes_named(boxes, "work(int)"), "boxes have names")


@case
def filters_and_words(directory):
    """Filters hold, and are said; the format goes by the output's name."""
    path = trace("sqlite3")
    words = ("--size-min", "1k", "--function", "sqlite3_step")
    for cost in ("live", "total", "count"):
        with open(drawn(directory, path, cost + ".svg", "--cost", cost,
                        *words), encoding="utf-8") as file:
            about = re.search(r'class="about"[^>]*>([^<]*)', file.read())
        equal(exact(about.group(1)), summary(path, *words)[SUMMARY[cost]],
              cost)
        check("--size-min 1k" in about.group(1), about.group(1))
    for name, words, begin in (
            ("a.html", (), "<!DOCTYPE"), ("a.htm", (), "<!DOCTYPE"),
            ("a.svg", (), "<?xml"), ("a", (), "<?xml"),
            ("A.HTML", (), "<!DOCTYPE"), ("b.html", ("--html",), "<!DOCTYPE"),
            ("b", ("--html",), "<!DOCTYPE"), ("b.svg", ("--svg",), "<?xml"),
            ("b.txt", ("--svg",), "<?xml")):
        with open(drawn(directory, path, name, *words),
                  encoding="utf-8") as file:
            check(file.read().startswith(begin), name)
    check(gnomon("flamegraph", path).out.startswith("<?xml"), "to stdout")
    gnomon("flamegraph", os.path.join(directory, "none"), statuses=(2,))


@case
def a_name_that_contradicts_the_format(directory):
    path = trace("sqlite3")
    for name, words, remedy in (
            ("a.svg", ("--html",), "remove --html"),
            ("a.SVG", ("--html",), "remove --html"),
            ("a.html", ("--svg",), "remove --svg"),
            ("a.htm", ("--svg",), "remove --svg"),
            ("a.png", (), "name it .svg or .html"),
            ("a.png", ("--svg",), "name it .svg or .html"),
            ("a.PDF", ("--html",), "name it .svg or .html"),
            ("a.svg", ("--svg", "--html"), "one of them"),
            ("a.html", ("--html", "--svg"), "one of them")):
        output = os.path.join(directory, name)
        done = gnomon("flamegraph", path, "-o", output, *words,
                      statuses=(2,))
        check(remedy in done.err, "%s %s: %s" % (name, words, done.err))
        check(not os.path.exists(output), name + " is not written")


main()
