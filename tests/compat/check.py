#!/usr/bin/python3
"""Runs real programs bare and recorded, and says which are not what they were.

usage: check.py [-p PATTERN] [--results FILE] [--document FILE]

Each program runs at least twice bare, which teaches what differs from run to
run, and twice under `gnomon run`; sameness.py compares, figures.py reads the
traces, document.py writes what came of it. Results are kept in a file, so that
some programs can be run again and the document be written of all.

Ends with 1 if a program was harmed: another status or output, events dropped
or without their counterpart, stacks cut off without a reason that is known.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
sys.dont_write_bytecode = True

from catalogue import catalogue
from document import write_document
from figures import read_traces
from place import BARE, COUNTED, RECORDED, Broken, Place
from sameness import LEVELS, Judgement
import shells
import languages
import media
import terminals
import servers

PAIRS = 2			# runs bare and recorded
PAIRS_QUICK = 4			# of what takes less than:
QUICK_SECONDS = 1.0
COUNT_DIFFERENCE = 0.02		# beyond what two counts differ by
SLOW_SECONDS = 6.0		# one that takes so long is recorded once
LEARN_MORE = 3			# bare runs more, where something differs


def one_run(program, base, mode):
    """(Outcome, Figures, or counts, or None)"""
    place = Place(base, mode)
    try:
        outcome = program.work(place)
    finally:
        place.clean()
    if mode == RECORDED:
        return outcome, read_traces(place.traces)
    return outcome, place.counts() if mode == COUNTED else None


def run_all(program, base):
    """Lists of the outcomes, and what the traces of the last run say."""
    bare, recorded, figures = [], [], None
    number, pairs = 0, PAIRS
    while number < pairs:
        begin = time.monotonic()
        bare.append(one_run(program, base, BARE)[0])
        took = time.monotonic() - begin
        if number == 0 and program.timed and took < QUICK_SECONDS:
            pairs = PAIRS_QUICK
        if number == 0 or took < SLOW_SECONDS:
            done, figures = one_run(program, base, RECORDED)
            recorded.append(done)
        number += 1
    return bare, recorded, figures


def counted(program, base, figures):
    """How far the allocations recorded are from what an independent counter
    counts of the same work, as a share; None where that says nothing."""
    if not program.countable or not figures.allocations:
        return None
    best = None
    for _ in range(2):
        count = one_run(program, base, COUNTED)[1][0]
        off = (figures.allocations - count) / max(count, 1)
        if best is None or abs(off) < abs(best):
            best = off
        if abs(best) < COUNT_DIFFERENCE / 10:
            break
    return best


def slow_down(bare, recorded):
    """By rates of the load where there are, else by time."""
    rates = [[run.rate for run in runs if run.rate]
             for runs in (bare, recorded)]
    if all(rates):
        return max(rates[0]) / max(rates[1])
    times = [[run.seconds for run in runs if run.seconds]
             for runs in (bare, recorded)]
    return min(times[1]) / min(times[0]) if all(times) else None


def version_of(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                          capture_output=True, text=True)
    version = done.stdout.split(":")[-1]
    return version.rsplit("-", 1)[0].split("+")[0] if version else "?"


def harms(program, judgement, figures, off):
    """Sentences about what is not as it should be."""
    found = judgement.differences + figures.wrong
    if off is not None and abs(off) > COUNT_DIFFERENCE:
        found.append("allocations are %.2f %% off an independent count" % (
            100 * off))
    if figures.dropped:
        found.append("%d events dropped" % figures.dropped)
    if figures.unpaired > program.unpaired * figures.events:
        found.append("%d events without their counterpart" % figures.unpaired)
    if not figures.allocations:
        found.append("no allocation was recorded")
    if figures.share() < program.stacks:
        found.append("%.2f %% of stacks whole: ends %s" % (
            100 * figures.share(), figures.ends))
    return found


def take_out_known(program, recorded):
    """What is known to differ, out of what recorded runs wrote; the sentence
    about it, if something was found."""
    if not program.known:
        return ""
    pattern, instead, sentence = program.known
    found = 0
    for run in recorded:
        run.out, count = re.subn(pattern, instead, run.out)
        found += count
    return sentence if found else ""


def examine(program, base):
    """The row of this program: a dictionary for JSON."""
    bare, recorded, figures = run_all(program, base)
    known = take_out_known(program, recorded)
    judgement = Judgement(bare, recorded, program.least)
    if judgement.differences:
        bare += [one_run(program, base, BARE)[0] for _ in range(LEARN_MORE)]
        judgement = Judgement(bare, recorded, program.least)
    ratio = slow_down(bare, recorded) if program.timed else None
    off = counted(program, base, figures)
    return {
        "known": known, "off": off, "harms": harms(program, judgement, figures, off),
        "status": bare[0].status, "level": LEVELS[judgement.level][0],
        "processes": figures.processes, "events": figures.events,
        "allocations": figures.allocations, "frees": figures.frees,
        "live_blocks": figures.live_blocks, "unpaired": figures.unpaired,
        "inherited": figures.inherited, "dropped": figures.dropped,
        "repaired": figures.repaired, "peak_bytes": figures.peak_bytes,
        "total_bytes": figures.total_bytes, "slow_down": ratio,
        "seconds": min((run.seconds for run in bare if run.seconds),
                       default=None),
        "trace_bytes": figures.trace_bytes, "whole": figures.share(),
        "jit": figures.jit, "stacks": figures.stacks,
        "ends": {str(key): value for key, value in figures.ends.items()}}


def row_of(program):
    row = {"name": program.name, "group": program.group,
           "load": program.load, "note": program.note,
           "version": version_of(program.package)}
    missing = program.missing()
    if missing:
        row["missing"] = missing
        return row
    base = tempfile.mkdtemp(prefix="gnomon-compat.")
    os.chmod(base, 0o755)
    try:
        row.update(examine(program, base))
    except Broken as broken:
        row["harms"] = ["the work failed: %s" % broken]
    except Exception:
        row["harms"] = [traceback.format_exc()]
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return row


def say(row, took):
    if "missing" in row:
        print("  left out  %s: no %s" % (row["name"],
                                        ", ".join(row["missing"])))
    elif row["harms"]:
        print("  HARMED    %s (%.0f s)" % (row["name"], took))
        for harm in row["harms"]:
            print("            " + harm.replace("\n", "\n            "))
    else:
        ratio = row["slow_down"]
        print("  ok        %s: %s, %d processes, %d events, %.2f %% whole%s"
              "%s (%.0f s)" % (
                  row["name"], row["level"], row["processes"], row["events"],
                  100 * row["whole"], ", %.2fx" % ratio if ratio else "",
                  ", %+.4f %% off" % (100 * row["off"])
                  if row["off"] is not None else "", took))
    sys.stdout.flush()


def load_results(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def keep(path, row):
    """Among the results of others, which another run may have changed."""
    results = load_results(path)
    results[row["name"]] = row
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", default="")
    parser.add_argument("--results", required=True)
    parser.add_argument("--document")
    options = parser.parse_args()
    harmed = ran = left_out = 0
    for program in catalogue:
        if options.p not in program.group + ": " + program.name:
            continue
        begin = time.monotonic()
        row = row_of(program)
        say(row, time.monotonic() - begin)
        keep(options.results, row)
        left_out += "missing" in row
        harmed += bool(row.get("harms"))
        ran += "missing" not in row
    results = load_results(options.results)
    rows = [results.get(program.name) for program in catalogue]
    if options.document and all(rows):
        write_document(options.document, rows)
    print("%d passed, %d failed%s" % (
        ran - harmed, harmed, ", %d skipped" % left_out if left_out else ""))
    return 1 if harmed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
