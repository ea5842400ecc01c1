#!/usr/bin/python3
"""The page of `gnomon serve`, in a browser: leaks, peaks and churn planted in
the programs are found by following what a user sees."""

import os
import re

from browser import browsed
from gnomon_test import GNOMON, case, check, equal, main, program, recorded
from served import Server, printed, walked

AXE = [["axe", "axe"]]


def planted(directory):
    return recorded([program("known_answers")], directory,
                    options=("--free-stacks", "--snapshot-every", "10ms"))


@case
def overview_says_the_answers(directory):
    """A leak, the peak's owner and a storm of temporary blocks are named, each
    with a link to where they are seen."""
    done = planted(directory)
    is_ = done.expected
    with Server(done.trace) as server:
        said = walked(
            server,
            answers=["", ["texts", "cards", ".finding"],
                     ["texts", "totals", ".totals div"],
                     ["texts", "lanes", ".lane-title strong"], *AXE],
            leak=["", ["link", "Who holds it"], ["hash", "at"],
                  ["texts", "rows", ".t-row .t-cell:first-child"]],
            peak=["", ["click", ".finding:has-text('Peak') a:text('Who held')"],
                  ["text", "first", ".t-row"],
                  ["back"], ["text", "title", "#views [aria-current]"],
                  ["forward"], ["text", "again", "#views [aria-current]"]],
            churn=["", ["click", ".finding:has-text('Churn') a"],
                   ["text", "first", ".t-row"]])
    cards = " ".join(said["answers"]["cards"])
    for word in ("just_above", "hold_at_peak", "Nothing was dropped"):
        check(word in cards, "%s: %s" % (word, cards))
    equal(said["answers"]["axe"], [], "faults")
    check(len(said["answers"]["lanes"]) == 5, said["answers"]["lanes"])
    check("12.0M" in " ".join(said["answers"]["totals"]), "the peak")
    check(any(row.startswith("just_above") for row in said["leak"]["rows"]),
          said["leak"])
    check("hold_at_peak" in said["peak"]["first"], said["peak"])
    equal((said["peak"]["title"], said["peak"]["again"]),
          ("Overview", "Groups"), "the way back")
    check("live_in_two_modes" in said["churn"]["first"] or
          "stay_the_same" in said["churn"]["first"], said["churn"])
    check(is_["leaked"] == 37, "planted")


@case
def brushes_filter_every_view(directory):
    """What is brushed in the overview is a filter, in the address too, that the
    other views have, and that can be taken off."""
    done = planted(directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            brush=["", ["drag", ".lanes-section .lanes", .02, .3],
                   ["hash", "brushed"], ["texts", "chips", ".chip-text"],
                   ["link", "Groups"], ["texts", "few", ".t-row"],
                   ["hash", "groups"], ["reload"],
                   ["texts", "reloaded", ".t-row"],
                   ["click", ".chip-remove"], ["texts", "all", ".t-row"],
                   ["hash", "none"]],
            keys=["", ["focus", ".lanes-section .lanes"],
                  *[["press", "Shift+ArrowRight"]] * 4, ["hash", "brushed"],
                  ["press", "Escape"], ["hash", "none"]],
            moment=["", ["right", ".lanes-section .lanes"],
                    ["texts", "items", "[role=menuitem]"],
                    ["item", "Alive here"], ["hash", "alive"]],
            frames=["", ["frames", "times", ".lanes-section .lanes"]])
    check("from=" in said["brush"]["brushed"] and
          "to=" in said["brush"]["brushed"], said["brush"]["brushed"])
    equal(len(said["brush"]["chips"]), 1, "chips")
    check("from=" in said["brush"]["groups"], "the filter went")
    # names and what orders them: own peaks come later than the rest
    few, again = ([row.split("\n")[:2] for row in said["brush"][name]]
                  for name in ("few", "reloaded"))
    equal(few, again, "after a reload")
    check(len(said["brush"]["few"]) < len(said["brush"]["all"]),
          "rows: %s, %s" % (said["brush"]["few"], said["brush"]["all"]))
    check("from=" not in said["brush"]["none"], "the filter stayed")
    check("from=" in said["keys"]["brushed"], said["keys"])
    check("from=" not in said["keys"]["none"], said["keys"])
    check("alive-at=" in said["moment"]["alive"], said["moment"])
    times = sorted(said["frames"]["times"])
    check(len(times) > 10, "frames: %s" % times)


