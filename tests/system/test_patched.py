#!/usr/bin/python3
# TIMEOUT: 120
"""Static allocators: the program's own count of its operations, compared with
the trace's. The test links Debian's static libraries, with their functions
renamed where a program would rename them."""

import base64
import random

from gnomon_test import *

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "patched")
BUILT = os.path.join(PROGRAMS, "patched")
CC = os.environ.get("CC", "gcc")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
FLAGS = ["-g", "-O1", "-fno-inline", "-fno-builtin", "-pthread",
         "-fno-optimize-sibling-calls", "-Wall",
         "-Wno-alloc-size-larger-than",
         "-I" + os.path.join(HERE, "..", "programs")]
NOT_RECORDED = "brings its own allocator %s; its allocations are not recorded"


def source(name):
    return os.path.join(SOURCES, name)


def run_tool(*argv):
    done = bare(list(argv))
    check(done.status == 0, " ".join(argv) + ": " + done.err)
    return done


def built(name, make, *sources):
    """The path of a file that make(path) makes, unless it is newer than its
    sources."""
    path = os.path.join(BUILT, name)
    if not (os.path.exists(path) and all(
            os.path.getmtime(path) > os.path.getmtime(s) for s in sources)):
        os.makedirs(BUILT, exist_ok=True)
        fresh = "%s.%d" % (path, os.getpid())
        make(fresh)
        os.rename(fresh, path)
    return path


def renamed(library, prefix):
    """One object with all of a static library; its public functions have this
    prefix, everything else is its own."""
    archive = os.path.join(LIBRARIES, library)
    if not os.path.exists(archive):
        raise Skip(archive + " is not installed")
    public = ("malloc calloc realloc free posix_memalign aligned_alloc "
              "memalign valloc mallocx rallocx xallocx dallocx sdallocx "
              "sallocx nallocx mallctl mallctlbymib mallctlnametomib "
              "malloc_stats_print malloc_usable_size").split()

    def make(path):
        run_tool("ld", "-r", "-o", path, *("-u" + name for name in public),
                 archive)
        run_tool("objcopy",
                 *("--redefine-sym=%s=%s%s" % (name, prefix, name)
                   for name in public), path)
    return built(library + prefix + ".o", make, archive)


def linked(name, *objects, flags=(), cc=CC, main="linked.c"):
    """linked.c with these objects."""
    def make(path):
        run_tool(cc, *FLAGS, "-o", path, source(main), *objects, *flags)
    return built(name, make, source(main), *(
        path for path in objects if path.startswith("/")))


def jemalloc(prefix=""):
    if not prefix:
        return linked("je", os.path.join(LIBRARIES, "libjemalloc.a"),
                      "-lstdc++", "-lm", flags=["-DJEMALLOC"])
    return linked("je" + prefix, renamed("libjemalloc.a", prefix), "-lstdc++",
                  "-lm", flags=["-DJEMALLOC", "-DPREFIX=" + prefix])


def tcmalloc():
    return linked("tc", os.path.join(LIBRARIES, "libtcmalloc_minimal.a"),
                  "-lstdc++", "-lm", flags=["-DTCMALLOC"])


def mini(name, *flags, cc=CC):
    return linked("mini_" + name, source("mini.c"), cc=cc, flags=flags)


def mimalloc(*flags, name="mi"):
    return mini(name, "-DPREFIX=mi_", "-DMIMALLOC", *flags)


def snmalloc():
    return linked("sn", source("mini.c"), main="sn_rust.c",
                  flags=["-DPREFIX=sn_"])


def exact(path, directory, *arguments, **options):
    alone = bare([path, *arguments])
    done = recorded([path, *arguments], directory, **options)
    equal(done.status, alone.status, "status")
    equal(done.out, alone.out, "output")
    check("not recorded" not in done.err, done.err)
    report = Report(done.trace)
    agree(done.expected, report)
    return done, report


def make_exact(name, path, *arguments):
    def body(directory):
        exact(path(), directory, *arguments)
    body.__name__ = name
    case(body)


for prefix in ("", "_rjem_", "je_", "odd_"):
    make_exact("jemalloc_as_" + (prefix or "malloc"),
               lambda prefix=prefix: jemalloc(prefix))
make_exact("jemalloc_in_threads", jemalloc, "threads")
make_exact("tcmalloc", tcmalloc)
make_exact("tcmalloc_in_threads", tcmalloc, "threads")
make_exact("mimalloc_names", mimalloc)
make_exact("mimalloc_names_in_threads", mimalloc, "threads")
make_exact("snmalloc_names", snmalloc)
make_exact("functions_compiled_for_size", lambda: mimalloc("-Os",
                                                           name="mi_os"))
make_exact("functions_compiled_fast", lambda: mimalloc(
    "-O3", "-foptimize-sibling-calls", name="mi_o3"))
make_exact("functions_for_indirect_branch_tracking", lambda: mimalloc(
    "-fcf-protection=full", name="mi_cet"))
