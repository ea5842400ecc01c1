#!/usr/bin/python3
"""gnomon beside other profilers (bench/bench_peers.py): what is measured in its
quick mode, what is left out and why, and what the documents have of it."""

import contextlib
import io
import shutil
import subprocess
import xml.etree.ElementTree

from gnomon_test import *

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import bench_peer_tools
import bench_peers
import bench_run

# In place of the program of pairs, which says how long one took; and of the
# captures, of which framehop and unw_step cannot be had.
PAIRS = """#!/bin/sh
echo some words
echo '{"pairs": 1, "ns": 50}'
"""
CAPTURES = """#!/bin/sh
case $1 in
gnomon*) ns=20 ;;
unw_backtrace) ns=200 ;;
framehop | unw_step) exit 77 ;;
*) ns=4000 ;;
esac
echo "{\\"changed\\": $3, \\"ns\\": $ns, \\"calls_ns\\": 1, \\"first_ns\\": 1,
	\\"frames\\": $2}"
"""
INSTALLED = ("gnomon", "gnomon-recorder", "libgnomon.so", "libgnomon-off.so")


def tree(directory):
    """A build folder with what is measured by, and stand-ins."""
    out = os.path.join(directory, "out")
    tools = os.path.join(out, "bench")
    os.makedirs(tools)
    for path in (*INSTALLED, os.path.join("bench", "bench-run")):
        os.symlink(os.path.join(BUILD, path), os.path.join(out, path))
    for name, text in (("bench-pairs", PAIRS), ("bench-capture", CAPTURES)):
        path = os.path.join(tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    return out


@contextlib.contextmanager
def replaced(owner, **values):
    before = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def measured(directory):
    """Rows of a quick run, and what is printed."""
    bench = bench_run.Bench(tree(directory), True)
    try:
        rows = bench_peers.measure(bench)
    finally:
        bench.close()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        bench_peers.show(rows)
    return rows, out.getvalue()


def tools_of(rows, program):
    return [row["tool"] for row in rows if row["kind"] == "recording"
            and row["program"] == program]


def skips_of(rows):
    return {row["peer"]: row["why"] for row in rows
            if row["kind"] == "skipped"}


@case
def without_peers(directory):
    """gnomon alone is measured; what is missing is said, with its package."""
    os.environ.pop(bench_peer_tools.BYTEHOUND, None)
    nothing = os.path.join(directory, "nothing.so")
    with replaced(bench_run, HEAPTRACK=nothing), \
            replaced(bench_peer_tools, JEMALLOC=nothing, TCMALLOC=nothing):
        rows, text = measured(directory)
    for program in ("pairs", "python3"):
        equal(tools_of(rows, program), ["bare", "gnomon", "gnomon --sample"],
              program)
    skips = skips_of(rows)
    for peer, package in (
            ("heaptrack", "install heaptrack"),
            ("bytehound", "in no package registry"),
            ("memray --native", "install python3-venv"),
            ("jemalloc prof, every", "install libjemalloc2"),
            ("jemalloc prof, sampled", "install libjemalloc2"),
            ("tcmalloc HEAPPROFILE", "install libgoogle-perftools4"),
            ("framehop", "install cargo"),
            ("libunwind's unw_step", "install libunwind-dev")):
        check(package in skips.pop(peer, ""), "%s: %s" % (peer, text))
        check("%s: " % peer in text, "not said: " + peer)
    equal(skips, {}, "left out")
    recorded = next(row for row in rows if row.get("tool") == "gnomon"
                    and row["program"] == "python3")
    check(recorded["allocations"] > 1000 and recorded["bytes"] > 1000 and
          recorded["rss_kb"] > 1000, "what gnomon recorded: %r" % recorded)
    figures = {figure["name"]: figure for figure in bench_peers.figures(rows)}
    equal(list(figures), [
        f"peers: capture, depth {depth}, {changed} changed: share of the "
        "fastest peer's" for depth in (10, 30) for changed in (0, 3)],
        "nothing else to compare with")
    equal([figure["value"] for figure in figures.values()], [0.1] * 4,
          "shares")


@case
def with_peers(directory):
    """Each is measured over its own base; one that fails is left out."""
    library = os.path.join(BUILD, "libgnomon-off.so")
    failing = bench_peer_tools.Tool(
        "failing", bench_peer_tools.never_missing,
        start=lambda *_: (["sh", "-c", "echo no luck >&2; exit 3"], {}))
    why = bench_peer_tools.missing_jemalloc(None)
    if why:
        raise Skip(why)
    with replaced(bench_peer_tools,
                  TOOLS=(*bench_peer_tools.TOOLS, failing)), \
            replaced(os, environ={**os.environ, "BYTEHOUND": library}):
        rows, text = measured(directory)
    by_tool = {row["tool"]: row for row in rows
               if row["kind"] == "recording" and row["program"] == "python3"}
    for tool, base in (("bytehound", "bare"),
                       ("jemalloc prof, every", "bare, jemalloc"),
                       ("jemalloc prof, sampled", "bare, jemalloc")):
        row = by_tool[tool]
        equal((row["base"], row["wall_ratio"]),
              (base, row["wall_ns"] / by_tool[base]["wall_ns"]), tool)
        check(tool == "bytehound" or row["bytes"] > 100,
              "%s wrote nothing: %r" % (tool, row))
    check("failing" not in by_tool, "it is measured")
    for program in ("pairs", "python3"):
        check(f"failing: {program}: status 3: no luck\n" in text, text)


@case
def slow_peers_run_once(directory):
    bench = bench_run.Bench(tree(directory), False)
    slow = bench_peer_tools.Tool("slow", None,
                                 start=lambda *_: (["sleep", "1"], {}))
    program = bench_peers.programs(bench)[0]
    tools = [bench_peer_tools.bases()[0], bench_peer_tools.TOOLS[0], slow]
    try:
        with replaced(bench_peers, SLOW_NS=999999999):
            rows = list(bench_peers.measure_program(bench, program, tools))
    finally:
        bench.close()
    runs = {row["tool"]: row["runs"] for row in rows}
    equal(runs["slow"], 1, "runs of the slow one")
    equal(runs["bare"], bench_peers.ROUNDS, "runs of the program")


@case
def missing_library(directory):
    os.environ[bench_peer_tools.BYTEHOUND] = os.path.join(directory, "no.so")
    try:
        equal(bench_peer_tools.missing_bytehound(None),
              "BYTEHOUND: no file " + os.path.join(directory, "no.so"), "why")
    finally:
        del os.environ[bench_peer_tools.BYTEHOUND]


def recorded(name, program, tool, wall, **more):
    """A row as bench_peers makes it, of a second's bare run."""
    base = {"wall_ns": 1e9, "all_cpu_ns": 1e9, "rss_kb": 2048, "inner_ns": 50,
            "bytes": 0}
    taken = {**base, "wall_ns": wall, "all_cpu_ns": wall, "rss_kb": 4096,
             "inner_ns": 90, "bytes": 3 << 20, **more}
    tool = bench_peer_tools.Tool(name, None, every=tool)

    class Program:
        pass

    Program.name = program
    return bench_peers.recording(Program, tool, [taken], [base], 1 << 20)


def document(quick):
    rows = [recorded(name, program, name != "gnomon --sample", wall)
            for program in ("pairs", "cc1plus", "python3")
            for name, wall in (("bare", 1e9), ("gnomon", 1.25e9),
                               ("heaptrack", 3e9), ("gnomon --sample", 1e9),
                               ("tcmalloc HEAPPROFILE", 4e10))]
    rows += [{"kind": "capture", "depth": depth, "changed": changed,
              "draw": "new", "wrapped": False, "all": False,
              "frames": {"gnomon": depth},
              "ns": {"gnomon": depth / 2 + 20 * changed, "gnomon-off": 99,
                     "unw_backtrace": 7 * depth, "unw_step": 16090.4,
                     "_Unwind_Backtrace": 4000}}
             for depth in (10, 30, 100) for changed in (0, 3)]
    rows.append(bench_peers.skipped("bytehound", "in no registry"))
    return {"machine": {"cpu": "A < B", "cores": 4, "kernel": "6.1.2-x"},
            "quick": quick, "peers": rows}


def with_documents(directory, quick=False):
    """bench.py, writing copies of this tree's documents."""
    root, out = (os.path.join(directory, name) for name in ("root", "out"))
    if not os.path.exists(root):
        os.makedirs(os.path.join(root, "docs", "images"))
        os.mkdir(out)
        for path in ("README.md", "docs/BENCHMARKS.md"):
            shutil.copy(os.path.join(ROOT, path), os.path.join(root, path))
    with open(os.path.join(out, "bench-peers.json"), "w",
              encoding="utf-8") as file:
        json.dump(document(quick), file)
    return root, subprocess.run(
        [sys.executable, "-B", os.path.join(ROOT, "bench", "bench.py"),
         "--out", out, "--write-docs", root], capture_output=True, text=True,
        check=False, timeout=RUN_SECONDS)


def content(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


@case
def documents_from_a_run(directory):
    root, done = with_documents(directory)
    equal((done.returncode, done.stderr), (0, ""), "status, stderr")
    readme = content(root, "README.md")
    for line in (
            "| a known stack of 30 frames captured | 15 ns | libunwind "
            "210 ns, libgcc 4000 ns |",
            "| a stack of 30 frames captured, 3 of them changed | 75 ns | libunwind 210 ns, "
            "libgcc 4000 ns |",
            "| added to `malloc` and `free` together | 40 ns | heaptrack 40 ns, "
            "tcmalloc 40 ns |",
            "| slowdown of python3 with `PYTHONMALLOC=malloc` | 1.25× | heaptrack 3.00×, "
            "tcmalloc 40× |",
            "| slowdown of g++ | 1.25× | heaptrack 3.00×, tcmalloc 40× |",
            "| bytes written for an allocation of g++ | 3.0 B | heaptrack 3.0 B |",
            "| | gnomon | others |",
            "From `make bench-peers`, on A < B, 4 cores, Linux 6.1. The other profilers are"):
        check(line + "\n" in readme, "%s: not in %s" % (line, readme))
    page = content(root, "docs/BENCHMARKS.md")
    for line in (
            "| g++ (cc1plus) | gnomon | every allocation | 1.25× | 1.25× | "
            "2.0 | 3.0 | 238 |",
            "| python3 (`PYTHONMALLOC=malloc`) | gnomon --sample | samples | "
            "1.00× | 1.00× | 2.0 | 3.0 | 0.0 |",
            "| gnomon | heaptrack | tcmalloc HEAPPROFILE |",
            "| 40 | 40 | 40 |",
            "| 30 | 3 | 75 | 99 | 210 | 16 090 | 4000 |",
            "* bytehound: in no registry"):
        check(line + "\n" in page, "%s: not in %s" % (line, page))
    for name in ("recording", "capture"):
        chart = "images/bench-%s.svg" % name
        check("](%s)" % chart in page, chart + " is not shown")
        text = content(root, "docs/" + chart)
        xml.etree.ElementTree.fromstring(text)
        check("prefers-color-scheme: dark" in text, "one look only")
    # Once more: the same.
    _, done = with_documents(directory)
    equal((done.returncode, content(root, "README.md"),
           content(root, "docs/BENCHMARKS.md")), (0, readme, page), "again")


@case
def a_quick_run_is_not_for_documents(directory):
    root, done = with_documents(directory, quick=True)
    equal(done.returncode, 1, "status")
    check("quick run" in done.stderr, done.stderr)
    equal(content(root, "README.md"), content(ROOT, "README.md"), "README.md")


@case
def marks_have_to_be_there(directory):
    root, _ = with_documents(directory)
    path = os.path.join(root, "docs", "BENCHMARKS.md")
    text = content(root, "docs/BENCHMARKS.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("<!-- end of peers -->", ""))
    os.unlink(os.path.join(root, "docs", "images", "bench-capture.svg"))
    _, done = with_documents(directory)
    equal(done.returncode, 1, "status")
    check("0 places are marked with <!-- make bench-charts: peers -->" in
          done.stderr, done.stderr)
    check(not os.path.exists(os.path.join(root, "docs", "images",
                                          "bench-capture.svg")),
          "something was written")


main()
