#!/usr/bin/python3
"""Memory over time, snapshots of mappings, and the memory of the C library's
arenas, compared with the target's own queries at that moment."""

from gnomon_test import *

FOOTPRINT = program("memory_steps")
ARENAS = program("arena_locks")
MIB = 1 << 20


def record(directory, argv, *options):
    done = recorded(argv, directory, options=options)
    equal(done.status, 0, "status: " + done.err)
    return done, info(traces_in(directory)[0])


# How long the target pauses, ms. A look is followed by a pause of 256 times
# what it cost, so a slow or a busy machine may come too late to a step.
PAUSES = (250, 1000, 4000, 16000, 64000)


# The recorder's own memory, which may grow after the program's own look, above
# all when it reads names, a second after the start.
OWN_MOST = 2 * MIB


def points_of(document, begin, pause):
    """Those in the pause after the time `begin`."""
    end = begin + pause * 1000000 - 5000000
    return [point for point in points(document)
            if begin < point["at"] < end]


def points(document, detailed=True):
    """Usage points with times on the monotonic clock."""
    start = document["info"]["start_monotonic_ns"]
    return [dict(point, at=point["time_ns"] + start)
            for point in document["usage"]
            if point["detailed"] or not detailed]


@case
def steps_are_seen(directory):
    patiently(directory, see_steps, PAUSES)


def see_steps(directory, pause):
    done, document = record(directory, [FOOTPRINT, "steps", str(pause)])
    steps = [[int(word) for word in line.split()[1:]]
             for line in done.out.splitlines()]
    equal(len(steps), 5, "steps")
    seen = []
    for at, rss in steps:
        near = points_of(document, at, pause)
        check(near, "no point after the step at %d" % at)
        for point in near:
            check(abs(point["rss_bytes"] - rss * 1024) < OWN_MOST,
                  "resident %d, the kernel said %d" % (
                      point["rss_bytes"], rss * 1024))
        seen.append(near[-1])
    for before, after in zip(seen[2:], seen[3:]):
        for key in ("rss_bytes", "anonymous_bytes", "private_dirty_bytes"):
            check(abs(after[key] - before[key] - 8 * MIB) < MIB // 8,
                  "%s grew by %d" % (key, after[key] - before[key]))
        # Large pages would need fewer.
        check(after["faults_minor"] - before["faults_minor"] >= 2048,
              "faults of the target")
    summary = Report(traces_in(directory)[0]).summary
    check(abs(summary["rss_peak_bytes"] - steps[-1][1] * 1024) < OWN_MOST,
          "peak of the summary")
    check(summary["vss_peak_bytes"] > summary["rss_peak_bytes"], "mapped")
    text = gnomon("report", traces_in(directory)[0]).out
    check(re.search(r"resident +peak \d+\.\dM \(\d+ samples\), ", text),
          "in the report")


@case
def kinds_of_pages(directory):
    patiently(directory, see_kinds, PAUSES)


def see_kinds(directory, pause):
    done, document = record(directory, [FOOTPRINT, "kinds", str(pause)])
    said = dict(line.split() for line in done.out.splitlines())
    at = int(said.pop("when"))
    near = points_of(document, at, pause)
    check(near, "no point while nothing moved")
    for name, kib in said.items():
        key = name.lower() + "_bytes"
        check(abs(near[-1][key] - int(kib) * 1024) < MIB,
              "%s: %d, the kernel said %d" % (key, near[-1][key],
                                              int(kib) * 1024))


