#!/usr/bin/python3
# TIMEOUT: 300
"""`gnomon report --json` of random traces, compared with a Python model that
knows the definitions (docs/notes/figures.md) but shares no code with gnomon
(tests/tools/brute_model.py).

GNOMON_MODEL_TRACES says of how many traces (by default TRACES), and
GNOMON_MODEL_SEED which one is first: a message names the one that differs, and
leaves its script.
"""

import random
import shutil

from gnomon_test import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tools"))

from brute_model import (  # noqa: E402
    Query, STACK_WORDS, TICK_NS, WITHIN, merged)
from random_trace import Program                   # noqa: E402

TRACES = 1000
BATCH = 50              # traces that one process writes and reports
QUESTIONS = 3           # that are asked of each
WAYS = ("--no-index", "--index")

LARGE = (1 << 32) - 1   # sizes from here on are one in rows by size
ROW = ("count", "total_bytes", "frees", "temporary", "live_blocks",
       "live_bytes", "peak_blocks", "peak_bytes", "age_ns", "first_ns",
       "last_ns", "lifetime_ns")
OWN = ("own_peak_bytes", "own_peak_blocks", "own_peak_time_ns")
MERGED = ("allocations", "frees", "total_bytes", "live_bytes", "live_blocks",
          "peak_bytes", "peak_blocks", "temporary", "unpaired",
          "foreign_frees", "threads")
STEP = ("time_ns", "live_bytes", "live_blocks", "live_bytes_max",
        "live_blocks_max", "allocations", "allocated_bytes", "frees",
        "freed_bytes")
# words whose meaning changes with what a trace has of chains and contexts, and
# with its last event
CHANGED = ("chain", "first", "last", "group", "fate", "lifetime")
PARTS = ("selected", "not_selected", "undecidable")
SORTED = {"live": "live_bytes", "peak": "peak_bytes",
          "own-peak": "own_peak_bytes", "total": "total_bytes",
          "count": "count", "temporary": "temporary",
          "lifetime": "lifetime_ns", "age": "age_ns"}


# ---- what a row of JSON is about, as the model's keys have it ----

def stack_of(row):
    return tuple(frame["address"] for frame in row["stack"])


def site_of(row):
    return row["stack"] and (row["stack"][0]["function"] or
                             row["stack"][0]["address"]) or None


# of each key: from a row, and from the model's, which may know more than that
KEYS = {
    "stack": (stack_of, lambda key: tuple(frame[0] for frame in key)),
    "site": (site_of, lambda key: key[1]),
    "function": (lambda row: row["function"], lambda key: key[1]),
    "file": (lambda row: row["file"] or row["library"], lambda key: key[1]),
    "library": (lambda row: row["library"], lambda key: key[1]),
    "thread": (lambda row: (row["tid"], row["start_ns"]), lambda key: key),
    "size": (lambda row: row.get("size"), lambda key: key),
    "size-class": (lambda row: row["size_max"].bit_length(),
                   lambda key: key),
}
KEYS["lifetime-class"] = (
    lambda row: "lost" if "freed" not in row else "live" if not row["freed"]
    else row["lifetime_max_ns"].bit_length(), lambda key: key)
KEYS.update({
    "within-function": (lambda row: row["within"]["function"],
                        lambda key: key),
    "within-file": (lambda row: row["within"]["file"] or
                    row["within"]["library"], lambda key: key),
    "within-library": (lambda row: row["within"]["library"],
                       lambda key: key),
})
OF_STACK = ["function", "file", "library"]
OF_BLOCK = ["thread", "size", "size-class", "lifetime-class"]
# what rows may be by: keys, and products of them
BYS = [(key,) for key in KEYS if key not in WITHIN]
BYS += [(a, b) for a in ["stack", "site"] + OF_STACK for b in OF_BLOCK]
BYS += [(b, a) for a in OF_STACK for b in OF_BLOCK]
BYS += [("library", "function"), ("thread", "size"), ("size-class", "thread"),
        ("library", "thread", "size-class"), ("thread", "site", "size"),
        ("file", "library", "thread", "size-class")]
OVERLAPPING = [(key,) for key in WITHIN]
OVERLAPPING += [("within-function", "thread"), ("site", "within-library"),
                ("library", "within-library", "size-class")]


