#!/usr/bin/python3
# TIMEOUT: 300
"""A port: exceptions through frames of which some return to stubs."""

from port import *

on_target("throws", *shorter("60"), modes=ALL)
on_target("throws_late")
on_target("throws_static", *shorter("60"))
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread"):
    on_target("terminate", how)
if ARCH in SIGNING:
    on_target("throws_signed", *shorter("60"), modes=ALL, barriers=ANY)
suite("exceptions", *shorter("1"))

main()
