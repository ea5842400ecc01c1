#!/usr/bin/python3
# TIMEOUT: 300
"""A port: every command that reads traces reads those of the target, and they all
say what the program counted. Names come from the program's file and, of the C
library, from a sysroot. Traces of two architectures are compared and summed up.
"""

import gzip
import tempfile

from port import *

WORD = {"arm": 4}.get(ARCH, 8)
ORDER = "big" if ARCH == "mips64" else "little"
FORMATS = ("pprof", "collapsed", "speedscope", "heaptrack", "replay", "json",
           "ndjson", "csv", "dhat", "massif", "callgrind", "firefox")
# Formats that have no names.
NAMELESS = ("replay", "massif")
BY = ("stack", "site", "function", "file", "line", "library",
      "within-function", "within-file", "within-library", "thread", "size",
      "size-class", "lifetime-class", "arena", "mapping", "heap", "block")
# Where rows share blocks, or are some of them, they do not add up.
SHARED = ("within-function", "within-file", "within-library", "block")
FORMS = (["--tree", "top-down"], ["--tree", "bottom-up"], ["--sizes"],
         ["--pages"], ["--timeline"], ["--csv"], ["--explain"],
         ["--sort", "own-peak"], ["--alive-at", "50%"], ["--index"])
SYSROOT = ["--sysroot", EMULATOR[EMULATOR.index("-L") + 1]] \
    if "-L" in EMULATOR else []

shared = tempfile.TemporaryDirectory(prefix="gnomon-commands-")
made = {}


def of_basic():
    """The program's numbers and its trace, recorded once."""
    if not made:
        done = recorded([os.path.join(TARGET_PROGRAMS, "basic")], shared.name,
                        by="preload", env=environment(GNOMON_EMBED="debug"))
        equal(done.status, 0, "status, stderr: " + done.err)
        made["it"] = done.expected, done.trace
    return made["it"]


def read(*arguments, **more):
    return gnomon(*arguments, *SYSROOT, **more)


def document(*arguments, **more):
    return json.loads(read(*arguments, "--json", **more).out)


def same_figures(expected, trace, what):
    """The summary of a program that allocates nothing but by itself."""
    summary = document("report", trace, "--top", "1")["summary"]
    for key, value in expected.items():
        equal(summary[key], value, "%s: %s" % (what, key))
    return summary


@case
def reports_of_all_shapes(directory):
    expected, trace = of_basic()
    same_figures(expected, trace, "report")
    for by in BY:
        rows = document("report", trace, "--by", by, "--top", "0")["rows"]
        check(rows, "no rows by " + by)
        if by not in SHARED:
            equal(sum(row["count"] for row in rows), expected["allocations"],
                  "allocations by " + by)
        read("report", trace, "--by", by)
    for form in FORMS:
        check(read("report", trace, *form).out, "nothing of %s" % form)
    blocks = document("report", trace, "--by", "block", "--top", "0")["rows"]
    equal(len(blocks), expected["live_blocks"], "blocks")
    for block in blocks:
        check(0 < block["address"] < 1 << 8 * min(WORD, 6),
              "an address: %s" % block)


@case
def names_of_all_files(directory):
    """Of the program, and of the C library by the sysroot's folder, wherever
    the target had it."""
    _, trace = of_basic()
    rows = document("report", trace, "--top", "0")["rows"]
    frames = [frame for row in rows for frame in row["stack"]]
    names = {frame["function"] for frame in frames}
    check({"main", "make", "tgt_malloc", "churn"} <= names, names)
    check(any("libc_start" in (name or "") for name in names) or
          ARCH == "arm", "no function of the C library: %s" % names)
    lines = {frame["file"] for frame in frames if frame["function"] == "make"}
    check(all((line or "").endswith("basic.c") for line in lines), lines)


@case
def info_tells_what_it_was(directory):
    expected, trace = of_basic()
    got = document("info", trace)["info"]
    for key, value in (("arch", ARCH), ("word_bytes", str(WORD)),
                       ("byte_order", ORDER)):
        equal(str(got[key]), value, key)
    text = read("info", trace, "--sizes").out
    check("basic" in text and ARCH in text, text)


