#!/usr/bin/python3
# TIMEOUT: 300
"""A port: exceptions through frames of which some return to stubs."""

from port import *

on_target("throws", modes=None)
on_target("throws_late")
on_target("throws_static")
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread"):
    on_target("terminate", how)
on_target("throws_signed", modes=None, barriers=ANY)
suite("exceptions")

main()
