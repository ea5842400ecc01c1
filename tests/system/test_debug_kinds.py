#!/usr/bin/python3
"""Debug information of all kinds: functions, what is inlined into them, lines
and columns are those that llvm-symbolizer finds."""

import glob
import os
import random
import re
import shutil
import subprocess

from gnomon_test import (Skip, bare, case, check, environment, equal, main,
                         need)
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
kind("gcc_compressed", "-g", "-gz=zlib")
kind("gcc_compressed_as_before", "-g", "-gz=zlib-gnu")
kind("gcc_types_apart", "-gdwarf-4", "-fdebug-types-section")
kind("gcc_parts_by_function", "-g", "-ffunction-sections", "-Wl,--gc-sections")
kind("gcc_whole_program", "-g", "-flto")
kind("clang_version_5", "-gdwarf-5", compiler="clang++")
kind("clang_version_4", "-gdwarf-4", compiler="clang++")
kind("clang_lines_only", "-gmlt", compiler="clang++")
kind("gcc_split_5", "-gdwarf-5", "-gsplit-dwarf")
kind("gcc_split_4", "-gdwarf-4", "-gsplit-dwarf")
kind("clang_split_5", "-gdwarf-5", "-gsplit-dwarf", compiler="clang++")
kind("clang_split_4", "-gdwarf-4", "-gsplit-dwarf", compiler="clang++")


@case
def compressed_by_zstd(directory):
    need("llvm-symbolizer")
    path = build(directory, "-g")
    packed = path + ".packed"
    if subprocess.run(["objcopy", "--compress-debug-sections=zstd", path,
                       packed], capture_output=True).returncode != 0:
        raise Skip("objcopy knows no zstd")
    check(".debug_info" in sections(packed), "sections")
    compare(packed, like=path)


@case
def names_of_lines_only(directory):
    """Where the compiler leaves the linker's names out, the symbol table has
    those of functions that were not inlined."""
    need("clang++")
    path = build(directory, "-gmlt", compiler="clang++")
    ours, _ = symbolize(path, addresses_in(path))
    names = {frames[-1][0] for frames in ours.values()}
    check("int largest<int>(int)" in names, sorted(names))


# ---- split files ----

def split(directory, version, tool, *arguments):
    path = build(directory, "-gdwarf-%d" % version, "-gsplit-dwarf")
    wanted = symbolize(path, addresses_in(path))[0]
    run([tool, *arguments, "-e", path, "-o", path + ".dwp"])
    parts = glob.glob(os.path.join(directory, "*.dwo"))
    check(parts, "no .dwo")
    return path, wanted, parts


@case
def packages(directory):
    for version, tool in ((5, "llvm-dwp"), (4, "dwp")):
        need(tool)
        path, wanted, parts = split(directory, version, tool)
        for part in parts:
            os.unlink(part)
        equal(symbolize(path, addresses_in(path)), (wanted, ""), tool)
        given = os.path.join(directory, "given")
        os.mkdir(given)
        os.rename(path + ".dwp", os.path.join(given, "target.dwp"))
        equal(symbolize(path, addresses_in(path), "-d", given), (wanted, ""),
              "under -d")
        shutil.rmtree(given)


@case
def split_files_elsewhere(directory):
    path = build(directory, "-g", "-gsplit-dwarf")
    addresses = addresses_in(path)
    wanted, _ = symbolize(path, addresses)
    given = os.path.join(directory, "given")
    os.mkdir(given)
    for part in glob.glob(os.path.join(directory, "*.dwo")):
        os.rename(part, os.path.join(given, os.path.basename(part)))
    equal(symbolize(path, addresses, "-d", given), (wanted, ""), "under -d")
    ours, messages = symbolize(path, addresses)
    equal(len(messages.splitlines()), 1, messages)
    check(".dwo" in messages and "-d" in messages, messages)
    # What is in the program itself is there all the same.
    check(all(frames[-1][2] for frames in ours.values()), "no lines")


@case
def split_file_of_another_build(directory):
    path = build(directory, "-g", "-gsplit-dwarf")
    part, = glob.glob(os.path.join(directory, "*.dwo"))
    other = os.path.join(directory, "other")
    os.mkdir(other)
    build(other, "-g", "-gsplit-dwarf", "-DOTHER")
    second, = glob.glob(os.path.join(other, "*.dwo"))
    os.replace(second, part)
    ours, messages = symbolize(path, addresses_in(path))
    equal(len(messages.splitlines()), 1, messages)
    ids = re.findall(r"[0-9a-f]{16}", messages)
    equal(len(set(ids)), 2, messages)
    equal({len(frames) for frames in ours.values()}, {1}, "inlined")


# ---- languages ----

RUST = """
#[inline(never)]
pub fn boxes(n: usize) -> Vec<Box<[u8]>> {
    (0..n).map(|i| vec![i as u8; i * 100 + 1].into_boxed_slice()).collect()
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
                    env=environment(RUSTC_BOOTSTRAP=1), seconds=120)
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
        check(all(frames[-1][1].endswith("boxes.rs") for frames in
                  ours.values()), {f[-1][1] for f in ours.values()})


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
