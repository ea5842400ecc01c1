#!/usr/bin/python3
# TIMEOUT: 240
"""Damaged and truncated traces, and files that are no traces: a message and
status 2 or 3, never a crash or a hang, and never status 0 with a wrong
number."""

import random
import threading

from gnomon_test import *

TRUNCATIONS = 50
FLIPS = 100


def good_trace(directory):
    done = recorded([program("realloc_chain")], directory)
    with open(done.trace, "rb") as file:
        return done.trace, file.read()


def write(directory, data):
    path = os.path.join(directory, "damaged.trace")
    with open(path, "wb") as file:
        file.write(data)
    return path


def read_all(path, what, statuses):
    for command in (["report", path, "--json"], ["info", path]):
        done = bare([GNOMON, *command], preexec_fn=processor(20))
        check(done.status in statuses, "%s: %s: status %d, stderr %r" % (
            what, command[0], done.status, done.err[:500]))
        if done.status:
            check(done.err.startswith("gnomon: "),
                  "%s: message %r" % (what, done.err[:500]))
        yield done


@case
def truncated(directory):
    trace, data = good_trace(directory)
    generator = random.Random(2)
    ends = {0, 1, 7, 31, 32, 33, 87, 88, 89, len(data) - 1}
    for at, _, size in chunks(data):
        ends |= {at, at + 1, at + CHUNK_SIZE, at + size - 1}
    ends |= {generator.randrange(len(data)) for _ in range(TRUNCATIONS)}
    for end in sorted(ends)[:TRUNCATIONS * 2]:
        path = write(directory, data[:end])
        for done in read_all(path, "first %d of %d" % (end, len(data)),
                             (2, 3)):
            check(done.err, "no message")


@case
def a_cut_trace_names_no_amount(directory):
    """Nobody knows how much was behind the cut."""
    trace, data = good_trace(directory)
    at, _, size = list(chunks(data))[3]
    done = gnomon("report", write(directory, data[:at + size - 1]),
                  statuses=(3,))
    check("! 1 place damaged in the trace: measures" in done.out, done.out)
    check("1 place of the trace could not be read\n" in done.out, done.out)


@case
def flipped_bytes(directory):
    trace, data = good_trace(directory)
    generator = random.Random(3)
    for _ in range(FLIPS):
        at = generator.randrange(len(data))
        changed = bytearray(data)
        changed[at] ^= 1 << generator.randrange(8)
        for done in read_all(write(directory, changed), "byte %d" % at,
                             (2, 3)):
            pass


@case
def random_stretches(directory):
    trace, data = good_trace(directory)
    generator = random.Random(4)
    for _ in range(60):
        at = generator.randrange(len(data))
        size = generator.randrange(1, 3000)
        changed = bytearray(data)
        changed[at:at + size] = generator.randbytes(len(data[at:at + size]))
        list(read_all(write(directory, changed), "stretch at %d" % at,
                      (2, 3)))


