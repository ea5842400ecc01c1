"""Recordings that leave blocks or frames out: samples, size limits, and
truncated stacks. Recorded blocks are complete, with their ends; unrecorded ones
are estimated without bias, or counted."""

import collections
import json
import math
import re
import tempfile

from gnomon_test import (Report, bare, case, check, environment, equal, gnomon,
                         main, program, recorded)

SITES = ("small", "medium", "large", "kept")
SEEDS = 40


def choose(directory, argv, options=(), seed=None):
    """The report of a recording, and what the target said."""
    with tempfile.TemporaryDirectory(dir=directory) as own:
        done = recorded(argv, own, options=options,
                        env=environment(GNOMON_DEBUG_SEED=seed))
        equal(done.status, 0, "status; stderr: " + done.err)
        return Report(done.trace), done.expected


def site_sums(report, site):
    rows = report.rows_with("site_%s$" % site)
    return [sum(row[key] for row in rows)
            for key in ("count", "total_bytes", "live_blocks", "live_bytes")]


def truth(expected, site):
    figures = [expected[site + "_blocks"], expected[site + "_bytes"]]
    return figures + (figures if site == "kept" else [0, 0])


def frames(row, depth):
    return tuple((frame.get("function"), frame.get("line"))
                 for frame in row["stack"][-depth:])


@case
def frees_by_other_threads_are_recorded(directory):
    """Threads end each other's blocks: none of a sample stays."""
    for mean in ("64", "1k", "16k"):
        report, expected = choose(directory, [program("sampled"), "4", "20000"],
                                  ["--sample=" + mean])
        equal(report.summary["estimated"], True, "estimated")
        equal(report.summary["dropped"], 0, "dropped")
        equal(report.summary["unpaired"], 0, "unpaired")
        for site in ("small", "medium", "large"):
            sums = site_sums(report, site)
            check(sums[0] > 0, "%s: blocks of site_%s" % (mean, site))
            equal(sums[2], 0, "%s: left of site_%s" % (mean, site))
        equal(sum(row["live_blocks"] for row in report.rows_with("end$")), 0,
              mean + ": left of realloc")
        kept = site_sums(report, "kept")
        equal(kept[:2], kept[2:], mean + ": all that is kept is live")
        check(abs(kept[0] - expected["kept_blocks"]) <
              6 * math.sqrt(expected["kept_blocks"] *
                            max(1, size_of(mean) / 200)) + 1,
              "%s: kept blocks %d of %d" % (mean, kept[0],
                                            expected["kept_blocks"]))


def size_of(text):
    return int(text.rstrip("k")) * (1024 if text.endswith("k") else 1)


@case
def estimates_are_unbiased(directory):
    """Real runs, each with another sample: their mean is what the target
    counted, by place, within four standard errors."""
    sums = collections.defaultdict(list)
    for seed in range(1, SEEDS + 1):
        report, expected = choose(directory, [program("sampled"), "1", "2000"],
                                  ["--sample=4k"], seed)
        for site in SITES:
            for figure, value in enumerate(site_sums(report, site)):
                sums[site, figure].append(value)
    for (site, figure), values in sums.items():
        wanted = truth(expected, site)[figure]
        mean = sum(values) / SEEDS
        error = math.sqrt(sum((value - mean) ** 2 for value in values) /
                          (SEEDS - 1) / SEEDS)
        check(abs(mean - wanted) <= 4 * error + 0.5,
              "site_%s, figure %d: %.1f, not %d; standard error %.1f" % (
                  site, figure, mean, wanted, error))
        check(wanted == 0 or error > 0, "seeds make no difference")


@case
def size_limits_leave_out_blocks(directory):
    """What is not recorded is counted, in all and by size."""
    whole, expected = choose(directory, [program("sampled"), "3", "3000"])
    part, _ = choose(directory, [program("sampled"), "3", "3000"],
                     ["--min-size", "200", "--max-size", "4k"])
    for key in ("allocations", "total_bytes"):
        equal(part.summary[key], whole.summary[key], key)
    check(part.summary["unrecorded_allocations"] >=
          expected["small_blocks"] + expected["large_blocks"],
          "counted, not recorded")
    equal(part.summary["dropped"], 0, "dropped")
    equal(part.summary["unpaired"], 0, "unpaired")
    equal(part.summary["estimated"], False, "estimated")
    for site in ("medium", "kept"):
        equal(site_sums(part, site), truth(expected, site), "site_" + site)
    for site in ("small", "large"):
        equal(site_sums(part, site), [0, 0, 0, 0], "site_" + site)
    equal(sum(row["count"] for row in part.rows),
          part.summary["allocations"] -
          part.summary["unrecorded_allocations"], "rows")


def classes(trace):
    done = gnomon("report", trace, "--json", "--sizes")
    return [(row.get("count", row.get("allocations")), row.get("total_bytes"))
            for row in json.loads(done.out)["sizes"]]


