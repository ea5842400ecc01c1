#!/usr/bin/python3
# TIMEOUT: 300
"""A port: what a trace has of a recording on the target."""

import csv

from port import *

SOURCES = os.path.join(os.path.dirname(__file__), "..", "matrix")


@case
def stacks_are_complete(directory):
    """To the outermost frame, all of them, in a C++ program."""
    done = recorded([matrix_program("throws")], directory, by="preload")
    equal(done.status, 0, "status, stderr: " + done.err)
    counters = info(done.traces[0])["counters"]
    stops = {key: int(value) for key, value in counters.items()
             if key.startswith("stop_") and key != "stop_bottom"}
    equal(sum(stops.values()), 0, "walks that ended early: %s" % stops)


# How compilers are told to leave out what stacks are found by.
UNTABLED = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")


def whole_without_tables(directory, path, **variables):
    """Of 100 captures 99."""
    done = recorded([path], directory, by="preload",
                    env=environment(GNOMON_SHADOW_STACK="off", **variables))
    equal((done.status, done.err), (0, ""), "status, stderr")
    counters = info(done.traces[0])["counters"]
    stops = {key: int(value) for key, value in counters.items()
             if key.startswith("stop_")}
    bottom = stops.pop("stop_bottom")
    check(100 * sum(stops.values()) <= bottom,
          "%d walks to the end, %s" % (bottom, stops))


@case
def stacks_without_tables_are_complete(directory):
    """In a program of plain C that has no unwind tables: instructions are
    followed."""
    whole_without_tables(directory, matrix_program("untabled"))


@case
def stacks_by_rules_made_before_are_complete(directory):
    """Of a program that is mapped where it says: that of MIPS64 says far up."""
    path, rules = (os.path.join(directory, name) for name in ("fixed", "rules"))
    done = bare([*os.environ["CC"].split(), *UNTABLED, "-O2", "-no-pie",
                 "-Wl,--build-id", os.path.join(SOURCES, "untabled.c"),
                 "-o", path])
    equal(done.status, 0, done.err)
    gnomon("cfi", "prepare", "-o", rules, path)
    equal(len(os.listdir(rules)), 1, "files")
    whole_without_tables(directory, path, GNOMON_CFI_DIR=rules)


BARE = {
    "without_frame_pointers": ("-O2", "-fomit-frame-pointer"),
    "small": ("-Os", "-fomit-frame-pointer"),
    "with_frame_pointers": ("-O2", "-fno-omit-frame-pointer"),
    "probing_its_stack": ("-O2", "-fomit-frame-pointer",
                          "-fstack-clash-protection"),
}
BARE_SIGNING = {
    "as_it_is_written": ("-O0",),
    "signing": ("-O2", "-fomit-frame-pointer", "-mbranch-protection=standard"),
    "signing_with_frame_pointers": ("-O2", "-fno-omit-frame-pointer",
                                    "-mbranch-protection=standard"),
}


def names_each_function(directory, flags):
    """Nobody prepared rules: code alone says who called whom."""
    path = os.path.join(directory, "shapes")
    done = bare([*os.environ["CC"].split(), *UNTABLED, *flags,
                 os.path.join(SOURCES, "untabled_shapes.c"), "-o", path])
    equal(done.status, 0, done.err)
    for cpu in ("max", "") if EMULATOR and ARCH in SIGNING else ("",):
        place = os.path.join(directory, "cpu" + cpu)
        os.mkdir(place)
        done = recorded([path], place, by="preload",
                        env=environment(**{"QEMU_CPU": cpu} if cpu else {}))
        equal(done.status, 0, "status, stderr: " + done.err)
        wanted, rows = done.out.split(), Report(done.trace).rows_with("^take$")
        equal(sum(row["count"] for row in rows), 50, "blocks")
        for row in rows:
            names = [frame["function"] for frame in row["stack"]]
            equal(names[:len(wanted)], wanted[::-1], "stack %s" % row)
        stops = info(done.trace)["counters"]
        equal([key for key, value in stops.items() if int(value) and
               key.startswith("stop_") and key != "stop_bottom"], [], "ends")


