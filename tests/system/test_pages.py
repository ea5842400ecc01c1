#!/usr/bin/python3
"""`gnomon report --pages`: whose blocks keep which pages, and what resident
memory consisted of, compared with what a program knows of its own blocks."""

from gnomon_test import *

PAGE = 4096
PARTS = ("live", "fragmented", "free", "mapped", "files", "stacks", "recorder",
         "rest")
# What the C library and the loader may have beside: of the heap, of mappings.
OWN_PAGES, OWN_BYTES = 4, 1 << 20


def recorded_pinned(directory, *options, full_ms=0):
    done = recorded([program("pinned"), str(full_ms)], directory,
                    options=options)
    equal(done.status, 0, "status, stderr: " + done.err)
    return done


def pages_of(trace, *options):
    return json.loads(gnomon("report", trace, "--pages", "--json", "--top", "0",
                             "--by", "function", *options).out)


def row_of(document, function):
    found = [row for row in document["rows"]
             if row["function"] == function]
    equal(len(found), 1, "rows of " + function)
    return found[0]["pages"]


def adds_up_pages(document):
    pages = document["pages"]
    for key in ("uses", "heaps", "mappings"):
        for what in ("pages", "live_bytes"):
            equal(sum(part[what] for part in pages[key]), pages[what],
                  "%s of %s" % (what, key))
    equal(sum(row["pages"]["kept_bytes"] for row in document["rows"]),
          pages["pages"] * PAGE, "kept by all rows")
    equal(pages["bytes"], pages["pages"] * PAGE, "bytes")
    kept = [row["pages"]["kept_bytes"] for row in document["rows"]]
    equal(kept, sorted(kept, reverse=True), "order")
    for point in document["residency"]:
        equal(sum(point[part + "_bytes"] for part in PARTS),
              point["rss_bytes"], "parts of what is resident")


@case
def as_the_program_knows(directory):
    done = recorded_pinned(directory)
    document = pages_of(done.trace, "--function", "tgt_")
    adds_up_pages(document)
    expected = done.expected
    both = expected["both_pages"]
    heap = expected["often_pages"] + expected["seldom_pages"] - both
    equal(document["pages"]["pages"], heap + expected["large_pages"], "pages")
    equal(document["pages"]["blocks"], expected["live_blocks"], "blocks")
    equal(document["pages"]["live_bytes"], expected["live_bytes"], "live")
    for place in ("often", "seldom"):
        row = row_of(document, "tgt_" + place)
        equal(row["pages"], expected[place + "_pages"], place)
        equal(row["kept_alone_bytes"],
              (expected[place + "_pages"] - both) * PAGE, place + " alone")
        check(row["kept_alone_bytes"] < row["kept_bytes"] <
              expected[place + "_pages"] * PAGE, place + " kept")
    large = row_of(document, "tgt_large")
    equal(large["kept_bytes"], expected["large_pages"] * PAGE, "large")
    equal(large["kept_alone_bytes"], large["kept_bytes"], "large alone")


@case
def the_heap_ends_with_a_block(directory):
    done = recorded_pinned(directory)
    heap, = (part for part in pages_of(done.trace, "--function", "tgt_")
             ["pages"]["heaps"] if part["arena"] == "main")
    stacks = Report(done.trace).rows_with("tgt_often")
    check(heap["top"]["context"] in [row["context"] for row in stacks],
          "the block at the end of the heap")
    equal(heap["top"]["address"] + heap["top"]["size"], heap["end"], "end")
    check(heap["top"]["size"] <= heap["top"]["above_next_bytes"] <=
          PAGE, "above the next block")


@case
def what_is_resident_is_explained(directory):
    done = recorded_pinned(directory)
    document = pages_of(done.trace)
    adds_up_pages(document)
    expected = done.expected
    last = document["residency"][-1]
    near = lambda part, wanted, beside: check(
        wanted <= last[part + "_bytes"] <= wanted + beside,
        "%s: %d, wanted %d" % (part, last[part + "_bytes"], wanted))
    own = OWN_PAGES * PAGE
    kept = (expected["often_pages"] + expected["seldom_pages"] -
            expected["both_pages"] + expected["large_pages"]) * PAGE
    equal(last["snapshot"], "end", "the last snapshot")
    near("live", expected["live_bytes"], own)
    near("fragmented", kept - expected["live_bytes"], own)
    near("mapped", expected["mapped_bytes"], 0)
    # The rest of what it had: chunks are larger than what was asked for.
    heap = expected["filled_bytes"] * 208 // 200
    near("free", heap - kept, OWN_BYTES + kept - expected["live_bytes"])
    check(abs(last["rss_bytes"] - expected["resident_bytes"]) < OWN_BYTES,
          "resident: %d, the program says %d" % (
              last["rss_bytes"], expected["resident_bytes"]))
    check(last["bound_bytes"] <= OWN_BYTES // 4,
          "bound: %d" % last["bound_bytes"])
    resident = document["pages"]["resident"]
    equal(resident["bytes_max"], document["pages"]["bytes"], "all of it")
    check(resident["bytes_max"] - resident["bytes_min"] <= OWN_BYTES // 4,
          "at least")