@case
def sizes_are_all_in_the_histogram(directory):
    with tempfile.TemporaryDirectory(dir=directory) as one, \
            tempfile.TemporaryDirectory(dir=directory) as two:
        whole = recorded([program("sampled"), "2", "2000"], one)
        part = recorded([program("sampled"), "2", "2000"], two,
                        options=["--min-size", "500"])
        equal(classes(part.trace), classes(whole.trace), "classes")


@case
def unrecorded_blocks_do_not_count_as_freed(directory):
    """Nobody knows whether it was: rows are shares of what is known."""
    done = recorded([program("sampled"), "2", "2000"], directory,
                    options=["--min-size", "500"])
    shown = gnomon("report", done.trace, "--sort", "freed", "--top", "0").out
    shares = re.findall(r"^ *\d+\. +([\d.]+)%", shown, re.M)
    check(shares and abs(sum(map(float, shares)) - 100) < 1, shown)


def by_frames(report, depth):
    result = collections.Counter()
    for row in report.rows:
        for key in ("count", "total_bytes", "live_blocks", "live_bytes"):
            result[frames(row, depth), key] += row[key]
    return result

@case
def stacks_are_cut(directory):
    """The innermost frames of each stack are those of the whole ones."""
    argv = [program("sampled"), "1", "500"]
    whole, _ = choose(directory, argv)
    for depth in (1, 2, 3, 50):
        part, _ = choose(directory, argv, ["--depth", str(depth)])
        longest = max(sum(not frame.get("inlined") for frame in row["stack"])
                      for row in part.rows)
        check(longest <= depth, "%d frames of %d" % (longest, depth))
        for key in ("allocations", "total_bytes", "live_bytes"):
            equal(part.summary[key], whole.summary[key], key)
        equal(sum(row["count"] for row in part.rows),
              sum(row["count"] for row in whole.rows), "rows")
        for site in SITES if depth > 1 else ():
            equal(site_sums(part, site), site_sums(whole, site),
                  "depth %d: site_%s" % (depth, site))


@case
def no_stacks(directory):
    argv = [program("sampled"), "2", "500"]
    whole, _ = choose(directory, argv)
    none, _ = choose(directory, argv, ["--depth", "0"])
    for key in ("allocations", "total_bytes", "live_blocks", "live_bytes"):
        equal(none.summary[key], whole.summary[key], key)


@case
def reallocation(directory):
    """Grown, shrunk, refused, to nothing: no end is missing."""
    whole, expected = choose(directory, [program("realloc_chain")])
    for options in (["--sample=1"], ["--sample=32"], ["--sample=300"],
                    ["--sample=300", "--max-size", "10k"],
                    ["--min-size", "64"]):
        report, _ = choose(directory, [program("realloc_chain")], options)
        what = " ".join(options) + ": "
        equal(report.summary["unpaired"], 0, what + "unpaired")
        equal(report.summary["dropped"], 0, what + "dropped")
        for row in report.rows:
            check(row["live_blocks"] <= row["count"], what + "live")
        if "--sample=1" in options:
            # nearly all, but of those of one byte, as the live ones are
            for key, near in (("allocations", 172), ("live_blocks", 40)):
                check(abs(report.sums()[key] - expected[key]) <= near,
                      what + key)
            check(abs(report.summary["peak_bytes"] -
                      whole.summary["peak_bytes"]) <=
                  whole.summary["peak_bytes"] / 50, what + "peak")


@case
def programs_behave_as_unrecorded(directory):
    """Children, handlers, allocators of their own."""
    for argv in (["forks"], ["signals"], ["crossfree"], ["storm", "200", "8"],
                 ["entry_points"], ["exceptions"], ["sandbox"],
                 ["own_new"], ["own_mi_linked"]):
        with tempfile.TemporaryDirectory(dir=directory) as own:
            alone = bare([program(argv[0]), *argv[1:]])
            done = recorded([program(argv[0]), *argv[1:]], own,
                            options=["--sample=200", "--min-size", "2",
                                     "--depth", "4"])
            equal(done.status, alone.status, argv[0] + ": status")
            for trace in done.traces:
                report = Report(trace)
                for key in ("damaged", "unpaired", "dropped"):
                    equal(report.summary[key], 0, argv[0] + ": " + key)


@case
def limits_that_were_changed(directory):
    """What a sample leaves out stays out, ends as well."""
    report, _ = choose(directory, [program("size_limits")], ("--sample=100k",))
    summary = report.summary
    check(summary["foreign_frees"] < 5, summary)
    equal(summary["unpaired"], 0, "unpaired")


@case
def freed_later(directory):
    """Totals come now and then: some tell of nothing but frees."""
    done = recorded([program("late")], directory, options=["--depth", "0"])
    found = json.loads(gnomon("report", done.trace, "--json",
                              "--sizes").out)["sizes"]
    row, = [row for row in found if row["min"] <= 3000 <= row["max"]]
    check(row["count"] >= 100, "count")
    equal([row["live_blocks"], row["live_bytes"]], [0, 0], "live")


main()
