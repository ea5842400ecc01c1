#!/usr/bin/python3
"""A trace within a size limit: its newest parts are kept, each can be read
alone, and together they never exceed the limit."""

import pwd
import threading

from gnomon_test import *

CHUNK = 2 << 20		# a chunk that is being written


def report(trace):
    done = bare([GNOMON, "report", "--json", "--by", "stack", "--sort",
                 "total", "--top", "0", trace])
    equal((done.status, done.err), (0, ""), "report of " + trace)
    return json.loads(done.out)


def parts(directory):
    """Names, oldest first; the newest is the one without a number."""
    found = [name for name in os.listdir(directory)
             if ".trace" in name and not name.endswith(".files")]
    numbered = sorted((int(name.rsplit(".part", 1)[1]), name)
                      for name in found if ".part" in name)
    newest = [name for name in found if ".part" not in name]
    equal(len(newest), 1, "the newest: %r" % found)
    return [os.path.join(directory, name)
            for name in [name for _, name in numbered] + newest]


class Watch(threading.Thread):
    """How much all files of a directory take, at most."""

    def __init__(self, directory):
        super().__init__()
        self.directory, self.most, self.going = directory, 0, True
        self.start()

    def run(self):
        while self.going:
            size = 0
            for name in os.listdir(self.directory):
                try:
                    size += os.path.getsize(os.path.join(self.directory, name))
                except FileNotFoundError:
                    pass
            self.most = max(self.most, size)
            time.sleep(0.002)

    def end(self):
        self.going = False
        self.join()
        return self.most


def limited(directory, argv, limit, *more):
    watch = Watch(directory)
    try:
        done = recorded(argv, directory, options=("--limit", limit, *more))
    finally:
        most = watch.end()
    equal(done.status, 0, "status: " + done.err)
    return done, most


def worked(pid, seconds):
    """Waits until the program has had so much of a processor."""
    def have():
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return int(fields[11]) >= seconds * os.sysconf("SC_CLK_TCK")
    check(wait_for(have), "%d seconds of work" % seconds)


def anonymous(pid):
    """Resident memory of no file: the recorder's tables, and what little the
    target has. Not rings: they grow when threads have to wait."""
    size, counts = 0, False
    with open("/proc/%d/smaps" % pid, encoding="utf-8") as file:
        for line in file:
            if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
                counts = not line.split(None, 5)[5:]
            elif counts and line.startswith("Rss:"):
                size += int(line.split()[1]) << 10
    return size


FIGURES = ["allocations", "total_bytes", "frees", "live_bytes", "live_blocks"]


@case
def newest_parts(directory):
    """Each part knows what came before it; the last one knows it all."""
    done, most = limited(directory, [program("mixed_lifetimes"), "300000"], "1M")
    found = parts(directory)
    check(len(found) == 4, "parts: %r" % found)
    check(most <= (1 << 20) + CHUNK, "took %d bytes" % most)
    sizes = sum(os.path.getsize(each) for each in found)
    check(512 << 10 < sizes <= 1 << 20, "sizes at the end: %d" % sizes)
    whole = os.path.join(directory, "whole")
    os.mkdir(whole)
    other = recorded([program("mixed_lifetimes"), "300000"], whole)
    a, b = report(other.trace), report(found[-1])
    for key in FIGURES:
        equal(b["summary"][key], a["summary"][key], key)
    equal(sorted((row["count"], row["total_bytes"], row["frees"],
                  row["live_bytes"]) for row in b["rows"]),
          sorted((row["count"], row["total_bytes"], row["frees"],
                  row["live_bytes"]) for row in a["rows"]), "rows")
    last = 0
    for each in found:
        now = report(each)["summary"]
        check(now["allocations"] > last, "more in each part")
        equal(now["unpaired"], 0, "each free finds its block in " + each)
        last = now["allocations"]


@case
def indexes_go_with_their_parts(directory):
    """Those of parts that are removed: what is theirs has their names."""
    trace = os.path.join(directory, "a.trace")
    names = ["%s.part%d.idx" % (trace, i) for i in (1, 2, 99)]
    for name in names:
        open(name, "w", encoding="utf-8").close()
    gnomon("run", "-q", "-o", trace, "--limit", "1M", program("mixed_lifetimes"),
           "300000")
    settle(directory)
    check(not os.path.exists(trace + ".part2"), "the second part is kept")
    equal([os.path.exists(name) for name in names], [False, False, True],
          "indexes")


