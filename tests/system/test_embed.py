#!/usr/bin/python3
"""Files embedded in the trace while recording: the trace can be read on
machines without them, and embedding does not delay the program."""

import filecmp

from gnomon_test import *

TARGET = "missing_files"
SECONDS = 1.0		# that the end may take longer
SLACK = 0.7		# of a machine with other work
HUGE = 200 << 20	# more than there is time for
LARGE = 70 << 20	# not more, if the machine has nothing else to do


def copied(directory, name="prog"):
    path = os.path.join(directory, name)
    shutil.copy(program(TARGET), path)
    return path


def run(directory, argv, *options, **more):
    done = recorded(argv, directory, options=options, **more)
    equal(done.status, 0, "status: " + done.err)
    return done


def counters(trace):
    return info(trace)["counters"]


def files(trace):
    done = gnomon("extract", "--json", trace)
    return json.loads(done.out)["files"]


def frames(trace, function):
    """The frames of the first row with that function, innermost first."""
    for row in Report(trace).rows:
        if any(frame.get("function") == function for frame in row["stack"]):
            return row["stack"]
    raise Failure("no stack with " + function)


def check_names(trace, missing):
    """Function, place and inlined frame, of a program that is gone."""
    check(not os.path.exists(missing), "the program is still there")
    stack = frames(trace, "tgt_outer")
    names = [frame.get("function") for frame in stack]
    at = names.index("tgt_outer")
    equal(names[at - 1], "tgt_inner", "inlined into it")
    line = next(number for number, text in
                enumerate(open(source()), 1) if "/* LINE */" in text)
    equal(stack[at - 1]["line"], line, "line")
    check(stack[at - 1]["file"].endswith("missing_files.c"), stack[at - 1])
    equal(names[at + 1], "main", "who calls it")


def source():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                        "programs", "libraries", "missing_files.c")


@case
def of_a_program_that_is_gone(directory):
    path = copied(directory)
    done = run(directory, [path, "0"], "--embed", "debug")
    os.unlink(path)
    check_names(done.trace, path)
    figures = counters(done.trace)
    check(figures["embedded_files"] >= 1, figures)
    check(figures["embedded_bytes"] > 1000, figures)
    equal(figures["embed_skipped"], 0, "skipped")


@case
def of_a_program_that_was_replaced(directory):
    path = copied(directory)
    done = run(directory, [path, "0"], "--embed", "debug")
    os.unlink(path)
    shutil.copy("/bin/true", path)
    names = [frame.get("function") for frame in frames(done.trace,
                                                       "tgt_outer")]
    check("tgt_inner" in names, names)


@case
def of_a_program_that_removes_itself(directory):
    path = copied(directory)
    done = run(directory, [path, "0", "remove"], "--embed", "debug")
    check_names(done.trace, path)


@case
def of_a_library_that_was_removed(directory):
    """Where the kernel shows what is mapped."""
    need_map_files()
    library = os.path.join(directory, "lib.so")
    shutil.copy(program("libmissing_files.so"), library)
    done = run(directory, [program(TARGET), "0", "library", library],
               "--embed", "debug")
    equal(counters(done.trace)["embed_skipped"], 0, "skipped")
    names = [frame.get("function")
             for frame in frames(done.trace, "tgt_of_library")]
    check("main" in names, names)


@case
def of_a_separate_debug_file(directory):
    need("objcopy", "strip")
    path = copied(directory)
    for argv in (["objcopy", "--only-keep-debug", path, path + ".debug"],
                 ["strip", path],
                 ["objcopy", "--add-gnu-debuglink=" + path + ".debug", path]):
        equal(bare(argv).status, 0, argv)
    done = run(directory, [path, "0"], "--embed", "debug")
    os.unlink(path)
    os.unlink(path + ".debug")
    check_names(done.trace, path)


@case
def of_a_program_of_many_sections(directory):
    """More than the header of its file can count."""
    need("gcc")
    more = os.path.join(directory, "more.s")
    with open(more, "w") as file:
        for i in range(70000):
            file.write('.section .many_%d,"",%%progbits\n.byte 1\n' % i)
        file.write('.section .note.GNU-stack,"",%progbits\n')
    path = os.path.join(directory, "prog")
    equal(bare(["gcc", "-g", "-O2", "-o", path, source(), more, "-rdynamic",
                "-I", os.path.dirname(source()), "-ldl"]).status, 0, "gcc")
    carried = run(directory, [path, "0"], "--embed", "debug").trace
    bare_one = os.path.join(directory, "bare.trace")
    done = gnomon("run", "-o", bare_one, "--embed", "none", path, "0")
    equal(done.status, 0, done.err)
    packed = os.path.join(directory, "packed.trace")
    done = gnomon("repack", "--embed", "debug", "-o", packed, bare_one)
    equal(done.status, 0, done.err)
    at_hand = [frame.get("function") for frame in
               frames(bare_one, "tgt_outer")]
    check("tgt_inner" in at_hand, at_hand)
    os.unlink(path)
    check_names(carried, path)
    check_names(packed, path)


