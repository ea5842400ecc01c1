#!/usr/bin/python3
"""How much a result covers (docs/notes/figures.md), for traces that lack
blocks, events or frames in each possible way. Selected, unselected and
undecidable allocations add up to all allocations of the program, and all
commands agree."""

import random

from gnomon_test import *

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "traces", "3.1")
PARTS = ("selected", "not_selected", "undecidable")
FLIPS = 40
BROOD = ["20000"]
LARGE = ["--size-min", "100"]


def coverage(trace, *words, statuses=(0,)):
    done = gnomon("report", "-q", "--json", "--top", "1", *words, trace,
                  statuses=statuses)
    document = json.loads(done.out)
    found = document["coverage"]
    check_sums(found, "report " + " ".join(words))
    equal(found["selected"]["allocations"],
          document["summary"]["allocations"], "what the summary counts")
    return found


def check_sums(found, what):
    for key in found["whole"]:
        equal(found["whole"][key], sum(found[part][key] for part in PARTS),
              "%s: the whole of %s" % (what, key))


def run(directory, name, *options, argv=None):
    place = os.path.join(directory, name)
    os.mkdir(place)
    done = recorded(argv or [program("mixed_lifetimes"), *BROOD], place,
                    options=options)
    equal(done.status, 0, "status: " + done.err)
    return done


def newest(done):
    names = [name for name in os.listdir(done.directory)
             if name.endswith(".trace")]
    equal(len(names), 1, "traces: %r" % names)
    return os.path.join(done.directory, names[0])


def expect_bounds(found, truth, what):
    """What nobody can judge is what is missing, and no more than that."""
    for key in found["selected"]:
        undecided = found["undecidable"][key]
        for part in ("selected", "not_selected"):
            check(found[part][key] <= truth[part][key] <=
                  found[part][key] + undecided, "%s: %s of %s: %r, truth %r"
                  % (what, part, key, found, truth))


def compare(whole, trace, cause):
    """With the same program recorded whole, also with filters."""
    truth, found = coverage(whole), coverage(trace)
    equal(found["left_out"]["causes"], [cause], "causes")
    left = found["left_out"]["allocations"]
    check(left > 1000, "left out: %d" % left)
    for part in ("whole", *PARTS):
        equal(found[part], truth[part], part)
    equal(found["undecidable"]["allocations"], 0, "without filters")
    for words in (LARGE, ["--size-max", "64"], ["--fate", "live"],
                  ["--thread", "1"]):
        truth, found = coverage(whole, *words), coverage(trace, *words)
        equal(found["whole"], truth["whole"], "whole")
        equal(found["left_out"]["allocations"], left, "left out")
        equal(found["undecidable"], {
            key: found["left_out"][key] for key in found["undecidable"]},
            "undecidable")
        expect_bounds(found, truth, " ".join(words))
    # of these the stacks are known
    words = ["--function", "^main$"]
    if cause != "depth 0":
        equal([coverage(trace, *words)[part] for part in PARTS],
              [coverage(whole, *words)[part] for part in PARTS], "by stacks")


@case
def culled(directory):
    compare(newest(run(directory, "whole")),
            newest(run(directory, "culled", "--cull")), "cull")


@case
def stripped(directory):
    whole = newest(run(directory, "whole"))
    trace = os.path.join(directory, "stripped")
    gnomon("strip", "-q", "--temporary", "100", "-o", trace, whole)
    compare(whole, trace, "strip")


@case
def sums_alone(directory):
    """--depth 0: nothing but sums, and no stack."""
    whole = newest(run(directory, "whole"))
    trace = newest(run(directory, "sums", "--depth", "0"))
    compare(whole, trace, "depth 0")
    found = coverage(trace, *LARGE)
    equal(found["undecidable"], found["whole"], "nothing can be judged")
    found = coverage(trace, "--function", "^main$")
    equal(found["undecidable"], found["whole"], "no frame is known")


@case
def limited(directory):
    argv = [program("mixed_lifetimes"), "300000"]
    whole = newest(run(directory, "whole", argv=argv))
    trace = newest(run(directory, "parts", "--limit", "1M", argv=argv))
    compare(whole, trace, "limit")


