#!/usr/bin/python3
"""unshare and setns return what they return without gnomon: the recorder does
not hinder calls that require a process not to share its memory."""

from gnomon_test import *


def same(arguments, directory):
    argv = [program("unshare"), *arguments]
    alone = bare(argv)
    done = recorded(argv, directory, by="preload")
    equal((done.status, done.err), (alone.status, ""), "result")
    equal(done.out.split(), alone.out.split(), "answers")
    return done


@case
def namespaces_change_nothing(directory):
    same([], directory)


@case
def recording_continues_in_the_same_trace(directory):
    """The recorder that comes back goes on with the same trace."""
    for number, argument in enumerate(("256", "time")):
        part = os.path.join(directory, str(number))
        os.mkdir(part)
        done = same([argument], part)
        agree(done.expected, Report(done.trace), argument + ": ")
        equal(find_key(info(done.trace), "reason"), "exit", "reason")
        check_no_live_file(done.trace)


main()
