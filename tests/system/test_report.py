#!/usr/bin/python3
"""Every form of `gnomon report`: text and JSON, compared with the program's
counts."""

import json
import os
import pty
import re
import subprocess
import time

from exported import being_written
from gnomon_test import *

OWN = ("--function", "^tgt_")
SUMS = (("count", "allocations"), ("total_bytes", "total_bytes"),
        ("live_bytes", "live_bytes"), ("live_blocks", "live_blocks"),
        ("peak_bytes", "peak_bytes"), ("temporary", "temporary"),
        ("frees", "frees"))
BY = ("stack", "site", "function", "file", "library", "thread", "size")


def tables(directory, *arguments):
    return recorded([program("tables"), *arguments], directory)


def document(trace, *options, **more):
    traces = trace if isinstance(trace, list) else [trace]
    return json.loads(gnomon("report", *traces, "--json", "--top", "0",
                             *options, **more).out)


def text(trace, *options, **more):
    traces = trace if isinstance(trace, list) else [trace]
    out = gnomon("report", *traces, *options, **more).out
    for line in out.splitlines():
        check(len(line) <= 79 or os.path.sep in line,
              "%d columns with %s: %s" % (len(line), options, line))
        check(not re.search(r"\b1 (allocations|blocks|frees|stacks|sites|"
                            r"threads|places|traces)\b", line),
              "a plural: " + line)
    return out


def row_with(rows, **wanted):
    found = [row for row in rows
             if all(row.get(key) == value for key, value in wanted.items())]
    equal(len(found), 1, "rows with %s" % wanted)
    return found[0]


def calls(row, name):
    return any(frame["function"] == name for frame in row["stack"])


def rows_add_up(shown, what):
    for key, total in SUMS:
        equal(sum(row[key] for row in shown["rows"]), shown["summary"][total],
              "%s: sum of %s" % (what, key))


def as_counted(summary, expected, times=1):
    for key in ("allocations", "frees", "total_bytes", "live_blocks",
                "live_bytes"):
        equal(summary[key], expected[key] * times, key)
    for key in ("dropped", "unpaired", "damaged"):
        equal(summary[key], 0, key)


@case
def rows_of_every_kind_add_up_to_what_the_program_counted(directory):
    done = tables(directory)
    contexts = set()
    for by in BY:
        shown = document(done.trace, "--by", by, *OWN)
        rows_add_up(shown, by)
        as_counted(shown["summary"], done.expected)
        contexts.add(shown["summary"]["contexts"])
        rows_add_up(document(done.trace, "--by", by), by + " of everything")
        check(text(done.trace, "--by", by), by)
    equal(len(contexts), 1, "contexts, however they are grouped")


@case
def functions_files_and_libraries(directory):
    done = tables(directory)
    for by, key, wanted in (("function", "function", "tgt_malloc"),
                            ("library", "library", "tables")):
        rows = document(done.trace, "--by", by, *OWN)["rows"]
        row = row_with(rows, **{key: wanted})
        equal(row["live_bytes"], done.expected["live_bytes"], by)
        equal(row["inclusive"]["live_bytes"], row["live_bytes"], "inclusive")
    rows = document(done.trace, "--by", "file", *OWN)["rows"]
    check(rows[0]["file"].endswith("tgt.h"), "file: %s" % rows[0]["file"])


@case
def functions_by_the_names_that_are_printed(directory):
    trace = recorded([program("annotated_plus")], directory).trace
    rows = document(trace, "--by", "stack")["rows"]
    names = {frame["function"] for row in rows for frame in row["stack"]
             if "annotated_plus" in (frame["library"] or "")}
    whole = sorted(name for name in names
                   if (name or "").startswith("shapes::"))
    check(whole, "functions with parameters: %s" % names)
    for name in (whole[0], whole[0].split("(")[0]):
        shown = document(trace, "--function", "^%s$" % re.escape(name))
        check(shown["summary"]["allocations"] > 0, name)


@case
def a_row_of_json_is_a_line(directory):
    """So that large ones can be read piece by piece."""
    trace = tables(directory).trace
    out = gnomon("report", trace, "--json", "--by", "stack").out
    lines = out[out.index('"rows": [\n'):].splitlines()
    equal([line.strip() for line in lines[-2:]], ["]", "}"], "the end")
    equal([json.loads(line.rstrip(",")) for line in lines[1:-2]],
          json.loads(out)["rows"], "rows by lines")


