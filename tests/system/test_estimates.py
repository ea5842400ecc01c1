#!/usr/bin/python3
"""The recorder's own sums of a sample are estimates of all blocks: leaving
blocks out, rotating the trace or keeping only totals does not change any
measure. With one thread and the same seed, each sample has the same blocks."""

import collections
import glob
import math

from gnomon_test import *

SITES = ("small", "medium", "large", "kept")
SUMS = ("allocations", "total_bytes", "frees", "live_blocks", "live_bytes",
        "peak_blocks", "peak_bytes")
ROW = ("count", "total_bytes", "live_blocks", "live_bytes", "peak_bytes",
       "own_peak_bytes", "own_peak_blocks")
SUMS_AFTER_PEAK = [key for key in SUMS if key != "peak_blocks"]
ROW_AFTER_PEAK = [key for key in ROW if key != "peak_bytes"]


def sampled(directory, name, *options, mean="256", rounds="60000", seed="3",
            threads="1"):
    place = os.path.join(directory, name)
    os.mkdir(place)
    done = recorded([program("sampled"), threads, rounds], place,
                    options=("--sample=" + mean, *options),
                    env=environment(GNOMON_DEBUG_SEED=seed))
    equal(done.status, 0, "status: " + done.err)
    return done


def only(directory, name):
    found = glob.glob(os.path.join(directory, name, "*.trace"))
    equal(len(found), 1, "traces")
    return found[0]


def read(trace):
    done = bare([GNOMON, "report", "--json", "--by", "stack", "--sort",
                 "total", "--top", "0", trace])
    equal((done.status, done.err), (0, ""), "report")
    return json.loads(done.out)


def rows(report, keys):
    return {tuple((frame["function"], frame["line"], frame["module_offset"])
                  for frame in row["stack"]): [row[key] for key in keys]
            for row in report["rows"]}


def close(found, wanted, most, what):
    """Whole numbers of the same sum: each may be rounded otherwise."""
    check(all(abs(a - b) <= most for a, b in zip(found, wanted)),
          "%s: %r, not %r" % (what, found, wanted))


def same(found, wanted, most=2, keys=SUMS, row_keys=ROW):
    close([found["summary"][key] for key in keys],
          [wanted["summary"][key] for key in keys], most * 8, "sums")
    for key in ("estimated", "unpaired", "dropped", "temporary"):
        equal(found["summary"][key], wanted["summary"][key], key)
    a, b = rows(found, row_keys), rows(wanted, row_keys)
    check(len(b) >= 4 and a.keys() == b.keys(), "rows: %r" % a.keys())
    for stack in b:
        close(a[stack], b[stack], most, stack[-1][0])


@case
def culled_sample_keeps_sums(directory):
    """--cull tells what the events would have told, at whatever time."""
    for mean in ("64", "4k"):
        plain = read(sampled(directory, "plain" + mean, mean=mean).trace)
        check(plain["summary"]["estimated"], "a sample")
        equal(plain["summary"]["unpaired"], 0, "unpaired")
        for age in ("1s", "200us"):
            culled = read(sampled(directory, mean + age, "--cull=" + age,
                                  mean=mean).trace)
            check(culled["summary"]["left_out_blocks"] > 20000, "left out")
            same(culled, plain)


@case
def culled_sample_equals_stripped_one(directory):
    done = sampled(directory, "plain", "--free-stacks")
    small = os.path.join(directory, "small.trace")
    stripped = bare([GNOMON, "strip", done.trace, "-o", small])
    equal(stripped.status, 0, stripped.err)
    culled = sampled(directory, "culled", "--cull", "--free-stacks")
    # strip takes whole blocks: of the largest there, some KB of bytes
    keys = ("count", "live_blocks")
    found, wanted = read(culled.trace), read(small)
    a, b = rows(found, keys), rows(wanted, keys)
    check(len(b) >= 4 and a.keys() == b.keys(), "rows")
    for stack in b:
        close(a[stack], b[stack], 2, stack[-1][0])
    for found_one in (found, wanted):
        check(found_one["summary"]["left_out_peak_exact"], "the peak is kept")
    close([found["summary"]["peak_bytes"]], [wanted["summary"]["peak_bytes"]],
          2, "peak")
    for key in ("total_bytes", "live_bytes"):
        close([found["summary"][key]], [wanted["summary"][key]], 8 << 10, key)


