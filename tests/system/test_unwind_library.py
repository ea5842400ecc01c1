#!/usr/bin/python3
# TIMEOUT: 240
"""The unwinder library, as `make install` installs it: its files, exports and
imports, the guide's example, and programs (tests/library/) that compare its
stacks with glibc's backtrace()."""

import atexit

from gnomon_test import *

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SOURCES = os.path.join(ROOT, "tests", "library")
PREFIX = "/opt/gnomon"
CC, CXX = os.environ.get("CC") or "gcc", os.environ.get("CXX") or "g++"
FLAGS = ["-g", "-O1", "-fno-optimize-sibling-calls", "-D_GNU_SOURCE", "-Wall",
         "-Wextra", "-Werror", "-I", SOURCES]
MODES = {"validate": "0", "auto": "1", "off": "2"}
PROBES = ("stacks", "deep", "strict", "borders", "budget", "signal",
          "getcontext", "interrupted", "jumped", "threads", "fork",
          "fork-and-thread")

# What the library may leave undefined: of any C library, and of glibc alone.
MAY_NEED = {"dl_iterate_phdr", "memcpy", "memcmp", "memset", "memmove"}
MAY_NEED_WEAK = {"__libc_stack_end", "__environ", "_r_debug",
                 "_dl_debug_addr"}

INSTALLED = """
bin/gnomon
include/gnomon/gnomon.h
include/gnomon/unwind.h
include/gnomon/valgrind_pools.h
lib/gnomon/gnomon
lib/gnomon/gnomon-recorder
lib/gnomon/gnomon-recorder-other
lib/gnomon/libgnomon-off.so
lib/gnomon/libgnomon.so
lib/libgnomon-stub.a
lib/libgnomon-stub.so
lib/libgnomon-stub.so.0
lib/libgnomon-stub.so.VERSION
lib/libgnomon-unwind.a
lib/libgnomon-unwind.so
lib/libgnomon-unwind.so.0
lib/libgnomon-unwind.so.VERSION
lib/pkgconfig/gnomon-unwind.pc
lib/pkgconfig/gnomon.pc
share/bash-completion/completions/gnomon
share/fish/vendor_completions.d/gnomon.fish
share/man/man1/gnomon-annotate.1
share/man/man1/gnomon-anonymize.1
share/man/man1/gnomon-cfi.1
share/man/man1/gnomon-check.1
share/man/man1/gnomon-clear.1
share/man/man1/gnomon-diff.1
share/man/man1/gnomon-export.1
share/man/man1/gnomon-extract.1
share/man/man1/gnomon-flamegraph.1
share/man/man1/gnomon-graph.1
share/man/man1/gnomon-info.1
share/man/man1/gnomon-repack.1
share/man/man1/gnomon-report.1
share/man/man1/gnomon-run.1
share/man/man1/gnomon-serve.1
share/man/man1/gnomon-snapshot.1
share/man/man1/gnomon-sql.1
share/man/man1/gnomon-start.1
share/man/man1/gnomon-stop.1
share/man/man1/gnomon-strip.1
share/man/man1/gnomon.1
share/zsh/site-functions/_gnomon
""".split()

stage = tempfile.mkdtemp(prefix="gnomon-test.")
atexit.register(shutil.rmtree, stage, True)
TREE = stage + PREFIX


def install():
    def make(*words):
        return bare(["make", "-s", "-C", ROOT, "O=" + BUILD, "CC=" + CC,
                     "DESTDIR=" + stage, "PREFIX=" + PREFIX, *words],
                    environment(MAKEFLAGS=None, MAKELEVEL=None))

    # Others are using what is there, so nothing of it may be made again.
    check(make("-q", "all", "docs", "api", "unwind-library").status == 0,
          "make: not all is up to date")
    done = make("install")
    check(done.status == 0, "make install: " + done.err)


def pkg_config(*arguments):
    done = bare(["pkg-config", *arguments, "gnomon-unwind"], environment(
        PKG_CONFIG_LIBDIR=os.path.join(TREE, "lib", "pkgconfig"),
        PKG_CONFIG_SYSROOT_DIR=stage))
    check(done.status == 0, "pkg-config: " + done.err)
    return done.out.split()


def library_flags(kind):
    """To link with the shared library, or the archive in some way."""
    libs = pkg_config("--libs")
    if kind == "shared":
        return libs + ["-Wl,-rpath," + os.path.join(TREE, "lib")]
    if kind == "archive":
        return ["-Wl,-Bstatic", *libs, "-Wl,-Bdynamic"]
    return ["-" + kind, *libs]


def build(source, output, kind, compiler=CC, flags=FLAGS):
    done = bare([*compiler.split(), *flags, *pkg_config("--cflags"), "-o",
                 output, source, *library_flags(kind), "-pthread"])
    # A static program with dlopen in it makes the linker warn.
    check(done.status == 0, "%s, %s: %s" % (source, kind, done.err))
    return output


def names_in(path, pattern):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        return set(re.findall(pattern, source.read(), re.M))


