#!/usr/bin/python3
# TIMEOUT: 300
"""A port: stacks that are left by jumps, copied, moved, deep."""

import resource

from port import *

# Its end is reached three times, with captures all the way.
STACK_BYTES = 2 << 20


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))


on_target("jumps", modes=ALL)
on_target("jumps_checked")
on_target("copied_stacks")
on_target("moved_stacks")
on_target("shifting")
on_target("backtraces")
for how in ("recursion", "steps", "thread"):
    on_target("deepest", how)
on_target("deepest", "jump", preexec_fn=small_stack)
suite("fibers", barriers=ANY)

main()