@case
def frames_may_be_written_once(directory):
    trace = tables(directory).trace
    for more in (("--by", "stack"), ("--by", "site"), ("--by", "block"),
                 ("--merge", "--by", "stack")):
        whole = document(trace, *more)
        table = document(trace, "--frame-table", *more)
        frames = table.pop("frames")
        check("frames" not in whole and len(frames) ==
              len({json.dumps(frame) for frame in frames}), "each is once")
        for row in table["rows"]:
            row["stack"] = [frames[number] for number in row["stack"]]
        equal(table, whole, "the same stacks %s" % (more,))
    gnomon("report", trace, "--frame-table", statuses=(2,))


@case
def where_the_live_blocks_lie_is_filtered(directory):
    trace = tables(directory).trace
    for words in ((), ("--function", "^keep_large$"), ("--size-max", "100"),
                  ("--not-function", "^keep_large$", "--size-min", "9"),
                  ("--alive-at", "50%", "--function", "^main$")):
        summary = document(trace, *words)["summary"]
        parts = summary["live_heap"].values()
        equal((sum(part["blocks"] for part in parts),
               sum(part["bytes"] for part in parts)),
              (summary["live_blocks"], summary["live_bytes"]), words)
    one = gnomon("annotate", trace, "main", "--json", "--function",
                 "^keep_large$")
    summary = json.loads(one.out)["summary"]
    equal(sum(part["bytes"] for part in summary["live_heap"].values()),
          summary["live_bytes"], "of annotate")


@case
def functions_without_names(directory):
    """Of a stripped program: apart, each by where it begins."""
    stripped = os.path.join(directory, "tables")
    subprocess.run(["strip", "-s", "-o", stripped, program("tables")],
                   check=True)
    trace = recorded([stripped], directory).trace
    shown = document(trace, "--by", "function")
    rows = [row for row in shown["rows"]
            if not row["named"] and row["library"] == "tables"
            and row["count"] > 0]
    equal(len(rows), 2, "rows of it: %s" % rows)
    equal({row["function"] for row in rows},
          {"tables+%#x" % row["module_offset"] for row in rows}, "places")
    rows_add_up(shown, "by function, without names")
    out = text(trace, "--by", "function", "--top", "0")
    for row in rows:
        check(re.search(r"\n +tables\+%#x\n" % row["module_offset"], out),
              "heading of %s" % row)


@case
def threads(directory):
    done = tables(directory)
    rows = document(done.trace, "--by", "thread", *OWN)["rows"]
    equal(len(rows), 2, "threads")
    worker = row_with(rows, thread="worker")
    equal((worker["live_blocks"], worker["live_bytes"]), (10, 7770), "worker")
    check(re.search(r"\n +thread %d worker" % worker["tid"],
                    text(done.trace, "--by", "thread")), "its heading")


@case
def sizes_of_rows(directory):
    done = tables(directory)
    rows = document(done.trace, "--by", "size", *OWN)["rows"]
    small = row_with(rows, size=48)
    equal((small["count"], small["temporary"], small["live_blocks"]),
          (100, 100, 0), "48 bytes")
    equal(row_with(rows, size=777)["live_blocks"], 10, "777 bytes")
    check("of 777 bytes each" in text(done.trace, "--by", "size", *OWN),
          "its heading")


@case
def live_blocks_one_by_one(directory):
    done = tables(directory)
    rows = document(done.trace, "--by", "block", *OWN)["rows"]
    equal([row["size"] for row in rows], [5002, 5001, 5000] + [777] * 10,
          "sizes")
    check(all(calls(row, "keep_large") for row in rows[:3]), "stacks")
    equal({row["thread"] for row in rows[3:]}, {"worker"}, "threads")
    equal(len({row["address"] for row in rows}), 13, "addresses")
    # What was allocated before the pause is older by as much.
    ages = [row["age_ns"] for row in rows]
    check(min(ages[:3]) - max(ages[3:]) >= done.expected["pause_ns"], "ages")
    rows = document(done.trace, "--by", "block", "--sort", "age", *OWN)["rows"]
    ages = [row["age_ns"] for row in rows]
    equal(ages, sorted(ages, reverse=True), "by age")
    out = text(done.trace, "--by", "block", "--top", "4", *OWN)
    first = row_with(rows, size=5002)
    check("1. 4.9K (5,002 bytes) at 0x%x, " % first["address"] in out, out)
    check("and 9 more blocks: --top 0" in out, "the rest")
    check("(the stack of number 1)" not in out.split(" 2. ")[0], "stack")


