#!/usr/bin/python3
"""What commands say of a trace is the same from its index as from its events: of
recordings of all kinds (tests/outputs), in words and in JSON, with filters,
groups, peaks, figures over time, pages. Figures themselves are held against a
model in test_model.py."""

import glob
import shutil

from gnomon_test import *

OUTPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "outputs")
QUESTIONS = (
    [], ["--json"], ["--sort", "own-peak", "--by", "thread"],
    ["--sort", "peak", "--by", "size-class,library", "--json"],
    ["--alive-at", "50%"], ["--alive-at", "50%", "--json", "--by", "block"],
    ["--size-min", "100", "--sort", "total"], ["--fate", "temporary"],
    ["--lifetime-min", "1us", "--by", "lifetime-class", "--sort", "count"],
    ["--group-peak-time-min", "50%"], ["--chain-length-min", "2"],
    ["--map", "heap", "--json"], ["--by", "mapping,arena", "--sort", "total"],
    ["--from", "30%", "--to", "90%", "--json"], ["--from", "start"],
    ["--timeline", "--by", "thread", "--top", "3"], ["--sizes"],
    ["--timeline", "--by", "function", "--json", "--top", "4"],
    ["--pages", "--by", "function"], ["--by", "within-function"],
    ["--by", "block", "--top", "20"],
)


def answers(trace, words, way):
    """What is told on the way, of making an index, is left out."""
    done = gnomon("report", way, *words, trace, statuses=(0, 1, 2, 3))
    return done.status, done.out


def same(directory, trace):
    path = os.path.join(directory, os.path.basename(trace))
    shutil.copy(trace, path)
    for words in QUESTIONS:
        equal(answers(path, words, "--index"),
              answers(path, words, "--no-index"),
              "%s: report %s" % (os.path.basename(trace), " ".join(words)))
    return os.path.exists(path + ".idx")


@case
def reports_are_the_same(directory):
    indexed = [same(directory, trace) for trace in
               sorted(glob.glob(os.path.join(OUTPUTS, "*.trace")))]
    check(sum(indexed) > len(indexed) // 2, "most of them have an index")


@case
def what_only_events_tell(directory):
    """Who frees, and what is live of what was left out."""
    for options in (["--free-stacks"], ["--depth", "0"], ["--limit", "1M"],
                    ["--sample=1k"], ["--cull=1ms"]):
        trace = recorded([program("planted")], directory,
                         options=options).trace
        for words in ([], ["--json"], ["--map", "heap", "--json"],
                      ["--size-min", "64"], ["--by", "thread", "--json"]):
            equal(answers(trace, words, "--index"),
                  answers(trace, words, "--no-index"),
                  "%s: report %s" % (options, " ".join(words)))
        for left in glob.glob(os.path.join(directory, "planted.*")):
            os.unlink(left)


if __name__ == "__main__":
    main()