# ---- questions ----

class Question:
    """Words of a report. `by`: keys, or None for blocks."""

    def __init__(self, by, filters=(), temporary=0, sort=None, sizes=False):
        self.by, self.filters, self.temporary = by, filters, temporary
        self.sort, self.sizes = sort, sizes

    def words(self, path):
        words = ["report", "-q", "--json", path, "--by",
                 ",".join(self.by or ["block"]), "--top", "0"]
        for word, text in self.filters:
            words += ["--" + word, text]
        if self.temporary:
            words += ["--temporary", str(self.temporary)]
        if self.sort:
            words += ["--sort", self.sort]
        if self.sizes:
            words += ["--sizes"]
        return words


def filters_for(r, trace):
    """Some words, of which none excludes another."""
    moments = ["%dns" % r.randint(0, 10 * trace.end) for _ in range(3)]
    begin = r.randint(0, 10 * trace.end)
    end = begin + r.randint(1, 10 * trace.end)
    size = r.choice(trace.events).size if trace.events else 0
    address = 0x5000 + 0x40 * r.randint(0, 6)
    tid = r.choice(trace.threads).tid
    span = "%dns" % r.randint(1, 10 * trace.end)
    some = [
        [("from", "%dns" % begin)], [("to", "%dns" % end)],
        [("from", "%dns" % begin), ("to", "%dns" % end)],
        [("from", "30%")], [("from", "start")],
        [("alive-at", moments[0])], [("alive-at", moments[0])],
        [("alive-at", moments[1]), ("alive-at-2", moments[2])],
        [("size-min", str(size))], [("size-max", str(size))],
        [("size-min", str(size)), ("size-max", str(size))],
        [("thread", str(tid))], [("thread", str(tid))],
        [("address-min", str(address))], [("address-max", str(address))],
        [("lifetime-min", span)], [("lifetime-max", span)],
        [("fate", r.choice(["live", "freed", "temporary", "chain-live",
                            "group-live"]))],
        [("fate", "live"), ("fate", "temporary")],
        [("chain-length-min", str(r.randint(1, 3)))],
        [("chain-position-max", str(r.randint(1, 3)))],
        [("first-size-max", str(size))], [("last-size-min", str(size))],
        [("chain-lifetime-max", span)],
        [("function", "^one$")], [("function", "^two$"),
                                  ("function", "^three$")],
        [("library", "^liba.so$")], [("library", "^libb.so$")],
        [("not-function", "^one$")], [("passes-through", "^two$")],
        [("depth-min", "2")], [("depth-max", "2")],
        [("group-count-min", "2")], [("group-live-max", "1")],
    ]
    chosen, words = [], set()
    for filters in r.sample(some, r.choice([0, 1, 1, 2, 2, 3])):
        if not words & {word for word, _ in filters}:
            chosen += filters
            words |= {word for word, _ in filters}
    return chosen


def question_for(r, trace):
    by = r.choice([*BYS, ("stack",), ("thread",), ("size",), None,
                   r.choice(OVERLAPPING)])
    sorted_by = [key for key in SORTED if key != "own-peak" or
                 by not in OVERLAPPING]
    return Question(by, filters_for(r, trace), r.choice([0, 0, 0, 1, 3]),
                    r.choice([None, *sorted_by]) if by else None,
                    r.random() < 0.4)


class OfPart(Question):
    """One key is asked for as a filter: the rows by another one are then
    groups by both, and the timeline is that of a group."""

    def __init__(self, r, trace):
        tids = [thread.tid for thread in trace.threads]
        alone = [thread for thread in trace.threads
                 if tids.count(thread.tid) == 1]
        size = min(r.choice(trace.events).size if trace.events else 0,
                   LARGE - 1)
        key = r.choice(["thread", "size", "size-class"])
        if key == "thread" and alone:
            thread = r.choice(alone)
            self.part = key, (thread.tid, TICK_NS * thread.start)
            filters = [("thread", str(thread.tid))]
        elif key == "size":
            self.part = key, size
            filters = [("size-min", str(size)), ("size-max", str(size))]
        else:
            bits = size.bit_length()
            self.part = "size-class", bits
            filters = [("size-min", str(1 << bits >> 1)),
                       ("size-max", str((1 << bits) - 1))]
        others = [by for by in BYS if by[0] != self.part[0]]
        Question.__init__(self, r.choice(others), filters,
                          r.choice([0, 0, 2]), sizes=True)


