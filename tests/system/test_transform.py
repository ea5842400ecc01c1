#!/usr/bin/env python3
"""Commands that make traces from traces: repack, strip, anonymize, extract. A
report must be the same before and after, as far as possible."""

import collections
import csv
import ctypes
import io
import json
import math
import os
import shutil
import stat
import struct
import subprocess

from gnomon_test import (CHUNK_SIZE, GNOMON, HEADER_SIZE, RUN_SECONDS, Report,
                         case, check, chunks, equal, gnomon, main, need,
                         program, recorded, wait_begun)

SQL = ("create table t(a, b); with recursive c(x) as (values(1) union all "
       "select x + 1 from c where x < 20000) insert into t select x, "
       "hex(randomblob(20)) from c; create index i on t(b); "
       "select count(*) from t where b like 'A%';")
PYTHON = "import json; x = [json.dumps({'a': i}) for i in range(30000)]"


# Of a trace that compresses to less, the sums that stay decide how large it is.
TINY = 16384


def sqlite(directory):
    need("sqlite3")
    return recorded(["sqlite3", ":memory:", SQL], directory).trace


def python(directory):
    return recorded(["/usr/bin/python3", "-c", PYTHON], directory).trace


def threads(directory):
    return recorded([program("storm")], directory).trace


def json_report(trace, status=0):
    """The report without the name of the file."""
    done = gnomon("report", trace, "--json", "--by", "stack", "--top", "0",
                  statuses=(status,))
    document = json.loads(done.out)
    for key in ("trace", "file"):
        document.get("summary", {}).pop(key, None)
    return document


def same(one, two, what):
    """Documents that are too long to be shown."""
    equal(one["summary"], two["summary"], what)
    check(one == two, what + ": the rows differ")


def size(path):
    return os.stat(path).st_size


@case
def repacked_reports_are_the_same(directory):
    for name, record in (("sqlite", sqlite), ("python", python),
                         ("threads", threads)):
        where = os.path.join(directory, name)
        os.mkdir(where)
        trace = record(where)
        with open(trace, "rb") as file:
            before = file.read()
        out = os.path.join(directory, name + ".out")
        gnomon("repack", trace, "-o", out)
        same(json_report(out), json_report(trace), name)
        check(size(out) < size(trace), name + ": not smaller")
        equal(stat.S_IMODE(os.stat(out).st_mode), 0o600, "mode")
        with open(trace, "rb") as file:
            check(file.read() == before, name + ": the input was touched")
        again = os.path.join(directory, name + ".again")
        gnomon("repack", out, "-o", again)
        # nodes may come before events that they came behind
        equal(size(again), size(out), name + ": repacked twice")
        same(json_report(again), json_report(out), name + " repacked twice")


def by_stack(document):
    """The figures of each stack, whatever the order of the rows."""
    rows = {}
    for row in document["rows"]:
        key = json.dumps([row["stack"], row.get("stopped")])
        sums = rows.setdefault(key, {})
        for name, value in row.items():
            if isinstance(value, int):
                sums[name] = sums.get(name, 0) + value
    return rows


def same_figures(a, b, what):
    """Every figure of the summary and of each stack."""
    equal({k: v for k, v in b["summary"].items()
           if not k.startswith("left_out")},
          {k: v for k, v in a["summary"].items()
           if not k.startswith("left_out")}, what)
    check(by_stack(a) == by_stack(b), what + ": rows differ")


STRIPS = (("--lifetime", "10s"), ("--lifetime", "1ms"), ("--temporary", "0"),
          ("--temporary", "5", "--lifetime", "100us"))


class Mean(float):
    """Of floating-point sums, whose order differs; as it is shown, rounded."""

    def __eq__(self, other):
        return math.isclose(self, other, rel_tol=1e-6, abs_tol=1)


def by_size(trace):
    document = json.loads(gnomon("report", trace, "--sizes", "--json").out)
    for row in document["sizes"]:
        row["lifetime_ns"] = Mean(row["lifetime_ns"])
    return document["sizes"], document["lifetimes"]