@case
def stacks_lead_on(directory):
    """From a group to its stack, by the right mouse button to one function, and
    turned round to all others."""
    done = planted(directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            groups=["#groups?by=site&sort=live", ["row", "just_above"],
                    ["texts", "stack", ".frames code"], *AXE,
                    ["rightRow", "just_above"], ["item", "Only this row"],
                    ["texts", "only", ".t-row"],
                    ["click", "button.chip-label"],
                    ["texts", "others", ".t-row"], ["hash", "hash"]],
            search=["#groups?by=function&sort=total", ["press", "/"],
                    ["type", "storm"], ["texts", "rows", ".t-row"]],
            more=["#groups?by=library", ["row", "known_answers"],
                  ["texts", "stacks", ".more-stack summary code"],
                  ["click", ".more-stack summary"],
                  ["texts", "frames", ".more-stack .frames code"], *AXE],
            frees=["#groups?by=site", ["row", "hand_over"],
                   ["texts", "by", ".more-stack summary code"],
                   ["rightRow", "hand_over"], ["item", "All but this row"],
                   ["texts", "rows", ".t-row"]],
            without=["#groups?by=stack", ["texts", "all", ".t-row"],
                     ["rightRow", "just_above"],
                     ["item", "Not through just_above"],
                     ["rightRow", "hold_at_peak"],
                     ["item", "Not through hold_at_peak"],
                     ["texts", "chips", ".chip"], ["texts", "left", ".t-row"]],
            tree=["#tree?sort=live", ["texts", "rows", ".t-row code"],
                  *AXE, ["fill", "search functions", "leak_some"],
                  ["texts", "found", ".t-row code"]],
            callers=["#callers", ["row", "main"], ["fill", "search functions",
                     "leak_some"], ["row", "leak_some"],
                     ["texts", "near", ".near .t-row code"], *AXE])
    check("main" in said["groups"]["stack"], said["groups"])
    equal(len(said["groups"]["only"]), 1, "rows")
    check(said["groups"]["others"] and
          not any("just_above" in row for row in said["groups"]["others"]),
          said["groups"]["others"])
    check("not-function=" in said["groups"]["hash"], said["groups"])
    equal(len(said["search"]["rows"]), 1, "found")
    check("hold_at_peak" in said["more"]["stacks"] and
          "main" in said["more"]["frames"], said["more"])
    equal(said["more"]["axe"], [], "more")
    check("free_others" in said["frees"]["by"], said["frees"])
    check(said["frees"]["rows"] and not any("hand_over" in row
                                            for row in said["frees"]["rows"]),
          said["frees"])
    equal(len(said["without"]["chips"]), 2, "exclusions add up")
    equal(len(said["without"]["left"]), len(said["without"]["all"]) - 2,
          "rows")
    check("main" in said["tree"]["rows"], said["tree"])
    equal(said["tree"]["found"][-1], "leak_some", "found")
    check("main" in said["callers"]["near"], said["callers"])
    for view in ("groups", "tree", "callers"):
        equal(said[view]["axe"], [], view)


