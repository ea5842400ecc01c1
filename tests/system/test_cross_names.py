#!/usr/bin/python3
"""Names, lines and inlined functions of programs for other processors, of both
word sizes and orders of bytes."""

import os
import re

from cross import TARGETS, Trace, calls_in, functions, id_of, libc, tool
from gnomon_test import case, check, equal, gnomon, main, need_file
from symbolized import addresses_in, build, compare, normal, run, symbolize


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
    """Without parameters and templates' arguments, in which demanglers
    differ."""
    return re.sub(r"[<(].*", "", name.split(" [")[0]).split(" ")[-1]


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


for each in TARGETS:
    lines(each)


main()
