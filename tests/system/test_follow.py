#!/usr/bin/python3
"""Which children are recorded; programs do not see gnomon's environment
variables."""

import difflib

from gnomon_test import *

def same(done, alone):
    """What the programs see, said shortly."""
    equal((done.status, done.err), (alone.status, alone.err), "result")
    difference = difflib.unified_diff(alone.out.splitlines(),
                                      done.out.splitlines(), lineterm="", n=1)
    equal(list(difference), [], "what the programs see")


# starts.c: execs after a fork and after a vfork, two spawns; by a shell.
BY_EXEC, BY_SHELL = 2 * 16 + 2, 2


def commands(directory):
    return [find_key(info(trace), "command") or ""
            for trace in traces_in(directory)]


def counted(directory):
    """(traces of leaves, of forked children that did not exec, others)"""
    leaves = forked = others = 0
    for command in commands(directory):
        if not command.startswith(program("starts")):
            others += 1
        elif "leaf" in command:
            leaves += 1
        else:
            forked += 1
    return leaves, forked - 1, others


def make(follow, by):
    def follows(directory):
        argv = [program("starts")]
        # the last begins like a variable of ours, and is none
        env = environment(SOME="thing", HOME="/root", GNOMON_MINE="too")
        alone = bare(argv, env)
        if by == "preload":
            env["GNOMON_FOLLOW"] = follow
            more = {"by": by}
        else:
            more = {"options": ["-q", "--follow", follow]}
        done = recorded(argv, directory, env=env, **more)
        same(done, alone)
        leaves, forked, others = counted(directory)
        equal(leaves, BY_EXEC + BY_SHELL if follow in ("exec", "all") else 0,
              "programs recorded")
        if follow in ("fork", "all"):
            check(forked >= 1, "%d forked children recorded" % forked)
        else:
            equal(forked, 0, "forked children recorded")
        check((others > 0) == (follow in ("exec", "all")), "shells")
    follows.__name__ = "follow_%s_by_%s" % (follow, by)
    return follows


for each in "none", "fork", "exec", "all":
    case(make(each, "run"))
case(make("all", "preload"))
case(make("none", "preload"))


@case
def many_variables(directory):
    """An environment that is too large for a small stack."""
    argv = [program("starts"), "many"]
    env = environment(SOME="thing", HOME="/root")
    alone = bare(argv, env)
    done = recorded(argv, directory, env=env, options=["-q"])
    same(done, alone)
    equal(counted(directory)[0], BY_EXEC, "programs recorded")


@case
def other_preloads(directory):
    """They stay what they are, wherever we stand in the list."""
    other = need_file("/lib/x86_64-linux-gnu/libdl.so.2")
    script = "echo $LD_PRELOAD $GNOMON_OUTPUT; env | grep -c LD_PRELOAD"
    for number, (given, seen, count) in enumerate((
            ("%s:" + other, other, 1), (other + ":%s", other, 1),
            (other + " %s " + other, other + " " + other, 1),
            ("%s", "", 0))):
        part = os.path.join(directory, str(number))
        os.mkdir(part)
        done = bare(["sh", "-c", script], environment(
            LD_PRELOAD=given % LIBRARY,
            GNOMON_OUTPUT=os.path.join(part, "%e.%p.trace")))
        settle(part)
        equal((done.out, done.err), ("%s\n%d\n" % (seen, count), ""), given)
        check(len(traces_in(part)) >= 2, "traces of children")


@case
def library_out_of_reach(directory):
    """A program in another root directory runs without us, and without a
    word of the loader's."""
    need_root("change its root directory")
    cage = os.path.join(directory, "cage")
    libraries = re.findall(r"(/\S+) \(0x", bare(["ldd", "/usr/bin/env"]).out)
    for path in libraries + ["/usr/bin/env"]:
        os.makedirs(cage + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, cage + path)
    script = ("import os; os.chroot(%r); os.chdir('/');"
              "os.execve('/usr/bin/env', ['env'], {'A': '1'})" % cage)
    done = recorded(["/usr/bin/python3", "-c", script], directory, by="preload")
    equal((done.status, done.out, done.err), (0, "A=1\n", ""), "result")


@case
def short_exec_is_not_an_exit(directory):
    """The recorder's next look would come too late to tell them apart."""
    for i in range(5):
        part = os.path.join(directory, str(i))
        os.mkdir(part)
        done = recorded(["sh", "-c", "exec true"], part)
        equal(done.status, 0, "status")
        ends = sorted(find_key(info(trace), "reason")
                      for trace in traces_in(part))
        equal(ends, ["exec", "exit"], "how they ended")


main()
