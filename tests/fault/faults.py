"""What the fault tests share: running a target under the library and the
recorder that fail (fault.c), their log, and judging what came of it."""

import concurrent.futures
import os
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))

from gnomon_test import *

FAULT_LIBRARY = os.path.join(BUILD, "fault", "libgnomon.so")
FAULT_RECORDER = os.path.join(BUILD, "fault", "gnomon-recorder")
FULL = os.environ.get("GNOMON_TEST_FULL") == "1"
WORKERS = 2

LOG_HEADER, LOG_CALL, LOG_CALLS = 32, 32, 65536
ALLOC, RESERVE, CLONE, ASSERT = 1000, 1001, 1002, 1003
RECORDERS = 1 << 62  # in sites of the recorder



class Call:
    def __init__(self, data, at):
        (self.pid, self.nr, self.site, self.result,
         self.failed) = struct.unpack_from("<IIQqQ", data, at)


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        count = min(struct.unpack_from("<Q", data)[0], LOG_CALLS)
        calls = [Call(data, LOG_HEADER + i * LOG_CALL) for i in range(count)]
        # a task that was killed while it wrote has left an empty one
        self.calls = [call for call in calls if call.site != 0]

    @property
    def sites(self):
        """How often each (nr, site) was called."""
        result = {}
        for call in self.calls:
            key = call.nr, call.site
            result[key] = result.get(key, 0) + 1
        return result

    def most(self, nr):
        """Calls of this number in one process, at most: a child goes on
        counting where its parent was, each recorder begins."""
        result = {}
        for call in self.calls:
            if call.nr == nr:
                counts = call.pid if call.site & RECORDERS else 0
                result[counts] = result.get(counts, 0) + 1
        return max(result.values(), default=0)

    @property
    def failed(self):
        return sum(call.failed for call in self.calls)

    @property
    def pids(self):
        return {call.pid for call in self.calls if call.pid}


def new_log(path):
    with open(path, "wb") as file:
        file.truncate(LOG_HEADER + LOG_CALL * LOG_CALLS)


def fault(**keys):
    return ",".join("%s=%d" % pair for pair in keys.items())


class Run:
    """One run under a fault, into a directory of its own; the traces go to
    another one, if it is given."""

    def __init__(self, argv, directory, fault="", env=None, traces=None,
                 **options):
        self.directory, self.fault = traces or directory, fault
        os.mkdir(directory)
        self.log_path = os.path.join(directory, "log")
        new_log(self.log_path)
        variables = {"LD_PRELOAD": FAULT_LIBRARY,
                     "GNOMON_OUTPUT": os.path.join(self.directory,
                                                   "%p.trace"),
                     "GNOMON_FAULT_LOG": self.log_path,
                     "GNOMON_FAULT": fault or None, **(env or {})}
        self.began, begin = time.time(), time.monotonic()
        self.done = bare(argv, environment(**variables), **options)
        self.log = Log(self.log_path)
        self.stayed = []
        if not wait_for(lambda: not self.left()):
            self.stayed = self.left()
            for pid in self.stayed:
                os.kill(pid, signal.SIGKILL)
        self.seconds = time.monotonic() - begin

    def left(self):
        """Processes of the run that are still there."""
        return [pid for pid in self.log.pids if is_alive(pid)]


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def live_files_of(run):
    """Of the run's processes, not of earlier ones that had their ids."""
    marks = tuple("gnomon-%d-" % pid for pid in run.log.pids)
    return [entry.path for entry in os.scandir("/dev/shm")
            if entry.name.startswith(marks)
            and entry.stat().st_ctime >= run.began - 1]


class Told:
    """What a trace says, and whether it, or the run, says that it is less
    than all."""

    def __init__(self, trace, messages):
        done = gnomon("report", trace, "--json", "--top", "0",
                      statuses=(0, 2, 3))
        self.trace = os.path.basename(trace)
        self.status, self.err = done.status, done.err
        self.readable = done.status != 2
        self.whole = done.status == 0 and not messages
        self.dropped = self.events = self.ours = 0
        if self.readable:
            document = json.loads(done.out)
            summary = document["summary"]
            self.dropped = summary["dropped"]
            # what is left of a block of which the other event was dropped
            self.events = (summary["allocations"] + summary["frees"] +
                           summary["unpaired"])
            self.ours = ours(document["rows"])