@case
def trees_of_calls(directory):
    done = tables(directory)
    for way in ("top-down", "bottom-up"):
        shown = document(done.trace, "--tree", way, *OWN)
        rows = shown["rows"]
        stack = []
        for row in rows:
            del stack[row["depth"]:]
            equal(len(stack), row["depth"], "depth")
            check(not stack or row["live_bytes"] <= stack[-1]["live_bytes"],
                  "%s holds more than what it is in" % row["function"])
            stack.append(row)
        equal(sum(row["live_bytes"] for row in rows if row["depth"] == 0),
              done.expected["live_bytes"], way)
    rows = document(done.trace, "--tree", "top-down", "--sort", "count",
                    *OWN)["rows"]
    large = row_with(rows, function="keep_large")
    equal((large["live_bytes"], large["count"]),
          (done.expected["large_bytes"], 3), "keep_large")
    # Recursion is folded: its line that allocates, where that is the first
    # level's, and its line that calls itself, with what all others do.
    deep = [row for row in rows if row["function"] == "descend"]
    equal(sorted(row["count"] for row in deep), [1, 29, 29], "descend")


@case
def trees_as_text(directory):
    done = tables(directory)
    out = text(done.trace, "--tree", "top-down", *OWN)
    check("CALLS: " in out, "its heading")
    share = 100 * done.expected["large_bytes"] / done.expected["live_bytes"]
    check(re.search(r"\n *%.1f%% +14\.7K  .*keep_large  tables\.c:\d+" % share,
                    out), out)
    check("churn_small" not in out, "nothing of it is live")
    out = text(done.trace, "--tree", "bottom-up", "--sort", "count", *OWN)
    check(re.search(r"\n100\.0% +145  tgt_malloc", out), out)


@case
def histograms_of_sizes_and_lifetimes(directory):
    done = tables(directory)
    shown = document(done.trace, "--sizes")
    for key, total in SUMS[:4] + SUMS[5:]:
        equal(sum(size[key] for size in shown["sizes"]),
              shown["summary"][total], "sum of " + key)
    equal(sum(life["blocks"] for life in shown["lifetimes"]),
          shown["summary"]["frees"], "lifetimes")
    shown = document(done.trace, "--sizes", *OWN)
    equal({(size["min"], size["count"]) for size in shown["sizes"]},
          {(32, 100), (128, 30), (512, 10), (4096, 3), (8192, 2)}, "sizes")
    held = [life for life in shown["lifetimes"]
            if life["max_ns"] > done.expected["pause_ns"]]
    equal(sum(life["blocks"] for life in held), 2, "held for long")
    out = text(done.trace, "--sizes")
    check("\nSIZES: " in out and "\nLIFETIMES: " in out, "sections")
    check("\nLIVE" not in out, "what was not asked for")


CHAINS = ("count", "live", "blocks", "first_bytes", "last_bytes")


@case
def each_row_has_its_sizes_lifetimes_and_chains(directory):
    trace = recorded([program("realloc_chain")], directory).trace
    for words in ((), ("--function", "^main$")):
        for by in BY:
            shown = document(trace, "--sizes", "--by", by, *words)
            for row in shown["rows"]:
                for key in ("count", "total_bytes"):
                    equal(sum(size[key] for size in row["sizes"]), row[key],
                          "%s: %s of sizes" % (by, key))
                equal(sum(span["blocks"] for span in row["lifetimes"]),
                      row["frees"], by + ": lifetimes")
                chains = row.get("chains", {"longest": 0})
                check(chains["longest"] <= shown["chains"]["longest"], by)
            for key in CHAINS:
                equal(sum(row["chains"][key] for row in shown["rows"]
                          if "chains" in row), shown["chains"][key],
                      "%s: chains' %s" % (by, key))
        if not words:
            equal([shown["chains"][key] for key in (
                "count", "live", "longest", "blocks")],
                [200, 50, 27, 27 * 200], "as the program made them")
    check("chains" not in document(trace)["rows"][0], "only with --sizes")