@case
def culled_sample_keeps_free_stacks(directory):
    plain = sampled(directory, "plain", "--free-stacks")
    culled = sampled(directory, "culled", "--cull", "--free-stacks")
    one, other = [sorted((row["blocks"], row["bytes"])
                         for row in read(done.trace)["freed_by"])
                  for done in (plain, culled)]
    check(len(one) >= 2 and len(one) == len(other), "who freed: %r" % one)
    for a, b in zip(one, other):
        close(b, a, 2, "freed")


@case
def sample_in_rotated_parts(directory):
    """The newest part tells all; each one reads alone, and none has less than
    the one before it."""
    rounds = "400000"
    plain = read(sampled(directory, "plain", rounds=rounds).trace)
    for options in (["--limit=1M"], ["--limit=1M", "--cull=1ms"]):
        done = sampled(directory, "".join(options), *options, rounds=rounds)
        newest = only(directory, "".join(options))
        found = read(newest)
        summary = found["summary"]
        if summary["left_out_peak_bytes"] > summary["peak_bytes"]:
            # it began after the peak: its bytes are told, whose they were not
            summary["peak_bytes"] = summary["left_out_peak_bytes"]
            same(found, plain, keys=SUMS_AFTER_PEAK, row_keys=ROW_AFTER_PEAK)
        else:
            same(found, plain)
        parts = sorted(glob.glob(newest + ".part*"),
                       key=lambda path: int(path.rsplit("part")[-1]))
        check(len(parts) >= 2, "parts: %r" % parts)
        before = [0] * 3
        for part in parts + [newest]:
            found = read(part)["summary"]
            equal([found["unpaired"], found["dropped"], found["estimated"]],
                  [0, 0, True], part)
            sums = [found[key] for key in SUMS[:3]]
            check(all(a < b for a, b in zip(before, sums)),
                  "%s: %r after %r" % (part, sums, before))
            before = sums
        check(done.expected["small_blocks"] < before[0] * 2, "in all")


@case
def totals_alone(directory):
    plain = read(sampled(directory, "plain").trace)["summary"]
    found = read(sampled(directory, "depth", "--depth=0").trace)["summary"]
    close([found[key] for key in SUMS], [plain[key] for key in SUMS], 2,
          "sums")


@case
def statistics(directory):
    """What --stats-every writes while it runs."""
    sampled(directory, "all", "--stats-every=10ms")
    trace = only(directory, "all")
    found = read(trace)["summary"]
    with open(trace + ".stats") as lines:
        head, *_, last = lines.read().splitlines()
    last = dict(zip(head.split()[1:], map(float, last.split())))
    for mine, theirs in (("allocations", "allocations"),
                         ("bytes", "total_bytes"), ("frees", "frees"),
                         ("live_bytes", "live_bytes"),
                         ("live_blocks", "live_blocks"),
                         ("peak_bytes", "peak_bytes")):
        close([last[mine]], [found[theirs]], 2, mine)


@case
def unbiased(directory):
    """Recordings with other samples: their mean is what the target counted."""
    sums = collections.defaultdict(list)
    for seed in range(1, 25):
        done = sampled(directory, str(seed), "--cull", mean="4k",
                       rounds="2000", seed=str(seed))
        report = Report(done.trace)
        for site in SITES:
            found = report.rows_with("site_%s$" % site)
            for key in ("count", "total_bytes"):
                sums[site, key].append(sum(row[key] for row in found))
    for (site, key), values in sums.items():
        wanted = done.expected[site + ("_blocks" if key == "count" else
                                       "_bytes")]
        mean = sum(values) / len(values)
        error = math.sqrt(sum((value - mean) ** 2 for value in values) /
                          (len(values) - 1) / len(values))
        check(abs(mean - wanted) <= 4 * error + 0.5,
              "site_%s, %s: %.1f, not %d; standard error %.1f" % (
                  site, key, mean, wanted, error))


@case
def of_threads(directory):
    """What threads end for each other, culled and in parts."""
    done = sampled(directory, "all", "--cull=1ms", "--limit=1M", threads="4",
                   rounds="100000")
    found = Report(only(directory, "all"))
    equal([found.summary[key] for key in ("unpaired", "dropped")], [0, 0],
          "unpaired, dropped")
    for site in SITES:
        wanted = done.expected[site + "_blocks"]
        count = sum(row["count"] for row in found.rows_with("site_%s$" % site))
        check(abs(count - wanted) < 6 * math.sqrt(wanted * 4) + 1,
              "site_%s: %d, not %d" % (site, count, wanted))


main()
