#!/usr/bin/python3
"""Style rules that a compiler does not check.

usage: lint.py source            the tree, from its root
       lint.py objects FOLDER... what the objects of preload/ want of each other
       lint.py library FILE...   what a built libgnomon.so needs and gives
       lint.py called FILE...    that built test programs call all hooks
       lint.py recorder FILE...  that a built gnomon-recorder needs nothing

Prints one line for each offence and ends with status 1 if there was one.
"""

import collections
import os
import re
import subprocess
import sys

import lint_arch
import lint_cli
import lint_preload
import lint_versions

CODE_FOLDERS = ["arch", "unwind", "preload", "library", "stub", "cli", "tests",
                "bench"]
LINE_MAX = 100

# Any folder may include it: assertions.
ANY_MAY = ["unwind/base/assertion.h"]

# The recorder is a program with a C library. Of preload/ it may include the
# formats, what lies in the live mapping or is asked and answered there, the
# table of options, and a few helpers without state that both sides need. Of
# the reader only what check_recorder lets it reach.
RECORDER_MAY = ["cli/recorder/", "cli/command/control_format.h",
                "cli/command/options_check.h", "cli/trace/format/",
                "preload/format.h", "unwind/base/layout.h", "unwind/base/byte_order.h",
                "arch.h",
                "library/gnomon/gnomon.h", "cli/base/", "cli/model/",
                "cli/symbol/"]
RECORDER_MAY += ["preload/%s.h" % stem for stem in """
    base/ban base/base base/control_request base/error_words base/options
    base/patch_format ring/arenas ring/dump_request ring/exit_slot ring/gate
    ring/blocks_request ring/patched ring/ring_shared ring/shared""".split()]

# What each folder of arch/ has (arch/arch.h).
ARCH_HEADERS = ["arch.h"] + ["%s.h" % stem for stem in """calls cycles entry
    decode interrupted length load_store one_byte patching regs relocs rule_word
    shadow_stack syscall thumb words""".split()]

# Folder: prefixes of what its files may include in quotes. The longest
# folder that matches a file counts.
MAY_INCLUDE = {
    # Of the preload library only the table that stubs.S makes entries of.
    "arch": ["arch/", "preload/interpose/hooked.def"] + ARCH_HEADERS,
    "unwind": ["unwind/", "arch.h", "signal_frame.h"],
    "unwind/base": ["unwind/base/", "arch.h"],
    "unwind/elf": ["unwind/elf/", "unwind/base/", "arch.h"],
    "unwind/rules": ["unwind/rules/", "unwind/base/", "arch.h", "decode.h",
                     "signal_frame.h"],
    "unwind/image": ["unwind/image/", "unwind/rules/", "unwind/elf/",
                     "unwind/base/", "arch.h"],
    "preload": ["preload/", "unwind/", "arch.h", "entry.h", "patching.h",
                "library/gnomon/gnomon.h", "stub/functions.h",
                "stub/functions.def"],
    # What is linked into programs stands alone.
    "stub": ["stub/", "library/gnomon/gnomon.h"],
    "library": ["library/", "unwind/", "arch.h", "entry.h", "signal_frame.h"],
    "cli/recorder": RECORDER_MAY,
    **lint_cli.may_include(),
}

# Exceptions from that. In the recorder emit/ tells what the other folders know,
# and they write by it; of each other they know nothing.
MAY_NOT_INCLUDE = {
    "cli/recorder/live_blocks": ["cli/recorder/embed/", "cli/recorder/memory/"],
    "cli/recorder/embed": ["cli/recorder/live_blocks/", "cli/recorder/memory/"],
    "cli/recorder/memory": ["cli/recorder/live_blocks/", "cli/recorder/embed/"],
}