@case
def not_recorded(directory):
    """By their sizes: they are only counted."""
    whole = coverage(newest(run(directory, "whole")))
    trace = newest(run(directory, "large", "--min-size", "100"))
    found = coverage(trace)
    unrecorded = found["unrecorded"]
    check(unrecorded["allocations"] > 0, "unrecorded: %r" % unrecorded)
    for key in unrecorded:
        equal(found["selected"][key], whole["whole"][key], key)
    for words in (LARGE, ["--function", "."], ["--depth-max", "1"]):
        found = coverage(trace, *words)
        for key in unrecorded:
            check(found["undecidable"][key] >= unrecorded[key],
                  "with %r: %r" % (words, found))
            equal(found["whole"][key], whole["whole"][key], key)


@case
def damaged(directory):
    """Whatever is left of a trace, sums of it add up."""
    trace = newest(run(directory, "whole"))
    with open(trace, "rb") as file:
        data = file.read()
    generator, places, path = random.Random(1), 0, trace + ".damaged"
    for i in range(FLIPS):
        changed = bytearray(data)
        changed[generator.randrange(64, len(data))] ^= \
            1 << generator.randrange(8)
        if i % 4 == 0:
            changed = changed[:generator.randrange(4096, len(data))]
        with open(path, "wb") as file:
            file.write(changed)
        done = gnomon("report", "--json", *generator.choice(
            ([], LARGE, ["--fate", "freed"], ["--not-function", "main"])),
            path, statuses=(0, 2, 3))
        if done.status == 2:
            continue
        document = json.loads(done.out)
        found, summary = document["coverage"], document["summary"]
        check_sums(found, "damaged")
        places += found["lost"]["places"]
        for part, key in (("places", "damaged"), ("bytes", "lost_bytes"),
                          ("events", "dropped")):
            equal(found["lost"][part], summary[key], key)
    check(places > 0, "no damage was seen")


@case
def frames_are_missing(directory):
    """Of stacks that end too early a word may be true of what is missing. That
    is said, in all ways."""
    trace = newest(run(directory, "short", "--depth", "1"))
    all_of_it = coverage(trace)["whole"]
    words = ["--function", "^main$"]
    found = coverage(trace, *words)
    undecided = found["undecidable"]["allocations"]
    check(undecided > 1000, "undecidable: %r" % found)
    equal(found["whole"], all_of_it, "whole")
    equal(coverage(trace, "--not-function", "^main$")["undecidable"]
          ["allocations"], 0, "what is not seen is not there")
    said = "of %s allocations" % format(undecided, ",")
    done = gnomon("report", *words, trace)
    check(re.search("^  undecided    " + said, done.out, re.M),
          "text: " + done.out)
    check("undecided" not in gnomon("report", trace).out, "without filters")
    done = gnomon("diff", *words, trace, trace)
    equal(done.out.count(said), 2, "diff: " + done.out)
    for command in ("flamegraph", "export", "graph"):
        more = ["--format", "csv"] if command != "flamegraph" else []
        done = gnomon(command, *more, *words, trace)
        check(said in done.err, command + ": " + done.err)


@case
def all_commands_say_the_same(directory):
    trace = newest(run(directory, "culled", "--cull"))
    for words in ([], LARGE):
        wanted = coverage(trace, *words)
        for more in (["--by", "thread"], ["--tree", "top-down"],
                     ["--timeline"], ["--by", "block"], ["--merge"]):
            equal(coverage(trace, *more, *words), wanted, " ".join(more))
        for argv in (["export", "--format", "json"],
                     ["export", "--format", "json", "--by", "block"],
                     ["graph", "--format", "json"]):
            document = json.loads(gnomon(*argv, "-q", *words, trace).out)
            equal(document["coverage"], wanted, " ".join(argv))
        page = gnomon("flamegraph", "-q", "--html", *words, trace).out
        data = re.search(r'<script type="application/json" id="data">(.*?)'
                         "</script>", page, re.S)
        equal(json.loads(data[1])["coverage"], wanted, "flamegraph")
        document = json.loads(gnomon("diff", "-q", "--json", *words, trace,
                                     trace).out)
        for side in ("before", "after"):
            equal(document["summary"][side]["coverage"], wanted, side)
    done = gnomon("check", "-q", "--json", "--max-live", "0", trace,
                  statuses=(0, 1))
    equal([(one["trace"], one["coverage"])
           for one in json.loads(done.out)["traces"]],
          [(trace, coverage(trace))], "check")


