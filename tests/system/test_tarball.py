#!/usr/bin/python3
# TIMEOUT: 120
"""`make tarball`: the archive runs without anything else, in a root that has
only two programs, of glibc and of musl, and their libraries.
`make check-tarball` tests complete Debian systems."""

import tarfile

from gnomon_test import *
from served import Server

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CC = os.environ.get("CC") or "gcc"
VERSION = bare([GNOMON, "--version"]).out.split()[1]
made = []
NAME = "gnomon-%s-%s-linux" % (VERSION, os.uname().machine)


def make(*words):
    done = bare(["make", "-s", "-C", ROOT, "O=" + BUILD, "CC=" + CC,
                 "WERROR=" + os.environ.get("WERROR", ""), *words],
                environment(MAKEFLAGS=None, MAKELEVEL=None))
    check(done.status == 0, "make %s: %s" % (words, done.err))


def need_archives():
    """That a static command can be linked here."""
    for name in ("tinfo", "bsd", "md", "microhttpd", "capstone"):
        name = "lib%s.a" % name
        if "/" not in bare([*CC.split(), "-print-file-name=" + name]).out:
            raise Skip(name + " is not installed")


def unpacked(directory):
    """The folder that the archive is, in there."""
    need_archives()
    if not made:
        make("tarball")
        made.append(True)
    os.makedirs(directory, exist_ok=True)
    with tarfile.open(os.path.join(BUILD, NAME + ".tar.gz")) as archive:
        archive.extractall(directory)
    return os.path.join(directory, NAME)


def libraries(path):
    """What the loader takes for it, the loader itself among it."""
    return re.findall(r"(/\S+) \(0x", bare(["ldd", path]).out)


def bare_root(directory):
    """A root with /bin/ls, the test's programs and their libraries."""
    root = os.path.join(directory, "root")
    for folder in ("bin", "proc", "dev/shm", "tmp"):
        os.makedirs(os.path.join(root, folder))
    programs = {"/bin/ls": "/bin/ls", "/bin/basic": program("basic"),
                "/bin/musl": program("musl")}
    for name, path in programs.items():
        shutil.copy(path, root + name)
        for library in libraries(path):
            os.makedirs(root + os.path.dirname(library), exist_ok=True)
            shutil.copy(library, root + library)
    musl = need_file("/lib/ld-musl-*.so.1")
    os.makedirs(root + "/lib", exist_ok=True)
    shutil.copy(musl, root + musl)
    return root


def inside(root, *argv):
    script = ('mount --rbind /proc "$1/proc" && mount -t tmpfs none '
              '"$1/dev/shm" && exec chroot "$@"')
    return bare(["unshare", "-m", "sh", "-c", script, "sh", root, *argv])


class InRoot(Report):
    """What the command in there reports."""

    def __init__(self, root, command, trace):
        done = inside(root, command, "report", "--json", "--by", "stack",
                      "--top", "0", trace)
        equal(done.status, 0, "report: " + done.err)
        document = json.loads(done.out)
        self.summary, self.rows = document["summary"], document["rows"]


@case
def it_needs_nothing(directory):
    parts = os.path.join(unpacked(directory), "lib", "gnomon")
    for name in ("gnomon", "gnomon-recorder", "gnomon-recorder-other",
                 "libgnomon.so", "libgnomon-off.so"):
        path = os.path.join(parts, name)
        if name.endswith("other") and not os.path.exists(path):
            continue    # no compiler but gcc makes it
        out = bare(["readelf", "-ldW", path]).out
        check("LOAD" in out, name + " is no ELF file")
        for word in ("INTERP", "(NEEDED)", "TEXTREL"):
            check(word not in out, "%s: %s" % (name, word))


@case
def in_a_bare_root(directory):
    need("unshare", "chroot", "musl-gcc")
    need_mounts()
    root = bare_root(directory)
    unpacked(os.path.join(root, "opt"))
    command = "/opt/%s/bin/gnomon" % NAME
    done = inside(root, command, "run", "-o", "/tmp/ls.trace", "--",
                  "/bin/ls", "/")
    equal((done.status, sorted(done.out.split())),
          (0, sorted(os.listdir(root))), "ls: " + done.err)
    done = inside(root, command, "report", "/tmp/ls.trace")
    equal(done.status, 0, "report: " + done.err)
    check("allocations" in done.out and
          "/bin/ls" in done.out, done.out)
    for name in ("basic", "musl"):
        trace = "/tmp/%s.trace" % name
        done = inside(root, command, "run", "-o", trace, "--", "/bin/" + name)
        equal(done.status, 0, "%s: %s" % (name, done.err))
        agree(done.expected, InRoot(root, command, trace), name + ": ")


@case
def its_server_answers(directory):
    """The library behind it is linked without what it needs for TLS."""
    command = os.path.join(unpacked(directory), "bin", "gnomon")
    done = bare([command, "run", "-o", os.path.join(directory, "a.trace"),
                 "--", program("basic")])
    equal(done.status, 0, "run: " + done.err)
    with Server(directory, command=command) as server:
        summary = server.json(server.trace() + "report")["summary"]
    equal(summary["allocations"], done.expected["allocations"], "allocations")


@case
def pkg_config_finds_it_where_it_is(directory):
    need("pkg-config")
    where = unpacked(directory)
    flags = bare(["pkg-config", "--cflags", "--libs", "gnomon-unwind"],
                 environment(PKG_CONFIG_LIBDIR=where + "/lib/pkgconfig"))
    equal(flags.status, 0, "pkg-config: " + flags.err)
    output = os.path.join(directory, "example")
    done = bare([*CC.split(), "-o", output, os.path.join(
        ROOT, "docs", "unwind_example.c"), *flags.out.split(),
                 "-Wl,-rpath," + where + "/lib"])
    equal(done.status, 0, "compiler: " + done.err)
    check("1000 calls, complete" in bare([output]).out, "what it says")


main()
