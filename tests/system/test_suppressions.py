#!/usr/bin/python3
"""Suppressed leaks: rules of files, of programs, built-in ones; the counts
equal LeakSanitizer's on the same program."""

import json
import os
import re

from gnomon_test import (GNOMON, bare, case, check, environment, equal, gnomon,
                         main, need_tracing, program, recorded)

# What tests/programs/answers/leaky.c leaks: (function, blocks, bytes).
LEAKS = {"list by parse": (7, 7 * 16), "list by load": (5, 5 * 24),
         "buffer": (3, 300), "recurse": (1, 1000)}
ALL_BYTES = sum(size for _, size in LEAKS.values())


def checked(trace, directory, rules=None, more=(), statuses=(0, 1)):
    """`gnomon check --max-live 0 --json`, with a file of these rules."""
    options = ["--disable-builtin-suppressions", *more]
    if rules is not None:
        path = os.path.join(directory, "rules")
        with open(path, "w") as out:
            out.write(rules)
        options += ["--suppressions", path]
    done = gnomon("check", trace, "--max-live", "0", "--json", *options,
                  statuses=statuses)
    document = json.loads(done.out)
    used = {rule["rule"]: (rule["blocks"], rule["bytes"])
            for rule in document["suppressions"]}
    return document["rows"][0], used, done


@case
def without_rules_all_leaks_count(directory):
    trace = recorded([program("leaky")], directory).trace
    row, used, done = checked(trace, directory)
    equal(row["value"], ALL_BYTES, "live")
    equal(row["suppressed_bytes"], 0, "suppressed")
    equal(used, {}, "rules")
    equal(done.status, 1, "status")


@case
def rules_of_a_file(directory):
    trace = recorded([program("leaky")], directory).trace
    for rules, suppressed in (
            ("leak:tgt_list\n", (12, 232)),
            ("leak:^tgt_list <- ^tgt_parse$\n", (7, 112)),
            ("leak:tgt_list <- ... <- tgt_parse\n", (12, 232)),
            ("leak:tgt_list <- tgt_load <- tgt_parse\n", (5, 120)),
            ("leak:tgt_parse <- tgt_list\n", (0, 0)),
            ("leak:^ <- tgt_parse\n", (0, 0)),
            ("leak:^ <- tgt_buffer <- main$\n", (3, 300)),
            ("leak:tgt_recurse <- tgt_recurse <- tgt_recurse <- "
             "tgt_recurse <- main\n", (1, 1000)),
            ("leak:tgt_recurse <- tgt_recurse <- tgt_recurse <- "
             "tgt_recurse <- tgt_recurse\n", (0, 0)),
            ("leak:leaky.c\n", (16, ALL_BYTES)),
            ("leak:/leaky$\n", (16, ALL_BYTES)),
            ("leak:tgt_*er\n", (3, 300)),
            ("leak:buffer\nleak:tgt_buf\n", (3, 300))):
        row, used, _ = checked(trace, directory, rules)
        equal((row["suppressed_blocks"], row["suppressed_bytes"]), suppressed,
              rules)
        equal(row["value"], ALL_BYTES - suppressed[1], rules + "live")
        equal(sum(size for _, size in used.values()), suppressed[1], rules)
    row, _, done = checked(trace, directory, "leak:leaky\n")
    equal((row["pass"], done.status), (True, 0), "all suppressed")


@case
def the_same_counts_as_leaksanitizer(directory):
    rules = "leak:tgt_buffer\nleak:tgt_load\nleak:^tgt_rec*se$\nleak:nobody\n"
    path = os.path.join(directory, "rules")
    with open(path, "w") as out:
        out.write(rules)
    need_tracing()
    theirs = bare([program("leaky_lsan")], environment(
        LSAN_OPTIONS="suppressions=%s:print_suppressions=1:"
        "fast_unwind_on_malloc=0" % path))
    check("Suppressions used" in theirs.err,
          "LeakSanitizer: " + theirs.err)
    expected = {name: (int(count), int(size)) for count, size, name in
                re.findall(r"^ +(\d+) +(\d+) (\S+)$", theirs.err, re.M)}
    equal(len(expected), 3, "rules that LeakSanitizer used")
    left = re.search(r"SUMMARY: LeakSanitizer: (\d+) byte\(s\) leaked in (\d+)",
                     theirs.err)
    trace = recorded([program("leaky")], directory).trace
    row, used, _ = checked(trace, directory, rules)
    equal({rule: counts for rule, counts in used.items() if counts[0]},
          expected, "what each rule suppressed")
    equal(row["value"], int(left.group(1)), "what is left")


