"""bench_peer_tools.py: the heap profilers of part "peers": how each one records
a program, and what is missing where it cannot be measured.

Each has a base: the same program without a profiler, with the same allocator.
tcmalloc and jemalloc profile themselves, so these profilers are compared with
the bare program on the same allocator. What runs is what a user would run:
`gnomon run`, with its recorder; heaptrack's script, with zstd behind the program,
but without its interpreter, which finds symbols: that one has been seen to take
19 GB and to fail on a compiler, and can run later.
"""

import glob
import os
import shutil
import subprocess

import bench_run

JEMALLOC, TCMALLOC = "libjemalloc.so.2", "libtcmalloc.so.4"
BASES = (BARE, BARE_JEMALLOC, BARE_TCMALLOC) = (
    "bare", "bare, jemalloc", "bare, tcmalloc")
# Where bytehound's library is, which no registry has.
BYTEHOUND = "BYTEHOUND"


class Tool:
    """A profiler, or with no `start` a base.

    base     what it is compared with, a name of BASES
    every    whether it records every allocation, rather than samples
    missing  missing(bench): None, or why it cannot be measured and what to
             install
    start    start(bench, program, prefix): the command and environment that
             record a program of bench_inputs.py, and write files whose names
             begin with `prefix`
    alone    alone(bench, prefix): the environment that loads its library
             alone, if something else than the program runs, too: then the
             program's memory is measured in a run of its own
    python   whether it records Python programs alone
    """

    def __init__(self, name, missing, base=BARE, start=None, every=True,
                 alone=None, python=False):
        self.name = name
        self.missing = missing
        self.base = base
        self.start = start
        self.every = every
        self.alone = alone
        self.python = python

    def records(self, program):
        return not self.python or is_python(program)


def is_python(program):
    return program.name.startswith("python3")


def complaints(**env):
    """What is said on stderr of a program that does nothing, in this
    environment: by the loader of a library that it does not find, by jemalloc
    of a setting that it does not know."""
    return subprocess.run(["env", *(f"{name}={value}"
                                    for name, value in env.items()), "true"],
                          env=bench_run.environment(), capture_output=True,
                          text=True, check=False).stderr.strip()


def never_missing(_):
    return None


def missing_jemalloc(_):
    if complaints(LD_PRELOAD=JEMALLOC):
        return f"{JEMALLOC} is not here: install libjemalloc2"
    if complaints(LD_PRELOAD=JEMALLOC, MALLOC_CONF="prof:true"):
        return (f"{JEMALLOC} is built without profiling: install one "
                "configured with --enable-prof")
    return None


def missing_tcmalloc(_):
    return None if not complaints(LD_PRELOAD=TCMALLOC) else (
        f"{TCMALLOC} is not here: install libgoogle-perftools4")


def missing_heaptrack(_):
    if shutil.which("heaptrack") and os.path.exists(bench_run.HEAPTRACK):
        return None
    return "not here: install heaptrack"


def missing_bytehound(_):
    path = os.environ.get(BYTEHOUND)
    if not path:
        return ("in no package registry: build it, and name its library: "
                f"make bench-peers {BYTEHOUND}=/path/to/libbytehound.so")
    return None if os.path.exists(path) else f"{BYTEHOUND}: no file {path}"


def memray(bench):
    return os.path.join(bench.tool("memray"), "bin", "memray")


def missing_memray(bench):
    return None if os.path.exists(memray(bench)) else (
        "not installed, see build/bench/memray.log: install python3-venv, "
        "and run `make bench-peers` where PyPI can be reached")


def bare_of(library):
    """A base: the program with an allocator's library, or none."""
    def start(_, program, prefix):
        del prefix
        return program.command, ({"LD_PRELOAD": library} if library else {})
    return start


def gnomon(*options):
    def start(bench, program, prefix):
        return [bench.command, "run", "-q", *options, "-o", f"{prefix}.trace",
                "--", *program.command], {}
    return start


def gnomon_alone(**settings):
    def alone(bench, prefix):
        return {"LD_PRELOAD": bench.library,
                "GNOMON_OUTPUT": f"{prefix}.trace", **settings}
    return alone


def heaptrack(_, program, prefix):
    return ["heaptrack", "--raw", "-o", prefix, *program.command], {}


def heaptrack_alone(_, prefix):
    del prefix
    return bench_run.heaptrack_env()


def bytehound(_, program, prefix):
    return program.command, {
        "LD_PRELOAD": os.path.abspath(os.environ[BYTEHOUND]),
        "MEMORY_PROFILER_OUTPUT": f"{prefix}.dat"}


def tcmalloc(_, program, prefix):
    return program.command, {"LD_PRELOAD": TCMALLOC, "HEAPPROFILE": prefix}


def jemalloc(*settings):
    def start(_, program, prefix):
        return program.command, {
            "LD_PRELOAD": JEMALLOC, "MALLOC_CONF": ",".join((
                "prof:true", "prof_final:true", f"prof_prefix:{prefix}",
                *settings))}
    return start


def memray_native(bench, program, prefix):
    return [memray(bench), "run", "--native", "-q", "-f", "-o",
            f"{prefix}.bin", *program.command[1:]], {}


def bases():
    return [Tool(name, missing, name, bare_of(library))
            for name, missing, library in (
                (BARE, never_missing, None),
                (BARE_JEMALLOC, missing_jemalloc, JEMALLOC),
                (BARE_TCMALLOC, missing_tcmalloc, TCMALLOC))]


GNOMON, GNOMON_SAMPLED = "gnomon", "gnomon --sample"
# In the order of tables and charts.
TOOLS = (
    Tool(GNOMON, never_missing, start=gnomon(), alone=gnomon_alone()),
    Tool("heaptrack", missing_heaptrack, start=heaptrack,
         alone=heaptrack_alone),
    Tool("bytehound", missing_bytehound, start=bytehound),
    Tool("memray --native", missing_memray, start=memray_native, python=True),
    Tool("jemalloc prof, every", missing_jemalloc, BARE_JEMALLOC,
         jemalloc("lg_prof_sample:0")),
    Tool("tcmalloc HEAPPROFILE", missing_tcmalloc, BARE_TCMALLOC, tcmalloc),
    Tool(GNOMON_SAMPLED, never_missing, start=gnomon("--sample"), every=False,
         alone=gnomon_alone(GNOMON_SAMPLE="512k")),
    Tool("jemalloc prof, sampled", missing_jemalloc, BARE_JEMALLOC,
         jemalloc(), every=False),
)


def written(prefix):
    """The bytes in the files whose names begin so, which are removed."""
    paths = glob.glob(glob.escape(prefix) + "*")
    size = sum(map(os.path.getsize, paths))
    for path in paths:
        os.unlink(path)
    return size