@case
def flame_graphs_keep_their_state(directory):
    """Cost, order and zoom are in the address, and come back with it."""
    done = planted(directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            flame=["#flame?cost=peak", ["text", "cost", ".shown th"], *AXE,
                   ["fill", "search", "hold_at"], ["text", "found", "#found"],
                   ["hash", "hash"], ["reload"],
                   ["text", "refound", "#found"],
                   ["press", "Tab"], ["click", "#orders label:last-child"],
                   ["press", "Enter"], ["hash", "turned"],
                   ["click", "#graph"], ["press", "Home"],
                   ["press", "ArrowDown"], ["press", "Enter"],
                   ["text", "name", "#details h2"], ["hash", "zoomed"],
                   ["reload"], ["text", "again", "#details h2"],
                   ["back"], ["hash", "back"]])["flame"]
    equal(said["cost"], "peak", "cost")
    equal(said["axe"], [], "faults")
    check("1 found: 12.0M" in said["found"], said["found"])
    equal(said["refound"], said["found"], "after a reload")
    check("order=callees" in said["turned"], said["turned"])
    equal(said["name"], "hold_at_peak", "the largest")
    check("zoom=" in said["zoomed"], said["zoomed"])
    equal(said["again"], said["name"], "after a reload")
    check("zoom=" not in said["back"], said["back"])


@case
def statements_are_completed_run_and_refused(directory):
    """A question of docs/SQL.md has its planted answer; a wrong name is marked
    where it stands; a row becomes a filter."""
    done = planted(directory)
    is_ = done.expected
    with Server(done.trace) as server:
        said = walked(
            server,
            question=["#sql", ["button", "Examples"],
                      ["item", "Who makes a storm"],
                      ["texts", "rows", ".t-row"], *AXE,
                      ["rightRow", "storm"], ["item", "Only function"],
                      ["hash", "filter"], ["texts", "chips", ".chip-text"]],
            chart=["#sql?as=chart&q=select step, live_bytes from timeline "
                   "where steps = 50", ["count", "lines", ".chart polyline"],
                   ["button", "Result as…"],
                   ["download", "svg", "Chart as SVG"]],
            complete=["#sql", ["fill", "SQL", ""], ["focus", "textarea"],
                      ["type", "select * from losses where cou"],
                      ["texts", "offered", ".completions code"],
                      ["press", "Tab"], ["type", " > 0 or mean"],
                      ["press", "Enter"], ["value", "text", "textarea"]])
        wrong = walked_wrongly(server)
    check("storm" in said["question"]["rows"][0] and
          "{:,}".format(is_["storm"]) in said["question"]["rows"][0],
          said["question"])
    equal(said["question"]["axe"], [], "faults")
    equal(said["question"]["chips"], ["storm"], "the filter")
    equal(said["chart"]["lines"], 1, "lines")
    check(said["chart"]["svg"].startswith("<svg"), "no picture")
    equal(said["complete"]["offered"][0], "count", "completion")
    equal(said["complete"]["text"],
          "select * from losses where count > 0 or meaning", "completed")
    equal(wrong, ["nope"], "marked")


@case
def sizes_and_lifetimes_are_brushed(directory):
    """What is dragged over in the picture becomes a filter of both."""
    done = planted(directory)
    with Server(done.trace) as server:
        runs = walked(
            server,
            keys=["#histograms", ["focus", ".density-chart"],
                  *[["press", "ArrowRight"]] * 3, ["press", "ArrowUp"],
                  ["text", "one", ".said-line"],
                  ["press", "Shift+ArrowRight"], ["text", "two", ".said-line"],
                  ["press", "Enter"], ["hash", "sizes"]],
            twice=["#histograms", ["focus", ".density-chart"],
                   *[["press", "ArrowRight"]] * 3, ["press", "ArrowUp"],
                   ["press", "Shift+ArrowRight"], ["twice", "Enter"],
                   ["hash", "sizes"]],
            both=["#histograms", ["count", "fields", ".field"], *AXE,
                  ["drag", ".density-chart", .1, .9],
                  ["hash", "sizes"], ["texts", "chips", ".chip"]])
    keys, said = runs["keys"], runs["both"]
    check(keys["one"] != keys["two"] and "–" in keys["two"], keys)
    check("size-min=" in keys["sizes"] and "lifetime-min" in keys["sizes"],
          keys)
    equal(runs["twice"]["sizes"], keys["sizes"], "after another Enter")
    check(said["fields"] > 50, said["fields"])
    equal(said["axe"], [], "faults")
    check("size-min=" in said["sizes"] and "size-max=" in said["sizes"],
          said["sizes"])
    check(len(said["chips"]) >= 2, said["chips"])


