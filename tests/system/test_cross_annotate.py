#!/usr/bin/python3
"""Instructions of other processors' programs: each is where the cross objdump
has it, instructions unknown to Capstone are numbers, and calls have costs."""

import json
import os
import re

from cross import TARGETS, Trace, calls_in, functions, id_of, tool
from gnomon_test import case, check, equal, gnomon, main
from symbolized import run

SOURCE = r"""
#include <stdlib.h>
#include <string.h>

OTHER_SET
__attribute__((noinline)) char *copy(const char *text)
{
	return strdup(text) + 1;
}

__attribute__((noinline)) char *keep(const char *text, long n, long *p)
{
	switch (n) {
	case 1: text++; break;
	case 2: text += 77777777; break;
	case 3: n = 123456789; break;
	case 4: return malloc(5);
	case 5: n++; text = "x"; break;
	case 6: return 0;
	}
	__asm__ volatile(SPECIAL);
	return copy(text) + n + *p;
}

int main(int argc, char **argv)
{
	return *keep(argv[argc - 1], argc, (long *)argv);
}
"""

# An instruction that no processor has, and how it is shown.
SPECIAL = {
    "aarch64": (".inst 0x00010000", ".inst 0x00010000"),
    "arm": (".inst.n 0xb888", ".inst.n 0xb888"),
    "mips64el": (".word 0x7c00003a", ".inst 0x7c00003a"),
    "mips64": (".word 0x7c00003a", ".inst 0x7c00003a"),
}

def listing(trace, function, *options):
    done = gnomon("annotate", trace, function, "--disassembly", "--json",
                  "--no-debuginfod", *options)
    code = json.loads(done.out)["rows"][0]["code"]
    equal([piece["error"] for piece in code], [None], "no instructions")
    return code[0]["instructions"]


def objdump(target, path, function):
    start, size = functions(target, path)[function]
    out = run([tool(target, "objdump"), "-d", "-z", "--no-show-raw-insn",
               "--start-address=%#x" % start,
               "--stop-address=%#x" % (start + size), path])
    return [int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):\s", out, re.M)]


def made(directory, target):
    """For ARM a function of its own code among Thumb's, with data behind."""
    source = os.path.join(directory, "source.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE.replace("SPECIAL", '"%s"' % SPECIAL[target][0])
                   .replace("OTHER_SET", '__attribute__((target("arm")))'
                            if target == "arm" else ""))
    path = os.path.join(directory, "program")
    run([tool(target, "gcc"), "-O1", "-g", "-Wl,--build-id", "-o", path,
         source])
    return path


def instructions(target):
    def body(directory):
        path = made(directory, target)
        trace = Trace(target)
        at = trace.file("/opt/program", id_of(target, path))
        copy, keep = (calls_in(target, path, name)[-1]
                      for name in ("copy", "keep"))
        context = trace.stack([at + keep, at + copy])
        recorded = trace.write(os.path.join(directory, "a.trace"),
                               [(context, 100)])
        root = os.path.join(directory, "root")
        os.makedirs(os.path.join(root, "opt"))
        os.rename(path, os.path.join(root, "opt/program"))
        path = os.path.join(root, "opt/program")
        for function, call in (("copy", copy), ("keep", keep)):
            found = listing(recorded, function, "--sysroot", root)
            equal([one["module_offset"] for one in found],
                  objdump(target, path, function), "instructions")
            costs = [i for i, one in enumerate(found) if "returns_to" in one]
            slot = 2 if target.startswith("mips") else 1
            equal([found[i + slot]["module_offset"] for i in costs], [call],
                  "the call")
        texts = [one["text"] for one in found]
        check(SPECIAL[target][1] in texts, "not among %s" % texts)
        check(any(re.match(r"(blx?|jalr) malloc$", text) for text in texts),
              "no malloc in %s" % texts)
        check(any(re.search(r" copy$", text) for text in texts),
              "no call of copy in %s" % texts)
        run([tool(target, "strip"), path])
        check(len(listing(recorded, "program+%#x" % copy, "--sysroot",
                          root)) > 1, "of a stripped file")
    body.__name__ = "instructions_of_" + target
    case(body)


for each in TARGETS:
    instructions(each)


main()
