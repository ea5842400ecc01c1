#!/usr/bin/python3
# TIMEOUT: 300
"""`gnomon sql`: its tables equal reports and exports; filters mean what options
mean; queries of docs/SQL.md find the planted answers; nothing can be written,
and limits apply."""

import csv
import fcntl
import io
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from exported import ODD_NAMES, trace
from gnomon_test import (GNOMON, LIBRARY, RUN_SECONDS, bare, case, check,
                         environment, equal, gnomon, main, need_root,
                         program, recorded, settle, Skip, wait_begun, wait_for)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))

from random_trace import Program                    # noqa: E402

# Random ones, or as many as GNOMON_SQL_TRACES says.
TRACES = int(os.environ.get("GNOMON_SQL_TRACES", 100))
OUTPUTS = os.path.join(HERE, "..", "outputs")
PAGE = os.path.join(HERE, "..", "..", "docs", "SQL.md")
KEPT = ("medley", "culled", "sampled", "cleared")
# Ctrl-C has to be done after so long; a busy machine may take longer to run us.
CANCELLED_SECONDS = 0.2


def kept(name, directory):
    """A copy, so that its index lies in a folder of this test."""
    path = os.path.join(directory, name + ".trace")
    if not os.path.exists(path):
        shutil.copy(os.path.join(OUTPUTS, name + ".trace"), path)
    return path


def value(text):
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text or None


def rows(path, statement, *words, statuses=(0,)):
    """As tuples, NULL and '' as None."""
    paths = [path] if isinstance(path, str) else path
    out = gnomon("sql", "-q", *paths, "--csv", *words, statement,
                 statuses=statuses).out
    table = list(csv.reader(io.StringIO(out, newline="")))
    return [tuple(map(value, row)) for row in table[1:]]


def one(path, statement, *words, statuses=(0,)):
    (row,) = rows(path, statement, *words, statuses=statuses)
    return row


def refused(path, statement, pattern, *words):
    done = gnomon("sql", "-q", path, *words, statement, statuses=(2,))
    check(re.search(pattern, done.err), "%s: %s" % (statement, done.err))


def report(path, *words, statuses=(0,)):
    return json.loads(gnomon("report", path, "--json", "--top", "0", *words,
                             statuses=statuses).out)


def question_texts():
    with open(PAGE, encoding="utf-8") as page:
        return {int(n): sql for n, sql in re.findall(
            r"^### (\d+)\. [^\n]*\n\n```sql\n(.*?)```", page.read(),
            re.M | re.S)}


# ---- documentation ----

