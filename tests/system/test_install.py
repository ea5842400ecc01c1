#!/usr/bin/python3
# TIMEOUT: 60
"""`make install` with the variables of the GNU coding standards, and `make
uninstall`: below a DESTDIR with other folder names. test_unwind_library.py
tests the default names."""

from gnomon_test import *

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CC = os.environ.get("CC") or "gcc"
VARIABLES = {"prefix": "/opt/tools", "exec_prefix": "/opt/tools/this",
             "bindir": "/opt/tools/programs", "libdir": "/usr/lib/some-abi",
             "libexecdir": "/usr/libexec", "includedir": "/opt/tools/inc",
             "datadir": "/opt/data", "mandir": "/opt/tools/manual"}
# What uses both libraries: prints a version and the number of a stack.
PROGRAM = """
#include <gnomon/gnomon.h>
#include <gnomon/unwind.h>
#include <stdio.h>
int main(void)
{
	printf("%s %d\\n", gnomon_version(), gu_capture() != 0);
	return 0;
}
"""


def make(*words, statuses=(0,)):
    done = bare(["make", "-s", "-C", ROOT, "O=" + BUILD, "CC=" + CC,
                 "WERROR=" + os.environ.get("WERROR", ""), *words],
                environment(MAKEFLAGS=None, MAKELEVEL=None))
    check(done.status in statuses, "make %s: status %d: %s" % (
        words, done.status, done.err))
    return done.out


def installed(directory, **variables):
    stage = os.path.join(directory, "stage")
    words = ["DESTDIR=" + stage] + ["%s=%s" % each
                                    for each in variables.items()]
    # Others are using what is there, so nothing of it may be made again.
    make("-q", "all", "docs", "api", "unwind-library")
    make(*words, "install")
    return stage, words


def files_in(stage):
    return sorted("/" + os.path.relpath(os.path.join(folder, name), stage)
                  for folder, _, names in os.walk(stage) for name in names)


@case
def each_variable_has_its_files(directory):
    stage, _ = installed(directory, **VARIABLES)
    found = files_in(stage)
    for folder, names in (
            ("/opt/tools/programs", {"gnomon"}),
            ("/usr/libexec/gnomon",
             {"gnomon", "libgnomon.so", "libgnomon-off.so",
              "gnomon-recorder"}),
            ("/usr/lib/some-abi",
             {"libgnomon-stub.a", "libgnomon-stub.so", "libgnomon-stub.so.0",
              "libgnomon-unwind.a", "libgnomon-unwind.so",
              "libgnomon-unwind.so.0"}),
            ("/usr/lib/some-abi/pkgconfig", {"gnomon.pc",
                                             "gnomon-unwind.pc"}),
            ("/opt/tools/inc/gnomon", {"gnomon.h", "unwind.h"}),
            ("/opt/tools/manual/man1", {"gnomon.1", "gnomon-run.1"}),
            ("/opt/data/bash-completion/completions", {"gnomon"})):
        equal(names - {os.path.basename(path) for path in found
                       if os.path.dirname(path) == folder}, set(),
              "missing in " + folder)
    places = ("/opt/tools/programs/", "/usr/lib/some-abi/",
              "/usr/libexec/gnomon/", "/opt/tools/inc/gnomon/",
              "/opt/tools/manual/man1/", "/opt/data/")
    equal([path for path in found if not path.startswith(places)], [],
          "elsewhere")


@case
def the_command_finds_its_library(directory):
    """Whatever the folders are called, and when all are moved together."""
    stage, _ = installed(directory, **VARIABLES)
    moved = os.path.join(directory, "moved")
    os.rename(stage, moved)
    trace = os.path.join(directory, "trace")
    done = bare([moved + "/opt/tools/programs/gnomon", "run", "-o", trace,
                 "--", program("basic")])
    equal(done.status, 0, "status; stderr: " + done.err)
    settle(directory)
    agree(done.expected, Report(trace))


@case
def pkg_config_knows_where(directory):
    need("pkg-config")
    stage, _ = installed(directory, **VARIABLES)
    where = stage + "/usr/lib/some-abi"
    source = os.path.join(directory, "program.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(PROGRAM)
    flags = bare(["pkg-config", "--cflags", "--libs", "gnomon",
                  "gnomon-unwind"], environment(
                      PKG_CONFIG_LIBDIR=where + "/pkgconfig",
                      PKG_CONFIG_SYSROOT_DIR=stage))
    equal(flags.status, 0, "pkg-config: " + flags.err)
    check("-I%s/opt/tools/inc" % stage in flags.out.split(), flags.out)
    output = os.path.join(directory, "program")
    done = bare([*CC.split(), "-Wall", "-Werror", "-o", output, source,
                 *flags.out.split(), "-Wl,-rpath," + where])
    equal(done.status, 0, "compiler: " + done.err)
    done = bare([output])
    equal((done.status, done.out), (0, " 1\n"), "not recorded")
    version = bare([GNOMON, "--version"]).out.split()[1]
    done = bare([stage + "/opt/tools/programs/gnomon", "run", "-o",
                 os.path.join(directory, "trace"), "--", output])
    equal((done.status, done.out), (0, version + " 1\n"), "recorded")


@case
def uninstalled_nothing_is_left(directory):
    for variables in (VARIABLES, {"PREFIX": "/usr"}):
        stage, words = installed(directory, **variables)
        check(len(files_in(stage)) > 30, "nothing was installed")
        make(*words, "uninstall")
        equal(files_in(stage), [], "files left")
        equal([folder for folder, _, _ in os.walk(stage)
               if os.path.basename(folder) == "gnomon"], [], "folders left")
        make(*words, "uninstall")
        shutil.rmtree(stage)


@case
def what_others_have_there_stays(directory):
    stage, words = installed(directory, PREFIX="/usr")
    others = ["/usr/bin/gnome", "/usr/include/gnomon/other.h",
              "/usr/lib/gnomon/other", "/usr/lib/libgnomon-stubborn.so.0",
              "/usr/share/man/man1/gnome.1"]
    for path in others:
        with open(stage + path, "w", encoding="utf-8"):
            pass
    make(*words, "uninstall")
    equal(files_in(stage), others, "files left")


@case
def given_flags_reach_every_compiler_and_linker(directory):
    words = ["-nB", "O=" + os.path.join(directory, "out"), "V=1", "CC=gcc",
             "PACKAGES_TOOL=/bin/true", "CPPFLAGS=-DMINE_CPP", "CFLAGS=-O1 -DMINE_C",
             "LDFLAGS=-Wl,--mine"]
    lines = re.sub(r"\\\n\s*", "", make(*words, "all")).splitlines()
    compiled = [line for line in lines if re.search(r" -c .*\.c$", line)]
    linked = [line for line in lines if line.startswith("gcc ") and
              " -c " not in line and " -E " not in line]
    check(len(compiled) > 300, "%d are compiled" % len(compiled))
    check(len(linked) >= 6, "%d are linked" % len(linked))
    for line in compiled:
        check("-DMINE_CPP" in line and "-DMINE_C " in line, line)
    for line in linked:
        check("-Wl,--mine" in line, line)


main()