@case
def how_it_went_on_over_time(directory):
    done = tables(directory)
    for words in ((), ("--size-min", "1k")):
        shown = document(done.trace, "--sizes", *words)
        steps = shown["timeline"]["steps"]
        summary = shown["summary"]
        check(1 < len(steps) <= 2048, "%d steps" % len(steps))
        equal(steps[-1]["live_bytes"], summary["live_bytes"], "at the end")
        equal(sum(step["allocations"] for step in steps),
              summary["allocations"], "allocations")
        equal(sum(step["freed_bytes"] for step in steps) +
              summary["live_bytes"], summary["total_bytes"], "freed")
        times = [step["time_ns"] for step in steps]
        check(all(0 <= b - a - shown["timeline"]["step_ns"] <= 1
                  for a, b in zip(times, times[1:])), "one by one")
        check(steps[-1]["rss_bytes"] > 0, "the kernel's figures")
        if not words:
            equal(max(step["live_bytes_max"] for step in steps),
                  summary["peak_bytes"], "peak")
    check("timeline" not in document(done.trace, "--sizes", *OWN),
          "of stacks it knows nothing")


@case
def each_key_sorts_and_says_what_it_is(directory):
    done = tables(directory)
    counted = (("live", "live_bytes"), ("peak", "peak_bytes"),
               ("own-peak", "own_peak_bytes"), ("total", "total_bytes"),
               ("count", "count"), ("temporary", "temporary"),
               ("lifetime", "lifetime_ns"), ("age", "age_ns"),
               ("freed", "freed_bytes"))
    for key, value in counted:
        rows = document(done.trace, "--sort", key, *OWN)["rows"]
        values = [row[value] for row in rows]
        equal(values, sorted(values, reverse=True), key)
        out = text(done.trace, "--sort", key, "--by", "stack", *OWN)
        first = out[out.index("\n   1. "):].split("\n")[1]
        equal("%" in first, key not in ("own-peak", "lifetime", "age"),
              "a share, by " + key)
        check("(context %d)" % rows[0]["context"] in first, "its number")
    for row in rows:
        equal(row["freed_bytes"], row["total_bytes"] - row["live_bytes"],
              "what is not held any more")
    check(re.search(r"in %d frees?\b" % rows[0]["frees"], first), first)


@case
def lifetimes_and_peaks(directory):
    done = tables(directory)
    rows = document(done.trace, "--sort", "lifetime", *OWN)["rows"]
    check(calls(rows[0], "hold"), "hold lives longest")
    check(rows[0]["lifetime_ns"] >= done.expected["pause_ns"], "its lifetime")
    check("on average over 1 free\n" in
          text(done.trace, "--sort", "lifetime", "--by", "stack",
               "--function", "^hold$").replace("  (context", "\n"), "text")
    rows = document(done.trace, "--sort", "own-peak", "--function",
                    "^churn_small$")["rows"]
    equal([(row["own_peak_bytes"], row["own_peak_blocks"]) for row in rows],
          [(48, 1)], "own peak")


@case
def own_peaks_of_sites_are_exact(directory):
    done = recorded([program("basic")], directory)
    for options in ((), OWN):
        row = document(done.trace, "--by", "site", "--sort", "own-peak",
                       *options)["rows"][0]
        equal((row["own_peak_bytes"], row["own_peak_blocks"]),
              (done.expected["peak_bytes"], done.expected["peak_blocks"]),
              "of the only site, which is the program's")
        check("own_peak_bound" not in row, "no bound")
    with open(done.trace, "rb") as trace:
        out = subprocess.run(["sh", "-c", "cat | %s report /dev/stdin --json "
                              "--by site --sort own-peak" % GNOMON],
                             stdin=trace, capture_output=True,
                             timeout=RUN_SECONDS)
    told = out.stdout
    row = json.loads(told)["rows"][0]
    check(row["own_peak_bound"] and
          row["own_peak_bytes"] >= done.expected["peak_bytes"],
          "a pipe is read once")


def most_by(rows, name):
    """Rows' own peaks by what they are about; the rows are exact."""
    for row in rows:
        check("own_peak_bound" not in row, "%s is exact" % row.get(name))
    return {row.get(name): row["own_peak_bytes"] for row in rows}