def ours(rows):
    """Events whose stack says that the target counted them."""
    return sum(2 * row["count"] - row["live_blocks"] for row in rows
               if any((frame.get("function") or "").startswith("tgt_")
                      for frame in row["stack"]))


# The start and the end of a process are in a trace, not in the target's count;
# matters only where there are no stacks to tell them apart.
SURPLUS = 60


def consistent(told, made, stacks):
    """Never more than the target did; less only if it is said. stacks: they
    are all there, not cut short for want of memory."""
    what = told.trace + ": "
    check(told.readable or not told.whole,
          what + "unreadable, and nothing was said: " + told.err)
    check(told.ours <= made and told.events <= made + SURPLUS,
          "%s%d events, %d with stacks, of %d" % (
              what, told.events, told.ours, made))
    # without /proc, nobody knows whose the addresses are: no names
    if told.whole and not told.dropped and stacks and told.ours:
        equal(told.ours, made, what + "events")
    elif told.whole:
        check(told.events + told.dropped >= made,
              "%s%d events of %d, %d said to be dropped" % (
                  what, told.events, made, told.dropped))


def why_inconsistent(pairs, stacks):
    try:
        for told, made in pairs:
            consistent(told, made, stacks)
        return None
    except Failure as failure:
        return failure


def judge(run, alone, stacks=True):
    """The target unharmed, what is said true, nothing left behind."""
    done = run.done
    equal((done.status, done.out), (alone.status, alone.out), "result")
    messages = done.err.splitlines()
    check(all(line.startswith("gnomon: ") for line in messages),
          "messages: " + done.err)
    check(len(messages) <= 4, "too many messages: " + done.err)
    check(not run.stayed, "processes were left: %s" % run.stayed)
    numbers = alone.expected
    both = [numbers[whose + "allocations"] + numbers[whose + "frees"]
            for whose in ("", "child_")]
    traces = traces_in(run.directory)
    check(len(traces) == 2 or messages, "traces: %s" % traces)
    told = [Told(trace, messages) for trace in traces]
    # whose trace it is, its name does not say for sure: ids wrap
    assignments = [zip(told, both), zip(told, reversed(both))]
    failures = [why_inconsistent(pairs, stacks) for pairs in assignments]
    failures = [failure for failure in failures if failure]
    if len(failures) == len(assignments):
        raise failures[0]
    left = live_files_of(run)
    check(not left, "live files are left: %s" % left)


def sweep(directory, argv, faults, env=None, judged=judge):
    """Runs the target under each of the (name, fault); fails with all that
    went wrong. Returns how many of the runs met their fault."""
    alone = bare(argv)
    lock, wrong, met = threading.Lock(), [], []

    def one(item):
        number, (name, spec) = item
        part = os.path.join(directory, "%d" % number)
        try:
            run = Run(argv, part, spec, env)
            with lock:
                met.append(run.log.failed > 0)
            judged(run, alone)
            if os.environ.get("GNOMON_TEST_SLOW"):
                check(run.seconds < float(os.environ["GNOMON_TEST_SLOW"]),
                      "took %.1f s" % run.seconds)
        except (Failure, subprocess.TimeoutExpired) as failure:
            with lock:
                wrong.append("%s (%s): %s" % (name, spec, failure))
        shutil.rmtree(part, ignore_errors=True)

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, enumerate(faults)))
    check(not wrong, "%d of %d:\n%s" % (len(wrong), len(faults),
                                        "\n".join(sorted(wrong))))
    check(sum(met) > len(faults) / 2, "%d of %d faults were met" % (
        sum(met), len(faults)))
    return sum(met)


def counting_run(directory, argv, env=None):
    return Run(argv, os.path.join(directory, "counting"), "", env).log


def names_of(sites):
    """Where in the source the sites are: {(nr, site): text}."""
    result = {}
    for binary, mark in ((FAULT_LIBRARY, 0), (FAULT_RECORDER, RECORDERS)):
        mine = [each for each in sites if each[1] & RECORDERS == mark]
        addresses = ["%#x" % ((site & ~RECORDERS) - 1) for _, site in mine]
        out = subprocess.run(["addr2line", "-ifse", binary, "-a", *addresses],
                             capture_output=True, text=True).stdout
        found = re.split(r"^0x[0-9a-f]+\n", out, flags=re.M)[1:]
        for each, text in zip(mine, found):
            functions = [line for line in text.splitlines()[::2]
                         if not line.startswith(("sys_", "arch_"))]
            result[each] = functions[0] if functions else hex(each[1])
    return result
