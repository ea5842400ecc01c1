#!/usr/bin/python3
"""Other allocators, preloaded or linked: the trace has each operation once and
with its size, through every function; the program gets the same results as
without gnomon."""

from gnomon_test import *

FOLDER = "/usr/lib/x86_64-linux-gnu"
JEMALLOC = os.path.join(FOLDER, "libjemalloc.so.2")
TCMALLOC = os.path.join(FOLDER, "libtcmalloc_minimal.so.4")
TCMALLOC_FULL = os.path.join(FOLDER, "libtcmalloc.so.4")
TCMALLOC_DEBUG = os.path.join(FOLDER, "libtcmalloc_minimal_debug.so.4")
MIMALLOC = newest(os.path.join(FOLDER, "libmimalloc.so.*.*"))

# Lines of mimalloc's figures about time, and about what it gave back because
# time had passed: no two runs have them alike.
CHANGES = re.compile(r"^ *-?(elapsed|process|committed|commits|reset|resets|"
                     r"purged|purges):.*\n", re.M)


def both(argv, directory, preload=None, by="run", **env):
    """A bare run and a recorded one of the same, with the same results. by
    "last": preloaded behind the allocator, not before it."""
    env = environment(OWN_MI="value", LD_PRELOAD=preload, **env)
    for each in (preload or "").split(":"):
        if each:
            need_file(each)
    alone = bare(argv, env)
    if by == "run":
        done = recorded(argv, directory, env=env)
    else:
        libraries = [LIBRARY, preload]
        if by == "last":
            libraries.reverse()
        env.update(LD_PRELOAD=":".join(filter(None, libraries)),
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
def program_with_two_allocators(directory):
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


@case
def operators_of_an_allocators_own(directory):
    exact("own_new_linked", directory, arguments=["quietly"])


@case
def the_c_librarys_other_names(directory):
    exact("own_libc", directory)


@case
def free_sized_and_its_kin(directory):
    """With an allocator that ends the program if it is not told the same."""
    exact("free_sized", directory)


for name, each in NEW.items():
    def late(directory, each=each):
        exact("own_late", directory, each)

    late.__name__ = "operators_found_late_over_" + name
    case(late)


@case
def the_other_c_plus_plus_library(directory):
    done = exact("own_late", directory,
                 os.path.join(FOLDER, "libc++.so.1"))
    equal(done.expected["allocations"], 3 * 99, "operators called")


def hidden():
    """Those without an address."""
    listing = bare(["nm", "-D", "--defined-only", LIBRARY]).out
    found = [line.split()[-1] for line in listing.splitlines()
             if line.split()[1] == "N"]
    check("mallocx" in found and "_Znwm" in found, "exports")
    return found


@case
def functions_that_no_allocator_has_are_absent(directory):
    argv = [program("own_names"), *hidden()]
    for preload in (None, JEMALLOC, TCMALLOC, MIMALLOC):
        both(argv, directory, preload, by="preload")
        both(argv, directory, preload, by="preload", LD_BIND_NOW="1")


@case
def functions_that_no_allocator_has_are_absent_in_musl(directory):
    need("musl-gcc")
    both([program("musl_names"), *hidden()], directory, by="preload")


def tunings(directory):
    done = exact("tuned", directory)
    document = info(done.trace)
    calls = document["tuning"]
    times = [call["time_ns"] for call in calls]
    equal(times, sorted(times), "times")
    check(0 < times[0] and times[-1] < document["duration_ns"], "times")
    return done, calls


@case
def tuned(directory):
    done, calls = tunings(directory)
    said = re.findall(r"^(mallopt|malloc_trim) (\d+)$", done.out, re.M)
    equal([(call["function"], str(call["result"])) for call in calls], said,
          "functions and results")
    equal([call["arguments"] for call in calls], [
        {"parameter": -3, "name": "M_MMAP_THRESHOLD", "value": 1 << 20},
        {"parameter": -3, "name": "M_MMAP_THRESHOLD", "value": -1},
        {"parameter": 4711, "value": -5},
        {"pad": 0}, {"pad": 1 << 40},
        {"parameter": -8, "name": "M_ARENA_MAX", "value": 3}], "arguments")
    for call in calls[:-1]:
        equal([frame["function"] for frame in call["stack"]][:2],
              ["tgt_tune", "main"], "stack")
    equal(calls[-1]["stack"][0]["function"], "work", "stack of the thread")
    check(calls[-1]["tid"] != calls[0]["tid"], "one thread")
    text = gnomon("info", done.trace).out
    check("mallopt(M_MMAP_THRESHOLD, 1048576) = 1" in text, text)
    check("malloc_trim(1099511627776) = " in text, text)


@case
def tuned_over_tcmalloc(directory):
    """Its own mallopt, and the C library's malloc_trim."""
    done = exact("tuned", directory, TCMALLOC)
    equal(len(info(done.trace)["tuning"]), 6, "calls")


for name, each in NEW.items():
    def last(directory, each=each):
        own = {JEMALLOC: "own_je", MIMALLOC: "own_mi"}.get(each, "own_tc")
        exact(own, directory, each, by="last")
        os.mkdir(directory + "/new")
        exact("own_new", directory + "/new", each, by="last",
              arguments=["quietly"] if each == MIMALLOC else [])
        os.mkdir(directory + "/late")
        exact("own_late", directory + "/late", each, by="last")
        os.mkdir(directory + "/now")
        exact("basic", directory + "/now", each, by="last", LD_BIND_NOW="1")

    if each in (JEMALLOC, TCMALLOC, MIMALLOC):
        last.__name__ = name + "_before_us"
        case(last)


@case
def unknown_library_before_ours(directory):
    """A library that nobody knows keeps its place: nothing is recorded of what
    it serves, and nothing changes."""
    both([program("basic")], directory, program("libbump.so"), by="last")


EFENCE = "/usr/lib/libefence.so.0"


@case
def allocator_whose_functions_call_each_other(directory):
    """One call of the program is one event. What others do in the middle, and
    what the same library does for itself, are events of their own."""
    for by in ("run", "preload"):
        below = os.path.join(directory, by)
        os.mkdir(below)
        exact("malloc_reentry", below, program("libmalloc_reentry.so"), by, ["back"])


@case
def handler_forks_inside_such_an_allocator(directory):
    both([program("malloc_reentry"), "fork"], directory,
         program("libmalloc_reentry.so"))
    equal(len(traces_in(directory)), 2, "traces")


@case
def a_free_that_jumps_to_another(directory):
    exact("malloc_reentry", directory, program("libjumps_on.so"))


@case
def several_libraries_with_allocators(directory):
    exact("malloc_reentry", directory, ":".join(
        program(name) for name in ("libjumps_on.so", "libmalloc_reentry.so")),
        arguments=["back"])


@case
def electric_fence(directory):
    """Its malloc, calloc and realloc are made of memalign. The command itself
    runs with it, too."""
    for by in ("run", "preload"):
        below = os.path.join(directory, by)
        os.mkdir(below)
        exact("malloc_reentry", below, EFENCE, by, ["few"])


GUARDS = {"guarded": {"GNOMON_GUARD": "64"},
          "zeroed": {"GNOMON_ZERO_MEMORY": "1"},
          "guarded_and_zeroed": {"GNOMON_GUARD": "64",
                                 "GNOMON_ZERO_MEMORY": "1"},
          "guarded_and_sampled": {"GNOMON_GUARD": "64",
                                  "GNOMON_SAMPLE": "1K"}}


def unharmed(preload, word, env, directory, traces=1):
    """malloc_reentry does what it did, and is told of as ever. What such an
    allocator calls by name is its own and has no zones; all that is the
    program's has."""
    done = both([program("malloc_reentry"), word], directory, preload, "preload",
                **env)
    equal(done.status, 0, "status, stderr: " + done.err)
    found = [info(trace) for trace in traces_in(directory)]
    equal(len(found), traces, "traces")
    for each in found:
        equal(find_key(each, "guard_damages") or 0, 0, "damages")
    if traces == 1 and "GNOMON_SAMPLE" not in env:
        agree(done.expected, Report(done.trace))
    # with Electric Fence few blocks are aligned enough
    if traces == 1 and "GNOMON_GUARD" in env and preload != EFENCE:
        check(find_key(found[0], "guard_blocks") >=
              done.expected["live_blocks"], "not guarded: some")


for name, env in GUARDS.items():
    def inner(directory, env=env):
        for number, (libraries, word) in enumerate((
                (["libmalloc_reentry.so"], "back"), (["libjumps_on.so"], "plain"),
                (["libjumps_on.so", "libmalloc_reentry.so"], "back"))):
            below = os.path.join(directory, str(number))
            os.mkdir(below)
            unharmed(":".join(map(program, libraries)), word, env, below)

    def inner_forked(directory, env=env):
        """The child, too, also if nothing is recorded of it."""
        for follow, traces in (("all", 2), ("none", 1)):
            below = os.path.join(directory, follow)
            os.mkdir(below)
            unharmed(program("libmalloc_reentry.so"), "fork",
                     dict(env, GNOMON_FOLLOW=follow), below, traces)

    def inner_fence(directory, env=env):
        unharmed(EFENCE, "few", env, directory)

    inner.__name__ = "ones_that_call_each_other_" + name
    inner_forked.__name__ = "one_forked_in_the_middle_" + name
    inner_fence.__name__ = "electric_fence_" + name
    for each in (inner, inner_forked, inner_fence):
        case(each)


# jemalloc has no pvalloc: the C library's would be given to its free.
for each in (TCMALLOC, TCMALLOC_FULL, MIMALLOC):
    def entry_points(directory, each=each):
        exact("entry_points", directory, each)
    entry_points.__name__ = "entry_points_of_" + os.path.basename(each)
    case(entry_points)


main()
