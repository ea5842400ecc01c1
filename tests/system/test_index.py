#!/usr/bin/python3
# TIMEOUT: 900
"""The index of a trace, TRACE.idx: where it is made and which one is used; its
maker is killed, two processes make it, the disk is full, and the trace
grows."""

import hashlib
import random
import re
import shutil
import signal
import stat
import struct

from gnomon_test import *

EVENTS = 200000
SOME_EVENTS = 20000
KILLS = int(os.environ.get("GNOMON_TEST_KILLS") or 12)
PART_EVENTS = 34000000  # of a trace whose making is worth parts
PART_SECONDS = 120
BUILDERS = 4
RACES = 5
GROWINGS = 6            # of a trace that is being written,
GROWTH = 200000         # by so many bytes


def generate(path, events=SOME_EVENTS, seed=1):
    """And how many blocks it has."""
    done = bare([program("trace_gen"), path, str(events), "4", "500", "3000",
                 str(seed)])
    equal(done.status, 0, "trace_gen: " + done.err)
    told = dict(line.split() for line in done.out.splitlines())
    return int(told["allocations"])


def index(trace, *words, cache=None, statuses=(0,), **variables):
    """A command that makes it: its messages."""
    env = environment(XDG_CACHE_HOME=cache or os.path.dirname(trace) + "/none",
                      **variables)
    return gnomon("report", "--index", "--json", "--top", "1", *words, trace,
                  statuses=statuses, env=env).err


def found(trace, cache=None):
    env = environment(XDG_CACHE_HOME=cache or os.path.dirname(trace) + "/none")
    done = gnomon("info", "--json", trace, env=env, statuses=(0, 3))
    return json.loads(done.out).get("index")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def rows(trace):
    """Of the index that is there; its bytes depend on who packed first."""
    done = bare([program("rows_dump"), "--there", trace])
    equal(done.status, 0, "rows: " + done.err)
    return hashlib.sha256(done.out.encode()).hexdigest()


def identity(path):
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size


def is_good(trace, blocks, path=None, cache=None):
    told = found(trace, cache)
    check(told and told["good"], "no good index: %s" % told)
    equal(told["blocks"], blocks, "blocks in the index")
    equal(told["path"], path or trace + ".idx", "where it is")


def nothing_left(directory):
    equal([name for name in os.listdir(directory)
           if name.endswith((".new", ".part"))], [], "files that were left")


# ---- where and when ----

@case
def index_lies_beside_the_trace(directory):
    trace = os.path.join(directory, "a.trace")
    blocks = generate(trace)
    equal(found(trace), None, "an index before it was asked for")
    err = index(trace)
    check("indexing about" in err and "a.trace.idx" in err, err)
    is_good(trace, blocks)
    equal(stat.S_IMODE(os.stat(trace + ".idx").st_mode), 0o600, "its mode")
    nothing_left(directory)
    before = identity(trace + ".idx")
    equal(index(trace), "", "said where it is there")
    equal(identity(trace + ".idx"), before, "made once more")
    text = gnomon("info", trace).out
    check("a.trace.idx is good" in text and " bytes a block" in text, text)


@case
def a_link_to_the_trace_has_none_of_its_own(directory):
    trace = os.path.join(directory, "a.trace")
    os.mkdir(os.path.join(directory, "other"))
    blocks = generate(trace)
    link = os.path.join(directory, "other", "b.trace")
    os.symlink(trace, link)
    index(link)
    is_good(trace, blocks)
    is_good(link, blocks, trace + ".idx")


@case
def it_is_not_made_unless_it_is_wanted(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace)
    for words in ([], ["--no-index"], ["--index", "--no-index"]):
        gnomon("report", *words, trace)
        equal(os.listdir(directory), ["a.trace"], "files, with %s" % words)


@case
def quiet_makes_it_quietly(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace)
    equal(index(trace, "-q"), "", "said")
    check(os.path.exists(trace + ".idx"), "no index")


