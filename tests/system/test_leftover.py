#!/usr/bin/python3
"""Where live files lie, and that none outlives its use."""

from gnomon_test import *


def live_of(trace):
    """As the file says; a command that is asked would fold."""
    with open(trace, "rb") as file:
        found = re.search(rb"^live=([^\n]*)$", file.read(), re.M)
    return found and found.group(1).decode()


def tasks_with(path):
    """The processes that have this file mapped."""
    result = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/maps" % pid) as maps, \
                    open("/proc/%s/comm" % pid) as comm:
                if path in maps.read():
                    result.append((int(pid), comm.read().strip()))
        except OSError:
            pass
    return result


SPACE = ["unshare", "-Urpf", "--kill-child"]


def start_in_space(directory):
    """In a namespace of process ids, where /proc is the outer one: there, the
    program's id is another process's."""
    need("unshare")
    if bare([*SPACE, "true"]).status:
        raise Skip("no namespaces of one's own")
    process = subprocess.Popen(
        [*SPACE, "env", "LD_PRELOAD=" + LIBRARY, "GNOMON_OUTPUT=" +
         os.path.join(directory, "the.trace"), program("killable"),
         os.path.join(directory, "counts")],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    return process, os.path.join(directory, "the.trace")


@case
def killed_in_a_space_of_its_own(directory):
    process, trace = start_in_space(directory)
    live = live_of(trace)
    process.kill()
    process.wait()
    check(wait_for(lambda: not tasks_with(live)), "it lives")
    check(os.path.exists(live), "no live file was left")
    check(Report(trace, (0, 3)).summary["allocations"] > 0, "allocations")
    check(not os.path.exists(live), "the live file is still there")
    document = info(trace, (0, 3))["info"]
    equal(document["exe"], program("killable"), "program")
    check("killable" in document["command"], document["command"])
    equal(int(document["starttime"]), 0, "start time")


@case
def program_without_writer_in_such_a_space(directory):
    """While the program lives, its live file stays."""
    process, trace = start_in_space(directory)
    live = live_of(trace)
    for pid, name in tasks_with(live):
        if name == "gnomon-writer":
            os.kill(pid, signal.SIGKILL)
    check(wait_for(lambda: len(tasks_with(live)) == 1), "no writer died")
    Report(trace, (0, 3))
    check(os.path.exists(live), "the live file is gone")
    process.kill()
    process.wait()
    check(wait_for(lambda: not tasks_with(live)), "it lives")
    Report(trace, (0, 3))
    check(not os.path.exists(live), "the live file is still there")


main()
