#!/usr/bin/python3
"""Programs that forbid themselves system calls, where a forbidden call kills:
gnomon makes no forbidden call, and loses no allocation."""

import glob

from gnomon_test import *


def run(way, directory):
    alone = bare([program("jail"), way])
    if alone.status == 77:
        raise Skip("this kernel has no such filter")
    done = recorded([program("jail"), way], directory)
    equal((done.status, done.out), (alone.status, alone.out),
          "result, stderr: " + done.err)
    return done


def make(way):
    def jailed(directory):
        done = run(way, directory)
        agree(done.expected, Report(done.trace))
    jailed.__name__ = "jailed_by_" + way
    return jailed


for each in "tight", "prctl", "raw", "refused":
    case(make(each))


@case
def threads_and_children_without_names(directory):
    """Threads that may not ask who they are: their rings are freed all the
    same. A child that may not start a recorder runs without."""
    done = run("ids", directory)
    agree(done.expected, Report(done.trace))
    threads = info(done.trace)["threads"]
    equal(len(threads), 81, "threads")
    tids = {thread["tid"] for thread in threads}
    check(0 not in tids and len(tids) > 70, "thread ids: %s" % tids)


@case
def children_of_ever_stricter_filters(directory):
    """Those who may still start a recorder are recorded."""
    done = run("forks", directory)
    first = [trace for trace in done.traces
             if not find_key(info(trace), "parent_trace")]
    equal((len(first), len(done.traces)), (1, 3), "traces")
    agree(done.expected, Report(first[0]))


@case
def without_a_counter(directory):
    """What cannot be stamped is dropped, counted and said."""
    for way, allocations in ("strict", 64), ("tsc", 1064):
        part = os.path.join(directory, way)
        os.mkdir(part)
        done = run(way, part)
        report = Report(done.trace)
        equal(report.sums()["allocations"], allocations, way)
        check(report.summary["dropped"] >= 2000, "dropped")


def wide_calls(folder):
    """By how the port makes them: calls with numbers of 64 bits (arch.h)."""
    with open(os.path.join(folder, "arch/arch.h"), encoding="utf-8") as source:
        text = source.read()
    made = dict(re.findall(r"#define (ARCH_NR_\w+) __NR_(\w+)", text))
    made.update(re.findall(r"long (arch_\w+)\([^{]*{[^}]*__NR_(\w+)", text))
    return made


def calls_of(text, pattern, made):
    """Calls that match a pattern, and those made as the port makes them."""
    return set(re.findall(pattern, text)) | {
        call for name, call in made.items() if re.search(name + r"\b", text)}


def known_calls(folder):
    """What seccomp_verdict.c looks for in a filter, on this architecture too."""
    known = set()
    for path, name in (("cli/recorder/process/seccomp_verdict.c",
                        r"(?:__NR_|SECCOMP_[A-Z]+\()(\w+)"),
                       ("arch/x86_64/syscall.h", r"\bX\((\w+)\)")):
        with open(os.path.join(folder, path), encoding="utf-8") as source:
            known |= calls_of(source.read(), name, wide_calls(folder))
    return known


HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


@case
def every_call_of_the_library_is_known(directory):
    """What the library calls to start a recorder is what is looked for."""
    used = set()
    for path in glob.glob(os.path.join(ROOT, "preload", "**", "*.[chS]"),
                          recursive=True):
        name = os.path.basename(path)
        # These make calls that the program has just made itself.
        if name.startswith("hooks_") or name == "credentials.c":
            continue
        with open(path, encoding="utf-8") as source:
            used |= calls_of(source.read(), r"__NR_(\w+)", wide_calls(ROOT))
    check("mmap" in used, "no source was read")
    equal(sorted(used - known_calls(ROOT)), [],
          "calls that seccomp_verdict.c does not know")


# Which of the calls that the recorder makes belong together: it gets on with
# either.
ALIKE = {"clone3": "clone", "vfork": "clone", "access": "faccessat",
         "open": "openat", "stat": "newfstatat", "fstat": "newfstatat",
         "lstat": "newfstatat", "readlink": "readlinkat", "dup2": "dup3",
         "poll": "ppoll", "getrlimit": "prlimit64", "setrlimit": "prlimit64",
         "clock_nanosleep": "nanosleep", "unlink": "unlinkat",
         "pwrite64": "write", "exit_group": "exit",
         "recv": "recvfrom", "send": "sendto"}


@case
def every_call_of_the_recorder_is_known(directory):
    """A child that inherits a filter starts one only if that allows all that
    the recorder does in its life."""
    need_tracing()
    script = os.path.join(directory, "recorder")
    calls = os.path.join(directory, "calls")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec strace -f -qq -o %s.$$ '%s' \"$@\"\n" % (
            calls, os.path.join(BUILD, "gnomon-recorder")))
    os.chmod(script, 0o755)
    env = environment(GNOMON_RECORDER=script)
    for number, (options, argv) in enumerate((
            ((), [program("basic")]),
            (("--limit", "2M", "--stats-every", "20ms"), [program("churn")]),
            (("--cull=1ms",), [program("churn")]),
            (("--snapshot-every", "20ms"), [program("forks")]))):
        part = os.path.join(directory, str(number))
        os.mkdir(part)
        done = recorded(argv, part, env=env, options=options)
        equal((done.status, done.err), (0, done.err),
              "status")
    used = set()
    for path in glob.glob(calls + ".*"):
        with open(path, encoding="utf-8", errors="replace") as lines:
            used |= set(re.findall(r"^\d+ +(\w+)\(", lines.read(), re.M))
    check("write" in used, "nothing was traced")
    known = known_calls(ROOT)
    equal(sorted(name for name in used
                 if name not in known and ALIKE.get(name) not in known), [],
          "calls that seccomp_verdict.c does not know")


main()
