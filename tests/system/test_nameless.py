#!/usr/bin/python3
"""Functions without a name: every command identifies each by its start in the
unwind table; and the messages about their libraries."""

import gzip
import json
import os
import re
import shutil
import subprocess

from gnomon_test import *

# As long as those of Python's modules are.
LIBRARY = "_quite_long.cpython-311-x86_64-linux-gnu.so"

LIBRARY_SOURCE = """
#include <stdlib.h>
#include <string.h>
void *kept[8];
static __attribute__((noinline)) void hidden(int n)
{
	kept[0] = malloc(1000);
	memset(kept[0], n, 1000);
	kept[1] = malloc(3000);
	memset(kept[1], n, 3000);
}
static __attribute__((noinline)) void other(int n)
{
	kept[2] = malloc(500);
	memset(kept[2], n, 500);
}
void shown(int n)
{
	hidden(n);
	other(n);
	kept[3] = malloc(70);
	memset(kept[3], n, 70);
}
"""

PROGRAM_SOURCE = """
void shown(int);
int main(void)
{
	shown(3);
	return 0;
}
"""

FORMATS = ("collapsed", "pprof", "speedscope", "heaptrack", "json", "ndjson",
           "csv", "callgrind", "firefox", "dhat", "massif")


class Stripped:
    """A program with a library that lost its names, and what they were."""

    def __init__(self, directory, *flags):
        self.directory = os.path.join(directory, "built")
        os.mkdir(self.directory)
        self.library = os.path.join(self.directory, LIBRARY)
        self.program = os.path.join(self.directory, "user")
        self.gcc("-shared", "-fPIC", *flags, "-o", self.library,
                 source=LIBRARY_SOURCE)
        self.gcc("-o", self.program, self.library, source=PROGRAM_SOURCE)
        symbols = subprocess.run(["nm", self.library], check=True,
                                 capture_output=True, text=True).stdout
        self.starts = {name: int(start, 16) for start, name in
                       re.findall(r"^(\w+) t (\w+)$", symbols, re.M)}
        subprocess.run(["strip", "-s", self.library], check=True)
        self.trace = recorded([self.program], directory).trace

    def gcc(self, *arguments, source):
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-x", "none",
                        "-Wl,--build-id", *arguments], check=True,
                       input=source.encode())

    def name(self, function):
        return "%s+%#x" % (LIBRARY, self.starts[function])


def rows(trace, *options):
    return json.loads(gnomon("report", trace, "--json", "--top", "0",
                             *options).out)["rows"]


def by_function(trace):
    return {row["function"]: row for row in rows(trace, "--by", "function")
            if row["library"] == LIBRARY}


@case
def one_row_a_function(directory):
    target = Stripped(directory)
    found = by_function(target.trace)
    hidden, other = target.name("hidden"), target.name("other")
    equal(set(found), {hidden, other, "shown"}, "functions")
    for name, blocks, size in ((hidden, 2, 4000), (other, 1, 500)):
        row = found[name]
        equal((row["count"], row["total_bytes"], row["named"],
               row["module_offset"]),
              (blocks, size, False, int(name.split("+")[1], 16)), name)
    check(found["shown"]["named"] and
          "module_offset" not in found["shown"], found["shown"])
    sites = [row for row in rows(target.trace, "--by", "site")
             if row["stack"] and row["stack"][0]["function"] == hidden]
    equal([(row["count"], row["total_bytes"]) for row in sites], [(2, 4000)],
          "its calls are one site")
    frame = sites[0]["stack"][0]
    check(not frame["named"] and frame["module_offset"] >
          target.starts["hidden"], "a frame still knows its call: %s" % frame)
    tree = [row for row in rows(target.trace, "--tree", "top-down", "--sort",
                                "total") if row["function"] == hidden]
    equal([row["total_bytes"] for row in tree], [4000], "in the tree")


@case
def nameless_frames_show_their_library(directory):
    target = Stripped(directory)
    for options in (("--by", "stack"), ("--by", "site"), ("--by", "function"),
                    ("--tree", "bottom-up", "--sort", "total")):
        out = gnomon("report", target.trace, "--top", "0", *options).out
        check("??" not in out, out)
        for name in ("hidden", "other"):
            check("+%#x" % target.starts[name] in out, out)
        for line in out.splitlines():
            check(len(line) <= 80, line)
    out = gnomon("report", target.trace, "--by", "stack", "--top", "0").out
    check(re.search(r"shown  _quite.*\.so$", out, re.M),
          "a named function's long library: " + out)
    whole = gnomon("report", target.trace, "--by", "function", "--full-names",
                   "--top", "0").out
    check(target.name("hidden") in whole, whole)


@case
def filters_know_it(directory):
    target = Stripped(directory)
    pattern = "^" + re.escape(target.name("hidden")) + "$"
    summary = json.loads(gnomon("report", target.trace, "--json",
                                "--function", pattern).out)["summary"]
    equal((summary["allocations"], summary["total_bytes"]), (2, 4000),
          "--function")
    rest = rows(target.trace, "--by", "function", "--not-function", pattern)
    check(target.name("hidden") not in {row["function"] for row in rest},
          "--not-function")
    done = gnomon("annotate", target.trace, target.name("hidden"), "--json")
    found = json.loads(done.out)["rows"]
    equal([(row["function"], row["total_bytes"]) for row in found],
          [(target.name("hidden"), 4000)], "annotate")
    # A suppression is about names that people gave.
    rules = os.path.join(directory, "rules.supp")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("leak:*+0x*\n")
    done = gnomon("check", target.trace, "--max-live", "0", "--suppressions",
                  rules, statuses=(1,))
    check("+%#x" % target.starts["hidden"] in done.out, done.out)


