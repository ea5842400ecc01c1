#!/usr/bin/python3
"""Filters of blocks, compared with the program's own operations: realloc
chains."""

from gnomon_test import *

CHAINS = 200
GROWN = 17              # blocks of a chain from 16 bytes to 1 MiB, by doubling
SHRUNK = 10             # and down to one byte, by quarters


def summary(trace, *words):
    done = gnomon("report", trace, "--json", "--by", "stack",
                  "--function", "^tgt_realloc$", *words)
    rows = json.loads(done.out)["rows"]
    return {key: sum(row[key] for row in rows)
            for key in ("count", "total_bytes", "live_blocks", "temporary")}


@case
def chains(directory):
    done = recorded([program("realloc_chain")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    everything = summary(done.trace)
    equal(everything["count"], CHAINS * (GROWN + SHRUNK), "reallocs")
    whole = GROWN + SHRUNK
    for words, count in (
            (("--chain-length-min", str(whole)), everything["count"]),
            (("--chain-length-min", str(whole + 1)), 0),
            (("--chain-position-max", "1"), CHAINS),
            (("--chain-position-min", "18", "--chain-position-max", "19"),
             CHAINS * 2),
            (("--first-size-min", "16", "--first-size-max", "16"),
             everything["count"]),
            (("--last-size-min", "2"), 0),
            (("--fate", "chain-live"), CHAINS // 4 * whole),
            (("--fate", "freed", "--fate", "live"), everything["count"]),
            (("--size-min", "1M"), CHAINS)):
        equal(summary(done.trace, *words)["count"], count, " ".join(words))


@case
def complements(directory):
    """What is before a moment and what is not are everything."""
    done = recorded([program("realloc_chain")], directory)
    everything = summary(done.trace)
    for one, other in ((("--to", "40%"), ("--from", "40%")),
                       (("--fate", "freed"), ("--fate", "live")),
                       (("--size-max", "100"), ("--size-min", "101"))):
        parts = [summary(done.trace, *words) for words in (one, other)]
        for key in everything:
            equal(parts[0][key] + parts[1][key], everything[key],
                  "%s of %s and the others" % (key, one))


@case
def mappings(directory):
    """The main thread's blocks lie in what brk gives, the other's do not."""
    trace = recorded([program("wordy")], directory).trace
    rows = json.loads(gnomon("report", trace, "--json", "--by", "block",
                             "--top", "0").out)["rows"]

    def counts(*words):
        found = json.loads(gnomon("report", trace, "--json", *words).out)
        return [found["summary"][key]
                for key in ("allocations", "live_blocks")]

    everything, heap, other = (counts(*words) for words in (
        (), ("--map", "heap"), ("--map", "^$")))
    equal([a + b for a, b in zip(heap, other)], everything, "in all")
    equal(other, [100, 0], "the thread's chain")
    equal(counts("--map", "heap", "--map", "^$"), everything, "either")
    equal(counts("--map", hex(rows[0]["address"])), heap, "by address")
    equal(counts("--map", "libc.so"), [0, 0], "a mapping without blocks")
    without = os.path.join(directory, "without")
    os.mkdir(without)
    trace = recorded([program("wordy")], without,
                     options=("--maps", "off")).trace
    wrong = gnomon("report", trace, "--map", "heap", statuses=(2,))
    check("--maps off" in wrong.err, wrong.err)


@case
def wrong_words(directory):
    done = recorded([program("realloc_chain")], directory)
    for words, text in ((("--from", "@nowhere"), "nowhere"),
                        (("--fate", "leaked"), "--fate"),
                        (("--thread", "("), "--thread")):
        wrong = gnomon("report", done.trace, *words, statuses=(2,))
        check(text in wrong.err, "what is wrong: " + wrong.err)


main()