@case
def installed_tree(directory):
    found = [os.path.relpath(os.path.join(folder, name), TREE)
             for folder, _, names in os.walk(TREE) for name in names]
    version = pkg_config("--modversion")[0]
    equal(sorted(found), sorted(name.replace("VERSION", version)
                                for name in INSTALLED), "files")
    equal(bare([os.path.join(TREE, "bin/gnomon"), "--version"]).out.split(),
          ["gnomon", version], "version")
    done = bare([os.path.join(TREE, "bin/gnomon"), "run", "-o",
                 os.path.join(directory, "x.trace"), "true"])
    equal(done.status, 0, "gnomon run out of the tree: " + done.err)
    for name in os.listdir(os.path.join(TREE, "lib", "pkgconfig")):
        with open(os.path.join(TREE, "lib", "pkgconfig", name)) as pc:
            check("prefix=%s\n" % PREFIX in pc.read(), "prefix in " + name)


@case
def gives_the_interface_alone(directory):
    header = names_in("library/gnomon/unwind.h",
                      r"^GU_API [\w *]*?\b(gu_\w+)\(")
    check(len(header) > 10, "functions found in the header: %s" % header)
    equal(names_in("library/exports.map", r"^\t\t(gu_\w+);$"), header,
          "exports.map against the header")
    for name, options in (("libgnomon-unwind.so", ["-D"]),
                          ("libgnomon-unwind.a", ["-g"])):
        given, needed, weak = set(), set(), set()
        out = bare(["nm", *options, os.path.join(TREE, "lib", name)]).out
        for line in out.splitlines():
            fields = line.split()
            if len(fields) < 2 or fields[-1].startswith("GNOMON_UNWIND_"):
                continue
            symbol = fields[-1].split("@")[0]
            {"U": needed, "w": weak, "v": weak}.get(
                fields[-2], given).add(symbol)
        equal(given, header, name + " gives")
        equal(needed - MAY_NEED - {"_GLOBAL_OFFSET_TABLE_"}, set(),
              name + " needs")
        equal(weak - MAY_NEED - MAY_NEED_WEAK, set(), name + " asks for")


@case
def shared_library_is_self_contained(directory):
    path = os.path.join(TREE, "lib", "libgnomon-unwind.so")
    out = bare(["readelf", "-dlW", path]).out
    check("[libgnomon-unwind.so.0]" in out, "no soname")
    check("NODELETE" in out and "GNU_RELRO" in out, "flags")
    for word in ("(NEEDED)", "TEXTREL", "RWE"):
        check(word not in out, word)


@case
def example_of_the_guide(directory):
    """Is in the guide word for word, and says what the guide says, however it
    is linked, in C and in C++."""
    need("musl-gcc", "addr2line", "pkg-config")
    path = os.path.join(ROOT, "docs", "unwind_example.c")
    with open(path) as source, open(os.path.join(ROOT, "docs",
                                                 "UNWIND.md")) as guide:
        check("```c\n%s```\n" % source.read() in guide.read(),
              "docs/UNWIND.md does not hold docs/unwind_example.c")
    for compiler, kind, more in (
            (CC, "shared", ["-no-pie"]), (CC, "archive", ["-no-pie"]),
            (CC, "static", []), (CC, "static-pie", []),
            (CXX + " -x c++", "shared", ["-no-pie"]),
            ("musl-gcc", "shared", ["-no-pie"]), ("musl-gcc", "static", [])):
        what = "%s, %s" % (compiler, kind)
        output = build(path, os.path.join(directory, "example"), kind,
                       compiler, FLAGS + more)
        done = bare([output])
        equal(done.status, 0, what)
        lines = done.out.splitlines()
        equal([line.split(":")[0].split(",")[0] for line in lines],
              ["1000 calls", "500 calls"], what)
        # musl's own code has no unwind tables
        check("musl" in compiler or all(", complete:" in line
                                        for line in lines), what + done.out)
        if kind == "static-pie":
            continue
        addresses = lines[1].split(":")[1].split()
        names = bare(["addr2line", "-Cfe", output, *addresses]).out
        equal([name.split("(")[0] for name in names.splitlines()[:8:2]],
              ["work", "outer", "outer", "main"], what)


def plugins(directory):
    """Two libraries of one size, with other code at the same place."""
    paths = []
    for name, flags in (("a", []), ("b", ["-DPLUGIN_WIDE"])):
        paths.append(os.path.join(directory, name + ".so"))
        done = bare(["gcc", "-shared", "-fPIC", *flags, "-o", paths[-1],
                     os.path.join(SOURCES, "plugin.c")])
        check(done.status == 0, "plugin: " + done.err)
    return paths


def probes(kind, modes):
    def compared_with_backtrace(directory):
        binary = build(os.path.join(SOURCES, "probe.c"),
                       os.path.join(directory, "probe"), kind)
        throwing = build(os.path.join(SOURCES, "throwing.cc"),
                         os.path.join(directory, "throwing"), kind, CXX)
        libraries = plugins(directory)
        runs = [[binary, name, MODES[mode]]
                for mode in modes for name in PROBES]
        for mode in modes:
            runs.append([binary, "plugins", MODES[mode], *libraries])
            runs.append([throwing, MODES[mode]])
        for argv in runs:
            done = bare(argv)
            check(done.status == 0, "%s: status %d, %s" % (
                " ".join(argv), done.status, done.err))
    compared_with_backtrace.__name__ += "_" + kind
    return compared_with_backtrace


case(probes("shared", ("validate", "auto", "off")))
case(probes("archive", ("auto",)))
case(probes("static-pie", ("validate", "auto")))

install()
main()