# All that the recorder is made of, itself or through other headers, besides
# its own folder and the system's headers: of preload/ the sources that are
# compiled twice (mk/recorder.mk) with their headers, headers of inline
# functions, and what lies in the live mapping or is asked and answered there.
# Nothing that describes the target's own memory. An entry that is not needed
# any more is an offence, too.
RECORDER_INLINE = """base/base"""
RECORDER_LAYOUT = """base/ban base/control_request base/patch_format format
    ring/arenas ring/dump_request ring/exit_slot ring/blocks_request ring/patched
    ring/shared"""
RECORDER_OTHERS = {"arch.h", "library/gnomon/gnomon.h",
                   "unwind/capture.h", "unwind/base/assertion.h",
                   "unwind/base/capture_config.h",
                   "unwind/base/layout.h", "unwind/base/memory.h",
                   "unwind/base/byte_order.h", "unwind/base/byte_order_other.h"}
# Of the reader the sources that the recorder is made of as well, with their
# headers, what an event is, units of figures, and the format of traces.
RECORDER_READER = {"cli/base/grow.h", "cli/base/text/quantity.h",
                   "cli/base/search.h", "cli/command/control_format.h",
                   "cli/model/core/chain.h",
                   "cli/trace/format/event.h", "cli/trace/format/recent.h",
                   "cli/trace/format/ring_record.h",
                   "cli/trace/format/trace_format.h"}

# What the library may want from the process it lives in. All of it weak: it
# works without.
MAY_NEED = {"_r_debug", "_dl_debug_addr", "__libc_stack_end", "__environ",
            "_dl_find_object", "dl_iterate_phdr",
            "__libc_single_threaded"}

# __ARM_EABI_UNWINDER__ is <unwind.h>'s, of an unwinder.
ARCH_TEST = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(__x86_64\w*|__amd64\w*|__i386\w*|"
    r"__aarch64\w*|__AARCH64\w*|__arm\w*|__ARM_(?!EABI_UNWINDER__)\w*|"
    r"__thumb\w*|__mips\w*|_MIPS_\w*|__riscv\w*|__powerpc\w*|__s390\w*)")
# Written in pieces, or this file would be an offence of its own.
UNFINISHED = re.compile(r"\b(%s|%s|%s)\b" % ("TO" "DO", "FIX" "ME", "X" "XX"))

offences = []


def offend(where, what):
    offences.append("%s: %s" % (where, what))