# ---- answers ----

def same(got, wanted, keys, what, loose=()):
    for key in keys:
        if got[key] == wanted[key]:
            continue
        if key in loose and abs(got[key] - wanted[key]) <= 1:
            continue        # a mean of what is rounded
        equal(got[key], wanted[key], "%s: %s" % (what, key))


def sides(rows, groups, by, order=OWN + ROW):
    """[(key, rows of JSON, the model's)]: what cannot be told apart by what
    is printed comes together, in an order of its own."""
    found, wanted = {}, {}
    for row in rows:
        found.setdefault(tuple(KEYS[key][0](row) for key in by),
                         []).append(row)
    for parts, figures in groups.items():
        wanted.setdefault(tuple(KEYS[key][1](part) for key, part in
                                zip(by, parts)), []).append(figures)

    def place(figures):
        return [figures[key] for key in order]
    equal(set(found), set(wanted), "by %s" % ",".join(by))
    for key in found:
        equal(len(found[key]), len(wanted[key]), "rows of %s" % (key,))
        yield key, sorted(found[key], key=place), sorted(wanted[key],
                                                         key=place)


def check_coverage(document, judged, question, without=()):
    got, wanted = document["coverage"], judged.coverage(question.by or ())
    for key in wanted:
        if key not in without:
            equal(got[key], dict(wanted[key]) if isinstance(
                wanted[key], dict) else wanted[key], "coverage: " + key)
    for key in got["whole"]:
        equal(got["whole"][key], sum(got[part][key] for part in PARTS),
              "the whole of " + key)


def check_rows(document, judged, question):
    loose = ("lifetime_ns",) if judged.trace.sample else ()
    overlap = question.by in OVERLAPPING
    groups, keys = (judged.overlapping(question.by), ROW) if overlap else \
        (judged.groups(question.by), OWN + ROW)
    for key, rows, wanted in sides(document["rows"], groups, question.by,
                                   keys):
        for row, figures in zip(rows, wanted):
            same(row, figures, keys, "%s %s" % (question.by, key), loose)
            check(overlap or "own_peak_bound" not in row,
                  "own peaks are exact")
    if question.sort:
        values = [row[SORTED[question.sort]] for row in document["rows"]]
        equal(values, sorted(values, reverse=True), "sorted")


def check_inclusive(document, judged):
    wanted = judged.inclusive()
    loose = ("lifetime_ns",) if judged.trace.sample else ()
    for row in document["rows"]:
        if row["function"]:
            same(row["inclusive"], wanted[row["function"]], ROW,
                 "inclusive %s" % row["function"], loose)


def check_blocks(document, judged):
    got = sorted((row["address"], row["size"], row["tid"], stack_of(row),
                  row["time_ns"]) for row in document["rows"])
    equal(got, judged.blocks(), "blocks")


def check_sizes(document, judged):
    sample = judged.trace.sample
    loose = ("lifetime_ns",) if sample else ()
    coarse = bool(judged.stacks)
    if coarse and sample:
        return              # sums of what was rounded by context
    wanted = judged.sizes()
    equal(len(document["sizes"]), len(wanted), "size classes")
    for row, figures in zip(document["sizes"], wanted):
        same(row, figures, [key for key in figures if not coarse or key in
                            ("min", "count", "total_bytes")],
             "sizes from %d" % row["min"], loose)
    wanted = judged.lifetimes()
    equal(len(document["lifetimes"]), len(wanted), "lifetimes")
    for row, figures in zip(document["lifetimes"], wanted):
        same(row, figures, figures, "lifetimes from %d" % row["min_ns"])
    same(document["chains"], judged.chains(), judged.chains(), "chains")


def check_timeline(document, judged):
    if judged.stacks:
        check("timeline" not in document, "a timeline of stacks")
        return
    step, rows = judged.timeline()
    steps = document["timeline"]["steps"]
    equal(len(steps), len(rows), "steps")
    if rows:
        equal(document["timeline"]["step_ns"], step, "step")
    for got, wanted in zip(steps, rows):
        same(got, wanted, STEP, "at %d" % got["time_ns"])


