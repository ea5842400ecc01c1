#!/usr/bin/python3
"""Names of threads over time; the starts and ends of threads."""

from gnomon_test import *

LOOK_NS = 1500000000  # the recorder's looks are much nearer than that
LATE_NS = 250000000


def names(thread):
    return [name["name"] for name in thread["names"]]


def main_and_others(name, directory):
    alone = bare([program(name)])
    done = recorded([program(name)], directory)
    equal((done.status, done.out), (0, alone.out), "result")
    agree(done.expected, Report(done.trace))
    threads = info(done.trace)["threads"]
    main, others = threads[0], threads[1:]
    check(main["main"] and not any(each["main"] for each in others), "main")
    check("\x1b" not in gnomon("info", done.trace).out, "an escape sequence")
    return main, others


def check_names(name, directory):
    main, others = main_and_others(name, directory)
    equal(names(main), [name, "the parent"], "main")
    inherited = "the parent"
    equal([names(each) for each in others],
          [[inherited, "other one"],
           [inherited, "self one", "self two, and s"],
           [inherited, "raw one"],
           [inherited, "by file"],
           [inherited],
           ["silent one"],
           [inherited, "\x1b[31mred\n\"\\"],
           [inherited]], "others")
    for each in [main, *others]:
        times = [name["since_ns"] for name in each["names"]]
        equal(times, sorted(times), "times of names")
        equal(each["name"], names(each)[-1], "the last one")
    return main, others


@case
def names_of_all_kinds(directory):
    main, others = check_names("naming", directory)
    # The fourth sleeps for two seconds, and all come one after the other.
    for each in others[:3]:
        check(each["start_ns"] <= each["end_ns"] <= LOOK_NS, "%r" % each)
    for each in others[4:]:
        check(each["start_ns"] >= 2000000000, "start of the later ones")
    check("end_ns" not in main, "main ends with the program")
    check("creator" not in main, "creator of main")
    for each in others:
        equal(each["creator"], main["tid"], "creator")
    late = others[-1]
    check(late["names"][0]["since_ns"] - late["start_ns"] > LATE_NS,
          "created before its first event: %r" % late)


@case
def names_with_musl(directory):
    need("musl-gcc")
    check_names("naming_musl", directory)


@case
def main_ends_before_the_others(directory):
    done = recorded([program("leaving"), "outlive"], directory)
    main, other = info(done.trace)["threads"]
    check(main["main"] and not other["main"], "main: %r" % main)
    check("end_ns" in main, "the end of main: %r" % main)
    check(other.get("end_ns", 1 << 62) > main["end_ns"], "other: %r" % other)

main()
