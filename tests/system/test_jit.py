#!/usr/bin/python3
"""Code made at run time: tables registered with the C runtime or shown to
debuggers, and code without any."""

from gnomon_test import *
from stack_samples import contexts

ENTRIES = ("frame", "info", "info_bases", "table", "info_table",
           "info_table_bases")


def record(how, directory, **env):
    plain = bare([program("jit_frames"), how])
    if plain.status == -signal.SIGSEGV and "table" in how:
        raise Skip("no __register_frame_table here")    # a bug of gcc 13, 14
    done = recorded([program("jit_frames"), how], directory,
                    env=environment(**env))
    equal((done.status, done.out), (plain.status, plain.out), how)
    equal(done.expected["right"], 1, how + ": results of the real functions")
    return done


def names_through(done):
    """The report's rows for the allocations, each with its functions."""
    for row in Report(done.trace).rows_with("allocate$"):
        yield row["count"], [frame.get("function") for frame in row["stack"]]


def make(how):
    def registered(directory):
        done = record(how, directory)
        for _, names in names_through(done):
            check("round_of" in names and "main" in names,
                  "%s: not walked through: %s" % (how, names))
        rounds, blocks = done.expected["rounds"], done.expected["blocks"]
        ours = [context for context in contexts(done.trace)
                if context[0] == blocks // rounds]
        # The same addresses in all rounds, but each time they mean new code.
        equal(len(ours), rounds, "contexts")
        equal(len(set(ours)), 1, "stacks")
    registered.__name__ = "registered_by_" + how
    return registered


for each in ENTRIES:
    case(make(each))


@case
def shown_to_debuggers(directory):
    done = record("gdb", directory)
    total = 0
    for count, names in names_through(done):
        total += count
        check("round_of" in names and "main" in names,
              "not walked through: %s" % names)
    equal(total, done.expected["blocks"], "allocations")


@case
def code_without_a_table(directory):
    """The stack ends in the code, and the trace says so."""
    done = record("none", directory)
    counters = info(done.trace)["counters"]
    check(counters["stop_jit"] > 0, "walks that ended in such code")
    equal(counters["stop_no_image"], 0, "stray addresses")
    for _, names in names_through(done):
        check("main" not in names, "%s" % names)


def with_map(directory, what):
    """The functions of the stacks, of a run that wrote such a map."""
    done = recorded([program("jit_frames"), "none", what], directory)
    map_file = "/tmp/perf-%d.map" % find_key(info(done.trace), "pid")
    for path in (map_file, map_file + ".real"):
        if os.path.lexists(path):
            os.unlink(path)
    equal(done.status, 0, "status")
    rows = list(names_through(done))
    equal(sum(count for count, _ in rows), done.expected["blocks"], "blocks")
    return {name for _, names in rows for name in names if name}, done


@case
def names_from_the_map(directory):
    names, done = with_map(directory, "map")
    check("made at run time" in names, "%s" % names)
    check(not names & {"older code", "before it"}, "%s" % names)
    equal(find_key(info(done.trace), "names_skipped"), 0, "skipped")


def replaced_code(done):
    """An address that meant three functions: each batch of blocks came from
    the one whose line was the last to be found, so their names follow each
    other, and each is found for its last batch."""
    equal(done.status, 0, "status, stderr: " + done.err)
    functions, batches = done.expected["functions"], done.expected["batches"]
    blocks = done.expected["blocks"]
    count = [0] * functions
    for row in Report(done.trace).rows_with("allocate$"):
        name = row["stack"][1]["function"]
        number = int(re.fullmatch(r"function (\d)", name).group(1))
        count[number] += row["count"]
        # sizes grow from batch to batch
        least = 1000 + number * batches
        most = 1000 + (number + 2) * batches
        check(least <= row["total_bytes"] / row["count"] < most,
              "%s: blocks of another function" % name)
    equal(sum(count), functions * batches * blocks, "allocations")
    for number, found in enumerate(count):
        check(blocks <= found < 2 * batches * blocks,
              "function %d: %s" % (number, count))


@case
def names_of_replaced_code(directory):
    done = recorded([program("jit_reuse")], directory)
    os.unlink("/tmp/perf-%d.map" % find_key(info(done.trace), "pid"))
    replaced_code(done)


@case
def names_of_replaced_code_from_a_dump(directory):
    """The same, told by a jitdump; also without it, as the trace has it."""
    done = recorded([program("jit_reuse"), "dump"], directory, cwd=directory)
    replaced_code(done)
    os.unlink(dump_of(done.trace, directory))
    replaced_code(done)


def dump_of(trace, directory):
    return os.path.join(directory, "jit-%d.dump" % find_key(info(trace),
                                                          "pid"))


@case
def names_from_a_dump(directory):
    """Three functions at one address within a moment: each block belongs to
    the one that was there then; lines and code come along."""
    done = recorded([program("jit_dump")], directory, cwd=directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    functions, blocks = done.expected["functions"], done.expected["blocks"]
    found = {}
    for row in Report(done.trace).rows_with("allocate$"):
        frame = row["stack"][1]
        check("main" in [each.get("function") for each in row["stack"]],
              "not walked through: %s" % row["stack"])
        key = (frame["function"], frame["file"], frame["line"],
               row["total_bytes"] // row["count"])
        found[key] = found.get(key, 0) + row["count"]
    # the last one was moved, and called again
    equal(found, {("dumped %d" % i, "made.x", 100 + i, 100 + i):
                  blocks * (1 + (i == functions - 1))
                  for i in range(functions)}, "functions")
    out = gnomon("annotate", "-D", done.trace, "dumped 1").out
    check(re.search(r"^ +4\.\d?K? .*call rax  -> allocate$|"
                    r"^ +3\.9K .*call rax  -> allocate$", out, re.M), out)
    # elsewhere, of another process, damaged
    dump = dump_of(done.trace, directory)
    moved = os.path.join(directory, "moved.dump")
    os.rename(dump, moved)
    lost = gnomon("report", done.trace)
    equal(lost.err, "", "the trace has the names")
    check("dumped 2" in lost.out and "made.x" not in lost.out, lost.out)
    check("made.x:101" in gnomon("report", "-d", moved, done.trace, "--by",
                                 "stack", "--top", "0").out, "with -d")
    with open(moved, "r+b") as file:
        data = file.read()
        file.truncate(len(data) - 1)
        cut = gnomon("report", "-d", moved, done.trace)
        check("inside a record" in cut.err, cut.err)
        file.seek(20)
        file.write(b"\x01\0\0\0")
    other = gnomon("report", "-d", moved, done.trace)
    check("another process" in other.err, other.err)


@case
def no_names_through_a_link(directory):
    names, _ = with_map(directory, "link")
    equal(names, {"allocate"}, "names")


@case
def threads_and_children(directory):
    done = recorded([program("jit_churn")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    trace = max(done.traces, key=os.path.getsize)
    agree(done.expected, Report(trace))
    blocks = 0
    for each in done.traces:
        for count, root, *_ in contexts(each):
            equal(root, 0, "reason of a stack's end in " + each)
            blocks += count
    check(blocks > done.expected["allocations"], "nothing of the child")


NODE = """
function tgt_outer(n) { return tgt_inner(n) + 1; }
function tgt_inner(n) { return JSON.parse('[' + 'true,'.repeat(n) + '1]')
  .length + Buffer.alloc(1 << 20).length; }
let sum = 0;
for (let i = 0; i < 200; i++) sum += tgt_outer(i);
console.log(sum);
"""
# names for functions that no compiler has taken up yet, too
INTERPRETED = "--interpreted-frames-native-stack"


@case
def node(directory):
    """V8: its frames are walked through, and have names."""
    need("node")
    script = os.path.join(directory, "script.js")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NODE)
    # it leaves a log of its own where it runs
    done = recorded(["node", "--perf-basic-prof", INTERPRETED, script],
                    directory, cwd=directory)
    trace = max(done.traces, key=os.path.getsize)
    os.unlink("/tmp/perf-%d.map" % find_key(info(trace), "pid"))
    equal(done.status, 0, "status, stderr: " + done.err)
    found = 0
    for row in Report(trace).rows:
        names = " < ".join(frame.get("function") or "?"
                           for frame in row["stack"])
        if re.search(r"tgt_inner.*tgt_outer.* _start", names):
            found += row["count"]
    # Hot functions may become one.
    check(found >= 50, "%d allocations through both functions" % found)


@case
def node_with_a_dump(directory):
    """V8's own description: names, with the lines of the script."""
    need("node")
    script = os.path.join(directory, "script.js")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NODE)
    done = recorded(["node", "--perf-prof", INTERPRETED, script], directory,
                    cwd=directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    trace = max(done.traces, key=os.path.getsize)
    check(os.path.exists(dump_of(trace, directory)), "no dump was written")
    found, lines = 0, set()
    for row in Report(trace).rows:
        names = " < ".join(frame.get("function") or "?"
                           for frame in row["stack"])
        if re.search(r"tgt_inner.*tgt_outer.* _start", names):
            found += row["count"]
        lines |= {frame["line"] for frame in row["stack"]
                  if "tgt_inner" in (frame.get("function") or "")}
    check(found >= 50, "%d allocations through both functions" % found)
    check(lines & {3, 4}, "lines: %s" % lines)
    # Not each of its compilers writes lines down: else instructions, with
    # what their calls cost.
    out = gnomon("annotate", "--every", "--cost", "count", trace,
                 "tgt_inner").out
    check(re.search(r"^ +[\d,]+ .*(\.length \+ Buffer\.alloc|"
                    r"[0-9a-f]{8}  (call|mov) )", out, re.M), out)


LLVM_SOURCE = """
#include <stdlib.h>
static void *leaf(int n) { return malloc(n); }
static void *deep(int d, int n)
{
    volatile int keep = d;
    void *p = d ? deep(d - 1, n) : leaf(n);
    keep++;
    return p;
}
int main(void)
{
    for (int i = 0; i < 300; i++)
        free(deep(i % 7, 1000000 + i));
    return 0;
}
"""


@case
def llvm(directory):
    """A real compiler at run time, whose code keeps no frame pointers."""
    need("clang", "lli")
    source = os.path.join(directory, "a.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(LLVM_SOURCE)
    made = bare(["clang", "-O1", "-fomit-frame-pointer", "-fno-inline",
                 "-fno-optimize-sibling-calls", "-S", "-emit-llvm", source,
                 "-o", source + ".ll"])
    equal(made.status, 0, "clang: " + made.err)
    for kind in ("mcjit", "orc"):
        part = os.path.join(directory, kind)
        os.mkdir(part)
        done = recorded(["lli", "-jit-kind=" + kind, source + ".ll"], part)
        equal(done.status, 0, "lli: " + done.err)
        counters = info(done.trace)["counters"]
        check(counters["jit_tables"] > 0, "no table was registered")
        total = bad = 0
        for count, root, *_ in contexts(done.trace):
            total += count
            bad += count * (root != 0)
        check(total > 300, "only %d allocations" % total)
        equal(bad, 0, kind + ": stacks that are not whole")


@case
def oracle_agrees(directory):
    for how in ("none", "gdb") + ENTRIES:
        part = os.path.join(directory, how)
        os.mkdir(part)
        try:
            done = record(how, part, GNOMON_DEBUG_ORACLE=1)
        except Skip:
            continue    # its own case says so
        counters = info(done.trace)["counters"]
        check(counters["oracle_checks"] >= done.expected["blocks"], "checks")
        equal(counters["oracle_differences"], 0, how + ": differences")


main()
