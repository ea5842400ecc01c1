#!/usr/bin/python3
"""gnomon annotate: costs of source lines and of instructions."""

import pty

from gnomon_test import *

SOURCES = os.path.join(os.path.dirname(__file__), "..", "programs", "stacks")
ITEMS, ITEM, TEXT = 50, 64, 10
DROPPED = 20


def marked(name):
    """The numbers of the lines that a source marks with LINE."""
    with open(os.path.join(SOURCES, name), encoding="utf-8") as source:
        return {match.group(1): number
                for number, line in enumerate(source, 1)
                for match in [re.search(r"LINE (\w+)", line)] if match}


def annotate(*arguments, statuses=(0,), **options):
    return gnomon("annotate", *arguments, statuses=statuses, **options)


def on_terminal(*arguments):
    """What it prints there."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen([GNOMON, "annotate", *arguments], stdout=theirs,
                           stdin=subprocess.DEVNULL, env=environment())
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:
        pass  # the other side is closed
    os.close(ours)
    equal(run.wait(RUN_SECONDS), 0, "status")
    return b"".join(parts).decode().replace("\r\n", "\n")


def rows(*arguments, **options):
    document = json.loads(annotate("--json", *arguments, **options).out)
    equal(document["schema"], 1, "schema")
    return document["rows"]


def lines(row, name):
    """The costs of a function's lines in a source."""
    return {line["line"]: line for file in row["files"]
            if os.path.basename(file["file"] or "") == name
            for line in file["lines"]}


def figures(line):
    return (line["count"], line["total_bytes"], line["live_bytes"],
            line["self"]["total_bytes"])


