#!/usr/bin/python3
"""Stacks of plain C without unwind tables and frame pointers, unwound by
instructions alone: each names every function (nested_untabled.c has the shapes
of frames, realigned_untabled.c functions that align their stacks)."""

from gnomon_test import *

# They allocate in the others' name, or are in no stack.
OWN = "take fails never_returns ends_in_a_call".split()
# They allocate by another one alone.
SILENT = ["compares", "order"]
# Behind its call lies a jump by a table. Behind the other's is no way out.
UNKNOWN = {("switches", "take"), ("fails", "take")}


def stacks(directory, name, **changes):
    """A program's own functions in each stack, outermost first, and what there
    should be: each function calls the next one and allocates."""
    done = recorded([program(name)], directory, by="preload",
                    env=environment(**changes))
    equal(done.status, 0, "status, stderr: " + done.err)
    names = done.out.split("\n")[-2].split()
    found = set()
    for row in Report(done.trace).rows:
        own = [frame.get("function") for frame in reversed(row["stack"])]
        own = [name for name in own if name in names + OWN]
        if "take" in own:
            found.add(tuple(own))
    wanted = {tuple(names[:n] + ["take"]) for n in range(2, len(names) + 1)
              if names[n - 1] not in SILENT}
    return found, wanted, done


def whole(directory, mode):
    found, wanted, done = stacks(directory, "nested_untabled",
                                 GNOMON_SHADOW_STACK=mode,
                                 GNOMON_DEBUG_ORACLE="1")
    kept = {stack for stack in wanted if stack[-2:] not in UNKNOWN}
    check(len(kept) > 9, "%d stacks" % len(kept))
    equal(kept - found, set(), "missing")
    equal(found - kept, UNKNOWN, "others")
    counters = agrees(done)
    check(int(counters["stop_no_rule"]) > 0, "none that ends early")


def agrees(done):
    counters = info(done.trace)["counters"]
    equal(int(counters["oracle_differences"]), 0, "oracle_differences")
    check(int(counters["oracle_checks"]) > 0, "no oracle")
    return counters


@case
def code_without_tables_forbids_barriers(directory):
    _, _, done = stacks(directory, "nested_untabled")
    thread = [each for each in info(done.trace)["threads"] if each["main"]][0]
    equal((thread["mode"], thread["why"]),
          ("validate", "code without unwind tables is here"), "why")


def realigned(directory, mode):
    found, wanted, done = stacks(directory, "realigned_untabled",
                                 GNOMON_SHADOW_STACK=mode,
                                 GNOMON_DEBUG_ORACLE="1")
    check(len(wanted) > 9, "%d stacks" % len(wanted))
    equal(found, wanted, "stacks")
    equal(int(agrees(done)["stop_no_rule"]), 0, "that end early")


@case
def each_function_has_its_frame(directory):
    whole(directory, "auto")


@case
def also_where_functions_align_their_stacks(directory):
    for mode in "auto", "off":
        place = os.path.join(directory, mode)
        os.mkdir(place)
        realigned(place, mode)


# The frame pointer is that of a function which aligns its stack, while one that
# never returns allocates, of which the code tells nothing: the stack pointer that
# comes of it is not that of the next function outward, as the table has it. Nobody
# has called from the addresses in its frame.
FAILS = r"""
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline, noclone))
volatile int zero;
static jmp_buf out;
OWN static __attribute__((noreturn)) void fails(void)
{
    void *volatile block = malloc(1000);
    free(block);
    longjmp(out, 1);
}
OWN int aligns(int a)
{
    _Alignas(64) volatile char room[64];
    volatile char *more = alloca((size_t)(16 + a));
    room[a] = more[a] = (char)a;
    if (!zero)
        fails();
    return room[a] + more[a];
}
int holds(int a);
int main(void)
{
    volatile int i;
    for (i = 0; i < 20; i++)
        if (!setjmp(out))
            holds(zero);
    return zero;
}
"""
HOLDS = r"""
extern volatile int zero;
int aligns(int a);
int decoy(int a) { return a + zero; }
int holds(int a)
{
    void *volatile list[18];
    for (int i = 0; i < 18; i++)
        list[i] = (char *)decoy + 1;
    aligns(a);
    return list[a] != 0;
}
"""