if ARCH in ("aarch64", "arm"):
    for how, flags in {**BARE, **(BARE_SIGNING if ARCH in SIGNING else
                                  {})}.items():
        def named(directory, flags=flags):
            names_each_function(directory, flags)
        named.__name__ = "code_alone_names_each_function_" + how
        named.__doc__ = names_each_function.__doc__
        case(named)


def operators(directory, name):
    done = recorded([os.path.join(TARGET_PROGRAMS, name), "quietly"], directory,
                    by="preload")
    equal(done.status, 0, "status, stderr: " + done.err)
    agree(done.expected, Report(done.traces[0]))


@case
def operators_new_and_delete_of_all_forms(directory):
    operators(directory, "own_new")


@case
def operators_of_an_allocators_own(directory):
    """They do not come back to malloc: in the trace by their names alone."""
    operators(directory, "own_new_linked")


@case
def what_was_recorded_is_said(directory):
    """Architecture, byte order and word size are those of the target."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "basic")], directory,
                    by="preload")
    facts = info(done.traces[0])["info"]
    equal(facts["arch"], ARCH, "arch")
    with open(LIBRARY, "rb") as library:
        ident = library.read(6)
    equal(int(facts["word_bytes"]), {1: 4, 2: 8}[ident[4]], "word_bytes")
    equal(facts["byte_order"], {1: "little", 2: "big"}[ident[5]], "byte_order")


@case
def guarded_blocks_are_found_at_the_end(directory):
    """All that live, in the pages that the program has written to; but those
    that the C library aligns by less than 16 have no guards."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "basic")], directory,
                    by="preload", env=environment(GNOMON_GUARD="64"))
    equal(done.status, 0, "status, stderr: " + done.err)
    counters = info(done.trace)["counters"]
    swept, blocks, damages, skipped = [
        int(counters["guard_" + key])
        for key in ("swept", "blocks", "damages", "skipped")]
    equal((swept, damages, skipped), (1, 0, 0), "swept, damages, skipped")
    live = done.expected["live_blocks"]
    check(blocks == live or (ARCH == "arm" and 0 < blocks < live),
          "%d blocks of %d" % (blocks, live))


@case
def mappings_are_the_targets(directory):
    """Where images lie, also if an emulator moves all addresses."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "basic")], directory,
                    by="preload")
    document = info(done.traces[0])
    for image in document["images"]:
        name = os.path.basename(image["path"])
        check(any(one["start"] <= image["bias"] < one["start"] + one["size"]
                  and os.path.basename(one["path"]) == name
                  for one in document["maps"]),
              "%s: no such mapping" % image)


@case
def libraries_that_are_loaded_later(directory):
    """By dlopen: their frames are found, and named by the image that they lie
    in."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "epochs"), TARGET_PROGRAMS],
                    directory, by="preload")
    equal(done.status, 0, "status, stderr: " + done.err)
    report = Report(done.traces[0])
    for which in "ab":
        rows = report.rows_with("epoch_%s_inner$" % which)
        equal(sum(row["count"] for row in rows), done.expected["blocks_each"],
              "blocks of library " + which)
        for row in rows:
            names = [frame["function"] for frame in row["stack"]]
            check({"epoch_%s_outer" % which, "main"} <= set(names),
                  "%s: %s" % (which, names))
    paths = {os.path.basename(image["path"])
             for image in info(done.traces[0])["images"]}
    check(paths >= {"libepoch_a.so", "libepoch_b.so"}, "images: %s" % paths)


@case
def children_beside_their_parent(directory):
    """Both allocate at once: each has a trace of its own, which says what that
    process counted."""
    prefix = os.path.join(directory, "counted")
    done = recorded([os.path.join(TARGET_PROGRAMS, "forks"), "fork"], directory,
                    by="preload", env=environment(FORKS_PREFIX=prefix))
    equal(done.status, 0, "status, stderr: " + done.err)
    said = {int(name.rpartition(".")[2]): os.path.join(directory, name)
            for name in os.listdir(directory) if name.startswith("counted.")}
    equal(len(said), 11, "children")
    equal(len(done.traces), 12, "traces")
    for trace in done.traces:
        expected, pid = done.expected, int(find_key(info(trace), "pid"))
        if pid in said:
            with open(said.pop(pid), encoding="utf-8") as counted:
                expected = Done(0, counted.read(), "").expected
        agree(expected, Report(trace), "%d: " % pid)
    equal(said, {}, "children without a trace")


