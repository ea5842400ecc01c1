#!/usr/bin/python3
"""Signals that interrupt malloc and the profiler itself."""

from gnomon_test import *


def check_blocks(done):
    """Of the first process and each of its children; -> their traces."""
    said = done.expected
    blocks = [Report(trace).sums("last_malloc$").get("allocations", 0)
              for trace in done.traces]
    equal(sorted(blocks)[1:], [said["blocks"]] * said["children"],
          "blocks of each process")
    return [trace for trace, count in zip(done.traces, blocks) if count]


def check_counts(done):
    equal(done.status, 0, "status, stderr: " + done.err)
    expected, report = done.expected, Report(done.trace)
    handler = report.sums("handler_malloc$")
    equal(handler["allocations"], expected["handled"], "in the handler")
    road = report.sums("road_malloc$")["allocations"]
    road -= sum(row["count"] for row in report.rows_with("road_malloc$")
                if any(frame["function"] == "handler_malloc"
                       for frame in row["stack"]))
    check(expected["road_min"] <= road <= expected["road_max"],
          "%d outside %d to %d" % (road, expected["road_min"],
                                   expected["road_max"]))
    equal(report.summary["dropped"], 0, "dropped")
    return handler, expected, report


@case
def handler_allocates(directory):
    handler, expected, report = check_counts(
        recorded([program("signals")], directory))
    equal(handler["live_blocks"], expected["handler_live"], "live")
    equal(report.summary["unpaired"], 0, "unpaired")


@case
def handler_jumps_away(directory):
    handler, expected, _ = check_counts(
        recorded([program("signals"), "jump"], directory))
    equal(handler["live_blocks"], expected["handler_live"], "live")


@case
def handler_on_a_stack_of_its_own(directory):
    handler, expected, _ = check_counts(
        recorded([program("signals"), "stack"], directory))
    equal(handler["live_blocks"], expected["handler_live"], "live")


@case
def handler_on_a_stack_further_out(directory):
    """In a local variable of main. Whoever is interrupted there is not taken
    for left, and whoever is left is found out."""
    handler, expected, report = check_counts(
        recorded([program("signals"), "within"], directory))
    equal(handler["live_blocks"], expected["handler_live"], "live")
    equal(report.summary["unpaired"], 0, "unpaired")


@case
def handler_jumps_out_of_a_request(directory):
    """What follows a change of ids is asked of the recorder: later changes are
    answered, and the recording goes on."""
    done = recorded([program("request_longjmp")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    equal(done.expected["slow"], 0, "changes that had to wait")
    equal(Report(done.trace).sums("last_malloc$")["allocations"],
          done.expected["last"], "after it")
    equal(find_key(info(done.trace), "reason"), "exit", "end")


@case
def handler_jumps_out_of_a_start(directory):
    """Of the recording of a child: nothing of it is lost for that, and no
    thread waits for the one that has gone."""
    done = recorded([program("start_longjmp")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    said = done.expected
    equal(said["jumped"], said["children"], "children that jumped")
    check_blocks(done)


@case
def a_child_steps_through_its_first_events(directory):
    """Signals that an instruction brings about cannot be kept out of a start,
    and the recorder must not be stepped itself: it starts when that is over."""
    done = recorded([program("stepped_start")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    said = done.expected
    equal(said["right"], said["children"], "children that ended well")
    for trace in check_blocks(done):
        early = int(find_key(info(trace), "early_allocations"))
        check(early >= said["early"], "%d early events" % early)


@case
def a_child_forked_inside_of_a_hook_returns_there(directory):
    """A handler forks inside of malloc or free, mostly of a hook, and the child
    returns from it: it goes on as without us, and is recorded."""
    for way in "fork", "raw", "jump":
        part = os.path.join(directory, way)
        os.mkdir(part)
        done = recorded([program("fork_inside"), way], part)
        equal(done.status, 0, way + ": status, stderr: " + done.err)
        said = done.expected
        equal(said["right"], said["children"],
              way + ": children that ended well")
        check_blocks(done)


@case
def child_of_a_hook_returns_under_all_options(directory):
    for option, value in (("SAMPLE", "100"), ("MIN_SIZE", "100"),
                          ("GUARD", "16"), ("FREE_STACKS", "1"),
                          ("OFF", "1")):
        part = os.path.join(directory, option)
        os.mkdir(part)
        done = recorded([program("fork_inside")], part,
                        env=environment(**{"GNOMON_" + option: value}))
        equal(done.status, 0, option + ": status, stderr: " + done.err)
        equal(done.expected["right"], done.expected["children"],
              option + ": children that ended well")


@case
def oracle_agrees(directory):
    for argument in ([], ["jump"], ["stack"], ["jump", "stack"], ["within"],
                     ["jump", "within"]):
        part = os.path.join(directory, "-".join(argument) or "plain")
        os.mkdir(part)
        done = recorded([program("signals"), *argument], part,
                        env=environment(GNOMON_DEBUG_ORACLE=1))
        counters = info(done.trace)
        check(int(find_key(counters, "oracle_checks")) > 0, "checks")
        equal(int(find_key(counters, "oracle_differences")), 0, "differences")


# A trap before an instruction of one byte, the function's last.
AT_THE_END = r"""
#include <signal.h>
#include <stdlib.h>
void ends(void), begins(void);
__asm__(".text\n.globl ends, begins\n"
        ".type ends, @function\nends: .cfi_startproc\n int3\n ret\n"
        ".cfi_endproc\n.size ends, . - ends\n"
        ".type begins, @function\nbegins: .cfi_startproc\n nop\n ret\n"
        ".cfi_endproc\n.size begins, . - begins\n");
static void on(int number)
{
    free(malloc((size_t)(1000 + number)));
}
int main(void)
{
    signal(SIGTRAP, on);
    ends();
    begins();
    return 0;
}
"""


@case
def where_a_function_was_interrupted(directory):
    """At its last byte it is still that function."""
    need("gcc")
    source = os.path.join(directory, "ends.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(AT_THE_END)
    path = os.path.join(directory, "ends")
    equal(bare(["gcc", "-g", source, "-o", path]).status, 0, "gcc")
    done = recorded([path], directory)
    equal(done.status, 0, done.err)
    rows = Report(done.trace).rows_with("^on$")
    equal([[frame["function"] for frame in row["stack"]][:4] for row in rows],
          [["on", "<signal handler called>", "ends", "main"]], "stack")
    shown = gnomon("annotate", "--disassembly", done.trace, "ends").out
    check(re.search(r"(?m)^ *1005 B .* ret .*interrupted", shown), shown)


main()
