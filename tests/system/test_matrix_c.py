#!/usr/bin/python3
# TIMEOUT: 300
"""The matrix, part one: what C, C++ and assembly can do to a stack."""

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


whole("throws")
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread",
            "forgotten"):
    rough("terminate", how, barriers=ANY if how == "forgotten" else PLACED)
rough("thread_ends")
whole("jumps")
whole("jumps_checked")
rough("alarm_jumps")
rough("alarm_jumps", "stack")
whole("contexts")
whole("copied_stacks")
whole("children", "vfork")
whole("children", "exec")
whole("children", "clone")
whole("children", "spawn")
whole("children", "fork")
whole("children", "threads")
rough("deepest", "recursion")
whole("deepest", "steps")
rough("deepest", "overflow")
rough("deepest", "jump")
rough("deepest", "thread")

main()