make_exact("own_malloc", lambda: mini("own"))
make_exact("own_malloc_at_a_fixed_address", lambda: mini("fixed", "-no-pie",
                                                         "-fno-pie"))
make_exact("own_malloc_hidden", lambda: mini(
    "hidden", "-fvisibility=hidden"))
make_exact("own_malloc_of_clang", lambda: mini("clang", cc="clang"))


def thrown(name, library):
    return linked("thrown_" + name, os.path.join(LIBRARIES, library), "-lm",
                  cc=os.environ.get("CXX", "g++"), main="thrown.cc")


make_exact("exceptions_out_of_jemalloc",
           lambda: thrown("je", "libjemalloc.a"))
make_exact("exceptions_out_of_tcmalloc",
           lambda: thrown("tc", "libtcmalloc_minimal.a"))


@case
def operators_without_names(directory):
    """Stripped: only what is exported has names, and operators that call no
    such function are the allocator's."""
    path = thrown("tc", "libtcmalloc_minimal.a")
    bald = os.path.join(directory, "bald")
    run_tool("strip", "-o", bald, path)
    alone = bare([bald])
    done = recorded([bald], directory)
    equal(done.out, alone.out, "output")
    check("not recorded" not in done.err, done.err)
    summary = Report(done.trace).summary
    # the program itself: as many, and what the libraries do
    check(summary["allocations"] >= done.expected["allocations"] +
          done.expected["caught"], summary)
    equal(summary["unpaired"], 0, "unpaired")


@case
def names_in_another_file(directory):
    path = mimalloc("-Wl,--build-id", name="mi_id")
    bald = os.path.join(directory, "bald")
    os.mkdir(os.path.join(directory, ".debug"))
    names = os.path.join(directory, ".debug", "bald.debug")
    run_tool("objcopy", "--only-keep-debug", path, names)
    run_tool("strip", "-o", bald, path)
    run_tool("objcopy", "--add-gnu-debuglink=" + names, bald)
    done = recorded([bald], directory)
    check("not recorded" not in done.err, done.err)
    equal(Report(done.trace).summary["allocations"],
          done.expected["allocations"], "allocations")


@case
def allocator_in_a_library(directory):
    je = renamed("libjemalloc.a", "_rjem_")

    def make(path):
        run_tool(CC, *FLAGS, "-fPIC", "-shared", "-fvisibility=hidden",
                 "-Wl,--exclude-libs,ALL", "-o", path,
                 "-Wl,--version-script=" + exports, source("lib_within.c"),
                 je, "-lstdc++", "-lm", "-pthread")
    exports = os.path.join(directory, "exports")
    with open(exports, "w") as script:
        script.write("{ global: within_*; local: *; };\n")
    built("libwithin.so", make, source("lib_within.c"))
    path = linked("within", main="within.c",
                  flags=["-L" + BUILT, "-lwithin", "-Wl,-rpath,$ORIGIN"])
    exact(path, directory)


@case
def rust_with_jemalloc(directory):
    rustc = "/usr/bin/rustc"
    need(rustc)
    je = renamed("libjemalloc.a", "_rjem_")
    path = built("rust_je", lambda path: run_tool(
        rustc, "-g", "-C", "opt-level=1", "-o", path, "-C", "link-arg=" + je,
        "-C", "link-arg=-lstdc++", "-C", "link-arg=-lm", "-C",
        "link-arg=-lc",
        source("linked.rs")), source("linked.rs"))
    done = recorded([path], directory)
    equal(done.status, 0, "status")
    check("not recorded" not in done.err, done.err)
    sums = Report(done.trace).sums(".*tgt_boxes")
    for key, value in sums.items():
        equal(value, done.expected[key], key)


make_exact("musl", lambda: mini("musl", cc="musl-gcc"))
make_exact("musl_with_names", lambda: mini(
    "mi_musl", "-DPREFIX=mi_", "-DMIMALLOC", cc="musl-gcc"))


def one_file():
    return built("leaf", lambda path: run_tool(
        CC, "-O2", "-g", "-fno-builtin", FLAGS[-1], "-o", path,
        source("leaf.c")), source("leaf.c"))


make_exact("compiled_together_with_its_callers", one_file)


def bodies(out):
    """What each process of a target printed, in order."""
    found = re.findall(r"allocations (\d+)\nfrees (\d+)\ntotal_bytes (\d+)\n"
                       r"live_blocks (\d+)\nlive_bytes (\d+)\n", out)
    keys = ("allocations", "frees", "total_bytes", "live_blocks", "live_bytes")
    return [dict(zip(keys, map(int, numbers))) for numbers in found]