@case
def exports_to_all_formats(directory):
    expected, trace = of_basic()
    for form in FORMATS:
        output = os.path.join(directory, form)
        read("export", "--format", form, "--cost", "count", trace, "-o",
             output)
        with open(output, "rb") as file:
            data = file.read()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        check(len(data) > 100, "%s: %r" % (form, data))
        check(form in NAMELESS or b"tgt_malloc" in data,
              form + ": no names")
    with open(os.path.join(directory, "collapsed"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
          expected["allocations"], "collapsed: allocations")
    with open(os.path.join(directory, "heaptrack"), encoding="utf-8") as file:
        events = [line[0] for line in file.read().splitlines() if line]
    equal((events.count("+"), events.count("-")),
          (expected["allocations"], expected["frees"]), "heaptrack: events")
    blocks = read("export", "--format", "csv", "--by", "block", trace).out
    equal(len(blocks.splitlines()) - 1, expected["allocations"],
          "csv: blocks")


@case
def sql_has_the_same_figures(directory):
    expected, trace = of_basic()
    done = read("sql", trace, "--csv", "SELECT count(*), sum(size), "
                "max(address), min(address) FROM blocks")
    count, total, last, first = map(int, done.out.split()[-1].split(","))
    equal((count, total), (expected["allocations"], expected["total_bytes"]),
          "blocks of SQL")
    check(0 < first <= last < 1 << 8 * min(WORD, 6), done.out)
    done = read("sql", trace, "--csv", "SELECT count(*) FROM frames "
                "WHERE function = 'tgt_malloc'")
    check(int(done.out.split()[-1]) > 0, done.out)


@case
def checks_hold_and_fail(directory):
    expected, trace = of_basic()
    live, peak = expected["live_bytes"], expected["peak_bytes"]
    read("check", trace, "--max-live", str(live), "--max-peak", str(peak),
         "--max-count", str(expected["allocations"]))
    for option, limit in (("--max-live", live), ("--max-peak", peak),
                          ("--max-temporary", expected["temporary"])):
        read("check", trace, option, str(limit - 1), statuses=(1,))
    read("check", trace, "--baseline", trace, "--max-growth", "0%")


@case
def rules_that_the_program_has(directory):
    """Told from its code: a function returns their text."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "leaky_own")], directory,
                    by="preload")
    equal(done.status, 0, "status, stderr: " + done.err)
    got = document("check", done.trace, "--max-live", "0",
                   "--disable-builtin-suppressions", statuses=(1,))
    used = [(rule["rule"], rule["blocks"]) for rule in got["suppressions"]]
    equal(used, [("tgt_buffer", 3)], "rules")


@case
def pictures_of_all_kinds(directory):
    _, trace = of_basic()
    for command in "flamegraph", "graph":
        for suffix in "svg", "html":
            output = os.path.join(directory, command + "." + suffix)
            read(command, trace, "-o", output)
            with open(output, encoding="utf-8") as file:
                text = file.read()
            check(len(text) > 1000, output)
            check(command == "graph" or "tgt_malloc" in text,
                  output + ": no names")


@case
def traces_made_of_it(directory):
    """By each command that writes one; what it says stays the same."""
    expected, trace = of_basic()
    for command in (["repack"], ["repack", "--embed", "debug"],
                    ["repack", "--embed", "none"], ["anonymize"], ["strip"]):
        output = os.path.join(directory, "".join(command) + ".trace")
        read(*command, trace, "-o", output) if command[0] == "repack" else \
            gnomon(*command, trace, "-o", output)
        same_figures(expected, output, " ".join(command))
    names = gnomon("report", output.replace("strip", "anonymize"),
                   "--by", "function").out
    check("tgt_malloc" not in names, "names in an anonymous one: " + names)
    files = os.path.join(directory, "files")
    gnomon("extract", trace, "-o", files)
    found = [name for _, _, names in os.walk(files) for name in names]
    check(any(name.startswith("basic") for name in found), found)


@case
def unwind_tables_of_its_program(directory):
    """Those of what the trace is of are read by the same command."""
    path = os.path.join(TARGET_PROGRAMS, "basic")
    got = json.loads(gnomon("cfi", "check", path, "--json",
                            statuses=(0, 1)).out)
    check(find_key(got, "functions") or find_key(got, "checked"), got)
    check(gnomon("cfi", "dump", path, "main").out, "no rules of main")


@case
def compared_with_this_machines(directory):
    """Functions are the same ones whatever they were compiled for, and so is
    what they allocate, as it does not depend on the size of a word."""
    expected, trace = of_basic()
    own = recorded([program("basic")], directory).trace
    if ARCH != os.uname().machine:
        check(info(own)["info"]["arch"] != ARCH, "the same architecture")
    # which lies outside of the target's root directory
    names = ("-d", program("basic"))
    for first, second in ((trace, own), (own, trace)):
        got = document("diff", first, second, "--by", "function", *names)
        equal(got["rows"], [], "differences")
    read("diff", trace, trace)
    read("diff", trace, "--from", "0%", "--to", "100%", statuses=(0, 1))
    merged = document("report", "--merge", trace, own, "--by", "function",
                      "--top", "0", *names)
    for row in merged["rows"]:
        if row.get("function") == "tgt_malloc":
            equal(row["count"], 2 * expected["allocations"], "both of them")
            break
    else:
        raise Failure("no tgt_malloc in %s" % merged["rows"])
    two = read("sql", trace, own, "--csv", "SELECT count(*) FROM blocks").out
    equal(int(two.split()[-1]), 2 * expected["allocations"], "blocks of both")


class Halves:
    """The program that waits between its halves, being recorded."""

    def __init__(self, directory):
        self.directory = directory
        argv, env = emulated(
            [os.path.join(TARGET_PROGRAMS, "halves")], environment(
                LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
                    directory, "%p.trace")))
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        self.trace = os.path.join(directory, "%d.trace" % self.process.pid)
        self.said = self.numbers()
        wait_begun(self.trace)

    def numbers(self):
        """Those of a half, of which the last is live_bytes."""
        text = b""
        while not re.search(rb"live_bytes \d+\n$", text):
            more = self.process.stdout.read(4096)
            check(more, "the program has ended: %r" % text)
            text += more
        return Done(0, text.decode(), "").expected

    def end(self):
        self.process.stdin.write(b"\n")
        self.said = self.numbers()
        self.process.stdin.close()
        equal(self.process.wait(RUN_SECONDS), 0, "status")
        settle(self.directory)


@case
def asked_while_it_runs(directory):
    """By its number and by its trace; a snapshot, a stop and a start."""
    halves = Halves(directory)
    pid = str(halves.process.pid)
    for what in halves.trace, pid:
        agree(halves.said, Report(what), "while it runs, %s: " % what)
        equal(str(info(what)["info"]["word_bytes"]), str(WORD), "word_bytes")
    gnomon("snapshot", "here", pid)
    gnomon("stop", pid)
    gnomon("start", pid)
    before = halves.said
    halves.end()
    report = Report(halves.trace)
    equal(report.sums()["allocations"],
          halves.said["allocations"] - before["allocations"],
          "allocations since the start")
    check("here" in gnomon("info", halves.trace).out, "no snapshot")
    whole = json.loads(gnomon("report", halves.trace, "--from", "start",
                              "--json").out)["summary"]
    equal(whole["allocations"], halves.said["allocations"], "all of them")
    names = [name["name"] for name in info(halves.trace)["threads"][0]["names"]]
    equal(names[-1], "by halves", "the thread's name")


@case
def killed_with_its_recorder(directory):
    """What the recorder had not written yet comes out of the live file, which
    has the words of the target."""
    halves = Halves(directory)
    recorder = recorder_of(halves.trace)
    # it writes nothing of the second half
    os.kill(recorder, signal.SIGSTOP)
    halves.process.stdin.write(b"\n")
    said = halves.numbers()
    os.kill(recorder, signal.SIGKILL)
    halves.process.kill()
    halves.process.wait()
    check(wait_for(lambda: has_ended(recorder)), "the recorder lives")
    live = re.search(rb"^live=([^\n]*)$", open(halves.trace, "rb").read(),
                     re.M)[1].decode()
    check(os.path.exists(live), "no live file was left")
    report = Report(halves.trace)
    agree(said, report, "killed: ")
    check(not os.path.exists(live), "the live file is still there")
    equal({name for row in report.rows for name in outermost(row)
           if name == "half"}, {"half"}, "names")


main()
