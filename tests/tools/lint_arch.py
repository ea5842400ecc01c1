"""lint_arch.py: code for one architecture is only in its folder of arch/, and
each such folder has what a port requires.
"""

import os
import platform
import re
import shutil

# Compilers by folder, where it is not this machine's.
CROSS = {"aarch64": "aarch64-linux-gnu-gcc",
         "arm": "arm-linux-gnueabihf-gcc",
         "mips64": "mips64el-linux-gnuabi64-gcc",
         "x86_64": "x86_64-linux-gnu-gcc"}

# What runs on targets of every kind.
EVERYWHERE = ("unwind/", "preload/", "library/", "stub/")

# What reads what they leave, wherever it runs: there ELF files are brought to one
# form (cli/symbol/elf/elf_class.h), and the numbers of wide shifts are packings.
READERS = ("cli/",)

# Files of the readers that are about machines, and why.
OF_MACHINES = {
    r"cli/symbol/cfi/machine_\w+\.c": "what instructions do, a file a machine",
    r"cli/symbol/code/plt_stub\.c": "entries of linkage tables, of each machine",
    r"cli/run/patch_plan_image\.c": "looks for calls to patch: one port patches",
    r"cli/run/patch_plan_code\.c": "moves code that is patched: one port patches",
    r"cli/annotate/annotate_code\.c": "whether ARM's code is Thumb's",
}

# Lines of what runs everywhere that may know a word's size, by file, and why.
OF_WORDS = {
    "unwind/elf/elfmap.h": "says for all others of which class ELF files are",
    "unwind/path.c": "a layout that is asserted for words of 64 bits",
    "preload/interpose/real.c": "the GNU allocator's headers of 64 bits",
}

# Constants that look like instructions, and what they are.
NO_INSTRUCTIONS = {
    0xc040ff0b: "the request PIDFD_GET_INFO",
}


def is_run(number):
    """Whether its ones are one run: what masks are made of."""
    return number & (number + (number & -number)) == 0


def may_be_instruction(digits):
    """Of a constant's digits: no mask, or what one leaves, of which halves may be
    alike; and no four letters, which begin files."""
    number, size = int(digits, 16), len(digits) // 2
    if number in NO_INSTRUCTIONS or is_run(number):
        return False
    if size == 1:
        return True
    parts = bytes.fromhex(digits)
    alike = {parts[at:at + 2] for at in range(0, size, 2)} - {b"\0\0"}
    return not (is_run(number ^ ((1 << 8 * size) - 1)) or
                size == 4 and (parts.isalpha() or len(alike) == 1 and
                               all(map(is_run, parts))))


def instructions(pattern):
    """Whether a line has one of such constants, whose digits are the group."""
    pattern = re.compile(pattern, re.I)
    return lambda line: any(may_be_instruction(found)
                            for found in pattern.findall(line))


def is_wide_shift(line):
    """By as many bits as addresses may have; not the half of a rotation."""
    for way, bits in re.findall(r"(<<|>>)\s*(39|4[789]|52)\b", line):
        other = ">>" if way == "<<" else "<<"
        if not re.search(r"%s\s*%d\b" % (other, 64 - int(bits)), line):
            return True
    return False


def matches(pattern, flags=0):
    return re.compile(pattern, flags).search


# 0x55, of something in a row or that is pointed to.
BYTE = r"(?:\]|\*\s*\w+\)?)\s*[!=]=\s*0x([0-9a-f]{2})u?\b"

# In code, without comments and strings.
LEAKS = (
    ("names registers of one architecture",
     matches(r"%?\b(?:[er][abcd]x|[er][sd]i|[er][sb]p|[er]ip|xmm\d+|"
             r"x[12]\d|x30|cpsr|r\d|r1[0-5]|lr)\b|\$ra\b|"
             r"\b(?:g?regs?|registers?)\[\d+\]")),
    ("has instructions of one architecture",
     matches(r"0x(?:e8|e9|cc)\b", re.I)),
    ("has instructions of one architecture",
     instructions(r"(?<!INT64_C\()\b0x([0-9a-f]{8})u?l*\b")),
    ("has instructions of one architecture",
     instructions(r"(?:[!=]=|\bcase)\s*0x([0-9a-f]{4})u?\b")),
    ("compares bytes of instructions",
     matches(r"%s.*%s" % (BYTE, BYTE), re.I)),
    ("calls what not all architectures have",
     matches(r"\b(?:__NR|SYS)_(?:open|stat|lstat|access|readlink|unlink|"
             r"fork|vfork|pipe|dup2|poll|epoll_wait|rename|mkdir|rmdir|"
             r"chmod|chown|link|symlink|getdents|arch_prctl|time|mmap2|"
             r"alarm|signalfd|eventfd|inotify_init|select)\b")),
    ("uses functions of one processor",
     matches(r"__builtin_(?:ia32|arm|aarch64|mips)_\w+|_mm_\w+")),
    ("tests for a word size",
     matches(r"\b(?:_*I?LP(?:32|64)_*|__SIZEOF_(?:POINTER|LONG|SIZE_T)__|"
             r"__WORDSIZE|LONG_BIT)\b")),
    ("tests for an ABI",
     matches(r"\b(?:__ARM_\w+|__thumb2?__|_MIPS_\w+|_ABI(?:O32|N32|64))\b")),
)
# Of what runs in the target.
LEAKS_THERE = (
    ("says how many bits addresses have", is_wide_shift),
    ("says how many bits addresses have",
     matches(r"\b0x0*(?:7f{11,}|f{12})u?l*\b|"
             r"bits\w*\s*=\s*(?:39|4[789]|52)\b", re.I)),
    ("knows one word size of ELF files",
     matches(r"\bElf(?:32|64)_\w+")),
    ("has instructions of one architecture",
     instructions(r"\b0x([0-9a-f]{4})u?\b")),
    ("compares bytes of instructions", instructions(BYTE)),
)
# There, too, but for OF_WORDS.
LEAKS_OF_WORDS = (
    ("tests for a word size",
     matches(r"\bsizeof\((?:(?:unsigned )?long|u?intptr_t|s?size_t|"
             r"[\w ]+\*)\)\s*[!=<>]=?\s*(?:[48]\b|sizeof\(u?int(?:32|64)_t)")),
)
# With strings.
LEAKS_OF_NAMES = (
    ("has size_t's letter in a C++ name",
     matches(r"\b_Z(?:n[wa]|d[la]Pv)[jmy]")),
)