@case
def own_peaks_of_all_groups_are_exact(directory):
    done = recorded([program("own_peaks")], directory)
    most = done.expected
    ours = ("--function", "^(first|second|shared)$")
    for key in ("own-peak", "total"):
        def own(by, name):
            return most_by(document(done.trace, "--by", by, "--sort", key,
                                    *ours)["rows"], name)
        equal(own("function", "function"),
              {name: most[name] for name in ("first", "second",
                                             "tgt_malloc")}, "of functions")
        files = {os.path.basename(name): peak
                 for name, peak in own("file", "file").items()}
        equal(files, {"own_peaks.c": most["own_file"],
                      "tgt.h": most["tgt_malloc"]}, "of files")
        equal(own("size", "size"), {40: most["small"], 1000: most["middle"],
                                    7777: most["large"]}, "of sizes")
        equal(own("thread", "thread"), {"own_peaks": most["main_thread"],
                                        "helper": most["helper_thread"]},
              "of threads")
        equal(own("library", "library"), {"own_peaks": most["all"]},
              "of the library")
    for by in ("site", "function", "thread"):
        out = text(done.trace, "--by", by, "--sort", "own-peak", *ours)
        check("at most" not in out, by)
    rows = document(done.trace, "--by", "function")["rows"]
    inclusive = row_with(rows, function="first")["inclusive"]
    check("own_peak_bound" not in inclusive, "it called nothing else")
    equal(inclusive["own_peak_bytes"], most["first"], "so it is its own")


@case
def own_peaks_that_are_sums_say_so(directory):
    trace = recorded([program("own_peaks")], directory).trace
    for more in (("--by", "function", "--merge"), ("--tree", "top-down")):
        rows = document(trace, "--library", "own_peaks", *more)["rows"]
        check(any(row.get("own_peak_bound") for row in rows), more)
    shorter = os.path.join(directory, "shorter")
    gnomon("strip", trace, "-o", shorter, "--lifetime", "1h")
    rows = document(shorter, "--by", "function")["rows"]
    check(row_with(rows, function="first")["own_peak_bound"], "left out")


@case
def text_says_what_json_says(directory):
    done = tables(directory)
    shown = document(done.trace, *OWN)
    summary, rows = shown["summary"], shown["rows"]
    out = text(done.trace, "--all", "--sort", "live", "--by", "stack", *OWN)
    blocks = [int(number.replace(",", "")) for number in
              re.findall(r"\n +\d+\. .* in ([\d,]+) blocks?", out)]
    equal(blocks, [row["live_blocks"] for row in rows
                   if row["live_bytes"] > 0][:10], "live blocks")
    check("only blocks with --function ^tgt_\n" in out, "the filter")
    check("\n  allocations  %d, " % summary["allocations"] in out, out)
    check("\n  live         22.2K in 13 blocks at the end" in out, out)
    check(re.search(r"\n  temporary    %d \(" % summary["temporary"], out),
          out)
    for word in ("dropped", "unpaired", "damaged"):
        check("\n  %-11s  0" % word in out, word)


@case
def functions_are_found_as_they_are_shown(directory):
    trace = recorded([program("exceptions")], directory).trace
    whole = document(trace, "--function", r"^descend\(int\)$")["summary"]
    brief = document(trace, "--function", "^descend$")["summary"]
    check(whole["allocations"] > 0, "by its whole name")
    equal(dict(brief, filters=""), dict(whole, filters=""),
          "by what is shown of it")
    equal(document(trace, "--function", "^descen$")["summary"]["allocations"],
          0, "by a part")


FORMS = {
    101: ("work", "work(int)"),
    51: ("scope::box<>::fill",
         "scope::box<std::map<>>::fill",
         "scope::box<std::map<std::string, std::vector<int>>>::fill",
         "scope::box<std::map<std::string, std::vector<int>>>::fill(std::map<"
         "std::string, std::vector<int>> const&)"),
}
WHOLE = "std::less<std::__cxx11::basic_string<char"  # only in whole names


@case
def names_match_in_every_form_that_is_printed(directory):
    trace = recorded([program("printed_names")], directory).trace
    for size, names in FORMS.items():
        for name in names:
            for more in ((), ("--full-names",)):
                rows = document(trace, "--by", "size", "--function",
                                "^%s$" % re.escape(name), *more)["rows"]
                equal([row["size"] for row in rows], [size], name)
            rules = os.path.join(directory, "rules")
            with open(rules, "w") as file:
                file.write("leak:^%s$\n" % name)
            out = gnomon("check", trace, "--max-live", "0", "--json",
                         "--suppressions", rules, statuses=(0, 1)).out
            check(("^%s$" % name, size) in
                  [(rule["rule"], rule["bytes"])
                   for rule in json.loads(out)["suppressions"]], out)
            check(gnomon("annotate", trace, name).out.startswith(
                names[0].split("<")[0]), "annotate " + name)
    rows = document(trace, "--by", "size", "--function", re.escape(WHOLE),
                    "--size-max", "51", "--size-min", "51")["rows"]
    equal(len(rows), 1, "by a part of what --full-names prints")
    for path in ("^printed_names.cc$", "stacks/printed_names.cc$"):
        check(document(trace, "--source", path)["rows"], path)


