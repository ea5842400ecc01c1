#!/usr/bin/python3
"""gnomon/gnomon.h: a program announces its own memory, controls its recording
and reads its measures."""

import errno

from gnomon_test import *


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OFF = os.path.join(BUILD, "libgnomon-off.so")


@case
def heaps_and_pools(directory):
    done = recorded([program("mempool_requests")], directory)
    equal(done.status, 0, "status")
    check("confused" not in done.out, done.out)
    adds_up(Report(done.trace))
    heaps = json.loads(gnomon("report", done.trace, "--json").out)["heaps"]
    equal({heap["name"] for heap in heaps},
          {"arena", "mempool", "malloclike"}, "heaps")
    for heap in heaps:
        for key in ("allocations", "frees", "total_bytes", "live_bytes"):
            equal(heap[key], done.expected[heap["name"] + "_" + key],
                  "%s of %s" % (key, heap["name"]))


@case
def heaps_have_names_also_in_a_child(directory):
    """More than there is room for from the start."""
    done = recorded([program("heaps_many")], directory)
    equal((done.status, len(done.traces)), (0, 2), "status, traces")
    sizes = []
    for trace in done.traces:
        heaps = json.loads(gnomon("report", trace, "--json").out)["heaps"]
        equal({heap["name"] for heap in heaps},
              {"heap %d" % i for i in range(300)}, "names")
        size, = {heap["live_bytes"] for heap in heaps}
        sizes.append(size)
    equal(sorted(sizes), [16, 32], "bytes of each heap, in both")


@case
def a_pool_left_by_a_jump(directory):
    """Who was amid it never comes back, and nobody waits for that."""
    done = recorded([program("pool_longjmp")], directory)
    equal((done.status, done.out), (0, "%d, then %d\n" % (
        -errno.EBUSY, -errno.EBUSY)), "status, calls")


def steered(done):
    equal((done.status, "wrong" in done.out), (0, False), done.out)
    mine = [trace for trace in done.traces
            if info(trace)["info"].get("parent_trace") is None]
    equal(len(mine), 1, "traces of the program itself")
    report = Report(mine[0])
    agree(done.expected, report)
    equal(report.rows_with("(make_unseen|free_unseen)$"), [],
          "what was not to be recorded")


@case
def program_controls_its_recording(directory):
    steered(recorded([program("api_recording")], directory))


@case
def with_the_stub_in_it(directory):
    """The stub's functions stand before the real ones, and give way."""
    for name in ("api_recording_static", "api_recording_fixed"):
        where = os.path.join(directory, name)
        os.mkdir(where)
        steered(recorded([program(name)], where))
    equal(recorded([program("api_recording_alone")], directory, by="preload").status,
          0, "without any shared library")


@case
def configured_by_another_library(directory):
    """Preloaded in either order, or loaded later: the API is there."""
    for name in ("libconfigures", "libconfigures_stub"):
        middle = program(name) + ".so"
        for number, preload in enumerate(((LIBRARY, middle),
                                          (middle, LIBRARY))):
            where = os.path.join(directory, "%s.%d" % (name, number))
            os.mkdir(where)
            done = bare([program("basic")], environment(
                LD_PRELOAD=" ".join(preload),
                GNOMON_OUTPUT=os.path.join(where, "%p.trace")))
            done.directory = where
            settle(where)
            equal((done.status, done.err), (0, ""), "result")
            check("middle" in json.dumps(info(done.trace)), "no marker")
            equal(Report(done.trace).rows_with("tgt_"), [], "rows")
        for how in ("plain", "deep"):
            where = os.path.join(directory, name + how)
            os.mkdir(where)
            done = recorded([program("plugin_host"), middle, how], where)
            equal((done.status, done.out), (0, ""), name + " " + how)




@case
def numbers(directory):
    """Sums, histograms and dumps are what the program counts itself, and what
    the trace says."""
    done = recorded([program("numbers")], directory)
    equal((done.status, done.out), (0, ""), "asks for numbers")
    where = os.path.join(directory, "report")
    os.mkdir(where)
    done = recorded([program("numbers"), "report"], where)
    equal((done.status, "wrong" in done.out), (0, False), done.out)
    mine, = [trace for trace in done.traces
             if info(trace)["info"].get("parent_trace") is None]
    summary = Report(mine).summary
    for key, value in done.expected.items():
        equal(value, summary[key], key)


