#!/usr/bin/python3
"""Programs that drop privileges: their recorder drops them, too, and
continues."""

import stat

from gnomon_test import *
from privileges import *


def start(way, directory):
    """A recorded process that has said "now"; what it said before."""
    need_root("give up something")
    if bare([program("privileges"), way]).status == 77:
        raise Skip("not allowed here: " + way)
    process = subprocess.Popen(
        [program("privileges"), way], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
            directory, "x.trace")))
    said = b""
    for line in process.stdout:
        if line == b"now\n":
            return process, said.decode()
        said += line
    raise Failure("ended with %d: %s" % (process.wait(),
                                         process.stderr.read()))


def end(process, text=b"\n"):
    out, err = process.communicate(text, timeout=RUN_SECONDS)
    equal((process.returncode, err), (0, b""), "end")
    return out.decode()


def make(way):
    def gives_up(directory):
        trace = os.path.join(directory, "x.trace")
        alone = bare([program("privileges"), way])
        process, said = start(way, directory)
        try:
            equal(status_of(recorder_of(trace)), status_of(process.pid),
                  "privileges of the recorder")
            time.sleep(0.15)
        finally:
            out = end(process)
        settle(directory)
        equal(said, alone.out.split("now\n")[0], "results and errno")
        agree(Done(0, out, "").expected, Report(trace))
        equal(find_key(info(trace), "reason"), "exit", "reason")
        live = find_key(info(trace), "live")
        check(not live or not os.path.exists(live), "the live file is left")
    gives_up.__name__ = "gives_up_by_" + way
    return gives_up


for each in "setuid", "setres", "many", "init", "raw", "caps", "there", "space":
    case(make(each))


@case
def exec_as_another_user(directory):
    """An exec is seen by who may not look into the process any more."""
    os.chmod(directory, 0o777)
    process, _ = start("exec", directory)
    trace = os.path.join(directory, "x.trace")
    process.stdin.write(b"\n")
    process.stdin.flush()
    check(wait_for(lambda: has_end(trace)), "recording goes on after exec")
    equal(find_key(info(trace), "reason"), "exec", "reason")
    end(process)


@case
def killed_with_its_recorder(directory):
    """What the live file keeps comes into the trace all the same."""
    process, _ = start("setuid", directory)
    trace = wait_begun(os.path.join(directory, "x.trace"))
    time.sleep(0.3)
    os.kill(recorder_of(trace), signal.SIGKILL)
    process.kill()
    process.wait()
    report = Report(trace)
    check(report.sums()["allocations"] > 10, "%s" % report.sums())
    equal(find_key(info(trace), "reason"), "killed", "reason")
    live = find_key(info(trace), "live")
    check(not live or not os.path.exists(live), "the live file is left")


OTHERS = 65533  # a user who owns nothing

# Who runs a program that belongs to whom; either way it starts with more, or
# other, rights than its caller has, and the system ignores LD_PRELOAD.
STRANGERS = {
    "another user's": (OTHERS, 65534, stat.S_ISUID),
    "another group's": (OTHERS, 65534, stat.S_ISGID),
    "a lesser user's": (0, 65534, stat.S_ISUID),
}


@case
def of_another_user(directory):
    """Set-user-ID programs run as they would: not recorded, which is said
    once, by the command only."""
    need_root("own a program that others run")
    need_reach()
    os.chmod(directory, 0o777)
    copy = os.path.join(directory, "copy")
    shutil.copy(program("whoami"), copy)
    for what, (runner, owner, bit) in STRANGERS.items():
        os.chown(copy, owner, owner)
        os.chmod(copy, 0o755 | bit)
        become = ["setpriv", "--reuid=%d" % runner, "--regid=%d" % runner,
                  "--clear-groups", "--"]
        alone = bare(become + [copy])
        if alone.expected["secure"] != 1:
            raise Skip("set-user-ID means nothing in this directory")
        pattern = os.path.join(directory, "%e.%p.trace")
        done = bare(become + [GNOMON, "run", "-o", pattern, "--", copy])
        equal((done.status, done.out), (alone.status, alone.out), what)
        notes = done.err.splitlines()
        check(len(notes) == 1 and "is set-user-ID or set-group-ID" in notes[0],
              "%s: %r" % (what, notes))
        equal(traces_in(directory), [], what + ": traces")


main()
