#!/usr/bin/python3
"""gnomon run: the program's streams, status and signals are its own."""

from gnomon_test import *


def run(directory, *argv, options=(), **more):
    return bare([GNOMON, "run", *options, *argv], cwd=directory, **more)


@case
def status_of_the_program(directory):
    for status in (0, 1, 3, 77, 124, 125, 126, 127, 255):
        done = run(directory, "sh", "-c", "exit %d" % status)
        equal(done.status, status, "status")


@case
def signal_of_the_program(directory):
    for name in ("TERM", "KILL", "HUP", "USR1"):
        done = run(directory, "sh", "-c", "kill -%s $$" % name)
        equal(done.status, -getattr(signal, "SIG" + name), name)


@case
def not_found_and_not_executable(directory):
    equal(run(directory, "no-such-program-here").status, 127, "not found")
    equal(run(directory, "./no-such-file").status, 127, "no such path")
    plain = os.path.join(directory, "plain")
    with open(plain, "w", encoding="utf-8") as file:
        file.write("text")
    equal(run(directory, "./plain").status, 126, "not executable")
    equal(run(directory, directory).status, 126, "a directory")
    for done in (run(directory, "no-such-program-here"),
                 run(directory, "./plain")):
        check(done.err.startswith("gnomon: "), "message: %r" % done.err)
    equal(traces_in(directory), [], "traces of programs that never ran")


@case
def wrong_use(directory):
    for options in (["--no-such-option"], ["--depth", "-1"],
                    ["--memory", "lots"], ["--shadow-stack", "maybe"], []):
        argv = ["touch", "started"] if options else []
        done = run(directory, *argv, options=options)
        equal(done.status, 125, "status of %s" % options)
        check(done.err.startswith("gnomon: ") or "usage" in done.err.lower(),
              "message: %r" % done.err)
    check(not os.path.exists(os.path.join(directory, "started")),
          "the program was started")
    equal(gnomon("no-such-command", statuses=(2,)).status, 2, "command")


@case
def static_programs_are_told(directory):
    """What cannot be recorded is an error, which is said to who wants quiet,
    too; the program runs all the same."""
    source = os.path.join(directory, "still.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main(void) { return 3; }")
    bare(["gcc", "-static", "-o", source[:-2], source])
    for options in [], ["-q"]:
        done = run(directory, "./still", options=options)
        equal(done.status, 3, "status")
        check("is statically linked" in done.err, done.err)
    equal(traces_in(directory), [], "traces")


@case
def existing_file_is_kept(directory):
    path = os.path.join(directory, "my.trace")
    with open(path, "w", encoding="utf-8") as file:
        file.write("precious")
    done = run(directory, "true", options=["-o", path])
    equal(done.status, 125, "status")
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "precious", "contents")
    equal(run(directory, "true", options=["-f", "-o", path]).status, 0,
          "with force")
    Report(path)


def programs_of(directory, name):
    """What each trace whose name begins so is of."""
    return {os.path.basename(path)[len(name):]:
            (os.path.basename(find_key(info(path), "exe")),
             int(find_key(info(path), "pid")))
            for path in traces_in(directory)}


# A child whose parent has ended becomes another program. Nothing is started to
# wait for that: the number of the first process is not that of the parent then.
ORPHAN = ("(while read pid name state rest </proc/$$/stat && "
          "[ $state != Z ]; do :; done 2>/dev/null; exec basename x; :) & "
          "exit 0")


def each_keeps_its_own(directory, name):
    """After ORPHAN: the shell, its child, and what became of that."""
    def complete():
        return (sum(of[0] == "basename" for of in
                    programs_of(directory, name).values()) == 1
                and all(map(has_end, traces_in(directory))))

    check(wait_for(complete), "traces: %r" % programs_of(directory, name))
    found = programs_of(directory, name)
    child = next(pid for of, pid in found.values() if of == "basename")
    check(found[""][0] != "basename", "first: %r" % found)
    check(found[""][1] != child, "the child has its parent's name")
    equal(found[".%d.1" % child][0], "basename", "after exec: %r" % found)
    check(".%d" % child in found, "before exec: %r" % found)
    equal(len(found), 3, "traces: %r" % found)


@case
def force_keeps_the_traces_of_its_run(directory):
    path = os.path.join(directory, "my.trace")
    for _ in range(2):
        with open(path, "w", encoding="utf-8") as file:
            file.write("old")
        done = run(directory, "sh", "-c", ORPHAN, options=["-f", "-o", path])
        equal(done.status, 0, "status: " + done.err)
        each_keeps_its_own(directory, "my.trace")
        for trace in traces_in(directory):
            os.unlink(trace)


