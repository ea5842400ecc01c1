#!/usr/bin/python3
"""The page of `gnomon serve` for everybody: in light and in dark, no view, pane,
menu or message has a fault that axe-core calls serious."""

import os

from browser import browsed
from gnomon_test import case, equal, main, program, recorded
from served import Server

AXE = [["axe", "light"], ["scheme", "dark"], ["axe", "dark"]]

# What is open when it is looked at.
VIEWS = {
    "overview": ["#overview", *AXE],
    "brushed": ["#overview", ["drag", ".lanes-section .lanes", .1, .6], *AXE],
    "moment": ["#overview", ["right", ".lanes-section .lanes"], *AXE],
    "flame": ["#flame?cost=peak", ["fill", "search", "hold_at"], *AXE],
    "groups": ["#groups?by=site&sort=live", ["row", "just_above"], *AXE],
    "by stack": ["#groups?by=stack&sort=total", *AXE],
    "menu": ["#groups?by=site&sort=live", ["rightRow", "just_above"], *AXE],
    "tree": ["#tree?sort=live", *AXE],
    "callers": ["#callers?of=main", *AXE],
    "allocations": ["#blocks", ["row", "known_answers"], *AXE],
    "histograms": ["#histograms", *AXE],
    "brushed sizes": ["#histograms", ["drag", ".density-chart", .1, .9], *AXE],
    "threads": ["#threads", *AXE],
    "memory": ["#memory", *AXE],
    "diff": ["#diff?trace=b&old=a&cost=total&by=function", *AXE],
    "differential": ["#diff?trace=b&old=a&cost=total&as=graph", *AXE],
    "moments": ["#diff?trace=b&of=moments&before=10%25", *AXE],
    "source": ["#source?of=just_above", *AXE],
    "sql": ["#sql?q=select function, live_bytes from sums", *AXE],
    "chart": ["#sql?as=chart&q=select step, live_bytes from timeline where "
              "steps = 50", *AXE],
    "filters": ["#groups", ["press", "f"], *AXE],
    "filtered": ["#groups?size-min=64&function=main&fate=freed", *AXE],
    "keys": ["#groups", ["press", "?"], *AXE],
    "nothing": ["#groups?size-min=1G", *AXE],
}


def faults(server, runs, gone=False):
    said = browsed("serve.mjs", {"url": server.url, "runs": runs},
                   may_fail=gone)
    for name in runs:
        equal((said[name]["light"], said[name]["dark"]), ([], []), name)


@case
def nothing_serious_in_light_and_dark(directory):
    for name in "ab":
        recorded([program("known_answers")], directory, options=(
            "--free-stacks", "--snapshot-every", "10ms",
            "-o", os.path.join(directory, name + ".trace")))
    with Server(directory) as server:
        faults(server, {name: {"hash": steps[0], "list": steps[1:]}
                        for name, steps in VIEWS.items()})


@case
def messages_in_light_and_dark(directory):
    """That there is no trace, and that the server is gone."""
    empty = os.path.join(directory, "empty")
    os.mkdir(empty)
    with Server(empty) as server:
        faults(server, {"no trace": {"bare": True, "list": [
            ["wait", "#view .state:has-text('no trace')"], *AXE]}})
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        faults(server, {"gone": {"bare": True, "hash": "#groups", "list": [
            ["wait", ".t-row"],
            ["kill", server.process.pid], ["link", "Tree"],
            ["wait", ".state.failed"], *AXE]}}, gone=True)


if __name__ == "__main__":
    main()