@case
def stripped_figures_are_the_same(directory):
    """Also where blocks go from thread to thread, through realloc, and through
    signal handlers: to the last temporary block."""
    for name in ("sqlite", "storm", "crossfree", "signals", "realloc_chain"):
        where = os.path.join(directory, name)
        os.mkdir(where)
        trace = (sqlite(where) if name == "sqlite" else
                 recorded([program(name)], where).trace)
        before = json_report(trace)
        sizes = by_size(trace)
        for options in STRIPS:
            out = os.path.join(directory, "out")
            gnomon("strip", trace, "-o", out, "--force", *options)
            same_figures(before, json_report(out), name + str(options))
            equal(by_size(out), sizes, name + ": by size")
            if options == ("--lifetime", "10s"):
                repacked = os.path.join(directory, "repacked")
                gnomon("repack", trace, "-o", repacked, "--force")
                check(size(repacked) < TINY or size(out) < size(repacked),
                      name + ": not smaller")
        # What is stripped can be stripped on, and packed again.
        again = os.path.join(directory, "again")
        gnomon("strip", out, "-o", again, "--force", "--lifetime", "1h")
        same_figures(before, json_report(again), name + " twice")
        equal(by_size(again), sizes, name + ": by size, twice")
        gnomon("repack", again, "-o", out, "--force")
        same_figures(before, json_report(out), name + " and repacked")


CHAIN_FILTERS = (
    ("--chain-length-min", "3"), ("--chain-length-min", "27"),
    ("--chain-length-max", "1"), ("--chain-position-min", "2"),
    ("--chain-position-min", "18"), ("--chain-position-max", "3"),
    ("--first-size-max", "16"), ("--last-size-min", "2"),
    ("--chain-lifetime-min", "100us"), ("--fate", "chain-live"))


def chains_of(trace):
    """Figures of the chains of each stack."""
    document = json.loads(gnomon("report", trace, "--sizes", "--json", "--by",
                                 "stack", "--top", "0").out)
    found = {row["context"]: row["chains"] for row in document["rows"]
             if "chains" in row}
    for chains in found.values():
        for key in chains:
            if key.endswith("_ns"):
                chains[key] = Mean(chains[key])
    return found


def blocks_of(trace, *words):
    """What tells blocks apart."""
    table = gnomon("export", trace, "--format", "csv", "--by", "block",
                   *words).out
    return [(row["time_ns"], row["address"], row["size"])
            for row in csv.DictReader(io.StringIO(table))]


def same_chains(chains, known, selected, stripped, what):
    """`known`: blocks that no other has stamp, address and size of."""
    equal(chains_of(stripped), chains, what)
    there = set(blocks_of(stripped)) & known
    check(len(there) < len(known), what + ": nothing was left out")
    for words in CHAIN_FILTERS:
        equal(sorted(set(blocks_of(stripped, *words)) & known),
              sorted(selected[words] & there),
              "%s: blocks of %s" % (what, " ".join(words)))


@case
def chains_of_stripped_blocks_are_the_same(directory):
    """Whichever blocks of a chain were left out, and in whichever steps."""
    for name, words in (("realloc_chain", ()), ("exchange", ("5", "5000"))):
        where = os.path.join(directory, name)
        os.mkdir(where)
        whole = recorded([program(name), *words], where).trace
        chains = chains_of(whole)
        check(sum(each["count"] for each in chains.values()) >= 200, name)
        known = {block for block, count in
                 collections.Counter(blocks_of(whole)).items() if count == 1}
        selected = {words: set(blocks_of(whole, *words))
                    for words in CHAIN_FILTERS}
        before = whole
        for lifetime in ("2us", "100us", "1h"):
            out, again = (os.path.join(directory, each + lifetime)
                          for each in ("once", "again"))
            what = "%s, --lifetime %s" % (name, lifetime)
            gnomon("strip", whole, "-o", out, "-f", "--lifetime", lifetime)
            same_chains(chains, known, selected, out, what)
            gnomon("strip", before, "-o", again, "-f", "--lifetime", lifetime)
            before = again
        # one after the other, and packed again
        gnomon("repack", again, "-o", out, "-f")
        same_chains(chains, known, selected, out, name + ", in three steps")