def check_part(document, trace, question):
    judged = Query(trace, temporary=question.temporary)
    key, value = question.part
    wanted = {tuple(parts): figures for (*parts, part), figures in
              judged.groups((*question.by, key)).items() if part == value}
    for by, rows, figures in sides(document["rows"], wanted, question.by):
        for row, one in zip(rows, figures):
            same(row, one, ROW + OWN, "%s of %s %s" % (by, key, value))
    steps = judged.timelines((key,)).get((value,), (0, []))[1]
    for got, step in zip(document["timeline"]["steps"], steps):
        same(got, step, STEP, "%s %s at %d" % (key, value, got["time_ns"]))


def judge(document, trace, question):
    judged = Query(trace, question.filters, question.temporary)
    wanted = judged.summary(question.by or ())
    same(document["summary"], wanted, wanted, "summary")
    check_coverage(document, judged, question)
    if question.by:
        check_rows(document, judged, question)
    else:
        check_blocks(document, judged)
    if question.by == ("function",):
        check_inclusive(document, judged)
    if isinstance(question, OfPart):
        check_part(document, trace, question)
    if question.sizes:
        check_sizes(document, judged)
        check_timeline(document, judged)


# ---- traces ----

def both_ways(questions, words):
    """Each is asked twice: events are read for it, then rows of the index."""
    return ([question for question in questions for _ in WAYS],
            [line + [way] for line in words for way in WAYS])


class Asked:
    """A trace, and questions."""

    def __init__(self, seed, path, **kind):
        made = Program(seed, **kind)
        r = random.Random(seed)
        self.seed, self.trace = seed, made.trace
        self.questions = [question_for(r, self.trace)
                          for _ in range(QUESTIONS)]
        if not kind:
            self.questions.append(OfPart(r, self.trace))
        self.questions, self.words = both_ways(
            self.questions,
            [question.words(path) for question in self.questions])
        self.script = [*made.script, "write " + path,
                       *map(" ".join, self.words)]

    def answer(self, document, question):
        judge(document, self.trace, question)

    def judge(self, answers, err):
        before = None
        for question, words in zip(self.questions, self.words):
            try:
                text, status = answers.pop(0)
                equal(status, 0, "status")
                document = json.loads(text)
                self.answer(document, question)
                if words[-1] == WAYS[1]:
                    equal(document, before, "by rows and by events")
                before = document
            except (Failure, LookupError, ValueError) as failure:
                place = os.path.join(tempfile.gettempdir(),
                                     "gnomon-model.%d.script" % self.seed)
                with open(place, "w", encoding="utf-8") as out:
                    out.write("\n".join(self.script) + "\n")
                raise Failure("seed %d (%s): %s: %r\n%s" % (
                    self.seed, place, " ".join(words), failure,
                    err[-2000:])) from failure


class AskedStripped(Asked):
    """A trace of which `gnomon strip` has left only sums of some blocks: how
    much a result is about is said of all that there were."""

    def __init__(self, seed, path, **kind):
        made = Program(seed, **kind)
        r = random.Random(seed)
        self.seed, self.trace = seed, made.trace
        self.questions = [
            Question(("stack",), [(word, text) for word, text in
                                  filters_for(r, self.trace)
                                  if word.split("-")[0] not in CHANGED])
            for _ in range(QUESTIONS)]
        left = path + ".stripped"
        self.questions, self.words = both_ways(
            self.questions,
            [question.words(left) for question in self.questions])
        self.script = [*made.script, "write " + path,
                       "strip -qf --lifetime %dns -o %s %s" % (
                           10 * r.randint(0, self.trace.end), left, path),
                       *map(" ".join, self.words)]

    def answer(self, document, question):
        judged = Query(self.trace, question.filters)
        got, all_of_it = document["coverage"], judged.coverage(("stack",))
        check_coverage(document, judged, question, PARTS)
        left = document["summary"].get("left_out_blocks", 0)
        equal(got["left_out"]["allocations"], left, "left out")
        by_block = [word for word, text in question.filters
                    if word not in STACK_WORDS and (word, text) !=
                    ("from", "start")]
        if not by_block:
            for part in PARTS:
                equal(got[part], dict(all_of_it[part]), "coverage: " + part)
            return
        # what nobody can judge may be either
        undecided = got["undecidable"]
        check(undecided["allocations"] >= left, "sums are undecidable")
        for key in undecided:
            for part in ("selected", "not_selected"):
                check(got[part][key] <= all_of_it[part][key] <=
                      got[part][key] + undecided[key],
                      "%s of %s: %s, %s are undecidable, in truth %s" % (
                          part, key, got[part], undecided, all_of_it[part]))


