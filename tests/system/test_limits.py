#!/usr/bin/python3
"""Programs under resource limits: they run as without gnomon, and the trace is
complete, or one message says why not."""

import resource

from gnomon_test import *

MIB = 1 << 20
STACK_MORE = 4608  # bytes that a hook may use beyond the bare allocator
DUMP_MORE = 10 * MIB  # of a core dump; most of it is hardly used arenas
DUMP_DISK_MORE = MIB
NOBODY = 65534


def limited(**limits):
    def set_limits():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name),
                               (value, value))
    return set_limits


def both(argv, directory, preexec_fn, by="preload"):
    alone = bare(argv, preexec_fn=preexec_fn)
    done = recorded(argv, directory, by=by, preexec_fn=preexec_fn)
    return alone, done


def same(argv, directory, preexec_fn, by="preload"):
    alone, done = both(argv, directory, preexec_fn, by)
    equal((done.status, done.out), (alone.status, alone.out), "result")
    return done


def addresses(name, directory):
    """The program's own share of a limit is most of it."""
    for size in 512 * MIB, 128 * MIB:
        part = os.path.join(directory, str(size))
        os.mkdir(part)
        limit = limited(**{name: size})
        alone, done = both([program("fill")], part, limit)
        equal(done.status, 0, "status: " + done.err)
        Report(done.trace)
        had, wanted = (each.expected["mebibytes"] for each in (done, alone))
        check(had >= 0.7 * wanted, "%d of %d MiB" % (had, wanted))
        modes = info(done.trace)["captures"]["modes"]
        check("plain" not in modes, "stacks are remembered: %r" % modes)
        os.unlink(done.trace)
        done = same([program("basic")], part, limit)
        agree(done.expected, Report(done.trace))
        equal(done.err, "", "messages")


@case
def address_space(directory):
    addresses("AS", directory)


@case
def data(directory):
    addresses("DATA", directory)


@case
def too_few_addresses_to_record(directory):
    done = same([program("basic")], directory, limited(AS=32 * MIB))
    equal(len(done.err.splitlines()), 1, "lines in %r" % done.err)
    check("not recorded" in done.err, done.err)
    equal(done.traces, [], "traces")


@case
def no_descriptor_left(directory):
    for files in 4, 20:
        part = os.path.join(directory, str(files))
        os.mkdir(part)
        done = same([program("descriptors")], part, limited(NOFILE=files))
        agree(done.expected, Report(done.trace))


@case
def file_size(directory):
    """The trace ends at the limit; no signal, and what there is reads."""
    for size in 4096, 300000:
        part = os.path.join(directory, str(size))
        os.mkdir(part)
        done = same([program("churn"), "1000000"], part, limited(FSIZE=size))
        equal(done.err.count("recording has stopped"), 1, done.err)
        check(os.path.getsize(done.trace) <= size, "size")
        report = Report(done.trace, statuses=(3,))
        check("file too large" in info(done.trace, (0, 3))["end"]["message"],
              "the end says why")
        check(size < 5000 or report.summary["allocations"] > 10000,
              "what was written before")


# A user whom nobody else becomes, be it another run of this: one more process
# of that user, and exec fails in the bare run.
LONELY = 1000000 + os.getpid()


@case
def processes(directory):
    """Nobody may be made: the program runs, unrecorded."""
    need_root("become a user without processes")
    need_reach()
    os.chmod(directory, 0o777)

    def become_another():
        os.setgroups([])
        os.setgid(LONELY)
        limited(NPROC=0)()
        os.setuid(LONELY)

    done = same([program("basic")], directory, become_another)
    equal(len(done.err.splitlines()), 1, "lines in %r" % done.err)
    check("not recorded" in done.err, done.err)


@case
def stack(directory):
    for size in 64 << 10, resource.RLIM_INFINITY:
        part = os.path.join(directory, str(size))
        os.mkdir(part)
        done = same([program("basic")], part, limited(STACK=size))
        check(has_end(done.trace), "the recorder did not get to the end")
        agree(done.expected, Report(done.trace))


def dump_of(directory):
    """The one core in the directory, which nothing else may be in."""
    equal(len(os.listdir(directory)), 1, "files: %s" % os.listdir(directory))
    return os.path.join(directory, os.listdir(directory)[0])


def seen_in(dump):
    """What a debugger shows of it: the functions of the thread that died,
    how many threads there were."""
    done = bare(["gdb", "-nx", "-batch", "-ex", "bt", "-ex", "info threads",
                 program("exits"), dump])
    functions = re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+) \(", done.out, re.M)
    check("end" in functions and "main" in functions, done.out + done.err)
    return functions, len(re.findall(r"^[* ] +\d+ +Thread ", done.out, re.M))


@case
def core(directory):
    """A dump of the program is as it was: the recorder is in none, nor what it
    writes. The recording ends as by any other death."""
    need("gdb")
    with open("/proc/sys/kernel/core_pattern") as file:
        if not re.match(r"[^|/\s][^/]*$", file.read()):
            raise Skip("dumps do not go to the current directory")
    parts = [os.path.join(directory, name) for name in ("bare", "recorded")]
    for part in parts:
        os.mkdir(part)
    argv = [program("exits"), "abort"]
    limit = limited(CORE=resource.RLIM_INFINITY)
    alone = bare(argv, preexec_fn=limit, cwd=parts[0])
    done = recorded(argv, directory, preexec_fn=limit, cwd=parts[1])
    equal((done.status, done.out), (-signal.SIGABRT, alone.out), "result")
    equal(done.status, alone.status, "status")
    agree(done.expected, Report(done.trace))
    dumps = [dump_of(part) for part in parts]
    equal(seen_in(dumps[1]), seen_in(dumps[0]), "what gdb shows")
    sizes = [os.stat(dump) for dump in dumps]
    more = sizes[1].st_size - sizes[0].st_size
    check(more < DUMP_MORE, "%d bytes more than the bare dump" % more)
    more = (sizes[1].st_blocks - sizes[0].st_blocks) * 512
    check(more < DUMP_DISK_MORE, "%d bytes more on the disk" % more)


@case
def small_stacks(directory):
    argv = [program("small_stacks")]
    alone = bare(argv)
    done = recorded(argv, directory)
    equal(done.status, 0, "status: " + done.err)
    for key, value in done.expected.items():
        if key.startswith("used_"):
            check(value <= alone.expected[key] + STACK_MORE,
                  "%s: %d, bare %d" % (key, value, alone.expected[key]))
    agree(done.expected, Report(max(done.traces, key=os.path.getsize)))


main()
