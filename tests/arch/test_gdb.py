#!/usr/bin/python3
# TIMEOUT: 300
"""A port: the stacks that were recorded are those that gdb finds, address by
address, at a hundred allocations of a program, in the very process that is being
recorded: it waits in qemu's stub for a debugger, or gdb starts it."""

import socket

from port import *

STEP = 10
SAMPLES = 100
LINE = re.compile(r"^@(\d+) (.*)$", re.M)
# Every frame's address, of the tenth, twentieth … call.
SCRIPT = """
set pagination off
set confirm off
set backtrace past-main on
set backtrace limit 200
%(start)s
python
import gdb
def frames():
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        # one that is inlined into its caller has no address of its own; a
        # barrier is passed as if it were a frame
        if frame.type() != gdb.INLINE_FRAME and not (
                gdb.solib_name(frame.pc()) or "").endswith("libgnomon.so"):
            found.append("%%x" %% frame.pc())
        frame = frame.older()
    return found
where = gdb.Breakpoint("allocate_numbered", temporary=False)
for sample in range(%(samples)d):
    where.ignore_count = %(step)d - 1
    gdb.execute("continue", to_string=True)
    size = int(gdb.parse_and_eval("size"))
    print("@%%d %%s" %% (size, " ".join(frames())))
where.delete()
gdb.execute("continue", to_string=True)
end
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def debugger():
    need("gdb-multiarch" if EMULATOR else "gdb")
    return "gdb-multiarch" if EMULATOR else "gdb"


def debugged(directory, argv):
    """gdb's stacks by the size of the allocation; the trace goes into the
    directory."""
    start = "set sysroot /\nset solib-search-path %s\nfile %s\n" % (
        ":".join((os.path.join(sysroot(), "lib"), TARGET)), argv[0])
    pattern = os.path.join(directory, "%e.%p.trace")
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=pattern)
    command, env = emulated(argv, env)
    waiting = None
    if EMULATOR:
        port = free_port()
        waiting = subprocess.Popen(
            [command[0], "-g", str(port), *command[1:]], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        start += "target remote 127.0.0.1:%d\n" % port
        env = environment()
    else:
        start += "set startup-with-shell off\nset environment LD_PRELOAD=%s" \
            "\nset environment GNOMON_OUTPUT=%s\nstarti\n" % (LIBRARY,
                                                             pattern)
        env = environment()
    script = os.path.join(directory, "script.gdb")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT % {"start": start, "samples": SAMPLES,
                             "step": STEP})
    try:
        done = bare([debugger(), "-nx", "-q", "-batch", "-x", script], env)
    finally:
        if waiting:
            waiting.kill()
            waiting.wait()
    settle(directory)
    return {int(size): [int(pc, 16) for pc in pcs.split()]
            for size, pcs in LINE.findall(done.out)}, done


def sysroot():
    return EMULATOR[EMULATOR.index("-L") + 1] if "-L" in EMULATOR else "/"


def recorded_stacks(trace):
    """By size, from the caller of the allocating function outward."""
    rows = json.loads(gnomon("report", trace, "--json", "--by", "block",
                             "--top", "0").out)["rows"]
    result = {}
    for row in rows:
        stack = [frame for frame in row["stack"] if not frame["inlined"]]
        names = [frame["function"] for frame in stack]
        if "allocate_numbered" in names:
            at = names.index("allocate_numbered")
            result[row["size"]] = [frame["address"]
                                   for frame in stack[at + 1:]]
    return result


@case
def stacks_are_those_of_gdb(directory):
    theirs, done = debugged(directory,
                            [os.path.join(TARGET_PROGRAMS, "numbered")])
    equal(len(theirs), SAMPLES, "samples, gdb: " + done.err + done.out)
    traces = traces_in(directory)
    equal(len(traces), 1, "traces")
    ours = recorded_stacks(traces[0])
    for size, stack in sorted(theirs.items()):
        equal([hex(pc) for pc in ours[size]], [hex(pc) for pc in stack[1:]],
              "the stack of the allocation of %d bytes" % size)


main()