@case
def a_pipe_has_none(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace)
    with open(trace, "rb") as file:
        whole = file.read()
    done = subprocess.run([GNOMON, "report", "--index", "--json", "-"],
                          input=whole, env=environment(), timeout=RUN_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal((done.returncode, done.stderr), (0, b""), "status and stderr")
    equal(os.listdir(directory), ["a.trace"], "files")


# ---- the cache ----

class ReadOnly:
    """A folder that cannot be written, not even by root, as another one."""

    def __init__(self, folder, place):
        self.place = place
        os.mkdir(place)
        for words in (["--bind", folder, place],
                      ["-o", "remount,bind,ro", place]):
            done = bare(["mount", *words])
            if done.status:
                raise Skip("cannot mount: " + done.err.strip())

    def __enter__(self):
        return self.place

    def __exit__(self, *unused):
        subprocess.run(["umount", "-l", self.place])


@case
def it_lies_in_the_cache_where_the_folder_cannot_be_written(directory):
    need_root("mount")
    cache, folder = (os.path.join(directory, name) for name in ("c", "f"))
    os.mkdir(cache)
    os.mkdir(folder)
    traces = ["%d.trace" % i for i in range(2)]
    blocks = [generate(os.path.join(folder, name), SOME_EVENTS * (i + 1), i)
              for i, name in enumerate(traces)]
    # they have one id, which recorders never give twice
    with ReadOnly(folder, os.path.join(directory, "ro")) as place:
        trace = os.path.join(place, traces[0])
        index(trace, cache=cache)
        names = os.listdir(os.path.join(cache, "gnomon"))
        equal(len(names), 1, "in the cache: %s" % names)
        path = os.path.join(cache, "gnomon", names[0])
        is_good(trace, blocks[0], path, cache)
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "its mode")
        equal(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700,
              "its folder's")
        # that of another trace with this id takes its place
        index(os.path.join(place, traces[1]), cache=cache)
        is_good(os.path.join(place, traces[1]), blocks[1], path, cache)


@case
def the_cache_has_a_limit(directory):
    need_root("mount")
    cache, folder = (os.path.join(directory, name) for name in ("c", "f"))
    os.makedirs(os.path.join(cache, "gnomon"))
    os.mkdir(folder)
    generate(os.path.join(folder, "a.trace"))
    old = [os.path.join(cache, "gnomon", name)
           for name in ("%016x.idx" % i for i in range(3))]
    for i, path in enumerate(old):
        with open(path, "wb") as file:
            file.truncate(1 << 20)
        os.utime(path, (1000 + i, 1000 + i))
    left = [os.path.join(cache, "gnomon", name)
            for name in ("left.idx.new", "left.idx.part", "left.idx.part.new",
                         "alone.idx.part")]
    others = [os.path.join(cache, "gnomon", name)
              for name in ("notes", "notes.part", "notes.new")]
    for path in left + others:
        open(path, "w").close()
    with ReadOnly(folder, os.path.join(directory, "ro")) as place:
        trace = os.path.join(place, "a.trace")
        err = index(trace, cache=cache, GNOMON_INDEX_CACHE="10k")
        check("raise GNOMON_INDEX_CACHE" in err, err)
        check(all(map(os.path.exists, old)), "removed for nothing")
        index(trace, cache=cache, GNOMON_INDEX_CACHE="2400k")
        equal([os.path.exists(path) for path in old], [False, True, True],
              "kept: what was used last")
        check(found(trace, cache)["good"], "no index")
        check(not any(map(os.path.exists, left)),
              "what killed makers have left")
        check(all(map(os.path.exists, others)), "what is not ours")
        err = index(trace, cache=cache, GNOMON_INDEX_CACHE="much")
        equal(err, "", "said where it is there")


@case
def without_any_place_the_trace_is_read(directory):
    need_root("mount")
    folder = os.path.join(directory, "f")
    os.mkdir(folder)
    generate(os.path.join(folder, "a.trace"))
    with ReadOnly(folder, os.path.join(directory, "ro")) as place:
        for cache in ("/proc/none", ""):
            err = gnomon("report", "--index", "--json", place + "/a.trace",
                         env=environment(XDG_CACHE_HOME=cache, HOME=cache)).err
            check("neither beside it nor in the cache" in err, err)


# ---- what is not used ----

def replaced(directory, change, text):
    """What was done to an index is found out, and a good one made."""
    trace = os.path.join(directory, "a.trace")
    path = trace + ".idx"
    blocks = generate(trace)
    index(trace)
    was = rows(trace)
    change(trace, path)
    told = found(trace)
    check(not told["good"] and text in told["state"],
          "not %s: %s" % (text, told))
    check("indexing about" in index(trace), "was not made anew")
    is_good(trace, blocks)
    equal(rows(trace), was, "the new one's rows")


