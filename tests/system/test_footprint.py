#!/usr/bin/python3
# TIMEOUT: 120
"""The recorder's memory in the target: little if little happens, and never more
than --memory."""

from gnomon_test import *

KIB, MIB = 1024, 1024 * 1024

# What the kernel says of a mapping that is wiped in a child: the area.
WIPED = "wf"


class Use:
    """Bytes of ours in a process: resident parts of the area, and all that
    was reserved of the live file, touched or not; it is as good as used. Code
    is left out: it is the same file's in every process."""

    def __init__(self, pid):
        self.area = self.live = self.static = 0
        self.pieces = 0     # mappings of the live file
        with open("/proc/%d/smaps" % pid) as smaps:
            parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", smaps.read(),
                             flags=re.M)
        for part in parts[1:]:
            fields = dict(re.findall(r"^(\w+): +(.*)$", part, re.M))
            path = part.splitlines()[0].partition("/")[2]
            resident = int(fields["Rss"].split()[0]) * KIB
            if WIPED in fields["VmFlags"].split():
                self.area += resident
            elif path.endswith(".live"):
                self.live = os.stat("/" + path).st_blocks * 512
                self.pieces += 1
            elif path.endswith("libgnomon.so"):
                self.static += int(fields["Anonymous"].split()[0]) * KIB

        with open("/proc/%d/status" % pid) as status:
            self.addresses = int(re.search(r"VmSize:\s*(\d+)",
                                           status.read())[1]) * KIB

    @property
    def all(self):
        return self.area + self.live + self.static


def used(directory, *arguments, memory=None, library=LIBRARY):
    """While the target's threads idle."""
    name = "-".join(map(str, arguments)) + (memory or "") + ".trace"
    env = environment(LD_PRELOAD=library, GNOMON_MEMORY=memory,
                      GNOMON_OUTPUT=os.path.join(directory, name))
    process = subprocess.Popen([program("idle_threads"), *map(str, arguments)],
                               env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    try:
        equal(process.stdout.readline(), b"ready\n", "start")
        return Use(process.pid)
    finally:
        process.stdin.close()
        process.stdout.read()
        equal(process.wait(RUN_SECONDS), 0, "status")
        settle(directory)


def print_use(what, use):
    print("# %s: area %d KiB, live file %d KiB, static %d KiB" % (
        what, use.area // KIB, use.live // KIB, use.static // KIB))


@case
def one_thread(directory):
    use = used(directory, 0)
    print_use("one thread", use)
    check(use.all <= 4 * MIB, "%d KiB" % (use.all // KIB))
    check(use.area and use.live, "the mappings were not found")


@case
def few_addresses(directory):
    """64 MiB with one thread, whatever --memory is."""
    bare = used(directory, 0, library="").addresses
    for memory in None, "8M", "4G":
        use = used(directory, 0, memory=memory)
        ours = use.addresses - bare
        print("# --memory %s: %d KiB of addresses" % (memory, ours // KIB))
        check(ours <= 64 * MIB, "%s: %d KiB" % (memory, ours // KIB))


THREADS, STACKS = 400, 300000
NODES_FIRST = 4 * MIB // 16     # in the first piece


def grown(directory, *arguments):
    """A process, its child and that one's child need several pieces of all:
    all of their stacks and threads are there."""
    done = recorded([program("grower"), str(THREADS), str(STACKS), *arguments],
                    directory)
    equal(done.status, 0, "status: " + done.err)
    for trace in done.traces:
        document = info(trace)
        equal(int(find_key(document, "dropped") or 0), 0, "dropped")
        equal(int(find_key(document, "stop_no_memory") or 0), 0, "no nodes")
        nodes = int(find_key(document, "nodes"))
        print("# %d nodes" % nodes)
        check(nodes > 2 * NODES_FIRST, "%d nodes" % nodes)
    return len(done.traces)


@case
def growth(directory):
    equal(grown(directory, "2"), 3, "traces")


@case
def growth_where_mapping_is_forbidden(directory):
    equal(grown(directory, "1", "filtered"), 2, "traces")


@case
def no_growth(directory):
    """A limit of addresses that comes later: what cannot be recorded is counted,
    and nobody waits for it."""
    begin = time.monotonic()
    done = recorded([program("grower"), "400", "3000", "0", "limited"],
                    directory)
    equal(done.status, 0, "status: " + done.err)
    dropped = int(find_key(info(done.trace), "dropped") or 0)
    print("# %d dropped, %.1f s" % (dropped, time.monotonic() - begin))
    check(dropped > 0, "nothing was dropped")


@case
def idle_threads(directory):
    """4 MiB and 96 KiB a thread."""
    for threads in 1, 4, 12, 30, 60, 100, 1000:
        use = used(directory, threads)
        print_use("%d threads" % threads, use)
        check(use.all <= 4 * MIB + threads * 96 * KIB,
              "%d threads: %d KiB" % (threads, use.all // KIB))


@case
def within_the_budget(directory):
    """Many threads, many stacks: each takes all that there is of its part."""
    for memory, bound in ("8M", 8), ("32M", 32), ("64M", 64):
        for arguments in (3000, 20, 20), (4, 6000, 1000000):
            use = used(directory, *arguments, memory=memory)
            print_use("%s, %s" % (memory, arguments), use)
            check(use.all <= bound * MIB, "%s, %s: %d KiB" % (
                memory, arguments, use.all // KIB))


def by_tier(directory, memory, threads):
    """Of threads that all allocate through the same stacks: the trace, its
    captures by tier, and threads by how their stacks were taken."""
    done = recorded([program("idle_threads"), str(threads), "20", "1000"], directory,
                    options=("--memory", memory))
    equal(done.status, 0, "status: " + done.err)
    document = info(done.trace)
    tiers = {tier: int(find_key(document, "tier_" + tier) or 0)
             for tier in ("path", "join", "full", "plain")}
    return done, tiers, document["captures"]["modes"]


@case
def a_small_budget_remembers_stacks(directory):
    """The tables' addresses are not taken from what captures may use."""
    for memory in "8M", "32M":
        place = os.path.join(directory, memory)
        os.mkdir(place)
        done, tiers, modes = by_tier(place, memory, 8)
        check("plain" not in modes, "%s: %r" % (memory, modes))
        equal(tiers["plain"], 0, memory + ": walked with nothing remembered")
        check(tiers["path"] > 2 * tiers["join"], "%s: %r" % (memory, tiers))
        check("--memory" not in done.err, done.err)


@case
def threads_without_memory_are_told(directory):
    done, tiers, modes = by_tier(directory, "8M", 200)
    count = modes.get("plain", 0)
    check(0 < count < 200, "modes: %r" % modes)
    # 20 blocks a round in each of them, but for what was dropped
    check(count * 200 < tiers["plain"] <= count * 400,
          "%d threads, tiers: %r" % (count, tiers))
    told = "no memory was left for %d threads" % count
    check(told in done.err, "the end of run: " + done.err)
    for command in "report", "info":
        text = gnomon(command, done.trace).out
        check("unwound in full in %d threads" % count in text,
              command + ": " + text)


main()
