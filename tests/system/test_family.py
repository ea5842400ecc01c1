#!/usr/bin/python3
"""Recordings of a script or a wrapper: reports select the trace of the intended
program."""

import re

from gnomon_test import *


def script(directory, *lines):
    path = os.path.join(directory, "script.sh")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + "\n".join(lines) + "\n")
    os.chmod(path, 0o755)
    return path


def run_here(directory, *argv):
    """The lines that `gnomon run` ends with."""
    done = gnomon("run", "-o", "w.trace", *argv, cwd=directory)
    settle(directory)
    return done.err


def shown_here(directory):
    """The program of the report of the newest trace, and the messages."""
    done = gnomon("report", "--all", "--top", "1", cwd=directory)
    return re.search(r"program +(\S+)", done.out).group(1), done.err


@case
def what_a_script_becomes_by_exec(directory):
    said = run_here(directory, script(directory, "true",
                                      "exec %s a" % program("wordy")))
    check("recorded in w.trace.1\n" in said, said)
    equal(shown_here(directory)[0], program("wordy"), "report")
    # whichever was written last
    os.utime(os.path.join(directory, "w.trace"))
    shown, said = shown_here(directory)
    equal(shown, program("wordy"), "report, the shell's being newer")
    check("w.trace.1: read instead of w.trace, which started" in said, said)
    table = gnomon("report", directory).out
    check("replaced by another program (exec); " in table, table)
    equal(table.count("exited with status 0"), 1, table)


@case
def what_a_script_starts(directory):
    inner = os.path.join(directory, "inner")
    os.mkdir(inner)
    said = run_here(directory, "env", "A=1", "sh", "-c",
                    "/bin/true; %s; :" % script(inner, program("wordy"), ":"))
    check(re.search(r"recorded in w\.trace\.\d+\n", said), said)
    check("that is what it started; its own trace is w.trace" in said, said)
    for trace in traces_in(directory):
        os.utime(trace)
        equal(shown_here(directory)[0], program("wordy"), "report")


@case
def what_forked_is_counted(directory):
    """The figures at the end are those of the first process alone: its child
    and grandchild are counted, there and in the report."""
    said = run_here(directory, "/usr/bin/python3", "-c",
                    "import subprocess; subprocess.run(['sh', '-c', '%s; :'])"
                    % program("wordy"))
    check("not in these figures: 2 traces of child processes, see gnomon "
          "report .\n" in said, said)
    shown = gnomon("report", "w.trace", cwd=directory).out
    check("  children     2 traces of child processes: " in shown, shown)
    alone = bare([GNOMON, "run", "-o", "alone/w.trace", program("wordy")],
                 cwd=directory)
    check("child" not in alone.err, alone.err)


@case
def long_paths_leave_room_for_arguments(directory):
    inner = os.path.join(directory, 60 * "d")
    os.mkdir(inner)
    shutil.copy(program("wordy"), inner)
    run_here(directory, os.path.join(inner, "wordy"), "an-argument")
    lines = gnomon("report", directory).out.splitlines()
    check(any(line.endswith("  wordy an-argument") for line in lines), lines)
    full = gnomon("report", "--full-names", directory).out
    check("  %s" % inner[:20] in full, full)


@case
def other_programs_are_shown_themselves(directory):
    run_here(directory, "/usr/bin/python3", "-c",
             "import subprocess; subprocess.run(['%s'])" % program("wordy"))
    check("python" in shown_here(directory)[0], shown_here(directory))
    # whichever was written last
    for trace in traces_in(directory):
        os.utime(trace)
        check("python" in shown_here(directory)[0], shown_here(directory))


@case
def a_shell_that_started_nothing(directory):
    said = run_here(directory, "sh", "-c", ": ; :")
    check("recorded in w.trace\n" in said, said)
    check("sh" in shown_here(directory)[0], shown_here(directory))


if __name__ == "__main__":
    main()