@case
def what_cannot_be_stripped_is_refused(directory):
    trace = recorded([program("basic")], directory).trace
    out = os.path.join(directory, "out")
    done = subprocess.run(
        ["sh", "-c", 'cat "$1" | "$2" strip /dev/stdin -o "$3"', "sh", trace,
         GNOMON, out], capture_output=True, timeout=RUN_SECONDS, text=True)
    equal(done.returncode, 2, "a pipe")
    check("twice" in done.stderr, done.stderr)
    gnomon("strip", trace, "-o", out, "--lifetime", "soon", statuses=(2,))
    running = subprocess.Popen(
        [GNOMON, "run", "-q", "-o", os.path.join(directory, "live"), "--",
         program("idle_threads"), "2"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    try:
        check(b"ready" in running.stdout.readline(), "it did not start")
        wait_begun(os.path.join(directory, "live"))
        done = gnomon("strip", os.path.join(directory, "live"), "-o", out,
                      statuses=(2,))
        check("being recorded" in done.err, done.err)
        gnomon("repack", os.path.join(directory, "live"), "-o", out)
        Report(out)
    finally:
        running.communicate()


def own_program(directory, strip=False):
    """basic, where it can be moved away; its debug file beside it."""
    need("objcopy", "strip")
    mine = os.path.join(directory, "mine")
    shutil.copy(program("basic"), mine)
    if strip:
        subprocess.run(["objcopy", "--only-keep-debug", mine, mine + ".debug"],
                       check=True)
        subprocess.run(["strip", mine], check=True)
        subprocess.run(["objcopy", "--add-gnu-debuglink=" + mine + ".debug",
                        mine], check=True, cwd=directory)
    return mine


@case
def embedded_symbols_name_what_is_gone(directory):
    """Of a program with its symbols inside, and in a separate file."""
    for strip in (False, True):
        where = os.path.join(directory, str(strip))
        os.mkdir(where)
        mine = own_program(where, strip)
        trace = recorded([mine], where).trace
        before = json_report(trace)
        check(any(row for row in Report(trace).rows_with("tgt_")), "no names")
        for what in ("debug", "full"):
            out = os.path.join(where, what)
            gnomon("repack", trace, "-o", out, "--embed", what)
            again = os.path.join(where, what + ".again")
            gnomon("repack", out, "-o", again, "--embed", what)
            with open(out, "rb") as one, open(again, "rb") as two:
                check(one.read() == two.read(), what + " twice differs")
        os.rename(mine, mine + ".gone")
        if strip:
            os.rename(mine + ".debug", mine + ".debug.gone")
        for what in ("debug", "full"):
            out = os.path.join(where, what)
            same(json_report(out), before, what)
            gnomon("repack", out, "-o", out + ".none", "--embed", "none")
            check(not Report(out + ".none").rows_with("tgt_"), "still named")
            check(size(out + ".none") < size(trace), "not smaller")
        # What was embedded comes out again.
        files = os.path.join(where, "files")
        gnomon("extract", os.path.join(where, "full"), "-o", files)
        with open(files + mine, "rb") as one, open(mine + ".gone",
                                                   "rb") as two:
            check(one.read() == two.read(), "extracted differs")
        listed = json.loads(gnomon("extract", os.path.join(where, "full"),
                                   "--json").out)["files"]
        check({"debug", "full"} <= {file["kind"] for file in listed
                                    if file["path"] == mine}, str(listed))
        # The reduced file alone serves as debug file.
        done = gnomon("report", trace, "-d", files + mine + ".debug",
                      "--json")
        check("tgt_" in done.out, "the reduced file has no names")


@case
def files_are_included(directory):
    trace = recorded([program("basic")], directory).trace
    one = os.path.join(directory, "one.conf")
    with open(one, "wb") as file:
        file.write(os.urandom(5 << 20))
    with open(os.path.join(directory, "two.conf"), "wb"):
        pass
    out = os.path.join(directory, "out")
    gnomon("repack", trace, "-o", out, "--include", directory + "/*.conf")
    files = os.path.join(directory, "files")
    gnomon("extract", out, "-o", files)
    with open(files + one, "rb") as a, open(one, "rb") as b:
        check(a.read() == b.read(), "another file")
    equal(size(files + os.path.join(directory, "two.conf")), 0, "empty file")
    same(json_report(out), json_report(trace), "report")
    done = gnomon("extract", out, "-o", files, statuses=(3,))
    check("exists already" in done.err, done.err)
    gnomon("extract", out, "-o", files, "--force")
    gnomon("extract", out, "-o", files + "2", "--max-size", "1M",
           statuses=(3,))
    gnomon("repack", trace, "-o", out, "--force", "--include", "/no/such/*",
           statuses=(2,))


def everything_in(path):
    """All bytes of a trace, with what is compressed in them."""
    zstd = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress",
                 "ZSTD_getFrameContentSize"):
        getattr(zstd, name).restype = ctypes.c_size_t
    with open(path, "rb") as file:
        data = file.read()
    texts, at = [data], data.find(b"\x28\xb5\x2f\xfd")
    while at >= 0:
        frame = data[at:]
        length = zstd.ZSTD_findFrameCompressedSize(
            frame, ctypes.c_size_t(len(frame)))
        raw = zstd.ZSTD_getFrameContentSize(
            frame, ctypes.c_size_t(len(frame)))
        if 0 < length <= len(frame) and raw <= 16 << 20:
            room = ctypes.create_string_buffer(raw + 1)
            got = zstd.ZSTD_decompress(room, ctypes.c_size_t(raw), frame,
                                       ctypes.c_size_t(length))
            if got == raw:
                texts.append(room.raw[:raw])
        at = data.find(b"\x28\xb5\x2f\xfd", at + 1)
    check(len(texts) > 5, "nothing was decompressed")
    return b"\n".join(texts)


NAMES = (b"sqlite", b"randomblob", b"/usr/", b"x86_64-linux", b"libreadline",
         b"gnomon-test")


@case
def no_name_is_left(directory):
    trace = sqlite(directory)
    with_files = os.path.join(directory, "with files")
    gnomon("repack", trace, "-o", with_files, "--embed", "debug",
           "--include", "/etc/passwd")
    out = os.path.join(directory, "out")
    gnomon("anonymize", with_files, "-o", out)
    before, after = everything_in(with_files), everything_in(out)
    host = os.uname().nodename.encode()
    for name in NAMES + ((host,) if len(host) >= 6 else ()):
        check(name in before, "%r was not there" % name)
        check(name not in after, "%r is still there" % name)
    # What is not a name is as it was.
    one, two = json_report(trace), json_report(out)
    for key in ("program", "command"):
        check(one["summary"].pop(key) != two["summary"].pop(key), key)
    equal(two["summary"], one["summary"], "summary")
    addresses = [sorted([frame["address"] for frame in row["stack"]
                         if not frame["inlined"]] + [row["total_bytes"]]
                        for row in document["rows"])
                 for document in (one, two)]
    check(addresses[0] == addresses[1], "stacks differ")


@case
def one_key_gives_the_same_names(directory):
    traces = []
    for number in ("1", "2"):
        where = os.path.join(directory, number)
        os.mkdir(where)
        traces.append(python(where))
    key = os.path.join(directory, "key")
    with open(key, "w") as file:
        file.write("secret")
    programs = []
    for trace, options in ((traces[0], ("--key", "secret")),
                           (traces[1], ("--key-file", key)),
                           (traces[1], ("--key", "other")),
                           (traces[1], ()), (traces[1], ())):
        out = os.path.join(directory, "out")
        gnomon("anonymize", trace, "-o", out, "--force", *options)
        information = json.loads(gnomon("info", out, "--json").out)
        programs.append((information["info"]["exe"],
                         tuple(sorted(image["path"] + image["build_id"]
                                      for image in information["images"]))))
    equal(programs[0], programs[1], "names of one key")
    equal(len(set(programs)), 4, "different names")
    gnomon("anonymize", traces[0], "-o", out, "--force", "--keep-build-ids")
    ids = [[image["build_id"] for image in
            json.loads(gnomon("info", path, "--json").out)["images"]]
           for path in (traces[0], out)]
    equal(ids[0], ids[1], "build-ids that were to be kept")
    gnomon("anonymize", traces[0], "-o", out, "--force", "--key-file",
           os.path.join(directory, "none"), statuses=(2,))


@case
def a_key_file_holds_one_key(directory):
    trace = recorded([program("basic")], directory).trace
    out, key = (os.path.join(directory, name) for name in ("out", "key"))

    def name(*options):
        gnomon("anonymize", trace, "-o", out, "--force", *options)
        return json.loads(gnomon("info", out, "--json").out)["info"]["exe"]

    def named(text):
        with open(key, "w", encoding="ascii") as file:
            file.write(text)
        return name("--key-file", key)

    secret, longest = name("--key", "secret"), "k" * 4096
    equal(named("secret"), secret, "without a newline")
    equal(named("secret\n"), secret, "with a newline")
    check(named("secret\n\n") != secret, "two newlines")
    equal(named(longest + "\n"), name("--key", longest), "the longest")
    for text, said in ((longest + "k", "longer than 4096 bytes"),
                       (longest + "k\n", "longer than 4096 bytes"),
                       (longest + "\n\n", "longer than 4096 bytes"),
                       (longest * 3, "longer than 4096 bytes"),
                       ("", "has no key"), ("\n", "has no key")):
        with open(key, "w", encoding="ascii") as file:
            file.write(text)
        done = gnomon("anonymize", trace, "-o", out, "--force", "--key-file",
                      key, statuses=(2,))
        check(said in done.err, done.err)
    done = gnomon("anonymize", trace, "-o", out, "--force", "--key-file", key,
                  "--key", "k", statuses=(2,))
    check("--key --key-file: leave out one" in done.err, done.err)


@case
def what_is_not_extracted_needs_no_options(directory):
    trace = recorded([program("basic")], directory).trace
    for options in (["--force"], ["--max-size", "1M"]):
        done = gnomon("extract", trace, *options, statuses=(2,))
        equal(done.err.strip(), "gnomon: %s: needs --output: add it" %
              options[0], "message")


@case
def anonymized_traces_say_so(directory):
    trace = recorded([program("wordy")], directory).trace
    out, kept = trace + ".x", trace + ".y"
    gnomon("anonymize", trace, "-o", out)
    gnomon("anonymize", trace, "-o", kept, "--keep-build-ids")
    again = out + ".z"
    gnomon("anonymize", out, "-o", again)
    for path in (out, again):
        done = gnomon("report", path)
        equal(done.err, "", "messages about files")
        equal(done.out.count("function names were removed"), 1, path)
        check("-d PATH" not in done.out, "asks for files")
        info = gnomon("info", path)
        equal(info.err, "", "messages of info")
        check("names were removed" in info.out, info.out[:600])
        facts = json.loads(gnomon("info", "--json", path).out)["info"]
        equal(facts["anonymized"], "names and build-ids", "INFO")
    done = gnomon("report", kept, "-d", program("wordy"))
    check("grow_by_realloc" in done.out, "names by build-id")
    check("names were removed" in done.out, "it is said all the same")
    check("names were removed" not in gnomon("report", trace).out, "a genuine one")


@case
def strip_without_gain_is_reported(directory):
    """Few blocks in many places: their totals take more than they do."""
    need("perl")
    trace = recorded(["perl", "-e", "my %h; $h{$_} = 'x' x ($_ % 50) for "
                      "1..300; delete $h{$_} for 1..200"], directory).trace
    out = os.path.join(directory, "out")
    small = os.path.join(directory, "small")
    gnomon("repack", trace, "-o", small)
    done = gnomon("strip", small, "-o", out, "--lifetime", "1us")
    equal("nothing to gain" in done.err, size(out) >= size(small), done.err)
    check(size(out) >= size(small), "it was no such trace")


@case
def standard_output_is_refused(directory):
    trace = recorded([program("wordy")], directory).trace
    for command in ("repack", "strip", "anonymize"):
        done = gnomon(command, trace, "-o", "-", statuses=(2,), cwd=directory)
        check("./-" in done.err, done.err)
        check(not os.path.exists(os.path.join(directory, "-")), command)
    done = gnomon("report", trace, "-o", "-", cwd=directory)
    check("\n  allocations  " in done.out, "a report to standard output")


@case
def levels_make_it_smaller(directory):
    trace = sqlite(directory)
    sizes = []
    for level in ("1", "6", "19"):
        out = os.path.join(directory, level)
        gnomon("repack", trace, "-o", out, "--level", level)
        sizes.append(size(out))
    check(sizes[0] > sizes[2] and sizes[1] >= sizes[2], "sizes %s" % sizes)


@case
def nothing_is_overwritten(directory):
    trace = recorded([program("basic")], directory).trace
    out = os.path.join(directory, "out")
    with open(out, "w") as file:
        file.write("precious")
    for command in ("repack", "strip", "anonymize"):
        done = gnomon(command, trace, "-o", out, statuses=(2,))
        check("--force" in done.err, "no remedy: " + done.err)
        with open(out) as file:
            equal(file.read(), "precious", "the file that was there")
        done = gnomon(command, trace, "-o", trace, "--force", statuses=(2,))
        check("the input trace" in done.err, done.err)
        link = os.path.join(directory, "link")
        os.symlink(trace, link)
        gnomon(command, trace, "-o", link, "--force", statuses=(2,))
        os.unlink(link)
        gnomon(command, trace, statuses=(2,))
        gnomon(command, trace, "-o", "/dev/null", "--force", statuses=(2,))
        gnomon(command, trace, "-o", os.path.join(directory, "no/such"),
               statuses=(2,))
        gnomon(command, trace, "-o", out, "--force")
        Report(out)
        with open(out, "w") as file:
            file.write("precious")
    equal(sorted(os.listdir(directory)),
          sorted(["out", os.path.basename(trace)]), "what is left")


@case
def damage_is_passed_on(directory):
    """Torn, a chunk gone, a chunk damaged: the rest is kept, the status is 3,
    and whoever reads the result learns that something is missing."""
    trace = sqlite(directory)
    with open(trace, "rb") as file:
        whole = file.read()
    places = list(chunks(whole))
    events = [(at, length) for at, kind, length in places if kind == 5]
    middle, length = events[len(events) // 2]
    broken = {
        "torn": whole[:middle + length // 2],
        "gone": whole[:middle] + whole[middle + length:],
        "flipped": whole[:middle + CHUNK_SIZE + 9] + b"\xa5" +
                   whole[middle + CHUNK_SIZE + 10:],
    }
    for name, data in broken.items():
        bad = os.path.join(directory, name)
        out = os.path.join(directory, name + ".out")
        with open(bad, "wb") as file:
            file.write(data)
        done = gnomon("repack", bad, "-o", out, statuses=(3,))
        check(done.err.count("gnomon: ") >= 2, name + ": " + done.err)
        one, two = json_report(out, 3), json_report(bad, 3)
        for document in (one, two):  # how it shows may differ
            lost = (document["summary"].pop("damaged"),
                    document["summary"].pop("lost_bytes"))
            document["coverage"].pop("lost")
            check(name == "torn" or any(lost), name + " is not seen")
        same(one, two, name)
    empty = os.path.join(directory, "empty")
    with open(empty, "wb") as file:
        file.write(whole[:HEADER_SIZE])
    gnomon("repack", empty, "-o", os.path.join(directory, "e"), statuses=(2,))
    gnomon("repack", os.path.join(directory, "none"), "-o",
           os.path.join(directory, "e"), statuses=(2,))
    check(not os.path.exists(os.path.join(directory, "e")), "an empty result")


@case
def a_pipe_is_repacked(directory):
    trace = recorded([program("basic")], directory).trace
    out = os.path.join(directory, "out")
    done = subprocess.run(
        ["sh", "-c", 'cat "$1" | "$2" repack /dev/stdin -o "$3"', "sh", trace,
         GNOMON, out], capture_output=True, timeout=RUN_SECONDS)
    equal(done.returncode, 0, done.stderr)
    same(json_report(out), json_report(trace), "through a pipe")


@case
def a_full_disk_leaves_nothing(directory):
    trace = sqlite(directory)
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$1" repack "$2" -o "$3"',
         "sh", GNOMON, trace, os.path.join(directory, "out")],
        capture_output=True, timeout=RUN_SECONDS, text=True)
    equal(done.returncode, 2, "status")
    check("cannot be written" in done.stderr, done.stderr)
    equal(os.listdir(directory), [os.path.basename(trace)], "what is left")


if __name__ == "__main__":
    main()