@case
def numbers_in_a_child_that_is_not_recorded(directory):
    """By a child that is not followed: an error, and nothing else."""
    done = recorded([program("numbers"), "alone"], directory,
                    options=("--follow", "none"))
    equal((done.status, done.out), (0, ""), "asks for numbers")


@case
def numbers_for_many_threads(directory):
    """Threads and handlers that ask at once: each gets its turn, soon."""
    done = recorded([program("api_queries")], directory)
    equal((done.status, done.out), (0, ""), "asks for numbers")


@case
def setting_for_new_threads_spares_the_caller(directory):
    """Is not new itself, also if nothing was recorded of it before."""
    for name, options in (("off", ["--off"]), ("on", [])):
        where = os.path.join(directory, name)
        os.mkdir(where)
        equal(recorded([program("inactive_threads")], where, options=options).status,
              0, name)


@case
def a_stuck_dump_ends(directory):
    equal(recorded([program("stuck_dump")], directory).status, 0, "status")


@case
def what_callbacks_of_dumps_see(directory):
    done = recorded([program("dumped")], directory)
    equal((done.status, done.out), (0, ""), "editor and writer")


@case
def threads_and_sizes(directory):
    """What threads that are not active allocate, and blocks of other sizes,
    is left out; the rest is exact."""
    done = recorded([program("activity")], directory)
    equal((done.status, "wrong" in done.out), (0, False), done.out)
    report = Report(done.trace)
    for key, value in report.sums().items():
        equal(value, done.expected[key], key)
    equal(report.rows_with("unseen$"), [], "what was not to be recorded")
    equal((report.summary["dropped"], report.summary["unpaired"]), (0, 0),
          "dropped, unpaired")


@case
def events_with_given_times(directory):
    done = recorded([program("timed")], directory)
    equal(done.status, 0, "status")
    row, = Report(done.trace).rows_with("tgt_malloc")
    # lifetimes are sums of ticks, of which each takes as long as the others
    for key, seconds, exact_to in (("first_ns", 1, 2), ("last_ns", 10, 2),
                                   ("lifetime_ns", 10, 2e8)):
        check(abs(row[key] - seconds * 1e9) <= exact_to,
              "%s: %d" % (key, row[key]))


