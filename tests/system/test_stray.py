#!/usr/bin/python3
"""Memory beyond a fiber's stack is no frame: a word that is no return address
ends the walk, and is in no stack."""

import os

from gnomon_test import *

MODES = ("auto", "validate", "off")


@case
def stray_words_beyond_a_base(directory):
    alone = bare([program("stray_base")])
    for mode in MODES:
        for oracle in (0, 1):
            folder = os.path.join(directory, "%s-%d" % (mode, oracle))
            os.mkdir(folder)
            done = recorded([program("stray_base")], folder, env=environment(
                GNOMON_SHADOW_STACK=mode, GNOMON_DEBUG_ORACLE=oracle))
            what = "%s, oracle %d: " % (mode, oracle)
            equal((done.status, done.out), (0, alone.out), what + "result")
            report = Report(done.trace)
            agree(done.expected, report, what)
            rows = [row for row in report.rows if any(
                frame["function"] == "on_base" for frame in row["stack"])]
            for row in rows:
                equal(row["stack"][-1]["function"], "on_base",
                      what + "outermost frame")
            # One for each of its two ways to malloc; and twice, as those
            # stacks that end at 0 end for another reason.
            equal(len(rows), 4, what + "stacks")
            equal(int(find_key(info(done.trace), "oracle_differences") or 0),
                  0, what + "differences")


@case
def a_word_that_leads_to_changing_memory(directory):
    """Whether it looks like a return address is the memory's matter: a stack
    that is the same otherwise is no other one."""
    for mode in MODES:
        folder = os.path.join(directory, mode)
        os.mkdir(folder)
        done = recorded([program("stray_base"), "changing"], folder,
                        env=environment(GNOMON_SHADOW_STACK=mode,
                                        GNOMON_DEBUG_ORACLE=1))
        equal(done.status, 0, mode)
        agree(done.expected, Report(done.trace), mode + ": ")
        counters = info(done.trace)
        check(int(find_key(counters, "oracle_checks")) > 0, "checks")
        equal(int(find_key(counters, "oracle_differences") or 0), 0,
              mode + ": differences")


@case
def stray_words_beyond_a_greenlets_stack(directory):
    python = "/usr/bin/python3"
    if bare([python, "-c", "import greenlet"]).status != 0:
        raise Skip("python3-greenlet is not installed")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                          "matrix", "lang_greenlet.py")
    report = Report(recorded([python, script], directory, seconds=100).trace)
    ended = 0
    for row in report.rows:
        if row.get("stopped") != "an address that belongs to no code":
            continue
        ended += 1
        last = row["stack"][-1]
        check(last["library"] is not None and
              last["library"].startswith("_greenlet"),
              "outermost: %s" % last)
    check(ended > 0, "no stack ended beyond a greenlet's")


main()
