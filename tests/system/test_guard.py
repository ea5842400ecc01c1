#!/usr/bin/python3
# TIMEOUT: 120
"""--guard: programs behave as without it; the trace has writes outside of
blocks, with the stacks that allocated and freed; live blocks are found in
memory. --zero-memory: fresh bytes are zero."""

import bisect

from core_scan import *
from gnomon_test import *
from real_programs import *

FOLDER = "/usr/lib/x86_64-linux-gnu"
OTHERS = {"jemalloc": "libjemalloc.so.2", "tcmalloc":
          "libtcmalloc_minimal.so.4", "tcmalloc_with_profiler":
          "libtcmalloc.so.4",
          "mimalloc": newest(os.path.join(FOLDER, "libmimalloc.so.*.*"))}
WHEN = ["free", "realloc", "end"]


def guarded(argv, directory, zone=64, options=(), **more):
    return recorded(argv, directory, options=["--guard", str(zone), *options],
                    **more)


def no_core():
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def counter(trace, key):
    return int(find_key(info(trace), key) or 0)


class Functions:
    """Of a program at fixed addresses: the function at one."""

    def __init__(self, path):
        done = bare(["nm", "-n", path])
        rows = [line.split() for line in done.out.splitlines()]
        self.rows = [(int(row[0], 16), row[2]) for row in rows
                     if len(row) == 3 and row[1] in "tT"]
        self.starts = [row[0] for row in self.rows]

    def name(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return self.rows[at][1] if at >= 0 else None

    def innermost(self, stack):
        """A function of the program is where a hook was called, if at all;
        the C library's lie far above."""
        names = [self.name(address - 1) for address in stack
                 if address < 0x10000000]
        if not names:
            return "-"
        check(stack[0] < 0x10000000, "not the caller of free: %x" % stack[0])
        return names[0]


def damages(trace, functions):
    """Lines as guard_damage prints them."""
    lines = []
    done = bare([program("trace_dump"), trace, "damages"])
    equal(done.status, 0, "trace_dump")
    for line in done.out.splitlines():
        head, _, rest = line.partition(" by")
        by, _, of = rest.partition(" of")
        offset, count, when, _, size = head.split()
        stacks = [functions.innermost([int(word, 16) for word in part.split()])
                  for part in (of, by)]
        lines.append("damage %s %s %s %s" % (offset, size, WHEN[int(when)],
                                             " ".join(stacks)))
    return lines


for kind in ("over", "under", "both", "moved", "last", "across", "nothing"):
    def found(directory, kind=kind):
        """By zones of every kind; each once, in any order."""
        target = program("guard_damage")
        functions = Functions(target)
        for zone in (8, 64, 4096):
            place = os.path.join(directory, str(zone))
            os.mkdir(place)
            done = guarded([target, kind], place, zone)
            equal(done.status, 0, "status")
            wanted = [line for line in done.out.splitlines()]
            got = damages(done.trace, functions)
            equal(sorted(got), sorted(wanted), "zone %d" % zone)
            equal(counter(done.trace, "guard_damages"), len(wanted), "count")
            adds_up(Report(done.trace))
    found.__name__ = "damage_" + kind
    case(found)


@case
def damage_in_a_child(directory):
    """The parent's block and the child's own, each in its trace; whose stack
    is the parent's is not told as one of the child."""
    target = program("guard_damage")
    done = guarded([target, "forked"], directory)
    equal(done.status, 0, "status")
    got = sum((damages(trace, Functions(target)) for trace in done.traces),
              [])
    wanted = done.out.splitlines()
    # the child has a copy of its parent's stdout buffer only if not flushed
    equal(sorted(got), sorted(wanted), "damages")


for way in ("return", "exit", "_exit", "_Exit", "quick_exit", "exit_group",
            "pthread_exit", "handler", "late", "vfork"):
    def ends(directory, way=way):
        """However a program ends by itself, its live blocks are looked at."""
        target = program("guard_ends")
        done = guarded([target, way], directory)
        equal(done.status, 0, "status")
        equal(damages(done.trace, Functions(target)), done.out.splitlines(),
              "damages")
        equal(counter(done.trace, "guard_damages"), 1, "count")
        equal(counter(done.trace, "guard_swept"), 1, "swept")
    ends.__name__ = "ends_by_" + way
    case(ends)


for way in ("abort", "kill"):
    def killed(directory, way=way):
        """Nobody looks at blocks any more, and the trace says so."""
        target = program("guard_ends")
        done = guarded([target, way], directory, preexec_fn=no_core)
        check(done.status != 0, "status %d" % done.status)
        equal(damages(done.trace, Functions(target)), [], "damages")
        equal(counter(done.trace, "guard_swept"), 0, "swept")
    killed.__name__ = "killed_by_" + way
    case(killed)


@case
def process_ends_while_others_allocate(directory):
    """What other threads do to their blocks meanwhile is no damage."""
    target = program("guard_ends")
    for number in range(30):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        way = ("exit", "_exit", "nothing")[number % 4 % 3]
        done = guarded([target, way, "busy"], place, (64, 5000, 20000)[number % 3],
                       options=["--min-size", "80"])
        equal(done.status, 0, "status")
        equal(damages(done.trace, Functions(target)), done.out.splitlines(),
              "damages")
        check(counter(done.trace, "guard_blocks") >= 2000, "blocks")


@case
def ends_while_nothing_is_recorded(directory):
    target = program("guard_ends")
    done = guarded([target, "exit"], directory, options=["--off"])
    equal(done.status, 0, "status")
    equal(counter(done.trace, "guard_damages"), 1, "count")


@case
def freed_twice(directory):
    """It is told of, and then the allocator ends the program as it would."""
    target = program("guard_damage")
    alone = bare([target, "twice"])
    done = guarded([target, "twice"], directory, by="run")
    check(alone.status != 0, "the C library does not mind")
    check(done.status != 0, "status %d" % done.status)
    equal(damages(done.trace, Functions(target)), done.out.splitlines(),
          "damages")
    check("double free" in done.err, done.err)


@case
def every_function(directory):
    """All functions, sizes and alignments, usable sizes, refusals."""
    equal(bare([program("guarded")]).status, 0, "alone")
    for zone in (1, 16, 100, 4096):
        done = guarded([program("guarded"), "guard"], directory, zone)
        equal((done.status, done.out), (0, "all is right\n"), done.out)
    for trace in done.traces:
        equal(counter(trace, "guard_damages"), 0, "damages")
        adds_up(Report(trace), forked=True)


@case
def freed_memory_is_zeroed(directory):
    done = recorded([program("guarded"), "zero"], directory,
                    options=["--zero-memory"])
    equal((done.status, done.out), (0, "all is right\n"), done.out)
    done = guarded([program("guarded"), "zero", "guard"], directory,
                   options=["--zero-memory"])
    equal((done.status, done.out), (0, "all is right\n"), done.out)


for name, library in OTHERS.items():
    def other(directory, library=library):
        path = os.path.join(FOLDER, library)
        need_file(path)
        env = environment(LD_PRELOAD=path)
        for words, options in (
                (["guard"], ["--guard", "64"]), (["zero"], ["--zero-memory"]),
                (["guard", "zero"], ["--guard", "16", "--zero-memory"])):
            done = recorded([program("guarded"), "other", *words], directory,
                            env=env, options=options)
            equal((done.status, done.out), (0, "all is right\n"), done.out)

    def operators(directory, library=library):
        """An allocator's own operator new and delete are guarded, too."""
        path = os.path.join(FOLDER, library)
        need_file(path)
        env = environment(LD_PRELOAD=path)
        # mimalloc, written in C, aborts where others throw
        argv = [program("own_new")] + ["quietly"] * ("mimalloc" in library)
        done = guarded(argv, directory, env=env)
        equal((done.status, done.out), (0, bare(argv, env).out), done.err)
        agree(done.expected, Report(done.trace))
        equal(counter(done.trace, "guard_damages"), 0, "damages")

    other.__name__, operators.__name__ = name, name + "_operators"
    case(other)
    case(operators)


# Large zones where there are few blocks.
ZONES = {"bash": [16], "git": [1, 4096], "python3": [16], "perl": [16],
         "sqlite3": [64, 4096], "cc1plus": [64], "jq": [16]}

for name, zones in ZONES.items():
    def same(directory, name=name, zones=zones):
        argv, changes = real_program(name, directory)
        alone = bare(argv, environment(**changes))
        for zone in zones:
            traces = os.path.join(directory, "traces%d" % zone)
            os.mkdir(traces)
            env = environment(GNOMON_GUARD=zone, **changes)
            done = recorded(argv, traces, by="preload", env=env)
            equal((done.status, done.out, done.err),
                  (alone.status, alone.out, alone.err), "zone %d" % zone)
            for trace in done.traces:
                adds_up(Report(trace), trace + ": ", forked=True)
                equal(counter(trace, "guard_damages"), 0, trace)
    same.__name__ = "same_" + name
    case(same)


for name in ("churn", "crossfree", "lifecycle", "forks", "exceptions"):
    def counts(directory, name=name):
        argv = [program(name)]
        done = guarded(argv, directory, 16)
        equal(done.status, bare(argv).status, "status, stderr: " + done.err)
        for trace in done.traces:
            adds_up(Report(trace), forked=True)
            equal(counter(trace, "guard_damages"), 0, trace)
    counts.__name__ = "targets_" + name
    case(counts)


def expected_blocks(out):
    rows = [line.split() for line in out.splitlines()
            if line.startswith("block ")]
    return {int(row[1], 16): (int(row[2]), row[3]) for row in rows}


def with_core(directory, take):
    """take(process) while the target waits; what it says of its blocks."""
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_GUARD="64",
                      GNOMON_OUTPUT=os.path.join(directory, "%p.trace"))
    out = os.path.join(directory, "out")
    with open(out, "w", encoding="utf-8") as file:
        process = subprocess.Popen([program("guard_core")], env=env,
                                   stdout=file)
    try:
        def text():
            with open(out, encoding="utf-8") as file:
                return file.read()
        check(wait_for(lambda: "ready" in text()), "not ready")
        take(process)
        return expected_blocks(text())
    finally:
        process.kill()
        process.wait()


