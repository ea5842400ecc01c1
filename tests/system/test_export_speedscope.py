#!/usr/bin/python3
"""`gnomon export --format speedscope`, read by speedscope itself in a browser
and checked against its own schema."""

import contextlib
import functools
import http.server
import json
import os
import re
import threading

from browser import UI, browsed, need_npm
from exported import (PROGRAMS, SUMMARY, being_written, exported, summary,
                      trace)
from gnomon_test import HEADER_SIZE, case, check, equal, main

NAMES = {"live": "live bytes", "peak": "bytes at the peak",
         "total": "bytes in total", "count": "allocations",
         "temporary": "temporary allocations"}
PACKAGE = os.path.join(UI, "node_modules", "speedscope", "dist", "release")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Speedscope, and beside it the files of a test."""

    def __init__(self, *arguments, folder, **more):
        self.folder = folder
        super().__init__(*arguments, directory=PACKAGE, **more)

    def translate_path(self, path):
        own = os.path.join(self.folder, os.path.basename(path))
        return own if path.endswith(".json") else super().translate_path(path)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@contextlib.contextmanager
def served(folder):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, folder=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield "http://127.0.0.1:%d" % server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def looked(folder, *names):
    """What speedscope says of files in a folder."""
    schema = os.path.join(PACKAGE, "file-format-schema.json")
    need_npm("speedscope")
    with served(folder) as base:
        said = browsed("speedscope.mjs", {
            "schema": schema, "base": base, "folder": folder,
            "files": list(names)})["said"]
    for name in names:
        check(said[name]["valid"], "%s: %s" % (name, said[name]["wrong"]))
        equal([one["name"] for one in said[name]["shown"]],
              list(NAMES.values()), "profiles")
        equal([one["name"] for one in said[name]["profiles"]],
              list(NAMES.values()), "profiles it holds")
    return said


@functools.lru_cache(None)
def said_of(name):
    return summary(trace(name))


def written(path, folder, name, *words, **more):
    exported(path, "speedscope", *words, output=os.path.join(folder, name),
             **more)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def sums(document):
    """By cost, of the file."""
    return {cost: sum(next(one for one in document["profiles"]
                           if one["name"] == name)["weights"])
            for cost, name in NAMES.items()}


def wanted(said):
    return {cost: said[SUMMARY[cost]] for cost in NAMES}


def span(profile):
    return profile["endValue"] - profile["startValue"]


def held(said):
    """By cost, of what speedscope writes when it exports again."""
    return {cost: span(one) for cost, one in zip(NAMES, said["profiles"])}


def shown(text):
    """A figure of its table: "1.50 KB (3.2%)" or "4,512 (12%)"."""
    number, unit = re.match(r"([\d,.]+)(?: ([KMG]?B))? \(", text).groups()
    return float(number.replace(",", "")) * 1024 ** (
        ["B", "KB", "MB", "GB"].index(unit) if unit else 0)


def own_by_name(profile, frames):
    """What each function has by itself, from events that open and close."""
    values, stack, last = {}, [], profile["startValue"]
    for event in profile["events"]:
        if stack and event["at"] > last:
            name = frames[stack[-1]]["name"]
            values[name] = values.get(name, 0) + event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            equal(stack.pop(), event["frame"], "what is closed")
    return values


@case
def totals_are_those_of_the_report(directory):
    for name in PROGRAMS:
        document = written(trace(name), directory, name + ".json")
        equal(sums(document), wanted(said_of(name)), name)
    said = looked(directory, *[name + ".json" for name in PROGRAMS])
    for name in PROGRAMS:
        got, totals = said[name + ".json"], wanted(said_of(name))
        equal(held(got), totals, name + ", as speedscope holds it")
        equal(got["first"], NAMES["live"], "shown first")
        equal(got["name"], os.path.basename(said_of(name)["program"]),
              "the name")


@case
def it_shows_them(directory):
    """Its table of functions, of which those that allocate come first."""
    written(trace("many_names"), directory, "a.json", "--cost", "count")
    got = looked(directory, "a.json")["a.json"]
    said = said_of("many_names")
    equal(got["first"], NAMES["count"], "shown first")
    for cost, one in zip(NAMES, got["shown"]):
        own = sum(shown(row[1]) for row in one["rows"])
        check(abs(own - said[SUMMARY[cost]]) <=
              said[SUMMARY[cost]] * 0.01, "%s: shows %s of %s" %
              (cost, own, said[SUMMARY[cost]]))
    check(own_by_name(got["profiles"][3], got["frames"])
          ["take(unsigned long)"] > 4000, "its own allocations")


@case
def filters_hold(directory):
    for name, words in (("sqlite3", ("--function", "sqlite3_step")),
                        ("python3", ("--size-min", "1k")),
                        ("cc1plus", ("--alive-at", "50%")),
                        ("many_names", ("--lifetime-max", "10s"))):
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        equal(sums(written(trace(name), directory, "a.json", *words)),
              wanted(said), "%s %s" % (name, words))


@case
def names_survive(directory):
    written(trace("many_names"), directory, "a.json", "--full-names",
            "--cost", "count")
    one = looked(directory, "a.json")["a.json"]
    names = [frame["name"] for frame in one["frames"]]
    for name in ("odd name with blanks", "odd'quote,comma`",
                 "odd;semicolon#hash", "odd<a>&amp;{b}[c] 17",
                 "größe_日本(unsigned long)",
                 "operators::operator,(unsigned long)"):
        check(name in names, "%s is not among %s" % (name, sorted(names)))
    check(max(map(len, names)) > 10000, "the long name is shorter")
    lines = {frame["name"]: frame for frame in one["frames"]}
    for name in ("innermost", "middle", "outer(unsigned long)"):
        check(lines[name]["file"].endswith("many_names.cc") and
              lines[name]["line"] > 20, "where it is: %s" % lines[name])
    stack = []
    for event in one["profiles"][3]["events"]:
        if event["type"] == "O":
            stack.append(names[event["frame"]])
            if stack[-1] == "innermost":
                equal(stack[-3:-1], ["outer(unsigned long)", "middle"],
                      "inlined frames")
        else:
            stack.pop()


@case
def traces_with_nothing_in_them(directory):
    cut = os.path.join(directory, "cut.trace")
    with open(trace("many_names"), "rb") as file:
        head = file.read(HEADER_SIZE)
    with open(cut, "wb") as file:
        file.write(head)
    written(cut, directory, "a.json", statuses=(0, 3))
    written(trace("many_names"), directory, "b.json", "--size-min", "1T")
    said = looked(directory, "a.json", "b.json")
    for name, got in said.items():
        equal(held(got), dict.fromkeys(NAMES, 0), name)


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as written_now:
        path = written_now
        document = written(path, directory, "a.json")
        said = summary(path)
        check(said["allocations"] > 0, "it has allocated")
        equal(sums(document), wanted(said), "so far")


main()