def tracked_files():
    """All files that are, or would be, in the repository."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        capture_output=True, text=True)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:
        names = [os.path.join(folder, name)[2:]
                 for folder, _, files in os.walk(".") for name in files]
    return sorted(name for name in names if os.path.exists(name))


def folder_rule(path, table):
    best = ""
    for folder in table:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def check_includes(path, lines):
    folder = folder_rule(path, MAY_INCLUDE)
    if not folder:
        return
    never = MAY_NOT_INCLUDE.get(folder_rule(path, MAY_NOT_INCLUDE), ())
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        name = found.group(1)
        if not any(map(name.startswith, MAY_INCLUDE[folder] + ANY_MAY)) or \
                any(map(name.startswith, never)):
            offend("%s:%d" % (path, number),
                   '%s/ may not include "%s"' % (folder, name))


def included(path):
    with open(path, encoding="utf-8") as source:
        return re.findall(r'^\s*#\s*include\s+"([^"]+)"', source.read(), re.M)


def compiled_twice(path="mk/recorder.mk"):
    """The sources of the library, and of the reader, that the recorder has."""
    with open(path, encoding="utf-8") as source:
        text = source.read().replace("\\\n", " ")
    return " ".join(re.findall(r"^RECORDER_(?:SHARED|READER) := (.*)$", text,
                               re.M)).split()


def check_recorder(paths):
    twice = compiled_twice()
    stems = (RECORDER_INLINE + " " + RECORDER_LAYOUT).split()
    may = RECORDER_OTHERS | RECORDER_READER
    may |= {"preload/%s.h" % stem for stem in stems}
    may |= {path[:-2] + ".h" for path in twice}
    queue = twice + [path for path in paths if
                     path.startswith("cli/recorder/")]
    seen = set(queue)
    while queue:
        path = queue.pop()
        for name in included(path):
            if name not in may and not name.startswith("cli/recorder/"):
                offend(path, 'is made into the recorder, and includes "%s"'
                       % name)
            elif name not in seen:
                seen.add(name)
                if os.path.exists(name):
                    queue.append(name)
    for name in sorted(may - seen):
        offend(name, "the recorder does without it by now: take it out of "
               "lint.py")


def check_lines(path, lines):
    for number, line in enumerate(lines, 1):
        where = "%s:%d" % (path, number)
        if len(line.expandtabs(8)) > LINE_MAX:
            offend(where, "longer than %d columns" % LINE_MAX)
        if line != line.rstrip():
            offend(where, "blanks at the end of the line")
        if UNFINISHED.search(line):
            offend(where, "unfinished work")
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            offend(where, "an unresolved merge")
        if not path.startswith("arch/") and ARCH_TEST.match(line):
            offend(where, "tests for an architecture outside arch/")


def check_header(path, text):
    guard = re.search(r"^#ifndef (\w+)\n#define (\w+)\n", text, re.M)
    if not guard or guard.group(1) != guard.group(2):
        offend(path, "has no include guard")
    # Alone: as the only thing in a translation unit.
    folder, compiler = lint_arch.compiler_for(path)
    if not compiler:
        return
    command = [compiler, "-std=gnu11", "-D_GNU_SOURCE", "-I.", "-Iarch",
               "-I" + folder, "-Ilibrary", "-Itests/programs",
               "-fsyntax-only", "-Wall",
               "-Wno-unused", "-x", "c", "-include", path, "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        offend(path, "does not compile alone: " + done.stderr.split("\n")[0])


def check_opening(path, text):
    if not re.match(r"(?:// \w+: .*\n)*/\*", text):
        offend(path, "does not open with a comment")


def check_names(paths):
    """A file's name is unique; the folders of architectures mirror each
    other, so there the same name in each is the rule."""
    seen = collections.defaultdict(list)
    for path in paths:
        seen[os.path.basename(path)].append(path)
    for same in seen.values():
        if len({os.path.dirname(path) for path in same
                if not re.match(r"arch/\w+/", path)}) > 1:
            offend(same[0], "name is not unique: " + ", ".join(same[1:]))


def enumerators(text, tag):
    """{name: number} of an enum of the format, as far as it counts."""
    body = re.search(r"^enum gt_%s \{(.*?)^\}" % tag, text, re.M | re.S)
    body = re.sub(r"/\*.*?\*/", "", body.group(1), flags=re.S)
    names = {}
    for name, number in re.findall(r"GT_(\w+)(?: = (\d+))?,", body):
        names[name] = int(number) if number else len(names) + min(
            names.values(), default=0)
    return names


def check_format(headers=("cli/trace/format/trace_format.h",
                          "preload/format.h"),
                 prose="docs/FORMAT.md"):
    """The prose has each chunk, kind of event, EXTRA and kind of CONTROL, by
    number and name; of events what their records take, too."""
    text = ""
    for header in headers:
        with open(header, encoding="utf-8") as source:
            text += source.read()
    with open(prose, encoding="utf-8") as source:
        page = source.read()
    wanted = [r"^###.* %d %s\b" % (number, name) for name, number in
              enumerators(text, "chunk_type").items()]
    for number, name, size in re.findall(r"X\((\d+), (\w+), (\d+), .*\)", text):
        wanted.append(r"^\| %s \| %s: .*\| %s \|$" % (number, name, size))
    for tag in "extra", "control_what":
        for name, number in enumerators(text, tag).items():
            wanted.append(r"^\| %d \| %s \|" % (number, name.split("_", 1)[1]))
    for pattern in wanted:
        if not re.search(pattern, page, re.M):
            offend(prose, "does not have " + pattern)


def check_source():
    paths = [path for path in tracked_files()
             if path.split("/")[0] in CODE_FOLDERS
             and not path.endswith(".tar.gz")
             and not path.endswith("package-lock.json")]
    c_files = [path for path in paths if path.endswith((".c", ".h", ".S",
                                                        ".cc"))]
    check_names(c_files)
    check_recorder(c_files)
    lint_cli.check(c_files, offend)
    lint_preload.check(c_files, offend)
    lint_arch.check(paths, offend)
    check_format()
    lint_versions.check(offend, c_files)
    for path in paths:
        try:
            with open(path, encoding="utf-8") as source:
                text = source.read()
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()
        check_lines(path, lines)
        if path in c_files:
            check_includes(path, lines)
            check_opening(path, text)
        if path.endswith(".h"):
            check_header(path, text)


def symbols(library):
    """(name, kind) of each dynamic symbol, versions cut off."""
    listing = subprocess.run(["nm", "-D", "--", library], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        yield name.split("@")[0], kind


def exports(path="preload/exports.map"):
    """The names in the global part of the version script: the table's
    (preload/interpose/hooked.def), and the API's."""
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-I.", path],
                          check=True, capture_output=True, text=True).stdout
    part = re.search(r"global:(.*?)(?:local:|\})", text, re.S).group(1)
    return set(re.findall(r"[\w.]+", part))


