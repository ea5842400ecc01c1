#!/usr/bin/python3
"""Every recording option has an effect: for each row of the option table, from
which the help is made, a case here distinguishes recordings with and without
it, by the command's option and by the variable."""

import pwd

from gnomon_test import *

SQL = ["/usr/bin/sqlite3", ":memory:", "select 42;"]
PYTHON = "/usr/bin/python3"
# Allocates 100 blocks of 100 000 bytes in more than a second.
SLOW = [PYTHON, "-c", "import time\n"
        "for i in range(100): bytearray(100000); time.sleep(.012)"]
# The same, ever more slowly: for what has to happen meanwhile.
SLOWER = [[*SLOW[:2], SLOW[2].replace(".012", pause)]
          for pause in (".012", ".05", ".2", "1")]
# By malloc itself, so that no allocator of Python's own is between.
C = "import ctypes, os, signal, sys, time\nC = ctypes.CDLL(None)\n" \
    "C.malloc.restype = ctypes.c_void_p\n" \
    "C.malloc.argtypes = [ctypes.c_size_t]\n" \
    "C.free.argtypes = [ctypes.c_void_p]\n"
COMMON = {"quiet", "help", "version"}
EFFECTS = {}


def effect(function):
    EFFECTS[function.__name__.replace("_", "-")] = function
    return function


class Run:
    def __init__(self, way, directory, argv, options):
        self.directory = tempfile.mkdtemp(dir=directory)
        self.output = os.path.join(self.directory, "a.trace")
        options = dict(options)
        output = options.pop("output", self.output)
        if way == "run":
            words = ["--" + name + ("" if value is None else "=" + value)
                     for name, value in options.items()]
            argv = [GNOMON, "run", "-o", output, *words, "--", *argv]
            env = environment()
        else:
            env = environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=output, **{
                "GNOMON_" + name.upper().replace("-", "_"):
                BARE.get(name, "1") if value is None else value
                for name, value in options.items()})
        self.way = way
        self.command, self.env = argv, env

    def go(self, status=0):
        self.done = bare(self.command, self.env)
        equal(self.done.status, status, "status; stderr: " + self.done.err)
        wait_for(self.complete)
        return self

    def complete(self):
        try:
            return all(has_end(trace) for trace in self.traces()
                       if os.path.getsize(trace))
        except FileNotFoundError:
            return False  # an older part has just been removed

    def traces(self):
        return [name for name in traces_in(self.directory)
                if not name.endswith(".stats")]

    @property
    def info(self):
        return info(self.traces()[0])

    @property
    def report(self):
        return Report(self.traces()[0])

    @property
    def summary(self):
        return self.report.summary

    def chunk_count(self, kind):
        return sum(chunk["count"] for chunk in self.info["chunks"]
                   if chunk["type"] == kind)


# What a variable has where the option's value is left out.
BARE = {"report": "", "sample": "512k", "cull": "10s"}


@effect
def output(run):
    one = run(SQL, {"output": "%e-%n.trace"})
    one.command = ["env", "-C", one.directory, *one.command]
    one.env.pop("LD_PRELOAD", None)
    if one.way == "preload":
        one.command[3:3] = ["LD_PRELOAD=" + LIBRARY]
    one.go()
    check(any("-1.trace" in name or "-0.trace" in name
              for name in one.traces()), one.traces())


@effect
def force(run):
    for given in ({}, {"force": None}):
        one = run(SQL, given)
        open(one.output, "w").close()
        # What is as young as the program may be of another recording.
        time.sleep(0.1)
        one.go(0 if given or one.way == "preload" else 125)
        written = os.path.getsize(one.output) > 0
        equal(written, bool(given), "written over, with %s" % given)


@effect
def shadow_stack(run):
    for value in ("auto", "off"):
        one = run(SQL, {"shadow-stack": value}).go()
        equal(find_key(one.info, "tier_path") > 0, value == "auto", value)


@effect
def overflow(run):
    """The recorder is stopped for a while: nobody waits for it."""
    script = C + (
        "import glob, struct\n"
        "live = glob.glob('/dev/shm/gnomon-%d-*.live' % os.getpid())\n"
        "if not live: sys.exit(77)\n"
        "recorder = 0\n"    # until it has begun
        "while recorder == 0:\n"
        "    with open(live[0], 'rb') as file: header = file.read(64)\n"
        "    recorder, = struct.unpack_from('<i', header, 28)\n"
        "os.kill(recorder, signal.SIGSTOP)\n"
        "for i in range(400000): C.free(C.malloc(50))\n"
        "os.kill(recorder, signal.SIGCONT)\n")
    one = run([PYTHON, "-c", script], {"overflow": "drop", "ring": "64k"})
    one.done = bare(one.command, one.env)
    if one.done.status == 77:
        raise Skip("no live file in /dev/shm")
    equal(one.done.status, 0, one.done.err)
    wait_for(lambda: all(has_end(trace) for trace in one.traces()))
    equal(find_key(one.info, "ring_waits"), 0, "waits for the recorder")
    check(one.summary["dropped"] > 0, "nothing was dropped")


