#!/usr/bin/python3
"""`--cull` leaves out short-lived blocks while recording: the remaining trace
gives the same results as a full one."""

from gnomon_test import *

# What two runs of one program have in common.
SAME = ["allocations", "total_bytes", "frees", "live_blocks", "live_bytes",
        "peak_blocks", "peak_bytes", "temporary"]
ROW = ["count", "total_bytes", "frees", "live_bytes", "live_blocks",
       "temporary", "peak_bytes", "peak_blocks", "own_peak_bytes",
       "own_peak_blocks"]


def run(directory, name, argv, *options):
    place = os.path.join(directory, name)
    os.mkdir(place)
    done = recorded(argv, place, options=options)
    equal(done.status, 0, "status: " + done.err)
    return done


def summary(trace):
    done = bare([GNOMON, "report", "--json", "--by", "stack", "--sort",
                 "total", "--top", "0", trace])
    equal((done.status, done.err), (0, ""), "report")
    return json.loads(done.out)


def rows(report):
    """Figures by stack, which has other addresses in each run."""
    return {tuple((frame["function"], frame["line"], frame["module_offset"])
                  for frame in row["stack"]): [row[key] for key in ROW]
            for row in report["rows"]}


def compare(whole, culled):
    for key in SAME:
        equal(culled["summary"][key], whole["summary"][key], key)
    a, b = rows(whole), rows(culled)
    check(len(a) >= 4, "there are rows: %d" % len(a))
    equal(b, a, "rows")


@case
def one_thread(directory):
    """Every figure is as it is without, from a fraction of the events."""
    argv = [program("mixed_lifetimes"), "20000"]
    whole = run(directory, "whole", argv)
    culled = run(directory, "culled", argv, "--cull")
    agree(culled.expected, Report(culled.trace))
    compare(summary(whole.trace), summary(culled.trace))
    found = summary(culled.trace)["summary"]
    check(found["left_out_blocks"] > 15000, "left out: %r" % found)
    check(found["left_out_peak_exact"], "every block of the peak is there")
    events = [int(info(done.trace)["end"]["events"])
              for done in (whole, culled)]
    check(events[1] < events[0] / 3, "events: %r" % events)


@case
def few_pending_blocks(directory):
    """A short line: fewer are left out, and nothing is wrong for it."""
    argv = [program("mixed_lifetimes"), "20000"]
    whole = run(directory, "whole", argv)
    culled = run(directory, "culled", argv, "--cull", "--cull-pending=64")
    compare(summary(whole.trace), summary(culled.trace))


@case
def short_time(directory):
    """With a time that hardly anything is shorter than."""
    argv = [program("mixed_lifetimes"), "20000"]
    whole = run(directory, "whole", argv)
    culled = run(directory, "culled", argv, "--cull=20us")
    compare(summary(whole.trace), summary(culled.trace))


@case
def temporary_blocks_of_culled_traces(directory):
    """A block that stays is not temporary because what came after it went."""
    argv = [program("mixed_lifetimes"), "60000", "0"]
    done = run(directory, "culled", argv, "--cull=1ms")
    found = summary(done.trace)
    check(info(done.trace)["end"]["events"] > 8, "some stay")
    equal(found["summary"]["temporary"], 600000, "temporary")


@case
def free_stacks(directory):
    argv = [program("mixed_lifetimes"), "5000"]
    whole = run(directory, "whole", argv, "--free-stacks")
    culled = run(directory, "culled", argv, "--free-stacks", "--cull")
    compare(summary(whole.trace), summary(culled.trace))


def chains_of(trace):
    """Figures of the chains of each stack; how long they lived differs from
    run to run."""
    done = bare([GNOMON, "report", "--json", "--sizes", "--by", "stack",
                 "--top", "0", trace])
    found = {}
    for row in json.loads(done.out)["rows"]:
        stack = tuple((frame["function"], frame["line"])
                      for frame in row["stack"])
        if "chains" in row:
            found[stack] = {key: value for key, value in row["chains"].items()
                            if not key.endswith("_ns")}
    return found


def steps_of(trace):
    """Steps of all chains, and blocks that a realloc made, of a program that
    gives it no NULL."""
    rows_ = json.loads(gnomon("report", "--json", "--sizes", "--by", "stack",
                              "--top", "0", trace).out)["rows"]
    return (sum(row["chains"]["blocks"] - row["chains"]["count"]
                for row in rows_ if "chains" in row),
            sum(row["count"] for row in rows_
                if row["stack"] and
                row["stack"][0]["function"] == "tgt_realloc"))