@case
def force_of_the_library_alone(directory):
    path = os.path.join(directory, "my.trace")
    with open(path, "w", encoding="utf-8") as file:
        file.write("old")
    time.sleep(0.1)
    bare(["sh", "-c", ORPHAN], environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=path, GNOMON_FORCE="1"))
    each_keeps_its_own(directory, "my.trace")


@case
def exec_with_force_takes_the_next_name(directory):
    path = os.path.join(directory, "my.trace")
    for _ in range(2):
        run(directory, "sh", "-c", "exec basename x",
            options=["-f", "-o", path])
        settle(directory)
        found = programs_of(directory, "my.trace")
        equal(sorted(found), ["", ".1"], "traces")
        equal(found[".1"][0], "basename", "second")
        os.unlink(path + ".1")


@case
def directory_is_not_replaced(directory):
    done = run(directory, "true", options=["-f", "-o", directory])
    equal(done.status, 125, "status")
    check("directory" in done.err, done.err)


@case
def preload_takes_the_next_name(directory):
    path = os.path.join(directory, "my.trace")
    with open(path, "w", encoding="utf-8") as file:
        file.write("precious")
    bare([program("basic")], environment(LD_PRELOAD=LIBRARY,
                                         GNOMON_OUTPUT=path))
    check(wait_for(lambda: os.path.exists(path + ".1")
                   and has_end(path + ".1")), "my.trace.1 with its end")
    Report(path + ".1")
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "precious", "contents")


@case
def path_lookup_and_arguments(directory):
    tool = os.path.join(directory, "tool with blank")
    with open(tool, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nfor i; do echo \"[$i]\"; done\n")
    os.chmod(tool, 0o755)
    env = environment(PATH=directory + ":" + os.environ["PATH"])
    done = run(directory, "tool with blank", "a b", "-o", "", "--", "*",
               options=["--"], env=env)
    equal(done.out, "[a b]\n[-o]\n[]\n[--]\n[*]\n", "arguments")


@case
def standard_streams(directory):
    done = subprocess.run(
        [GNOMON, "run", "--", "sh", "-c", "cat; echo err >&2"],
        input=b"to standard input\n", capture_output=True, cwd=directory,
        env=environment(), timeout=RUN_SECONDS)
    equal(done.stdout, b"to standard input\n", "stdout")
    check(done.stderr.startswith(b"err\n"), "stderr: %r" % done.stderr)


@case
def closing_paragraph(directory):
    done = run(directory, program("basic"))
    equal(done.out, bare([program("basic")]).out, "stdout")
    for word in ("1020", "50", ".trace", "gnomon report"):
        check(word in done.err.replace(",", "").replace(" ", " "),
              "%r is not in %r" % (word, done.err))


@case
def closing_paragraph_of_one_block(directory):
    need("gcc")
    binary = os.path.join(directory, "one_block")
    subprocess.run(["gcc", "-x", "c", "-o", binary, "-"], check=True,
                   input=b"#include <stdlib.h>\n"
                         b"int main(void) { return !malloc(9); }\n")
    done = run(directory, binary)
    check(" 1 allocation, " in done.err and " in 1 block; " in done.err,
          done.err)


@case
def closing_paragraph_of_a_long_trace(directory):
    """It is not read to the end: the command ends when the program does."""
    done = run(directory, program("churn"), "2700000")
    for word in (" events in ", "nothing dropped", ".trace", "gnomon report"):
        check(word in done.err, "%r is not in %r" % (word, done.err))
    check("live at the end" not in done.err, done.err)


@case
def quiet(directory):
    done = bare([GNOMON, "run", "-q", program("basic")], cwd=directory)
    equal((done.status, done.err), (0, ""), "quiet run")


@case
def default_name_and_mode(directory):
    run(directory, program("basic"))
    trace, = traces_in(directory)
    check(re.fullmatch(r"gnomon\.basic\.\d+\.trace", os.path.basename(trace)),
          trace)
    equal(os.stat(trace).st_mode & 0o777, 0o600, "mode")
    # The newest trace here is what a command means without one.
    done = bare([GNOMON, "report", "--json"], cwd=directory)
    equal(json.loads(done.out)["summary"]["allocations"], 1020, "newest")


