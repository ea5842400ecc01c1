#!/usr/bin/python3
# TIMEOUT: 300
"""A port: a real program, Lua, built from Debian's source for the target:
recorded there, read here. It counts itself what it asks of the allocator."""

import functools

from port import *
from exported import exported, summary
from pprof_profile import TYPES, checked, decoded, one, raw, sums

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(BUILD, "sources", "lua5.4")
# Debian's cross compilers have their libraries there.
ROOT = EMULATOR[EMULATOR.index("-L") + 1] if "-L" in EMULATOR else "/"

# C has no unwind tables by default on ARM and MIPS. Its hashes would depend on
# addresses.
FLAGS = ("-O2", "-g", "-std=gnu99", "-funwind-tables",
         "-fno-optimize-sibling-calls", "-DLUA_USE_LINUX",
         "-Dluai_makeseed(L)=1", "-Wl,--wrap=realloc,--wrap=free")


@functools.lru_cache(None)
def lua():
    """The program; made once, and again if its source is newer."""
    if not os.path.exists(os.path.join(SOURCE, ".fetched")):
        raise Skip("the source of lua5.4 is not there: `make deps-cross`")
    path = os.path.join(TARGET_PROGRAMS, "lua")
    sources = [os.path.join(SOURCE, "src", name)
               for name in os.listdir(os.path.join(SOURCE, "src"))
               if name.endswith(".c") and name != "luac.c"]
    sources.append(os.path.join(HERE, "counted.c"))
    newest = max(map(os.path.getmtime, [*sources, __file__]))
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        done = bare([*os.environ.get("CC", "cc").split(), *FLAGS, "-o", path,
                     *sorted(sources), "-lm", "-ldl"])
        equal((done.status, done.err), (0, ""), "compiler")
    return path


@functools.lru_cache(None)
def run():
    """The bare run, the recorded one, and its trace."""
    argv = [lua(), os.path.join(HERE, "program.lua")]
    where = tempfile.mkdtemp(prefix="gnomon-test.")
    try:
        plain = bare(argv)
        done = recorded(argv, where, by="preload")
        trace = os.path.join(os.environ.get("GNOMON_TEST_SHARED") or
                             TARGET_PROGRAMS, "lua-%s.trace" % ARCH)
        shutil.copy(done.trace, trace)
    finally:
        shutil.rmtree(where)
    return plain, done, trace


@functools.lru_cache(None)
def report():
    return Report(run()[2])


def line_of(frame):
    """The text of the line that a frame is at."""
    name = os.path.basename(frame["file"])
    with open(os.path.join(SOURCE, "src", name), encoding="utf-8") as file:
        return file.read().splitlines()[frame["line"] - 1]


@case
def counts_are_its_own(directory):
    """What it does, says and counts is the same bare, recorded, and in the
    trace, where all of that is below l_alloc."""
    plain, done, _ = run()
    equal((done.status, done.out, done.err), (0, plain.out, ""), "the run")
    check(plain.expected["allocations"] > 5000, plain.out)
    equal(report().sums("l_alloc"), {**plain.expected, "live_bytes": 0},
          "figures of l_alloc")
    adds_up(report())


@case
def names_and_lines(directory):
    """Of the program and of the C library, at each of its allocations."""
    rows = report().rows_with("l_alloc$")
    for row in rows:
        frame, = [one for one in row["stack"]
                  if one.get("function") == "l_alloc"]
        check("realloc(ptr, nsize)" in line_of(frame), str(frame))
        names = outermost(row)
        check("main" in names, "a stack without main: %s" % names)
        check(any(name.lstrip("_").startswith("libc_start")
                  for name in names[:names.index("main")]),
              "no caller of main: %s" % names)
    inner = {one["function"] for row in rows for one in row["stack"]}
    for wanted in ("luaM_malloc_", "luaH_resize", "lua_newstate", "tconcat"):
        check(wanted in inner, "%s is in no stack" % wanted)


@case
def profile_for_pprof(directory):
    """Its sums are the report's, with lines, for readers of that format."""
    _, _, trace = run()
    said = summary(trace)
    path = exported(trace, "pprof",
                    output=os.path.join(directory, "lua.pb.gz"))
    profile = decoded(path)
    texts = checked(profile)
    equal([sum(values) for values in zip(*(
        sample["value"] for sample in profile["sample"]))],
        [said[key] for key in ("allocations", "total_bytes", "live_blocks",
                               "live_bytes")], "sums")
    names = {one(each, "id"): texts[one(each, "name")]
             for each in profile["function"]}
    lines = {one(line, "line") for location in profile["location"]
             for line in location["line"]
             if names[one(line, "function_id")] == "l_alloc"}
    check(lines and 0 not in lines, "lines of l_alloc: %s" % lines)
    got = raw(path)
    equal((got.types, sums(got)[0]), (list(TYPES), said["allocations"]),
          "go tool pprof")


@case
def annotated(directory):
    """Source here, instructions of the target's."""
    done = gnomon("annotate", run()[2], "l_alloc", "--json", "--disassembly",
                  "-S", os.path.join(SOURCE, "src"), "--cost", "total")
    row = json.loads(done.out)["rows"][0]
    code = row["code"]
    equal([piece["error"] for piece in code], [None] * len(code), "code")
    calls = [one for piece in code for one in piece["instructions"]
             if "returns_to" in one]
    check(calls, "no instruction has a cost")


main()