@case
def questions_have_their_answers(directory):
    """Of docs/SQL.md, about the program in which they are planted."""
    done = recorded([program("known_answers")], directory,
                    options=("--free-stacks",))
    is_ = done.expected
    phases, path = 5, done.trace
    # the rows that have to be there, or all rows, by question
    wanted = {
        1: [("leak_between", is_["leaked"], 48 * is_["leaked"])],
        2: [("hold_at_peak", is_["peak"], is_["peak"] * is_["peak_size"])],
        3: [("grow_linearly", 2 * 72 * is_["growth"])],
        4: [("taker", "hand_over", is_["handed"])],
        5: [("double_vector", is_["vectors"],
             is_["vectors"] * is_["doublings"])],
        6: [("shrink_late", is_["shrunk"], is_["shrunk"] * (9000 - 112))],
        7: [("just_above", 513, is_["above"])],
        8: [("live_in_two_modes", is_["mode"], is_["mode"])],
        9: [("storm", is_["storm"])],
        10: [("keeper", is_["kept"])],
        11: [("table::table()", is_["static"], 232 * is_["static"])],
        12: [("leak_between", is_["leaked"]),
             ("grow_linearly", phases * is_["growth"]),
             ("leak_some", is_["grouped"] // 2)],
        13: [("storm", is_["storm"])],
        14: [("shrink_late", 2 * is_["shrunk"])],
        15: [("leak_some", is_["grouped"])],
        16: [("grow_linearly", is_["growth"]), ("fill_once", 100)],
        17: [("grow_linearly", phases * is_["growth"]),
             ("stay_the_same", phases * is_["growth"])],
        18: [("storm", 5, is_["storm"])],
        19: [("free_others", is_["handed"])],
        20: [("hold_at_peak", is_["peak"])],
        21: [("storm", is_["storm"])],
        22: [("double_vector", is_["vectors"] * (is_["doublings"] + 1))],
        23: [("stay_the_same", 1000 * is_["growth"]), ("storm", is_["storm"])],
        24: [],
        25: [],
    }
    alone = {1, 3, 5, 6, 8, 14, 17, 19, 20, 22}
    texts = question_texts()
    equal(sorted(texts), sorted(wanted), "questions of the page")
    for n, text in texts.items():
        got = rows(path, text)
        for row in wanted[n]:
            check(any(found[:len(row)] == row for found in got),
                  "question %d: %r is not in %r" % (n, row, got))
        check(n not in alone or len(got) == len(wanted[n]),
              "question %d has more: %r" % (n, got))
    equal(sum(row[1] for row in rows(path, texts[24])),
          report(path)["summary"]["live_blocks"], "question 24")
    equal(rows(path, texts[25])[0][2],
          report(path)["summary"]["peak_bytes"], "question 25")
    told = rows(path, "select fate, count(*) from blocks where "
                "function(context) = 'hold_at_peak' group by 1")
    equal(told, [("freed", is_["peak"])], "fates")


@case
def page_has_all_tables(directory):
    """docs/SQL.md has the tables and columns that there are."""
    tool = os.path.join(HERE, "..", "tools", "sql-tables")
    made = bare([tool, "print", GNOMON])
    equal(made.status, 0, made.err)
    with open(PAGE, encoding="utf-8") as page:
        check(page.read().endswith(made.out),
              "docs/SQL.md: tests/tools/sql-tables write build/gnomon")


# ---- the same figures ----

KEYS = (("function", "function"), ("library", "library"),
        ("thread", "tid"), ("size", "size"), ("within_function", "function"))
FIGURES = ("live_bytes", "live_blocks", "peak_bytes", "total_bytes", "count",
           "frees", "temporary", "own_peak_bytes", "lifetime_ns",
           "first_ns", "last_ns", "freed_bytes")


@case
def sums_are_the_reports(directory):
    """By each key, all figures of each row."""
    for name in KEPT:
        path = kept(name, directory)
        for column, member in KEYS:
            within = column.startswith("within")
            said = report(path, "--by", column.replace("_", "-"), "--sort",
                          "live" if within else "own-peak")["rows"]
            got = rows(path, "select %s from sums" % ", ".join(
                (column,) + FIGURES))
            wanted = [((row["within"] if within else row).get(member),) +
                      tuple(None if f == "own_peak_bytes" and
                            row.get("own_peak_bound") else row[f]
                            for f in FIGURES)
                      for row in said if row["count"] > 0]
            key = lambda row: tuple((v is None, str(v)) for v in row[1:])
            # names of functions without one differ: figures alone
            equal(sorted(map(key, got)), sorted(map(key, wanted)),
                  "%s by %s" % (name, column))
        totals = report(path)["summary"]
        got = one(path, "select sum(blocks), sum(bytes), sum(live_bytes), "
                  "sum(live_blocks), sum(peak_bytes), sum(temporary) from "
                  "sums")
        equal(got, (totals["allocations"], totals["total_bytes"],
                    totals["live_bytes"], totals["live_blocks"],
                    totals["peak_bytes"], totals["temporary"]), name)


@case
def blocks_are_the_reports(directory):
    """Sums over blocks; of a sample, with their weights."""
    for name in KEPT:
        path = kept(name, directory)
        totals = report(path)["summary"]
        left, bytes_ = one(path, "select coalesce(sum(allocations), 0), "
                           "coalesce(sum(total_bytes), 0) from left_out")
        got = one(path, "select sum(weight), sum(size * weight), "
                  "sum(size * weight) filter (where fate = 'live'), "
                  "sum(temporary * weight) from blocks")
        for number, key, missing in ((got[0], "allocations", left),
                                     (got[1], "total_bytes", bytes_)):
            # each context of a sample is rounded by itself
            check(abs(number + missing - totals[key]) <=
                  (1e-2 * totals[key] if name == "sampled" else 0), "%s: %s: %s, %s" % (
                      name, key, number, totals[key]))
        if name in ("medley", "cleared"):
            equal((got[2], got[3]), (totals["live_bytes"],
                                     totals["temporary"]), name)


@case
def blocks_are_the_exports(directory):
    """Each block of an export is a row, with the same members."""
    path = kept("medley", directory)
    told = [json.loads(line) for line in
            gnomon("export", "--format", "ndjson", "--by", "block",
                   path).out.splitlines()]
    wanted = sorted((b["address"], b["size"], b["tid"], b["time_ns"],
                     b["end_ns"] or -1, b["fate"], int(b["temporary"]),
                     b["context"]) for b in told if "address" in b)
    got = sorted(rows(path, "select address, size, thread, begin_ns, "
                      "coalesce(end_ns, -1), fate, temporary, context "
                      "from blocks"))
    check(wanted, "the export has blocks")
    equal(got, wanted, "blocks")


# A value for each filter that selects some blocks of medley, and not all.
FILTERS = (
    ("from", "@sorted"), ("to", "50%"), ("alive-at", "@late"),
    ("alive-at-2", "30%"), ("size-min", "64"), ("size-max", "63"),
    ("lifetime-min", "10ms"), ("lifetime-max", "1ms"), ("fate", "freed"),
    ("fate", "temporary"), ("fate", "live"), ("fate", "chain-live"),
    ("fate", "group-live"), ("thread", "writer|reader"),
    ("allocator", "libc"), ("arena", "main"), ("arena", "other"),
    ("mmapped", "yes"), ("heap", "arena"), ("marker", "sorted"),
    ("map", "heap"), ("chain-length-min", "2"), ("chain-length-max", "1"),
    ("chain-position-min", "2"), ("first-size-min", "100"),
    ("last-size-max", "1000"), ("function", "list"),
    ("not-function", "list"), ("source", "medley"), ("not-library", "libc"),
    ("library", "medley"), ("passes-through", "descend"), ("depth-min", "5"),
    ("depth-max", "4"), ("group-count-min", "5"), ("group-live-max", "0"),
    ("group-interval-min", "1ms"), ("group-peak-time-max", "50%"),
    ("process", "medley"), ("process", "nobody"),
    ("address-min", "0x7f0000000000"), ("address-max", "0x7f0000000000"),
)


def column_of(table, name):
    if name in ("from", "to"):
        return "with_" + name
    own = {"blocks": ("process", "context", "thread", "fate", "arena",
                      "mmapped", "heap"),
           "sums": ("process", "context", "function", "library", "thread",
                    "arena", "heap"),
           "block_counts": ("process", "thread"),
           "timeline": ("process",)}[table]
    return ("with_" if name in own else "") + name.replace("-", "_")


@case
def filters_are_the_options(directory):
    """In blocks, sums and timeline, what the option selects in a report."""
    path = kept("medley", directory)
    for name, text in FILTERS:
        totals = report(path, "--" + name, text)["summary"]
        wanted = totals["allocations"], totals["total_bytes"]
        for table, what in (("sums", "sum(blocks), sum(bytes)"),
                            ("blocks", "count(*), sum(size)"),
                            ("timeline", "sum(allocations), "
                             "sum(allocated_bytes)")):
            if table == "timeline" and name == "alive-at":
                continue
            got = one(path, "select %s from %s where %s = '%s'" % (
                what, table, column_of(table, name), text))
            equal(tuple(v or 0 for v in got), wanted, "--%s %s of %s" % (
                name, text, table))
        # and given to the command
        got = one(path, "select count(*), sum(size) from blocks",
                  "--" + name, text)
        equal(tuple(v or 0 for v in got), wanted, "--%s %s" % (name, text))


@case
def filters_mean_all_and_either(directory):
    path = kept("medley", directory)
    for table, what in (("sums", "sum(blocks)"), ("blocks", "count(*)")):
        for words, options in (
                ("size_min in (64, 1000000)", ("--size-min", "64",
                                               "--size-min", "1000000")),
                ("size_min = 64 and alive_at = '50%'",
                 ("--size-min", "64", "--alive-at", "50%")),
                ("lifetime_min = 1000000", ("--lifetime-min", "1ms")),
                ("alive_at = 20000000", ("--alive-at", "20ms"))):
            equal(one(path, "select %s from %s where %s" % (what, table,
                                                          words))[0] or 0,
                  report(path, *options)["summary"]["allocations"], words)
        for words in ("size_min = null", "alive_at in (null)",
                      "size_min = 1 and 1 = 0"):
            equal(one(path, "select coalesce(%s, 0) from %s where %s" % (
                what, table, words)), (0,), words)
    equal(rows(path, "select m.name, sum(s.live_blocks) from markers m join "
               "sums s on s.alive_at = '@' || m.name group by m.name"),
          [(name, report(path, "--alive-at", "@" + name)["summary"]
            ["live_blocks"]) for name in ("late", "sorted", "tree")],
          "a filter from another table")


@case
def a_statement_before_its_trace(directory):
    path, statement = kept("medley", directory), "select count(*) from blocks"
    equal(gnomon("sql", statement, path).out,
          gnomon("sql", path, statement).out, "the other way round")


@case
def filters_elsewhere_are_errors(directory):
    """Never a wrong answer."""
    path = kept("medley", directory)
    for table in ("sums", "blocks", "timeline"):
        for words in ("size_min > 64", "size_min <> 64", "size_min is null",
                      "size_min + 0 = 64", "not size_min = 64",
                      "size_min = 64 or alive_at = '50%'",
                      "(size_min = 64 or 1 = 2)", "size_min like '6%'",
                      "coalesce(size_min, 64) = 64"):
            refused(path, "select count(*) from %s where %s" % (table, words),
                    "size_min .*AND", )
        refused(path, "select size_min from " + table, "size_min .*AND")
        refused(path, "select 1 from %s where size_min = 'many'" % table,
                "many.*size-min")
        refused(path, "select 1 from %s where size_min = 1" % table,
                "command line", "--size-min", "2")
        refused(path, "select 1 from %s where size_min in (1, 2) and size_min "
                "in (3, 4)" % table, "twice")
        refused(path, "select 1 from %s where size_min = 9 and size_max = 8" %
                table, "nothing lies between")
    refused(path, "select 1 from sums where passes_through = '('", "invalid")
    refused(path, "select within_function, within_file, 1 from sums",
            "within-")
    refused(path, "select size, thread, arena, mapping from sums", "3 keys")
    refused(path, "select * from timeline where alive_at = '50%'", "moment")
    refused(path, "select * from timeline where steps = 0", "steps")


@case
def comparisons_are_handed_on(directory):
    """And change no answer."""
    path = kept("medley", directory)
    size, begin, address, context, tid = one(
        path, "select size, begin_ns, address, context, thread from blocks "
        "order by begin_ns limit 1 offset 100")
    for column, number in (("size", size), ("begin_ns", begin),
                           ("address", address), ("context", context),
                           ("thread", tid), ("end_ns", begin + 1000000),
                           ("lifetime_ns", 100000), ("chain", 1),
                           ("place", 2), ("free_thread", tid)):
        for op in ("=", "<", "<=", ">", ">="):
            statement = "select count(*), sum(size) from blocks where %s" \
                "%s %s %d"
            handed = statement % ("", column, op, number)
            equal(one(path, handed), one(path, statement % (
                "+", column, op, number)), handed)
            plan = rows(path, "explain query plan " + handed)[0][-1]
            check(op != "=" or " %s=" % column in plan, plan)
    for words in ("size = 'x'", "size = -1", "size < -1", "size = 1.5",
                  "size > 63.5", "size > -1", "size < 0",
                  "size > 9223372036854775807", "context = 99999999999", "begin_ns = null",
                  "address = 1 or address = %d" % address,
                  "context = %d or thread = %d" % (context, tid)):
        equal(one(path, "select count(*) from blocks where " + words),
              one(path, "select count(*) from (select *, size + 0 as s from "
                  "blocks) where " + words.replace("size", "s")), words)


@case
def blocks_add_up_to_sums(directory):
    """Of random filters, and keys that both have: SQLite groups what the
    engine groups."""
    path = kept("medley", directory)
    chance = random.Random(18)
    keys = ("context", "thread", "size", "arena", "function(context)",
            "file(context)")
    answers = 0
    for _ in range(60):
        words = chance.sample(FILTERS, chance.choice((1, 2, 2, 3)))
        names = {name: text for name, text in words}
        by = chance.sample(keys, chance.choice((1, 2)))
        groups = ", ".join(by)
        asked = {table: " and ".join(
            "%s = '%s'" % (column_of(table, name), text)
            for name, text in names.items()) for table in ("blocks", "sums")}
        parts = (
            "select %s, count(*), sum(size), sum(temporary) from blocks "
            "where %s group by %s" % (groups, asked["blocks"], groups),
            "select %s, sum(blocks), sum(bytes), sum(temporary) from sums "
            "where %s group by %s" % (groups, asked["sums"], groups))
        if not any(name.startswith("alive-at") for name in names):
            parts = [part.replace("sum(temporary)", "sum(%s)" % live)
                     for part, live in zip(parts, ("fate = 'live'",
                                                   "live_blocks"))]
        elif "alive-at" in names:
            # then nothing is freed yet
            parts = [part.replace(", sum(temporary)", "") for part in parts]
        got = rows(path, "with a as (%s), b as (%s) select (select count(*) "
                   "from (select * from a except select * from b)), (select "
                   "count(*) from (select * from b except select * from a))" %
                   tuple(parts), statuses=(0, 2))
        # words that exclude each other are an error for both
        answers += bool(got)
        equal(got if got else [(0, 0)], [(0, 0)], "%s by %s" % (names, by))
    check(answers > 40, "only %d were answered" % answers)


@case
def blocks_add_up_to_counts(directory):
    """Of random filters, by threads: of words about other blocks, too, where
    rows are taken in their order."""
    path = kept("medley", directory)
    chance = random.Random(7)
    answers = 0
    for number in range(40):
        words = dict(chance.sample(FILTERS, chance.choice((0, 1, 1, 2))))
        if number == 0:
            words = {"fate": "chain-live"}
        where = {table: " and ".join(
            ["1", *("%s = '%s'" % (column_of(table, name), text)
                    for name, text in words.items())])
            for table in ("blocks", "block_counts")}
        want = rows(path, "select thread, free_thread, fate = 'live', count(*), "
                    "sum(size) from blocks where %s group by 1, 2, 3" %
                    where["blocks"], statuses=(0, 2))
        got = rows(path, "select thread, free_thread, live, sum(blocks), "
                   "sum(bytes) from block_counts where %s group by 1, 2, 3" %
                   where["block_counts"], statuses=(0, 2))
        equal(got, want, words)
        answers += len(got) > 0
    check(answers > 20, "only %d were answered" % answers)


@case
def offsets_pass_over_rows(directory):
    """Whether the store passes over them or SQLite: of all rows, of what the
    command selects, by words about other blocks, too, of two traces, and where
    the statement says more."""
    path, other = kept("medley", directory), kept("culled", directory)
    for words in ([], ["--size-min", "40"], ["--fate", "live"],
                  ["--fate", "chain-live"], [other]):
        everything = rows(path, "select process, begin_ns, address from blocks",
                          *words)
        check(len(everything) > 20, words)
        for offset in (0, 1, 17, len(everything) - 3, len(everything),
                       len(everything) + 9):
            equal(rows(path, "select process, begin_ns, address from blocks "
                       "limit 5 offset %d" % offset, *words),
                  everything[offset:offset + 5], "%s %d" % (words, offset))
    sizes = [size for size, in rows(path, "select size from blocks")]
    for more, want in (
            (" where size > 40", [size for size in sizes if size > 40]),
            (" order by size", sorted(sizes)),
            (" where with_fate = 'freed'",
             [size for size, in rows(path, "select size from blocks where "
                                     "with_fate = 'freed'")])):
        equal([size for size, in rows(path, "select size from blocks%s limit 9 "
                                      "offset 30" % more)],
              want[30:39], more)


WORDS = (("size-min", ("1", "16", "100")), ("size-max", ("16", "4096")),
         ("from", ("10%", "50%", "start")), ("to", ("30%", "90%")),
         ("alive-at", ("0%", "40%", "100%")), ("alive-at-2", ("60%",)),
         ("lifetime-min", ("1ns", "100us")), ("lifetime-max", ("10us",)),
         ("fate", ("live", "freed", "temporary", "chain-live",
                   "group-live")),
         ("chain-length-min", ("2", "3")), ("chain-position-max", ("1",)),
         ("first-size-min", ("16",)), ("function", ("one",)),
         ("depth-min", ("2",)), ("group-count-min", ("2",)),
         ("address-min", ("0x5040",)), ("not-library", ("liba",)))


@case
def random_traces_have_one_answer(directory):
    """What a report says of one, which other tests hold against definitions,
    blocks and sums say, whatever is odd in it."""
    paths, script = [], []
    for seed in range(TRACES):
        paths.append(os.path.join(directory, "%d.trace" % seed))
        script += [*Program(seed, controls=seed % 2 == 1).script,
                   "write " + paths[-1]]
    subprocess.run([program("trace_script")], input="\n".join(
        script).encode(), check=True)
    chance = random.Random(3)
    for seed, path in enumerate(paths):
        for _ in range(2):
            words = [(name, chance.choice(texts)) for name, texts in
                     chance.sample(WORDS, chance.choice((0, 1, 1, 2)))]
            what = "seed %d: %s" % (seed, words)
            options = [text for name, value_ in words
                       for text in ("--" + name, value_)]
            said = bare([GNOMON, "report", "-q", "--json", path, "--top",
                         "1", *options])
            if said.status == 2:    # words that exclude each other
                continue
            totals = json.loads(said.out)["summary"]
            want = tuple(totals[key] for key in (
                "allocations", "total_bytes", "live_blocks", "live_bytes"))
            of_moment = any(name == "alive-at" for name, _ in words)
            live = "1" if of_moment else "fate = 'live'"
            for table, figures in (
                    ("sums", "sum(blocks), sum(bytes), sum(live_blocks), "
                     "sum(live_bytes)"),
                    ("blocks", "count(*), sum(size), sum(%s), sum(size * "
                     "(%s))" % (live, live))):
                where = " and ".join("%s = '%s'" % (column_of(table, name),
                                                    text)
                                     for name, text in words)
                got = one(path, "select %s from %s where %s" % (
                    figures, table, where or "1"), statuses=(0, 3))
                equal(tuple(n or 0 for n in got), want,
                      "%s of %s" % (what, table))


@case
def all_tables_answer(directory):
    """Of every kind of trace, twice: once with models that are there."""
    path = kept("medley", directory)
    tables = [line.split()[0] for line in
              gnomon("sql", "-q", path, ".tables").out.splitlines()]
    for name in KEPT:
        for way in ("--index", "--no-index"):
            script = "".join("select '%s' as name, count(*) as count from %s;"
                             % (table, table) for table in tables if not (
                                 table in ("pages", "pinned", "residency") and
                                 name == "sampled"))
            done = gnomon("sql", kept(name, directory), way, "--csv",
                          script + script)
            counts = done.out.replace("name,count\n", "").splitlines()
            check(len(counts) > 30, done.out)
            equal(counts[:len(counts) // 2], counts[len(counts) // 2:],
                  "%s %s" % (name, way))


@case
def rows_belong_together(directory):
    """Keys of one table are those of the others."""
    path = kept("medley", directory)
    for statement in (
            "select count(*) from blocks where context not in (select "
            "context from contexts)",
            "select count(*) from blocks where thread not in (select thread "
            "from threads)",
            "select count(*) from stacks where frame not in (select frame "
            "from frames)",
            "select count(*) from contexts c where depth <> (select count(*) "
            "from stacks s where s.context = c.context)",
            "select count(*) from contexts c where function <> "
            "function(context) or stack <> stack(context)",
            "select count(*) from contexts c join sums s using (context) "
            "where c.live_bytes <> s.live_bytes or c.bytes <> s.bytes"):
        equal(one(path, statement), (0,), statement)
    equal(one(path, "select count(*) from contexts"),
          one(path, "select count(*) from sums where context > 0"), "contexts")
    equal(one(path, "select max(live_bytes_max) from timeline"),
          one(path, "select peak_bytes from processes"), "peaks")
    equal(one(path, "select heap, allocations from heaps where number = 1"),
          ("arena", one(path, "select count(*) from blocks where with_heap = "
                        "'arena'")[0]), "heaps")
    # a block of no bytes has one there
    equal(rows(path, "select sum(kept_bytes) = (select sum(pages * "
               "page_size) from pages), (select sum(pages * live_bytes) from "
               "pages) - sum(live_bytes) between 0 and sum(blocks) from "
               "pinned"), [(1, 1)], "pages")
    equal(rows(path, "select p.context from pinned p join sums s using "
               "(context) where p.live_bytes <> s.live_bytes or p.blocks <> "
               "s.live_blocks"), [], "pages' contexts")
    parts = " + ".join(part + "_bytes" for part in (
        "live", "fragmented", "free", "mapped", "files", "stacks", "recorder",
        "rest"))
    equal(rows(path, "select count(*) > 0, count(*) = sum(%s = rss_bytes) "
               "from residency" % parts), [(1, 1)], "residency")
    refused(kept("sampled", directory), "select * from pages", "sample")
    left = report(kept("culled", directory))["coverage"]["left_out"]
    equal(one(kept("culled", directory), "select sum(l.allocations), "
              "max(o.count) from left_out l, losses o where o.what = "
              "'left_out'"), (left["allocations"],) * 2, "left out")


@case
def several_traces_are_one_database(directory):
    paths = [kept(name, directory) for name in ("medley", "cleared")]
    each = [one(path, "select count(*), sum(size) from blocks") +
            one(path, "select sum(blocks), max(context) from sums")
            for path in paths]
    equal(rows(paths, "select process, count(*), sum(size) from blocks "
               "group by 1"),
          [(i + 1,) + row[:2] for i, row in enumerate(each)], "blocks")
    equal(rows(paths, "select process, sum(blocks), min(context) >> 32 from "
               "sums group by 1"), [(1, each[0][2], 0), (2, each[1][2], 1)],
          "contexts")
    context = one(paths, "select max(context) from sums")[0]
    equal(one(paths, "select count(*), min(process) from contexts where "
              "context = %d" % context), (1, 2), "one context")
    for table in ("blocks", "sums"):
        equal(rows(paths, "select distinct process from %s where "
                   "with_context = %d" % (table, context)), [(2,)], table)
    equal(one(paths, "select function(%d) = function from contexts where "
              "context = %d" % (context, context)), (1,), "its function")
    equal(rows(paths, "select trace from processes"),
          [(path,) for path in paths], "traces")
    equal(rows(paths, "select process, count(*) > 0 from stacks where "
               "process = 2 group by 1"), [(2, 1)], "a process alone")


@case
def moments_of_some_traces(directory):
    """A trace that lacks the name has no rows; it is an error if all do."""
    paths = [os.path.join(HERE, "..", "traces", "3.0", "forked.trace"),
             kept("medley", directory), kept("cleared", directory)]
    for words in (("alive_at", "@late"), ("with_to", "@tree"),
                  ("marker", "sorted"), ("alive_at_2", "@middle")):
        for table, figures in (("blocks", "count(*), sum(size)"),
                               ("sums", "sum(blocks), sum(bytes)")):
            where = "%s = '%s'" % words
            if words[0] == "alive_at_2":
                where += " and alive_at = 'end'"
            ask = "select process, %s from %s where %s group by 1" % (
                figures, table, where)
            done = gnomon("sql", "--no-index", *paths, "--csv",
                          ask + ";" + ask)
            lines = done.out.split()
            equal(lines[:len(lines) // 2], lines[len(lines) // 2:], ask)
            got = {int(row[0]): tuple(row[1:]) for row in
                   csv.reader(lines[1:len(lines) // 2])}
            wanted = {n: one(paths[n - 1], "select %s from %s where %s" % (
                figures, table, where), "--no-index") for n in (2, 3)}
            equal(got, {n: tuple(map(str, row)) for n, row in wanted.items()
                        if row[0]}, ask)
            # said once, and of the one trace
            equal(re.findall("(\\S+): has no marker or snapshot `(\\S+)`",
                             done.err), [(paths[0], words[1].strip("@"))],
                  ask)
    # either is asked for, and it has one
    equal(len(rows(paths, "select distinct process from blocks where alive_at "
                   "in ('@late', '50%')", "--no-index")), 3, "either")
    for table in ("blocks", "sums"):
        for name in ("@none", "@nothing"):
            refused(paths[1], "select * from %s where alive_at = '%s'" % (
                table, name), "is called %s: the trace has" % name[1:])


# ---- output ----

@case
def forms_say_the_same(directory):
    path = kept("medley", directory)
    statement = "select function, sum(bytes) as b, avg(bytes) as a, null as " \
        "n from sums group by 1 order by 1"
    table = rows(path, statement)
    said = json.loads(gnomon("sql", path, "--json", statement).out)
    equal(said["schema"], 1, "schema")
    equal(said["columns"], ["function", "b", "a", "n"], "columns")
    equal([tuple(row.values()) for row in said["rows"]], table, "JSON")
    equal(said["summary"]["total_bytes"],
          report(path)["summary"]["total_bytes"], "summary")
    text = gnomon("sql", path, statement).out.splitlines()
    equal(len(text), len(table) + 1, "lines of a table")
    check(text[0].split() == ["function", "b", "a", "n"], text[0])
    for line, row in zip(text[1:], table):
        check(line.startswith(row[0]) and str(row[1]) in line, line)
    script = os.path.join(directory, "a.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write("-- a comment\n%s;\n" % statement)
    equal(gnomon("sql", path, "-f", script).out.splitlines(), text, "script")
    done = subprocess.run([GNOMON, "sql", path], input=statement,
                          stdout=subprocess.PIPE, encoding="utf-8",
                          env=environment(), timeout=RUN_SECONDS, check=True)
    equal(done.stdout.splitlines(), text, "standard input")
    for words, pattern in ((("-f", script, "select 1"), "remove one"),
                           (("-f", script + "x"), "cannot read"),
                           (("select from",), "syntax"),
                           ((".nosuch",), "no such command"),
                           (("select nosuch from sums",), "nosuch.*schema"),
                           (("select 1 from nosuch",), "nosuch: `.tables`")):
        done = gnomon("sql", path, *words, statuses=(2,))
        check(re.search(pattern, done.err), done.err)
    check("blocks" in gnomon("sql", path, ".tables").out, "tables")


@case
def names_are_harmless(directory):
    """Of functions, whatever is in them: no table obeys, all forms tell them."""
    path = trace("many_names")
    names = {row[0] for row in rows(path, "select function from frames")}
    for name in ODD_NAMES:
        check(any(name in (n or "") for n in names), name)
        equal(one(path, "select count(*) > 0 from sums where "
                  "instr(within_function, '%s')" % name.replace("'", "''")),
              (1,), name)
    done = gnomon("sql", path, "select char(27) || '[31m' || char(10) || 'x', "
                  "char(7)")
    check("\x1b" not in done.out and "\x07" not in done.out, repr(done.out))
    equal(len(done.out.splitlines()), 2, "lines")
    done = gnomon("sql", path, "select char(27) as \"\x1b[1m\", x",
                  statuses=(2,))
    check("\x1b" not in done.err, repr(done.err))
    said = json.loads(gnomon("sql", path, "--json",
                             "select char(27, 34, 92) as a").out)
    equal(said["rows"], [{"a": "\x1b\"\\"}], "JSON")
    # a NUL ends no value
    nul = "select 'a' || char(0) || 'b' as a, char(0) as n, 'z' as z"
    said = json.loads(gnomon("sql", path, "--json", nul).out)
    equal(said["rows"], [{"a": "a\0b", "n": "\0", "z": "z"}], "NUL, JSON")
    equal(rows(path, nul), [("a b", " ", "z")], "NUL, CSV")
    equal(gnomon("sql", path, nul).out.splitlines()[1].split(" ", 2)[:2],
          ["a", "b"], "NUL, table")
    # of a BLOB its size; what is no UTF-8 is shown as such
    blob = "select x'00ff' as b, cast(x'419b42' as text) as t"
    said = json.loads(gnomon("sql", path, "--json", blob).out)
    equal(said["rows"], [{"b": "2 bytes", "t": "A\ufffdB"}], "BLOB, JSON")
    equal(rows(path, blob), [("2 bytes", "A\ufffdB")], "BLOB, CSV")
    equal(gnomon("sql", path, blob).out.splitlines()[1].split(),
          ["2", "bytes", "A\ufffdB"], "BLOB, table")


@case
def wide_tables_stand_upright(directory):
    """On terminals alone; numbers are never cut."""
    path = kept("medley", directory)
    wide = "select * from blocks where size = (select max(size) from blocks)"
    (row,) = rows(path, wide, "--no-index")
    names = [line.split()[0] for line in
             gnomon("sql", path, ".schema blocks").out.splitlines()[2:-1]
             if "HIDDEN" not in line]
    terminal = Terminal("-q", "--no-index", path, wide + "; select * from "
                        "blocks where size = 123456789",
                        home=directory)
    terminal.wait("row 1.*\r\n")
    for name, text in zip(names, row):
        terminal.wait(r"^%s%s\r\n" % (name, "" if text is None else
                                      " +" + re.escape(str(text))))
    check(terminal.wait("^\r?\n?.*process  context.*\r\n"), "headings alone")
    equal(terminal.end(), 0, "status")
    # texts are cut before that
    terminal = Terminal("-q", path, "select stack, sum(bytes) as "
                        "a_long_name_of_a_number from contexts group by 1 "
                        "order by 2 desc limit 2", home=directory, columns=40)
    terminal.wait(r"stack .* a_.*\r\n")
    terminal.wait(r"main\S*\.\.\.\S+ +\d+\r\n")
    equal(terminal.end(), 0, "status")
    check("row 1" not in gnomon("sql", "-q", path, wide).out, "no terminal")


# ---- limits ----

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) " \
    "select count(*) from n"


@case
def nothing_is_written(directory):
    path = kept("medley", directory)
    rows(path, "select count(*) from blocks")
    before = sorted(os.listdir(directory))
    target = os.path.join(directory, "x.db")
    for statement in ("attach '%s' as x" % target,
                      "vacuum into '%s'" % target,
                      "pragma temp_store_directory = '%s'" % directory,
                      "pragma journal_mode = wal",
                      "create virtual table x using fts5(a)",
                      "select load_extension('x')", "insert into blocks "
                      "default values", "delete from sums",
                      "update contexts set depth = 1", "drop table blocks",
                      "select writefile('%s', 'x')" % target,
                      "select readfile('/etc/passwd')"):
        gnomon("sql", path, statement, statuses=(2,))
    equal(sorted(os.listdir(directory)), before, "files")
    equal(rows(path, "create temp table t as select function f, sum(bytes) b "
               "from sums group by 1; create temp view v as select f from t "
               "where b > 1000; select count(*) > 0 from v"), [(1,)],
          "temporary ones")


@case
def statements_have_limits(directory):
    path = kept("medley", directory)
    begin = time.monotonic()
    refused(path, ENDLESS, "longer than --timeout 500", "--timeout", "500ms")
    check(time.monotonic() - begin < 30, "it ends in time")
    refused(path, "select group_concat(hex(zeroblob(1000000))) from "
            "stacks", "memory", "--memory", "300M")
    refused(path, "select 1", "memory|addresses|map", "--memory", "1M")
    equal(one(path, "select sum(blocks) > 0 from sums", "--memory", "2G",
              "--timeout", "5m"), (1,), "within the limits")


@case
def interrupt_ends_it(directory):
    """Soon after SIGINT, and as that ends a program."""
    path = kept("medley", directory)
    for statement in (ENDLESS, "select count(*) from blocks a, blocks b, "
                      "blocks c, blocks d", "select sum(a.size + e.size) from "
                      "sums a join sums b on b.size join sums c on c.size "
                      "join sums d on d.size join sums e"):
        run = subprocess.Popen([GNOMON, "sql", "-q", path, statement],
                               stdout=subprocess.PIPE, env=environment(),
                               stderr=subprocess.PIPE)
        time.sleep(0.5)
        check(run.poll() is None, "it still runs: " + statement)
        begin = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=RUN_SECONDS)
        took = time.monotonic() - begin
        equal(run.returncode, -signal.SIGINT, "status")
        check(took < 20 * CANCELLED_SECONDS, "it took %.3f s" % took)
        print("# cancelled after %.3f s" % took)


def interrupted(argv, begun, whole_group, **options):
    """What it ends with, if SIGINT comes once it has begun."""
    run = subprocess.Popen([GNOMON, "sql", "-q", *argv], env=environment(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           start_new_session=True, **options)
    if not options:
        check(wait_for(begun), "it did not begin: %s" % argv)
    else:
        time.sleep(0.5)
    check(run.poll() is None, "it still runs: %s" % argv)
    (os.killpg if whole_group else os.kill)(run.pid, signal.SIGINT)
    err = run.communicate(timeout=RUN_SECONDS)[1].decode()
    check("bug" not in err and "killed" not in err, err)
    return run.returncode


@case
def interrupts_are_one(directory):
    """As SIGINT ends a program, however a statement is given and whatever it
    does then; a prompt goes on, and has no trace of it in its status."""
    path = kept("medley", directory)
    script = os.path.join(directory, "a.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write("select 1;" + ENDLESS + "; select 2")
    large = os.path.join(directory, "large.trace")
    equal(bare([program("trace_gen"), large, "1500000", "4", "500", "3000",
                "1"]).status, 0, "trace_gen")
    began = time.monotonic()
    soon = lambda: time.monotonic() > began + 0.5
    for group in (False, True):
        for argv in ([path, ENDLESS], [path, "-f", script]):
            began = time.monotonic()
            equal(interrupted(argv, soon, group), -signal.SIGINT, argv)
        with open(script, "rb") as file:
            equal(interrupted([path], soon, group, stdin=file),
                  -signal.SIGINT, "standard input")
        equal(interrupted([large, "select count(*) from blocks"],
                          lambda: os.path.exists(large + ".idx.new"), group),
              -signal.SIGINT, "while an index is made")
        check(not os.path.exists(large + ".idx"), "no index")
        began = time.monotonic() - 0.4
        equal(interrupted([large] * 20 + [ENDLESS], soon, group),
              -signal.SIGINT, "while traces are read")
    prompt = Terminal("-q", path, home=directory)
    for statement in (ENDLESS, "select count(*) from blocks a, blocks b, "
                      "blocks c, blocks d"):
        prompt.wait("gnomon> ")
        prompt.type(statement + ";\n")
        time.sleep(0.5)
        prompt.type("\x03")
        prompt.wait("interrupted")
    prompt.wait("gnomon> ")
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status of a prompt")


class Terminal:
    """A prompt in a terminal of its own."""

    def __init__(self, *words, home, columns=80):
        self.pid, self.fd = pty.fork()
        self.text = ""
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 24, columns, 0, 0))
            env = environment(HOME=home, TERM="dumb", XDG_STATE_HOME=None,
                              XDG_CACHE_HOME=None)
            os.execve(GNOMON, [GNOMON, "sql", *words], env)

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern, seconds=60):
        """Until it is there; what came before it and it are gone then."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            left = end - time.monotonic()
            check(left > 0, "no %r in %r" % (pattern, self.text))
            if select.select([self.fd], [], [], left)[0]:
                try:
                    self.text += os.read(self.fd, 4096).decode("utf-8",
                                                               "replace")
                except OSError:
                    check(re.search(pattern, self.text),
                          "it ended: %r" % self.text)
        found = re.search(pattern, self.text)
        self.text = self.text[found.end():]
        return found

    def end(self):
        """Its wait status. It waits until all that it wrote is read, and is
        hung up on if it says nothing more."""
        try:
            while select.select([self.fd], [], [], RUN_SECONDS)[0] and \
                    os.read(self.fd, 4096):
                pass
        except OSError:
            pass
        os.close(self.fd)
        return os.waitpid(self.pid, 0)[1]


@case
def prompt_answers(directory):
    path = kept("medley", directory)
    home = os.path.join(directory, "home")
    os.mkdir(home)
    prompt = Terminal("-q", path, home=home)
    prompt.wait("gnomon> ")
    prompt.type("select 'one', 41 + 1\n")
    prompt.wait(r"\.\.\.> ")
    prompt.type(";\n")
    prompt.wait(r"one +42")
    prompt.wait("gnomon> ")
    prompt.type(".mode csv\n")
    prompt.wait("gnomon> ")
    prompt.type("select 1, 'a b';\n")
    prompt.wait(r"1,a b")
    prompt.wait("gnomon> ")
    prompt.type("select nosuch;\n")
    prompt.wait("no such column")
    prompt.wait("gnomon> ")
    prompt.type("create temp table t as select 7 as seven;\n")
    prompt.wait("gnomon> ")
    prompt.type("select seven * 6 from t;\n")
    prompt.wait(r"\b42\b")
    prompt.wait("gnomon> ")
    begin = time.monotonic()
    prompt.type(ENDLESS + ";\n")
    time.sleep(0.5)
    prompt.text = ""
    begin = time.monotonic()
    prompt.type("\x03")
    prompt.wait("interrupted")
    prompt.wait("gnomon> ")
    print("# cancelled after %.3f s" % (time.monotonic() - begin))
    prompt.type("select seven * 11 from t;\n")
    prompt.wait(r"\b77\b")
    prompt.wait("gnomon> ")
    prompt.type("select half")
    prompt.wait("half")
    time.sleep(0.5)     # until the line is edited, not the terminal's own
    prompt.type("\x03")
    prompt.wait("gnomon> ")
    prompt.type("select count(*) > 0 as there from map_us\t;\n")
    prompt.wait("there")
    prompt.wait(r"\b1\b")
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status")
    history = os.path.join(home, ".local/state/gnomon/sql_history")
    equal(os.stat(history).st_mode & 0o777, 0o600, "mode of the history")
    with open(history, encoding="utf-8") as file:
        check("seven" in file.read(), "history")


SLOW = "with recursive n(i) as (select 1 union all select i + 1 from n limit " \
    "2000000) select count(*) as slow from n"


@case
def what_is_typed_ahead_is_kept(directory):
    """Whole lines and halves, while a statement runs."""
    prompt = Terminal("-q", kept("medley", directory), home=directory)
    prompt.wait("gnomon> ")
    prompt.type(SLOW + ";\n")
    prompt.wait("from n;")
    prompt.type("select 'first', 6 * 7;\nselect 'sec")
    time.sleep(0.1)
    prompt.type("ond', 6 * 9;")
    prompt.wait(r"2000000\r\n")
    prompt.wait(r"first +42\r\n")
    prompt.wait("gnomon> .*second', 6 . 9;")
    prompt.type("\n")
    prompt.wait(r"second +54\r\n")
    prompt.wait("gnomon> ")
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status")


@case
def prompt_survives_its_worker(directory):
    """A statement that takes too long, or too much, ends alone."""
    path = kept("medley", directory)
    prompt = Terminal("-q", "--timeout", "5s", "--memory", "400M", path,
                      home=directory)
    prompt.wait("gnomon> ")
    prompt.type(ENDLESS + ";\n")
    prompt.wait("longer than --timeout")
    prompt.wait("gnomon> ")
    prompt.type("select group_concat(hex(zeroblob(1000000))) from stacks;\n")
    prompt.wait("memory")
    prompt.wait("gnomon> ")
    prompt.type("select 6 * 7;\n")
    prompt.wait(r"\b42\b")
    prompt.wait("gnomon> ")
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status")


@case
def indexes_may_not_stay(directory):
    """Blocks are told without one that is kept; a pipe has none."""
    path = kept("medley", directory)
    wanted = one(path, "select count(*), sum(size) from blocks", "--no-index")
    equal(sorted(os.listdir(directory)), ["medley.trace"], "files")
    equal(one(path, "select count(*), sum(size) from blocks"), wanted, "blocks")
    equal(sorted(os.listdir(directory)), ["medley.trace", "medley.trace.idx"],
          "files")
    for name, edit in (("cut", lambda data: data[:len(data) // 2]),
                       ("changed", lambda data: data[:200] + b"\xff" * 64 +
                        data[264:]),
                       ("foreign", lambda data: b"x" * 1000)):
        with open(path + ".idx", "r+b") as file:
            data = edit(file.read())
            file.seek(0)
            file.truncate()
            file.write(data)
        equal(one(path, "select count(*), sum(size) from blocks"), wanted,
              name)
    with open(path, "rb") as file:
        text = file.read()
    for table, status in (("sums", 0), ("contexts", 0), ("blocks", 2)):
        done = subprocess.run([GNOMON, "sql", "-", "select * from " + table],
                              input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(),
                              timeout=RUN_SECONDS, check=False)
        equal(done.returncode, status, table)


def damage(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        was = file.read(1)
        file.seek(at)
        file.write(bytes([255 - was[0]]))


@case
def damaged_indexes_are_made_anew(directory):
    """A statement that meets the damage says where; the next one goes well,
    in this session or another one."""
    path = kept("medley", directory)
    statement = "select count(*), sum(size), sum(lifetime_ns) from blocks"
    wanted = one(path, statement)
    # behind the header lies what all of it needs: when the first ones began
    damage(path + ".idx", 160)
    done = gnomon("sql", path, statement, statuses=(2,))
    check(re.search(r"medley\.trace\.idx: damaged at byte 128\n", done.err),
          done.err)
    check("run the statement again" in done.err, done.err)
    check(not os.path.exists(path + ".idx"), "it is still there")
    equal(one(path, statement), wanted, "in another session")
    damage(path + ".idx", 160)
    prompt = Terminal("-q", path, home=directory)
    prompt.wait("gnomon> ")
    prompt.type("select count(*) from blocks a, blocks b on a.size = b.size "
                "where a.lifetime_ns > 0 and b.lifetime_ns > 0;\n")
    prompt.wait("its index is damaged")
    prompt.wait("gnomon> ")
    prompt.type("select count(*) || ' blocks', sum(lifetime_ns) from "
                "blocks;\n")
    prompt.wait(r"\b%d blocks" % wanted[0])
    prompt.wait(r"\b%d\b" % wanted[2])
    prompt.wait("gnomon> ")
    check(os.path.exists(path + ".idx"), "none was made")
    # one that takes its place is not this session's
    prompt.type("select count(*) || ' left' from blocks;\n")
    prompt.wait(r"\b%d left" % wanted[0])
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status")


@case
def traces_may_be_damaged_behind_an_index(directory):
    """What is in the index alone is not told of the trace."""
    path = os.path.join(directory, "a.trace")
    equal(bare([program("trace_gen"), path, "100000"]).status, 0, "trace_gen")
    statement = "select count(*), sum(size) from blocks"
    one(path, statement)
    damage(path, os.path.getsize(path) // 2)
    wanted = one(path, statement, "--no-index", statuses=(3,))
    done = gnomon("sql", path, statement, statuses=(3,))
    check("damaged in other places" in done.err, done.err)
    equal(one(path, statement, statuses=(3,)), wanted, "blocks")


@case
def processes_may_fork_meanwhile(directory):
    """While a session is at their traces."""
    process = subprocess.Popen(
        [program("scripted")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
            directory, "%p.trace")))

    def steer(line):
        process.stdin.write(line.encode())
        process.stdin.flush()
        while process.stdout.readline() != b"ok\n":
            equal(process.poll(), None, "its end")
    steer("")
    steer("keep 1000")
    wait_begun(os.path.join(directory, "%d.trace" % process.pid))
    prompt = Terminal("-q", directory, home=directory)
    prompt.wait("gnomon> ")
    for i in range(3):
        prompt.type("select count(*) || ' blocks %d' from blocks;\n" % i)
        prompt.wait(r"\b\d+ blocks %d" % i)
        steer("fork 100")
        prompt.type("select count(*) || ' processes %d' from processes;\n" % i)
        prompt.wait(r"\b1 processes %d" % i)
    prompt.type(".quit\n")
    equal(prompt.end(), 0, "status")
    process.stdin.close()
    equal(process.wait(RUN_SECONDS), 0, "its status")
    settle(directory)
    equal(one(directory, "select count(*), count(distinct process), sum(size "
              "= 40) from blocks where size in (24, 40)")[1:], (4, 1000),
          "processes, and blocks that were kept")


@case
def what_refuses_an_index_is_told_once(directory):
    """Though several statements would have one, and are answered."""
    need_root("mount")
    folder, place = (os.path.join(directory, name) for name in ("f", "ro"))
    os.mkdir(folder)
    os.mkdir(place)
    path = kept("medley", folder)
    wanted = one(path, "select count(*), sum(size) from blocks", "--no-index")
    script = "select sum(bytes) from sums; select sum(bytes) from sums where " \
        "size_min = 9; select count(*), sum(size) from blocks; select " \
        "count(*), sum(size) from blocks where size_min = 1"
    for words in (["--bind", folder, place],
                  ["-o", "remount,bind,ro", place]):
        if bare(["mount", *words]).status:
            raise Skip("cannot mount")
    try:
        for cache, limit in (("/proc/none", "1G"), (directory, "1k")):
            for way in ([], ["--index"]):
                env = environment(XDG_CACHE_HOME=cache,
                                  GNOMON_INDEX_CACHE=limit)
                done = gnomon("sql", "--csv", place + "/medley.trace", *way,
                              script, env=env)
                equal(done.out.split()[5], "%d,%d" % wanted, "blocks")
                equal(done.err.count("\n"), 1, done.err)
                check("index" in done.err, done.err)
    finally:
        subprocess.run(["umount", "-l", place], check=False)


@case
def damaged_traces_are_told(directory):
    """What is left of one is answered from, and the status says so."""
    path = kept("medley", directory)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        file.write(b"\xff" * 64)
    done = gnomon("sql", path, "select count(*) from sums", statuses=(3,))
    check(done.out and done.err, done.err)
    gnomon("sql", os.path.join(directory, "none.trace"), "select 1",
           statuses=(2,))


if __name__ == "__main__":
    main()