@case
def interrupt_of_the_group(directory):
    """Ctrl-C reaches the program, which may do as it likes; gnomon waits."""
    script = ("import os, signal, sys, time\n"
              "def stop(*_):\n"
              "    os.write(1, b'interrupted\\n')\n"
              "    sys.exit(7)\n"
              "signal.signal(signal.SIGINT, stop)\n"
              "print('ready', flush=True)\n"
              "while True: time.sleep(1)\n")
    process = subprocess.Popen(
        [GNOMON, "run", "/usr/bin/python3", "-c", script], cwd=directory,
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.default_int_handler))
    equal(process.stdout.readline(), b"ready\n", "start")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=RUN_SECONDS)
    equal((process.returncode, out), (7, b"interrupted\n"), "end: %r" % err)
    Report(traces_in(directory)[0])


@case
def interrupt_that_kills(directory):
    process = subprocess.Popen(
        [GNOMON, "run", program("killable"), "counts"], cwd=directory,
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL))
    equal(process.stdout.readline(), b"ready\n", "start")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=RUN_SECONDS)
    equal(process.returncode, -signal.SIGINT, "status: %r" % err)
    Report(traces_in(directory)[0])


@case
def signal_to_gnomon_is_passed_on(directory):
    process = subprocess.Popen(
        [GNOMON, "run", program("killable"), "counts"], cwd=directory,
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True)
    equal(process.stdout.readline(), b"ready\n", "start")
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=RUN_SECONDS)
    equal(process.returncode, -signal.SIGTERM, "status")


@case
def wrong_variable(directory):
    """One message, and the program runs unrecorded."""
    done = bare([program("basic")], environment(
        LD_PRELOAD=LIBRARY, GNOMON_MEMORY="lots",
        GNOMON_OUTPUT=os.path.join(directory, "x.trace")))
    equal(done.status, 0, "status")
    equal(done.out, bare([program("basic")]).out, "stdout")
    equal(len(done.err.splitlines()), 1, "lines in %r" % done.err)
    check("GNOMON_MEMORY" in done.err, "message: %r" % done.err)
    equal(traces_in(directory), [], "traces")


@case
def what_cannot_be_is_told_before_the_start(directory):
    mark = os.path.join(directory, "started")
    for options, wanted in (
            (("--min-size=10", "--max-size=5"), "--min-size"),
            (("--chown=no.such.user",), "no such user"),
            (("--chown=daemon:no.such.group",), "no such user or group"),
            (("--chown=:",), "no such user or group"),
            (("--signal=USR1=dance",), "USR1=dance"),
            (("--sort=height",), "height"),
            (("--output=/dev/stdout", "--report"), "--report")):
        done = run(directory, "touch", mark, options=options)
        variables = {
            "GNOMON_" + name[2:].upper().replace("-", "_"): value
            for name, _, value in (option.partition("=")
                                   for option in options)}
        also = run(directory, "touch", mark, env=environment(**variables))
        for one in (done, also):
            equal((one.status, one.out), (125, ""), str(options))
            check(wanted in one.err, one.err)
            equal(one.err.count("\n"), 1, one.err)
        check(not os.path.exists(mark), "it was started")
        alone = bare(["touch", mark], cwd=directory, env=environment(
            LD_PRELOAD=LIBRARY, **variables))
        equal((alone.status, alone.out), (0, ""), "alone")
        check(wanted in alone.err and "is not recorded" in alone.err,
              alone.err)
        equal(alone.err.count("\n"), 1, alone.err)
        os.unlink(mark)
    equal(traces_in(directory), [], "traces")
    done = run(directory, "echo", "a", options=("-o", "-", "--report"))
    equal((done.status, done.out), (125, ""), done.err)


@case
def help_and_version(directory):
    for command in ([], ["run"], ["report"], ["info"]):
        done = gnomon(*command, "--help")
        check("usage" in done.out.lower() and not done.err,
              "help of %s" % command)
    check(re.search(r"\d+\.\d+", gnomon("--version").out), "version")


@case
def in_a_directory_that_is_gone(directory):
    gone = os.path.join(directory, "gone")
    os.mkdir(gone)
    done = bare(["sh", "-c", "cd %s && rmdir %s && exec %s run -q /bin/echo it"
                 % (gone, gone, GNOMON)],
                environment(XDG_STATE_HOME=directory, TMPDIR=directory))
    equal((done.status, done.out), (0, "it\n"), "result; " + done.err)
    check("the trace is" in done.err, "where the trace is: " + done.err)


main()