@case
def many_threads(directory):
    done, most = limited(directory, [program("mixed_lifetimes"), "40000", "8"], "2M")
    found = parts(directory)
    check(len(found) > 1 and most <= (2 << 20) + CHUNK, "took %d" % most)
    summary = report(found[-1])["summary"]
    wanted = done.expected
    equal(summary["unpaired"], 0, "unpaired")
    for key in ("allocations", "frees"):
        check(key not in wanted or summary[key] >= wanted[key], key)


@case
def blocks_freed_by_other_threads(directory):
    """Threads that end each other's blocks: what one has freed is seen after
    it was allocated, whoever is held up meanwhile."""
    for options in (("--limit", "1M"), ("--cull=1ms",), ("--depth", "0")):
        place = os.path.join(directory, options[0].strip("-="))
        os.mkdir(place)
        done = recorded([program("exchange"), "6", "50000"], place,
                        options=options)
        summary = report(parts(place)[-1])["summary"]
        equal(summary["unpaired"], 0, "unpaired with %r" % (options,))
        for key in ("allocations", "frees"):
            # the C library's own, of threads and of standard output
            check(0 <= summary[key] - done.expected[key] < 20,
                  "%s with %r: %d" % (key, options, summary[key]))


@case
def culled(directory):
    done, most = limited(directory, [program("mixed_lifetimes"), "300000"], "1M",
                         "--cull")
    found = parts(directory)
    check(most <= (1 << 20) + CHUNK, "took %d" % most)
    whole = os.path.join(directory, "whole")
    os.mkdir(whole)
    other = recorded([program("mixed_lifetimes"), "300000"], whole)
    a, b = report(other.trace), report(found[-1])
    for key in FIGURES:
        equal(b["summary"][key], a["summary"][key], key)


