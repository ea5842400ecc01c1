#!/usr/bin/python3
"""Programs are recorded even if /proc is not mounted."""

from gnomon_test import *

HIDE = 'mount -t tmpfs none /proc && exec "$@"'


def hidden(*argv):
    """The same without /proc."""
    need_mounts()
    return ["unshare", "-m", "sh", "-c", HIDE, "sh", *argv]


@case
def without_proc_by_preload(directory):
    for name, *arguments in (["mixture"], ["leaving", "outlive"],
                             ["leaving", "handlers"], ["storm", "500", "5"]):
        part = os.path.join(directory, name + "".join(arguments))
        os.mkdir(part)
        argv = hidden(program(name), *arguments)
        alone = bare(argv)
        env = ["env", "LD_PRELOAD=" + LIBRARY,
               "GNOMON_OUTPUT=" + os.path.join(part, "the.trace")]
        done = bare(hidden(*env, program(name), *arguments))
        done.directory = part
        equal((done.status, done.out), (alone.status, alone.out), name)
        settle(part)
        agree(done.expected, Report(done.trace), name + ": ")
        equal(info(done.trace)["info"]["exe"], program(name), "program")


@case
def without_proc_by_run(directory):
    argv = hidden(GNOMON, "run", "-o", os.path.join(directory, "the.trace"),
                  program("mixture"))
    alone = bare([program("mixture")])
    done = bare(argv)
    done.directory = directory
    equal((done.status, done.out), (alone.status, alone.out), done.err)
    settle(directory)
    agree(done.expected, Report(done.trace))


main()