def several_lives(path, how, directory):
    alone = bare([path, how])
    done = recorded([path, how], directory)
    equal(done.out, alone.out, "output")
    equal(done.status, alone.status, "status")
    check("not recorded" not in done.err, done.err)
    equal(len(done.traces), 2, "traces")
    wanted = sorted(bodies(done.out), key=lambda body: body["allocations"])
    got = []
    for trace in done.traces:
        report = Report(trace)
        equal(report.summary["dropped"], 0, "dropped")
        got.append(report.sums())
    equal(sorted(got, key=lambda body: body["allocations"]), wanted, how)


@case
def forked_child(directory):
    several_lives(jemalloc(), "fork", directory)


@case
def forked_child_of_own_malloc(directory):
    several_lives(mini("own"), "fork", directory)


@case
def same_program_again(directory):
    """The plan goes along with exec."""
    several_lives(mimalloc(), "exec", directory)


@case
def run_by_another_program(directory):
    """What the arguments name is planned for, too."""
    path = jemalloc("_rjem_")
    done = recorded(["/usr/bin/env", "-u", "NOTHING", "timeout", "50", path],
                    directory)
    equal(done.out, bare([path]).out, "output")
    check("not recorded" not in done.err, done.err)
    lives = [Report(trace).sums() for trace in done.traces]
    check({key: done.expected[key] for key in lives[0]} in lives, lives)


@case
def mappings_within_the_allocator(directory):
    """What the allocator maps is marked as its own (gt_within 4)."""
    done = recorded([jemalloc("_rjem_")], directory)
    extras = run_tool(program("trace_dump"), done.trace, "extras").out
    within = [line.split()[-1] for line in extras.splitlines()
              if line.startswith("extra 1 ")]
    check("4" in within, "mappings within: %s" % within)


def told(done, allocator):
    equal(done.err.count(NOT_RECORDED % allocator), 1, "messages in " +
          done.err)


@case
def unpatched_allocator_is_reported_by_preload(directory):
    for number, (path, allocator) in enumerate((
            (jemalloc("_rjem_"), "jemalloc"), (mini("own"), "malloc"),
            (mimalloc(), "mimalloc"), (tcmalloc(), "tcmalloc"),
            (snmalloc(), "snmalloc"))):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        done = recorded([path], place, by="preload")
        equal(done.out, bare([path]).out, "output")
        told(done, allocator)
        equal(len(done.err.splitlines()), 1, "lines of " + done.err)


@case
def told_of_another_program(directory):
    """The plan is for the shell."""
    done = recorded(["/bin/sh", "-c", "exec " + jemalloc("_rjem_")],
                    directory)
    told(done, "jemalloc")


@case
def told_what_cannot_be_patched(directory):
    path = linked("odd_malloc", source("odd_malloc.S"), main="pairs.c")
    done = recorded([path], directory)
    equal(done.out, bare([path]).out, "output")
    told(done, "malloc")
    check("malloc has a branch back" in done.err, done.err)


@case
def told_where_no_code_may_be_made(directory):
    path, strict = mini("own"), linked("no_new_code", main="no_new_code.c")
    alone = bare([strict, path])
    if alone.status == 77:
        raise Skip("the kernel cannot forbid it")
    done = recorded([strict, path], directory)
    equal((done.status, done.out), (0, alone.out), "status and output")
    told(done, "malloc")


@case
def told_when_nothing_is_seen(directory):
    """Within 5 s, not only at an end that the library sees."""
    path = linked("silent", source("mini.c"), main="silent.c")
    done = recorded([path], directory, by="preload")
    told(done, "malloc")


@case
def nothing_told_where_all_is_seen(directory):
    done = recorded([program("basic")], directory, by="preload")
    equal(done.err, "", "messages")


def plan_of(path, directory):
    """The plan for a program that another one's arguments name."""
    done = recorded(["/usr/bin/python3", "-c",
                     "print(open('/proc/self/environ').read())", path],
                    directory)
    return re.search("GNOMON_PLAN=([^\0]*)", done.out).group(1)


def digits(plan):
    return base64.urlsafe_b64decode(plan + "=" * (-len(plan) % 4))


@case
def wrong_plans_change_nothing(directory):
    """Damaged ones, and that of another program: the program runs as ever."""
    path = mini("own")
    alone = bare([path])
    true = plan_of(path, directory)
    check(len(true) > 100, "no plan: " + true)
    plans = ["", "A", "!", "AQ", "AQE", "AQEAAAD_____DwAA", "_" * 4096,
             true[:-40], plan_of(mini("hidden"), directory)]
    generator = random.Random(1)
    for _ in range(100):
        bytes_ = bytearray(digits(true))
        for _ in range(generator.choice((1, 1, 3))):
            bytes_[generator.randrange(len(bytes_))] = generator.randrange(256)
        plans.append(base64.urlsafe_b64encode(bytes_).decode().rstrip("="))
    for plan in plans:
        done = bare([path], environment(
            LD_PRELOAD=LIBRARY, GNOMON_PLAN=plan,
            GNOMON_OUTPUT=os.path.join(directory, "lies.%p.trace")))
        equal((done.status, done.out), (0, alone.out), "with " + plan)


main()