class AskedOfTwo(Asked):
    """Two traces, and what their sum is."""

    def __init__(self, seed, path, **kind):
        pair = [Program(2 * seed + i, **kind) for i in (0, 1)]
        paths = [path, path + ".other"]
        r = random.Random(seed)
        self.seed, self.traces = seed, [made.trace for made in pair]
        self.questions = [Question((by,), filters_for(r, self.traces[0]))
                          for by in ("function", "library")]
        self.questions, self.words = both_ways(
            self.questions,
            [question.words(paths[0]) + ["--merge", paths[1]]
             for question in self.questions])
        self.script = [line for made, path in zip(pair, paths)
                       for line in (*made.script, "write " + path)]
        self.script += map(" ".join, self.words)

    def answer(self, document, question):
        judged = [Query(trace, question.filters) for trace in self.traces]
        wanted = merged(judged, question.by)
        sums = [one.summary() for one in judged]
        same(document["summary"], {key: sum(one[key] for one in sums)
                                   for key in MERGED}, MERGED, "summary")
        covered = [one.coverage() for one in judged]
        for part in ("whole", *PARTS, "lost"):
            equal(document["coverage"][part],
                  {key: sum(one[part][key] for one in covered)
                   for key in covered[0][part]}, "coverage: " + part)
        for key, rows, figures in sides(document["rows"], wanted,
                                        question.by, ROW + OWN[:2]):
            for row, one in zip(rows, figures):
                same(row, one, ROW + OWN[:2], "%s %s" % (question.by, key))


def begin(batch):
    """A process that writes the batch's traces, and reports."""
    script = tempfile.TemporaryFile()
    for asked in batch:
        script.write(("\n".join(asked.script) + "\n").encode())
    script.seek(0)
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    return subprocess.Popen([program("trace_script")], stdin=script,
                            stdout=out, stderr=err,
                            env=environment()), out, err


def finish(running):
    process, out, err = running
    status = process.wait(timeout=RUN_SECONDS)
    out.seek(0)
    err.seek(0)
    err = err.read().decode("utf-8", "replace")
    check(status == 0, "trace_script: status %d: %s" % (status, err[-2000:]))
    parts = re.split(r"^status (-?\d+)\n", out.read().decode(), flags=re.M)
    return list(zip(parts[0::2], map(int, parts[1::2]))), err


def compare(directory, share, first, ask=Asked, **kind):
    """Batch by batch: one is told while the one before is judged."""
    count = int(int(os.environ.get("GNOMON_MODEL_TRACES", TRACES)) * share)
    first += int(os.environ.get("GNOMON_MODEL_SEED", 0))
    before = None
    for at in range(first, first + count, BATCH):
        path = os.path.join(directory, "%d.trace" % (at // BATCH % 2))
        batch = [ask(seed, path, **kind)
                 for seed in range(at, min(at + BATCH, first + count))]
        running = begin(batch)
        if before:
            answers, err = finish(before[1])
            for asked in before[0]:
                asked.judge(answers, err)
        before = batch, running
    if before:
        answers, err = finish(before[1])
        for asked in before[0]:
            asked.judge(answers, err)


@case
def figures_are_those_of_the_definitions(directory):
    compare(directory, 0.6, 0)


@case
def also_where_recording_was_started_and_cleared(directory):
    compare(directory, 0.2, 1000000, controls=True)


@case
def also_of_samples(directory):
    compare(directory, 0.2, 2000000, sample=True)


@case
def also_where_stacks_lack_their_outer_frames(directory):
    compare(directory, 0.1, 4000000, cut=True)


@case
def figures_of_traces_with_sums_only(directory):
    compare(directory, 0.1, 5000000, AskedStripped, complete=True)


@case
def several_traces_are_the_sum_of_each(directory):
    compare(directory, 0.05, 3000000, AskedOfTwo)


main()
