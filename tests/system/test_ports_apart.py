#!/usr/bin/python3
"""lint detects architecture-specific code outside arch/, and accepts text that
only resembles it."""

import sys

from gnomon_test import *

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import lint
import lint_arch

# By what is wrong, in the middle of the message.
LEAKS = {
    "tests for an architecture": [
        "#ifdef __aarch64__", "#if defined(__ARM_ARCH) && __ARM_ARCH > 6",
        "#elif defined __mips64", "# ifndef __x86_64__", "#if _MIPS_SZPTR == 64",
        "#if 0 || defined(__ARM_EABI__)", "#ifdef __thumb2__"],
    "tests for an ABI": [
        "int abi = _ABI64;", "if (_MIPS_SIM == 3)", "return __ARM_PCS_VFP;"],
    "tests for a word size": [
        "#ifdef __LP64__", "#if __SIZEOF_POINTER__ < 8", "#if __WORDSIZE == 32",
        "return sizeof(long) == 4;", "wide = sizeof(void *) > 4;",
        "if (sizeof(size_t) != sizeof(uint32_t))", "#ifndef _LP64"],
    "names registers": [
        "sp = state->rsp;", "frame = at[x29];", "fp = regs[30];",
        "regs->lr = 0;", "go(thread, r11);", "top = gregs[15];"],
    "instructions": [
        "return word == 0xe8bd8000;", "*at = 0xe12fff1eu;", "case 0x4718:",
        "if (half == 0x4770)", "if (word == 0x03e00009)",
        "#define RETURN 0xD65F03C0", "slot[1] = 0x27bdffe0;",
        "stop = *pc == 0xcc;", "if ((word & 0xffe00000) == 0xe8a00000)",
        "#define NOTHING 0xbf00"],
    "compares bytes": [
        "if (code[0] == 0x55 && code[1] == 0x48)", "return *pc == 0xc3;",
        "good = at[2] != 0x90;"],
    "how many bits addresses have": [
        "p &= 0x00007fffffffffffULL;", "high = p >> 47;",
        "end = (uintptr_t)1 << 48;", "int va_bits = 39;",
        "p & 0xffffffffffff"],
    "one word size of ELF": ["Elf32_Phdr *p;"],
    "not all architectures have": ["syscall(SYS_mmap2, a);", "n = __NR_open;"],
    "of one processor": ["__builtin_ia32_pause();"],
    "size_t's letter": [
        "void *_Znwm(size_t);", 'find("_ZnajSt11align_val_t");',
        'hide("_ZdlPvm")'],
    "has instructions": [
        '__asm__("nop");', '__asm__ volatile ("mov %0, sp" : "=r"(p));',
        'register long a __asm__("r7");',
        "asm volatile(\n\t\"svc 0\\n\"\n\t: : : \"memory\");"],
}

GOOD = [
    "#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__", "#ifdef __GLIBC__",
    "/* pop %rbp; x29 is 0xd65f03c0 on AArch64, __LP64__ */",
    "h = (h << 17 | h >> 47) * 3;", "h = (h ^ h >> 32) * UINT64_C(0x5bd1e995);",
    "mask = word & 0x80808080u;", "n & 0x7fffffffu", "if (n == 0xffffffff)",
    "#define MAGIC UINT32_C(0x4a695444)", "word & 0x007f007f;",
    "c < 0x20 || c == 0x7f", "line[n] == 0x7f", "key = hash & 0xfff0;",
    "sizeof(struct node) == 16", "regs->r[n] = at[n];", "ElfW(Phdr) *p;",
    '__asm__("" : "+r"(sp));', '__asm__ volatile("" ::: "memory");',
    '__asm__(".pushsection .rodata\\n");', 'result f(void) __asm__(#name "_own");',
    'say("the stack pointer, rsp or x29, of %s");', 'starts(name, "_ZnwRKSt")',
    "quote = '\"'; /* r11 */", "case 0x41:", "return 0xffff;",
]
# Packings and letters: of those who only read.
GOOD_READERS = [
    "at = hash >> 48;", "if (c >= 0xac00 && c < 0xd7a4)", "Elf64_Sym *s;",
    "s[0] == 0xed && s[1] > 0x9f", "#define PROC 0x9fa0",
    "if (sizeof(long) == 8)"]


def found_in(directory, path, text):
    """What is said of a file with this text and a comment before it."""
    whole = os.path.join(directory, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "w", encoding="utf-8") as file:
        file.write("/* A file. */\n" + text + "\n")
    found, here, lint.offences = [], os.getcwd(), []
    os.chdir(directory)
    try:
        lint_arch.check_file(path, lambda where, what: found.append(
            "%s: %s" % (where, what)))
        lint.check_lines(path, text.split("\n"))
    finally:
        os.chdir(here)
    return found + lint.offences


@case
def leaks_are_found(directory):
    for words, lines in LEAKS.items():
        for line in lines:
            found = found_in(directory, "unwind/leak.c", line)
            check(any(words in what for what in found), "%s: %s" % (line, found))


@case
def leaks_are_found_at_their_line(directory):
    found = found_in(directory, "unwind/leak.c",
                     "/* two\nlines */\nint f(void)\n{\n"
                     "\treturn regs[29];\n}")
    equal(found, ["unwind/leak.c:6: names registers of one architecture "
                  "outside arch/"], "found")


@case
def readers_are_checked_too(directory):
    for line in ("sp = state->rsp;", "if (half == 0x4770)", '__asm__("nop");',
                 "#ifdef __LP64__", 'hide("_ZdlPvm")', "*at = 0xe12fff1eu;"):
        check(found_in(directory, "cli/model/leak.c", line), line)


@case
def portable_code_is_accepted(directory):
    for line in GOOD:
        for path in "unwind/good.c", "cli/model/good.c":
            equal(found_in(directory, path, line), [], line)
    for line in GOOD_READERS:
        equal(found_in(directory, "cli/model/good.c", line), [], line)


@case
def assembly_is_macros_of_ports(directory):
    """Outside arch/ a file of it has no instruction of its own."""
    good = ('#include "entry.h"\n#define HOOK(name) entry name, , \\\n\t1;\n'
            "\t.text\n\tentry gu_walk, , 1\n\tHOOKS(HOOK)\n"
            '\t.section .note.GNU-stack,"",%progbits')
    equal(found_in(directory, "preload/hooks/entries.S", good), [], "macros")
    for path in "preload/hooks/entries.S", "bench/calls.S":
        found = found_in(directory, path, good + "\n\tbl other")
        check(found, path)


@case
def headers_of_all_ports_have_a_compiler(_):
    ports = {name for name in os.listdir(os.path.join(HERE, "../../arch"))
             if os.path.exists(os.path.join(HERE, "../../arch", name, "regs.h"))}
    equal(ports - set(lint_arch.CROSS), set(), "ports without one")


@case
def exceptions_name_existing_files(_):
    found = []
    paths = [path for path in lint.tracked_files() if path.startswith("unwind/")]
    lint_arch.check_exceptions(paths, lambda where, what: found.append(what))
    check(any("real" in what for what in found), str(found))
    check(not any("elfmap" in what for what in found), str(found))


main()
