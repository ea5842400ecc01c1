#!/usr/bin/python3
# TIMEOUT: 300
"""A port: stacks that are left by jumps, copied, moved, deep."""

from port import *

# Its end is reached three times, each time with captures from the bottom: by an
# emulator, a quarter of what is usual.
SMALL_STACK = {"QEMU_STACK_SIZE": 2 << 20}

on_target("jumps", modes=ALL)
on_target("jumps_checked")
on_target("copied_stacks")
on_target("moved_stacks")
on_target("shifting")
on_target("backtraces")
for how in ("recursion", "steps", "thread"):
    on_target("deepest", how)
on_target("deepest", "jump", env=SMALL_STACK)
suite("fibers", barriers=ANY)

main()
