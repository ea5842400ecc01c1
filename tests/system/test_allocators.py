#!/usr/bin/python3
"""Other allocators, preloaded or linked: what a program did is in the trace
once and with its sizes, through whichever of their functions; and the program
is told by them what it would have been told."""

from gnomon_test import *

FOLDER = "/usr/lib/x86_64-linux-gnu"
JEMALLOC = os.path.join(FOLDER, "libjemalloc.so.2")
TCMALLOC = os.path.join(FOLDER, "libtcmalloc_minimal.so.4")
TCMALLOC_FULL = os.path.join(FOLDER, "libtcmalloc.so.4")
TCMALLOC_DEBUG = os.path.join(FOLDER, "libtcmalloc_minimal_debug.so.4")
MIMALLOC = os.path.join(FOLDER, "libmimalloc.so.2.0")

# Lines about time and memory of the process, which no two runs have alike.
CHANGES = re.compile(r"^ *(elapsed|process):.*\n", re.M)


def both(argv, directory, preload=None, by="run", **env):
    """A bare run and a recorded one of the same, with the same results."""
    env = environment(OWN_MI="value", LD_PRELOAD=preload, **env)
    for each in (preload or "").split(":"):
        if each and not os.path.exists(each):
            raise Skip(each + " is not installed")
    alone = bare(argv, env)
    if by == "run":
        done = recorded(argv, directory, env=env)
    else:
        env.update(LD_PRELOAD=":".join(filter(None, (LIBRARY, preload))),
                   GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"))
        done = bare(argv, env)
        done.directory = directory
        settle(directory)
    equal(done.status, alone.status, "status, stderr: " + done.err)
    equal(CHANGES.sub("", done.out), CHANGES.sub("", alone.out), "output")
    return done


def exact(name, directory, preload=None, by="run", arguments=(), **env):
    done = both([program(name), *arguments], directory, preload, by, **env)
    equal(done.status, 0, "status, output: " + done.out[-300:])
    agree(done.expected, Report(done.trace))
    return done


@case
def jemalloc_preloaded(directory):
    exact("own_je", directory, JEMALLOC)


@case
def jemalloc_linked(directory):
    exact("own_je_linked", directory, by="preload")


@case
def jemalloc_linked_and_bound_at_once(directory):
    exact("own_je_linked", directory, LD_BIND_NOW="1")


@case
def tcmalloc_preloaded(directory):
    exact("own_tc", directory, TCMALLOC, by="preload")


@case
def tcmalloc_linked(directory):
    exact("own_tc_linked", directory)


@case
def tcmalloc_linked_and_bound_at_once(directory):
    exact("own_tc_linked", directory, LD_BIND_NOW="1")


@case
def mimalloc_preloaded(directory):
    exact("own_mi", directory, MIMALLOC)


@case
def mimalloc_linked(directory):
    exact("own_mi_linked", directory, by="preload")


@case
def mimalloc_linked_and_bound_at_once(directory):
    exact("own_mi_linked", directory, LD_BIND_NOW="1")


@case
def two_at_once(directory):
    """The first is the program's malloc; the other's own functions are its
    own."""
    exact("own_mi_linked", directory, JEMALLOC, arguments=["other"])


NEW = {"the_c_library": None, "jemalloc": JEMALLOC, "tcmalloc": TCMALLOC,
       "tcmalloc_with_profiler": TCMALLOC_FULL,
       "tcmalloc_that_checks": TCMALLOC_DEBUG, "mimalloc": MIMALLOC}

for name, each in NEW.items():
    def operators(directory, each=each):
        # mimalloc, written in C, aborts where others throw
        exact("own_new", directory, each,
              arguments=["quietly"] if each == MIMALLOC else [])

    def replaced(directory, each=each):
        exact("own_replaced", directory, each,
              arguments=["only"] if each else [])

    def library(directory, each=each):
        # in front of the allocator, which has operators of its own
        first = program("liboperators.so")
        exact("own_library", directory, first + ":" + each if each else None)

    operators.__name__ = "operators_of_" + name
    replaced.__name__ = "the_programs_operators_over_" + name
    library.__name__ = "a_librarys_operators_over_" + name
    case(operators)
    # that one makes a block with what operators it finds while it frees
    if each != TCMALLOC_DEBUG:
        case(replaced)
        case(library)


# jemalloc has no pvalloc: the C library's would be given to its free.
for each in (TCMALLOC, TCMALLOC_FULL, MIMALLOC):
    def entry_points(directory, each=each):
        exact("entry_points", directory, each)
    entry_points.__name__ = "entry_points_of_" + os.path.basename(each)
    case(entry_points)


main()