@case
def debug_file_shared_by_dwz(directory):
    """dwz moves what several have to a file of its own."""
    need("dwz")
    path, other = copied(directory), copied(directory, "other")
    common = os.path.join(directory, "common.debug")
    equal(bare(["dwz", "-m", common, path, other]).status, 0, "dwz")
    done = run(directory, [path, "0"], "--embed", "debug")
    found = [each["path"] for each in files(done.trace)]
    check(common in found, "what is shared: %s" % found)
    os.unlink(path)
    os.unlink(common)
    check_names(done.trace, path)


@case
def whole_files(directory):
    path = copied(directory)
    done = run(directory, [path, "0"], "--embed", "full")
    out = os.path.join(directory, "out")
    gnomon("extract", "-o", out, done.trace)
    found = [each for each in files(done.trace) if each["kind"] == "full"]
    check(path in [each["path"] for each in found], found)
    for each in found:
        check(filecmp.cmp(out + each["path"], each["path"], False),
              "the same: " + each["path"])
    os.unlink(path)
    check_names(done.trace, path)


@case
def not_without_being_asked_for_short_ones(directory):
    """By default, of programs that run for a second."""
    for name, milliseconds, embedded in ("a", "0", False), ("b", "1300", True):
        part = os.path.join(directory, name)
        os.mkdir(part)
        done = run(part, [program(TARGET), milliseconds])
        equal(bool(files(done.trace)), embedded, milliseconds + " ms")
    part = os.path.join(directory, "c")
    os.mkdir(part)
    done = run(part, [program(TARGET), "1300"], "--embed", "none")
    equal(files(done.trace), [], "none")


@case
def children_leave_it_to_their_parents(directory):
    path = copied(directory)
    done = run(directory, [path, "1300", "fork"])
    os.unlink(path)
    parent, child = sorted(done.traces, key=lambda trace: -len(files(trace)))
    equal(files(child), [], "of the child")
    check(counters(child)["embed_inherited"] > 0, "inherited")
    names = [frame.get("function") for frame in frames(child, "tgt_child")]
    check("main" in names, "names by the parent's trace: %s" % names)
    os.rename(parent, parent + ".away")
    check(not any(frame.get("function") == "tgt_child"
                  for row in Report(child).rows for frame in row["stack"]),
          "the parent's trace is what they are from")


@case
def children_have_it_when_it_is_asked_for(directory):
    done = run(directory, [program(TARGET), "10", "fork"], "--embed", "debug")
    for trace in done.traces:
        check(files(trace), "of " + trace)


# ---- what it may cost ----

def huge(directory, size):
    """The program with so much debug information that does not compress."""
    need("objcopy")
    path, section = copied(directory), os.path.join(directory, "section")
    piece = os.urandom(1 << 20)
    with open(section, "wb") as out:
        for i in range(size >> 20):
            out.write(piece[i:] + piece[:i])
    equal(bare(["objcopy", "--add-section", ".debug_types=" + section,
                path]).status, 0, "objcopy")
    os.unlink(section)
    return path


@case
def embedding_delays_nothing(directory):
    """Not the start, not the end of the program, and of the command that
    waits for its trace no more than a second. Symbols there are at least."""
    for size in HUGE, LARGE:
        part = os.path.join(directory, str(size))
        os.mkdir(part)
        path = huge(part, size)
        # a busy machine may do less in a second
        patiently(part, lambda place, _, path=path: hold(place, path),
                  range(8))


def hold(directory, path):
    took = {}
    for value in "none", "debug", "full":
        for by in "run", "preload":
            part = os.path.join(directory, value + by)
            os.mkdir(part)
            env = environment(GNOMON_EMBED=value)
            begin = time.monotonic()
            if by == "run":
                done = bare([GNOMON, "run", "-q", "-o", part + "/a.trace",
                             path, "0"], env)
            else:
                env.update(LD_PRELOAD=LIBRARY,
                           GNOMON_OUTPUT=part + "/a.trace")
                done = bare([path, "0"], env)
            took[value, by] = time.monotonic() - begin
            equal(done.status, 0, done.err)
            settle(part)
            trace = part + "/a.trace"
            equal(Report(trace).summary["dropped"], 0, "dropped")
            figures = counters(trace)
            check(value == "none" or figures["embed_skipped"] +
                  figures["embedded_files"] > 0, figures)
            check(all(each["complete"] or each["path"] == path
                      for each in files(trace)), "whole but for the huge one")
            os.rename(path, path + ".away")
            check(value == "none" or frames(trace, "tgt_outer"), "no names")
            os.rename(path + ".away", path)
            os.unlink(trace)
    for (value, by), seconds in took.items():
        more = seconds - took["none", by]
        # as far as it does not take so long without
        check(more < (SECONDS if by == "run" else 0) + SLACK +
              20 * took["none", by], "%s, %s: %.2f s longer" % (
                  value, by, more))