@case
def all_formats_say_it(directory):
    target = Stripped(directory)
    hidden = target.name("hidden")
    call = rows(target.trace, "--by", "stack", "--function",
                "^" + re.escape(hidden))[0]["stack"][0]["module_offset"]
    for form in FORMATS:
        path = os.path.join(directory, "out." + form)
        gnomon("export", target.trace, "--format", form, "-o", path)
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        check(hidden.encode() in data, "%s lacks %s" % (form, hidden))
        check(("%s+%#x" % (LIBRARY, call)).encode() not in data,
              "%s has a call's address" % form)
    graph = os.path.join(directory, "graph.svg")
    gnomon("flamegraph", target.trace, "--cost", "total", "-o", graph)
    with open(graph, encoding="utf-8") as file:
        check(hidden in file.read(), "flamegraph")
    again = os.path.join(directory, "again")
    os.mkdir(again)
    other = recorded([target.program], again).trace
    out = gnomon("diff", target.trace, other, "--by", "function").out
    check("unchanged" in out or hidden not in out, out)


@case
def where_its_file_is(directory):
    """Embedded, the unwind tables are there; without them each call is by
    itself, as nothing says what belongs together."""
    target = Stripped(directory)
    hidden = target.name("hidden")
    small = os.path.join(directory, "small.trace")
    gnomon("repack", target.trace, "-o", small, "--embed", "debug")
    os.rename(target.directory, target.directory + ".away")
    equal(by_function(small)[hidden]["total_bytes"], 4000, "embedded")
    found = by_function(target.trace)
    check(hidden not in found and all(
        re.match(re.escape(LIBRARY) + r"\+0x[0-9a-f]+$", name)
        for name in found), "without the file: %s" % list(found))
    equal(sum(row["total_bytes"] for row in found.values()), 4570, "sum")


def advice(trace, *options, **changes):
    """What is said on standard error: one line, or nothing."""
    changes.setdefault("DEBUGINFOD_URLS", None)
    done = gnomon("report", trace, *options, env=environment(**changes))
    check("symbols" not in done.out, done.out)
    # There may be others about files that are not there.
    said = [line for line in done.err.splitlines()
            if "functions without names" in line]
    check(len(said) <= 1, done.err)
    return "".join(said)


@case
def what_to_do_is_said_once(directory):
    target = Stripped(directory)
    root = os.path.join(directory, "root")
    info = os.path.join(root, "var", "lib", "dpkg", "info")
    os.makedirs(info)
    os.makedirs(root + target.directory)
    shutil.copy(target.library, root + target.directory)
    for name, paths in (("liblong:amd64", ["/.", target.library + "x"]),
                        ("libquite1:amd64", ["/.", target.library, "/b"]),
                        ("libx", [target.directory])):
        with open(os.path.join(info, name + ".list"), "w",
                  encoding="utf-8") as file:
            file.write("\n".join(paths) + "\n")
    for options in ((), ("--by", "function"), ("--by", "stack"),
                    ("--tree", "top-down"), ("--sort", "total")):
        err = advice(target.trace, "--sysroot", root, *options)
        check(LIBRARY in err and "install libquite1-dbgsym" in err and
              "DEBUGINFOD_URLS," in err and "-d" in err, err)
    # 4500 of its 4570 bytes, and nothing of the program's.
    err = advice(target.trace, "--sysroot", root)
    check(LIBRARY + " (98.5% of total): " in err, err)
    os.mkdir(os.path.join(root, "etc"))
    with open(os.path.join(root, "etc", "os-release"), "w",
              encoding="utf-8") as file:
        file.write("NAME=x\nID=debian\n")
    err = advice(target.trace, "--sysroot", root)
    check("DEBUGINFOD_URLS=https://debuginfod.debian.net" in err, err)
    err = advice(target.trace, "--sysroot", root, "--no-debuginfod",
                 DEBUGINFOD_URLS="http://127.0.0.1:1")
    check("leave out --no-debuginfod" in err and "set DEBUG" not in err, err)
    # In no package: where its debug file would be found.
    build_id = re.search(r"Build ID: (\w+)", subprocess.run(
        ["readelf", "-n", target.library], check=True, capture_output=True,
        text=True).stdout).group(1)
    err = advice(target.trace)
    check("/usr/lib/debug/.build-id/%s/%s.debug" % (
        build_id[:2], build_id[2:]) in err, err)
    for quiet in (("-q",), ("--json",)):
        equal(advice(target.trace, *quiet), "", quiet)
    named = recorded([program("tables")], root).trace
    check(program("tables") not in advice(named, "--function", "^tgt_"),
          "a program that has all names")


@case
def without_unwind_tables(directory):
    """A walk by frame pointers gets through; names are places of calls."""
    target = Stripped(directory, "-fno-asynchronous-unwind-tables",
                      "-fno-omit-frame-pointer", "-fno-exceptions")
    found = by_function(target.trace)
    check(target.name("hidden") not in found, "known from nowhere")
    equal(sum(row["total_bytes"] for row in found.values()
              if not row["named"]), 4500, "sums of %s" % list(found))


main()
