#!/usr/bin/python3
"""The page of `gnomon serve` in use: texts, copies and prompts that once misled
users."""

import json
import os
import re
import shlex
import subprocess

from gnomon_test import (GNOMON, case, check, equal, gnomon, main, need, program,
                         recorded, wait_for)
from served import Server, holds_file, walked

# Standard containers allocate by functions that are none of the program's own;
# the leak is called by one function, though others use the same helper.
CACHE = """
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>
#define NI __attribute__((noinline))
NI char *duplicate(size_t n)
{ char *p = (char *)malloc(n); memset(p, 1, n); return p; }
NI void parse_head() { free(duplicate(120)); }
NI void parse_body() { char *p = duplicate(120); asm volatile(""::"r"(p)); }
struct Cache {
  std::unordered_map<int, std::vector<char>> m;
  NI void remember(int k) { m.emplace(k, std::vector<char>(4096)); }
};
int main()
{
  Cache *cache = new Cache;
  for (int i = 0; i < ENTRIES; i++) {
    parse_head();
    parse_body();
    cache->remember(i);
  }
}
"""

# Grows for the first third of its time, and keeps what it has.
# All of it is free at the end, in the allocator, below one block that stays.
FREES_ALL = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *list[6000];
int main()
{
  for (int i = 0; i < 6000; i++)
    list[i] = memset(malloc(4000), 1, 4000);
  list[0][0] = *(char *)memset(malloc(3000), 1, 3000);
  usleep(100000);
  for (int i = 0; i < 6000; i++)
    free(list[i]);
  usleep(150000);
}
"""


def built(directory, name, source, *flags, options=()):
    """The trace of a program that is built of this text."""
    need("g++")
    inside = os.path.join(directory, name)
    os.makedirs(inside)
    holds_file(inside, "cache.cc", source)
    subprocess.run(["g++", "-g", "-O1", *flags, "-o", "cache", "cache.cc"],
                   cwd=inside, check=True)
    trace = os.path.join(directory, name + ".trace")
    recorded([os.path.join(inside, "cache")], directory,
             options=("-o", trace, *options))
    return trace


@case
def menus_stay_while_traces_come(directory):
    """Another trace that is recorded closes no menu."""
    recorded([program("leaky")], directory,
             options=("-o", os.path.join(directory, "first.trace")))
    record = ["record", [GNOMON, "run", "-q", "-o", os.path.join(
        directory, "second.trace"), program("leaky")]]
    come = [record, ["wait", "#trace option:nth-child(2)"]]
    with Server(directory) as server:
        said = walked(server, menu=[
            "#groups?trace=first", ["rightRow", "tgt_list"], *come,
            ["count", "open", "[role=menuitem]"], ["press", "Escape"],
            ["count", "closed", "[role=menuitem]"]])["menu"]
    check(said["open"] > 2, said)
    equal(said["closed"], 0, "after Escape")


@case
def other_traces_do_not_stand_in(directory):
    """An address of a trace that is not served says so, and offers those that
    are."""
    done = recorded([program("leaky")], directory)
    with Server(done.trace) as server:
        said = walked(server, gone=[
            "#groups?trace=abc123", ["text", "said", "#view"],
            ["count", "rows", ".t-row"],
            ["click", "#view .state a"], ["count", "chosen", ".t-row"],
            ["go", "#tree?trace=abc123"], ["text", "again", "#view"],
            ["go", "#tree"], ["count", "first", ".t-row"]])["gone"]
    check("“abc123” is not served" in said["said"], said["said"])
    check("“abc123” is not served" in said["again"], said["again"])
    equal(said["rows"], 0, "rows of another trace")
    check(said["chosen"] > 0 and said["first"] > 0, said)


@case
def sites_are_of_the_program_itself(directory):
    """Not operator new, which all C++ programs allocate by: in differences,
    call stacks, and what a row leads on to."""
    old = built(directory, "old", CACHE, "-DENTRIES=500")
    new = built(directory, "new", CACHE, "-DENTRIES=400")
    with Server(old, new) as server:
        said = walked(
            server,
            sites=["#diff?trace=new&old=old&by=site",
                   ["texts", "rows", ".t-row"], ["rightRow", "remember"],
                   ["texts", "items", "[role=menuitem]"]],
            stacks=["#groups?trace=old&by=stack&function=remember",
                    ["texts", "rows", ".t-row .t-cell:first-child"],
                    ["right", ".t-row"],
                    ["texts", "items", "[role=menuitem]"]])
    rows = said["sites"]["rows"]
    check(rows[0].startswith("Cache::remember(int) cache.cc:"), rows)
    check(not any("operator new" in row for row in rows), rows)
    check("Only through Cache::remember(int)" in said["sites"]["items"],
          said["sites"]["items"])
    rows = said["stacks"]["rows"]
    check(len(rows) > 1 and len(set(rows)) == len(rows) and
          all(row.startswith("Cache::remember(int)") for row in rows), rows)
    check("Only through Cache::remember(int)" in said["stacks"]["items"],
          said["stacks"]["items"])
    document = json.loads(gnomon("diff", "--json", "--by", "stack", old, new,
                                 statuses=(1,)).out)
    sites = {row["stack"][row["site"]]["function"] for row in document["rows"]}
    check("Cache::remember(int)" in sites and
          not any("operator new" in site for site in sites), sites)


@case
def rebuilt_programs_are_compared_by_functions(directory):
    """One more line at the top moves all others, and changes nothing else."""
    old = built(directory, "old", CACHE, "-DENTRIES=500")
    new = built(directory, "new", "\n" + CACHE, "-DENTRIES=400")
    with Server(old, new) as server:
        said = walked(
            server,
            table=["#diff?trace=new&old=old", ["texts", "rows", ".t-row"]],
            gone=["#diff?trace=new&old=abc", ["text", "said", "#view"],
                  ["count", "rows", ".t-row"]])
    rows = said["table"]["rows"]
    check(rows and all("shrunk" in row for row in rows), rows)
    check("“abc” is not served" in said["gone"]["said"], said["gone"])
    equal(said["gone"]["rows"], 0, "rows")
    tree = json.loads(gnomon("flamegraph", "--diff", "--json", old, new).out)
    names = [tree["strings"][tree["frames"][6 * frame]]
             for frame in tree["nodes"]["frame"] if frame >= 0]
    equal(names.count("main"), 1, "boxes of main: %s" % names)
    after = json.loads(gnomon("report", "--json", new).out)["summary"]
    before = json.loads(gnomon("report", "--json", old).out)["summary"]
    equal(tree["nodes"]["live"][0] - tree["nodes"]["before_live"][0],
          after["live_bytes"] - before["live_bytes"], "all of it")
    main_ = names.index("main") + 1
    check(tree["nodes"]["live"][main_] > 0 and
          tree["nodes"]["before_live"][main_] > 0, "both sides of main")


FILTERS = {"from": "10%", "to": "90%", "alive-at": "50%", "alive-at-2": "60%",
           "fate": "chain-live", "free-context": "3", "context": "3",
           "thread": "^a", "process": "^p", "allocator": "libc",
           "arena": "main", "mmapped": "yes", "heap": "malloc", "map": "heap",
           "function": "^it's$", "not-function": "^b", "library": "^c",
           "not-library": "^d", "source": "^e", "not-source": "^f",
           "passes-through": "^main$", "size-min": "16", "depth-max": "50",
           "chain-length-min": "1", "group-live-min": "1"}


@case
def filters_are_copied_as_sql_that_runs(directory):
    trace = recorded([program("known_answers")], directory,
                     options=("--free-stacks",)).trace
    with Server(trace) as server:
        said = walked(server, **{"f%d" % i: [
            "#groups?%s=%s" % (name, value.replace("%", "%25")),
            ["copied", "sql", "As SQL"]]
            for i, (name, value) in enumerate(FILTERS.items())})
    for i in range(len(FILTERS)):
        statement = said["f%d" % i]["sql"]
        gnomon("sql", trace, statement, statuses=(0, 3))
        check("\nwhere " in statement, statement)


CARDS = ["texts", "cards", ".finding"]
TILES = ["texts", "tiles", ".totals div"]


def card(said, title):
    """Of the cards that were read, the one called so, as one line."""
    found = [text.replace("\n", " ") for text in said["cards"]
             if text.split("\n")[1] == title]
    equal(len(found), 1, "cards %s: %s" % (title, said["cards"]))
    return found[0]


@case
def cards_and_totals_are_of_the_same_blocks(directory):
    """With filters all figures are of what they select; and nothing of it is no
    good news."""
    trace = built(directory, "cache", CACHE, "-DENTRIES=500")
    with Server(trace) as server:
        said = walked(
            server,
            leak=["#overview?function=parse_body", CARDS, TILES],
            none=["#overview?function=parse_head", CARDS, TILES,
                  ["count", "good", ".finding.good h2:text('Leaks')"],
                  ["click", ".chip-remove"], ["texts", "all", ".totals div"]])
    check("58.6K" in card(said["leak"], "Leaks"), said["leak"])
    check("58.6K" in " ".join(said["leak"]["tiles"]), said["leak"])
    text = card(said["none"], "Leaks")
    check("Nothing that the filters select is live at the end" in text, text)
    check("Live at the end\n0 B" in said["none"]["tiles"][2] or
          "0 blocks" in said["none"]["tiles"][2], said["none"]["tiles"])
    equal(said["none"]["good"], 0, "good news")
    check("0 blocks" not in said["none"]["all"][2], said["none"]["all"])


@case
def the_second_leak_is_named_with_its_caller(directory):
    trace = built(directory, "cache", CACHE, "-DENTRIES=500")
    with Server(trace) as server:
        text = card(walked(server, leak=["", CARDS])["leak"], "Leaks")
    check("blocks leaked by Cache::remember cache.cc:" in text, text)
    check(re.search(r"Also 58.6K in 500 blocks by duplicate cache.cc:\d+, its "
                    "largest call stack from parse_body", text), text)


@case
def what_the_allocator_keeps_is_no_fragmentation(directory):
    trace = built(directory, "frees", FREES_ALL, "-xc",
                  options=("--snapshot-every", "20ms"))
    with Server(trace) as server:
        said = walked(server, one=["", CARDS, ["count", "good",
                      ".finding.good h2:text('Fragmentation')"]])["one"]
    text = card(said, "Fragmentation")
    check(re.search(r"after [\d.]+m?s, of .* was fragmented", text), text)
    check(re.search(r"2\d\.\dM was free in the allocator", text), text)
    equal(said["good"], 1, "mood")


@case
def what_runs_has_no_leaks_yet(directory):
    """Of a process that goes on: what is live now, and how to take a snapshot
    of this one."""
    target = subprocess.Popen(
        [GNOMON, "run", "-q", "-o", os.path.join(directory, "live.trace"), "--",
         program("scripted")], cwd=directory, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL)
    try:
        target.stdin.write(b"keep 100\n")
        target.stdin.flush()
        with Server(directory) as server:
            check(wait_for(lambda: server.traces() and
                           server.traces()[0]["live"]), "not live")
            check(wait_for(lambda: server.json(server.trace() + "report")[
                "summary"]["live_bytes"] > 0), "nothing is live")
            pid = server.traces()[0]["pid"]
            said = walked(server, one=["", CARDS, TILES])["one"]
    finally:
        target.stdin.close()
        target.wait()
    equal([text for text in said["cards"] if "Leaks" in text], [], "leaks")
    check("live now, allocated by" in card(said, "Alive now"), said)
    check(said["tiles"][2].startswith("Live now"), said["tiles"])
    check("gnomon snapshot %d" % pid in card(said, "Fragmentation"), said)


@case
def views_are_copied_as_they_are(directory):
    """As a command that the shell runs, and as a statement: with the function
    and the order that the view shows."""
    trace = recorded([program("known_answers")], directory,
                     options=("--free-stacks",)).trace
    views = {"callers": "callers?of=main&sort=total", "functions": "callers?sort=peak",
             "sizes": "blocks?order=size&size-min=40", "lines": "source?of=main",
             "over": "overview?function=main", "tree": "tree?sort=total",
             "threads": "threads?fate=live", "pages": "memory?function=main",
             "fields": "histograms?size-min=40",
             "moments": "diff?of=moments&before=10%25&function=main",
             "own": "sql?q=select size from blocks limit 3&fate=live",
             "near": "callers?of=main&fate=live&thread=x",
             "groups": "groups?by=function,thread&sort=own-peak"}
    with Server(trace) as server:
        said = walked(server, **{name: ["#" + view, ["copied", "sql", "As SQL"],
                                        ["copied", "command", "As gnomon"]]
                                 for name, view in views.items()})
    for name in views:
        gnomon("sql", trace, said[name]["sql"], statuses=(0, 3))
        words = shlex.split(said[name]["command"])
        equal(words[0], "gnomon", "a command")
        gnomon(*words[1:], statuses=(0, 1, 3))
    check("'main'" in said["callers"]["command"] and
          "total_bytes desc" in said["callers"]["command"], said["callers"])
    check("--sort peak" in said["functions"]["command"], said["functions"])
    check("order by size desc" in said["sizes"]["command"] and
          "size_min = '40'" in said["sizes"]["sql"], said["sizes"])
    check("--fate live" in said["own"]["sql"].split("\n")[-1] and
          "select size from blocks limit 3" in said["own"]["sql"], said["own"])


@case
def wrong_filters_are_told_in_the_words_of_the_page(directory):
    """Nothing of an older filter stays; a filter that is wrong can be taken
    off, and is not tried again."""
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        said = walked(
            server, may_fail=True,
            regex=["#groups?function=zzz", ["text", "first", "#view"],
                   ["go", "#groups?function=("], ["text", "second", "#view"],
                   ["button", "Remove this filter"], ["count", "rows", ".t-row"]],
            tree=["#tree?function=zzz", ["text", "said", "#view"]],
            moment=["#groups?from=banana", ["text", "said", "#view"]],
            statement=["#sql?q=select nope from blocks", ["text", "said", "#view"]])
    check("zzz" in said["regex"]["first"], said["regex"])
    check("zzz" not in said["regex"]["second"], said["regex"])
    check("Filter “through”" in said["regex"]["second"] and
          "missing closing parenthesis" in said["regex"]["second"], said["regex"])
    check(said["regex"]["rows"] > 0, said["regex"])
    equal(said["tree"]["said"].count("zzz"), 1, said["tree"]["said"])
    check("Filter “allocated from”" in said["moment"]["said"] and
          "250ms after the start" in said["moment"]["said"], said["moment"])
    for one in said["regex"]["second"], said["statement"]["said"]:
        check("Try again" not in one, one)


@case
def sources_that_are_not_read_say_how(directory):
    """The command that reads them is offered, as the server has to be started
    again; nothing is read before."""
    trace = built(directory, "cache", CACHE, "-DENTRIES=5")
    here = os.path.join(directory, "cache")
    with Server(trace) as server:
        said = walked(server, one=["#source?of=parse_body", ["text", "said",
                      ".source-body"], ["copied", "command", "As gnomon"]])["one"]
    check("The server does not read" in said["said"], said["said"])
    check("gnomon serve --source-root %s %s" % (here, trace) in said["said"], said)
    with Server("--source-root", here, trace) as server:
        text = walked(server, one=["#source?of=parse_body", ["text", "said",
                      ".source-body"]])["one"]["said"]
    check("duplicate(120)" in text, text)
    with Server("--source-root", os.path.join(directory), trace) as server:
        os.rename(os.path.join(here, "cache.cc"), os.path.join(here, "gone"))
        text = walked(server, one=["#source?of=parse_body", ["text", "said",
                      ".source-body"]])["one"]["said"]
    check("is not below a directory given with --source-root" in text, text)


@case
def kept_pages_have_a_colour_of_their_own(directory):
    """Where a few small blocks keep many pages, the picture is not that of what
    is free; and what is resident is called alike in all views."""
    done = recorded([program("pinned")], directory,
                    options=("--snapshot-every", "20ms"))
    with Server(done.trace) as server:
        said = walked(
            server,
            memory=["#memory", ["painted", "colours", ".space-bar", ".space-key"],
                    ["texts", "parts", ".resident li"],
                    ["texts", "maps", ".t-row"]],
            overview=["", ["texts", "parts", ".finding .parts li"]])
    colours = said["memory"]["colours"]
    kept = colours.pop("free, on pages that live blocks keep")
    check(kept > sum(colours.values()), "kept %d, %s" % (kept, colours))
    names = [[re.sub(r" [\d.]+[KMG]?( B)?$", "", text.strip())
              for text in said[view]["parts"]] for view in ("memory", "overview")]
    check(names[0] and names[0] == names[1], names)
    heap = [row.split("\n") for row in said["memory"]["maps"] if "[heap]" in row]
    check(heap and all(row[3] != "–" for row in heap if row[1] != "0 B"), heap)


@case
def what_is_not_recorded_or_shown_is_said(directory):
    """Orders that end say so; who freed a block is not left blank."""
    done = recorded([program("crossfree")], directory,
                    options=("--snapshot-every", "10ms"))
    with Server(done.trace) as server:
        said = walked(
            server,
            maps=["#memory", ["texts", "rows", ".t-row"]],
            first=["#blocks?order=size", ["text", "tools", ".tools"]],
            freed=["#blocks", ["click", ".t-row"], ["text", "pane", ".beside"]],
            values=["#groups?fate=chain-live", ["texts", "chips", ".chip-text"]],
            one=["#groups?by=library&library=crossfree",
                 ["text", "foot", ".foot"]])
    check("the first 1,000 in this order; “when freed” shows all" in
          said["first"]["tools"], said["first"])
    check("gnomon run --free-stacks" in said["freed"]["pane"], said["freed"])
    equal(said["values"]["chips"], ["its realloc chain is live"], "a value")
    equal(said["one"]["foot"], "1 row", "number")
    reserved = [row for row in said["maps"]["rows"] if "63.9M" in row]
    check(reserved and all("malloc, reserve" in row for row in reserved),
          said["maps"]["rows"])


@case
def pages_fit_their_width(directory):
    """On a narrow screen all views can be gone to; on a small one, no column is
    cut as a row opens, and functions have all of the width until one is
    chosen."""
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            narrow={"hash": "#sql", "size": [800, 700], "list": [
                ["width", "views", "#views"]]},
            groups={"hash": "#groups?open=0", "size": [1366, 768], "list": [
                ["width", "table", ".table"]]},
            callers={"hash": "#callers", "size": [1366, 768], "list": [
                ["width", "table", ".table"]]},
            tree={"hash": "#tree?sort=total", "size": [800, 700], "list": [
                ["size", "name", ".t-head .t-cell"]]})
    for view, part in (("narrow", "views"), ("groups", "table"),
                       ("callers", "table")):
        inside, outside = said[view][part]
        check(inside <= outside, "%s: %d of %d" % (view, inside, outside))
    check(said["tree"]["name"] >= 300, said["tree"])


@case
def the_line_of_a_moment_goes_with_the_mouse(directory):
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        said = walked(server, one=[
            "#groups", ["hover", "#strip .lanes"], ["count", "there", ".cursor"],
            ["press", "g"], ["press", "o"], ["hover", ".brand"],
            ["press", "g"], ["press", "r"], ["count", "left", ".cursor"]])["one"]
    check(said["there"] > 0, said)
    equal(said["left"], 0, "lines")


@case
def legends_have_what_is_drawn(directory):
    """A library of which no box has the colour is not in it; the profiler's own
    mappings are last."""
    done = recorded([program("known_answers")], directory)
    with Server(done.trace) as server:
        said = walked(
            server,
            flame=["#flame?cost=total", ["texts", "legend", "#legend span"]],
            maps=["#memory", ["texts", "by",
                              ".t-row .t-cell:nth-child(7)"]])
    legend = [text.strip() for text in said["flame"]["legend"]]
    check("known_answers" in legend and not any("libc.so" in name for name in legend),
          legend)
    rows = [text.strip() for text in said["maps"]["by"]]
    check("gnomon" in rows, rows)
    check(all(row == "gnomon" for row in rows[rows.index("gnomon"):]), rows)


@case
def the_first_answer_is_one_call(directory):
    """The overview's totals and sentences come with one report; a range of time
    does not change what the whole process had, which is not asked again."""
    trace = recorded([program("known_answers")], directory).trace
    gnomon("report", "-q", "--index", trace)
    with Server(trace) as server:
        said = walked(server, one=[
            "#overview", ["calls", "before"],
            ["drag", ".lanes-section .lanes", .2, .6],
            ["calls", "after"]])["one"]
    reports = [call for call in said["before"] if call.startswith("report")]
    equal(len(reports), 1, said["before"])
    more = said["after"][len(said["before"]):]
    equal(sum(call.startswith("report") for call in more), 1, more)
    equal(sum("from=" not in call for call in more), 0, more)


if __name__ == "__main__":
    main()
