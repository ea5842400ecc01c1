#!/usr/bin/python3
# TIMEOUT: 120
"""`gnomon export --format replay`, replayed by bench/replay_player.c with
several allocators."""

import ctypes.util
import json
import os
import random
import subprocess

from exported import (PROGRAMS, being_written, with_nothing)
from exported import directory as shared
from exported import exported, summary, trace
from gnomon_test import (RUN_SECONDS, bare, case, check, environment, equal,
                         gnomon, main, need)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
REPLAY = os.path.join(shared.name, "replay")
KEYS = ("allocations", "frees", "total_bytes", "live_bytes", "live_blocks",
        "peak_bytes")


def built():
    """The player, as `make bench` builds it, but with all warnings."""
    if not os.path.exists(REPLAY):
        sources = [os.path.join(ROOT, "bench", name) for name in
                   ("replay_player.c", "replay_input.c", "replay_resident.c")]
        done = bare([os.environ.get("CC") or "gcc", "-std=gnu11", "-O2", "-g",
                     "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
                     "-I" + ROOT, "-o", REPLAY, *sources, "-lpthread"])
        equal(done.status, 0, done.err)
    return REPLAY


def replayed(path, *words, **changes):
    done = bare([built(), "--json", *words, path], environment(**changes))
    equal((done.status, done.err), (0, ""), "%s %s" % (words, path))
    return json.loads(done.out)


def export(name, directory, *words, ending=""):
    return exported(trace(name), "replay", *words,
                    output=os.path.join(directory, name + ending))


def compare(path, said, *words, keys=KEYS, **changes):
    got = replayed(path, *words, **changes)
    equal([got[key] for key in keys], [said[key] for key in keys],
          "%s of %s" % (keys, path))
    equal(got["lost"], 0, "blocks that were lost")
    return got


@case
def counts_are_those_of_the_report(directory):
    for name in PROGRAMS:
        said = summary(trace(name))
        path = export(name, directory)
        got = compare(path, said)
        equal(got["threads"], said["threads"], name + ": threads")
        check(got["recorded_ns"] <= said["duration_ns"] <
              got["recorded_ns"] + 1e9, "time: %s" % got["recorded_ns"])
        check(got["elapsed_ns"] > 0 and
              got["resident_peak_bytes"] >= said["peak_bytes"] / 2,
              "what was measured: %s" % got)
        compare(path, said, "--check")


@case
def reallocs_are_one_operation(directory):
    """As many as the report has of blocks that came from one."""
    report = json.loads(gnomon("report", trace("python3"), "--json", "--sizes",
                               "--top", "1").out)
    got = replayed(export("python3", directory), "--check")
    chains = report["chains"]
    equal(got["reallocs"], chains["blocks"] - chains["count"], "reallocs")


@case
def with_other_allocators(directory):
    said = summary(trace("python3"))
    path = export("python3", directory)
    for name in ("jemalloc", "tcmalloc_minimal", "mimalloc"):
        library = ctypes.util.find_library(name)
        if library is None:
            continue
        got = compare(path, said, "--touch", "all", LD_PRELOAD=library)
        check(got["resident_peak_bytes"] >= said["peak_bytes"],
              "%s: %s" % (name, got))


@case
def by_threads(directory):
    said = summary(trace("many_names"))
    path = export("many_names", directory)
    got = compare(path, said, "--threads")
    check(got["threads"] == 4 and got["handed_over"] >= 3, str(got))
    equal(got["handed_over"], replayed(path)["handed_over"], "hand-overs")


@case
def not_faster_than_it_was(directory):
    path = export("many_names", directory)
    got = replayed(path, "--pace")
    check(got["elapsed_ns"] >= got["recorded_ns"] > 0, str(got))


@case
def filters_hold(directory):
    """A realloc of which one side is left out is a free, or an allocation."""
    some = KEYS[:-1]
    for name, words, keys in (
            ("sqlite3", ("--function", "sqlite3_step"), some),
            ("python3", ("--size-min", "1k"), some),
            ("python3", ("--to", "50%"), some),
            ("cc1plus", ("--size-max", "100"), some),
            ("many_names", ("--lifetime-max", "10s"), some)):
        said = summary(trace(name), *words)
        check(said["allocations"] > 0, "%s: nothing passes" % name)
        compare(export(name, directory, *words), said, keys=keys)
    said = summary(trace("cc1plus"), "--alive-at", "50%")
    got = compare(export("cc1plus", directory, "--alive-at", "50%"), said,
                  keys=("allocations", "total_bytes", "live_bytes"))
    equal(got["frees"], 0, "frees at a moment")