@case
def offset_is_named(directory):
    """A flip in a chunk's payload: the message says where that chunk is."""
    trace, data = good_trace(directory)
    every = list(chunks(data))
    at, _, size = every[len(every) // 2]
    changed = bytearray(data)
    changed[at + size - 1] ^= 0x40
    done = bare([GNOMON, "report", write(directory, changed)])
    equal(done.status, 3, "status")
    check(str(at) in done.err or hex(at) in done.err,
          "offset %d is not in %r" % (at, done.err))
    check("every event is here" not in done.out, "a claim that is not true")


@case
def foreign_files(directory):
    for name, data in (("text", b"hello, world\n" * 100),
                       ("elf", open("/bin/true", "rb").read()),
                       ("gzip", b"\x1f\x8b\x08" + bytes(500)),
                       ("zeros", bytes(100000)), ("empty", b"")):
        list(read_all(write(directory, data), name, (2,)))
    list(read_all(os.path.join(directory, "missing"), "missing", (2,)))
    list(read_all(directory + "/nothing-here-either", "missing", (2,)))


@case
def a_program_is_cut_short_while_its_symbols_are_read(directory):
    """A mapped file that shrinks is damaged, and nothing else."""
    copy = os.path.join(directory, "basic")
    for argv in (["report"], ["annotate"]):
        shutil.copy(program("basic"), copy)
        below = os.path.join(directory, "-".join(argv))
        os.mkdir(below)
        done = recorded([copy], below)
        function = ["tgt_malloc"] if argv[0] == "annotate" else []
        read = bare([GNOMON, *argv, done.trace, *function], environment(
            LD_PRELOAD=program("libtruncates.so"), SHORTENS=copy))
        equal(os.path.getsize(copy), 4096, "%s: size" % argv)
        check(read.status in (0, 2, 3), "%s: status %d, stderr: %s" % (
            argv, read.status, read.err))


@case
def every_command_says_what_it_cannot_read(directory):
    foreign = write(directory, b"hello, world\n" * 100)
    out = os.path.join(directory, "out")
    for path in (foreign, os.path.join(directory, "missing")):
        for argv in (["report", path], ["report", "--lifetime-min", "1s", path],
                     ["info", "--sizes", path], ["check", "--max-live", "0",
                                                 path],
                     ["diff", path, path], ["annotate", path, "main"],
                     ["strip", path, "-o", out], ["repack", path, "-o", out],
                     ["anonymize", path, "-o", out],
                     ["extract", path, "-o", out]):
            done = bare([GNOMON, *argv], preexec_fn=processor(20))
            what = "%s: status %d, %r" % (argv, done.status, done.err)
            equal(done.status, 2, what)
            check(done.err.startswith("gnomon: " + path), what)
            equal(len(done.err.splitlines()), 1, what)
            check(not os.path.exists(out), "left behind by " + what)


@case
def a_result_replaces_no_trace(directory):
    trace, data = good_trace(directory)
    other = write(directory, data)
    for argv in (["report", trace, "-o", trace], ["report", trace, "-o", other],
                 ["report", "--merge", trace, other, "-o", other],
                 ["annotate", trace, "main", "-o", trace],
                 ["check", "--max-live", "1M", trace, "--junit", trace],
                 ["repack", trace, "--force", "-o", trace]):
        done = bare([GNOMON, *argv], preexec_fn=processor(20))
        what = "%s: status %d, %r" % (argv, done.status, done.err)
        equal(done.status, 2, what)
        check("trace" in done.err, what)
        for path in (trace, other):
            with open(path, "rb") as file:
                check(file.read() == data, "overwritten by " + what)


@case
def too_new(directory):
    """A larger major version, under a right checksum, is refused; only
    xxhsum could make that checksum here, so a wrong one may stand too."""
    trace, data = good_trace(directory)
    changed = bytearray(data)
    changed[8] += 1
    for done in read_all(write(directory, changed), "major version", (2,)):
        pass


@case
def missing_middle(directory):
    """A chunk cut out cleanly: its events are missing, and that is said."""
    trace, data = good_trace(directory)
    for at, kind, size in chunks(data):
        if kind in (1, CHUNK_END):
            continue
        path = write(directory, data[:at] + data[at + size:])
        for done in read_all(path, "without chunk of type %d" % kind, (3, 2)):
            check(done.err, "no message")


@case
def repeated_chunks(directory):
    """What was written twice counts once."""
    trace, data = good_trace(directory)
    wanted = Report(trace).summary["allocations"]
    every = list(chunks(data))
    events = [one for one in every if one[1] == 5]
    check(events, "no events")
    at, _, size = events[-1]
    path = write(directory, data[:at + size] + data[at:])
    report = Report(path, statuses=(0, 3))
    equal(report.summary["allocations"], wanted, "allocations")


@case
def from_a_named_pipe(directory):
    """It is opened once: whoever writes into it does not come again."""
    done = recorded([program("basic")], directory)
    pipe = os.path.join(directory, "pipe")
    os.mkfifo(pipe)
    with open(done.trace, "rb") as trace:
        content = trace.read()

    def write():
        with open(pipe, "wb") as end:
            end.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    piped = Report(pipe)
    writer.join(10)
    equal(piped.summary, Report(done.trace).summary, "summary")


main()