@case
def one_of_another_trace_is_replaced(directory):
    def change(trace, path):
        other = os.path.join(directory, "b.trace")
        generate(other, seed=7)
        index(other)
        os.rename(other + ".idx", path)
    replaced(directory, change, "is of another trace")


@case
def one_of_other_bytes_is_not_used(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace)
    index(trace)
    with open(trace, "r+b") as file:
        file.seek(-20, 2)
        file.write(b"x")
    check(not found(trace)["good"], "it is good for a changed trace")


@case
def a_truncated_one_is_replaced(directory):
    replaced(directory, lambda trace, path: os.truncate(
        path, os.path.getsize(path) * 2 // 3), "")


@case
def a_damaged_one_is_replaced(directory):
    def change(trace, path):
        with open(path, "r+b") as file:
            file.seek(-200, 2)
            piece = file.read(100)
            file.seek(-200, 2)
            file.write(bytes(255 - byte for byte in piece))
    replaced(directory, change, "")


@case
def what_is_no_index_is_replaced(directory):
    def change(trace, path):
        with open(path, "w") as file:
            file.write("notes of mine\n" * 1000)
    replaced(directory, change, "")


@case
def one_that_others_could_have_written_is_not_used(directory):
    replaced(directory, lambda trace, path: os.chmod(path, 0o622),
             "is not trusted")
    shutil.rmtree(directory)
    os.mkdir(directory)
    replaced(directory, lambda trace, path: os.link(path, path + ".2"),
             "is not trusted")


@case
def one_of_another_user_is_left_where_it_is(directory):
    need_root("give files away")
    cache = os.path.join(directory, "c")
    os.mkdir(cache)
    trace = os.path.join(directory, "a.trace")
    blocks = generate(trace)
    index(trace)
    for change in (lambda: os.chown(trace + ".idx", 1000, 1000),
                   lambda: (os.rename(trace + ".idx", trace + ".there"),
                            os.symlink(trace + ".there", trace + ".idx"))):
        change()
        before = digest(trace + ".idx")
        index(trace, cache=cache)
        equal(digest(trace + ".idx"), before, "what is there")
        told = [name for name in os.listdir(os.path.join(cache, "gnomon"))]
        equal(len(told), 1, "in the cache")
        # the cache's is as good as any
        equal(index(trace, cache=cache), "", "said the second time")
        check(blocks > 0, "blocks")
        shutil.rmtree(os.path.join(cache, "gnomon"))


# ---- who is killed, who is interrupted, who comes second ----

def begin(trace, *words, **variables):
    return subprocess.Popen(
        [GNOMON, "report", "--index", "--json", "--top", "1", *words, trace],
        env=environment(XDG_CACHE_HOME=os.path.dirname(trace) + "/none",
                        **variables),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def seconds_to_make(trace):
    start = time.monotonic()
    index(trace)
    return time.monotonic() - start


@case
def a_kill_at_any_moment_harms_nobody(directory):
    trace = os.path.join(directory, "a.trace")
    path = trace + ".idx"
    generate(trace, EVENTS)
    longest = seconds_to_make(trace)
    whole, r = rows(trace), random.Random(1)
    os.unlink(path)
    made = 0
    for _ in range(KILLS):
        process = begin(trace)
        time.sleep(r.uniform(0, longest * 1.1))
        process.kill()
        process.communicate()
        if os.path.exists(path):        # then it is a good one
            made += 1
            equal(rows(trace), whole, "an index after a kill")
            os.unlink(path)
    index(trace)
    equal(rows(trace), whole, "the index after all kills")
    nothing_left(directory)
    check(made < KILLS, "no kill came in time")


@case
def makers_go_on_where_others_were_killed(directory):
    """Of a small trace by a tool that takes parts as often as can be."""
    trace = os.path.join(directory, "a.trace")
    generate(trace, EVENTS)
    start = time.monotonic()
    done = bare([program("rows_dump"), trace])
    longest = time.monotonic() - start
    r, went_on, left = random.Random(2), 0, ""
    for _ in range(KILLS):
        process = subprocess.Popen([program("rows_dump"), "--into", trace],
                                   stdout=subprocess.DEVNULL)
        time.sleep(r.uniform(0, longest))
        process.kill()
        process.communicate()
        before, left = left, os.path.exists(trace + ".part") and \
            digest(trace + ".part")
        went_on += bool(before) and left != before
    again = bare([program("rows_dump"), "--into", trace])
    equal((again.status, again.err), (0, ""), "after all kills")
    equal(again.out, done.out, "rows")
    check(went_on > 0, "nobody went on")


def large(directory):
    trace = os.path.join(directory, "a.trace")
    done = bare([program("trace_gen"), trace, str(PART_EVENTS)],
                seconds=PART_SECONDS)
    equal(done.status, 0, "trace_gen: " + done.err)
    return trace


def until_a_part(trace, number):
    """A maker gets a signal as soon as there is a part: its messages."""
    process = begin(trace)
    check(wait_for(lambda: os.path.exists(trace + ".idx.part"), PART_SECONDS),
          "no part")
    process.send_signal(number)
    err = process.communicate(timeout=RUN_SECONDS)[1].decode()
    equal(process.returncode, -number, "how it ended")
    check(not os.path.exists(trace + ".idx"), "an index all the same")
    return err


def all_figures(trace, *words):
    return gnomon("report", "--json", "--top", "50", *words, trace).out


@case
def interrupted_large_index_is_resumed(directory):
    trace = large(directory)
    wanted = all_figures(trace, "--no-index")
    for number in (signal.SIGKILL, signal.SIGINT):
        err = until_a_part(trace, number)
        check(number == signal.SIGKILL or "the next time resumes there" in err,
              err)
        err = index(trace)
        percent = re.search(r"resuming its index from ([\d.]+)%", err)
        check(percent and "indexing" not in err, err)
        check(float(percent[1]) > 40, "from %s%% only" % percent[1])
        check("from the start" not in err, err)
        nothing_left(directory)
        equal(all_figures(trace), wanted, "figures")
        os.unlink(trace + ".idx")
    # what it lacks is gone
    until_a_part(trace, signal.SIGKILL)
    check("was left unfinished" in gnomon("info", trace).out, "info")
    os.truncate(trace + ".idx.new", 1000)
    check("making it from the start" in index(trace), "not reported")
    equal(all_figures(trace), wanted, "figures")
    os.unlink(trace + ".idx")
    # one of another trace is of no use
    until_a_part(trace, signal.SIGKILL)
    blocks = generate(trace)
    check("indexing about" in index(trace), "gone on with another trace's")
    is_good(trace, blocks)
    nothing_left(directory)


@case
def a_part_stays_where_there_is_no_room(directory):
    need_root("mount")
    if bare(["mount", "-t", "tmpfs", "-o", "size=600m", "none",
             directory]).status:
        raise Skip("cannot mount")
    try:
        trace = large(directory)
        until_a_part(trace, signal.SIGKILL)
        kept = digest(trace + ".idx.part")
        free = os.statvfs(directory)
        with open(os.path.join(directory, "full"), "wb") as full:
            os.posix_fallocate(full.fileno(), 0, free.f_bavail *
                               free.f_frsize - (1 << 20))
        err = index(trace)
        check("make room" in err, err)
        equal(digest(trace + ".idx.part"), kept, "the part")
        os.unlink(full.name)
        check("resuming" in index(trace), "it was not resumed")
        nothing_left(directory)
    finally:
        subprocess.run(["umount", "-l", directory], check=False)


@case
def a_part_may_be_in_the_way(directory):
    """A folder has its name."""
    trace = os.path.join(directory, "a.trace")
    generate(trace)
    os.mkdir(trace + ".idx.part")
    err = index(trace)
    check("making it failed" in err and "make room" not in err, err)
    check(not os.path.exists(trace + ".idx.new"), "something is left")


@case
def an_interrupt_leaves_nothing(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace, EVENTS * 4)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = begin(trace)
        check(wait_for(lambda: os.path.exists(trace + ".idx.new")),
              "it did not begin")
        process.send_signal(number)
        process.communicate(timeout=RUN_SECONDS)
        equal(process.returncode, -number, "how it ended")
        equal(os.listdir(directory), ["a.trace"], "what is left")


@case
def concurrent_makers_make_one_index(directory):
    trace = os.path.join(directory, "a.trace")
    blocks = generate(trace, EVENTS)
    index(trace)
    whole = rows(trace)
    waited = 0
    for _ in range(RACES):
        os.unlink(trace + ".idx")
        makers = [begin(trace) for _ in range(BUILDERS)]
        told = [maker.communicate(timeout=RUN_SECONDS)[1].decode()
                for maker in makers]
        equal([maker.returncode for maker in makers], [0] * BUILDERS,
              "statuses; " + "".join(told))
        equal(sum("indexing about" in text for text in told), 1,
              "makers: %s" % told)
        waited += sum("waiting for it" in text for text in told)
        equal(rows(trace), whole, "what they made")
        nothing_left(directory)
    check(waited > 0, "nobody came second")
    is_good(trace, blocks)


@case
def waiting_maker_can_be_interrupted(directory):
    trace = os.path.join(directory, "a.trace")
    generate(trace, EVENTS * 4)
    first = begin(trace)
    check(wait_for(lambda: os.path.exists(trace + ".idx.new")),
          "it did not begin")
    first.send_signal(signal.SIGSTOP)
    second = begin(trace)
    while b"waiting for it" not in second.stderr.readline():
        equal(second.poll(), None, "the second one's end")
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=RUN_SECONDS)
    equal(second.returncode, -signal.SIGINT, "how the second one ended")
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=RUN_SECONDS)
    equal(first.returncode, 0, "the first one's status")
    check(found(trace)["good"], "no good index")


# ---- what is found out only by who reads it ----

COLUMNS = 16


def columns(path):
    """Offset and size of each column of each chunk, as STORE.md has them."""
    with open(path, "rb") as file:
        data = file.read()
    at, = struct.unpack_from("<Q", data, 56)
    count, = struct.unpack_from("<I", data, at)
    at, chunks = at + 12, []
    for _ in range(count):
        offset, _, _ = struct.unpack_from("<QII", data, at)
        chunks.append([])
        for column in range(COLUMNS):
            size, = struct.unpack_from("<I", data, at + 16 + 28 * column)
            chunks[-1].append((offset, size))
            offset += size
        at += 16 + 28 * COLUMNS + 2 * 16
    return chunks


def damage(path, at, size=1):
    with open(path, "r+b") as file:
        file.seek(at)
        was = file.read(size)
        file.seek(at)
        file.write(bytes(255 - byte for byte in was))


@case
def a_damaged_chunk_is_found_by_who_reads_it(directory):
    trace = os.path.join(directory, "a.trace")
    path = trace + ".idx"
    generate(trace, EVENTS * 2)
    index(trace)
    shutil.copy(path, trace + ".kept")
    chunks = columns(path)
    check(len(chunks) > 3, "chunks: %d" % len(chunks))
    words = ("--json", "--timeline")
    wanted = gnomon("report", *words, "--no-index", trace).out
    found_out = 0
    for column, (at, size) in enumerate(chunks[1]):
        if size == 0:
            continue
        shutil.copy(trace + ".kept", path)
        damage(path, at + size // 2)
        done = gnomon("report", *words, trace)
        equal(done.out, wanted, "with column %d damaged" % column)
        found = "%s: damaged at byte %d" % (path, at) in done.err
        check(found == (path + ": removed, since it is damaged" in done.err),
              done.err)
        equal(os.path.exists(path), not found, "the index")
        found_out += found
    # begin, end, both edges, size, node, between
    equal(found_out, 7, "columns that are read")


@case
def a_damaged_one_that_is_asked_for_is_made_anew(directory):
    trace = os.path.join(directory, "a.trace")
    blocks = generate(trace, EVENTS * 2)
    index(trace)
    wanted, was = gnomon("report", "--json", trace).out, rows(trace)
    at, _ = columns(trace + ".idx")[1][2]
    damage(trace + ".idx", at)
    done = gnomon("report", "--json", "--index", trace)
    equal(done.out, wanted, "figures")
    check("indexing about" in done.err, done.err)
    is_good(trace, blocks)
    equal(rows(trace), was, "rows")


@case
def one_of_a_trace_that_was_damaged_since_is_not_used(directory):
    """Also where it has the same begin and end."""
    trace = os.path.join(directory, "a.trace")
    generate(trace, EVENTS)
    index(trace)
    damage(trace, os.path.getsize(trace) // 2, 64)
    check(found(trace)["good"], "its begin and end are the same")
    wanted = gnomon("report", "--json", "--no-index", trace,
                    statuses=(3,)).out
    done = gnomon("report", "--json", trace, statuses=(3,))
    equal(done.out, wanted, "figures")
    check("damaged in other places" in done.err, done.err)
    check(not os.path.exists(trace + ".idx"), "the index is still there")
    # one that is made of it as it is
    index(trace, statuses=(3,))
    done = gnomon("report", "--json", trace, statuses=(3,))
    equal(done.out, wanted, "figures by an index")
    check("removed" not in done.err, done.err)
    check(os.path.exists(trace + ".idx"), "no index")


# ---- no room ----

@case
def it_is_refused_where_there_is_no_room(directory):
    need_root("mount")
    generate(os.path.join(directory, "a.trace"), EVENTS)
    size = os.path.getsize(os.path.join(directory, "a.trace"))
    with Disk(os.path.join(directory, "disk"), size + (256 << 10)) as disk:
        trace = os.path.join(disk.place, "a.trace")
        shutil.copy(os.path.join(directory, "a.trace"), trace)
        err = index(trace)
        check("are free there: make room" in err, err)
        equal(os.listdir(disk.place), ["a.trace"], "what is left")


@case
def full_disk_leaves_nothing(directory):
    need_root("mount")
    trace = os.path.join(directory, "a.trace")
    generate(trace, EVENTS)
    env = environment(XDG_CACHE_HOME=directory + "/none")
    done = bare(["sh", "-c", 'ulimit -f 64; trap "" XFSZ; exec "$@"', "sh",
                 GNOMON, "report", "--index", "--json", trace], env)
    equal(done.status, 0, "status: " + done.err)
    check("making it failed: File too large" in done.err, done.err)
    equal(os.listdir(directory), ["a.trace"], "what is left")


# ---- a trace that grows ----

@case
def that_of_a_shorter_trace_is_extended(directory):
    trace = os.path.join(directory, "a.trace")
    whole = os.path.join(directory, "whole")
    generate(whole, EVENTS)
    with open(whole, "rb") as file:
        data = file.read()
    for part in (3, 4, 7, 9, 10):
        with open(trace, "wb") as file:
            file.write(data[:len(data) * part // 10])
        err = index(trace, statuses=(0, 3))
        check(("it has grown: extending" if part > 3 else
               "indexing about") in err, "%d: %s" % (part, err))
        check(found(trace)["good"], "no good index at %d" % part)
        if part < 9:
            with open(trace, "ab") as file:
                file.write(b"x")
            check("lacks events that were added" in found(trace)["state"],
                  "it is as good as before: %s" % found(trace))
    index(whole)
    equal(rows(trace), rows(whole), "rows")


@case
def that_of_a_trace_that_is_being_written_is_extended(directory):
    trace = os.path.join(directory, "a.trace")
    process = subprocess.Popen(
        [program("killable"), os.path.join(directory, "counts")],
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=trace),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    extended, before = 0, 0
    for _ in range(GROWINGS):
        os.kill(process.pid, signal.SIGCONT)
        check(wait_for(lambda: os.path.exists(trace) and
                       os.path.getsize(trace) > before + GROWTH), "no growth")
        # it would write more than can be read meanwhile
        os.kill(process.pid, signal.SIGSTOP)
        before = os.path.getsize(trace)
        extended += "it has grown: extending" in index(trace)
        equal(stat.S_IMODE(os.stat(trace + ".idx").st_mode), 0o600, "its mode")
    process.kill()
    process.communicate()
    check(wait_for(lambda: has_end(trace)), "no end")
    check(extended >= GROWINGS - 2, "extended %d times" % extended)
    check("extending" in index(trace), "the last time")
    blocks = Report(trace).summary["allocations"]
    is_good(trace, blocks)
    last = rows(trace)
    os.unlink(trace + ".idx")
    index(trace)
    equal(rows(trace), last, "rows, made at once")


main()