@case
def at_a_moment(directory):
    """When all fillers are there, pages are full."""
    done = recorded_pinned(directory, "--snapshot-every", "100ms",
                           full_ms=500)
    document = pages_of(done.trace, "--fate", "freed")
    equal(document["pages"]["pages"], 0, "pages of what was freed")
    peak = Report(done.trace).summary["peak_time_ns"]
    document = pages_of(done.trace, "--alive-at", "%dns" % (peak + 1))
    adds_up_pages(document)
    check(document["pages"]["live_bytes"] >= done.expected["filled_bytes"],
          "live at the peak")
    check(document["pages"]["uses"][-1]["pages"] >
          document["pages"]["pages"] * 0.99, "full pages")
    points = document["residency"]
    check(max(point["live_bytes"] for point in points) >=
          done.expected["filled_bytes"], "live at some snapshot")
    check(points[-1]["live_bytes"] < done.expected["filled_bytes"] / 4,
          "live at the end")


CHURN = """
import os, sys
kept = [{"a": i, "b": str(i) * 50} for i in range(100000)][::400]
with open("/proc/self/statm") as statm:
    resident = int(statm.read().split()[1]) * %d
print(os.getpid(), resident, flush=True)
sys.stdin.read()
""" % PAGE


@case
def at_a_snapshot_of_a_real_program(directory):
    """Python has freed nearly all that it had, when it is asked."""
    trace = os.path.join(directory, "python.trace")
    process = subprocess.Popen(
        [GNOMON, "run", "-o", trace, "--no-pools", "--", sys.executable, "-c",
         CHURN], env=environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        pid, resident = map(int, process.stdout.readline().split())
        gnomon("snapshot", "warm", str(pid))
        now = pages_of(str(pid))
    finally:
        process.stdin.close()
        process.wait(RUN_SECONDS)
    settle(directory)
    document = pages_of(trace)
    for each in (now, document):
        adds_up_pages(each)
        warm, = (point for point in each["residency"]
                 if point["snapshot"] == "warm")
        check(abs(warm["rss_bytes"] - resident) < 2 * OWN_BYTES,
              "resident: %d, it says %d" % (warm["rss_bytes"], resident))
        check(warm["fragmented_bytes"] + warm["free_bytes"] >
              warm["live_bytes"], "most of it is free")
    then = pages_of(trace, "--alive-at", "@warm")
    adds_up_pages(then)
    equal(then["pages"]["resident"]["snapshot"], "warm", "the nearest")
    live = then["pages"]["live_bytes"]
    check(0.95 * live <= warm["live_bytes"] <= live, "live: %d of %d" % (
        warm["live_bytes"], live))
    check(then["pages"]["resident"]["bytes_min"] <=
          warm["live_bytes"] + warm["fragmented_bytes"] ==
          then["pages"]["resident"]["bytes_max"], "resident pages")


@case
def without_maps(directory):
    done = recorded_pinned(directory, "--maps", "off")
    document = pages_of(done.trace)
    adds_up_pages(document)
    last = document["residency"][-1]
    equal(last["mapped_bytes"], 0, "mapped by the program")
    equal([mapping["path"] for mapping in document["pages"]["mappings"]],
          [None], "mappings")


@case
def pages_as_text(directory):
    done = recorded_pinned(directory)
    out = gnomon("report", done.trace, "--pages", "--by", "function").out
    for title in ("PAGES", "PAGES KEPT", "RESIDENT MEMORY"):
        check("\n%s: " % title in out, title)
    check("  mapped           8.0M  mapped by the program\n" in out, out)
    check(re.search(r"\n   1\.  .* alone\n +tgt_often", out), out)
    check(max(map(len, out.splitlines())) < 80, "a line of 80 columns")


@case
def pages_of_traces_without_blocks(directory):
    """Of which there are only sums."""
    done = recorded_pinned(directory, "--depth", "0")
    adds_up_pages(pages_of(done.trace))
    out = gnomon("report", done.trace, "--pages").out
    check(re.search(r"\n  Of [\d,]+ more blocks .* on no page here\.\n", out),
          out)
    check("\n      blocks that are not in the trace count as free\n" in out,
          out)


@case
def options_that_exclude_pages(directory):
    done = recorded_pinned(directory)
    for options in (["--sort", "live"], ["--tree", "top-down"], ["--csv"],
                    ["--sizes"], ["--timeline"], ["--merge"],
                    ["--by", "block"], ["--by", "within-function"]):
        refused = gnomon("report", done.trace, "--pages", *options,
                         statuses=(2,))
        check(refused.err.startswith("gnomon: --pages"), refused.err)
        equal(refused.out, "", " ".join(options))


@case
def not_of_a_sample(directory):
    done = recorded_pinned(directory, "--sample=1000")
    refused = gnomon("report", done.trace, "--pages", statuses=(2,))
    check("without --sample" in refused.err, refused.err)


main()
