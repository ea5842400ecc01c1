#!/usr/bin/python3
"""The imports and exports of the preload library; processes that it must leave
alone."""

from gnomon_test import *

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


@case
def needs_and_exports(directory):
    done = bare(["/usr/bin/python3", "tests/tools/lint.py", "library",
                 LIBRARY], cwd=ROOT)
    equal((done.status, done.out), (0, ""), "offences")


@case
def each_function_is_tested(directory):
    done = bare(["/usr/bin/python3", "tests/tools/lint.py", "called",
                 *glob.glob(program("*")), *glob.glob(program("matrix/*"))],
                cwd=ROOT)
    equal((done.status, done.out), (0, ""), "offences")


@case
def only_what_is_needed_is_executable(directory):
    out = bare(["readelf", "-lW", LIBRARY]).out
    for line in out.splitlines():
        check("RWE" not in line, "writable and executable: " + line)
    check("GNU_RELRO" in out, "no RELRO")


@case
def library_prints_nothing(directory):
    done = recorded(["true"], directory, by="preload")
    equal((done.status, done.out, done.err), (0, "", ""), "result")


@case
def loader_that_only_lists(directory):
    """Where the dynamic loader lists libraries, nothing of ours may run."""
    loader = re.search(r"/\S*/ld-linux\S*", bare(
        ["readelf", "-lW", "/bin/true"]).out.replace("]", " ")).group(0)
    done = bare([loader, "--list", "/bin/true"], environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(directory, "x.trace")))
    equal((done.status, done.err), (0, ""), "list")
    equal(traces_in(directory), [], "traces")


@case
def descriptors_and_children(directory):
    """The program finds no descriptor, child or thread that is not its own,
    and no pending wait."""
    script = ("import os\n"
              "print(sorted(os.listdir('/proc/self/fd'))[:4])\n"
              "print(len(os.listdir('/proc/self/task')))\n"
              "x = [bytes(i) for i in range(20000)]\n"
              "try: print(os.waitpid(-1, os.WNOHANG))\n"
              "except ChildProcessError: print('none')\n")
    argv = ["/usr/bin/python3", "-c", script]
    alone = bare(argv)
    done = recorded(argv, directory, by="preload")
    equal(done.out, alone.out, "what the program sees")


@case
def core_dumps_are_the_programs(directory):
    """What is ours to write is in no core dump."""
    script = "print(open('/proc/self/smaps').read())"
    done = recorded(["/usr/bin/python3", "-c", script], directory,
                    by="preload")
    flags = re.findall(r"^\S+ \S+ \S+ \S+ \S+ *(.*)(?:\n[A-Z].*?)*"
                       r"\nVmFlags: (.*)$", done.out, re.M)
    live = [own for path, own in flags if re.search(r"\.live$", path)]
    wiped = [own for path, own in flags if "wf" in own.split()]
    check(wiped, "no memory that a fork wipes")
    for own in live + wiped:
        check("dd" in own.split(), "dumped: " + own)


main()
