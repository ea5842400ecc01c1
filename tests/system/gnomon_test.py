"""What the system tests share: running targets, bare or recorded, reading what
gnomon says of them, and reporting in TAP.

A test file defines functions marked @case and ends with main(). A case passes
by returning, fails by raising, and is left out by raising Skip. Each gets the
path of an empty directory of its own, removed afterwards.
"""

import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.environ.get("GNOMON_BUILD") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "build"))
GNOMON = os.path.join(BUILD, "gnomon")
PROGRAMS = os.path.join(BUILD, "tests")

# Where what runs on the target was built, if it is not this machine's; the
# emulator that runs it, with its options; and what starts its recorder.
TARGET = os.environ.get("GNOMON_TARGET") or BUILD
EMULATOR = os.environ.get("GNOMON_EMULATOR", "").split()
EMULATED_RECORDER = os.path.join(TARGET, "emulated", "gnomon-recorder")
LIBRARY = os.path.join(TARGET, "libgnomon.so")
TARGET_PROGRAMS = os.path.join(TARGET, "tests")

# A trace's layout, as far as the tests look into it (docs/FORMAT.md).
HEADER_SIZE = 32
CHUNK_SIZE = 56
CHUNK_MAGIC = 0x4b434e47
CHUNK_END = 8

# What ends by itself, or happens by itself, has failed when it has not after so
# long: many times what it takes on a machine with a hundred times as much to do
# as it can. No test asks for less.
RUN_SECONDS = 600
SETTLE_SECONDS = 300

cases = []


class Skip(Exception):
    """The machine cannot run this case; says why."""


class Failure(Exception):
    pass


def case(function):
    cases.append(function)
    return function


def check(condition, what):
    if not condition:
        raise Failure(what)


def equal(got, wanted, what):
    check(got == wanted, "%s: got %r, wanted %r" % (what, got, wanted))


def program(name):
    return os.path.join(PROGRAMS, name)


def patiently(directory, see, values):
    """see(a directory, value) for one value after the other, until it holds:
    where a target has to do something before, or for as long as, a time that
    it was given. With the last value it has to hold."""
    for value in values:
        part = os.path.join(directory, "with-%s" % value)
        os.mkdir(part)
        try:
            return see(part, value)
        except Failure as failure:
            if value == values[-1]:
                raise
            print("# with %s: %s" % (value, str(failure).replace("\n", " ")))


def processor(seconds):
    """For what is executed, before it is: killed when it has taken so long."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def need(*commands):
    """Skips the case where one of these programs is not installed."""
    for command in commands:
        if not shutil.which(command):
            raise Skip(command + " is not installed")


def need_file(pattern):
    """The first file of this pattern; without one, skips the case."""
    found = sorted(glob.glob(pattern))
    if not found:
        raise Skip(pattern + " is not installed")
    return found[0]


def newest(pattern):
    """The last file of this pattern; without one, the pattern, for need_file."""
    return max(glob.glob(pattern), default=pattern)


def need_reach():
    """Skips the case if other users cannot execute what was built, as in a
    home folder."""
    need("setpriv")
    # setpriv itself may still have root's capabilities
    if bare(["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups",
             "--", "test", "-x", GNOMON]).status:
        raise Skip("others cannot execute " + GNOMON)


def need_root(to):
    if os.geteuid() != 0:
        raise Skip("only root can " + to)


def need_mounts():
    """Asked without gnomon, so that no fault of ours is taken for that."""
    need("unshare", "mount")
    if bare(["unshare", "-m", "true"]).status:
        raise Skip("no mount namespaces here")


class Disk:
    """A file system of so many bytes, in memory."""

    def __init__(self, place, size):
        self.place = place
        os.mkdir(place)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o",
                               "size=%d" % size, "gnomon-test", place],
                              capture_output=True, text=True)
        if done.returncode:
            os.rmdir(place)
            raise Skip("cannot mount: " + done.stderr.strip())

    def enlarge(self):
        subprocess.run(["mount", "-o", "remount,size=400m", self.place],
                       check=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        subprocess.run(["umount", "-l", self.place])


def need_tracing():
    need("strace")
    if bare(["strace", "-o", "/dev/null", "true"]).status:
        raise Skip("no process may trace another here")


def need_map_files():
    """What is mapped and removed can be opened by who may do so."""
    place = "/proc/self/map_files"
    try:
        os.close(os.open(os.path.join(place, os.listdir(place)[0]),
                         os.O_RDONLY))
    except OSError as error:
        raise Skip("map_files: %s" % error)


class Done:
    """A process that ended: status (negative: by that signal), what it wrote,
    and the directory its traces went to."""

    def __init__(self, status, out, err, directory=None):
        self.status, self.out, self.err = status, out, err
        self.directory = directory

    @property
    def traces(self):
        return traces_in(self.directory)

    @property
    def trace(self):
        found = self.traces
        check(len(found) == 1, "expected one trace, found %s; stderr: %s" % (
            found, self.err.strip()))
        return found[0]

    @property
    def expected(self):
        """The numbers that the target printed: the last of each key."""
        return {key: int(value) for key, value in
                re.findall(r"^([a-z_]+) (\d+)$", self.out, re.M)}


def traces_in(directory):
    return sorted(os.path.join(directory, name)
                  for name in os.listdir(directory)
                  if ".trace" in name and not name.endswith(".stats"))


def environment(**changes):
    """This process's own, without what would change a recording."""
    result = {key: value for key, value in os.environ.items()
              if not key.startswith("GNOMON_") and key != "LD_PRELOAD"}
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = str(value)
    return result