@case
def dormant_library_waits_for_the_program(directory):
    """libgnomon-off.so records nothing until the program says so."""
    env = environment(LD_PRELOAD=OFF, API_OFF=1,
                      GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace"))
    done = bare([program("api_recording")], env)
    done.directory = directory
    settle(directory)
    steered(done)


def examples(directory):
    """Compiles those of docs/API.md; their paths by name."""
    need("gcc", "g++")
    with open(os.path.join(ROOT, "docs", "API.md")) as guide:
        blocks = re.findall(r"^```(c|cpp)\n(.*?)^```$", guide.read(),
                            re.M | re.S)
    made = {}
    for kind, text in blocks:
        name = re.search(r"^ \* ([a-z_.]+):", text, re.M).group(1)
        source = os.path.join(directory, name)
        with open(source, "w") as file:
            file.write(text)
        made[name] = source + (".so" if name.startswith("lib") else ".run")
        command = ["gcc", "-std=c99"] if kind == "c" else [
            "g++", "-std=c++11", "-pthread"]
        if name.startswith("lib"):
            command += ["-shared", "-fPIC"]
        done = bare([*command, "-g", "-O1", "-Wall", "-Wextra", "-pedantic",
                     "-Werror", "-I", os.path.join(ROOT, "library"), source,
                     "-o", made[name], "-L", BUILD, "-lgnomon-stub",
                     "-Wl,-rpath," + BUILD])
        equal((done.status, done.err), (0, ""), name)
    return made


@case
def headers_alone(directory):
    """In both languages, with all warnings; of memory that nobody has
    written to."""
    need("gcc", "g++")
    text = ("#include <gnomon/valgrind_pools.h>\n"
            "int main(void) { char p[9]; VALGRIND_CREATE_MEMPOOL(p, 0, 0);\n"
            "VALGRIND_MEMPOOL_ALLOC(p, p, 3);\n"
            "VALGRIND_MALLOCLIKE_BLOCK(p, 1, 0, 0);\n"
            "VALGRIND_FREELIKE_BLOCK(p, 0); gnomon_alloc(1, p, 9);\n"
            "return (int)VALGRIND_MEMPOOL_EXISTS(p); }\n")
    for kind, *command in (("c", "gcc", "-std=c99"),
                           ("cc", "g++", "-std=c++11")):
        source = os.path.join(directory, "alone." + kind)
        with open(source, "w") as file:
            file.write(text)
        done = bare([*command, "-O2", "-Wall", "-Wextra", "-pedantic",
                     "-Werror", "-I", os.path.join(ROOT, "library"), source,
                     "-o", source + ".run",
                     os.path.join(BUILD, "libgnomon-stub.a")])
        equal((done.status, done.err), (0, ""), kind)
        equal(bare([source + ".run"]).status, 0, kind + " alone")


@case
def examples_of_the_guide(directory):
    made = examples(directory)
    for name in ("fill_map.c", "fill_map.cc", "dump.c", "arena.c"):
        alone = bare([made[name]])
        equal((alone.status, alone.out, alone.err), (0, "", ""),
              name + " alone")
    ran = {}
    for name in ("fill_map.c", "fill_map.cc", "dump.c", "arena.c"):
        where = os.path.join(directory, "of." + name)
        os.mkdir(where)
        ran[name] = recorded([made[name]], where, by="preload")
        equal((ran[name].status, ran[name].err), (0, ""), name)
    equal(ran["fill_map.c"].out,
          "grown: 12 allocations, 524160 bytes, of them 262144 live\n"
          "reserved: 1 allocations, 262144 bytes, of them 262144 live\n",
          "fill_map.c")
    out = ran["fill_map.cc"].out
    grown, reserved = (int(count) for count in re.findall(
        r"^(?:grown|reserved): (\d+) allocations", out, re.M))
    check(grown > reserved > 4 * 10000, out)
    lines = [line for line in out.splitlines() if line.startswith("fill")]
    check(lines and not any("new_allocator;" in line for line in lines), out)
    equal(sum(int(line.split(" ")[-2]) for line in lines if ";" in line) >
          2 * 4 * 10000, True, out)
    check(re.search(r"^_mpTrace_;\S*;main \$100\$100000\$1000\$1000$",
                    ran["dump.c"].out, re.M), ran["dump.c"].out)
    heap, = json.loads(gnomon("report", ran["arena.c"].trace,
                              "--json").out)["heaps"]
    equal((heap["name"], heap["allocations"], heap["live_bytes"]),
          ("arena", 100, 5000), "arena")
    # the arena was most before it had pieces; when, is said all the same
    of_it = gnomon("report", ran["arena.c"].trace, "--all", "--heap",
                   "arena").out
    check(re.search(r"at the peak  0 B in 0 blocks of these, after [1-9]",
                    of_it), of_it)
    where = os.path.join(directory, "configured")
    os.mkdir(where)
    done = bare([program("basic")], environment(
        LD_PRELOAD=LIBRARY + " " + made["libconfigure.c"],
        GNOMON_OUTPUT=os.path.join(where, "%p.trace")))
    done.directory = where
    settle(where)
    rows = Report(done.trace).rows_with("tgt_malloc")
    check(rows and all(row["total_bytes"] >= 64 * row["count"]
                       for row in rows), "only large blocks")


@case
def stub_alone(directory):
    """Linked with the stub and not recorded, the program does its work."""
    alone = bare([program("mempool_requests")])
    equal((alone.status, alone.err), (0, ""), "alone")
    check("arena_allocations 600\n" in alone.out, alone.out)
    for name in ("api_recording", "api_recording_static", "api_recording_alone"):
        equal(bare([program(name)]).status, 0, name + " of a stub")


main()
