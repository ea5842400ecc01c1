#!/usr/bin/python3
"""Each call of docs/REST.md, as written there, and its documented answer."""

import json
import os
import re
import shlex

from gnomon_test import case, check, equal, main
from served import Server, planted

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "docs")
TAKES_VALUE = {"-d": "body", "-X": "method"}
SWITCHES = {"-N", "-i", "--compressed"}


def examples(name):
    """(words of curl, the line behind it)"""
    with open(os.path.join(DOCS, name), encoding="utf-8") as text:
        return re.findall(r"^    \$ curl (.*)\n    (\d.*)$", text.read(), re.M)


def call(words):
    """The path, and what `Server.ask` gets."""
    more, path, left = {}, None, shlex.split(words)
    while left:
        word = left.pop(0)
        if word in TAKES_VALUE:
            more[TAKES_VALUE[word]] = left.pop(0)
        elif word not in SWITCHES:
            path = word[len("http://localhost:8080"):]
            check(word.startswith("http://localhost:8080/"), word)
    if "body" in more:
        more.setdefault("method", "POST")
    return path, more


def objects(text):
    """All of them, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        one, at = decoder.raw_decode(text, at)
        yield one
        at += len(text[at:]) - len(text[at:].lstrip())


def check_answer(server, words, wanted):
    path, more = call(words)
    status, *names = wanted.split()
    if names[0] == "text/event-stream":
        got = server.sent(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" %
                           path).encode(), until=b"\n\n")
        check(b"200 OK" in got and b"text/event-stream" in got, got[:300])
        return
    got = server.ask(path, **more)
    equal(got.status, int(status), "%s: %r" % (words, got.body[:300]))
    if "/" in names[0]:
        equal(got.getheader("Content-Type").split(";")[0], names[0], words)
        return
    for one in objects(got.body.decode()):
        equal([name for name in names if name not in one], [], words)


def run_examples(directory, name, least):
    with Server(planted(directory)) as server:
        trace = server.traces()[0]["id"]
        found = examples(name)
        check(len(found) >= least, "%s: %d examples" % (name, len(found)))
        for words, wanted in found:
            check_answer(server, re.sub(r"\bID\b", trace, words), wanted)


@case
def rest(directory):
    run_examples(directory, "REST.md", 30)


@case
def fleet(directory):
    run_examples(directory, "FLEET.md", 3)


@case
def calls_are_documented(directory):
    with open(os.path.join(DOCS, "REST.md"), encoding="utf-8") as text:
        docs = text.read()
    with open(os.path.join(DOCS, "..", "cli", "serve", "route.c"),
              encoding="utf-8") as source:
        names = re.findall(r'\.name = "([^"]+)"', source.read())
    check(len(names) > 10, names)
    equal([name for name in names if not name.startswith("export/") and
           name not in docs], [], "not in REST.md")


@case
def comparison_names_its_tests(_directory):
    """Each yes of docs/COMPARISON.md has a case that is there, in a file that
    is there; so have its pictures."""
    with open(os.path.join(DOCS, "COMPARISON.md"), encoding="utf-8") as file:
        text = file.read()
    named = re.findall(r"\[`(\w+)`\]\(\.\./tests/system/(\w+\.py)\)", text)
    check(len(named) > 25, "%d cases" % len(named))
    for name, path in named:
        with open(os.path.join(DOCS, "..", "tests", "system", path),
                  encoding="utf-8") as file:
            check("@case\ndef %s(" % name in file.read(),
                  "%s has no case %s" % (path, name))
    for row in text.splitlines():
        cells = row.split(" | ")
        check(len(cells) < 2 or not cells[1].startswith("yes") or
              "tests/system/" in cells[1], "no test: " + row)
    for view in os.listdir(os.path.join(DOCS, "images")):
        check(os.path.getsize(os.path.join(DOCS, "images", view)) <= 120000,
              view)


if __name__ == "__main__":
    main()
