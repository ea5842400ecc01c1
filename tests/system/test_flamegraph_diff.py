#!/usr/bin/python3
"""`gnomon flamegraph --diff`: differences between two traces, or two moments of
one, as a picture and as a page, with the numbers of `gnomon diff`."""

import json
import os
import re

from browser import browsed
from gnomon_test import bare, case, check, equal, GNOMON, gnomon, main, \
    program, recorded

COSTS = ("live", "peak", "total", "count", "temporary")
# of the program `changing`: live bytes before and after
CHANGES = {"tgt_grown": (1000, 3000), "tgt_shrunk": (5000, 2000),
           "tgt_gone": (64, 0), "tgt_new": (0, 48), "tgt_same": (500, 500)}
CLASSES = {"tgt_grown": "more3", "tgt_shrunk": "less3", "tgt_gone": "less4",
           "tgt_new": "more4", "tgt_same": "same"}


def two(directory):
    for name in ("before", "after"):
        recorded([program("changing"), name], directory, options=(
            "-o", os.path.join(directory, name + ".trace")))
    return [os.path.join(directory, name + ".trace")
            for name in ("before", "after")]


def nodes_of(tree):
    """A dictionary for each node: its name, and all its columns."""
    names = [tree["strings"][tree["frames"][6 * frame]] if frame >= 0 else
             "(rest)" for frame in tree["nodes"]["frame"]]
    return [{"name": name, **{column: values[i] for column, values in
                              tree["nodes"].items()}}
            for i, name in enumerate(names)]


def own(nodes, column):
    """What each node has without those inside of it."""
    left = [node[column] for node in nodes]
    path = []
    for i, node in enumerate(nodes):
        del path[node["depth"]:]
        if path:
            left[path[-1]] -= node[column]
        path.append(i)
    return left


def drawn(*arguments):
    return json.loads(gnomon("flamegraph", "--diff", "--json", *arguments).out)


def compared(*arguments):
    return json.loads(gnomon("diff", "--json", "--top", "0", *arguments,
                             statuses=(0, 1)).out)


def agree(tree, document):
    """Sums of both sides, and what each stack has changed by."""
    nodes = nodes_of(tree)
    for cost in COSTS:
        key = {"count": "allocations", "temporary": cost}.get(
            cost, cost + "_bytes")
        equal((nodes[0]["before_" + cost], nodes[0][cost]),
              tuple(document["summary"][side][key]
                    for side in ("before", "after")), cost)
        rows = [row["difference"] for row in document["rows"]
                if row["cost"] == cost]
        stacks = zip(own(nodes, "before_" + cost), own(nodes, cost),
                     own(nodes, "change_" + cost))
        changes = []
        for before, after, change in stacks:
            equal(abs(after - before), change, "a change of " + cost)
            changes += [after - before] if change else []
        equal(sorted(changes), sorted(rows), "changes of " + cost)
        equal(nodes[0]["change_" + cost], sum(map(abs, rows)),
              "the sum of " + cost)


@case
def figures_are_those_of_diff(directory):
    before, after = two(directory)
    tree = drawn(before, after)
    agree(tree, compared(before, after))
    equal(tree["diff"], {"before": before, "after": after}, "sides")
    for name, (was, is_) in CHANGES.items():
        node = next(one for one in nodes_of(tree) if one["name"] == name and
                    (one["live"] or one["before_live"]))
        equal((node["before_live"], node["live"], node["change_live"]),
              (was, is_, abs(is_ - was)), name)
    agree(drawn(before, after, "--function", "tgt_new", "--function",
                "tgt_gone"),
          compared(before, after, "--function", "tgt_new", "--function",
                   "tgt_gone"))


@case
def moments_are_those_of_diff(directory):
    done = recorded([program("known_answers")], directory)
    moments = ("--from", "30%", "--to", "70%")
    tree = drawn(done.trace, *moments)
    agree(tree, compared(done.trace, *moments))
    check(tree["diff"]["before"].endswith(" at 30%"), tree["diff"])
    check(tree["nodes"]["change_live"][0] > 0, "nothing has changed")
    # without --diff they are filters
    some = json.loads(gnomon("flamegraph", "--json", done.trace,
                             *moments).out)
    report = json.loads(gnomon("report", "--json", done.trace,
                               *moments).out)
    equal(some["nodes"]["count"][0], sum(
        row["count"] for row in report["rows"]), "filtered")


@case
def colours_and_widths_say_it(directory):
    """In the picture and on the page: what is red has grown, what is blue has
    shrunk; as wide as on its larger side, or as the change is."""
    before, after = two(directory)
    for name in ("a.svg", "a.html"):
        gnomon("flamegraph", "--diff", before, after, "-o",
               os.path.join(directory, name))
    with open(os.path.join(directory, "a.svg"), encoding="utf-8") as file:
        boxes = re.findall(r'<g class="f (\w+)" data-s="\d+" data-v="(\d+)"'
                           r'.*?<title>(.*?)\n', file.read())
    seen = {name: (kind, int(value)) for kind, value, name in boxes
            if name in CHANGES and value != "0"}
    equal(seen, {name: (CLASSES[name], max(CHANGES[name]))
                 for name in CHANGES}, "boxes")
    said = browsed("flamegraph.mjs", {"page": {
        "kind": "compared", "file": os.path.join(directory, "a.html"),
        "names": sorted(CHANGES)}})["page"]
    equal(said["title"], "%s → %s" % (before, after), "title")
    equal(said["legend"][0], "gone", "legend")
    equal(said["whole"]["live"], ["6.4K", "5.4K", "−1016 B"], "the whole")
    equal(said["found"]["tgt_grown"], "1 found: 1000 B → 2.9K, +2.0K", "found")
    equal(said["figures"]["tgt_new"]["live"], ["0 B", "48 B", "+48 B"], "new")
    equal(said["figures"]["tgt_same"]["live"], ["500 B", "500 B", "–"], "same")
    whole = sum(max(one) for one in CHANGES.values())
    change = sum(abs(was - is_) for was, is_ in CHANGES.values())
    for name, (was, is_) in CHANGES.items():
        for widths, part in (("all", max(was, is_) / whole),
                             ("changes", abs(was - is_) / change)):
            got = said[widths].get(name, 0)
            check(abs(got - part) < .01, "%s, %s: %s of %s" % (
                name, widths, got, part))
    # red has more red than blue, and the other way round
    red, blue = (said["colours"][name] for name in ("tgt_grown",
                                                    "tgt_shrunk"))
    check(red[0] > red[2] and blue[2] > blue[0], said["colours"])
    equal(said["turned"], "tgt_grown", "from allocation")


@case
def wrong_use(directory):
    before, after = two(directory)
    for arguments in ([before], [before, after, before],
                      [before, after + ".none"], [before, after, "--to", "x"]):
        done = bare([GNOMON, "flamegraph", "--diff", *arguments])
        equal(done.status, 2, " ".join(arguments))
        check(done.err.startswith("gnomon: "), done.err)
        equal(done.out, "", "output")


if __name__ == "__main__":
    main()