def sizes_of(trace, *words):
    table = gnomon("export", trace, "--format", "csv", "--by", "block",
                   *words).out.splitlines()
    at = table[0].split(",").index("size")
    return sorted(int(line.split(",")[at]) for line in table[1:])


@case
def chains(directory):
    """Of chains some blocks stay, or none: their figures are the same, and what
    a block is in its chain, whose sizes are known."""
    sizes = ([16 << i for i in range(17)] +
             [(1 << 20) >> 2 * i for i in range(1, 11)])
    length = str(len(sizes))
    whole = run(directory, "whole", [program("realloc_chain")])
    wanted = chains_of(whole.trace)
    equal(sum(each["count"] for each in wanted.values()), 200, "chains")
    for options in (("--cull=2us",), ("--cull=40us",), ("--cull=200us",),
                    ("--cull=1h",), ("--cull=1h", "--cull-pending=64"),
                    ("--cull=1h", "--cull-pending=300", "--free-stacks")):
        done = run(directory, "-".join(options), [program("realloc_chain")],
                   *options)
        equal(chains_of(done.trace), wanted, " ".join(options))
        there = [size for size in sizes_of(done.trace) if size in sizes]
        check(50 <= len(there) < 5400, "there are %d" % len(there))
        equal(sizes_of(done.trace, "--chain-length-min", length,
                       "--chain-length-max", length, "--first-size-min", "16",
                       "--first-size-max", "16", "--last-size-max", "1"),
              there, "blocks of whole chains, with " + " ".join(options))
        for at, size in enumerate(sizes):
            found = sizes_of(done.trace, "--chain-length-min", "2",
                             "--chain-position-min", str(at + 1),
                             "--chain-position-max", str(at + 1))
            check(set(found) <= {size}, "at %d: %r" % (at, found))


@case
def chains_across_threads(directory):
    """Each step is in one chain, and in no other: also when some of what was
    kept goes later."""
    for options in (("--cull=20us",), ("--cull=1ms",), ("--cull=1h",),
                    ("--cull=1h", "--cull-pending=500")):
        done = run(directory, "-".join(options),
                   [program("exchange"), "5", "8000"], *options)
        steps, made = steps_of(done.trace)
        check(made > 1000, "reallocs: %d" % made)
        equal(steps, made, "steps, with " + " ".join(options))
        out = os.path.join(directory, "stripped")
        gnomon("strip", done.trace, "-o", out, "-f", "--lifetime", "20ms")
        equal(chains_of(out), chains_of(done.trace), "stripped, as culled "
              "with " + " ".join(options))
        equal(steps_of(out), (steps, made), "stripped")


@case
def many_threads(directory):
    """The order of threads differs from run to run: what does not depend on
    it is the same, and what the recorder counted is what the reader does."""
    argv = [program("mixed_lifetimes"), "5000", "8"]
    whole = run(directory, "whole", argv)
    culled = run(directory, "culled", argv, "--cull")
    agree(culled.expected, Report(culled.trace))
    a, b = summary(whole.trace), summary(culled.trace)
    for key in ("allocations", "total_bytes", "frees", "live_blocks",
                "live_bytes"):
        equal(b["summary"][key], a["summary"][key], key)
    # events of threads that ran at once have no order: each may have had one
    # block more or less (of up to 3015 bytes) in the one's order than in the
    # other's
    seen, read = (b["summary"][key] for key in ("left_out_peak_bytes",
                                                "peak_bytes"))
    check(abs(seen - read) <= 8 * 3015, "the peak as the recorder saw it, "
          "%d, and as it is read, %d" % (seen, read))


@case
def across_threads(directory):
    """Blocks that others free, at addresses that come back at once."""
    done = run(directory, "culled", [program("crossfree")], "--cull")
    agree(done.expected, Report(done.trace))
    found = summary(done.trace)["summary"]
    check(found["left_out_blocks"] > 1000, "left out: %r" % found)


@case
def threads_that_end(directory):
    done = run(directory, "culled", [program("storm"), "500", "4"], "--cull")
    agree(done.expected, Report(done.trace))
    equal(len(info(done.trace)["threads"]), 501, "threads")


@case
def forked(directory):
    """A child has books of its own."""
    place = os.path.join(directory, "all")
    os.mkdir(place)
    done = recorded([program("forks")], place, options=("--cull",))
    equal(done.status, 0, "status: " + done.err)
    check(len(done.traces) > 1, "traces: %r" % done.traces)
    for trace in done.traces:
        summary(trace)


main()
