#!/usr/bin/python3
# TIMEOUT: 120
"""ARM's unwind tables: the rules that unwind/rules/exidx.c makes for every function
of real files, compared with readelf."""

from gnomon_test import *

CC = "arm-linux-gnueabihf-gcc"
DUMP = os.path.join(BUILD, "tests", "exidx_dump")

SOURCE = r"""
#include <stdlib.h>
#include <string.h>
extern int take(void *, int);
int leaf(int a) { return a + 1; }
int plain(int a) { return take(&a, 1) + leaf(a); }
int big(int a) { char room[5000]; return take(room, a); }
int huge(int a) { char room[500000]; return take(room, a); }
int moved(int n) { char *p = __builtin_alloca(n); return take(p, n) + n; }
double kept(double a, double b) { double c = a * b;
    take(0, 1); take(0, 2); return c * a + b; }
int many(int a, ...) { __builtin_va_list l; __builtin_va_start(l, a);
    int r = take(&l, a); __builtin_va_end(l); return r; }
"""


def frames_of_readelf(path):
    """As exidx_dump writes them; None where readelf has no instructions."""
    text = bare(["readelf", "-u", "-W", path]).out
    result, address, ops = {}, None, None
    for line in text.splitlines():
        start = re.match(r"0x([0-9a-f]+)(?: <.*>)?: (.*)$", line)
        op = re.match(r"\s+((?:0x[0-9a-f]{2}\s+)+)(.*)$", line)
        if start:
            address, ops, over = int(start.group(1), 16), [], False
            result[address] = ops
            if "cantunwind" in start.group(2):
                ops.append("cantunwind")
        elif "Personality routine" in line:
            result[address] = None      # it does not look further
        elif op and ops is not None and not over:
            code, what = op.group(1).split(), op.group(2).strip()
            word = op_of(code, what)
            over = word in (None, "refuse")
            if word:
                ops.append(word)
    return {address: ops if ops is None else " ".join(ops)
            for address, ops in result.items()}


def op_of(code, what):
    first = int(code[0], 16)
    if what.startswith("finish"):
        return None
    if "Refuse" in what:
        return "refuse"
    found = re.match(r"vsp = vsp ([+-]) (\d+)", what)
    if found:
        return "add %d" % int(found.group(1) + found.group(2))
    found = re.match(r"vsp = r(\d+)", what)
    if found:
        return "set " + found.group(1)
    names = re.match(r"pop \{(.*)\}", what).group(1).replace(" ", "")
    names = names.split(",")
    if names[0][0] == "r":
        return "pop " + ",".join(name[1:] for name in names)
    each = 4 if names[0].startswith("wCGR") else 8
    for name in list(names):
        if "-" in name:     # D8-D10
            first_name, last_name = re.findall(r"\d+", name)
            names += [name] * (int(last_name) - int(first_name))
    more = 4 if first == 0xb3 or 0xb8 <= first <= 0xbf else 0
    return "skip %d" % (each * len(names) + more)


def compare(path, least):
    wanted = frames_of_readelf(path)
    done = bare([DUMP, path])
    equal(done.status, 0, "status for " + path)
    got = {}
    for line in done.out.splitlines():
        address, _, ops = line.partition(" ")
        got[int(address, 16)] = ops
    check(len(wanted) >= least, "%s: %d functions" % (path, len(wanted)))
    equal(sorted(got), sorted(wanted), "functions of " + path)
    for address, ops in wanted.items():
        if ops is None:
            check("bad" not in got[address], "%s: %x" % (path, address))
        else:
            equal(got[address], ops, "%s: %x" % (path, address))
    return set(" ".join(re.findall("[a-z]+", ops)) for ops in got.values())


@case
def compiled(directory):
    need(CC)
    source = os.path.join(directory, "a.c")
    with open(source, "w") as file:
        file.write(SOURCE)
    kinds = set()
    for flags in (["-O0"], ["-O2"], ["-O2", "-marm"], ["-O1", "-mthumb",
                  "-fno-omit-frame-pointer"], ["-Os", "-marm", "-mapcs-frame"]):
        library = os.path.join(directory, "a.so")
        done = bare([CC, "-shared", "-fPIC", "-fexceptions",
                     "-funwind-tables", "-nostdlib", *flags, "-o", library,
                     source])
        equal(done.status, 0, "compiler: " + done.err)
        kinds |= compare(library, 7)
    for kind in ("add", "set", "skip", "pop"):
        check(any(kind in one for one in kinds), "no " + kind)


@case
def of_the_c_library(directory):
    need(CC)
    done = bare([CC, "-print-file-name=libc.so.6"])
    path = done.out.strip()
    if not os.path.isabs(path):
        raise Skip("libc6-dev-armhf-cross is not installed")
    compare(path, 500)


main()
