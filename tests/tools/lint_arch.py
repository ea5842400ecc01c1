"""lint_arch.py: what one architecture is, is said in its folder of arch/ alone;
and what a port has to have, each folder has.
"""

import os
import platform
import re
import shutil

# Compilers by folder, where it is not this machine's.
CROSS = {"aarch64": "aarch64-linux-gnu-gcc",
         "mips64": "mips64el-linux-gnuabi64-gcc",
         "x86_64": "x86_64-linux-gnu-gcc"}

# What runs on targets of every kind.
EVERYWHERE = ("unwind/", "preload/", "library/", "stub/")

# What reads what they leave, wherever it runs: there ELF files are brought to one
# form (cli/symbol/elf/elf_class.h), and the numbers of wide shifts are packings.
READERS = ("cli/",)

# Files of the readers that are about machines, as their names say, and who looks
# for calls into functions that are to be patched: one port patches.
OF_MACHINES = re.compile(r"cli/symbol/cfi/machine_\w+\.c|"
                         r"cli/symbol/code/plt_stub\.c|"
                         r"cli/run/plan_image\.c")

# In code, without comments and strings.
LEAKS = (
    ("names registers of one architecture",
     re.compile(r"%?\b(?:[er][abcd]x|[er][sd]i|[er][sb]p|[er]ip|xmm\d+|"
                r"x[12]\d|x30|cpsr|\$ra)\b")),
    ("has instructions of one architecture",
     re.compile(r"0x(?:e8|e9|cc|0f05|d65f\w{4}|d503\w{4}|d280\w{4}|"
                r"9[47]000000)\b", re.I)),
    ("calls what not all architectures have",
     re.compile(r"\b(?:__NR|SYS)_(?:open|stat|lstat|access|readlink|unlink|"
                r"fork|vfork|pipe|dup2|poll|epoll_wait|rename|mkdir|rmdir|"
                r"chmod|chown|link|symlink|getdents|arch_prctl|time|"
                r"alarm|signalfd|eventfd|inotify_init|select)\b")),
    ("uses functions of one processor",
     re.compile(r"__builtin_(?:ia32|arm|aarch64|mips)_\w+|_mm_\w+")),
)
# Of what runs in the target.
LEAKS_THERE = (
    ("says how many bits addresses have",
     re.compile(r"<<\s*(?:39|4[789]|52)\b|0x0*7f{11,}\b")),
    ("knows one word size of ELF files",
     re.compile(r"\bElf(?:32|64)_\w+")),
)

# Files of a folder that other folders may do without (arch.h).
OPTIONAL = {"length.h", "load_store.h", "one_byte.h", "patching.S", "thumb.h"}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.S)


def compiler_for(path):
    """The folder of arch/ that a header is compiled with, and the compiler;
    None where there is none here."""
    found = re.match(r"arch/(\w+)/", path)
    name = found.group(1) if found else platform.machine()
    if name == platform.machine():
        return "arch/" + name, "gcc"
    return "arch/" + name, shutil.which(CROSS.get(name, "")) or None


def without_comments(text):
    return COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)


def check_leaks(path, leaks, offend):
    with open(path, encoding="utf-8") as source:
        code = without_comments(source.read())
    for number, line in enumerate(code.split("\n"), 1):
        for what, pattern in leaks:
            if pattern.search(line):
                offend("%s:%d" % (path, number), what + " outside arch/")


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


def check(paths, offend):
    for path in paths:
        if os.path.splitext(path)[1] not in (".c", ".h", ".S"):
            continue
        if path.startswith(EVERYWHERE):
            check_leaks(path, LEAKS + LEAKS_THERE, offend)
        elif path.startswith(READERS) and not OF_MACHINES.fullmatch(path):
            check_leaks(path, LEAKS, offend)
    check_ports(paths, offend)
