#!/usr/bin/python3
# TIMEOUT: 300
"""The matrix (matrix.py) in other languages, and with other tools that inspect
a program while its stack contains barriers.

Programs of other compilers are built here, when first needed, beside those
that the Makefile builds."""

import select

from gnomon_test import *
from matrix import *

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "matrix")
GO = "/usr/bin/go"
RUSTC = "/usr/bin/rustc"
PYTHON = "/usr/bin/python3"
NODE = "/usr/bin/node"

# What `gnomon info` says of a thread whose process cannot have barriers.
RUNTIME = "a runtime here walks or moves its stacks"
UNWINDER = "libunwind unwinds the exceptions here"
HIJACKED = "something else replaces return addresses"

# Where no barrier stands in any mode, and for long runs: not all of them.
FEW = ("near3", "oracle", "off")


def source(name):
    return os.path.join(SOURCES, name)


def built(name, from_source, argv, **env):
    """The path of a program, built by this command unless it is newer than
    its source. "@" in argv is where to."""
    need(argv[0])
    path = matrix_program(name)
    if (os.path.exists(path) and
            os.path.getmtime(path) > os.path.getmtime(from_source)):
        return path
    os.makedirs(MATRIX_PROGRAMS, exist_ok=True)
    fresh = "%s.%d" % (path, os.getpid())
    argv = [fresh if word == "@" else word for word in argv] + [from_source]
    done = bare(argv, environment(**env))
    check(done.status == 0, "building %s: %s" % (name, done.err))
    os.rename(fresh, path)
    return path


def rust(name="lang_rust", *options):
    return built(name, source("lang_rust.rs"), [
        RUSTC, "-g", "-C", "opt-level=1", *options, "-o", "@"])


def go(name, cgo):
    return built(name, source(name + ".go"), [GO, "build", "-o", "@"],
                 GOCACHE=os.path.join(MATRIX_PROGRAMS, "go-cache"),
                 GO111MODULE="off", GOFLAGS="", GOENV="off", GOPATH="/nowhere",
                 CGO_ENABLED=int(cgo))


def said_why(why):
    """For compare's `each`: no thread has a barrier; at least one, and each
    that came so far as to want one, says why."""
    def look(done, mode):
        if mode not in NEAR or os.environ.get("MATRIX_BARRIERS") == ANY:
            return
        said = {thread["why"] for trace in done.traces
                for thread in info(trace)["threads"]}
        check(why in said, "%s: why: %s" % (mode, said))
    return look


def need_module(name):
    if bare([PYTHON, "-c", "import " + name]).status:
        raise Skip("the module %s is not installed" % name)


def script(name, interpreter, module=None, **wishes):
    """Registers a script of tests/matrix as a target."""
    def body(directory):
        need(interpreter)
        if module:
            need_module(module)
        compare([interpreter, source(name)], directory, **wishes)
    body.__name__ = os.path.splitext(name)[0].replace("lang_", "")
    if "env" in wishes:
        body.__name__ += "_" + "_".join(wishes["env"].values())
    case(body)


def without_stubs(text):
    """A runtime's own backtrace: addresses and numbers of frames left out, and
    the stubs."""
    text = re.sub(r"^ *\d+: +(0x[0-9a-f]+ - )?(0x0 - )?", "  frame ", text,
                  flags=re.M)
    return re.sub(r"^  frame .*(<unknown>|arch_stubs)\n( +at .*\n)?", "", text,
                  flags=re.M)


def make_rust(what, panic="unwind", **wishes):
    def body(directory):
        program = rust() if panic == "unwind" else rust(
            "lang_rust_abort", "-C", "panic=abort")
        compare([program, what], directory, same=without_stubs, **wishes)
    body.__name__ = "rust_%s_panic_%s" % (what, panic)
    case(body)


QUIET = {"RUST_BACKTRACE": "0"}
make_rust("unwind", stacks=True)
make_rust("threads")
make_rust("trace", env={"RUST_BACKTRACE": "1"})
make_rust("drop", env=QUIET, modes=("near3", "auto"))
make_rust("plain", env=QUIET)
make_rust("plain", panic="abort", env=QUIET)

script("lang_greenlet.py", PYTHON, "greenlet", barriers=ANY,
       each=said_why(RUNTIME))
script("lang_greenlet.py", PYTHON, "greenlet", barriers=ANY,
       each=said_why(RUNTIME), env={"PYTHONMALLOC": "malloc"}, modes=FEW)
script("lang_gevent.py", PYTHON, "gevent", barriers=ANY,
       each=said_why(RUNTIME))
script("lang_gevent.py", PYTHON, "gevent", barriers=ANY,
       each=said_why(RUNTIME), env={"PYTHONMALLOC": "malloc"}, modes=FEW)
script("lang_node.js", NODE, barriers=NONE, modes=FEW,
       each=said_why(RUNTIME))

for part in ("continuations", "fibers", "enumerators", "exceptions", "threads",
             "overflow"):
    target("ruby_" + part, ["ruby", source("lang_ruby.rb"), part],
           needs=("ruby",))