@effect
def memory(run):
    sizes = [find_key(run(SQL, {"memory": value}).go().info, "vss_bytes")
             for value in ("8M", "1G")]
    check(sizes[1] > sizes[0] + (16 << 20), sizes)


@effect
def ring(run):
    """A larger one waits less often for a busy recorder, so it is not made
    larger: what the log says of that."""
    said = []
    for value in ("4k", "4M"):
        one = run([PYTHON, "-c", "import threading\ndef f():\n" +
                   "".join("  " + line + "\n" for line in C.splitlines()) +
                   "  for i in range(60000): C.free(C.malloc(50))\n"
                   "t = threading.Thread(target=f); t.start(); t.join()"],
                  {"ring": value, "log": "debug"}).go()
        said.append(one.done.err.count("ring enlarged"))
    check(said[0] > said[1], said)


@effect
def follow(run):
    script = "/bin/true; /usr/bin/sqlite3 :memory: 'select 1;'; /bin/true"
    counts = [len(run(["/bin/sh", "-c", script], {"follow": value})
                  .go().traces()) for value in ("none", "all")]
    check(counts[0] == 1 and counts[1] >= 4, counts)


@effect
def maps(run):
    counts = [run(SQL, {"maps": value}).go().chunk_count("maps")
              for value in ("on", "off")]
    check(counts[0] > 0 and counts[1] == 0, counts)


@effect
def free_stacks(run):
    for given in ({}, {"free-stacks": None}):
        rows = run(SQL, given).go().report.rows
        equal(any(row.get("freed_by") for row in rows), bool(given), given)


@effect
def sample(run):
    for given in ({}, {"sample": "4k"}, {"sample": None}):
        equal(run(SQL, given).go().summary["estimated"], bool(given), given)


@effect
def min_size(run):
    rows = run(SQL, {"min-size": "1k"}).go().report.rows
    check(rows and all(row["total_bytes"] >= 1024 * row["count"]
                       for row in rows), "small ones")


@effect
def max_size(run):
    rows = run(SQL, {"max-size": "100"}).go().report.rows
    check(rows and all(row["total_bytes"] <= 100 * row["count"]
                       for row in rows), "large ones")


@effect
def depth(run):
    deep = [max(len([frame for frame in row["stack"]
                     if not frame.get("inlined")])
                for row in run(SQL, given).go().report.rows)
            for given in ({}, {"depth": "3"})]
    check(deep[0] > 3 >= deep[1] > 0, deep)


@effect
def live_dir(run):
    one = run(SQL, {})
    place = os.path.join(one.directory, "live")
    os.mkdir(place)
    one = run(SQL, {"live-dir": place}).go()
    check(one.info["info"]["live"].startswith(place + "/"),
          one.info["info"]["live"])


@effect
def off(run):
    equal(run(SQL, {"off": None}).go().summary["allocations"], 0, "off")


@effect
def delay(run):
    equal(run(SQL, {"delay": "1h"}).go().summary["allocations"], 0, "late")


@effect
def duration(run):
    def large(argv, **given):
        return sum(row["count"] for row in run(argv, given).go().report.rows
                   if row["total_bytes"] >= 100000 * row["count"])
    check(large(SLOW) >= 100, "all of them")
    check(any(large(argv, duration="300ms") < 90 for argv in SLOWER),
          "never stopped")


@effect
def signal_(run):
    def taken(seconds):
        one = run([PYTHON, "-c", "import os, signal, time\n"
                   "os.kill(os.getpid(), signal.SIGUSR1)\n"
                   "time.sleep(%s)" % seconds],
                  {"signal": "USR1=snapshot"}).go()
        return any(snapshot["kind"] == "asked"
                   for snapshot in one.info["snapshots"])
    check(any(map(taken, (.3, 2, 20))), "no snapshot")


EFFECTS["signal"] = EFFECTS.pop("signal-")


@effect
def snapshot_every(run):
    check(any(sum(snapshot["kind"] == "every" for snapshot in
                  run(argv, {"snapshot-every": "100ms"}).go()
                  .info["snapshots"]) >= 3 for argv in SLOWER), "snapshots")


@effect
def snapshot_at(run):
    one = run(SLOW, {"snapshot-at": "RSS=1M"}).go()
    check("RSS=1M" in [snapshot["name"]
                       for snapshot in one.info["snapshots"]], "snapshots")


@effect
def no_pools(run):
    one = run([PYTHON, "-c", "import os\nprint(os.environ['PYTHONMALLOC'])"],
              {"no-pools": None}).go()
    equal(one.done.out, "malloc\n", "variable")


@effect
def chown(run):
    need_root("give files away")
    one = run(SQL, {"chown": "daemon"}).go()
    equal(os.stat(one.traces()[0]).st_uid, pwd.getpwnam("daemon").pw_uid,
          "owner")