@case
def embedding_while_the_program_is_busy(directory):
    """Of a program that is busy all the time."""
    path = copied(directory)
    done = run(directory, [program("mixed_lifetimes"), "1500000"], "--embed", "debug")
    check(any(each["path"] == program("mixed_lifetimes") for each in files(done.trace)),
          "its own file")
    equal(Report(done.trace).summary["dropped"], 0, "dropped")


# ---- what is included ----

@case
def included_files(directory):
    os.mkdir(os.path.join(directory, "conf"))
    wanted = {}
    for name, text in ("a.conf", b"one\n"), ("b.conf", b""), \
            ("big.conf", os.urandom(300000)):
        path = os.path.join(directory, "conf", name)
        wanted[path] = text
        with open(path, "wb") as out:
            out.write(text)
    os.mkfifo(os.path.join(directory, "conf", "c.conf"))
    os.mkdir(os.path.join(directory, "conf", "d.conf"))
    done = run(directory, [program(TARGET), "0"], "--include", "conf/*.conf",
               "--include", "/etc/hos?s", "--include", "missing",
               cwd=directory)
    found = files(done.trace)
    equal(sorted(each["path"] for each in found),
          sorted([*wanted, "/etc/hosts"]), "files")
    equal({each["kind"] for each in found}, {"included"}, "kinds")
    equal(counters(done.trace)["embed_skipped"], 1, "what is missing")
    out = os.path.join(directory, "out")
    gnomon("extract", "-o", out, done.trace)
    for path, text in wanted.items():
        equal(open(out + path, "rb").read(), text, path)


@case
def made_anonymous(directory):
    path = copied(directory)
    done = run(directory, [path, "0"], "--embed", "full", "--include",
               "/etc/hosts")
    check(files(done.trace), "files")
    other = os.path.join(directory, "other")
    gnomon("anonymize", done.trace, "-o", other)
    equal(files(other), [], "dropped")
    bytes_of = open(other, "rb").read()
    check(directory.encode() not in bytes_of, "no path of it")


# ---- parts ----

@case
def embedded_once_for_all_parts(directory):
    """Once for all parts, and within the limit."""
    path = os.path.join(directory, "mixed_lifetimes")
    shutil.copy(program("mixed_lifetimes"), path)
    done = run(directory, [path, "300000"], "--embed", "debug", "--limit",
               "1M", "-o", os.path.join(directory, "p.trace"))
    os.unlink(path)
    parts = [trace for trace in done.traces if not trace.endswith(".files")]
    beside = os.path.join(directory, "p.trace.files")
    check(len(parts) > 1, "parts: %s" % parts)
    listed = bare([GNOMON, "report", directory])
    check("1 trace" in listed.out and ".files" not in listed.out, listed.out)
    check(path in [each["path"] for each in files(beside)], files(beside))
    check(sum(os.path.getsize(trace) for trace in done.traces) <= 1 << 20,
          "sizes")
    for part in parts:
        equal(files(part), [], "files in " + part)
        names = {frame.get("function") for row in Report(part).rows
                 for frame in row["stack"]}
        check("main" in names, "names of %s: %s" % (part, names))
    equal(Report(beside).summary["allocations"], 0, "no program's trace")


# ---- other places ----

@case
def in_another_root(directory):
    need_root("change its root directory")
    root = os.path.join(directory, "root")
    os.mkdir(root)
    path = copied(directory)
    done = run(directory, [path, "0", "chroot", root], "--embed", "debug")
    os.unlink(path)
    check_names(done.trace, path)


@case
def without_a_file_system_to_find_them_on(directory):
    """A program that only its process has: it is counted, nothing else."""
    path = copied(directory)
    script = "import os, sys\n" \
        "fd = os.memfd_create('x', 0)\n" \
        "os.write(fd, open(sys.argv[1], 'rb').read())\n" \
        "os.execve(fd, ['x', '0'], os.environ)\n"
    done = recorded(["/usr/bin/python3", "-c", script, path], directory,
                    options=("--embed", "debug"))
    equal(done.status, 0, done.err)
    for trace in done.traces:
        equal(Report(trace).summary["dropped"], 0, trace)


main()
