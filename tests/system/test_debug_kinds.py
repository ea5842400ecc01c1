#!/usr/bin/python3
"""Debug information of all kinds: functions, inlined functions, lines and
columns equal llvm-symbolizer's."""

import os
import random
import re
import subprocess

from gnomon_test import Skip, bare, case, check, environment, equal, main, need
from symbolized import (addresses_in, build, build_id, compare, run, sections,
                        symbolize, write)


# ---- kinds of debug information ----

def kind(name, *flags, compiler="g++"):
    def compared(directory):
        need("llvm-symbolizer", compiler)
        compare(build(directory, *flags, compiler=compiler))
    compared.__name__ = name
    case(compared)


kind("gcc_version_5", "-gdwarf-5")
kind("gcc_version_4", "-gdwarf-4")
kind("gcc_version_3", "-gdwarf-3", "-gstrict-dwarf")
kind("gcc_types_apart", "-gdwarf-4", "-fdebug-types-section")
kind("gcc_parts_by_function", "-g", "-ffunction-sections", "-Wl,--gc-sections")
kind("gcc_whole_program", "-g", "-flto")
kind("clang_version_5", "-gdwarf-5", compiler="clang++")
kind("clang_version_4", "-gdwarf-4", compiler="clang++")
kind("clang_lines_only", "-gmlt", compiler="clang++")


@case
def large_removed_functions(directory):
    """Their lines are left at addresses that others have."""
    need("llvm-symbolizer")
    source = write(directory, "removed.cc", "".join((
        "volatile int v;\nvoid removed()\n{\n", "\tv += 1;\n" * 6000, "}\n",
        *("__attribute__((noinline)) int f%d(int a)\n{\n\treturn v + a;\n}\n"
          % i for i in range(100)),
        "int main()\n{\n\treturn ", *("f%d(v) +\n" % i for i in range(100)),
        "0;\n}\n")))
    path = os.path.join(directory, "removed")
    run(["g++", "-g", "-O1", "-ffunction-sections", "-Wl,--gc-sections",
         "-Wl,--build-id", "-o", path, source])
    compare(path, inlined=False)


def compressed(name, how, section):
    def compared(directory):
        need("llvm-symbolizer")
        path = build(directory, "-gdwarf-5")
        packed = path + ".packed"
        if subprocess.run(["objcopy", "--compress-debug-sections=" + how, path,
                           packed], capture_output=True).returncode != 0:
            raise Skip("objcopy knows no " + how)
        listed = sections(packed)
        check(section in listed and
              os.path.getsize(packed) < os.path.getsize(path), listed)
        compare(packed, like=path)
    compared.__name__ = name
    case(compared)


compressed("compressed_by_zlib", "zlib", ".debug_info")
compressed("compressed_as_before", "zlib-gnu", ".zdebug_info")
compressed("compressed_by_zstd", "zstd", ".debug_info")


@case
def names_of_lines_only(directory):
    """Where the compiler leaves the linker's names out, the symbol table has
    those of functions that were not inlined."""
    need("clang++")
    path = build(directory, "-gmlt", compiler="clang++")
    ours, _ = symbolize(path, addresses_in(path))
    names = {frames[-1][0] for frames in ours.values()}
    check("int largest<int>(int)" in names, sorted(names))


# ---- languages ----

RUST = """
#[inline(never)]
pub fn boxes(n: usize) -> Vec<Box<[u8]>> {
    // any compiler inlines a closure that is called at one place
    let make = |i: usize| vec![i as u8; i * 100 + 1].into_boxed_slice();
    let mut all = Vec::new();
    for i in 0..n {
        all.push(make(i));
    }
    all
}

fn main() {
    println!("{}", boxes(std::env::args().count()).len());
}
"""


@case
def rust_in_both_manglings(directory):
    need("rustc")
    source = write(directory, "boxes.rs", RUST)
    for mangling in ("legacy", "v0"):
        path = os.path.join(directory, mangling)
        # Either of them may be what this compiler calls unstable.
        done = bare(["rustc", "-g", "-O", "-C",
                     "symbol-mangling-version=" + mangling,
                     "-Zunstable-options", "-o", path, source],
                    env=environment(RUSTC_BOOTSTRAP=1))
        equal(done.status, 0, "rustc, stderr: " + done.err)
        start, size = re.search(r": ([0-9a-f]{16}) +(\d+) FUNC .* "
                                r"(?:_R\w*_5boxes5boxes|_ZN5boxes5boxes17h\w+E)$",
                                run(["readelf", "-sW", path]), re.M).groups()
        addresses = range(int(start, 16), int(start, 16) + int(size))
        ours, _ = symbolize(path, addresses)
        check(all(frames[-1][0].endswith("::boxes") for frames in
                  ours.values()), {f[-1][0] for f in ours.values()})
        check(any("boxes::{" in name for frames in ours.values()
                  for name, *_ in frames[:-1]), "no closure inlined")
        # where nothing is inlined, a line may be the library's all the same
        callers = {frames[-1][1] for frames in ours.values()
                   if len(frames) > 1}
        check(all(each.endswith("boxes.rs") for each in callers), callers)


# ---- damage ----

@case
def damaged_files(directory):
    """Bytes of debug sections changed: whatever comes of it, an end does."""
    choose = random.Random(5)
    for flags in (["-gdwarf-5"], ["-gdwarf-4"]):
        path = build(directory, *flags)
        addresses = addresses_in(path, 100)
        number = build_id(path)
        places = [(int(offset, 16), int(size, 16)) for offset, size in
                  re.findall(r" (?:\.debug_\w+|\.symtab|\.eh_frame) +\w+ +"
                             r"\w+ (\w+) (\w+)", sections(path))]
        with open(path, "rb") as file:
            whole = file.read()
        for round_ in range(25):
            damaged = bytearray(whole)
            for _ in range(1 << round_ % 10):
                offset, size = choose.choice(places)
                damaged[offset + choose.randrange(size)] = \
                    choose.choice((0, 0xff, 0x80, choose.randrange(256)))
            with open(path, "wb") as file:
                file.write(damaged)
            symbolize(path, addresses, "-b", number)
        for cut in (100, 4096, len(whole) // 2, len(whole) - 1):
            with open(path, "wb") as file:
                file.write(whole[:cut])
            symbolize(path, addresses, "-b", number)


main()
