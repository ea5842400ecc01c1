"""The matrix: one target run bare and under gnomon in each of its modes, and
every run compared with the bare one.

A test file registers targets, and ends with main() of gnomon_test:

    from gnomon_test import *
    from matrix import *

    target("throw_across_frames", [matrix_program("throws")])
    target("green_threads", ["python3", script], barriers=NONE, why="runtime",
           stacks=False, needs=("python3",))
    main()

What each run must have, against the bare run: the same standard output and
standard error byte for byte (after `same`, for what differs between two bare
runs), the same exit status or signal. A target counts its own objects
(exceptions alive, destructors run, blocks leaked) and prints the counts, so
that they are part of this. What each run's traces must have: an END chunk, no
damage, nothing dropped, no nested event lost; with the oracle, no difference;
barriers where they should be (see `barriers`); with `stacks`, the same stacks
with the same counts in all modes.

target(name, argv, ...) registers a case; compare(argv, directory, ...) is its
body, for a test that needs to prepare something first:

    @case
    def with_a_file(directory):
        ...
        compare([...], directory, env={"X": 1})

Keyword arguments of both:
    env       more environment variables of the target, bare and recorded
    modes     which of MODES, by name, in the order to run; default: ALL
    barriers  PLACED (default): where barriers were forced near, some were
              placed; NONE: no thread placed one in any mode; ANY: not looked
              at. In "validate" and "off" none may ever be placed, so that is
              always looked at.
    why       with NONE: the reason that each thread must give where the mode
              is auto, or a part of it, in the words of `gnomon info`
    stacks    the target is deterministic: how often it allocated from which
              stack is compared between all modes (default: False)
    whole     False: do not insist on complete traces (a target that kills
              itself in a way that loses them; say why at the call)
    nested_lost  True: events of handlers that interrupted a hook may be lost,
              if they are counted, and that they are may be said: a handler
              waits for the recorder a tenth of a second only, and where
              thousands interrupt one, a machine with much else to do makes it
              wait longer
    same      function from text to text, applied to all outputs before they
              are compared: leave out times, addresses, process ids
    each      function (done, mode) called for each recorded run, for further
              checks; done.traces, see gnomon_test.Done
    times     how often the bare run is repeated to prove that the target is
              deterministic at all (default 1: not)
    needs     (target only) commands; without one of them the case is skipped
    seconds   the longest that one run may take
    options   of subprocess, e.g. cwd=

The environment variable MATRIX_MODES ("near3,off") restricts the modes of all
targets, but for those that have none of them, MATRIX_KEEP=1 keeps the traces,
for looking into a failure, and MATRIX_BARRIERS=any leaves out whether barriers
were placed.
"""

import collections
import ctypes
import subprocess

from gnomon_test import *

# Mode: what it sets. near1 and near3 put a barrier 1 and 3 frames out from
# every capture, where it is allowed at all; oracle re-walks each of them. Under
# an emulator, which takes ten times as long for that, it does so for all of a
# thread's first captures and a part of the others.
MODES = {
    "near3": {"GNOMON_SHADOW_STACK": "auto", "GNOMON_DEBUG_BARRIER": "3"},
    "near1": {"GNOMON_SHADOW_STACK": "auto", "GNOMON_DEBUG_BARRIER": "1"},
    "oracle": {"GNOMON_SHADOW_STACK": "auto", "GNOMON_DEBUG_BARRIER": "3",
               "GNOMON_DEBUG_ORACLE": "16" if EMULATOR else "1"},
    "auto": {"GNOMON_SHADOW_STACK": "auto"},
    "validate": {"GNOMON_SHADOW_STACK": "validate"},
    "off": {"GNOMON_SHADOW_STACK": "off"},
}
ADDR_NO_RANDOMIZE = 0x0040000
NEAR = ("near3", "near1", "oracle")
# What near3 does, the oracle's run does, too.
ALL = ("near1", "oracle", "auto", "validate", "off")

PLACED, NONE, ANY = "placed", "none", "any"

MATRIX_PROGRAMS = os.path.join(TARGET_PROGRAMS, "matrix")
TEXT_MAX = 1500
DROPPED = "gnomon: the trace cannot be written fast enough, or --memory is " \
    "used up: events are dropped and counted\n"


def matrix_program(name):
    """A target of tests/matrix/, built."""
    return os.path.join(MATRIX_PROGRAMS, name)


def ending(status):
    if status >= 0:
        return "exit status %d" % status
    return "signal %s" % signal.Signals(-status).name


