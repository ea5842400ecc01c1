#!/usr/bin/python3
"""Each target's own count of its operations, compared with the trace's."""

from gnomon_test import *


def exact(name, directory, *arguments, **options):
    """Runs the target both ways and compares all numbers."""
    argv = [program(name), *arguments]
    alone = bare(argv)
    done = recorded(argv, directory, **options)
    equal(done.status, alone.status, "status")
    report = Report(done.trace)
    agree(done.expected, report)
    return alone, done, report


@case
def basic(directory):
    _, done, report = exact("basic", directory)
    for key in ("allocations", "frees", "total_bytes", "live_bytes",
                "live_blocks", "peak_bytes", "peak_blocks", "temporary"):
        equal(report.summary[key], done.expected[key], "summary " + key)
    equal(report.summary["threads"], 1, "threads")


@case
def basic_by_preload(directory):
    _, done, _ = exact("basic", directory, by="preload")
    equal(done.err, "", "the library alone says nothing")


@case
def threads(directory):
    _, done, report = exact("turnover", directory)
    check(report.summary["threads"] >= done.expected["threads_min"],
          "%d threads" % report.summary["threads"])


@case
def storm_of_threads(directory):
    """Rings of threads that ended serve those that come."""
    _, _, report = exact("turnover", directory, "1250", "10",
                         options=["--memory", "32M"])
    check(report.summary["threads"] >= 10001, "threads")


@case
def freed_by_other_threads(directory):
    exact("crossfree", directory)


@case
def blocks_handed_over_at_once(directory):
    """Stamps that are used twice keep the order between threads: of the
    large blocks one at a time is alive."""
    _, done, report = exact("handover", directory)
    large = done.expected["large"]
    check(large <= report.summary["peak_bytes"] < 2 * large,
          "peak of %d" % report.summary["peak_bytes"])


@case
def realloc_chains(directory):
    exact("realloc_chain", directory)


@case
def recursion(directory):
    _, done, report = exact("recursion", directory, "10000")
    bottom = [row for row in report.rows_with("tgt_")
              if row["total_bytes"] == 77777]
    equal(len(bottom), 1, "rows of the bottom")
    names = [frame["function"] for frame in bottom[0]["stack"]]
    equal(names.count("recurse"), done.expected["bottom_recurse_frames"],
          "frames of recurse")
    check("main" in names, "the stack does not reach main")


@case
def entry_points(directory):
    alone, done, _ = exact("entry_points", directory)
    equal(done.out, alone.out, "results, alignments and errno")


@case
def exceptions(directory):
    alone, done, _ = exact("exceptions", directory)
    equal(done.out, alone.out, "output")


@case
def cancelled_threads(directory):
    alone, done, _ = exact("cancel", directory)
    equal(done.out, alone.out, "output")


@case
def fibers(directory):
    exact("fibers", directory)


@case
def code_without_tables(directory):
    exact("no_tables", directory)


@case
def sandbox(directory):
    """A program that may make hardly any system call."""
    if bare([program("sandbox")]).status == 77:
        raise Skip("no seccomp filters here")
    exact("sandbox", directory)


@case
def constructors_destructors_and_thread_ends(directory):
    exact("lifecycle", directory)


@case
def resolver_that_allocates(directory):
    _, done, report = exact("ifunc", directory)
    equal(done.expected["answer"], 42, "answer")
    equal(done.expected["kept"], 1, "contents after realloc")


@case
def libraries_that_look_in_themselves_first(directory):
    exact("deep_binding", directory, program("libdeep.so"))


@case
def libraries_that_allocate_while_loaded(directory):
    _, done, report = exact("loading", directory, program("libctor.so"))
    for function, count in (("ctor_begin", 2), ("ctor_end", 1)):
        rows = report.rows_with(function + "$")
        equal(sum(row["count"] for row in rows),
              count * done.expected["loads"], function)
        check(all("libctor" in (frame["library"] or "")
                  for row in rows for frame in row["stack"]
                  if frame["function"] == function), "library of " + function)


@case
def many_stacks(directory):
    _, _, report = exact("churn", directory, "200000")
    check(report.summary["contexts"] >= 4096, "contexts")


@case
def modes_agree(directory):
    """However stacks are taken, they are the same stacks."""
    seen = {}
    for mode in ("auto", "validate", "off"):
        part = os.path.join(directory, mode)
        os.mkdir(part)
        _, done, report = exact(
            "churn", part, "20000",
            env=environment(GNOMON_SHADOW_STACK=mode))
        seen[mode] = sorted(
            (tuple(frame["function"] or "?" for frame in row["stack"]),
             row["count"], row["total_bytes"], row["live_bytes"])
            for row in report.rows)
    equal(seen["validate"], seen["auto"], "validate")
    equal(seen["off"], seen["auto"], "off")


@case
def other_c_library(directory):
    need("musl-gcc")
    alone = bare([program("musl")])
    done = recorded([program("musl")], directory, by="preload")
    equal((done.status, done.out), (alone.status, alone.out), "result")
    agree(done.expected, Report(done.trace))


main()