@case
def slices_copied_back(directory):
    """A slice of a stack that is copied away and back brings its stub back,
    while the frames outward of it may be others: no stub may vouch there.
    Barriers at the distances at which this was once seen."""
    need("ruby")
    for turn, (argv, near) in enumerate((
            (["ruby", source("lang_ruby.rb"), "continuations"], 7),
            (["ruby", source("lang_ruby.rb"), "continuations"], 20),
            ([PYTHON, source("lang_greenlet.py")], 9))):
        if argv[0] == PYTHON:
            need_module("greenlet")
        where = os.path.join(directory, str(turn))
        os.mkdir(where)
        done = recorded(argv, where, by="preload", env=environment(
            GNOMON_DEBUG_ORACLE=1, GNOMON_DEBUG_BARRIER=near))
        equal(done.status, 0, "status: " + done.err)
        counters = info(done.trace)["counters"]
        equal(number(counters, "oracle_differences"), 0,
              "differences, %s" % argv)


@case
def go_with_c(directory):
    compare([go("lang_cgo", True)], directory, barriers=NONE, modes=FEW,
            each=said_why(RUNTIME))


@case
def go_with_c_panics(directory):
    compare([go("lang_cgo", True), "panic"], directory, barriers=NONE,
            modes=("near1", "auto"),
            each=said_why(RUNTIME))


@case
def go_alone(directory):
    """Nothing can be recorded of it, so there is no trace."""
    argv = [go("lang_go", False)]
    plain = bare(argv)
    for mode, env in MODES.items():
        done = bare(argv, environment(LD_PRELOAD=LIBRARY, **env))
        compare_runs(done, plain, str, mode)


target("unwinder_nongnu", [matrix_program("lang_unwind_nongnu")],
       barriers=NONE, each=said_why(UNWINDER))
target("unwinder_static", [matrix_program("lang_unwind_static")],
       barriers=NONE, each=said_why(UNWINDER))
target("unwinder_llvm", [matrix_program("lang_unwind_llvm")], stacks=True)


# AddressSanitizer wants to be first; it is asked not to insist, and gnomon's
# functions then stand in front of it.
target("asan_behind", [matrix_program("lang_asan")],
       env={"ASAN_OPTIONS": "verify_asan_link_order=0"}, barriers=ANY)


@case
def asan_in_front(directory):
    """Its own allocator answers, and nothing reaches gnomon's hooks."""
    need("gcc")
    library = bare(["gcc", "-print-file-name=libasan.so"]).out.strip()
    argv = [matrix_program("lang_asan")]
    plain = bare(argv)
    for mode, env in MODES.items():
        done = bare(argv, environment(
            LD_PRELOAD=library + " " + LIBRARY, **env,
            GNOMON_OUTPUT=os.path.join(directory, mode + ".%p.trace")))
        compare_runs(done, plain, str, mode)


@case
def asan_report(directory):
    """Its report of an error ends the program, with the same stack."""
    def stack(done):
        first = done.err.partition("\n\n")[0]
        names = re.findall(r"^ +#\d+ 0x[0-9a-f]+ in (\S+)", first, re.M)
        return done.status, [name for name in names if name != "arch_stubs"]

    argv = [matrix_program("lang_asan_report")]
    plain = stack(bare(argv))
    equal(plain[1][:33], ["down"] * 31 + ["main", "__libc_start_call_main"],
          "bare")
    for mode in ("near3", "near1", "auto"):
        env = deep_environment(directory, mode)
        done = bare(argv, environment(
            ASAN_OPTIONS="verify_asan_link_order=0", **env))
        equal(stack(done), plain, mode)


DEEP = matrix_program("lang_deep")
# The frames of lang_deep from its bottom to main.
DEEP_NAMES = ["bottom"] + ["even", "odd"] * 30 + ["even", "main"]


def deep_environment(directory, mode):
    return dict(MODES[mode], LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
        directory, mode + ".%p.trace"))