def elf_kind(path):
    """Word size, byte order and machine, as the bytes of an ELF file's header;
    nothing of another file."""
    try:
        with open(path, "rb") as file:
            header = file.read(20)
    except OSError:
        return b""
    return header[4:6] + header[18:20] if header[:4] == b"\x7fELF" else b""


def emulated(argv, env):
    """The command and the environment that run a program of the target."""
    if not EMULATOR or elf_kind(argv[0]) != elf_kind(LIBRARY):
        return argv, env
    env = dict(env)
    library = env.pop("LD_PRELOAD", None)
    if library:
        env.update(QEMU_SET_ENV="LD_PRELOAD=" + library,
                   GNOMON_RECORDER=EMULATED_RECORDER)
    return EMULATOR + argv, env


def bare(argv, env=None, seconds=RUN_SECONDS, **options):
    """Runs it as it is."""
    argv, env = emulated(argv, env or environment())
    done = subprocess.run(argv, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=seconds, **options)
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"),
                done.stderr.decode("utf-8", "replace"))


def recorded(argv, directory, by="run", env=None, options=(), **more):
    """Runs it recorded into the directory: by "run" (the command) or by
    "preload" (the library alone). Waits for the ends of all its traces."""
    pattern = os.path.join(directory, "%e.%p.trace")
    env = dict(env or environment())
    if by == "run":
        argv = [GNOMON, "run", "-o", pattern, *options, "--", *argv]
    else:
        env.update(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=pattern)
    done = bare(argv, env, **more)
    done.directory = directory
    settle(directory)
    return done


def chunks(data):
    """(offset, type, size) of each whole chunk of a trace's bytes."""
    at = HEADER_SIZE
    while at + CHUNK_SIZE <= len(data):
        magic, kind, _, stored = struct.unpack_from("<IHHI", data, at)
        if magic != CHUNK_MAGIC or at + CHUNK_SIZE + stored > len(data):
            return
        yield at, kind, CHUNK_SIZE + stored
        at += CHUNK_SIZE + stored


def has_end(path):
    """Not one that is gone: a recording in parts removes the oldest."""
    try:
        with open(path, "rb") as trace:
            return any(kind == CHUNK_END
                       for _, kind, _ in chunks(trace.read()))
    except FileNotFoundError:
        return False


def writing(path):
    """Whether any process has this file open."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir("/proc/%s/fd" % pid):
                if os.path.realpath("/proc/%s/fd/%s" % (pid, fd)) == path:
                    return True
        except OSError:
            pass
    return False


def start_time(pid):
    """In ticks since the machine's; 0: it is gone."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[19])
    except OSError:
        return 0