def check_library(library):
    given = set()
    for name, kind in symbols(library):
        if kind in "UwWvV" and name in MAY_NEED:
            if kind == "U":
                offend(library, "needs %s, not weak" % name)
        elif kind in "Uwv":
            offend(library, "needs " + name)
        elif kind != "A":
            given.add(name)
    wanted = exports()
    for name in sorted(given - wanted):
        offend(library, "exports %s, which is in no table" % name)
    for name in sorted(wanted - given):
        offend(library, "does not export %s" % name)
    needed = subprocess.run(["readelf", "-dW", "--", library], check=True,
                            capture_output=True, text=True).stdout
    for line in needed.splitlines():
        if "(NEEDED)" in line or "(TEXTREL)" in line:
            offend(library, "dynamic section: " + " ".join(line.split()[1:]))


# Called by nobody but who is named here.
CALLED_BY = {"__asan_default_options": "AddressSanitizer's library"}


def check_called(paths):
    """Each function of the table has a test that calls it."""
    # one for all; what is no program it says, and goes on
    listing = subprocess.run(["nm", "-D", "--undefined-only", "--", *paths],
                             capture_output=True, text=True).stdout
    called = {name.split("@")[0] for name in
              re.findall(r"^ +[UwWvV] (\S+)$", listing, re.M)}
    for name in sorted(exports() - called - set(CALLED_BY)):
        # those have a program of their own for all (test_api.py)
        if not name.startswith("gnomon_"):
            offend("tests/programs", "nothing calls " + name)


def check_recorder_alone(recorder):
    """Nothing but the kernel: no loader, no libraries."""
    listing = subprocess.run(["readelf", "-ldW", "--", recorder], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        if re.match(r"\s*INTERP\b", line) or "(NEEDED)" in line or \
                "(TEXTREL)" in line:
            offend(recorder, "needs: " + " ".join(line.split()))


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "source":
        check_source()
    elif len(sys.argv) > 2 and sys.argv[1] == "objects":
        for folder in sys.argv[2:]:
            lint_preload.check_objects(folder, offend)
    elif len(sys.argv) > 2 and sys.argv[1] == "library":
        for library in sys.argv[2:]:
            check_library(library)
    elif len(sys.argv) > 2 and sys.argv[1] == "called":
        check_called(sys.argv[2:])
    elif len(sys.argv) > 2 and sys.argv[1] == "recorder":
        for recorder in sys.argv[2:]:
            check_recorder_alone(recorder)
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for offence in offences:
        print("lint: " + offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
