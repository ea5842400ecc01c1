#!/usr/bin/python3
"""The page of `gnomon serve` in errors: no trace, a damaged one, names like
markup, a server that is gone. The page reports the error, and recovers when it
can."""

import os

from browser import browsed
from gnomon_test import GNOMON, case, check, equal, main, program, recorded
from served import Server, walked

ALL = ["overview", "flame?cost=total", "groups?by=stack&sort=total",
       "tree?sort=total", "callers?sort=total", "blocks", "histograms",
       "threads", "memory", "diff?of=moments&before=10%25",
       "diff?of=moments&before=10%25&as=graph", "source?of=main",
       "sql?q=select function, live_bytes from sums"]


def of_all(server, *steps):
    """By view, what the steps read of it."""
    said = walked(server, **{"v%d" % i: ["#" + view, *steps]
                             for i, view in enumerate(ALL)})
    return {view: said["v%d" % i] for i, view in enumerate(ALL)}


@case
def there_is_no_trace(directory):
    with Server(directory) as server:
        none = browsed("serve.mjs", {"url": server.url, "runs": {"none": {
            "list": [["wait", "#view .state:has-text('no trace')"],
                     ["text", "said", "#view"]], "bare": True}}})["none"]
    check("no trace yet" in none["said"], none)


@case
def filters_select_nothing(directory):
    done = recorded([program("leaky")], directory)
    with Server(done.trace) as server:
        nothing = walked(server, nothing=[
            "#groups?size-min=1G", ["text", "said", "#view"],
            ["button", "Remove all filters"], ["hash", "hash"]])["nothing"]
    check("filters select" in nothing["said"], nothing)
    check("size-min" not in nothing["hash"], nothing)


@case
def long_work_says_how_far_it_is(directory):
    trace = recorded([program("churn"), "3000000"], directory).trace
    with Server(trace) as server:
        said = browsed("serve.mjs", {"url": server.url, "runs": {"long": {
            "bare": True, "hash": "#groups",
            "list": [["wait", ".part.busy[data-doing^='reading trace, '], "
                      ".t-row"],
                     ["count", "doing", "[data-doing$='%']"],
                     ["wait", ".t-row"],
                     ["count", "left", "[data-doing]"]]}}})["long"]
    check(said["doing"] > 0, "nothing was said while it was read")
    equal(said["left"], 0, "it is done")
    # The overview's sentences come with a call that another slot has made.
    os.unlink(trace + ".idx")
    with Server(trace) as server:
        said = browsed("serve.mjs", {"url": server.url, "runs": {"first": {
            "bare": True, "hash": "#overview",
            "list": [["wait", ".finding-part[data-doing$='%'], .finding"],
                     ["count", "doing", ".finding-part[data-doing$='%']"],
                     ["wait", ".finding"]]}}})["first"]
    check(said["doing"] > 0, "nothing was said before the first answer")


@case
def a_trace_is_cut(directory):
    done = recorded([program("leaky")], directory)
    with open(done.trace, "r+b") as trace:
        trace.truncate(os.path.getsize(done.trace) * 2 // 3)
    with Server(done.trace) as server:
        cut = walked(server, cut=["#groups", ["text", "said", "#view"]],
                     over=["", ["texts", "cards", ".finding"]])
    check(cut["cut"]["said"] and cut["over"]["cards"], cut)


@case
def a_trace_is_damaged_in_the_middle(directory):
    """All views show what is left; the overview says what is not."""
    done = recorded([program("crossfree")], directory)
    size = os.path.getsize(done.trace)
    with open(done.trace, "r+b") as trace:
        for part in (.3, .5, .7):
            trace.seek(int(size * part))
            byte = trace.read(1)[0]
            trace.seek(int(size * part))
            trace.write(bytes([byte ^ 0x5a]))
    with Server(done.trace) as server:
        said = of_all(server, ["text", "view", "#view"],
                      ["texts", "notes", ".note p"])
    for view, one in said.items():
        check(len(one["view"]) > 20, "%s: %s" % (view, one))
    check("amaged" in said["overview"]["view"], said["overview"])
    check("produce" in said["groups?by=stack&sort=total"]["view"] or
          "tgt_malloc" in said["groups?by=stack&sort=total"]["view"],
          said["groups?by=stack&sort=total"])


@case
def markup_in_names_stays_text(directory):
    """Files, commands and functions are called like elements and scripts: none
    of them becomes one."""
    evil = "<img src=x onerror=injected=1><script>injected=2<script>"
    name = "<b><i onclick=injected=3>.trace"
    recorded([program("many_names"), evil], directory,
             options=("-o", os.path.join(directory, name)))
    read = [["injected", "injected"], ["text", "what", "#what"],
            ["text", "name", "#trace option"]]
    with Server(directory) as server:
        said = of_all(server, *read)
        # what is no name, or no moment, is refused: the console says so, too
        said.update(walked(server, True, **{
            "a statement": ["#sql?q=select '%s' as x" % evil, *read],
            "a function": ["#source?of=" + evil, *read],
            "a filter": ["#groups?function=" + evil, *read],
            "a search": ["#flame?search=" + evil, *read],
            "moments": ["#diff?of=moments&before=" + evil, *read],
            "a box": ["#flame?cost=total", ["fill", "search", "odd<a>"],
                      ["press", "Enter"], ["text", "box", "#details h2"],
                      *read],
            "a menu": ["#groups?by=within-function&sort=total&function=odd<a>",
                       ["rightRow", "odd<a>"],
                       ["text", "menu", "[role=menu]"], *read]}))
    for view, one in said.items():
        equal(one["injected"], [None, 0], view)
        check(evil[:20] in one["what"], one["what"])
        equal(one["name"].strip(), name, "the trace")
    check("odd<a>&amp;{b}" in said["a box"]["box"], said["a box"])
    check("odd<a>" in said["a menu"]["menu"], said["a menu"])


@case
def the_server_goes_and_comes_back(directory):
    """The page says that it is gone, and shows what it was asked for when
    there is one at the same address again."""
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        said = browsed("serve.mjs", {"url": server.url, "runs": {"gone": {
            "bare": True, "hash": "#groups?by=function&sort=total", "list": [
                ["wait", ".t-row"], ["kill", server.process.pid],
                ["shown", "#gone"], ["text", "banner", "#gone"],
                ["link", "Tree"], ["wait", ".state.failed"],
                ["text", "failed", ".state.failed"],
                ["serve", [GNOMON, "serve", "--port", str(server.port),
                           done.trace]],
                ["gone", "#gone"], ["wait", ".t-row"],
                ["texts", "rows", ".t-row code"],
                ["link", "Groups"], ["wait", ".t-row .t-cell.right"],
                ["count", "failures", ".failed"]]}}},
            may_fail=True)["gone"]
    check("does not answer" in said["banner"], said)
    check("does not answer" in said["failed"], said)
    check("main" in said["rows"], said["rows"])
    equal(said["failures"], 0, "still failed")


if __name__ == "__main__":
    main()
