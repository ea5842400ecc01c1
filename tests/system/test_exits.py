#!/usr/bin/python3
"""However a program ends, its status is its own and its trace complete."""

from gnomon_test import *

WAYS = ["return", "exit", "_exit", "quick_exit", "abort", "segv", "kill",
        "term", "pthread_exit", "outlive", "overflow"]


def make(way, by):
    def ends(directory):
        argv = [program("exits"), way]
        options = {"preexec_fn": no_core}
        alone = bare(argv, **options)
        done = recorded(argv, directory, by=by, **options)
        equal((done.status, done.out), (alone.status, alone.out), "result")
        agree(done.expected, Report(done.trace))
        equal(find_key(info(done.trace), "reason"), "exit", "reason")
    ends.__name__ = "%s_by_%s" % (way, by)
    return ends


def no_core():
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


for each in WAYS:
    for means in "run", "preload":
        case(make(each, means))


@case
def recorder_ends_with_its_target(directory):
    """The recorder ends with its target."""
    done = recorded([program("exits"), "kill"], directory, by="preload",
                    preexec_fn=no_core)
    trace = done.trace

    def gone():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/comm" % pid) as comm:
                    if not comm.read().startswith("gnomon"):
                        continue
                if any(os.path.realpath("/proc/%s/fd/%s" % (pid, fd)) == trace
                       for fd in os.listdir("/proc/%s/fd" % pid)):
                    return False
            except OSError:
                pass
        return True

    check(wait_for(gone), "a recorder still has the trace open")
    live = find_key(info(trace), "live")
    check(not live or not os.path.exists(live), "the live file is left")


main()