def record(name, directory):
    done = recorded([program(name)], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    return done.trace


@case
def lines_of_c(directory):
    """Of calls and of inlined functions; recursion counts once."""
    trace, at = record("annotated", directory), marked("annotated.c")
    both, left = ITEM + TEXT, ITEMS - DROPPED
    wanted = {
        "tgt_add": {
            "item": (ITEMS, ITEMS * ITEM, left * ITEM, ITEMS * ITEM),
            "inlined": (ITEMS, ITEMS * TEXT, left * TEXT, 0)},
        "tgt_copy": {
            "copy": (ITEMS, ITEMS * TEXT, left * TEXT, ITEMS * TEXT)},
        "tgt_fill": {
            "add": (2 * ITEMS, ITEMS * both, left * both, 0),
            "deeper": (80, 40 * both, 20 * both + 10 * both - 10 * both, 0)},
        "main": {"fill": (2 * ITEMS, ITEMS * both, left * both, 0)},
    }
    # the last 20 were dropped first: those of the two innermost calls
    wanted["tgt_fill"]["deeper"] = (80, 40 * both, 20 * both, 0)
    for function, places in wanted.items():
        found, = rows(trace, function)
        by_line = lines(found, "annotated.c")
        for place, figure in places.items():
            equal(figures(by_line[at[place]]), figure,
                  "%s, %s" % (function, place))
        equal(set(by_line), {at[place] for place in places},
              function + ": lines")
    whole, = rows(trace, "tgt_fill")
    equal(whole["total_bytes"], ITEMS * both, "recursion")


@case
def text_of_c(directory):
    trace, at = record("annotated", directory), marked("annotated.c")
    out = annotate(trace, "tgt_add", cwd=os.getcwd()).out
    check(re.search(r"^ +1\.9K +1\.9K +%d  .*malloc\(sizeof" % at["item"],
                    out, re.M), out)
    check(re.search(r"^ +300 B +%d  .*= tgt_copy\(text\)" % at["inlined"],
                    out, re.M), out)
    shown = on_terminal(trace, "tgt_add")
    check(all(len(line) <= 80 for line in shown.splitlines()), shown)
    for line in shown.splitlines():
        check(line[:76] in out, "cut at most: " + line)
    check("tgt_fill" not in out, "lines of another function: " + out)
    whole = annotate("--all", "--cost", "count", trace, "tgt_fill").out
    check(re.search(r"^ +100 +%d  " % at["add"], whole, re.M), whole)
    check("if (depth == 0)" in whole and "return list;" in whole, whole)
    for more in ((), ("--full-names",)):
        copy = annotate(*more, trace, "tgt_copy").out
        check(re.search(r"LINE copy: ü und  +tab \*/$", copy, re.M), copy)
    check("tab */" not in on_terminal(trace, "tgt_copy"), "80 columns there")
    check("tab */" in on_terminal("--full-names", trace, "tgt_copy"), "whole")
    into = os.path.join(directory, "into")
    annotate("-o", into, trace, "tgt_copy")
    with open(into, encoding="utf-8") as file:
        equal(file.read(), annotate(trace, "tgt_copy").out, "a file is whole")
    for each, key in (("peak", "peak"), ("total", "total"),
                      ("temporary", "temporary"), ("own-peak", "own-peak")):
        check(" %s " % key in annotate("--cost", each, trace, "tgt_add").out,
              each)


@case
def instructions(directory):
    """The same costs at the calls, wherever the compiler put them."""
    trace = record("annotated", directory)
    out = annotate("--disassembly", "--all", trace, "tgt_add").out
    check(re.search(r"^ +1\.9K +1\.9K +[0-9a-f]+  call malloc$", out, re.M),
          out)
    check(re.search(r"^ +300 B +[0-9a-f]+  call malloc$", out, re.M), out)
    check("annotated.c:%d" % marked("annotated.c")["item"] in out, out)
    shown = on_terminal("--disassembly", "--all", trace, "tgt_add")
    check(all(len(line) <= 80 for line in shown.splitlines()), shown)
    out = annotate("--disassembly", "--all", trace, "tgt_fill").out
    labels = set(re.findall(r"^ +(L\d+):$", out, re.M))
    check(labels, out)
    equal(labels, set(re.findall(r"  j\w+ (L\d+)$", out, re.M)), "labels")
    equal(len(re.findall(r"B .*call tgt_fill$|K .*call tgt_fill$", out,
                         re.M)), 1, out)


@case
def without_symbols(directory):
    """A stripped program: by offset, from an unwind table."""
    stripped = os.path.join(directory, "annotated")
    subprocess.run(["strip", "-s", "-o", stripped, program("annotated")],
                   check=True)
    trace = recorded([stripped], directory).trace
    symbols = subprocess.run(["nm", "-S", program("annotated")], check=True,
                             capture_output=True, text=True).stdout
    start, size = re.search(r"^(\w+) (\w+) t tgt_add\S*$", symbols, re.M).groups()
    middle = int(start, 16) + int(size, 16) // 2
    out = annotate(trace, "annotated+%#x" % middle).out
    check(re.search(r"^ +1\.9K +1\.9K +[0-9a-f]+  call malloc$", out, re.M),
          out)
    row, = rows(trace, "annotated+%#x" % middle)
    equal(row["function"], "annotated+0x" + start.lstrip("0"), "its name")
    equal(row["total_bytes"], ITEMS * (ITEM + TEXT), "cost")
    os.unlink(stripped)
    out = annotate(trace, "annotated+%#x" % (int(start, 16) + 1),
                   statuses=(2,))
    check("no function" in out.err, out.err)


@case
def sources_elsewhere(directory):
    """Compiled in one folder, moved to another."""
    old, new = (os.path.join(directory, name) for name in ("old", "new"))
    os.makedirs(os.path.join(old, "src"))
    binary = os.path.join(directory, "moved")
    source = os.path.join(old, "src", "moved.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\nchar *volatile p;\n"
                   "int main(void)\n{\n\tp = malloc(77);\n\treturn 0;\n}\n")
    subprocess.run(["gcc", "-g", "-o", binary, "src/moved.c"], cwd=old,
                   check=True)
    trace = recorded([binary], directory).trace
    line = r"^ +77 B +77 B +5  +p = malloc\(77\);$"
    check(re.search(line, annotate(trace, "main").out, re.M), "in place")
    os.rename(old, new)
    done = annotate(trace, "main")
    check("not found" in done.err and "--source-root" in done.err, done.err)
    check(re.search(r"^ +77 B +77 B +[0-9a-f]+  call malloc$", done.out, re.M),
          done.out)
    for root in (new, "%s=%s" % (old, new), os.path.join(new, "src")):
        done = annotate("--source-root", root, trace, "main")
        check(re.search(line, done.out, re.M), root + ": " + done.out)
    check(re.search(line, annotate("-d", new, trace, "main").out, re.M), "-d")
    # OLD is a whole directory, with or without a slash at its end
    for root in (old + "/=" + new, "%s/src=%s/src" % (old, new)):
        done = annotate("-S", root, trace, "main")
        check(re.search(line, done.out, re.M), root + ": " + done.out)
    root = "%s/sr=%s/sr" % (old, new)
    check("not found" in annotate("-S", root, trace, "main").err, root)
    # another file than the one that was compiled
    moved = os.path.join(new, "src", "moved.c")
    with open(moved, "w", encoding="latin-1") as file:
        file.write("int\x1b[31m x;\n\xff\n")
    os.utime(moved, (time.time() + 100, time.time() + 100))
    done = annotate("-S", new, trace, "main")
    check("newer" in done.err and "2 lines" in done.err, done.err)
    check("\x1b" not in done.out, "escape sequences get through")
    check(re.search(r"^ +77 B +77 B +5  \(the file has no", done.out, re.M),
          done.out)


@case
def templates_of_cc(directory):
    trace, at = record("annotated_plus", directory), \
        marked("annotated_plus.cc")
    found = rows("--every", trace, r"Bag<.*>::put\b")
    equal([row["function"] for row in found],
          ["shapes::Bag<double>::put(int)", "shapes::Bag<long>::put(int)"],
          "functions")
    for row, count in zip(found, (50, 7)):
        by_line = lines(row, "annotated_plus.cc")
        equal(figures(by_line[at["new"]]),
              (count, count * 8, count * 8, count * 8), "new")
        equal(figures(by_line[at["reserve"]])[:2], (1, 800), "reserve")
        equal(figures(by_line[at["reserve"]])[3], 800, "self, through the "
              "C++ library alone")
    # without parameters it is exact
    equal(len(rows(trace, "shapes::Bag<long>::put")), 1, "exact name")
    out = annotate(trace, r"::put\b").out
    check("2 functions match" in out, out)
    check("Bag<double>::put in annotated_plus" in out, out)


@case
def filters(directory):
    trace = record("annotated", directory)
    row, = rows("--size-min", "60", trace, "tgt_fill")
    equal(row["total_bytes"], ITEMS * ITEM, "blocks of 60 and more")
    row, = rows("--function", "tgt_copy", trace, "tgt_fill")
    equal(row["total_bytes"], ITEMS * TEXT, "stacks through tgt_copy")
    done = annotate("--not-function", "tgt_fill", trace, "tgt_fill",
                    statuses=(2,))
    check("filters" in done.err, done.err)


@case
def the_newest_trace_is_named(directory):
    trace = record("annotated", directory)
    out = annotate("tgt_add", cwd=directory).out
    name = os.path.basename(trace)
    equal(out.splitlines()[0], "in the newest trace here, " + name, "head")
    check("newest" not in annotate(trace, "tgt_add").out, "it was named")
    document = json.loads(annotate("--json", "tgt_add", cwd=directory).out)
    equal(document["trace"], name, "json")


@case
def a_name_that_is_the_word_wins(directory):
    trace = record("annotated", directory)
    equal([row["function"] for row in rows("--every", trace, "main")],
          ["main"], "not __libc_start_main")
    check(len(rows("--every", trace, "mai.")) > 1, "an expression")


@case
def wrong_use(directory):
    trace = record("annotated", directory)
    for arguments, what in (
            ((), "needs a trace and the name"),
            ((trace, "tgt_add", "more"), "more: one function of one trace"),
            (("tgt_fill", "tgt_add"), "only one function can be shown at a time"),
            ((trace, "no_such"), "no function of that name"),
            ((trace, "a["), "not a valid regular expression"),
            ((os.path.join(directory, "none"), "main"), "none"),
            (("--cost", "time", trace, "main"), "cost"),
            (("--lines", "x", trace, "main"), "lines"),
            (("--lines", "100001", trace, "main"), "lines"),
            (("--first-line", "2", trace, "main"),
             "--first-line: needs --lines-of: add it"),
            (("--json", "--last-line", "0", trace, "main"),
             "--last-line: needs --lines-of: add it")):
        done = annotate(*arguments, statuses=(2,))
        check(what in done.err, "%s: %s" % (arguments, done.err))
        equal(done.out, "", "output")


RUST = """
#[inline(never)]
fn tgt_boxes(n: usize) -> Vec<Box<u64>> {
    let mut all = Vec::with_capacity(n); // LINE vector
    for i in 0..n {
        all.push(Box::new(i as u64)); // LINE box
    }
    all
}

fn main() {
    let all = tgt_boxes(30);
    println!("{}", all.iter().map(|each| **each).sum::<u64>());
    std::mem::forget(all);
}
"""


@case
def lines_of_rust(directory):
    need("rustc")
    source = os.path.join(directory, "boxes.rs")
    with open(source, "w", encoding="utf-8") as file:
        file.write(RUST)
    subprocess.run(["rustc", "-g", "-O", "-o", "boxes", source],
                   cwd=directory, check=True, capture_output=True)
    trace = recorded([os.path.join(directory, "boxes")], directory).trace
    # only the language's own functions are between: all is its own
    row = rows(trace, "tgt_boxes")[0]
    by_line = lines(row, "boxes.rs")
    at = {match.group(1): number
          for number, line in enumerate(RUST.split("\n"), 1)
          for match in [re.search(r"LINE (\w+)", line)] if match}
    equal(figures(by_line[at["vector"]]), (1, 240, 240, 240), "vector")
    equal(figures(by_line[at["box"]]), (30, 240, 240, 240), "boxes")


main()