def recorders_of(pid):
    """The recorders of this process: one at most, unless it called exec. One
    that is older is that of an earlier process of this id."""
    result = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/comm" % other, encoding="utf-8") as comm:
                if comm.read() != "gnomon-recorder\n":
                    continue
            with open("/proc/%s/cmdline" % other, "rb") as words:
                if words.read().split(b"\0")[1:2] == [b"%d" % pid] and \
                        start_time(int(other)) >= start_time(pid):
                    result.append(int(other))
        except OSError:
            pass
    return result


def has_ended(pid):
    """With all of its threads, so that what it had open is closed."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as status:
            fields = status.read().rpartition(")")[2].split()
    except OSError:
        return True
    return fields[0] == "Z" and int(fields[17]) <= 1


def recorder_of(trace):
    """The task that has the trace open to write it: it is there a moment after
    its program."""
    found = []

    def look():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/comm" % pid, encoding="utf-8") as comm:
                    if comm.read() != "gnomon-recorder\n":
                        continue
                for name in os.listdir("/proc/%s/fd" % pid):
                    if os.readlink("/proc/%s/fd/%s" % (pid, name)) == trace:
                        found.append(int(pid))
            except OSError:
                pass
        return found
    check(wait_for(look), "no recorder of " + trace)
    return found[0]


def begun(path):
    """Whether a recorder has opened this trace, and has said there what it
    records: then it can be asked, and what lives in the target is folded."""
    try:
        with open(path, "rb") as trace:
            return any(True for _ in chunks(trace.read(1 << 20)))
    except FileNotFoundError:
        return False


def wait_begun(path):
    """A program does not wait for its recorder."""
    check(wait_for(lambda: begun(path)), "no recording into " + path)
    return path


def wait_recorder(pid):
    """The process's recorder: it is there a moment after its program."""
    found = []
    check(wait_for(lambda: found.extend(recorders_of(pid)) or found),
          "no recorder of %d" % pid)
    return found[0]


def beginning(directory):
    """Whether there is a recorder that is to write into this directory, or in
    one below it, and has not opened a trace there yet; seldom it is looked for
    before it has a name of its own."""
    output = b"GNOMON_OUTPUT=" + os.fsencode(directory) + b"/"
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/comm" % pid, encoding="utf-8") as comm:
                if comm.read() not in ("gnomon-recorder\n",
                                       "gnomon-start\n"):
                    continue
            with open("/proc/%s/environ" % pid, "rb") as file:
                if not any(variable.startswith(output)
                           for variable in file.read().split(b"\0")):
                    continue
            if not any(".trace" in os.readlink("/proc/%s/fd/%s" % (pid, fd))
                       for fd in os.listdir("/proc/%s/fd" % pid)):
                return True
        except OSError:
            pass
    return False


def settle(directory):
    """Waits until each trace in the directory has its END chunk: the recorders
    outlive their targets for a moment. One that dies with the namespace of its
    process writes none, but has its trace open until then. A program may end
    before its recorder has opened one."""
    def settled():
        return not beginning(directory) and all(
            has_end(path) or not writing(path)
            for path in traces_in(directory))
    # one that has yet to be executed has another name
    if not traces_in(directory):
        time.sleep(0.1)
    check(wait_for(settled), "traces without an end in " + directory)


