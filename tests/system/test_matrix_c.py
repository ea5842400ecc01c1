#!/usr/bin/python3
# TIMEOUT: 300
"""The matrix, part one: unusual stacks of C, C++ and assembly."""

from gnomon_test import *
from matrix import *


def whole(name, *arguments, **wishes):
    """A deterministic target: the stacks are the same in all modes."""
    target("_".join([name, *arguments]), [matrix_program(name), *arguments],
           stacks=True, **wishes)


def rough(name, *arguments, **wishes):
    """One whose stacks depend on chance, or are too long to be listed."""
    target("_".join([name, *arguments]), [matrix_program(name), *arguments],
           **wishes)


FEW = ("near1", "near3", "off")

whole("throws")
whole("throws_late")
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread",
            "forgotten"):
    rough("terminate", how, barriers=ANY if how == "forgotten" else PLACED)
rough("thread_ends")
whole("jumps")
whole("jumps_checked")
rough("alarm_jumps", nested_lost=True)
rough("alarm_jumps", "stack", nested_lost=True)
rough("alarm_throws", nested_lost=True)
rough("stepped", "walk", modes=FEW)
rough("stepped", "allocate", modes=FEW, nested_lost=True)
rough("stepped", "jump", modes=FEW, nested_lost=True)
whole("ping_pong")
whole("boost_fibers")
whole("copied_stacks")
whole("moved_stacks")
whole("shifting")
whole("children", "vfork")
whole("children", "exec")
whole("children", "clone")
whole("children", "shared")
whole("children", "spawn")
whole("children", "fork")
whole("children", "threads")
rough("deepest", "recursion")
whole("deepest", "steps")
rough("deepest", "overflow")
rough("deepest", "jump")
rough("deepest", "thread")
whole("returns")
# What compilers make of it: the modes where most is at stake.
for variant in ("tails", "cet", "ipa_ra", "no_red_zone", "framed"):
    whole("returns_" + variant, modes=FEW)
# Its stack is not the thread's own, and grows where the environment's size
# makes it grow.
rough("split_stack", barriers=ANY, modes=FEW)
whole("registers")
whole("ipa_ra")
whole("backtraces")
whole("hijacker")
whole("hijacker", "cfi")
whole("throws_static", modes=FEW)
whole("throws_clang", modes=FEW)

# What else there is.
for name in ("lifecycle", "exceptions", "cancel", "turnover"):
    target("program_" + name, [program(name)], modes=FEW)
for name in ("fibers", "ifunc", "no_tables"):
    target("program_" + name, [program(name)], modes=FEW, barriers=ANY)
target("program_epochs", [program("epochs"), PROGRAMS])

main()