@effect
def embed(run):
    for value, kinds in ("none", set()), ("debug", {"debug"}), \
            ("full", {"debug", "full"}):
        one = run(SQL, {"embed": value}).go()
        check(embedded(one) <= kinds and bool(embedded(one)) == bool(kinds),
              "%s: %s" % (value, embedded(one)))
        check(value != "full" or "full" in embedded(one), embedded(one))


def embedded(one):
    return {each["kind"] for each in json.loads(
        gnomon("extract", "--json", one.traces()[0]).out)["files"]}


@effect
def include(run):
    equal(embedded(run(SQL, {"include": "/etc/host?"}).go()), {"included"},
          "kinds")


@effect
def cfi_dir(run):
    """A file that is there, and makes no sense, is named."""
    one = run(SQL, {})
    library = os.path.realpath(need_file("/lib/*/libc.so.6"))
    notes = bare(["readelf", "-n", library]).out
    name = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1) + ".cfi"
    with open(os.path.join(one.directory, name), "w", encoding="utf-8") as out:
        out.write("nothing")
    one = run(SQL, {"cfi-dir": one.directory}).go()
    check(name + ": makes no sense" in one.done.err, one.done.err)


@effect
def log(run):
    one = run(SLOW, {"log": "info"}).go()
    check("gnomon: info records: " in one.done.err, one.done.err)


def logged(run, **options):
    path = os.path.join(run(SQL, {}).directory, "log")
    for _ in range(3):
        run(SQL, {"log": "debug", "log-file": path, **options}).go()
    return path


@effect
def log_file(run):
    check("records: /usr/bin/sqlite3" in open(logged(run)).read(), "log")


@effect
def log_file_max(run):
    check(not os.path.exists(logged(run) + ".1"), "turned")
    check(os.path.exists(logged(run, **{"log-file-max": "1k"}) + ".1"),
          "not turned")


@effect
def report(run):
    check("\n  allocations  " in run(SQL, {"report": None}).go().done.err,
          "no report")


@effect
def sort(run):
    one = run(SQL, {"report": None, "sort": "count"}).go()
    check("\nCOUNT: " in one.done.err and "\nPEAK: " not in one.done.err,
          one.done.err)


@effect
def top(run):
    for count in (1, 3):
        one = run(SQL, {"report": None, "sort": "count", "top": str(count)})
        rows = re.findall(r"^ +(\d+)\. ", one.go().done.err, re.M)
        equal(rows, [str(i + 1) for i in range(count)], "rows")


@effect
def flamegraph(run):
    one = run(SQL, {"report": None, "flamegraph": None}).go()
    check(re.search(r"^\S.*;\S+ \d+$", one.done.err, re.M), one.done.err)


# Writes behind one of 10 bytes.
OVERRUN = C + "p = C.malloc(10)\nctypes.memset(p, 1, 11)\nC.free(p)"


@effect
def guard(run):
    one = run([PYTHON, "-c", OVERRUN], {"guard": "64"}).go()
    equal(find_key(one.info, "guard_damages"), 1, "damages")


def events(run, options):
    return run([program("mixed_lifetimes"), "20000"], options).go().info["events"]


@effect
def cull(run):
    check(events(run, {"cull": None}) < events(run, {}) / 2, "events")


@effect
def cull_pending(run):
    """Of few that wait, some have to be written that would be left out."""
    check(events(run, {"cull": None, "cull-pending": "64"}) >
          events(run, {"cull": None}), "events")


@effect
def limit(run):
    sizes = [sum(os.path.getsize(trace) for trace in
                 run([program("mixed_lifetimes"), "400000"], given).go().traces())
             for given in ({}, {"limit": "1M"})]
    check(sizes[1] <= (1 << 20) < sizes[0], sizes)


@effect
def stats_every(run):
    def lines(argv):
        one = run(argv, {"stats-every": "200ms"}).go()
        with open(one.traces()[0] + ".stats", encoding="utf-8") as file:
            found = file.read().splitlines()
        check(found[0].startswith("# seconds"), found)
        return found
    check(any(len(lines(argv)) >= 4 for argv in SLOWER), "lines")


@effect
def zero_memory(run):
    script = C + ("seen = 0\nfor i in range(50):\n"
                  "  p = C.malloc(200); seen |= any(ctypes.string_at(p, 200))"
                  "\n  ctypes.memset(p, 7, 200); C.free(p)\nprint(bool(seen))")
    for given in ({}, {"zero-memory": None}):
        equal(run([PYTHON, "-c", script], given).go().done.out.strip(),
              str(not given), "seen, with %s" % given)


# ---- the walk ----

def options_of_the_table():
    text = gnomon("run", "--help").out
    return set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text,
                          re.M)) - COMMON


@case
def each_option_has_a_case(directory):
    equal(options_of_the_table(), set(EFFECTS), "options")


def make(name, way):
    def has_its_effect(directory):
        EFFECTS[name](lambda argv, options: Run(way, directory, argv, options))
    has_its_effect.__name__ = "%s_by_%s" % (
        name, "the_command" if way == "run" else "its_variable")
    return has_its_effect


for each in sorted(EFFECTS):
    for by in "run", "preload":
        case(make(each, by))

main()
