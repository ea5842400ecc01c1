#!/usr/bin/python3
# TIMEOUT: 600
"""A port: what C and C++ can do to a stack, bare and recorded in all modes, on
the target or under an emulator (make check-arch). The oracle takes each stack a
second time."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "system"))

from gnomon_test import *
from matrix import *

FEW = ("near1", "oracle", "off")


def on_target(name, *arguments, program=None, **wishes):
    wishes.setdefault("modes", FEW)
    target("_".join([name, *map(os.path.basename, arguments)]),
           [program or matrix_program(name), *arguments], **wishes)


def suite(name, *arguments, **wishes):
    """A program of tests/programs/."""
    on_target(name, *arguments, program=os.path.join(TARGET_PROGRAMS, name),
              **wishes)


on_target("throws", modes=None)
on_target("throws_late")
on_target("throws_static")
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread"):
    on_target("terminate", how)
on_target("thread_ends")
on_target("jumps", modes=None)
on_target("jumps_checked")
on_target("copied_stacks")
on_target("moved_stacks")
on_target("shifting")
on_target("backtraces")
for how in ("recursion", "steps", "jump", "thread"):
    on_target("deepest", how)
for how in ("fork", "threads"):
    on_target("children", how)
for name in ("lifecycle", "exceptions", "cancel", "turnover"):
    suite(name)
suite("fibers", barriers=ANY)
# what it did depends on when its timer fired
suite("signals", barriers=ANY, nested_lost=True, same=lambda text: "")
suite("epochs", TARGET_PROGRAMS, barriers=ANY)
on_target("throws_signed", modes=None, barriers=ANY)
on_target("signals_alternate", barriers=ANY)


@case
def stacks_are_complete(directory):
    """To the outermost frame, all of them, in a C++ program."""
    done = recorded([matrix_program("throws")], directory, by="preload")
    equal(done.status, 0, "status, stderr: " + done.err)
    counters = info(done.traces[0])["counters"]
    stops = {key: int(value) for key, value in counters.items()
             if key.startswith("stop_") and key != "stop_bottom"}
    equal(sum(stops.values()), 0, "walks that ended early: %s" % stops)


@case
def stacks_without_tables_are_complete(directory):
    """Of 100 captures 99, in a program of plain C that has no unwind tables,
    where compilers leave them out: there ports decode instructions (arch.h)."""
    if os.environ.get("GNOMON_ARCH") == "x86_64":
        return
    done = recorded([matrix_program("untabled")], directory, by="preload",
                    env=environment(GNOMON_SHADOW_STACK="off"))
    equal(done.status, 0, "status, stderr: " + done.err)
    counters = info(done.traces[0])["counters"]
    stops = {key: int(value) for key, value in counters.items()
             if key.startswith("stop_")}
    bottom = stops.pop("stop_bottom")
    check(100 * sum(stops.values()) <= bottom,
          "%d walks to the end, %s" % (bottom, stops))


@case
def what_was_recorded_is_said(directory):
    """Architecture, byte order and word size are those of the target."""
    done = recorded([os.path.join(TARGET_PROGRAMS, "basic")], directory,
                    by="preload")
    facts = info(done.traces[0])["info"]
    equal(facts["arch"], os.environ.get("GNOMON_ARCH", facts["arch"]), "arch")
    with open(LIBRARY, "rb") as library:
        ident = library.read(6)
    equal(int(facts["word_bytes"]), {1: 4, 2: 8}[ident[4]], "word_bytes")
    equal(facts["byte_order"], {1: "little", 2: "big"}[ident[5]], "byte_order")


main()
