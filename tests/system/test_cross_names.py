#!/usr/bin/python3
"""Names, lines and inlined functions of programs for other processors, of both
word sizes and byte orders."""

import json
import os
import re
import shutil

from cross import TARGETS, Trace, calls_in, functions, id_of, libc, tool
from gnomon_test import case, check, equal, gnomon, main, need_file
from symbolized import addresses_in, build, compare, normal, run, symbolize


SOURCE = r"""
#include <string.h>

__attribute__((noinline)) char *keep(const char *text)
{
	char *copy = strdup(text);
	return copy + 1;
}

int main(int argc, char **argv)
{
	return *keep(argv[argc - 1]);
}
"""
LINES = [6, 12]


def addr2line(target, path, addresses):
    """Frames by address, innermost first: (function, file, line)."""
    out = run([tool(target, "addr2line"), "-afiC", "-e", path],
              input="".join("%#x\n" % address for address in addresses))
    found = {}
    for block in re.split(r"^(?=0x)", out, flags=re.M)[1:]:
        lines = block.splitlines()
        found[int(lines[0], 16)] = [
            (lines[i], *re.sub(r" \(discriminator \d+\)", "",
                               lines[i + 1]).rsplit(":", 1))
            for i in range(1, len(lines), 2)]
    return found


def bare_name(name):
    """Without namespaces, parameters and templates' arguments, in which
    demanglers and debug information differ."""
    name = name.replace("(anonymous namespace)::", "").split(" [")[0]
    return re.sub(r"[<(].*", "", name).split(" ")[-1].split("::")[-1]


def lines(target):
    def body(directory):
        path = build(directory, "-g", "-Wno-psabi",
                     compiler=tool(target, "g++"))
        compare(path)
        addresses = addresses_in(path)
        ours, _ = symbolize(path, addresses)
        theirs = addr2line(target, path, addresses)
        for address in addresses:
            mine = [(bare_name(name), normal(file), str(line))
                    for name, file, line, _ in ours[address]]
            wanted = [(bare_name(name), normal(file), line)
                      for name, file, line in theirs[address]]
            # addr2line may call an inlined function what it is inlined into
            if wanted[0][0] == mine[-1][0]:
                wanted[0] = (mine[0][0], *wanted[0][1:])
            equal(mine, wanted, "%#x" % address)
    body.__name__ = "lines_of_" + target
    case(body)


HOST_LIBC = "/lib/*/libc.so.6"


class Recorded:
    """A trace of a program that called strdup, whose files lie under a root of
    their own, behind links that are absolute there; debug information in
    /usr/lib/debug of that."""

    def __init__(self, directory, target, libc_path):
        source = os.path.join(directory, "source.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        self.program = os.path.join(directory, "program")
        run([tool(target, "gcc"), "-O1", "-g", "-Wl,--build-id", "-o",
             self.program, source])
        self.root = os.path.join(directory, "root")
        self.put(target, libc_path)
        copy = calls_in(target, self.program, "keep")[-1]
        main_call = calls_in(target, self.program, "main")[0]
        inside = functions(target, libc(target), "--dyn-syms")["strdup"][0]
        trace = Trace(target)
        at = trace.file("/opt/program", id_of(target, self.program))
        c = trace.file(libc_path, id_of(target, libc(target)))
        context = trace.stack([at + main_call, at + copy, c + inside + 8])
        self.path = trace.write(os.path.join(directory, "a.trace"),
                                [(context, 100)])

    def put(self, target, libc_path):
        for place in ("opt", "real", "usr/lib/debug/opt", "mnt"):
            os.makedirs(os.path.join(self.root, place))
        debug = os.path.join(self.root, "usr/lib/debug/opt/program.debug")
        run([tool(target, "objcopy"), "--only-keep-debug", self.program,
             debug])
        run([tool(target, "objcopy"), "--strip-all",
             "--add-gnu-debuglink=" + debug, self.program,
             os.path.join(self.root, "mnt/program")])
        os.symlink("/mnt/program", os.path.join(self.root, "opt/program"))
        shutil.copy(libc(target), os.path.join(self.root, "real/libc.so.6"))
        folder = os.path.join(self.root, os.path.dirname(libc_path)[1:])
        os.makedirs(os.path.dirname(folder))
        os.symlink("/real", folder)

    def frames(self, *options):
        done = gnomon("report", self.path, "--json", "--no-debuginfod",
                      *options)
        return done, json.loads(done.out)["rows"][0]["stack"]


def names(target):
    def body(directory):
        need_file(libc(target))
        host = need_file(HOST_LIBC)
        recorded = Recorded(directory, target, host)
        done, stack = recorded.frames("--sysroot", recorded.root)
        equal([frame["function"].strip("_") for frame in stack][:3],
              ["strdup", "keep", "main"], "names under the sysroot")
        equal([frame.get("line") for frame in stack][1:3], LINES, "lines")
        equal(done.err, "", "messages")
        # the path of libc is that of this machine's own
        done, stack = recorded.frames()
        check(all("+0x" in frame["function"] for frame in stack),
              "names of the host's files: %s" % stack)
        check(id_of(target, libc(target)) in done.err, done.err)
    body.__name__ = "names_of_" + target
    case(body)


@case
def no_build_ids(directory):
    """Nothing but the processor tells this system's file from another's."""
    target = "mips64"
    path = build(directory, "-g", "-Wl,--build-id=none")
    other = build(directory, "-g", "-Wno-psabi", "-Wl,--build-id=none",
                  compiler=tool(target, "g++"), name="other")
    for file, named in ((path, False), (other, True)):
        trace = Trace(target)
        inside = functions(target, file)["main"][0] + 8
        context = trace.stack([trace.file(file, None) + inside])
        done = gnomon("report", "--json", trace.write(file + ".trace",
                                                      [(context, 1)]))
        function = json.loads(done.out)["rows"][0]["stack"][0]["function"]
        equal(function == "main", named, "%s of %s" % (function, file))
        equal("for another processor" in done.err, not named, done.err)


for each in TARGETS:
    lines(each)
    names(each)


main()
