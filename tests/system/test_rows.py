#!/usr/bin/python3
# TIMEOUT: 300
"""The rows of indexes, compared with a Python model
(tests/tools/brute_model.py) of the same random traces: every allocation and end
in its order, chains, freeing threads; the same for growing traces, and for
indexes whose makers were killed.

GNOMON_ROWS_TRACES says of how many traces (by default TRACES), and
GNOMON_ROWS_SEED which one is first.
"""

import random

from gnomon_test import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tools"))

from brute_model import LOST, BY_FREE, BY_MOVE, Story   # noqa: E402
from random_trace import Program                        # noqa: E402

TRACES = 400
BATCH = 50
HOWS = {None: "live", BY_FREE: "freed", BY_MOVE: "moved", LOST: "lost"}
BETWEEN = 1 << 44


class Row:
    def __init__(self, words):
        (self.birth, self.end, self.begin, self.stamp, self.how, self.address,
         self.size, self.tid, self.freer, self.chain, self.place,
         self.between, self.flags, *self.frames) = words


def chain_of(block, numbers):
    """A number for it, and the block's place."""
    if not block.chain or len(block.chain.blocks) == 1 and \
            block.how != BY_MOVE:
        return 0, 0
    return numbers.setdefault(id(block.chain), len(numbers) + 1), \
        block.position


def wanted(story, trace):
    """What rows have, but for flags: by the edge of the birth."""
    rows, numbers = {}, {}
    for block in story.blocks:
        live = block.how is None
        between = (story.allocated[block.thread] - block.number if live else
                   block.between)
        rows[block.begun + 1] = (
            None if live else block.ended + 1, block.birth,
            None if live else block.end, HOWS[block.how], block.address,
            block.size, block.thread.tid, *chain_of(block, numbers),
            between % BETWEEN,
            tuple(frame[0] for frame in trace.contexts[block.context]))
    return rows


def number(word):
    return None if word == "-" else int(word)


def had(rows):
    """The same of lines, chains numbered in the same way."""
    numbers, found = {0: 0}, {}
    for row in sorted(rows, key=lambda row: int(row.birth)):
        chain = numbers.setdefault(int(row.chain), len(numbers))
        found[int(row.birth)] = (
            number(row.end), int(row.begin), number(row.stamp), row.how,
            int(row.address), int(row.size), int(row.tid), chain,
            int(row.place), int(row.between), tuple(map(int, row.frames)))
    return found


def judge(seed, trace, lines):
    story = Story(trace, 0, True)
    rows = [Row(line.split()[1:]) for line in lines[:-1]]
    want, have = wanted(story, trace), had(rows)
    for edge in sorted(set(want) | set(have)):
        equal(have.get(edge), want.get(edge),
              "seed %d, birth %d" % (seed, edge))
    ends = [int(row.end) for row in rows if row.how != "live"]
    equal(ends, sorted(ends), "seed %d: rows by their ends" % seed)
    check(all(row.how == "live" for row in rows[len(ends):]),
          "seed %d: live rows come last" % seed)
    equal(lines[-1].split()[1:],
          [str(value) for value in (
              story.unpaired, story.repaired, story.foreign,
              len(trace.events), story.last)], "seed %d: facts" % seed)


def parts(text):
    """The lines of each trace."""
    lines = text.splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith("facts")]
    return [lines[a:b + 1] for a, b in zip([0] + [i + 1 for i in ends], ends)]


def compare(directory, share, first, **kind):
    count = int(int(os.environ.get("GNOMON_ROWS_TRACES", TRACES)) * share)
    first += int(os.environ.get("GNOMON_ROWS_SEED", 0))
    for at in range(first, first + count, BATCH):
        seeds = range(at, min(at + BATCH, first + count))
        made = [Program(seed, **kind) for seed in seeds]
        paths = [os.path.join(directory, "%d.trace" % seed) for seed in seeds]
        script = "\n".join(line for one, path in zip(made, paths)
                           for line in (*one.script, "write " + path))
        subprocess.run([program("trace_script")], input=script.encode(),
                       check=True)
        texts = [subprocess.run([program("rows_dump"), *how, *paths],
                                check=True, stdout=subprocess.PIPE,
                                encoding="utf-8").stdout
                 for how in ([], ["--grow"], ["--parts"])]
        for seed, one, lines, grown, late in zip(seeds, made,
                                                 *map(parts, texts)):
            judge(seed, one.trace, lines)
            equal(grown, lines, "seed %d: of a trace that grows" % seed)
            equal(late, lines, "seed %d: made in parts" % seed)
        gone_on = int(texts[-1].split()[-1])
        check(gone_on > len(seeds), "gone on only %d times" % gone_on)
        for path in paths:
            os.unlink(path)


@case
def rows_are_those_of_the_definitions(directory):
    compare(directory, 0.5, 0)


@case
def also_where_recording_was_started_and_stopped(directory):
    compare(directory, 0.3, 1000000, controls=True)


@case
def also_of_samples(directory):
    compare(directory, 0.2, 2000000, sample=True)


main()