# No table says that it signs. hint 25 and 29 are paciasp and autiasp, which all
# processors take.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>

int signs(int n);
int called(int n);

__attribute__((noinline)) static int leaf(int n)
{
	void *volatile block = malloc(n + 1);

	free(block);
	return n;
}

int called(int n)
{
	int sum = 0;

	for (int i = 0; i < 200; i++)
		sum += leaf(i % 7);
	return sum + n;
}

__asm__(".text\n.globl signs\n.type signs, %function\nsigns:\n"
	".cfi_startproc\n"
	"hint 25\n"
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
	"mov x29, sp\n"
	"bl called\n"
	"ldp x29, x30, [sp], #16\n"
	".cfi_restore 29\n.cfi_restore 30\n.cfi_def_cfa_offset 0\n"
	"hint 29\n"
	"ret\n"
	".cfi_endproc\n");

__attribute__((noinline)) static int outer(int n, int depth)
{
	return depth ? outer(n, depth - 1) + 1 : signs(n);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += outer(i, 6);
	printf("%d\n", sum);
	return 0;
}
"""


def a_signature_that_no_table_tells(directory):
    """The function returns with barriers in each place around it."""
    source = os.path.join(directory, "signs.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(SOURCE)
    path = os.path.join(directory, "signs")
    done = bare([*os.environ["CC"].split(), "-O1", "-fno-omit-frame-pointer",
                 "-fno-optimize-sibling-calls", source, "-o", path])
    equal(done.status, 0, done.err)
    plain = bare([path])
    equal(plain.status, 0, plain.err)
    placed = 0
    for distance in range(1, 7):
        place = os.path.join(directory, str(distance))
        os.mkdir(place)
        done = recorded([path], place, by="preload",
                        env=environment(GNOMON_DEBUG_BARRIER=distance))
        equal((done.status, done.out), (0, plain.out),
              "%d frames out: %s" % (distance, done.err))
        placed += find_key(info(done.trace), "barriers_placed")
    check(placed, "no barriers")


# The size of its frame is known to nobody, and its caller has a frame record.
GUESSED = r"""
#include <stdlib.h>

int unknown(int n, long size);
int called(int n);

int called(int n)
{
	void *volatile block = malloc(n + 1);

	free(block);
	return n;
}

__asm__(".text\n.globl unknown\n.type unknown, %function\nunknown:\n"
	"sub sp, sp, x1\n"
	"stp x30, x1, [sp]\n"
	"bl called\n"
	"ldp x30, x1, [sp]\n"
	"add sp, sp, x1\n"
	"ret\n");

__attribute__((noinline)) static int outer(int n)
{
	return unknown(n, 64) + 1;
}

__attribute__((noinline)) static int beside(int n)
{
	return called(n) + 1;
}

int main(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 200; i++)
		sum += outer(i % 7) + beside(i % 5);
	return 0;
}
"""


def a_frame_that_may_be_hidden(directory):
    """A frame pointer that leads on may be another function's. Such stacks do not
    count as complete; others that the same calls end in do."""
    source = os.path.join(directory, "guessed.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(GUESSED)
    path = os.path.join(directory, "guessed")
    done = bare([*os.environ["CC"].split(), *UNTABLED, "-O1",
                 "-fno-omit-frame-pointer", source, "-o", path])
    equal(done.status, 0, done.err)
    for mode in WAYS:
        place = os.path.join(directory, mode)
        os.mkdir(place)
        done = recorded([path], place, by="preload",
                        env=environment(**MODES[mode]))
        equal(done.status, 0, done.err)
        equal(number(info(done.trace), "oracle_differences"), 0, mode)
        text = gnomon("report", done.trace, "--csv", "--top", "0").out
        ends = {}
        for row in csv.DictReader(text.splitlines()):
            names = row["stack"].split(";")
            if names[0] == "called":
                ends.setdefault(names[1], set()).add(row["stopped"])
        equal(ends, {"unknown": {"no unwind table for this code"},
                     "beside": {""}}, mode)


if ARCH in SIGNING:
    case(a_signature_that_no_table_tells)
    case(a_frame_that_may_be_hidden)

main()
