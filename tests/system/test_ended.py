#!/usr/bin/python3
"""The trace has the exit status of each child, whoever waits for it.

Since 6.15 the kernel tells it. So most cases run as under an older one: a
filter of system calls answers as that would."""

import ctypes
import errno
import platform

from gnomon_test import *

PIDFD_GET_INFO, PIDFD_INFO_EXIT = 0xc040ff0b, 1 << 3
IOCTL = 16 if platform.machine() == "x86_64" else 29
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2

LIBC = ctypes.CDLL(None, use_errno=True)


def kernel_remembers():
    """Whether a pidfd tells how a process ended that was waited for."""
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    fd = os.pidfd_open(pid)
    os.waitpid(pid, 0)
    told = (ctypes.c_uint64 * 8)(PIDFD_INFO_EXIT)
    done = LIBC.ioctl(fd, ctypes.c_ulong(PIDFD_GET_INFO), told)
    os.close(fd)
    return done == 0 and told[0] & PIDFD_INFO_EXIT != 0


def forget():
    """The calling process's kernel becomes one that does not remember."""
    load, jump, give = 0x20, 0x15, 0x06  # a word, if equal, the verdict
    number, request = 0, 24             # in struct seccomp_data
    code = [(load, 0, 0, number), (jump, 0, 3, IOCTL),
            (load, 0, 0, request), (jump, 0, 1, PIDFD_GET_INFO),
            (give, 0, 0, 0x00050000 | errno.ENOTTY),
            (give, 0, 0, 0x7fff0000)]
    packed = b"".join(struct.pack("=HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    program = struct.pack("@HP", len(code), ctypes.addressof(buffer))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def children(directory, way, by, **more):
    """What each child's trace says, and what it should: statuses by pid."""
    done = recorded([program("ended"), way], directory, by=by, **more)
    equal(done.status, 0, done.err)
    wanted = {int(pid): int(status) for pid, status in
              re.findall(r"^child (\d+) (\d+)$", done.out, re.M)}
    equal(len(wanted), 40, "children")
    found = {}
    for trace in done.traces:
        told = info(trace)
        code = find_key(told, "exit_code")
        found[int(find_key(told, "pid"))] = \
            None if code is None else int(code)
    return {pid: (found.get(pid, "no trace"), status)
            for pid, status in wanted.items()}


def make(way, by, old, maybe=()):
    """maybe: the statuses that nobody may have been told."""
    def ended(directory):
        if not old and not kernel_remembers():
            raise Skip("before Linux 6.15 nobody tells")
        found = children(directory, way, by,
                         preexec_fn=forget if old else None)
        wrong = {pid: (got, status) for pid, (got, status) in found.items()
                 if got != status and not (got is None and status in maybe)}
        equal(wrong, {}, "got and wanted of %d" % len(wrong))

    ended.__name__ = "%s_by_%s%s" % (way, by, "_old" if old else "")
    case(ended)


@case
def filter_forgets_exit_status(directory):
    """The filter does what it is for."""
    pid = os.fork()
    if pid == 0:
        forget()
        os._exit(kernel_remembers())
    equal(os.waitpid(pid, 0)[1], 0, "status")


@case
def executed_old(directory):
    """A child that executed a program: its parent's trace says what signal
    ended it, and the table of processes takes it from there."""
    children(directory, "exec", "run", preexec_fn=forget)
    rows = json.loads(gnomon("report", directory, "--json", "--top",
                             "0").out)["rows"]
    told = {}
    for row in rows:
        told.setdefault(row["exit"], []).append(row["pid"])
    leaves = {text: len(set(pids)) for text, pids in told.items()}
    equal(leaves.get("killed by signal 11 (Segmentation fault)"), 10, told)
    equal(leaves.get("killed by signal 15 (Terminated)"), 10, told)
    equal(leaves.get("exited with status 3"), 10, told)
    check("ended" not in leaves, "unknown: %s" % told)


for each in ("wait", "all", "ignore", "orphan", "exec"):
    make(each, "run", old=False)
make("wait", "preload", old=False)

for each in ("wait", "wait0", "wait3", "wait4", "waitid", "raw4", "rawid",
             "all", "leave", "Leave", "raw", "main", "atexit"):
    make(each, "run", old=True)
make("wait", "preload", old=True)
# who has waited, if anybody, is not recorded, or another program: there may be
# nobody to tell of signals
for each in ("ignore", "orphan", "forget", "vfork", "exec"):
    make(each, "run", old=True, maybe=(signal.SIGSEGV, signal.SIGTERM))

main()
