#!/usr/bin/python3
"""How children ended is known, whoever waits for them."""

import ctypes

from gnomon_test import *

PIDFD_GET_INFO, PIDFD_INFO_EXIT = 0xc040ff0b, 1 << 3


def kernel_remembers():
    """Whether a pidfd tells how a process ended that was waited for."""
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    fd = os.pidfd_open(pid)
    os.waitpid(pid, 0)
    told = (ctypes.c_uint64 * 8)(PIDFD_INFO_EXIT)
    done = ctypes.CDLL(None).ioctl(fd, ctypes.c_ulong(PIDFD_GET_INFO), told)
    os.close(fd)
    return done == 0 and told[0] & PIDFD_INFO_EXIT != 0


def make(way, by):
    def children(directory):
        if not kernel_remembers():
            raise Skip("before Linux 6.15 nobody tells")
        done = recorded([program("ended"), way], directory, by=by)
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
        wrong = {pid: (found.get(pid, "no trace"), status)
                 for pid, status in wanted.items()
                 if found.get(pid) != status}
        equal(wrong, {}, "got and wanted of %d" % len(wrong))

    children.__name__ = "%s_by_%s" % (way, by)
    case(children)


for each in ("wait", "all", "ignore", "orphan"):
    make(each, "run")
make("wait", "preload")

main()
