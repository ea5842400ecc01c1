#!/usr/bin/python3
"""The memory of unwind tables, and modules with unwind tables in unusual
places."""

import glob

from gnomon_test import *

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
LIBRARIES_MAX = 150
IMAGES_MAX = 2048       # GL_IMAGES_MAX

# As old compilers and LLVM's linker have it.
WRITABLE = '__asm__(".section .eh_frame,\\"aw\\",@progbits\\n.previous");\n'


def table_ratio(what, files):
    """Our tables' bytes by those of the .eh_frame sections, when every FDE of
    all the files was looked up in one process."""
    done = bare([program("rule_dump"), "-c", "-s"] + sorted(files))
    equal(done.status, 0, "rule_dump's status: " + done.err)
    words = done.out.split()
    ratio = int(words[3]) / int(words[5])
    print("# %s: %s, ratio %.3f" % (what, done.out.strip(), ratio))
    return ratio


def mapped_files(path):
    """What a process of this program maps; our library, too."""
    done = bare(["ldd", path])
    equal(done.status, 0, "ldd " + path)
    files = set(os.path.realpath(word) for word in done.out.split()
                if word.startswith("/"))
    return files | {os.path.realpath(path), LIBRARY}


def compiler_proper():
    """The C++ compiler's largest part."""
    return bare(["g++", "-print-prog-name=cc1plus"]).out.strip()


@case
def memory_of_all_libraries(directory):
    files = set(os.path.realpath(path)
                for path in glob.glob(LIBRARIES + "*.so*"))
    files = sorted(f for f in files if open(f, "rb").read(4) == b"\x7fELF")
    ratio = table_ratio("%d libraries" % len(files[:LIBRARIES_MAX]),
                        files[:LIBRARIES_MAX])
    check(ratio <= 1, "tables take more than what they come from")


@case
def memory_of_processes(directory):
    for path in ("/usr/bin/true", "/usr/bin/jq", "/usr/bin/python3",
                 compiler_proper()):
        need_file(path)
        ratio = table_ratio("a process of " + path, mapped_files(path))
        check(ratio <= 1, "tables take more than what they come from")


@case
def no_header(directory):
    """A program without .eh_frame_hdr: all its stacks are whole."""
    done = recorded([program("noheader"), "50"], directory)
    equal(done.status, 0, "status")
    headers = bare(["readelf", "-lW", program("noheader")]).out
    check("GNU_EH_FRAME" not in headers, "the program has the header")
    report = Report(done.trace)
    rows = report.rows_with("tgt_malloc")
    check(rows, "rows of the program")
    deepest = 0
    for row in rows:
        names = [frame["function"] for frame in row["stack"]]
        check("main" in names, "main in %s" % names)
        deepest = max(deepest, names.count("recurse"))
    equal(deepest, done.expected["bottom_recurse_frames"], "depth")


def make_library(directory, name, *flags, epoch="a", more=""):
    """A library as epoch.h has it. Its functions keep no frame pointer."""
    source = os.path.join(directory, "source.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(more + '#define EPOCH_NAME(x) epoch_%s_##x\n' % epoch +
                   '#include "epoch.h"\n')
    path = os.path.join(directory, name)
    done = bare([os.environ.get("CC", "gcc"), "-O1", "-fomit-frame-pointer",
                 "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-I",
                 os.path.join(os.path.dirname(__file__),
                              "../programs/libraries"),
                 *flags, "-o", path, source])
    equal(done.status, 0, "compiler: " + done.err)
    return path


def stacks_by_size(trace):
    """{block size: [(names, reason or None, count)]}"""
    result = {}
    for row in Report(trace).rows:
        names = [frame.get("function") for frame in row["stack"]]
        size = row["total_bytes"] // row["count"]
        result.setdefault(size, []).append((names, row["count"]))
    return result


WHOLE = ["epoch_a_inner", "epoch_a_outer", "epoch_make", "make_blocks", "main"]


def all_whole(stacks, count):
    for names, _ in stacks:
        equal(names[:len(WHOLE)], WHOLE, "stack")
        equal(names[-1], "_start", "outermost")
    equal(sum(count for _, count in stacks), count, "blocks")


@case
def odd_tables(directory):
    """Libraries without .eh_frame_hdr, and with .eh_frame in another segment
    than that: all stacks are whole."""
    headless = make_library(directory, "headless.so", "-Wl,--no-eh-frame-hdr")
    apart = make_library(directory, "apart.so", more=WRITABLE)
    check("GNU_EH_FRAME" not in bare(["readelf", "-lW", headless]).out,
          "the library has the header")
    check(re.search(r"\.eh_frame .* WA ", bare(["readelf", "-SW", apart]).out),
          "the section is beside its header")
    done = recorded([program("table_images"), "use", headless, "2001", "use",
                     apart, "2002"], directory,
                    env=environment(GNOMON_DEBUG_ORACLE=1))
    equal(done.status, 0, "status")
    stacks = stacks_by_size(done.trace)
    all_whole(stacks[2001], done.expected["blocks"])
    all_whole(stacks[2002], done.expected["blocks"])
    equal(find_key(info(done.trace), "oracle_differences"), 0, "differences")


@case
def library_file_replaced_before_its_first_frame(directory):
    """The file that says where .eh_frame is, is not the one that is mapped:
    there is no rule then, but never a wrong one."""
    mapped = make_library(directory, "mapped.so", "-Wl,--no-eh-frame-hdr")
    other = make_library(
        directory, "other.so", "-Wl,--no-eh-frame-hdr", epoch="b",
        more="".join("int f%d(int x) { volatile char a[%d]; a[x] = 1; "
                     "return a[x / 2]; }\n" % (i, 99 * i + 99)
                     for i in range(9)))
    done = recorded([program("table_images"), "swap", mapped, other, "2003"],
                    directory)
    equal(done.status, 0, "status")
    stacks = stacks_by_size(done.trace)
    equal(sum(count for _, count in stacks[2003]), done.expected["blocks"],
          "blocks")
    for names, _ in stacks[2003]:
        check(len(names) <= 1 or names[2:5] == ["make_blocks", "main"] or
              "main" in names, "made-up frames: %s" % names)
    all_main = [names for names, _ in stacks[4321]]
    equal([names[:2] for names in all_main], [["tgt_malloc", "main"]], "main")


@case
def more_images_than_fit(directory):
    """More than the trace has records for: all stacks are whole."""
    times = IMAGES_MAX + 20
    library = make_library(directory, "small.so")
    done = recorded([program("table_images"), "many", library, str(times),
                     "2004"], directory)
    equal(done.status, 0, "status")
    stacks = stacks_by_size(done.trace)
    equal(sum(count for _, count in stacks[2004]), times, "blocks")
    # The copies are gone, so their functions have no names.
    whole = sum(count for names, count in stacks[2004]
                if names[3:5] == ["make_blocks", "make_in_copy"] and
                names[-1] == "_start")
    equal(whole, times, "whole")
    equal([names[:2] + names[-1:] for names, _ in stacks[4321]],
          [["tgt_malloc", "main", "_start"]], "the program's own")


main()
