#!/usr/bin/python3
"""Snapshots at a memory limit: of resident memory, and of the control group,
which is a real one if this user may make them."""

from gnomon_test import *

FOOTPRINT = program("memory_steps")
GROUPS = "/sys/fs/cgroup"
MIB = 1 << 20
PAUSES = (250, 1000, 4000, 16000)	# of the target, ms


def asked(trace):
    return {snapshot["name"]: snapshot for snapshot in info(trace)["snapshots"]
            if snapshot["kind"] == "asked"}


@case
def snapshot_at_a_size(directory):
    patiently(directory, see_sizes, PAUSES)


def see_sizes(directory, pause):
    done = recorded([FOOTPRINT, "steps", str(pause)], directory,
                    options=("--snapshot-at", "RSS=24M", "--snapshot-at",
                             "RSS=32M", "--snapshot-at", "RSS=2G"))
    equal(done.status, 0, "status: " + done.err)
    found = asked(traces_in(directory)[0])
    equal(sorted(found), ["RSS=24M", "RSS=32M"], "snapshots")
    steps = [int(line.split()[2]) * 1024 for line in done.out.splitlines()]
    for name, level in (("RSS=24M", 24 * MIB), ("RSS=32M", 32 * MIB)):
        check(level <= found[name]["rss_bytes"] <= steps[-1] + 2 * MIB,
              "%s at %d" % (name, found[name]["rss_bytes"]))


@case
def wrong_ones_are_refused(directory):
    done = bare([GNOMON, "run", "--snapshot-at", "RSS=120%", "true"])
    equal(done.status, 125, "status")
    check("RSS=120%" in done.err, done.err)
    done = bare(["true"], env=environment(LD_PRELOAD=LIBRARY,
                                          GNOMON_SNAPSHOT_AT="RSS=x"))
    equal(done.status, 0, "status")
    check("GNOMON_SNAPSHOT_AT=RSS=x" in done.err, done.err)


class Group:
    """A control group of this test's own, version 1 or 2."""

    def __init__(self, limit):
        v1 = os.path.isdir(GROUPS + "/memory")
        self.path = "%s/gnomon-test-%d" % (
            GROUPS + "/memory" if v1 else GROUPS, os.getpid())
        try:
            os.mkdir(self.path)
            self.put("memory.limit_in_bytes" if v1 else "memory.max", limit)
        except OSError as error:
            if os.path.isdir(self.path):
                os.rmdir(self.path)
            raise Skip("no control group can be made: %s" % error)

    def put(self, name, value):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(str(value))

    def run(self, directory, argv, *options):
        """By way of a shell that goes there first."""
        return recorded(
            ["sh", "-c", 'echo $$ >"$0" && exec "$@"',
             os.path.join(self.path, "cgroup.procs"), *argv],
            directory, options=options)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        # The recorders have ended, and the kernel may still be at it.
        for _ in range(100):
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.05)


@case
def at_a_part_of_the_groups_limit(directory):
    patiently(directory, see_part, PAUSES)


def see_part(directory, pause):
    with Group(64 * MIB) as group:
        done = group.run(directory, [FOOTPRINT, "steps", str(pause)],
                         "--snapshot-at", "RSS=50%")
        equal(done.status, 0, "status: " + done.err)
    found = [asked(trace) for trace in traces_in(directory)
             if "memory_steps" in os.path.basename(trace)]
    equal(len(found), 1, "traces")
    check("RSS=50%" in found[0], "snapshots: %s" % sorted(found[0]))
    check(32 * MIB <= found[0]["RSS=50%"]["rss_bytes"] <= 64 * MIB,
          "at %d" % found[0]["RSS=50%"]["rss_bytes"])


@case
def when_the_group_comes_to_its_limit(directory):
    patiently(directory, see_limit, (.5, 2, 10, 60))


def see_limit(directory, pause):
    large = os.path.join(directory, "large")
    with open(large, "wb") as file:
        file.truncate(256 * MIB)
    with Group(48 * MIB) as group:
        # Pages of a file may be taken back, so nobody is killed.
        done = group.run(directory, [
            "/usr/bin/python3", "-c",
            "import time\ntime.sleep(.3)\n"
            "for i in range(2): open(%r, 'rb').read(1 << 20)\n"
            "f = open(%r, 'rb')\n"
            "while f.read(1 << 16): pass\n"
            "time.sleep(%s)" % (large, large, pause)])
        equal(done.status, 0, "status: " + done.err)
    found = [asked(trace) for trace in traces_in(directory)
             if "python3" in os.path.basename(trace)]
    equal(len(found), 1, "traces")
    check(any(name.startswith("memory.events") for name in found[0]),
          "snapshots: %s" % sorted(found[0]))


main()
