#!/usr/bin/python3
"""Mappings: the model compared with the kernel at points in time; the callers
of each mapping; and the program's calls return the same as without gnomon."""

from gnomon_test import *

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def points(out, who=""):
    """(time, bytes) where the target looked at its own list."""
    return [(int(ns), int(size)) for ns, size in
            re.findall(r"^%sat (\d+) (\d+)$" % who, out, re.M)]


def without_points(out):
    return re.sub(r"^(forked )?at .*\n", "", out, flags=re.M)


def model_at(found, when):
    """Bytes that the model has at a time of CLOCK_MONOTONIC."""
    when -= found["info"]["start_monotonic_ns"]
    return [point["bytes"] for point in found["mapped"]["curve"]
            if point["time_ns"] <= when][-1]


def agrees(done, found, who=""):
    """But for what is ours."""
    own = found["mapped"]["recorder_bytes"]
    check(points(done.out, who), "no points")
    for when, size in points(done.out, who):
        equal(model_at(found, when), size - own, "mapped at %d" % when)


def patiently(attempt, directory):
    """On a machine that is busy with other things a look may come later than
    the target waits for it."""
    for number in range(3):
        where = os.path.join(directory, str(number))
        os.mkdir(where)
        try:
            return attempt(where)
        except Failure as failure:
            if number == 2 or "mapped at" not in str(failure):
                raise


def part(directory, *arguments, **more):
    argv = [program("mappings"), *arguments]
    alone = bare(argv)

    def attempt(where):
        done = recorded(argv, where, **more)
        equal(done.status, alone.status, "status")
        equal(without_points(done.out), without_points(alone.out), "results")
        found = info(done.trace)
        agrees(done, found)
        return found

    return patiently(attempt, directory)


def sites(found, origin, function):
    """Those of an origin whose stack has this function."""
    return [site for site in found["map_sites"] if site["origin"] == origin
            and any(frame["function"] == function for frame in site["stack"])]


def made(found, origin):
    return [each for each in found["maps"] if each["origin"] == origin]


@case
def parts_and_protections(directory):
    found = part(directory, "parts")
    calls = found["mapped"]["calls"]
    equal((calls["mmap"], calls["munmap"], calls["mprotect"]), (2, 2, 2),
          "calls")
    (site,) = sites(found, "program", "map_pages")[:1]
    mine = made(found, "program")
    equal(sorted(each["size"] for each in mine), [16 << 12, 64 << 12], "sizes")
    check(all(each["bytes"] == 0 and each["unmapped_ns"] > each["mapped_ns"]
              and each["known_by"] == "call" for each in mine), "%r" % mine)
    check(site["live_bytes"] == 0, "%r" % site)


@case
def remaps(directory):
    found = part(directory, "remaps")
    equal(found["mapped"]["calls"]["mremap"], 5, "calls")
    check(sites(found, "program", "remaps"), "no mapping of remaps")


@case
def breaks(directory):
    found = part(directory, "breaks")
    mine = [each for each in made(found, "program")
            if each["path"] == "[heap]"]
    check(len(mine) >= 2 and mine[0]["size"] == 40960, "%r" % mine)
    equal(sum(each["bytes"] for each in mine), 0, "left")


@case
def segments(directory):
    if not os.path.exists("/proc/sysvipc/shm"):
        raise Skip("no shared memory segments here")
    found = part(directory, "segments")
    (site,) = sites(found, "program", "attach")
    equal((site["count"], site["total_bytes"], site["live_bytes"]),
          (1, 40 << 12, 0), "segment")


@case
def failures(directory):
    found = part(directory, "failures")
    equal(found["mapped"]["calls"]["failed"], 1, "failed")
    equal(found["mapped"]["calls"]["mmap"], 1, "calls")