# With strings, over lines: what is neither empty nor begins with a directive or a
# macro.
ASSEMBLY = re.compile(r"\b(?:__asm__|__asm|asm)\b\s*(?:__volatile__|volatile|"
                      r"goto|\s)*\(\s*\"(?!\"|\.)")
# In a .S outside arch/: directives, macros in capitals, and arch/.../entry.h's.
ASSEMBLY_LINE = re.compile(r"\s*(?:$|#|\.\w|[A-Z_]+\(|entry\s)")

# Files of a folder that other folders may do without (arch.h).
OPTIONAL = {"length.h", "load_store.h", "one_byte.h", "patching.S", "thumb.h"}

CODE = re.compile(r"(/\*.*?\*/|//[^\n]*)|('(?:[^'\\\n]|\\.)*')|"
                  r"(\"(?:[^\"\\\n]|\\.)*\")", re.S)


def compiler_for(path):
    """The folder of arch/ that a header is compiled with, and the compiler;
    None where there is none here."""
    found = re.match(r"arch/(\w+)/", path)
    name = found.group(1) if found else platform.machine()
    if name == platform.machine():
        return "arch/" + name, "gcc"
    return "arch/" + name, shutil.which(CROSS.get(name, "")) or None


def without_comments(text, strings=False):
    """As many lines; with or without what is in strings."""
    def kept(found):
        comment, character, string = found.groups()
        if comment is not None:
            return "\n" * comment.count("\n")
        return character or (string if strings else '""')
    return CODE.sub(kept, text)


def check_leaks(path, leaks, offend, strings=False):
    with open(path, encoding="utf-8") as source:
        code = without_comments(source.read(), strings)
    for number, line in enumerate(code.split("\n"), 1):
        for what, has in leaks:
            if has(line):
                offend("%s:%d" % (path, number), what + " outside arch/")


def check_assembly(path, offend):
    """In code and in files of its own."""
    with open(path, encoding="utf-8") as source:
        code = without_comments(source.read(), True)
    if path.endswith(".S"):
        code = re.sub(r"\\\n", " ", code)
        if not all(map(ASSEMBLY_LINE.match, code.split("\n"))):
            offend(path, "has instructions outside arch/")
    for found in ASSEMBLY.finditer(code):
        offend("%s:%d" % (path, code.count("\n", 0, found.start()) + 1),
               "has instructions outside arch/")


def check_file(path, offend):
    """One that lies outside arch/."""
    check_leaks(path, LEAKS_OF_NAMES, offend, True)
    check_assembly(path, offend)
    if path.startswith(READERS):
        check_leaks(path, LEAKS, offend)
        return
    check_leaks(path, LEAKS + LEAKS_THERE, offend)
    if path not in OF_WORDS:
        check_leaks(path, LEAKS_OF_WORDS, offend)


def check_ports(paths, offend):
    ports = {}
    for path in paths:
        found = re.match(r"arch/(\w+)/(.+)$", path)
        if found:
            ports.setdefault(found.group(1), set()).add(found.group(2))
    wanted = set.union(*ports.values()) - OPTIONAL
    for port, files in ports.items():
        for name in sorted(wanted - files):
            offend("arch/" + port, "has no " + name)


def check_exceptions(paths, offend):
    """Each is of a file that is there."""
    for pattern in [*OF_MACHINES, *map(re.escape, OF_WORDS)]:
        if not any(re.fullmatch(pattern, path) for path in paths):
            offend("tests/tools/lint_arch.py", "no file is " + pattern)


def check(paths, offend):
    for path in paths:
        if os.path.splitext(path)[1] not in (".c", ".h", ".S", ".def"):
            continue
        if path.startswith(EVERYWHERE + READERS) and \
                not any(re.fullmatch(pattern, path) for pattern in OF_MACHINES):
            check_file(path, offend)
        elif path.endswith(".S") and not path.startswith(("arch/", "tests/")):
            check_assembly(path, offend)
    check_ports(paths, offend)
    check_exceptions(paths, offend)