@case
def names_that_match_nothing_are_told(directory):
    trace = tables(directory).trace
    words = {"function": "no function", "not-function": "no function",
             "passes-through": "no function", "source": "no source file",
             "not-library": "no library", "thread": "no thread",
             "process": "no process"}
    for word, said in words.items():
        err = gnomon("report", trace, "--" + word, "zzyzx").err
        check(("--%s zzyzx: %s" % (word, said)) in err, err)
        err = gnomon("report", trace, "--" + word, ".").err
        check("no " not in err, err)
    err = gnomon("report", trace, "--context", "4000000").err
    check("--context 4000000: no call stack" in err, err)
    row = document(trace, "--function", "^hold$")["rows"][0]
    err = gnomon("report", trace, "--context", str(row["context"]),
                 "--function", "^churn_small$").err
    equal(err, "", "both are there, not together")
    # Each word of several; not where another one leaves it out.
    err = gnomon("report", trace, "--function", "zzyzx", "--function",
                 "hold", "--not-function", "main").err
    equal(len(err.splitlines()), 1, err)
    err = gnomon("report", trace, "--function", "^hold$",
                 "--size-max", "48").err
    check("other filters" in err, err)
    # In one of several traces is enough.
    other = recorded([program("basic")], directory)
    both = (trace, next(t for t in other.traces if t != trace))
    for command in (("report", "--merge"), ("diff",)):
        err = gnomon(*command, *both, "--function", "^hold$",
                     statuses=(0, 1)).err
        equal(err, "", "it is in one of them")
    err = gnomon("annotate", trace, "hold", "--library", "zzyzx",
                 statuses=(2,)).err
    check("no library" in err, err)


@case
def words_that_exclude_each_other_are_refused(directory):
    done = tables(directory)
    for words in (("--size-min", "2k", "--size-max", "1k"),
                  ("--from", "90%", "--to", "10%"),
                  ("--from", "2s", "--to", "2000ms"),
                  ("--group-peak-time-min", "end",
                   "--group-peak-time-max", "start"),
                  ("--depth-min", "3", "--depth-max", "2")):
        for command in (("report", done.trace), ("diff", done.trace,
                                                 done.trace),
                        ("annotate", done.trace, "main")):
            failed = gnomon(*command, *words, statuses=(2,))
            check("nothing lies between" in failed.err and
                  words[0] in failed.err, failed.err)
            equal(failed.out, "", "output")
    # Backwards is a question like any other.
    gnomon("diff", done.trace, "--from", "90%", "--to", "10%",
           statuses=(0, 1))
    gnomon("report", done.trace, "--size-min", "2k", "--size-max", "1k",
           "--size-max", "4k")
    err = gnomon("report", done.trace, "--from", "90%", "--to", "1us").err
    check("nothing lies between" in err, "known only from the trace: " + err)


@case
def blocks_are_filtered(directory):
    done = tables(directory)
    large = document(done.trace, "--size-min", "5000", "--size-max", "5002")
    equal((large["summary"]["live_blocks"], large["summary"]["live_bytes"]),
          (3, done.expected["large_bytes"]), "by size")
    rows_add_up(large, "by size")
    worker = document(done.trace, "--thread", "worker", *OWN)
    equal(worker["summary"]["allocations"], 10, "by thread")
    fleeting = document(done.trace, "--fate", "temporary", "--function",
                        "^churn_small$")
    equal(fleeting["summary"]["temporary"], 100, "by fate")
    both = document(done.trace, "--not-function", "^(keep_large|work)$", *OWN)
    equal(both["summary"]["live_blocks"], 0, "by what is not there")
    rows = document(done.trace, "--by", "block", "--size-min", "1000",
                    *OWN)["rows"]
    equal(len(rows), 3, "blocks")