@case
def stacks_of_threads(directory):
    # A look that comes when some stacks lie beside what else is mapped, and
    # before their threads are told of, sees them as one: most see all.
    for number in range(6):
        where = os.path.join(directory, str(number))
        os.mkdir(where)
        found = part(where, "threads")
        (site,) = sites(found, "pthread_create", "create")
        if site["count"] == 100:
            break
    equal(site["count"], 100, "stacks")
    check(site["total_bytes"] >= 100 << 20, "%r" % site)
    (site,) = sites(found, "pthread_create", "create_too")
    equal(site["count"], 1, "stacks of thrd_create's")
    arenas = sites(found, "malloc", "worker")
    check(sum(site["count"] for site in arenas) >= 1, "no arena")
    check(all(site["total_bytes"] % (1 << 20) == 0 or
              site["total_bytes"] < 1 << 20 for site in arenas),
          "%r" % arenas)


@case
def ranges_from_thread_to_thread(directory):
    found = part(directory, "changes")
    check(found["mapped"]["calls"]["mmap"] > 4000, "calls")
    # of the recorder's own calls a page or two
    check(sum(each["bytes"] for each in made(found, "unknown")) <= 16384,
          "left over")


@case
def large_blocks(directory):
    found = part(directory, "blocks")
    (site,) = sites(found, "malloc", "large")
    equal((site["count"], site["live_bytes"]), (8, 0), "mappings")
    # each: the block, its header, whole pages
    equal(site["total_bytes"],
          sum((1 << 20) + i * 4096 + 4096 for i in range(8)), "bytes")


@case
def of_another_allocator(directory):
    """What it maps is its own; what the program maps, the program's."""
    need_file(JEMALLOC)
    done = recorded([program("mappings"), "parts"], directory,
                    env=environment(LD_PRELOAD=JEMALLOC))
    found = info(done.trace)
    check(made(found, "allocator"), "%r" % found["maps"])
    equal(sorted(each["size"] for each in made(found, "program")),
          [16 << 12, 64 << 12], "sizes")


@case
def libraries(directory):
    library = program("libctor.so")
    found = part(directory, "libraries", library)
    (site,) = sites(found, "dlopen", "load")
    mine = [each for each in made(found, "dlopen")
            if each["path"].endswith("libctor.so")]
    check(len(mine) == 1 and mine[0]["bytes"] == 0 and
          mine[0]["known_by"] == "look", "%r" % mine)


@case
def child(directory):
    def attempt(where):
        done = recorded([program("mappings"), "child"], where)
        equal(len(done.traces), 2, "traces")
        (found,) = [each for each in map(info, done.traces)
                    if sites(each, "malloc", "large")]
        agrees(done, found, "forked ")
        return found

    found = patiently(attempt, directory)
    # all else it has of its parent
    check(len(made(found, "before recording")) > 5, "inherited")
    equal(sites(found, "program", "map_pages")[0]["live_bytes"], 100 << 12,
          "its own")


@case
def option_maps_keeps_allocations(directory):
    argv = [program("mappings"), "threads"]
    counts = {}
    for maps in ("on", "off"):
        where = os.path.join(directory, maps)
        os.mkdir(where)
        done = recorded(argv, where, options=["--maps", maps])
        counts[maps] = Report(done.trace).summary["allocations"]
    equal(counts["on"], counts["off"], "allocations")
    found = info(done.trace)
    equal((found["maps"], found["mapped"]["looks"],
           found["mapped"]["calls"]["mmap"]), ([], 0, 0), "off")


@case
def other_c_library(directory):
    need("musl-gcc")
    argv = [program("mappings_musl")]
    alone = bare(argv)

    def attempt(where):
        done = recorded(argv, where, by="preload")
        equal(without_points(done.out), without_points(alone.out), "results")
        (found,) = [each for each in map(info, done.traces)
                    if sites(each, "pthread_create", "create")]
        agrees(done, found)
        return found

    found = patiently(attempt, directory)
    equal(sites(found, "pthread_create", "create")[0]["count"], 100, "stacks")
    check(sum(site["total_bytes"] for site in
              sites(found, "malloc", "large")) >= 8 << 20, "large blocks")


main()