@case
def many_mappings(directory):
    count = 5000
    # where no processor is free the program's end does not wait for the look
    for attempt in range(3):
        place = os.path.join(directory, str(attempt))
        os.mkdir(place)
        done, document = record(place, [FOOTPRINT, "mappings", str(count)])
        if document["snapshots"][-1]["whole"]:
            break
    base = int(done.out.split()[1], 16)
    snapshot = document["snapshots"][-1]
    mappings = snapshot["mappings"]
    equal((snapshot["kind"], snapshot["whole"]), ("end", True), "snapshot")
    equal(len(mappings), snapshot["mapping_count"], "mappings")
    for before, after in zip(mappings, mappings[1:]):
        check(before["start"] + before["size"] <= after["start"], "order")
    mine = [mapping for mapping in mappings
            if base <= mapping["start"] < base + 2 * count * 4096]
    check(len(mine) >= 2 * count - 1, "%d mappings of its own" % len(mine))
    touched = [mapping for mapping in mine if mapping["rss_bytes"]]
    equal(len(touched), count // 10, "touched")
    for mapping in touched:
        equal((mapping["rss_bytes"], mapping["private_dirty_bytes"],
               mapping["flags"]), (4096, 4096, "rw-p"), "a touched page")
    paths = {mapping["path"] for mapping in mappings}
    check(FOOTPRINT in paths and "[stack]" in paths, "paths")
    check(any(mapping["ours"] for mapping in mappings), "our own memory")
    check(abs(snapshot["rss_bytes"] - document["usage"][-1]["rss_bytes"])
          < MIB, "sum of the mappings")


@case
def memory_points_cost_little(directory):
    """Each look is followed by 256 times what it took: of a core, under half
    a percent, however large the process is."""
    for number in ("10", "20000"):
        place = os.path.join(directory, number)
        os.mkdir(place)
        document = record(place, [FOOTPRINT, "mappings", number])[1]
        all_points = points(document, detailed=False)
        check(len(all_points) >= 3, "points")
        dear = [point for point in all_points if point["detailed"]]
        # Without the last one, which comes when the program has ended.
        for one, next_one in zip(dear, dear[1:-1]):
            check(one["cost_ns"] < 1000000 or
                  next_one["at"] - one["at"] >= 200 * one["cost_ns"],
                  "a look of %d ns, the next %d ns later" % (
                      one["cost_ns"], next_one["at"] - one["at"]))
        # Not by the gaps: the recorder may be held up before either of two.
        check(len(all_points) <= document["duration_ns"] // 100000000 + 3,
              "%d points" % len(all_points))


@case
def snapshots_in_time(directory):
    patiently(directory, see_snapshots, PAUSES)


def see_snapshots(directory, pause):
    document = record(directory, [FOOTPRINT, "steps", str(pause)],
                      "--snapshot-every", "100ms")[1]
    snapshots = document["snapshots"]
    equal([s["kind"] for s in snapshots],
          ["every"] * (len(snapshots) - 1) + ["end"], "kinds")
    equal([s["name"] for s in snapshots[:-1]],
          [str(i + 1) for i in range(len(snapshots) - 1)], "names")
    # Less where the machine is busy, never more.
    due = document["duration_ns"] // 100000000
    check(6 <= len(snapshots) - 1 <= due,
          "%d snapshots of %d" % (len(snapshots) - 1, due))
    for i, snapshot in enumerate(snapshots[:-1]):
        check(snapshot["time_ns"] >= 99 * (i + 1) * 1000000, "too early")
        check(snapshot["whole"] and snapshot["mapping_count"] > 10, "whole")


def arena_states(document):
    return [snapshot.get("no_allocator") for snapshot in
            document["snapshots"] if snapshot["kind"] == "every"]


@case
def arenas_say_what_is_free(directory):
    done, document = record(directory, [ARENAS, "free"], "--snapshot-every",
                            "50ms")
    said = [[int(word) for word in line.split()[1:]]
            for line in done.out.splitlines()]
    check(abs(said[0][1] - said[1][1]) < 4096, "it stays as it is")
    taken = [snapshot["allocator"] for snapshot in document["snapshots"]
             if "allocator" in snapshot]
    check(len(taken) >= 3, "%d snapshots with figures" % len(taken))
    # All but the first ones, when it was still at work.
    same = [figures for figures in taken
            if abs(figures["free_bytes"] - said[1][1]) < 8192]
    check(len(same) >= len(taken) - 2 and same, "free bytes: %s, not %s" % (
        [figures["free_bytes"] for figures in taken], said[1][1]))
    for figures in same:
        equal(figures["system_bytes"], said[1][0], "from the system")
        # It has half of 4 times 1000 blocks of 3000 bytes.
        used = figures["system_bytes"] - figures["free_bytes"]
        check(0 <= used - 4 * 500 * 3008 < MIB // 8, "used: %d" % used)
        check(figures["free_count"] > 500, "pieces")
    summary = Report(traces_in(directory)[0]).summary
    equal(summary["allocator_virtual_bytes"], said[1][0] + said[1][2],
          "in the report")
    check(abs(summary["allocator_free_bytes"] - said[1][1]) < 8192, "free")


@case
def arenas_are_not_asked_beside_threads(directory):
    """Any of them may hold a lock; that they have ended, nobody tells."""
    document = record(directory, [ARENAS, "threads"], "--snapshot-every",
                      "50ms")[1]
    snapshots = document["snapshots"]
    check(len(snapshots) >= 4, "%d snapshots" % len(snapshots))
    # The first may come before the threads.
    for snapshot in snapshots[1:]:
        equal(snapshot.get("no_allocator"),
              "not asked: the program has threads", snapshot["name"])


@case
def arenas_are_not_asked_in_a_handler(directory):
    document = record(directory, [ARENAS, "handler"], "--snapshot-every",
                      "20ms")[1]
    states = arena_states(document)
    check(len(states) >= 5, "%d snapshots" % len(states))
    # The first may come before the program computes.
    for state in states[1:]:
        equal(state, "no thread was where it may be asked", "arenas")


@case
def handlers_inside_the_allocator(directory):
    """A handler may interrupt the allocator while it holds its lock."""
    done, document = record(directory, [ARENAS, "inside"],
                            "--snapshot-every", "20ms")
    equal(done.out, "handled many\n", "output")
    check(len(arena_states(document)) >= 10, "snapshots")
    for number in range(3):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        equal(recorded([ARENAS, "leave"], place).status, 3,
              "exit in a handler")


@case
def handlers_and_snapshots(directory):
    for words in ([], ["jump", "stack"]):
        place = os.path.join(directory, "-".join(words) or "none")
        os.mkdir(place)
        document = record(place, [program("signals"), *words],
                          "--snapshot-every", "20ms")[1]
        equal(document["dropped"], 0, "dropped")
        for state in arena_states(document):
            equal(state, "not an allocator that tells", "another allocator")


@case
def without_proc(directory):
    need_mounts()
    trace = os.path.join(directory, "x.trace")
    done = bare(["unshare", "-m", "sh", "-c",
                 "umount -l /proc && exec env LD_PRELOAD=%s "
                 "GNOMON_OUTPUT=%s GNOMON_SNAPSHOT_EVERY=50ms %s 1000" % (
                     LIBRARY, trace, program("churn"))])
    equal(done.status, 0, "status: " + done.err)
    settle(directory)
    document = info(trace)
    equal(document["usage"], [], "points")
    check(all(not snapshot["mappings"] for snapshot
              in document["snapshots"]), "mappings")
    check(Report(trace).summary["allocations"] >= 1000, "allocations")


@case
def wrong_times_are_refused(directory):
    for text in ("1", "s", "5x", "1ms", "-1s", "1s2", ""):
        done = bare([GNOMON, "run", "--snapshot-every", text, "true"],
                    cwd=directory)
        equal(done.status, 125, "status of %r" % text)


LAST = program("last_steps")


def ending(directory, way, status=0):
    done = recorded([LAST, way], directory,
                    env=environment(GNOMON_FOLLOW="none"))
    equal(done.status, status, "status: " + done.err)
    return info(traces_in(directory)[0])


for way in ("return", "exit", "_exit", "quick_exit", "exit_group", "exec",
            "refused", "searched"):
    def ends(directory, way=way):
        """What it had at its end, a moment after it got it."""
        patiently(directory, lambda place, _: see_end(place, way), [0, 1, 2])

    ends.__name__ = "at_the_end_by_" + way
    case(ends)


def see_end(directory, way):
    document = ending(directory, way)
    resident = (16 if way == "refused" else 32) * MIB
    snapshots = document["snapshots"]
    equal([(s["kind"], s["whole"]) for s in snapshots], [("end", True)],
          "snapshots")
    equal(document["end"]["reason"],
          "exec" if way in ("exec", "searched") else "exit", "reason")
    for what, value in (
            ("a point", document["usage"][-1]["rss_bytes"]),
            ("the snapshot", snapshots[0]["rss_bytes"]),
            ("the mapping", max(mapping["rss_bytes"]
                                for mapping in snapshots[0]["mappings"]))):
        check(resident <= value < resident + 14 * MIB,
              "%s: %d bytes" % (what, value))
    check(resident < document["mapped"]["curve"][-1]["bytes"], "mapped")


for way in ("killed", "given_up"):
    def kill(directory, way=way):
        """The last usual look, and no other."""
        document = ending(directory, way, -signal.SIGKILL)
        equal([s["kind"] for s in document["snapshots"]], [], "snapshots")
        check(document["usage"][-1]["rss_bytes"] >= 32 * MIB, "resident")
        check(document["mapped"]["curve"][-1]["bytes"] > 32 * MIB, "mapped")

    kill.__name__ = "at_the_end_" + way
    case(kill)


main()
