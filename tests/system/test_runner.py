#!/usr/bin/python3
"""How tests/run handles tests that fail, end early, print nothing, or skip
cases."""

import fnmatch

from gnomon_test import *

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RUN = os.path.join(TESTS, "run")
SKIPS = os.path.join(TESTS, "skips")


def ran(directory, says, status=0, skips="", more=()):
    """(exit status, output) of tests/run with a test that says and ends so."""
    test = os.path.join(directory, "test_x.py")
    with open(test, "w", encoding="utf-8") as file:
        file.write(says if "import" in says else
                   "print(%r)\nraise SystemExit(%d)\n" % (says, status))
    listed = os.path.join(directory, "skips")
    with open(listed, "w", encoding="utf-8") as file:
        file.write(skips)
    done = bare(["/usr/bin/python3", RUN, "--skips", listed, *more, test])
    return done.status, done.out


def expect(directory, status, line, *arguments, **options):
    got, out = ran(directory, *arguments, **options)
    equal((got, out.splitlines()[-1]), (status, line), out)
    return out


@case
def all_of_a_plan(directory):
    expect(directory, 0, "2 passed, 0 failed", "ok 1 - a\nok 2 - b\n1..2")
    expect(directory, 0, "1 passed, 0 failed", "1..1\nok 1 - a")


@case
def nothing_said(directory):
    out = expect(directory, 1, "0 passed, 1 failed", "all is well")
    check("without a plan" in out, out)
    expect(directory, 1, "1 passed, 1 failed", "ok 1 - a")


@case
def another_number_than_planned(directory):
    for said in "ok 1 - a\n1..2", "ok 1 - a\nok 2 - b\n1..1":
        out = ran(directory, said)
        equal(out[0], 1, said)
        check("planned" in out[1], out[1])


@case
def a_failure(directory):
    expect(directory, 1, "1 passed, 1 failed",
           "ok 1 - a\nnot ok 2 - b\n1..2", 1)
    # whatever it ends with
    expect(directory, 1, "1 passed, 1 failed",
           "ok 1 - a\nnot ok 2 - b\n1..2", 0)


@case
def wrong_exit_statuses(directory):
    for status in 1, 77:
        out = expect(directory, 1, "1 passed, 1 failed", "ok 1 - a\n1..1",
                     status)
        check("status %d" % status in out, out)
    expect(directory, 1, "1 passed, 1 failed",
           "import os\nprint('ok 1 - a', '1..1', sep='\\n', flush=True)\n"
           "os.kill(os.getpid(), 9)\n")
    out = expect(directory, 1, "1 passed, 1 failed",
                 "import time\nprint('ok 1 - a', '1..1', sep='\\n', "
                 "flush=True)\ntime.sleep(1000)\n", more=("-t", "1"))
    check("out of time" in out, out)


LEAVES = """
import sys
sys.path.insert(0, %r)
from gnomon_test import *

@case
def a(directory):
    left = subprocess.Popen(["sleep", "1000"], start_new_session=True,
                            env=dict(os.environ, LEFT=directory + "/x"))
    print("#", left.pid)
    check(False, "failed")

main()
"""


@case
def what_a_failure_leaves_running(directory):
    status, out = ran(directory, LEAVES % os.path.dirname(TESTS + "/system/"))
    equal(status, 1, out)
    left = re.search(r"# (\d+)", out)
    check(left, out)
    check(wait_for(lambda: has_ended(int(left[1]))), "it still runs")


LEFT_OUT = "ok 1 - a # SKIP nobody is here\nok 2 - b\n1..2"
# of two words each: where it may be left out, and whether it is so here
LISTED = "*/test_x :: nobody is * :: %s ::\n\t%s\n"


@case
def left_out(directory):
    out = expect(directory, 1, "1 passed, 1 failed", LEFT_OUT)
    check("may not be left out" in out, out)
    expect(directory, 0, "1 passed, 0 failed, 1 skipped", LEFT_OUT,
           skips="# of a machine\n\n" + LISTED % ("anywhere", "true"))
    for other in (LISTED % ("anywhere", "false"),
                  LISTED.replace("nobody", "somebody") % ("anywhere", "true"),
                  LISTED.replace("_x", "_y") % ("anywhere", "true")):
        expect(directory, 1, "1 passed, 1 failed", LEFT_OUT, skips=other)
    # the first whose condition holds counts
    expect(directory, 0, "1 passed, 0 failed, 1 skipped", LEFT_OUT,
           skips=LISTED % ("anywhere", "false") +
           LISTED % ("anywhere", "true"))


@case
def left_out_where_nothing_may_be_missing(directory):
    for where, status in ("elsewhere", 1), ("anywhere", 0):
        got, out = ran(directory, LEFT_OUT, skips=LISTED % (where, "true"),
                       more=("--complete",))
        equal(got, status, where + ": " + out)


@case
def what_is_not_installed(directory):
    """{} in a condition is what * was in the reason."""
    listed = "* :: * is not installed :: anywhere :: ! command -v {}\n"
    for name, status in ("no-such-command", 0), ("sh", 1), ("a b; :", 0):
        got, out = ran(directory, "ok 1 - a # SKIP %s is not installed\n"
                       "ok 2 - b\n1..2" % name, skips=listed)
        equal(got, status, name + ": " + out)


@case
def malformed_list_of_skips(directory):
    for line in "a :: b\n", "a :: b :: nowhere :: true\n":
        got, out = ran(directory, "ok 1 - a\n1..1", skips=line)
        check(got != 0 and not out, line + out)


# Each place where a test leaves something out, and the reason's beginning.
RAISES = re.compile(r"raise Skip\(\s*(?:\"([^\"]*)\")?")


@case
def each_reason_is_listed(directory):
    """Each test that may leave something out is on the list, and each on the
    list is a test."""
    with open(SKIPS, encoding="utf-8") as file:
        rows = [line.split(" :: ") for line in
                file.read().replace("\n\t", " ").splitlines()
                if line.strip() and not line.startswith("#")]
    equal({len(row) for row in rows}, {4}, "columns")
    reasons = [row[1] for row in rows]
    for folder in "system", "fault", "arch":
        for name in sorted(os.listdir(os.path.join(TESTS, folder))):
            if not name.endswith(".py") or name in ("test_runner.py",
                                                    "gnomon_test.py"):
                continue
            with open(os.path.join(TESTS, folder, name),
                      encoding="utf-8") as file:
                for found in RAISES.finditer(file.read()):
                    begin = (found[1] or "").partition("%")[0]
                    check(not begin or any(
                        fnmatch.fnmatch(begin, each) or
                        each.startswith(begin.rstrip())
                        or begin.startswith(each.rstrip("*"))
                        for each in reasons if each.rstrip("*")),
                        "%s: %r is not in tests/skips" % (name, begin))
    tests = ["%s/%s" % (folder, os.path.splitext(name)[0])
             for folder in ("system", "fault", "arch", "unit")
             for name in os.listdir(os.path.join(TESTS, folder))]
    for row in rows:
        check(fnmatch.filter(tests, row[0]), "no test %s" % row[0])


main()
