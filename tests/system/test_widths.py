#!/usr/bin/python3
"""Text output fits into 80 columns, however long the names are; cut names are
marked; nothing appears twice."""

import json
import re
import shlex

from gnomon_test import *

ARGUMENTS = ["", "two words", "it's", "a" * 90, "*", "tab\there", ""]
BY = ("stack", "site", "function", "file", "library", "thread", "size",
      "block")
REPORTS = [[]] + [["--by", by] for by in BY] + [
    ["--by", "stack", "--top", "0"], ["--tree", "top-down"],
    ["--tree", "bottom-up", "--top", "0"], ["--sizes"],
    ["--sort", "own-peak", "--by", "function"], ["--sort", "lifetime"],
    ["--sort", "age"], ["--by", "block", "--sort", "age", "--top", "0"],
    ["--timeline"], ["--timeline", "--by", "within-function,thread"],
    ["--timeline", "--by", "stack", "--sort", "count"],
    ["--function", "Deeply.*", "--size-min", "20"]]


def wordy(directory):
    return recorded([program("wordy"), *ARGUMENTS], directory).trace


def lines_of(*arguments, statuses=(0, 1)):
    """Of standard output; each fits, but for commands to be pasted."""
    out = gnomon(*arguments, statuses=statuses).out
    for line in out.splitlines():
        check(len(line) <= 79 or "gnomon report /" in line,
              "%d columns: %s: %s" % (len(line), arguments, line))
        check(not line.endswith(" "), "blanks at the end of `%s`" % line)
    return out.splitlines()


def no_line_twice(lines, what):
    """Functions whose names were cut may look the same."""
    for before, line in zip(lines, lines[1:]):
        check(before != line or not line.strip() or "  .." in line,
              "%s: twice: %s" % (what, line))


@case
def every_form_of_a_report_fits(directory):
    trace = wordy(directory)
    for options in REPORTS:
        lines = lines_of("report", trace, *options)
        check(len(lines) > 15, "%s: %d lines" % (options, len(lines)))
        if "--tree" not in options:
            no_line_twice(lines, options)


@case
def info_check_diff_and_annotate_fit(directory):
    trace = wordy(directory)
    other = recorded(["/usr/bin/python3", "-c", "import json"],
                     directory).traces[0]
    lines_of("info", trace)
    lines_of("info", other, "--sizes")
    lines_of("check", trace, "--max-live", "0", "--max-peak", "1G")
    for by in ("stack", "site", "function", "file", "library"):
        lines_of("diff", other, trace, "--by", by)
    lines_of("diff", trace, "--from", "10%", "--to", "90%")
    lines_of("annotate", trace, "grow_by_realloc")
    lines_of("annotate", trace, "DeeplyNestedConfigurationParserStage<40>.*")


@case
def tables_of_processes_fit(directory):
    below = os.path.join(directory, "a_folder_with_a_name_that_is_long")
    os.mkdir(below)
    wordy(below)
    recorded(["/bin/sh", "-c", "exec /bin/true " + "x" * 60], below)
    lines_of("report", below)
    lines_of("report", "--merge", below, "--by", "file")
    for trace in traces_in(below):
        lines_of("report", trace, "--top", "1")


@case
def what_is_cut_is_marked(directory):
    """A function is printed whole, or with `..` or `<>`; a path with `...`."""
    trace = wordy(directory)
    rows = json.loads(gnomon("report", trace, "--json", "--by", "stack",
                             "--top", "0").out)["rows"]
    names = {frame["function"].split("(")[0] for row in rows
             for frame in row["stack"] if frame["function"]}
    files = {frame["file"] for row in rows for frame in row["stack"]
             if frame["file"]}
    cut = 0
    for line in lines_of("report", trace, "--by", "stack", "--top", "0"):
        found = re.match(r" {9}([^ (\[].*?)  \S", line)
        if not found or found.group(1) == "??":
            continue
        whole = any(name == found.group(1) or
                    name.endswith(" " + found.group(1)) for name in names)
        check(whole or ".." in line or "<>" in line or "(inlined)" in line or
              "operator" in line or "string" in line, "no mark: " + line)
        cut += not whole
    check(cut > 10, "cut: %d" % cut)
    long = [name for name in files if len(name) > 70]
    check(long, "files: %s" % files)
    by_file = "\n".join(lines_of("report", trace, "--by", "file"))
    check("         .../" in by_file and long[0] not in by_file, by_file)
    check(long[0] in gnomon("report", trace, "--by", "file",
                            "--full-names").out, "with --full-names")
    check(long[0].rsplit("/", 1)[1] in by_file, "the file's own name")


@case
def the_command_line_can_be_pasted(directory):
    done = recorded([program("wordy"), *ARGUMENTS], directory)
    argv = [program("wordy"), *ARGUMENTS]
    text = gnomon("report", done.trace, "--full-names").out
    command = re.search(r"^  command      (.*)$", text, re.M).group(1)
    printed = bare(["/bin/bash", "-c", "printf '%s\\0' " + command]).out
    equal(printed.split("\0")[:-1], argv, "by a shell")
    text = gnomon("info", done.trace, "--full-names").out
    command = re.search(r"^  command +((?:.*\\\n)*.*)$", text, re.M).group(1)
    printed = bare(["/bin/bash", "-c", "printf '%s\\0' " + command]).out
    equal(printed.split("\0")[:-1], argv, "of info")
    document = json.loads(gnomon("info", "--json", done.trace).out)
    printed = bare(["/bin/bash", "-c", "printf '%s\\0' " +
                    document["info"]["command"]]).out
    equal(printed.split("\0")[:-1], argv, "of --json")
    for pattern in ("two words", "^%s  two" % re.escape(argv[0]), "'' $"):
        shown = json.loads(gnomon("report", done.trace, "--json", "--process",
                                  pattern).out)
        equal(shown["summary"]["allocations"] > 0, pattern != "'' $", pattern)


@case
def counters_say_what_they_count(directory):
    trace = wordy(directory)
    text = gnomon("info", trace).out
    counters = json.loads(gnomon("info", "--json", trace).out)["counters"]
    part = text[text.index("\nCOUNTERS\n"):text.index("\nEND\n")]
    for key, value in counters.items():
        check(re.search(r"\b%s\b" % key, part), key)
        if value != 0:
            check(re.search(r"^    %s +\S+( B)?  \w" % key, part, re.M),
                  "no word about %s" % key)


main()
