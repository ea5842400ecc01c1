#!/usr/bin/python3
# TIMEOUT: 120
"""Programs under other tools at the same time: sanitizers, tracers, debuggers,
other preloaded libraries. Output and status are the same as without gnomon, and
the trace is right."""


from gnomon_test import *


def trace_of(name, directory):
    """Of the process that ran this program; tools may be recorded, too."""
    settle(directory)
    found = [path for path in traces_in(directory)
             if os.path.basename(path).startswith(name)]
    check(found, "no trace of %s: %r" % (name, os.listdir(directory)))
    return max(found, key=os.path.getsize)


def pattern(directory):
    return os.path.join(directory, "%e.%p.trace")


def libraries(*names):
    return ":".join([*names, LIBRARY])


# ---- sanitizers ----

def sanitized(kind):
    def runs(directory):
        name = "sanitized_" + kind
        alone = bare([program(name)])
        for by in "run", "preload":
            part = os.path.join(directory, by)
            os.mkdir(part)
            done = recorded([program(name)], part, by=by)
            equal((done.status, done.out), (alone.status, alone.out),
                  by + ": " + done.err)
            agree(done.expected, Report(done.trace))
    runs.__name__ = "sanitizer_" + kind
    return runs


for each in "address", "thread", "leak", "undefined":
    case(sanitized(each))


@case
def sanitizers_find_errors_while_recording(directory):
    for kind, way, finding in (
            ("address", "misuse", "heap-use-after-free"),
            ("address", "", "detected memory leaks"),
            ("thread", "race", "data race")):
        argv = [program("sanitized_" + kind), *([way] if way else [])]
        part = os.path.join(directory, kind + way)
        os.mkdir(part)
        env = environment(ASAN_OPTIONS="detect_leaks=%d" % (way == ""))
        alone = bare(argv, env)
        check(finding in alone.err, "bare: " + alone.err)
        done = recorded(argv, part, env=env, by="preload")
        equal(done.status, alone.status, "status of " + kind)
        check(finding in done.err, "%s: %s" % (kind, done.err))


# ---- who traces ----

@case
def strace(directory):
    need("strace")
    argv = [program("mixture")]
    alone = bare(argv)
    done = bare(["strace", "-f", "-o", os.path.join(directory, "calls"),
                 "-E", "LD_PRELOAD=" + LIBRARY,
                 "-E", "GNOMON_OUTPUT=" + pattern(directory), *argv])
    equal((done.status, done.out), (alone.status, alone.out), "result")
    agree(done.expected, Report(trace_of("mixture", directory)))


@case
def strace_of_gnomon_run(directory):
    need("strace")
    argv = [program("mixture")]
    alone = bare(argv)
    done = bare(["strace", "-f", "-o", os.path.join(directory, "calls"),
                 GNOMON, "run", "-o", pattern(directory), *argv])
    equal((done.status, done.out), (alone.status, alone.out), "result")
    agree(done.expected, Report(trace_of("mixture", directory)))


@case
def ltrace(directory):
    need("ltrace")
    argv = ["ltrace", "-o", os.path.join(directory, "calls"),
            program("basic")]
    alone = bare(argv)
    done = bare(argv, environment(LD_PRELOAD=LIBRARY,
                                  GNOMON_OUTPUT=pattern(directory)))
    equal((done.status, done.out), (alone.status, alone.out), "result")
    agree(done.expected, Report(trace_of("basic", directory)))


@case
def gdb(directory):
    """With a breakpoint that is met often, and a command at it."""
    need("gdb")
    argv = [program("mixture")]
    done = bare([
        "gdb", "-q", "-batch", "-nx",
        "-ex", "set startup-with-shell off",
        "-ex", "set environment LD_PRELOAD " + LIBRARY,
        "-ex", "set environment GNOMON_OUTPUT " + pattern(directory),
        "-ex", "break tgt_report", "-ex", "run", "-ex", "bt",
        "-ex", "break tgt_print", "-ex", "continue", "-ex", "delete",
        "-ex", "continue", *argv])
    check("exited with code 07" in done.out, done.out + done.err)
    check("tgt_report" in done.out, done.out)
    agree(done.expected, Report(trace_of("mixture", directory)))


# ---- other preloaded libraries ----

def beside(name, path, **variables):
    """Before ours and behind it."""
    def runs(directory):
        library = need_file(path)
        argv = [program("mixture")]
        alone = bare(argv, environment(LD_PRELOAD=library, **variables))
        for order in (library, LIBRARY), (LIBRARY, library):
            part = os.path.join(directory, str(order[0] == library))
            os.mkdir(part)
            done = bare(argv, environment(
                LD_PRELOAD=":".join(order), GNOMON_OUTPUT=pattern(part),
                **variables))
            equal((done.status, done.out), (alone.status, alone.out),
                  "result: " + done.err)
            agree(done.expected, Report(trace_of("mixture", part)))
    runs.__name__ = "beside_" + name
    return runs


case(beside("eatmydata", "/usr/lib/*/libeatmydata.so"))
case(beside("faketime", "/usr/lib/*/faketime/libfaketime.so.1",
            FAKETIME="2020-01-01 00:00:00"))
case(beside("stdbuf", "/usr/libexec/coreutils/libstdbuf.so", _STDBUF_O="L"))


@case
def beside_heaptrack(directory):
    """Both see every block, in either order; heaptrack allocates, too, in the
    middle of the program's own calls."""
    library = need_file(
        "/usr/lib/heaptrack/libheaptrack_preload.so")
    argv = [program("mixture")]
    for order in (library, LIBRARY), (LIBRARY, library):
        part = os.path.join(directory, str(order[0] == library))
        os.mkdir(part)
        done = bare(argv, environment(
            LD_PRELOAD=":".join(order), GNOMON_OUTPUT=pattern(part),
            DUMP_HEAPTRACK_OUTPUT=os.path.join(part, "heaptrack")))
        equal(done.status, 7, "status: " + done.err)
        sums = Report(trace_of("mixture", part)).sums()
        for key in "allocations", "frees":
            check(0 <= sums[key] - done.expected[key] < 50, "%s: %d, not %d"
                  % (key, sums[key], done.expected[key]))
        check(os.path.getsize(os.path.join(part, "heaptrack")) > 1000,
              "what heaptrack wrote")


def wrapped(name, *command):
    """`gnomon run` of a tool that preloads its own library, and the tool
    around `gnomon run`."""
    def runs(directory):
        need(command[0])
        argv = [program("mixture")]
        alone = bare([*command, *argv])
        for inside in True, False:
            part = os.path.join(directory, str(inside))
            os.mkdir(part)
            run = [GNOMON, "run", "-o", pattern(part), "--"]
            done = bare([*command, *run, *argv] if inside else
                        [*run, *command, *argv])
            equal((done.status, done.out), (alone.status, alone.out),
                  "result: " + done.err)
            agree(done.expected, Report(trace_of("mixture", part)))
    runs.__name__ = "with_" + name
    return runs


case(wrapped("eatmydata", "eatmydata"))
case(wrapped("faketime", "faketime", "-f", "2020-01-01 00:00:00"))
case(wrapped("stdbuf", "stdbuf", "-oL"))
case(wrapped("fakeroot", "fakeroot"))

main()
