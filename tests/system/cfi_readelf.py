#!/usr/bin/python3
"""Our rules against binutils': every row of every FDE of some large files, at
its first and its last byte, as rule_dump prints them and as readelf does.

A row that a rule can hold must be that rule. A row that it cannot hold must
not be one that looks as if it could.
"""

import re

from gnomon_test import *

LIBRARIES = "/lib/x86_64-linux-gnu/"
FDE = re.compile(r"FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CIE = re.compile(r'^([0-9a-f]+) \S+ \S+ CIE "([^"]*)"')
OFFSET = re.compile(r"^(\w+)([-+]\d+)$")
IN_REGISTER = re.compile(r"\br\d+ \((\w+)\)")
SP_BASE, FP_BASE, WORD = "rsp", "rbp", 8

# What else than "complex" a row with an expression may be.
EXPRESSION_KINDS = {"plt", "deref", "signal", "complex"}

REALIGNED = """
void use(void *);
int many(int n, int a, int b, int c, int d, int e, int x, int y)
{
    __attribute__((aligned(64))) char big[256];
    char *little = __builtin_alloca(n);
    use(big);
    use(little);
    return a + b + c + d + e + x + y;
}
void leaf(int n)
{
    __attribute__((aligned(32))) char big[64];
    use(big);
    (void)n;
}
"""


def is_row(line):
    return len(line) > 17 and line[16] == " " and line[0] != " "


def tables(path):
    """Yields (signal frame?, start, end, [(address, {column: text})]) for each
    FDE of .eh_frame, reading readelf's output as it comes."""
    process = subprocess.Popen(
        ["readelf", "--debug-dump=frames-interp", "--wide", path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    cies, columns, rows, current, ours = {}, [], [], None, False
    for line in process.stdout:
        if line.startswith("Contents of the "):
            ours = ".eh_frame " in line
        elif not ours:
            continue
        elif line.startswith("   LOC "):
            columns = line.split()[1:]
        elif is_row(line) and "IE" not in line and "FDE" not in line:
            words = IN_REGISTER.sub(r"\1", line).split()
            rows.append((int(words[0], 16), dict(zip(columns, words[1:]))))
        else:
            found = FDE.search(line) or CIE.search(line)
            if not found:
                continue
            if current:
                yield finish(current, rows, cies)
            rows, columns, current = [], [], None
            if found.re is CIE:
                cies[found.group(1)] = (found.group(2), rows)
            else:
                current = found.groups()
    if current:
        yield finish(current, rows, cies)
    # 1: it followed a link to a debug file and was not happy there.
    check(process.wait() in (0, 1), "readelf failed on " + path)


def finish(fde, rows, cies):
    augmentation, first = cies[fde[0]]
    start, end = int(fde[1], 16), int(fde[2], 16)
    if not rows:    # nothing but what the CIE begins with
        rows = [(start, first[0][1])]
    return "S" in augmentation, start, end, rows


def expected(is_signal, row):
    """The words behind the address that rule_dump must print; a set of kinds
    where readelf does not show enough to tell which."""
    cfa, ra = row["CFA"], row.get("ra", "u")
    fp, sp = row.get("rbp", "u"), row.get("rsp", "u")
    if ra == "u":
        return {"end"}
    if is_signal:
        return {"signal", "complex"}
    if cfa == "exp":
        return EXPRESSION_KINDS - {"signal"}
    base, offset = OFFSET.match(cfa).groups()
    saved = OFFSET.match(fp)
    saved = int(saved.group(2)) if saved and saved.group(1) == "c" else 0
    simple = (base in (SP_BASE, FP_BASE) and ra == "c-8" and sp == "u" and
              (fp in ("u", "s") or saved != 0 and saved % WORD == 0))
    if not simple:
        return {"complex"}
    return ["frame", "sp" if base == SP_BASE else "fp", str(int(offset)),
            str(saved)]


def points(path):
    """(address, expectation) for the first and last byte of each row."""
    fdes = []
    for is_signal, start, end, rows in tables(path):
        ends = [address for address, _ in rows[1:]] + [end]
        for (address, row), stop in zip(rows, ends):
            if address >= stop or address >= end:
                continue
            wanted = expected(is_signal, row)
            fdes.append((address, wanted))
            fdes.append((min(stop, end) - 1, wanted))
    return fdes


def compare(path, directory, *options):
    """Compares all rows; returns how many of each kind there were."""
    wanted = points(path)
    check(wanted, "readelf shows no rows of " + path)
    questions = os.path.join(directory, "questions")
    with open(questions, "w", encoding="ascii") as file:
        file.writelines("%x\n" % address for address, _ in wanted)
    with open(questions, encoding="ascii") as file:
        done = subprocess.run([program("rule_dump"), *options, path],
                              stdin=file, capture_output=True, text=True,
                              timeout=RUN_SECONDS)
    equal(done.returncode, 0, "rule_dump's status")
    answers = done.stdout.splitlines()
    equal(len(answers), len(wanted), "answers")
    kinds, wrong = {}, []
    for (address, want), answer in zip(wanted, answers):
        words = answer.split()
        good = (words[1] in want if isinstance(want, set)
                else words[1:] == want)
        kinds[words[1]] = kinds.get(words[1], 0) + 1
        if not good or int(words[0], 16) != address:
            wrong.append("%x: got %s, wanted %s" % (address, words[1:], want))
    print("# %s %s: %d rows, at two places each: %s"
          % (path, " ".join(options), len(wanted) // 2, kinds))
    check(not wrong, "%d differ, as\n%s" % (len(wrong), "\n".join(wrong[:9])))
    return kinds


def system_file(path, directory, *options):
    return compare(need_file(path), directory, *options)


@case
def c_library(directory):
    kinds = system_file(LIBRARIES + "libc.so.6", directory)
    equal((kinds["signal"], kinds["plt"]), (2, 2), "signal frame and PLT")


@case
def c_library_without_header(directory):
    system_file(LIBRARIES + "libc.so.6", directory, "-n")


@case
def cxx_library(directory):
    system_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", directory)


@case
def crypto_library(directory):
    system_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", directory)


@case
def dynamic_loader(directory):
    system_file("/lib64/ld-linux-x86-64.so.2", directory)


@case
def python(directory):
    system_file("/usr/bin/python3", directory)


@case
def build(directory, *flags):
    source = os.path.join(directory, "source.c")
    result = os.path.join(directory, "result.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(REALIGNED)
    done = bare([os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC",
                 "-nostdlib", *flags, "-o", result, source])
    equal(done.status, 0, "compiler: " + done.err)
    return result


@case
def realigned_frames(directory):
    kinds = compare(build(directory), directory)
    check(kinds.get("deref", 0) >= 4, "no realigned frames: %r" % kinds)


@case
def no_header_at_all(directory):
    path = build(directory, "-Wl,--no-eh-frame-hdr")
    check("GNU_EH_FRAME" not in bare(["readelf", "-lW", path]).out,
          "the linker wrote a header")
    kinds = compare(path, directory, "-n")
    check(kinds.get("deref", 0) >= 4, "no realigned frames: %r" % kinds)


@case
def header_in_another_segment(directory):
    """As lld and old compilers make it: .eh_frame may be written to."""
    build(directory, "-c")
    writable = os.path.join(directory, "writable.o")
    equal(bare(["objcopy", "--set-section-flags",
                ".eh_frame=alloc,data,contents",
                os.path.join(directory, "result.so"), writable]).status, 0,
          "objcopy")
    path = os.path.join(directory, "another.so")
    done = bare([os.environ.get("CC", "gcc"), "-shared", "-nostdlib",
                 "-Wl,--eh-frame-hdr", "-o", path, writable])
    equal(done.status, 0, "linker: " + done.err)
    check(re.search(r"\.eh_frame .* WA ", bare(["readelf", "-SW", path]).out),
          "not the case here")
    kinds = compare(path, directory)
    check(kinds.get("deref", 0) >= 4, "no realigned frames: %r" % kinds)


if __name__ == "__main__":
    main()