def in_backtrace(text):
    """The functions of gdb's backtraces, outermost frames of the C library
    and frames without a name left out."""
    names = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(", text, re.M)
    return [name for name in names if name in ("bottom", "even", "odd", "main")]


def check_backtrace(text, what):
    equal(in_backtrace(text), DEEP_NAMES, what + ": the stack\n" + text)


@case
def gdb_break(directory):
    """A debugger stops in a function far below barriers: it sees all frames,
    runs until some of the innermost are done, and the program ends well."""
    need("gdb")
    plain = None
    for mode in (None, "near3", "near1", "auto"):
        env = deep_environment(directory, mode) if mode else {}
        done = bare(["gdb", "-batch", "-nx",
                     "-ex", "set startup-with-shell off",
                     "-ex", "set debuginfod enabled off",
                     *("-ex=set environment %s %s" % each
                       for each in env.items()),
                     "-ex", "break bottom if what[0] == 's'",
                     "-ex", "run", "-ex", "bt", "-ex", "echo ----\\n",
                     *["-ex", "finish"] * 6, "-ex", "echo ----\\n",
                     "-ex", "bt", "-ex", "echo ----\\n", "-ex", "continue",
                     "--args", DEEP, "stop"])
        what = mode or "bare"
        equal(done.out.count("----\n"), 3, what + ": parts of " + done.out)
        first, _, second, rest = done.out.split("----\n")
        check_backtrace(first, what)
        names = in_backtrace(second)
        check(50 < len(names) < len(DEEP_NAMES) and
              names == DEEP_NAMES[-len(names):], "%s: after it %s\n%s" % (
                  what, names, second))
        said = re.findall(r"^[a-z_]+ \d+$| exited .*", rest, re.M)
        plain = plain or said
        equal(said, plain, what + ": what is said after it")


@case
def gdb_attach(directory):
    """The same from outside, to a program that runs; it then ends well."""
    need("gdb")
    for mode in (None, "near3", "auto"):
        env = deep_environment(directory, mode) if mode else {}
        process = subprocess.Popen([DEEP, "wait"], env=environment(**env),
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        try:
            check(select.select([process.stdout], [], [],
                                RUN_SECONDS)[0], "started")
            equal(process.stdout.readline(), b"ready\n", "its first line")
            done = bare(["gdb", "-batch", "-nx", "-p", str(process.pid),
                         "-ex", "bt"])
            out, _ = process.communicate(timeout=RUN_SECONDS)
        finally:
            process.kill()
            process.wait()
        check_backtrace(done.out, mode or "bare")
        equal(process.returncode, 0, "status")
        check(b"live_blocks 0\n" in out, "output: %r" % out)


@case
def under_strace(directory):
    need("strace")
    log = os.path.join(directory, "strace.log")
    compare(["strace", "-f", "-o", log, DEEP, "stop"], directory,
            barriers=ANY, each=lambda done, mode: check(
                "exit_group" in open(log, errors="replace").read(), mode))


@case
def under_perf_stat(directory):
    need("perf")
    argv = ["perf", "stat", "-x,", "-e", "task-clock", "-o",
            os.path.join(directory, "stat"), DEEP, "stop"]
    if bare(argv).status:
        raise Skip("perf cannot count here")
    compare(argv, directory, barriers=ANY, modes=("near3", "auto"))


PERF_RECORD = ["perf", "record", "-q", "-e", "cpu-clock:u", "-o"]


def perf_samples(directory, how, env):
    """The stacks of a program that spins far below barriers, as perf sees
    them: lists of names, innermost first."""
    data = os.path.join(directory, "perf.data")
    argv = [*PERF_RECORD, data, "-F", "200", "--call-graph", how, "--"]
    words = ["env", *("%s=%s" % each for each in env.items())]
    done = bare(argv + words + [DEEP, "spin"])
    equal(done.status, 0, "status: " + done.err)
    check("live_blocks 0\n" in done.out, "output: " + done.out)
    text = bare(["perf", "script", "-i", data, "--comm", "lang_deep",
                 "-F", "ip,sym"]).out
    return [re.findall(r"^\s+[0-9a-f]+ (\S+)", sample, re.M)
            for sample in text.split("\n\n")]


@case
def under_perf_record(directory):
    """perf copies the stack and walks it later, from files: a stub is code
    of a file, but where it leads is only in memory. What it must see: the
    program undisturbed, and each frame inward of the first stub; all of
    them where there are no barriers."""
    need("perf")
    done = bare([*PERF_RECORD, os.path.join(directory, "perf.data"), "true"])
    if done.status:
        raise Skip("perf cannot record here: " + done.err.strip()[-200:])
    for mode in (None, "near3", "auto", "validate"):
        env = deep_environment(directory, mode) if mode else {}
        samples = [names for names in perf_samples(
            directory, "dwarf,16384", env) if names[:1] == ["bottom"]]
        check(len(samples) > 20, "%d samples" % len(samples))
        for names in samples:
            check(names[:3] == ["bottom", "even", "odd"],
                  "%s: %s" % (mode, names))
        whole = sum(names[:len(DEEP_NAMES)] == DEEP_NAMES for names in samples)
        check(mode in NEAR + ("auto",) or whole > 0.9 * len(samples),
              "%s: %d of %d are whole" % (mode, whole, len(samples)))


@case
def under_valgrind(directory):
    """Recorded, without a word of either, and the program unchanged."""
    need("valgrind")
    argv = ["valgrind", "-q", "--error-exitcode=9", matrix_program("throws")]
    plain = bare(argv)
    equal(plain.status, 0, "without gnomon")
    for mode in ("near1",):
        done = bare(argv, environment(**deep_environment(directory, mode)))
        equal((done.status, done.out, done.err),
              (plain.status, plain.out, plain.err), mode)
    settle(directory)
    check(traces_in(directory), "no trace")


@case
def beside_a_tracer(directory):
    """Another one that replaces return addresses: no barrier beside it."""
    need("uftrace")
    data = os.path.join(directory, "uftrace.data")
    argv = ["uftrace", "record", "-d", data,
            matrix_program("lang_traced"), "stop"]
    compare(argv, directory, barriers=ANY, cwd=directory,
            each=said_why(HIJACKED))


main()