@case
def blocks_of_no_bytes_are_brushed(directory):
    """The first column has sizes 0 and 1: its filter keeps both."""
    done = recorded([program("no_bytes")], directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            none=["#histograms", ["focus", ".density-chart"],
                  ["press", "ArrowRight"], ["text", "said", ".said-line"],
                  ["press", "Enter"], ["hash", "hash"]])["none"]
    check("size-min=0&" in said["hash"] + "&", said)
    equal(said["said"], "0 B – 1 B, never freed, 3", "selection")


@case
def blocks_of_unknown_sizes_are_not_of_size_0(directory):
    """Blocks that were left out of the trace are counted beside the picture."""
    trace = recorded([program("known_answers")], directory,
                     options=["--cull=10s"]).trace
    left, = printed("sql", "--json", trace, "select sum(blocks) as blocks from "
                    "sums group by size_class, lifetime_class "
                    "having size_class is null")["rows"]
    with Server(trace) as server:
        said = walked(
            server,
            unknown=["#histograms", ["focus", ".density-chart"],
                     *[["press", "ArrowLeft"]] * 40,
                     ["text", "first", ".density .said-line"],
                     ["text", "left", ".part-body"]])["unknown"]
    check(left["blocks"] > 100, left)
    check(not said["first"].startswith("0 B"), said)
    equal(said["left"].split("\n")[-1], "Not shown, as sizes or lifetimes are unknown: "
          "{:,}".format(left["blocks"]), "what is not in the picture")


@case
def details_of_a_narrow_flame_graph_are_in_sight(directory):
    """They lie between the graph and the key, and behind neither."""
    with Server(planted(directory).trace) as server:
        said = walked(server, narrow=dict(
            hash="#flame", size=[700, 860],
            list=[["edges", "graph", "#graph"], ["edges", "last",
                  "#details tr:last-child"], ["edges", "key", ".flame-foot"]]))
    narrow = said["narrow"]
    check(narrow["graph"][1] < narrow["last"][0] and
          narrow["last"][1] <= narrow["key"][0], narrow)


@case
def threads_that_free_for_others_are_seen(directory):
    """Blocks that were handed over are off the diagonal of the matrix; a click
    tells which."""
    done = planted(directory)
    is_ = done.expected
    with Server(done.trace) as server:
        said = walked(
            server,
            threads=["#threads", ["texts", "cells", ".matrix .cell:not(.own)"],
                     *AXE, ["button", str(is_["handed"])],
                     ["item", "Blocks that the first"],
                     ["texts", "rows", ".t-row"]],
            # names do not depend on what comes first
            late=["", ["late", "**/sql?*", ".threads-body .plain a"],
                  ["go", "#threads"],
                  ["texts", "names", ".threads-body .plain a"]])
        late, said = said["late"], said["threads"]
    check(all(re.match("[a-z_]+ \\d+$", name) for name in late["names"]),
          late["names"])
    check(str(is_["handed"]) in said["cells"], said["cells"])
    equal(said["axe"], [], "faults")
    check("hand_over" in said["rows"][0] and "free_others" in said["rows"][0],
          said["rows"])


@case
def lines_have_costs(directory):
    """Of a function that leaks, the line that does; without the source, its
    instructions."""
    done = planted(directory)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with Server("--source-root", root, done.trace) as server:
        said = walked(
            server,
            lines=["#groups?by=site&sort=live", ["rightRow", "just_above"],
                   ["item", "Its source"], *AXE,
                   ["texts", "lines", ".source .costs"]])["lines"]
    with Server(done.trace) as server:
        code = walked(server, code=["#source?of=just_above",
                      ["texts", "code", ".source .costs"],
                      ["go", "#source?of=just_above&function=^main$"],
                      ["texts", "filtered", ".source .costs"]])["code"]
    check(any("malloc" in line and "25.0K" in line for line in said["lines"]),
          said)
    equal(said["axe"], [], "faults")
    check(any("call" in line and "25.0K" in line for line in code["code"]),
          code)
    equal(code["filtered"], code["code"], "all of it is called by main")


