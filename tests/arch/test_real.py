#!/usr/bin/python3
# TIMEOUT: 300
"""A port: Lua's interpreter, 24 000 lines of C from Debian's source package, does
the same recorded; its report has names, and so has what pprof reads."""

import gzip

from port import *

LUA = os.path.join(TARGET_PROGRAMS, "lua")
WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "real_work.lua")
# Of the interpreter, the parser and the library.
NAMES = ("luaV_execute", "luaH_resize", "luaL_loadfilex", "main")
# Where compilers emit tables for C, every stack is whole.
WITH_TABLES = ("x86_64", "aarch64")


def need_source():
    if not os.path.exists(LUA):
        raise Skip("no source of lua5.4: `make deps-cross`")


@case
def it_does_the_same(directory):
    need_source()
    compare([LUA, WORK], directory, modes=WAYS, barriers=ANY)


@case
def it_is_reported_with_names(directory):
    need_source()
    done = recorded([LUA, WORK], directory, by="preload")
    equal(done.status, 0, "status: " + done.err)
    report = Report(done.trace)
    check(report.summary["allocations"] > 5000, "too few: %s" % report.summary)
    for name in NAMES:
        check(report.rows_with(name + "$"), "no stack has " + name)
    if ARCH in WITH_TABLES:
        counters = info(done.trace)["counters"]
        ended = {key: int(value) for key, value in counters.items()
                 if key.startswith("stop_") and key != "stop_bottom"}
        equal(sum(ended.values()), 0, "walks that ended early: %s" % ended)
    path = os.path.join(directory, "lua.pb.gz")
    gnomon("export", "--format", "pprof", "-o", path, done.trace)
    with gzip.open(path) as file:
        profile = file.read()
    for name in NAMES:
        check(name.encode() in profile, "not exported: " + name)


main()