@case
def guessed_callers_are_checked(directory):
    """Not to what lies where the return address was sought."""
    need("gcc")
    objects = []
    for name, text, flags in (
            ("fails", FAILS, ["-fno-asynchronous-unwind-tables",
                              "-fno-unwind-tables"]), ("holds", HOLDS, [])):
        source = os.path.join(directory, name + ".c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        objects.append(os.path.join(directory, name + ".o"))
        done = bare(["gcc", "-O2", "-fomit-frame-pointer", *flags, "-c",
                     source, "-o", objects[-1]])
        equal(done.status, 0, done.err)
    path = os.path.join(directory, "guesses")
    equal(bare(["gcc", *objects, "-o", path]).status, 0, "link")
    done = recorded([path], directory, by="preload",
                    env=environment(GNOMON_DEBUG_ORACLE="1"))
    equal(done.status, 0, done.err)
    own = {tuple(frame.get("function") for frame in reversed(row["stack"]))
           for row in Report(done.trace).rows}
    equal({stack for stack in own if "fails" in stack}, {("holds", "fails")},
          "stacks")
    equal(int(agrees(done)["stop_no_rule"]), 20, "that end early")


# The compiler puts what is rarely done elsewhere, with the frame as it is there.
RARE = r"""
#include <alloca.h>
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone))
static void *volatile block;
volatile int zero;
OWN static void take(size_t size) { block = malloc(size); free(block); }
OWN static __attribute__((cold)) void rare(int n)
{
    take((size_t)(500 + n + zero));
    zero = 0;
}
OWN static int sums(int n, int a)
{
    volatile char room[40];
    room[n] = (char)a;
    for (int i = 0; i < n; i++)
        if (__builtin_expect((a += i) > 5, 0)) {
            rare(i);
            a -= zero + 1;
        }
    return a + room[n];
}
OWN static int aligns(int n, int a)
{
    _Alignas(64) volatile char room[64];
    volatile char *more = alloca((size_t)(16 + n));
    room[n] = more[n] = (char)a;
    for (int i = 0; i < n; i++)
        if (__builtin_expect((a += i) > 5, 0)) {
            rare(i);
            a -= sums(n, a) + zero;
        }
    return a + room[n] + more[n];
}
int main(void) { return aligns(7, 3) == 12345; }
"""


@case
def cold_parts_are_not_functions(directory):
    """Also to those that make rules before, with and without names."""
    need("gcc")
    source = os.path.join(directory, "rare.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(RARE)
    wanted = None
    for flags in ([], ["-fno-asynchronous-unwind-tables",
                       "-fno-unwind-tables"],
                  ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                   "-s"]):
        path = os.path.join(directory, "rare")
        equal(bare(["gcc", "-O2", "-fomit-frame-pointer", *flags, source, "-o",
                    path]).status, 0, "gcc")
        done = recorded([path], directory, env=environment(
            XDG_CACHE_HOME=directory))
        equal(done.status, 0, done.err)
        depths = sorted((len(row["stack"]), row["count"])
                        for row in Report(done.trace).rows)
        wanted = wanted or depths
        check(len(wanted) > 1, "%s" % wanted)
        equal(depths, wanted, "%s: depths" % flags)
        for trace in traces_in(directory):
            os.remove(trace)


NEVER_BACK = r"""
#include <stdio.h>
#include <stdlib.h>
#define CALLED __attribute__((noinline))
CALLED __attribute__((noreturn)) static void ends(const char *why)
{
    puts(why);
    exit(3);
}
CALLED static void *takes(long size)
{
    void *block = malloc(size + 10);
    __asm__ volatile("" ::: "memory");
    return block;
}
CALLED static long gives(void *block, long a, long b)
{
    __asm__ volatile("" ::: "memory");
    free(block);
    return a + b;
}
CALLED static long checks(long a, const char *why)
{
    if (a < 0)
        ends(why);
    return a * 3;
}
/* behind the call above, which does not come back, and reached by a table */
static long jumps_on(long a) { void *p = takes(a); return gives(p, a, 7); }
static long returns(long a)
{
    void *p = takes(a + 1);
    return gives(p, a, 9) + 1;
}
static long (*const table[])(long) = { jumps_on, returns };
int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += table[i & 1](i) + checks(i, argv[argc - 1]);
    exit(sum == 0);
}
"""


@case
def calls_that_do_not_come_back(directory):
    """What stands behind one is the next function, whatever ends that."""
    need("gcc")
    source = os.path.join(directory, "never.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(NEVER_BACK)
    for more in [], ["-s"], ["-s", "-fPIE", "-pie", "-Wl,--no-relax"]:
        path = os.path.join(directory, "never")
        equal(bare(["gcc", "-O2", "-fno-toplevel-reorder",
                    "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                    *more, source, "-o", path]).status, 0, "gcc")
        done = recorded([path], directory, env=environment(
            XDG_CACHE_HOME=directory))
        equal(done.status, 0, done.err)
        info = json.loads(gnomon("info", "--json", done.trace).out)
        counters = info["counters"]
        equal(counters["stop_bottom"], counters["tier_full"],
              "%s: %s" % (more, counters))
        for trace in traces_in(directory):
            os.remove(trace)


@case
def frames_without_the_shadow_stack(directory):
    whole(directory, "off")


main()