def wait_for(condition, seconds=SETTLE_SECONDS):
    """Whether the condition became true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def check_no_live_file(trace):
    """It goes a moment after the end was written."""
    live = find_key(info(trace), "live")
    check(not live or wait_for(lambda: not os.path.exists(live)),
          "the live file is left")


def gnomon(*arguments, statuses=(0,), env=None, **options):
    """Runs the command and insists on one of these exit statuses."""
    done = bare([GNOMON, *arguments], env, **options)
    check(done.status in statuses, "gnomon %s: status %d, stderr: %s" % (
        " ".join(arguments), done.status, done.err.strip()))
    return done


class Report:
    """`gnomon report --json` of a trace, all rows, by stack."""

    def __init__(self, trace, statuses=(0,), by="stack"):
        done = gnomon("report", trace, "--json", "--by", by, "--top", "0",
                      statuses=statuses)
        self.status = done.status
        document = json.loads(done.out)
        self.summary, self.rows = document["summary"], document["rows"]

    def rows_with(self, pattern):
        """The rows whose stack holds a function that begins like this."""
        match = re.compile(pattern).match
        return [row for row in self.rows
                if any(match(frame.get("function") or "")
                       for frame in row["stack"])]

    def sums(self, pattern="tgt_"):
        """As the targets print them, over the rows with such a function."""
        result = dict.fromkeys(
            ("allocations", "frees", "total_bytes", "live_blocks",
             "live_bytes"), 0)
        for row in self.rows_with(pattern):
            result["allocations"] += row["count"]
            result["frees"] += row["count"] - row["live_blocks"]
            for key in ("total_bytes", "live_blocks", "live_bytes"):
                result[key] += row[key]
        return result


def info(trace, statuses=(0,)):
    return json.loads(gnomon("info", trace, "--json", statuses=statuses).out)


def find_key(document, key):
    """The first value of this key anywhere in a JSON document, or None."""
    if isinstance(document, dict):
        if key in document:
            return document[key]
        document = list(document.values())
    if isinstance(document, list):
        for value in document:
            found = find_key(value, key)
            if found is not None:
                return found
    return None


def agree(expected, report, what=""):
    """The trace says what the target counted, nothing was lost on the way,
    and the rows add up to the summary."""
    sums = report.sums()
    for key, value in sums.items():
        equal(value, expected[key], "%s%s" % (what, key))
    adds_up(report, what)


def adds_up(report, what="", forked=False):
    """forked: a process that may free what its parent had allocated."""
    summary = report.summary
    equal(summary["dropped"], 0, what + "dropped")
    check(forked or summary["unpaired"] == 0,
          "%s%d unpaired" % (what, summary["unpaired"]))
    for row_key, key in (("count", "allocations"),
                         ("total_bytes", "total_bytes"),
                         ("live_bytes", "live_bytes"),
                         ("live_blocks", "live_blocks"),
                         ("peak_bytes", "peak_bytes"),
                         ("temporary", "temporary")):
        equal(sum(row[row_key] for row in report.rows), summary[key],
              "%ssum of %s" % (what, row_key))
    check(forked or summary["allocations"] - summary["frees"]
          == summary["live_blocks"], what + "allocations - frees")


def outermost(row):
    """The names of a row's stack from the outermost frame inward."""
    names = [frame.get("function") or "" for frame in row["stack"]]
    return names if row_is_outermost_first(row) else names[::-1]


def row_is_outermost_first(row):
    names = [frame.get("function") or "" for frame in row["stack"]]
    return "main" in names and names.index("main") < len(names) / 2


def end_all_of(directory):
    """Kills whatever a case that failed has left running: programs whose
    command line or environment names its directory."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in "cmdline", "environ":
            try:
                with open("/proc/%s/%s" % (pid, name), "rb") as file:
                    if os.fsencode(directory) + b"/" in file.read():
                        os.kill(int(pid), signal.SIGKILL)
                        break
            except OSError:
                pass    # it has ended, or is not ours to look at


def run_case(number, function):
    directory = tempfile.mkdtemp(prefix="gnomon-test.")
    name = function.__name__.replace("_", " ")
    try:
        function(directory)
        print("ok %d - %s" % (number, name))
        return True
    except Skip as skip:
        print("ok %d - %s # SKIP %s" % (number, name, skip))
        return True
    except (Failure, subprocess.TimeoutExpired) as failure:
        print("not ok %d - %s" % (number, name))
        print("# " + str(failure).replace("\n", "\n# "))
    except Exception:
        print("not ok %d - %s" % (number, name))
        print("# " + traceback.format_exc().replace("\n", "\n# "))
    finally:
        sys.stdout.flush()
        shutil.rmtree(directory, ignore_errors=True)
    end_all_of(directory)
    return False


def main():
    """Runs the cases named on the command line, or all."""
    chosen = [function for function in cases
              if not sys.argv[1:] or function.__name__ in sys.argv[1:]]
    results = [run_case(number, function)
               for number, function in enumerate(chosen, 1)]
    print("1..%d" % len(chosen))
    sys.exit(0 if all(results) else 1)
