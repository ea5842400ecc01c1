"""The capabilities and ids of a process, read from the kernel."""

import os

OF_PRIVILEGES = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff",
                 "CapBnd", "CapAmb", "NoNewPrivs")


def status_of(pid):
    with open("/proc/%d/status" % pid) as status:
        lines = dict(line.rstrip("\n").split(":", 1) for line in status)
    found = {key: lines[key].strip() for key in OF_PRIVILEGES}
    found["space"] = os.readlink("/proc/%d/ns/user" % pid)
    return found