CAUSES = {"culled": ["cull"], "stripped": ["strip"], "sums": ["depth 0"],
          "limited": [], "drops": []}


@case
def kept_traces(directory):
    """Whatever they lack; which losses make figures wrong is told."""
    for name, causes in CAUSES.items():
        trace = os.path.join(TRACES, name + ".trace")
        for words in ([], LARGE, ["--from", "30%"], ["--alive-at", "50%"],
                      ["--fate", "freed"], ["--depth-min", "3"],
                      ["--heap", "."], ["--group-count-min", "2"]):
            found = coverage(trace, *words, statuses=(0, 3))
            check(not words or words[0] in ("--depth-min",
                                            "--group-count-min") or
                  found["undecidable"]["allocations"] >=
                  found["left_out"]["allocations"], "undecidable: %r" % found)
            equal("live_bytes" in found["whole"], "--alive-at" not in words,
                  "live")
        equal(coverage(trace, statuses=(0, 3))["left_out"]["causes"], causes,
              name)
    done = gnomon("check", "--max-live", "0", trace, statuses=(0, 1, 3))
    check(re.search("^  dropped +[0-9,]+ events were lost", done.out, re.M),
          "check: " + done.out)


@case
def coverage_is_reported_as_text(directory):
    """Who reads no JSON is told, too, wherever figures lack what is left
    out."""
    whole = newest(run(directory, "whole"))
    culled = newest(run(directory, "culled", "--cull=10s"))
    sums = newest(run(directory, "sums", "--depth", "0"))
    left = coverage(culled)["left_out"]["allocations"]
    check(left > 1000, "left out: %d" % left)

    text = " ".join(gnomon("diff", *LARGE, whole, culled,
                           statuses=(0, 1)).out.split())
    check("the filters cannot be applied to" in text, "diff: " + text)
    document = json.loads(gnomon("diff", "--json", whole, sums,
                                 statuses=(0, 1)).out)
    peak = json.loads(gnomon("report", "--json", "--top", "1", sums).out)
    equal(document["summary"]["after"]["peak_bytes"],
          peak["summary"]["peak_bytes"], "peak of sums alone")
    check(peak["summary"]["peak_bytes"] > 0, "a peak")

    text = gnomon("report", "--merge", whole, culled).out
    check("every event is here" not in text, "merged: " + text)
    check(re.search(r"left out +%s blocks" % "{:,}".format(left), text),
          "merged: " + text)
    text = gnomon("report", "--merge", *LARGE, whole, culled).out
    check(re.search(r"undecided +the filters cannot", text), "merged: " + text)

    for command in (["report", "--csv", "--by", "heap"],
                    ["export", "--format", "massif", "-o", "-"],
                    ["flamegraph", "-o", os.path.join(directory, "%s.html")]):
        command[-1] = command[-1].replace("%s", "culled")
        done = gnomon(*command, culled)
        check("only sums are known" in done.err, "%r: %s" %
              (command, done.err))
        command[-1] = command[-1].replace("culled", "whole")
        done = gnomon(*command, whole)
        check("only sums" not in done.err, "%r: %s" % (command, done.err))
    text = gnomon("report", "--sizes", culled).out
    check("without %s blocks of which" % "{:,}".format(left) in text, text)
    text = gnomon("report", "--by", "block", sums).out
    check(re.search(r"and [0-9,]+ blocks? \(.*\) of which only sums", text),
          text)


@case
def coverage_of_several_traces(directory):
    """Each, and their sum."""
    traces = [newest(run(directory, "whole")),
              newest(run(directory, "culled", "--cull"))]
    each = [coverage(trace, *LARGE) for trace in traces]
    for words in ([], ["--merge"]):
        document = json.loads(gnomon("report", "-q", "--json", *words, *LARGE,
                                     *traces).out)
        for part in ("whole", *PARTS, "lost", "unrecorded"):
            equal(document["coverage"][part],
                  {key: each[0][part][key] + each[1][part][key]
                   for key in each[0][part]}, part)
        equal(document["coverage"]["left_out"]["causes"], ["cull"], "causes")
    document = json.loads(gnomon("graph", "-q", "--format", "json", *LARGE,
                                 *traces).out)
    equal(document["coverage"]["whole"]["allocations"],
          sum(one["whole"]["allocations"] for one in each), "graph")


main()