def look_into(core, expected):
    """Every live block, nothing else of the program's, and whose they are."""
    core = Core(core)
    check(core.mark, "no mark")
    functions = Functions(program("guard_core"))
    found = {}
    for block, size, context in core.blocks():
        stack = core.stack(context)
        check(stack, "no stack of the block at %x" % block)
        name = functions.name(stack[0] - 1) if stack[0] < 1 << 28 else None
        found[block] = (size, name)
    for block, wanted in expected.items():
        equal(found.get(block), wanted, "block %x" % block)
    makers = [block for block, (_, name) in found.items()
              if name in ("small_maker", "large_maker")]
    equal(sorted(makers), sorted(expected), "blocks")


@case
def in_a_core_by_gdb(directory):
    need("gcore")
    need_tracing()
    core = os.path.join(directory, "core")

    def take(process):
        done = bare(["gcore", "-o", core, str(process.pid)])
        check(os.path.exists("%s.%d" % (core, process.pid)),
              "gcore: " + done.err)
        os.rename("%s.%d" % (core, process.pid), core)
    look_into(core, with_core(directory, take))


@case
def in_a_core_by_the_kernel(directory):
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        if file.read().strip() != "core":
            raise Skip("the kernel writes cores elsewhere")

    def aborted(words):
        """What it said, and the cores that it left."""
        done = bare(["bash", "-c", "ulimit -c unlimited; exec env %s %s abort"
                     % (words, program("guard_core"))], cwd=directory)
        equal(done.status, -signal.SIGABRT, "status, stderr: " + done.err)
        return done.out, glob.glob(os.path.join(directory, "core*"))

    _, cores = aborted("A=1")
    if not cores:
        raise Skip("the kernel writes no core")
    for each in cores:
        os.unlink(each)
    out, cores = aborted("LD_PRELOAD=%s GNOMON_GUARD=64 GNOMON_OUTPUT=t.trace"
                         % LIBRARY)
    equal(len(cores), 1, "cores")
    look_into(cores[0], expected_blocks(out))


@case
def guard_sizes_in_memory(directory):
    """Without addresses: sizes in their order."""
    image = bytearray()

    def take(process):
        with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps, \
                open("/proc/%d/mem" % process.pid, "rb") as memory:
            for line in maps:
                words = line.split()
                start, end = (int(word, 16) for word in words[0].split("-"))
                if words[1].startswith("rw") and words[4] == "0" and \
                        end - start < 64 << 20:
                    memory.seek(start)
                    image.extend(memory.read(end - start))
    expected = with_core(directory, take)
    sizes = sorted(size for size, _ in expected.values())
    found = sorted(size for _, size, _ in blocks_in_bytes(bytes(image)))
    for size in sizes:
        check(size in found, "no block of %d" % size)
        found.remove(size)
    # the C library's own
    check(len(found) < 10, "more than there should be: %s" % found)


@case
def wrong_guard_sizes_are_refused(directory):
    done = bare([GNOMON, "run", "--guard", "2M", "--", "true"], cwd=directory)
    check(done.status not in (0, 1), "status %d" % done.status)
    check("guard" in done.err, done.err)


main()
