#!/usr/bin/python3
# TIMEOUT: 300
"""A port: exceptions through frames of which some return to stubs."""

from port import *

on_target("throws", *shorter("60"), modes=ALL)
on_target("throws_late")
on_target("throws_static", *shorter("60"))
for how in ("noexcept", "guarded", "destructor", "uncaught", "thread"):
    on_target("terminate", how)
# One that knows signatures, and one where signing does nothing.
PROCESSORS = ("max", "cortex-a72") if EMULATOR else ("",)
if ARCH in SIGNING:
    for each in PROCESSORS:
        target("throws_signed_" + each,
               [matrix_program("throws_signed"), *shorter("60")],
               barriers=ANY, modes=WAYS if "a72" in each else ALL,
               env={"QEMU_CPU": each} if each else None)
suite("exceptions", *shorter("1"))

main()