@case
def what_was_live_at_a_moment(directory):
    done = tables(directory)
    # In the pause, what is held is there.
    times = document(done.trace, "--function", "^hold$")["rows"]
    moment = max(row["last_ns"] for row in times) + 10 * 1000 * 1000
    options = ("--alive-at", "%dns" % moment, *OWN)
    shown = document(done.trace, "--sort", "live", *options)
    held = done.expected["large_bytes"] + 18000
    equal(shown["summary"]["live_bytes"], held, "live then")
    equal(sum(row["size"] for row in
              document(done.trace, "--by", "block", *options)["rows"]), held,
          "blocks")
    out = text(done.trace, *options)
    check("\nLIVE THEN: " in out and "at the requested moment" in out,
          out)


@case
def temporary_with_others_between(directory):
    done = tables(directory)
    none, some = (document(done.trace, "--temporary", n, "--function",
                           "^descend$")["summary"]["temporary"]
                  for n in ("0", "10"))
    # The innermost is freed first; the n-th has 29 - n others after it.
    equal((none, some), (1, 11), "temporary")
    check("after no\n               more than 10 other allocations of their "
          "thread" in text(done.trace, "--all", "--temporary", "10"),
          "its meaning")


@case
def a_directory_is_a_table_of_processes(directory):
    done = tables(directory, "fork")
    shown = document(directory)
    summary, rows = shown["summary"], shown["rows"]
    equal(len(rows), 2, "processes")
    equal(summary["processes"], 2, "their number")
    equal(rows[1]["parent"], rows[0]["pid"], "the child is behind its parent")
    for key in ("allocations", "total_bytes", "live_bytes", "peak_bytes"):
        equal(summary[key], sum(row[key] for row in rows), "sum of " + key)
    for row in rows:
        alone = document(row["trace"])["summary"]
        for key in ("peak_bytes", "live_bytes", "allocations", "exit", "pid",
                    "duration_ns", "peak_time_ns"):
            equal(row[key], alone[key], "alone: " + key)
    out = text(directory)
    for row in rows:
        check(re.search(r"\n +%d +%d .*\n +(exited|ended).*; .*%d.trace"
                        % (row["pid"], row["parent"], row["pid"]), out), out)
    equal(document(done.traces)["rows"], rows, "named one by one")
    done = document(directory, "--sort", "live", "--top", "1")
    equal(len(done["rows"]), 1, "rows")


@case
def merging_sums_up(directory):
    done = tables(directory, "fork")
    shown = document(directory, "--merge", *OWN)
    as_counted(shown["summary"], done.expected, times=2)
    for by in BY[:5]:
        rows_add_up(document(directory, "--merge", "--by", by), by)
    large = [row for row in shown["rows"] if calls(row, "keep_large")]
    equal([row["live_blocks"] for row in large], [6], "of both, one row")
    equal(len(shown["processes"]), 2, "processes")
    out = text(directory, "--merge", "--sort", "live", *OWN)
    check("\n   1. 100.0%  44.5K in 26 blocks\n" in out, out)
    tree = document(directory, "--merge", "--tree", "top-down", *OWN)["rows"]
    equal(row_with(tree, function="keep_large")["live_blocks"], 6, "tree")
    sizes = document(directory, "--merge", "--sizes", *OWN)["sizes"]
    equal(row_with(sizes, min=4096)["count"], 6, "sizes")


@case
def what_does_not_fit_together_is_refused(directory):
    done = tables(directory, "fork")
    for options in (["--by", "site"], ["--merge", "--by", "thread"],
                    ["--merge", "--by", "block"], ["--sizes"],
                    ["--tree", "bottom-up"]):
        check("gnomon: --" in gnomon("report", directory, *options,
                                       statuses=(2,)).err, options)
    trace = done.traces[0]
    for options in (["--tree", "top-down", "--sort", "age"],
                    ["--tree", "top-down", "--by", "file"],
                    ["--by", "block", "--sort", "count"],
                    ["--sort", "weight"], ["--function", "("]):
        done = gnomon("report", trace, *options, statuses=(2,))
        check(done.err.startswith("gnomon: ") and not done.out, options)
    empty = os.path.join(directory, "empty")
    os.mkdir(empty)
    check("no trace in this directory" in
          gnomon("report", empty, statuses=(2,)).err, "an empty directory")


