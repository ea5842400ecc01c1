"""The makefiles and the packages they install: in separate trees, whose folders
are links to this one's, with compilers and package managers that log their
arguments."""

import os
import re
import shutil
import subprocess

from gnomon_test import (BUILD, Report, agree, bare, case, check, environment,
                         equal, main, need, program, settle)

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
OBJECT = "build/target/unwind/base/radix.o"
DISTRIBUTIONS = {"fedora": ("dnf install", "f-lib"),
                 "arch": ("pacman -S --needed", "a-lib"),
                 "alpine": ("apk add", "al-lib"),
                 "opensuse-leap": ("zypper install", "o-lib")}
# What install-packages itself needs, without a package manager.
TOOLS = ("sh", "awk", "sed", "tr", "cut", "grep", "cat", "rm", "mktemp",
         "dirname", "env", "flock", "gcc", "as", "ld", "python3")


def tree(directory):
    """Links to all folders; makefiles are copies, so that they can change."""
    for name in os.listdir(ROOT):
        source, to = os.path.join(ROOT, name), os.path.join(directory, name)
        if name == "mk":
            shutil.copytree(source, to)
        elif name == "Makefile":
            shutil.copy(source, to)
        elif name != "build" and not name.startswith("."):
            os.symlink(source, to)
    return directory