@case
def fragmentation_is_seen_to_scale(directory):
    """A few small blocks keep many pages: the bar of the heap says how little
    of it is live, and a drag over it looks into it."""
    done = recorded([program("pinned")], directory,
                    options=("--snapshot-every", "20ms"))
    with Server(done.trace) as server:
        said = walked(
            server,
            memory=["#memory", ["texts", "bars", ".space p"], *AXE,
                    ["texts", "maps", ".t-row"],
                    ["drag", ".space-bar", .2, .4],
                    ["texts", "chips", ".chip-label"],
                    ["texts", "inside", ".space p"]],
            figure=["#memory", ["text", "resident", ".resident"]],
            page=["#memory", ["focus", ".space-bar"], ["press", "Enter"],
                  ["text", "all", ".zoom h3"], ["texts", "owners",
                                                ".zoom tbody tr"], *AXE,
                  *[["press", "+"]] * 6, ["hash", "hash"],
                  ["text", "close", ".zoom h3"], ["reload"],
                  ["text", "again", ".zoom h3"],
                  ["texts", "near", ".zoom tbody tr"],
                  ["focus", ".zoom-picture"], ["press", "ArrowRight"],
                  ["text", "along", ".zoom h3"],
                  ["text", "here", ".zoom .said-line"], ["press", "Escape"],
                  ["hash", "closed"]],
            sorted=["#memory", ["button", "When"],
                    ["texts", "maps", ".t-row .t-cell:first-child"],
                    ["button", "Address"],
                    ["texts", "addresses", ".t-row .t-cell:first-child"]],
            mapping=["#memory", ["row", "[heap]"],
                     ["text", "used", ".side-spark h3"],
                     ["texts", "stack", ".frames code"], *AXE],
            said=["", ["texts", "cards", ".finding"]],
            owner=["#memory", ["link", "Whose blocks keep pages"],
                   ["text", "first", ".t-row"]])
    equal(said["memory"]["axe"], [], "faults")
    check("[heap]" in said["memory"]["bars"][0] and
          " 1.3%" in said["memory"]["bars"][0], said["memory"]["bars"])
    check(any("libc.so.6" in row for row in said["memory"]["maps"]), "maps")
    equal(len(said["memory"]["chips"]), 2, "filters")
    check(said["memory"]["inside"][0] != said["memory"]["bars"][0], "zoom")
    check(re.search(r"has [\d.]+M, of which 1\d\.\d% is live blocks; "
                    r"[\d.]+M is lost to fragmentation",
                    said["figure"]["resident"]), said["figure"])
    rows = said["sorted"]["addresses"]
    check(rows == sorted(rows, key=lambda text: int(text, 16)) and
          rows != said["sorted"]["maps"], rows)
    page = said["page"]
    for owner in "tgt_often", "tgt_seldom":
        check(any(row.startswith(owner) for row in page["owners"]), page)
    check(page["all"] != page["close"], page)
    equal(page["again"], page["close"], "after a reload")
    check("space=" in page["hash"] and "space=" not in page["closed"], page)
    check(page["along"] != page["again"], page)
    check(len(page["near"]) <= len(page["owners"]), page)
    check(page["here"].startswith("0x"), page["here"])
    check("snapshot" in said["mapping"]["used"] and
          "fill" in said["mapping"]["stack"], said["mapping"])
    for view in "page", "mapping":
        equal(said[view]["axe"], [], view)
    check(any("Fragmentation" in card and "tgt_often" in card
              for card in said["said"]["cards"]), said["said"])
    check("tgt_often" in said["owner"]["first"], said["owner"])