@case
def rules_in_the_program(directory):
    trace = recorded([program("leaky_own")], directory).trace
    row, used, _ = checked(trace, directory)
    equal(used, {"tgt_buffer": (3, 300)}, "rules")
    equal(row["value"], ALL_BYTES - 300, "live")
    row, used, _ = checked(trace, directory,
                           more=["--disable-embedded-suppressions"])
    equal(row["value"], ALL_BYTES, "live without them")
    # the user's come first
    row, used, _ = checked(trace, directory, "leak:tgt_buf\n")
    equal(used, {"tgt_buf": (3, 300)}, "rules with the user's")


@case
def rules_that_are_computed_are_not_guessed(directory):
    trace = recorded([program("leaky_computed")], directory).trace
    row, used, done = checked(trace, directory)
    equal(row["value"], ALL_BYTES, "live")
    check("cannot be read without running it" in done.err, done.err)


@case
def what_libraries_keep_is_no_leak(directory):
    trace = recorded([program("kept")], directory).trace
    done = gnomon("check", trace, "--max-live", "0", "--print-suppressions")
    check("libstdc++.so" in done.out, done.out)
    row, _, _ = checked(trace, directory)
    check(row["value"] > 0, "without ours there is something")


@case
def unused_rules_are_named(directory):
    trace = recorded([program("leaky")], directory).trace
    path = os.path.join(directory, "rules")
    with open(path, "w") as out:
        out.write("leak:tgt_buffer\n\nleak:nobody\n")
    done = gnomon("check", trace, "--max-live", "1M", "--suppressions", path)
    check("unused suppression: %s:3: leak:nobody" % path in done.out, done.out)
    check("leak:tgt_buffer" not in done.out, done.out)
    check("300 B live in 3 blocks" in done.out, done.out)


@case
def files_of_other_systems(directory):
    """A byte order mark, ends of lines with CR, blanks, none at the end."""
    trace = recorded([program("leaky")], directory).trace
    path = os.path.join(directory, "rules")
    with open(path, "wb") as out:
        out.write(b"\xef\xbb\xbfleak:tgt_buffer\r\n# tgt_recurse\r\n\r\n"
                  b"  leak:tgt_recurse \t\r\nleak:nobody")
    done = gnomon("check", trace, "--max-live", "0", "--json",
                  "--disable-builtin-suppressions", "--suppressions", path,
                  statuses=(1,))
    document = json.loads(done.out)
    rows = document["rows"]
    buffers, recursion = LEAKS["buffer"], LEAKS["recurse"]
    equal((rows[0]["suppressed_blocks"], rows[0]["suppressed_bytes"]),
          (buffers[0] + recursion[0], buffers[1] + recursion[1]), "totals")
    equal(rows[0]["value"], ALL_BYTES - buffers[1] - recursion[1], "the rest")
    text = gnomon("check", trace, "--max-live", "0", "--suppressions", path,
                  "--disable-builtin-suppressions", statuses=(1,)).out
    check("suppressed     1.3K live in 4 blocks of" in text, text)
    check("unused suppression: %s:5: leak:nobody" % path in text, text)


@case
def wrong_files_are_refused(directory):
    trace = recorded([program("leaky")], directory).trace
    path = os.path.join(directory, "rules")
    for rules, message in (("leak:a\nrace:b\n", ":2: no rule"),
                           ("leak:\n", "empty pattern"),
                           ("leak:a <-\n", "arrow")):
        with open(path, "w") as out:
            out.write(rules)
        done = gnomon("check", trace, "--max-live", "0", "--suppressions",
                      path, statuses=(2,))
        check(message in done.err, done.err)
    done = bare([GNOMON, "check", trace, "--max-live", "0", "--suppressions",
                 path + ".none"])
    equal(done.status, 2, "a file that is not there")


main()