def script(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def clean_environment(**changes):
    """Nothing of the make that may run the tests."""
    return dict({key: value for key, value in os.environ.items()
                 if key in ("PATH", "HOME", "LANG", "TMPDIR")}, **changes)


def run(argv, directory, **changes):
    return subprocess.run(argv, cwd=directory, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=100,
                          env=clean_environment(**changes))


def make(directory, *words, statuses=(0,), **changes):
    done = run(["make", *words], directory, **changes)
    check(done.returncode in statuses, "make %s: status %d: %s" % (
        " ".join(words), done.returncode, done.stderr[-1000:]))
    return done


def text_of(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as source:
        return source.read()


@case
def objects_depend_on_flags_and_makefiles(directory):
    tree(directory)
    there = "PACKAGES_TOOL=/bin/true"
    make(directory, there, OBJECT)
    make(directory, there, "-q", OBJECT)
    for change in ("CFLAGS=-O1", "CC=gcc -pipe", "VERSION=9.9", "WERROR=1",
                   "CPPFLAGS=-DX", "LDFLAGS=-Wl,-O1"):
        make(directory, there, "-q", change, OBJECT, statuses=(1,))
        done = make(directory, there, "-n", change, OBJECT)
        check("-c -o " + OBJECT in done.stdout, change + " compiles nothing")
    # Neither asking nor pretending has changed anything.
    make(directory, there, "-q", OBJECT)
    make(directory, there, "CFLAGS=-O1", OBJECT)
    make(directory, there, "-q", "CFLAGS=-O1", OBJECT)
    make(directory, there, "-q", OBJECT, statuses=(1,))
    for name, changes in (("target.mk", True), ("bench.mk", False)):
        make(directory, there, OBJECT)
        os.utime(os.path.join(directory, "mk", name),
                 ns=(os.stat(directory).st_mtime_ns + 10 ** 10,) * 2)
        make(directory, there, "-q", OBJECT, statuses=(int(changes),))
        os.utime(os.path.join(directory, "mk", name), ns=(0, 0))


@case
def a_target_wants_an_architecture(directory):
    """Its goals say so without one, and take this machine's."""
    done = make(tree(directory), "install-target", statuses=(2,))
    check("make ARCH=" in done.stderr and "DESTDIR=" in done.stderr,
          "what is said: " + done.stderr)
    equal(done.stdout, "", "what is done")
    done = make(directory, "-n", "install-target", "ARCH=" + os.uname().machine)
    check("build/gnomon-recorder '/usr/local/lib/gnomon/gnomon-recorder'" in
          done.stdout, done.stdout)
    check("bin/gnomon" not in done.stdout, done.stdout)


@case
def a_port_is_tested_with_parts_of_this_machine(directory):
    """The command, tools and programs that its goals use; qemu's plugin."""
    need("aarch64-linux-gnu-gcc")
    need("aarch64-linux-gnu-g++")
    tree(directory)
    for goal, parts in (("check-arch", ("gnomon", "tests/trace_dump",
                                        "tests/basic")),
                        ("check-programs", ("gnomon", "tests/trace_dump")),
                        ("bench-arch", ("bench/count_plugin.so",))):
        said = make(directory, "-n", "ARCH=aarch64", goal).stdout
        for part in parts:
            check(re.search(r"^(?!.*aarch64-linux-gnu-g).* -o build/%s " % part,
                            said.replace("\\\n", " ").replace("\t", " "), re.M),
                  "make %s does not build %s" % (goal, part))


@case
def default_goal_is_all(directory):
    """Whatever rules the makefiles that are included begin with."""
    said = make(tree(directory), "-q", "-p", statuses=(0, 1)).stdout
    check(re.search(r"^\.DEFAULT_GOAL := all$", said, re.M), "another goal")


def installed(directory, prefix="/usr/local"):
    """What `make install` puts below there; its command."""
    stage = os.path.join(directory, "stage")
    # Others are using what is there, so nothing of it may be made again.
    words = ("-s", "O=" + BUILD, "CC=" + (os.environ.get("CC") or "gcc"),
             "WERROR=" + os.environ.get("WERROR", ""), "DESTDIR=" + stage,
             "PREFIX=" + prefix)
    make(ROOT, *words, "-q", "all", "docs", "api", "unwind-library")
    make(ROOT, *words, "install")
    return stage + prefix, stage + prefix + "/bin/gnomon"


def recorded_by(command, directory, **changes):
    trace = os.path.join(directory, "trace")
    done = bare([command, "run", "-o", trace, "--", program("basic")],
                environment(**changes))
    equal(done.status, 0, "status; stderr: " + done.err)
    return done, trace


@case
def what_is_installed_records(directory):
    where, command = installed(directory)
    recorder = os.path.join(where, "lib", "gnomon", "gnomon-recorder")
    done, trace = recorded_by(command, directory)
    settle(directory)
    agree(done.expected, Report(trace))
    os.unlink(trace)
    # By no other recorder, wherever one may be.
    script(os.path.join(directory, "gnomon-recorder"), "exit 0\n")
    os.unlink(recorder)
    done, trace = recorded_by(command, directory, PATH=":".join(
        (directory, BUILD, os.environ["PATH"])))
    check("cannot be started: %s: no such file" % os.path.realpath(recorder)
          in done.err, "stderr: " + done.err)
    check(not os.path.exists(trace), "a trace without a recorder")


@case
def what_is_installed_can_be_moved(directory):
    where, _ = installed(directory)
    moved = os.path.join(directory, "moved")
    os.rename(where, moved)
    done, trace = recorded_by(os.path.join(moved, "bin", "gnomon"), directory)
    settle(directory)
    agree(done.expected, Report(trace))


def asked_for(directory, *goals):
    """Lines of what the goals run, "packages GROUP…" and "cc", until a compiler
    or the like is needed, which fails."""
    tree(directory)
    log = os.path.join(directory, "log")
    folder = os.path.join(directory, "bin")
    os.mkdir(folder)
    tool = script(os.path.join(directory, "tool"),
                  "sleep 0.3\necho packages \"$@\" >>%s\n" % log)
    for name in ("gcc", "g++", "clang", "esbuild", "protoc-c", "npm", "tsc"):
        # which architecture it is for is asked of one that may not be there
        script(os.path.join(folder, name),
               'test "$*" = -dumpmachine || echo cc >>%s\nexit 1\n' % log)
    make(directory, "-j8", "PACKAGES_TOOL=" + tool, *goals, statuses=(2,),
         PATH=folder + ":" + os.environ["PATH"])
    return text_of(log).splitlines()


@case
def many_goals_install_once_and_first(directory):
    lines = asked_for(directory, "demo", "lint", "check", "check-unit",
                      "check-asan", "hostile", "fuzz", "check-programs")
    check(lines[0].startswith("packages "), "first: " + lines[0])
    equal([line for line in lines[1:] if line != "cc"], [],
          "what else was installed")
    groups = set(lines[0].split()[1:])
    check({"build", "demo", "lint", "unit", "sanitize", "fuzz", "test",
           "targets"} <= groups, lines[0])


def groups_of(goal):
    def case_of_goal(directory):
        lines = asked_for(directory, goal)
        equal(sorted({word for line in lines if line != "cc"
                      for word in line.split()[1:]}), GOALS[goal], goal)
        check(lines[0] != "cc", "compiled before it installed")
    case_of_goal.__name__ = "packages_of_" + re.sub(r"\W", "_", goal)
    return case_of_goal


GOALS = {
    "all": ["build"],
    "demo": ["build", "demo"],
    "check-unit": ["build", "python", "unit"],
    "check-asan": ["build", "python", "sanitize", "unit"],
    "hostile": ["build", "sanitize"],
    "bench-peers": ["build", "c++", "peers", "python"],
    "build/bench/replay": ["build"],
    "build/tests/unit/unwind/base/test_radix": ["build", "unit"],
}
for _goal in GOALS:
    case(groups_of(_goal))


def small_tree(directory, rows):
    """The installer with a table of its own."""
    os.makedirs(os.path.join(directory, "mk"))
    os.makedirs(os.path.join(directory, "tests", "tools"))
    os.makedirs(os.path.join(directory, "bin"))
    shutil.copy(os.path.join(ROOT, "tests", "tools", "install-packages"),
                os.path.join(directory, "tests", "tools"))
    with open(os.path.join(directory, "mk", "packages"), "w",
              encoding="utf-8") as table:
        table.write("# a comment\n" + "".join(row + "\n" for row in rows))
    for name in TOOLS:
        if shutil.which(name):
            os.symlink(shutil.which(name),
                       os.path.join(directory, "bin", name))
    script(os.path.join(directory, "bin", "id"), "echo 1000\n")
    return os.path.join(directory, "bin")


def install(directory, *groups, **changes):
    changes = {"PATH": os.path.join(directory, "bin"), **changes}
    return run(["tests/tools/install-packages", *groups], directory, **changes)


ROWS = (
    "build program:CC gcc gcc gcc gcc gcc",
    "build library:c:stdio.h libc6-dev x x x x",
    "build library:nosuch:nosuch.h d-lib f-lib a-lib al-lib o-lib",
    "build,demo program:no-such-demo d-demo f-demo a-demo al-demo -",
    "extra? program:no-such-extra d-extra,d-more f-extra a-extra al-x o-x",
    "other program:sed sed sed sed sed sed",
)


@case
def without_apt_it_says_what_is_missing(directory):
    need("flock")
    small_tree(directory, ROWS)
    release = os.path.join(directory, "release")
    for name, (how, library) in DISTRIBUTIONS.items():
        with open(release, "w", encoding="utf-8") as out:
            out.write('NAME="x"\nID="%s"\n' % name)
        done = install(directory, "build", OS_RELEASE=release)
        equal(done.returncode, 1, name)
        check("%s %s" % (how, library) in done.stderr, done.stderr)
        check("libnosuch and <nosuch.h>, no-such-demo\n" in done.stderr,
              done.stderr)
        equal(done.stderr.count("install") + done.stderr.count("-S ") +
              done.stderr.count("add"), 1, "ways to install: " + done.stderr)
    check("openSUSE has no package of: no-such-demo" in done.stderr,
          done.stderr)
    # Where it is not known what this is: all.
    done = install(directory, "demo", OS_RELEASE=release + ".none")
    for how, _ in DISTRIBUTIONS.values():
        check(how in done.stderr, done.stderr)
    # What can be done without is said, and is no failure.
    done = install(directory, "extra", OS_RELEASE=release)
    equal((done.returncode, "no-such-extra" in done.stderr), (0, True),
          "extra")
    done = install(directory, "other", OS_RELEASE=release)
    equal((done.returncode, done.stderr), (0, ""), "what is there")
    # A program of the user's own will do.
    equal(install(directory, "build", CC="no-such-gcc -O2").returncode, 1,
          "no compiler")


@case
def an_archive_is_not_a_shared_library(directory):
    """A compiler whose folders have libraries, but not all archives."""
    need("flock")
    small_tree(directory, ("build static:m d-m f-m a-m al-m o-m",
                           "build library:m:math.h x x x x x"))
    lacking = script(os.path.join(directory, "bin", "lacking"), """
case " $* " in *" -static-pie "*" -lm "*) exit 1 ;; esac
exec gcc "$@"
""")
    release = os.path.join(directory, "release")
    with open(release, "w", encoding="utf-8") as out:
        out.write("ID=fedora\n")
    equal(install(directory, "build", OS_RELEASE=release).returncode, 0,
          "what is there")
    equal(install(directory, "build", OS_RELEASE=release,
                  CC="gcc -fsanitize=address -fno-sanitize-recover=undefined"
                  ).returncode, 0, "what is there, under sanitizers")
    done = install(directory, "build", OS_RELEASE=release, CC=lacking)
    equal((done.returncode, done.stderr),
          (1, "missing: libm.a\nFedora: dnf install f-m\n"), "what is not")


def apt(directory, after):
    """apt-get and sudo that tell; installing takes its time."""
    log = os.path.join(directory, "log")
    folder = os.path.join(directory, "bin")
    os.symlink(shutil.which("sleep"), os.path.join(folder, "sleep"))
    os.symlink(shutil.which("chmod"), os.path.join(folder, "chmod"))
    script(os.path.join(folder, "sudo"),
           'echo "sudo $1" >>%s\nexec "$@"\n' % log)
    script(os.path.join(folder, "apt-cache"), "exit 0\n")
    script(os.path.join(folder, "apt-get"),
           'echo "apt-get $*" >>%s\nsleep 0.5\n%s' % (log, after))
    return log


@case
def apt_runs_once_and_only_if_it_must(directory):
    need("flock")
    folder = small_tree(directory, ROWS)
    made = os.path.join(folder, "no-such-demo")
    log = apt(directory, "echo >%s; chmod 755 %s\n" % (made, made))
    equal(install(directory, "other").returncode, 0, "what is there")
    equal(text_of(log), "", "what ran though all was there")
    several = [subprocess.Popen(
        ["tests/tools/install-packages", "demo", "other"], cwd=directory,
        env=clean_environment(PATH=folder), stderr=subprocess.DEVNULL)
        for _ in range(4)]
    equal([each.wait(timeout=60) for each in several], [0] * 4, "statuses")
    lines = text_of(log).splitlines()
    equal(len(lines), 2, "what ran: %s" % lines)
    equal(lines[0], "sudo env", "as whom")
    check(lines[1].endswith("install -y --no-install-recommends d-demo"),
          lines[1])


@case
def missing_packages_fail(directory):
    need("flock")
    small_tree(directory, ROWS)
    log = apt(directory, "")
    done = install(directory, "build")
    equal((done.returncode, "libnosuch" in done.stderr), (1, True), "needed")
    equal(install(directory, "extra").returncode, 0, "can be done without")
    script(os.path.join(directory, "bin", "apt-get"), "exit 100\n")
    equal(install(directory, "extra").returncode, 0, "apt that fails")
    equal(install(directory, "demo").returncode, 1, "apt that fails, needed")
    check("install -y --no-install-recommends d-extra d-more" in text_of(log),
          text_of(log))


@case
def package_table_is_well_formed(_):
    """Each row names a package everywhere, or says that there is none."""
    kinds = {"program", "library", "c++", "flag", "static", "file", "python",
             "debian"}
    lines = text_of(os.path.join(ROOT, "mk", "packages")).splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    check(rows, "no table")
    for line in rows:
        row = line.split()
        kind = row[1].split(":")[0]
        check(kind in kinds, "unknown check: " + line)
        equal(len(row), 2 if kind == "debian" else 7, "columns of " + line)


main()