@case
def mappings_have_a_history(directory):
    """Of 40 MiB that the program mapped itself, and touched step by step."""
    done = recorded([program("memory_steps"), "steps", "120"], directory,
                    options=("--snapshot-every", "40ms"))
    with Server(done.trace) as server:
        said = walked(server, one=["#memory", ["row", "40.0M"],
                                   ["text", "used", ".side-spark"],
                                   ["texts", "stack", ".frames code"]])["one"]
    check("at most 40.0M" in said["used"], said["used"])
    check("steps" in said["stack"] and "main" in said["stack"], said["stack"])


@case
def traces_that_come_are_shown_by_themselves(directory):
    """A page that was opened before there was anything shows what is recorded
    then, and another one beside it."""
    def record(name, *argv):
        return ["record", [GNOMON, "run", "-q", "-o", os.path.join(
            directory, name + ".trace"), *argv]]

    with Server(directory) as server:
        said = browsed("serve.mjs", {"url": server.url, "runs": {"live": {
            "bare": True,
            "list": [["wait", "#view .state:has-text('no trace')"],
                     ["text", "before", "#view"],
                     record("first", program("leaky")),
                     ["wait", ".finding:has-text('leaked by')"],
                     ["texts", "leak", ".finding"],
                     record("second", program("leaky"), "20"),
                     ["wait", "#trace option:nth-child(2)"],
                     ["texts", "traces", "#trace option"]]}}})["live"]
    check("no trace yet" in said["before"], said["before"])
    check("1.5K" in " ".join(said["leak"]), said["leak"])
    equal(sorted(name.strip() for name in said["traces"]),
          ["first.trace", "second.trace"], "traces")


@case
def regressions_are_told(directory):
    """Between two builds, and between two moments of one run, what is new is in
    the table, with its stack; the command that says the same can be copied."""
    for count in ("", "20"):
        recorded([program("leaky"), *count.split()], directory,
                 options=("-o", os.path.join(directory, "leak%s.trace" % count)))
    with Server(directory) as server:
        said = walked(
            server,
            traces=["#diff?trace=leak20&old=leak&by=stack", *AXE,
                    ["texts", "rows", ".t-row"], ["row", "tgt_list"],
                    ["texts", "stack", ".frames code"],
                    ["button", "shrunk 0"], ["text", "none", "#view .state"]],
            moments=["#diff?trace=leak&of=moments&before=0%25",
                     ["texts", "rows", ".t-row"]],
            stacks=["#diff?trace=leak&of=moments&before=0%25&by=stack",
                    ["row", "tgt_recurse"],
                    ["texts", "stack", ".frames code"]],
            graph=["#diff?trace=leak20&old=leak",
                   ["button", "flame graph"], ["hash", "hash"],
                   ["texts", "live", "tr[data-cost=live] td"],
                   ["text", "legend", "#legend"],
                   ["fill", "search", "tgt_parse"],
                   ["text", "found", "#found"]],
            over_time=["#diff?trace=leak&of=moments&before=0%25&as=graph",
                       ["texts", "live", "tr[data-cost=live] td"]])
    equal(len(said["traces"]["rows"]), 1, "changes")
    check("+320 B" in said["traces"]["rows"][0], said["traces"]["rows"])
    check("tgt_parse" in said["traces"]["stack"], said["traces"]["stack"])
    equal(said["traces"]["axe"], [], "faults")
    equal(said["traces"]["none"], "Nothing is shrunk.", "empty")
    check(any("tgt_recurse" in row and "new" in row
              for row in said["moments"]["rows"]), said["moments"]["rows"])
    check("main" in said["stacks"]["stack"], said["stacks"])
    check("as=graph" in said["graph"]["hash"], said["graph"])
    equal(said["graph"]["live"][2], "+320 B", "the whole")
    check("gone" in said["graph"]["legend"], said["graph"])
    check(said["graph"]["found"].endswith("+320 B"), said["graph"]["found"])
    equal(said["over_time"]["live"][0], "0 B", "at the start")
    equal(said["over_time"]["live"][2], "+1.5K", "since then")