@case
def one_that_cannot_be_read_is_told(directory):
    done = tables(directory)
    wrong = os.path.join(directory, "wrong.trace")
    with open(wrong, "wb") as out:
        out.write(b"not a trace")
    shown = document([done.traces[0], wrong], statuses=(3,))
    equal((len(shown["rows"]), shown["summary"]["unreadable"]), (1, 1),
          "one of two")
    gnomon("report", wrong, wrong, statuses=(2,))


@case
def a_process_being_recorded_by_its_number(directory):
    with being_written(directory) as path:
        pid = os.path.basename(path).split(".")[0]
        summary = document(pid, cwd="/")["summary"]
        equal((str(summary["pid"]), summary["exit"]), (pid, "still running"),
              "by the live file that it has mapped")
        out = text(pid, cwd="/")
        check("\nLIVE NOW: " in out and "AT THE END" not in out, out)
        out = gnomon("diff", pid, "--from", "start", cwd="/",
                     statuses=(0, 1)).out
        check("still running: compared as it is now\n" in out, out)
        out = gnomon("annotate", pid, "_*libc_start_main.*", cwd="/").out
        check(" live now, " in out and "the end" not in out, out)
    equal(str(document(pid, cwd=directory)["summary"]["pid"]), pid,
          "by the trace here, once it has ended")
    check("is not being recorded" in
          gnomon("report", str(os.getpid()), cwd=directory,
                 statuses=(2,)).err, "one that is not")


@case
def the_newest_trace_here_whatever_its_name(directory):
    for name in ("b.trace", "a"):
        gnomon("run", "-q", "-o", name, "--", program("tables"),
               cwd=directory)
    with open(os.path.join(directory, "z.trace"), "w") as out:
        out.write("something else")
    out = gnomon("report", "--top", "1", cwd=directory).out
    equal(out.split("\n")[0], "a", "the newest")


@case
def what_it_became_and_started_is_named(directory):
    recorded(["sh", "-c", "%s > /dev/null; exec %s" % (
        program("tables"), program("tables"))], directory)
    first, = [trace for trace in traces_in(directory)
              if not os.path.basename(trace).startswith("tables")]
    out = text(first)
    check(re.search(r"\n  then         another program:\s+gnomon "
                    r"report %s/tables\.\d+\.trace" % directory, out), out)
    check(re.search(r"\n  children     \d traces? of child processes:\s+"
                    r"gnomon report %s\n" % directory, out), out)


@case
def colours_only_on_a_terminal(directory):
    done = tables(directory)

    def shown(**changes):
        master, slave = pty.openpty()
        run = subprocess.Popen([GNOMON, "report", done.trace, "--top", "1"],
                               stdout=slave, stderr=subprocess.DEVNULL,
                               env=environment(**changes))
        os.close(slave)
        out = b""
        try:
            while True:
                out += os.read(master, 65536)
        except OSError:
            pass
        os.close(master)
        equal(run.wait(timeout=RUN_SECONDS), 0, "status")
        return out

    check(b"\033[1m" in shown(TERM="xterm", NO_COLOR=None), "on a terminal")
    check(b"\033" not in shown(TERM="xterm", NO_COLOR="1"), "NO_COLOR")
    check(b"\033" not in shown(TERM="dumb", NO_COLOR=None), "dumb")
    check("\033" not in gnomon("report", done.trace).out, "into a pipe")


@case
def into_a_file(directory):
    done = tables(directory)
    trace, wanted = done.trace, os.path.join(directory, "report.txt")
    gnomon("report", trace, "-o", wanted)
    with open(wanted) as written:
        equal(written.read(), gnomon("report", trace).out, "the same")
    gnomon("report", trace, "-o", os.path.join(directory, "no", "where"),
           statuses=(2,))


@case
def real_programs_in_every_form(directory):
    need("jq")
    done = recorded(["jq", "-n", "[range(3000)|{a: tostring, b: [., .]}]"
                     " | map(.a + \"x\") | length"], directory)
    for by in BY:
        rows_add_up(document(done.trace, "--by", by), by)
        text(done.trace, "--by", by)
    for way in ("top-down", "bottom-up"):
        text(done.trace, "--tree", way, "--sort", "total")
        rows = document(done.trace, "--tree", way, "--sort", "count")["rows"]
        summary = document(done.trace)["summary"]
        equal(sum(row["count"] for row in rows if row["depth"] == 0),
              summary["allocations"], way)
    text(done.trace, "--sizes")
    text(done.trace, "--by", "block")


if __name__ == "__main__":
    main()