def shortened(text):
    return text if len(text) <= TEXT_MAX else (
        text[:TEXT_MAX // 2] + "\n[…]\n" + text[-TEXT_MAX // 2:])


def first_difference(got, wanted):
    """The first line that differs, for a message."""
    for number, (one, other) in enumerate(
            zip(got.split("\n") + [None], wanted.split("\n") + [None]), 1):
        if one != other:
            return "line %d is %r, bare %r" % (number, one, other)
    return "no line differs"


def compare_runs(done, plain, same, mode):
    """The target did and said what it does bare."""
    if done.status != plain.status:
        raise Failure("%s: %s, bare %s\n%s%s" % (
            mode, ending(done.status), ending(plain.status),
            shortened(done.out), shortened(done.err)))
    for name, got, wanted in (("stdout", done.out, plain.out),
                              ("stderr", done.err, plain.err)):
        got, wanted = same(got), same(wanted)
        check(got == wanted, "%s: %s differs: %s\n%s" % (
            mode, name, first_difference(got, wanted),
            shortened(done.err)))


def number(document, key):
    return int(find_key(document, key) or 0)


def check_trace(document, mode, nested_lost=False):
    """One trace is complete, and the oracle had nothing to say."""
    what = "%s, process %s: " % (mode, document["info"].get("pid"))
    check(document["end"], what + "no END")
    counters = document.get("counters") or {}
    lost = number(counters, "nested_lost")
    check(nested_lost or lost == 0, "%snested_lost: %d" % (what, lost))
    equal(document["dropped"], lost, what + "dropped")
    equal(document["damaged"], 0, what + "damaged")
    equal(number(counters, "oracle_differences"), 0,
          what + "oracle_differences")


def check_barriers(documents, mode, barriers, why):
    """Barriers were placed where they should be, by all of a run's traces."""
    counters = [document.get("counters") or {} for document in documents]
    # A barrier met was placed by somebody, before a fork perhaps.
    placed = sum(number(each, key) for each in counters
                 for key in ("barriers_placed", "barriers_met"))
    if mode in ("validate", "off"):
        equal(placed, 0, mode + ": barriers placed")
    elif os.environ.get("MATRIX_BARRIERS") == ANY:
        return
    elif barriers == NONE:
        equal(placed, 0, mode + ": barriers placed")
        for document in documents if why else ():
            for thread in document["threads"]:
                if "why" not in thread:
                    continue  # a second ring of the same thread
                check(why in thread["why"], "%s: thread %s gives as "
                      "reason %r" % (mode, thread["tid"], thread["why"]))
    elif barriers == PLACED and mode in NEAR:
        check(placed > 0, mode + ": no barrier was placed")


def stacks_of(traces):
    """How often each stack allocated, over all traces. A stack is a line of
    addresses: comparable because the loader was told not to randomise."""
    result = collections.Counter()
    for trace in traces:
        for line in bare([program("trace_dump"), trace]).out.splitlines():
            count, stack = line.split(" ", 1)
            result[stack] += int(count)
    return result


def fixed_addresses():
    """For the target, before it is executed: no randomised addresses."""
    if ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE) < 0:
        raise OSError("personality")


def compare_stacks(stacks, other, mode, other_mode):
    for stack in sorted(stacks.keys() | other.keys(), key=len):
        if stacks[stack] != other[stack]:
            raise Failure("this stack allocated %d times in %s and %d times "
                          "in %s (why it ended, addresses): %s" % (
                              stacks[stack], mode, other[stack], other_mode,
                              shortened(stack)))


def chosen_modes(modes, barriers):
    """Where no barrier is ever placed, it is the same how near it would be."""
    wanted = os.environ.get("MATRIX_MODES")
    known = [mode for mode in ALL if barriers != NONE or mode != "near1"]
    own = list(modes or known)
    return [mode for mode in own
            if not wanted or mode in wanted.split(",")] or own


def one_run(argv, directory, mode, env, seconds, options):
    where = os.path.join(directory, mode)
    os.mkdir(where)
    try:
        done = recorded(argv, where, by="preload",
                        env=environment(**env, **MODES[mode]),
                        seconds=seconds, **options)
    except subprocess.TimeoutExpired:
        raise Failure(mode + ": out of time")
    return done


def compare(argv, directory, env=None, modes=None, barriers=PLACED, why=None,
            stacks=False, whole=True, nested_lost=False, same=str, each=None,
            times=1, seconds=RUN_SECONDS, **options):
    """Runs the target bare and in all modes; see the head of this file."""
    env = env or {}
    if stacks:
        options["preexec_fn"] = fixed_addresses
    plain = bare(argv, environment(**env), seconds, **options)
    for again in range(times - 1):
        compare_runs(bare(argv, environment(**env), seconds, **options),
                     plain, same, "bare, again")
    reference = None
    for mode in chosen_modes(modes, barriers):
        done = one_run(argv, directory, mode, env, seconds, options)
        if nested_lost:
            done.err = done.err.replace(DROPPED, "")
        compare_runs(done, plain, same, mode)
        check(done.traces, mode + ": no trace")
        if whole:
            documents = [info(trace) for trace in done.traces]
            for document in documents:
                check_trace(document, mode, nested_lost)
            check_barriers(documents, mode, barriers, why)
        if stacks:
            found = stacks_of(done.traces)
            if reference:
                compare_stacks(found, reference[0], mode, reference[1])
            else:
                reference = found, mode
        if each:
            each(done, mode)
        if not os.environ.get("MATRIX_KEEP"):
            shutil.rmtree(done.directory)
    if os.environ.get("MATRIX_KEEP"):
        kept = tempfile.mkdtemp(prefix="matrix-kept.")
        shutil.copytree(directory, kept, dirs_exist_ok=True)
        print("# kept in " + kept)


def target(name, argv, needs=(), **wishes):
    """Registers the target as a case of this name."""
    def body(directory):
        need(*needs)
        compare(argv, directory, **wishes)
    body.__name__ = name
    case(body)