@case
def every_allocation_can_be_scrolled_to(directory):
    """Of 200,000 rows the last ones are there as the first ones are; one tells
    who allocated it, and leads on to those like it."""
    done = recorded([program("crossfree")], directory,
                    options=("--free-stacks",))
    with Server(done.trace) as server:
        said = walked(
            server,
            rows=["#blocks", ["text", "tools", ".tools"],
                  ["texts", "first", ".t-row"], *AXE,
                  ["wheel", ".table", 100000000],
                  ["texts", "last", ".t-row"],
                  ["row", "tgt_malloc"], ["texts", "stack", ".frames code"],
                  ["rightRow", "tgt_malloc"], ["item", "At this address"],
                  ["texts", "chips", ".chip"], ["texts", "same", ".t-row"]],
            sizes=["#blocks?order=size", ["text", "first", ".t-row"]])
    check("200,0" in said["rows"]["tools"], said["rows"]["tools"])
    equal(said["rows"]["axe"], [], "faults")
    check(said["rows"]["first"][0] != said["rows"]["last"][-1] and
          not any(row.startswith("…") for row in said["rows"]["last"]),
          said["rows"]["last"])
    check("produce" in said["rows"]["stack"], said["rows"]["stack"])
    equal(len(said["rows"]["chips"]), 2, "filters")
    check(len({row.split("\n")[3] for row in said["rows"]["same"]}) == 1,
          said["rows"]["same"])
    check("main" in said["sizes"]["first"], said["sizes"])


@case
def recursion_is_folded(directory):
    """Four calls of a function inside of each other are one box, with the same
    bytes."""
    done = recorded([program("leaky")], directory)
    find = [["fill", "search", "^tgt_recurse$"], ["text", "found", "#found"]]
    with Server(done.trace) as server:
        said = walked(server, open=["#flame?cost=live", *find],
                      folded=["#flame?cost=live", ["click", "#fold"], *find,
                              ["hash", "hash"]])
    equal(said["open"]["found"].split(": ")[0], "4 found", "calls")
    equal(said["folded"]["found"].split(": ")[0], "1 found", "folded")
    equal(said["open"]["found"].split(": ")[1],
          said["folded"]["found"].split(": ")[1], "bytes")
    check("fold=1" in said["folded"]["hash"], said["folded"])


@case
def chains_and_lifetimes_are_rows(directory):
    """What realloc made of one block is in its pane, one after the other; what
    was begun first, of those that still live, has lived longest."""
    done = recorded([program("realloc_chain")], directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            chain=["#blocks?order=place", ["text", "first", ".t-row"],
                   ["click", ".t-row"], ["text", "pane", ".beside"]],
            long=["#blocks?order=lifetime_ns", ["texts", "rows", ".t-row"]])
    sizes = re.findall(r"^(\S+(?: B)?) after", said["chain"]["pane"], re.M)
    equal(sizes[:3] + sizes[16:18] + sizes[-2:],
          ["16 B", "32 B", "64 B", "1.0M", "256K", "4 B", "1 B"], "the chain")
    check(said["chain"]["first"].endswith("27."), said["chain"]["first"])
    rows = [row.split("\n") for row in said["long"]["rows"]]
    began = [row[0] for row in rows if row[1] == "live"]
    check(rows[0][1] == "live" and len(began) > 5, rows[0])
    equal(began, sorted(began), "the oldest is first")


def walked_wrongly(server):
    """Refused statements are told by the console of a browser, too."""
    done = browsed("serve.mjs", {"url": server.url, "runs": {"wrong": {
        "hash": "#sql?q=select nope from blocks",
        "list": [["texts", "wrong", ".s-wrong"]]}}}, may_fail=True)
    return done["wrong"]["wrong"]


if __name__ == "__main__":
    main()
