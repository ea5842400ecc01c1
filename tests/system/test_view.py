#!/usr/bin/python3
"""The start of counting, in every command: START and CLEAR begin anew, @NAME is
a time, heaps count separately; transformed traces give the same results. The
target counts its operations."""

from gnomon_test import *

def steer(directory, *steps, **options):
    """The target: each step is a line for it, or a tuple: words for gnomon,
    before its PID. Returns its trace. `options`: the recorder's variables."""
    env = dict(environment(), LD_PRELOAD=LIBRARY,
               GNOMON_OUTPUT=os.path.join(directory, "%e.trace"), **options)
    target = subprocess.Popen([program("scripted")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=env, bufsize=0)

    def wait_ok():
        said = b""
        while not said.endswith(b"ok\n"):
            more = target.stdout.read(4096)
            check(more, "the target has ended")
            said += more

    wait_ok()
    for step in steps:
        if isinstance(step, tuple):
            gnomon(*step, str(target.pid))
        else:
            target.stdin.write(step.encode())
            wait_ok()
    target.stdin.close()
    target.stdout.close()
    equal(target.wait(RUN_SECONDS), 0, "status")
    settle(directory)
    return traces_in(directory)[0]


def summary(trace, *options, pattern="tgt_"):
    """(allocations, live blocks, total bytes) of the target's functions, and
    the whole summary."""
    document = json.loads(gnomon("report", trace, "--json", "--top", "0",
                                 "--by", "stack", *options).out)
    match = re.compile(pattern).match
    rows = [row for row in document["rows"]
            if any(match(f.get("function") or "") for f in row["stack"])]
    return (sum(row["count"] for row in rows),
            sum(row["live_blocks"] for row in rows),
            sum(row["total_bytes"] for row in rows)), document["summary"]


@case
def clear_and_from_start(directory):
    trace = steer(directory, "keep 100", "churn 9", ("clear",), "keep 10",
                  "drop 60")
    got, sums = summary(trace)
    equal(got, (10, 10, 400), "since the clear")
    equal((sums["foreign_frees"], sums["unpaired"]), (60, 0), "frees")
    check(sums["view_start_ns"] > 0, "where it begins")
    got, sums = summary(trace, "--from", "start")
    equal(got, (119, 50, 110 * 40 + 9 * 24), "from the start")
    equal((sums["foreign_frees"], sums["unpaired"]), (0, 0), "frees")
    text = gnomon("report", trace).out
    check(re.search(r"counted +since the clear", text), text[:600])
    check("--from start" in text, text[:600])
    whats = [c["what"] for c in info(trace)["controls"]]
    equal(whats, ["clear"], "controls")
    gnomon("flamegraph", trace, "-o", os.path.join(directory, "out.svg"))
    gnomon("check", trace, "--max-count", "20")
    gnomon("check", trace, "--max-count", "5", statuses=(1,))


@case
def transformed_traces_keep_the_view(directory):
    """Repacked, anonymised or stripped, it says the same."""
    trace = steer(directory, "keep 50", "churn 30", ("snapshot", "warm"),
                  ("stop",), "keep 7", "drop 3", ("start",), "keep 20",
                  "churn 40", "drop 30", ("clear",), "keep 5", "churn 6",
                  "drop 4", ("stop",), "keep 1000")
    wanted, sums = summary(trace)
    equal(wanted, (11, 5, 5 * 40 + 6 * 24), "since the clear")
    for number, words in enumerate((
            ("repack",), ("strip", "--lifetime", "1h"),
            ("strip", "--temporary", "0"), ("anonymize",))):
        out = os.path.join(directory, "out%d" % number)
        gnomon(words[0], trace, "-o", out, *words[1:])
        got, again = summary(out, pattern="" if words[0] == "anonymize"
                             else "tgt_")
        if words[0] != "anonymize":
            equal(got, wanted, words)
        for key in ("allocations", "frees", "total_bytes", "live_bytes",
                    "peak_bytes", "temporary", "foreign_frees", "unpaired",
                    "not_recorded_ns", "view_start_ns"):
            equal(again[key], sums[key], "%s of %s" % (key, words))


@case
def culled_traces_keep_the_view(directory):
    """A recording that leaves blocks out counts the same since a clear, and
    since a start."""
    steps = ("keep 100", "churn 5000", ("clear",), "churn 300", "keep 10",
             "drop 60", ("stop",), "churn 77", "keep 5", ("start",),
             "churn 3000", "keep 20", "drop 65", "move 3")
    wanted, sums = summary(steer(directory, *steps))
    equal(wanted, (3023, 10, 3000 * 24 + 20 * 40 + 3 * 80), "all recorded")
    for number, options in enumerate((
            {"GNOMON_CULL": "1h"}, {"GNOMON_CULL": "1us"},
            {"GNOMON_LIMIT": "1M"}, {"GNOMON_CULL": "1h",
                                     "GNOMON_LIMIT": "1M"})):
        where = os.path.join(directory, str(number))
        os.mkdir(where)
        got, again = summary(steer(where, *steps, **options))
        equal(got, wanted, options)
        for key in ("allocations", "frees", "total_bytes", "live_bytes",
                    "peak_bytes", "temporary", "foreign_frees", "unpaired"):
            equal(again[key], sums[key], "%s with %s" % (key, options))


@case
def parts_know_what_was_before(directory):
    """The last part has the sums of all since the last beginning, though that
    was in a part that is gone."""
    trace = steer(directory, "keep 100", "churn 400000", ("clear",),
                  "churn 1500000", "keep 10", "drop 60", "churn 1500000",
                  GNOMON_LIMIT="1M")
    got, sums = summary(trace)
    check(sums["part"] > 2, "there is only part %d" % sums["part"])
    equal(got, (3000010, 10, 3000000 * 24 + 400), "the last part")
    equal((sums["unpaired"], sums["dropped"]), (0, 0), "unpaired, dropped")
    check(re.search(r"part +number", gnomon("report", trace).out), "says so")
    out = os.path.join(directory, "out")
    gnomon("strip", trace, "-o", out, "--lifetime", "1h")
    equal(summary(out)[0], got, "stripped")


@case
def moments_have_names(directory):
    trace = steer(directory, "keep 10", ("snapshot", "one"), "keep 20",
                  ("snapshot", "two"), "keep 30", "drop 15")
    equal(summary(trace, "--from", "@one")[0][0], 50, "--from")
    equal(summary(trace, "--from", "@one", "--to", "@two")[0][0], 20, "--to")
    equal(summary(trace, "--marker", "one")[0][0], 20, "--marker")
    equal(summary(trace, "--alive-at", "@two")[0][1], 30, "--alive-at")
    done = gnomon("report", trace, "--from", "@three", statuses=(2,))
    check("@one, @two" in done.err, done.err)
    done = gnomon("diff", trace, "--from", "@one", "--to", "@two", "--json",
                  "--cost", "count", statuses=(0, 1))
    grown = sum(row["after"]["count"] - row["before"]["count"]
                for row in json.loads(done.out)["rows"])
    equal(grown, 20, "diff")


@case
def moments_across_a_clear(directory):
    trace = steer(directory, "keep 10", ("snapshot", "one"), "keep 20",
                  ("clear",), "keep 30", "drop 5", ("snapshot", "two"))
    done = gnomon("diff", trace, "--from", "@one", "--to", "@two", "--json",
                  "--cost", "live", statuses=(0, 1))
    grown = sum(row["after"]["live_bytes"] - row["before"]["live_bytes"]
                for row in json.loads(done.out)["rows"])
    equal(grown, 45 * 40, "live across the clear")


@case
def heaps_are_selected(directory):
    done = recorded([program("mempool_requests")], directory)
    trace = done.trace
    for name in ("arena", "mempool", "malloclike"):
        got = json.loads(gnomon("report", trace, "--json", "--heap", name,
                                "--by", "block", "--top", "0").out)
        for key in ("allocations", "total_bytes", "live_bytes"):
            equal(got["summary"][key], done.expected["%s_%s" % (name, key)],
                  "%s of %s" % (key, name))
        for row in got["rows"]:
            equal(row["heap"], name, "a block's heap")
            check(row["address"] < 1 << 48, "an address")
    gnomon("report", trace, "--heap", "nothing")
    out = os.path.join(directory, "out")
    gnomon("strip", trace, "-o", out, "--temporary", "100")
    equal(json.loads(gnomon("report", "--json", out).out)["heaps"],
          json.loads(gnomon("report", "--json", trace).out)["heaps"],
          "heaps when stripped")


@case
def damage_has_both_stacks(directory):
    done = recorded([program("one_behind")], directory,
                    options=("--guard", "32"))
    document = json.loads(gnomon("report", done.trace, "--json").out)
    equal(document["summary"]["damages"], 1, "damages")
    damage = document["damages"][0]
    equal((damage["size"], damage["offset"], damage["bytes"]), (24, 24, 1),
          "where")
    names = [[frame["function"] for frame in damage[who]["stack"]]
             for who in ("allocated", "found_by")]
    check("tgt_allocate" in names[0], names)
    check("tgt_release" in names[1], names)
    text = gnomon("report", done.trace).out
    check("DAMAGE" in text and "tgt_allocate" in text, text)
    out = os.path.join(directory, "out")
    gnomon("strip", done.trace, "-o", out, "--temporary", "100")
    again = json.loads(gnomon("report", "--json", out).out)["damages"]
    equal([frame["function"] for frame in again[0]["allocated"]["stack"]],
          names[0], "when stripped")


main()
