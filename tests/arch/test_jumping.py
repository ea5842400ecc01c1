#!/usr/bin/python3
# TIMEOUT: 300
"""A port: stacks that are left by jumps, copied, moved, deep."""

from port import *

on_target("jumps", modes=None)
on_target("jumps_checked")
on_target("copied_stacks")
on_target("moved_stacks")
on_target("shifting")
on_target("backtraces")
for how in ("recursion", "steps", "jump", "thread"):
    on_target("deepest", how)
suite("fibers", barriers=ANY)

main()