@case
def packed_ones_come_through_a_pipe(directory):
    said = summary(trace("sqlite3"))
    for ending, tool in ((".zst", "zstd"), (".gz", "gzip")):
        need(tool)
        path = export("sqlite3", directory, ending=ending)
        done = bare([built(), path], environment())
        equal(done.status, 1, path)
        check(tool + " -dc" in done.err, done.err)
        unpack = subprocess.Popen([tool, "-dc", path], stdout=subprocess.PIPE)
        done = subprocess.run([built(), "--json", "-"], stdin=unpack.stdout,
                              capture_output=True,
                              timeout=RUN_SECONDS, check=True)
        unpack.stdout.close()
        equal(unpack.wait(timeout=RUN_SECONDS), 0, tool)
        equal(json.loads(done.stdout)["allocations"], said["allocations"],
              "through " + tool)


# ---- streams that are not as they should be ----

MAGIC = b"\x89GNR\r\n\x1a\n\x01"
END, ALLOC, FREE, REALLOC, LOST, THREAD, TIME = range(7)


def refused(stream, what, *words):
    done = subprocess.run([built(), *words, "-"], input=stream,
                          capture_output=True,
                          timeout=RUN_SECONDS, check=False)
    equal(done.returncode, 1, "%s: %s" % (what, done.stderr))
    check(what in done.stderr.decode(), "%s: %s" % (what, done.stderr))


@case
def damaged_streams_are_refused(directory):
    huge = b"\xff" * 9 + b"\x01"
    for stream, what in (
            (b"", "cut off"),
            (b"something else", "is no replay stream"),
            (MAGIC[:-1] + b"\x09", "has version 9"),
            (MAGIC, "cut off"),
            (MAGIC + bytes([ALLOC, 0]), "cut off"),
            (MAGIC + bytes([77]), "operation 77 is not known"),
            (MAGIC + bytes([FREE, 0]), "in which there is no block"),
            (MAGIC + bytes([REALLOC, 3, 9]), "in which there is no block"),
            (MAGIC + bytes([LOST, 0]), "in which there is no block"),
            (MAGIC + bytes([ALLOC, 1, 9]), "slot 1 is beyond the next"),
            (MAGIC + bytes([ALLOC, 0, 9] * 2), "slot 0 has a block already"),
            (MAGIC + bytes([ALLOC, 0, 9, FREE, 0, FREE, 0]), "no block"),
            (MAGIC + bytes([ALLOC]) + b"\xff" * 10, "more than 64 bits"),
            (MAGIC + bytes([THREAD, 5]), "thread 5 is beyond the next"),
            (MAGIC + bytes([TIME]) + huge, "beyond all clocks"),
            (MAGIC + bytes([ALLOC, 0]) + huge, "over the limit"),
            (MAGIC + bytes([ALLOC, 0, 9, END, 2]), "says 2 allocations, its "
             "operations were 1"),
            (MAGIC + bytes([END] + [0] * 9 + [1]), "something follows")):
        refused(stream, what)
    refused(MAGIC + bytes([ALLOC, 0]) + huge, "no memory", "--touch", "none")
    refused(MAGIC + bytes([ALLOC, 0]) + huge + bytes([ALLOC, 1, 9]),
            "more than 64 bits", "--check")
    refused(MAGIC + b"".join(bytes([THREAD]) + bytes(
        [n & 127 | 128, n >> 7] if n > 127 else [n]) for n in range(1, 1100)),
        "more than 1024 threads", "--threads")


@case
def damage_at_random_is_survived(directory):
    with open(export("many_names", directory), "rb") as file:
        whole = file.read()
    dice = random.Random(6)
    for _ in range(60):
        broken = bytearray(whole)
        broken[dice.randrange(len(MAGIC), len(whole))] = dice.randrange(256)
        for words in (["--check"], ["--threads", "--limit", "100000000"]):
            done = subprocess.run([built(), *words, "-"], input=broken,
                                  capture_output=True, timeout=RUN_SECONDS,
                                  check=False)
            check(done.returncode in (0, 1), "status %d: %s" %
                  (done.returncode, done.stderr))


@case
def a_trace_that_is_still_written(directory):
    with being_written(directory) as written_now:
        path = exported(written_now, "replay",
                        output=os.path.join(directory, "out"))
        said = summary(written_now)
        check(said["allocations"] > 0, "it has allocated")
        compare(path, said)


@case
def traces_with_nothing_in_them(directory):
    for path, words in with_nothing(directory):
        path = exported(path, "replay", *words, statuses=(0, 3),
                        output=os.path.join(directory, "out"))
        equal([replayed(path)[key] for key in KEYS], [0] * len(KEYS), "counts")


main()
