#!/usr/bin/python3
# TIMEOUT: 300
"""A port: threads, cancellation, signals, children, images that come and go."""

from port import *

on_target("thread_ends")
for how in ("fork", "threads"):
    on_target("children", how)
suite("lifecycle")
suite("cancel")
suite("turnover", *shorter("20", "300"))
# what it did depends on when its timer fired
suite("signals", barriers=ANY, nested_lost=True, same=lambda text: "")
on_target("signals_alternate", barriers=ANY)
suite("epochs", TARGET_PROGRAMS, barriers=ANY)

main()