@case
def killed(directory):
    """At any moment what is there can be read."""
    pattern = os.path.join(directory, "a.trace")
    for after in (0.3, 0.5):
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
        process = subprocess.Popen(
            [program("mixed_lifetimes"), "100000000"],
            env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=pattern,
                            GNOMON_LIMIT="1M"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(wait_for(lambda: os.path.exists(pattern + ".part2")), "part2")
        time.sleep(after)
        process.kill()
        process.wait()
        settle(directory)
        for each in parts(directory):
            summary = report(each)["summary"]
            check(summary["allocations"] > 0, each)


def kill_with_the_recorder(directory):
    """The live file that is left, and what was done by then; None where that
    hit the moment between two parts."""
    pattern, counts = (os.path.join(directory, name)
                       for name in ("a.trace", "counts"))
    process = subprocess.Popen(
        [program("killable"), counts],
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=pattern,
                        GNOMON_LIMIT="4M"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    check(wait_for(lambda: os.path.exists(pattern + ".part2")), "no part")
    os.kill(process.pid, signal.SIGSTOP)
    with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps:
        live = re.search(r"/\S+/gnomon-\S+\.live", maps.read()).group()
    # the recorder is the other one that has the live file
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/maps" % pid, encoding="utf-8") as maps:
                if live in maps.read() and int(pid) != process.pid:
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    process.kill()
    process.wait()
    check(os.path.exists(live), "no live file was left")
    with open(counts, "rb") as file:
        published = sum(struct.unpack("<4Q", file.read(32)))
    check(os.path.exists(pattern), "the newest part is gone")
    if os.path.exists(pattern + ".next"):
        check(report(pattern)["summary"]["allocations"] > 0, "newest part")
        if os.path.exists(live):
            os.unlink(live)
        return None
    return live, published


@case
def killed_with_the_recorder(directory):
    """What is not in the last part goes into that, whichever is read first."""
    for attempt in range(10):
        place = os.path.join(directory, str(attempt))
        os.mkdir(place)
        done = kill_with_the_recorder(place)
        if done:
            break
    live, published = done
    *closed, last = parts(place)
    for each in closed:
        before = os.path.getsize(each)
        gnomon("report", each)
        equal(os.path.getsize(each), before, "size of " + each)
        check(os.path.exists(live), "reading %s took the live file" % each)
    made = Report(last, (0, 3)).sums("killable_make_")["allocations"]
    check(0 <= made - published <= 4, "%d are published, %d in the last part"
          % (published, made))
    check(not os.path.exists(live), "the live file is still there")


@case
def existing_files_with_names_of_parts(directory):
    """A file of somebody's that has the name of a part stays as it is."""
    pattern = os.path.join(directory, "a.trace")
    for number in (1, 2, 5):
        with open(pattern + ".part%d" % number, "w") as out:
            out.write("mine")
    bare([GNOMON, "run", "-o", pattern, "--limit", "1M", "--",
          program("mixed_lifetimes"), "100000"])
    wait_for(lambda: has_end(pattern))
    for number in (1, 2, 5):
        with open(pattern + ".part%d" % number) as found:
            equal(found.read(), "mine", "part%d" % number)


@case
def of_many_strangers(directory):
    """Several such names in a row: what is ours stays within the limit."""
    pattern = os.path.join(directory, "a.trace")
    theirs = [3, 4, 5, 6, 7, 8, 9, 12]
    for number in theirs:
        with open(pattern + ".part%d" % number, "w") as out:
            out.write("mine")
    watch = Watch(directory)
    bare([GNOMON, "run", "-o", pattern, "--limit", "1M", "--",
          program("mixed_lifetimes"), "300000"])
    wait_for(lambda: has_end(pattern))
    check(watch.end() <= (1 << 20) + CHUNK, "took %d" % watch.most)
    for number in theirs:
        with open(pattern + ".part%d" % number) as found:
            equal(found.read(), "mine", "part%d" % number)
    ours = [name for name in parts(directory)
            if os.path.getsize(name) > len("mine")]
    check(2 <= len(ours) <= 4, "ours: %r" % ours)
    for each in ours:
        equal(report(each)["summary"]["unpaired"], 0, each)


@case
def parts_belong_to_the_owner_of_the_trace(directory):
    """Each part belongs to whom the trace does."""
    need_root("give files away")
    limited(directory, [program("mixed_lifetimes"), "100000"], "1M",
            "--chown", "daemon")
    found = parts(directory)
    check(len(found) > 2, "parts: %r" % found)
    owner = pwd.getpwnam("daemon").pw_uid
    equal([os.stat(each).st_uid for each in found], [owner] * len(found),
          "owners")


@case
def flat_memory(directory):
    """What has a constant set of live blocks and stacks takes constant memory
    however many parts there are: tables reach their size once."""
    pattern = os.path.join(directory, "a.trace")
    for more in ({"GNOMON_LIMIT": "2M"}, {"GNOMON_CULL": "10ms"}):
        process = subprocess.Popen(
            [program("mixed_lifetimes"), "1000000000", "2"],
            env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=pattern,
                            GNOMON_FORCE="1", **more),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            worked(process.pid, 2)
            first = anonymous(process.pid)
            worked(process.pid, 5)
            last = anonymous(process.pid)
        finally:
            process.kill()
            process.wait()
        settle(directory)
        check(0 < last <= first + (1 << 20), "%r: from %d to %d bytes" % (
            more, first, last))


@case
def on_a_pipe(directory):
    done = bare([GNOMON, "run", "-o", "/dev/stdout", "--limit", "1M", "--",
                 program("mixed_lifetimes"), "100"])
    equal(done.status, 125, "status")
    check("--limit" in done.err and "name a file" in done.err,
          "said: " + done.err)


@case
def too_many_for_a_part(directory):
    """What was live when it began is told by its totals alone: the report
    says so, and no sum is wrong for it."""
    done, _ = limited(directory, [program("retained_blocks")], "1M")
    newest = parts(directory)[-1]
    whole = report(newest)
    said, wanted = whole["summary"], done.expected
    check(said["part_left_out_blocks"] >= 60000, said)
    equal(said["unpaired"], 0, "unpaired")
    rows = [row for row in whole["rows"]
            if any("tgt_" in frame["function"] for frame in row["stack"])]
    equal(sum(row["count"] for row in rows), wanted["allocations"],
          "allocations")
    # ten of those have ended since, and one of a pair may have
    check(said["foreign_frees"] >= 10, said)
    equal(sum(row["frees"] for row in rows) + said["foreign_frees"],
          wanted["frees"], "frees")
    check(said["live_bytes"] <= said["peak_bytes"], "the peak is less")
    text = bare([GNOMON, "report", newest]).out
    check("too many for its size (--limit)" in text, text[:1500])


@case
def too_small(directory):
    done = bare([GNOMON, "run", "-o", os.path.join(directory, "a.trace"),
                 "--limit", "100k", "--", program("mixed_lifetimes"), "100"])
    check(done.status == 125 or done.status == 2, "status %d" % done.status)
    check("--limit" in done.err and "outside" in done.err,
          "said: " + done.err)


main()
