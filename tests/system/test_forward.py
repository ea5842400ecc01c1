#!/usr/bin/python3
"""Each signal sent to `gnomon run` reaches the program once."""

import contextlib
import fcntl
import pty
import select
import termios

from gnomon_test import *

# Sent last, it arrives last: higher numbers are delivered after lower ones.
MARK = signal.SIGRTMAX
STOPPING = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
SENT = [number for number in range(1, 65)
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33, MARK,
                          *STOPPING)]


class Lines:
    """What comes from a descriptor, line by line, as long as it takes."""

    def __init__(self, fd):
        self.fd, self.rest = fd, b""

    def next(self, seconds=RUN_SECONDS):
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.fd], [], [], seconds)
            check(ready, "nothing is said after %r" % self.rest)
            more = os.read(self.fd, 4096)
            check(more, "the end, after %r" % self.rest)
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def until(self, wanted):
        """The lines up to one that begins so, which is the last."""
        lines = [self.next()]
        while not lines[-1].startswith(wanted):
            lines.append(self.next())
        return lines


class Wrapped:
    """signalled, under `gnomon run`, in a process group of its own."""

    def __init__(self, directory, *arguments, prefix=(), prepare=None):
        def begin():
            os.setpgid(0, 0)
            if prepare:
                prepare()

        self.process = subprocess.Popen(
            [*prefix, GNOMON, "run", "-q", "-o",
             os.path.join(directory, "%p.trace"), program("signalled"),
             *arguments], env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, preexec_fn=begin, restore_signals=False)
        self.pid = self.process.pid
        self.lines = Lines(self.process.stdout.fileno())
        *self.inherited, ready = self.lines.until("ready ")
        self.program = int(ready.split()[1])

    def heard(self):
        """What the program got up to now."""
        os.kill(self.pid, MARK)
        return self.lines.until("got %d" % MARK)[:-1]

    def end(self, status=0):
        self.process.stdin.write(b"%d\n" % status)
        self.process.stdin.close()
        equal(self.process.wait(RUN_SECONDS), status, "status")


def state(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def becomes(pid, wanted, what):
    check(wait_for(lambda: (state(pid) == "T") == wanted),
          "%s: %s" % (what, state(pid)))


def stopped_both(wrapped, what):
    becomes(wrapped.program, True, what + ": program")
    becomes(wrapped.pid, True, what + ": command")


def going_both(wrapped, what):
    becomes(wrapped.program, False, what + ": program")
    becomes(wrapped.pid, False, what + ": command")


@case
def to_the_command_alone(directory):
    wrapped = Wrapped(directory)
    for number in SENT:
        os.kill(wrapped.pid, number)
        equal(wrapped.heard(), ["got %d" % number], "alone")
    wrapped.end(7)
    check(has_end(traces_in(directory)[0]), "no end of the trace")


@case
def to_the_group(directory):
    """kill -INT -GROUP reaches both; the kernel does not say so."""
    wrapped = Wrapped(directory)
    for _ in range(5):
        for number in SENT:
            os.killpg(wrapped.pid, number)
            equal(wrapped.heard(), ["got %d" % number], "group")
    wrapped.end()


@case
def alone_after_the_group(directory):
    wrapped = Wrapped(directory)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        for to in (-wrapped.pid, wrapped.pid, wrapped.pid, -wrapped.pid):
            os.kill(to, number)
            equal(wrapped.heard(), ["got %d" % number], "to %d" % to)
    wrapped.end()


@case
def burst_of_signals_makes_none(directory):
    """Of many at once some may be one; none may become two, or none at all."""
    wrapped = Wrapped(directory)
    for _ in range(100):
        for _ in range(10):
            os.killpg(wrapped.pid, signal.SIGINT)
        heard = len(wrapped.heard())
        check(1 <= heard <= 10, "heard %d of 10" % heard)
    wrapped.end()


@case
def to_a_program_that_left_the_group(directory):
    """A leader of a group could not leave it, if gnomon was not there."""
    wrapped = Wrapped(directory, "leaves")
    check(os.getpgid(wrapped.program) != wrapped.pid, "it has not left")
    for to in (wrapped.pid, -wrapped.pid):
        os.kill(to, signal.SIGINT)
        equal(wrapped.heard(), ["got 2"], "to %d" % to)
    os.kill(wrapped.program, signal.SIGINT)
    equal(wrapped.heard(), ["got 2"], "to the program")
    wrapped.end()


@case
def to_all_of_its_name(directory):
    """pkill finds the command, not what helps it, by name or arguments."""
    need("pgrep")
    wrapped = Wrapped(directory)
    for arguments in (("gnomon",), ("-f", "gnomon run -q -o " + directory)):
        found = bare(["pgrep", "-g", str(wrapped.pid), *arguments])
        equal(found.out.split(), [str(wrapped.pid)], "found")
    wrapped.end()


@case
def signal_with_a_value(directory):
    wrapped = Wrapped(directory)
    number = signal.SIGRTMIN + 3
    for value in (1, 77, -5):
        sent = bare(["/usr/bin/env", "kill", "-%d" % number,
                     "-q", str(value), str(wrapped.pid)])
        if sent.status:
            raise Skip("this kill sends no values: " + sent.err)
        equal(wrapped.heard(), ["got %d %d" % (number, value)], "value")
    wrapped.end()


@case
def what_is_inherited(directory):
    """nohup, and what a parent ignored or blocked."""
    def prepare():
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGHUP, signal.SIGCHLD, signal.SIGTTOU):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK,
                               [signal.SIGUSR1, signal.SIGALRM])

    wrapped = Wrapped(directory, prepare=prepare)
    inherited = sorted(line for line in wrapped.inherited)
    equal(inherited, sorted(
        ["ignored %d" % number for number in
         (signal.SIGHUP, signal.SIGCHLD, signal.SIGTTOU)] +
        ["blocked %d" % number for number in
         (signal.SIGUSR1, signal.SIGALRM)]), "inherited")
    os.kill(wrapped.pid, signal.SIGHUP)
    equal(wrapped.heard(), ["got 1"], "it has a handler now")
    wrapped.end(3)


@case
def under_nohup(directory):
    wrapped = Wrapped(directory, prefix=("nohup",))
    check("ignored 1" in wrapped.inherited, "not ignored")
    wrapped.end()


@case
def stops_and_goes_on_by_the_command(directory):
    wrapped = Wrapped(directory)
    for number in STOPPING:
        os.kill(wrapped.pid, number)
        stopped_both(wrapped, "by %d" % number)
        pid, status = os.waitpid(wrapped.pid, os.WUNTRACED)
        check(os.WIFSTOPPED(status), "status %x" % status)
        equal(os.WSTOPSIG(status), number, "stopped by")
        os.kill(wrapped.pid, signal.SIGCONT)
        going_both(wrapped, "continued")
        equal(wrapped.heard(), ["got %d" % signal.SIGCONT], "continued")
    wrapped.end()


@case
def stops_and_goes_on_by_the_group(directory):
    wrapped = Wrapped(directory)
    for number in (signal.SIGTSTP, signal.SIGSTOP) * 3:
        os.killpg(wrapped.pid, number)
        stopped_both(wrapped, "by %d" % number)
        os.killpg(wrapped.pid, signal.SIGCONT)
        going_both(wrapped, "continued")
        equal(wrapped.heard(), ["got %d" % signal.SIGCONT], "continued")
    wrapped.end()


@case
def stops_and_goes_on_by_the_program(directory):
    """The command stops with it, and must not stay behind."""
    wrapped = Wrapped(directory)
    for number in (signal.SIGTSTP, signal.SIGSTOP) * 2:
        os.kill(wrapped.program, number)
        stopped_both(wrapped, "by %d" % number)
        os.kill(wrapped.program, signal.SIGCONT)
        going_both(wrapped, "continued")
        equal(wrapped.heard(), ["got %d" % signal.SIGCONT], "continued")
    os.kill(wrapped.program, signal.SIGSTOP)
    stopped_both(wrapped, "before the end")
    os.kill(wrapped.program, signal.SIGKILL)
    equal(wrapped.process.wait(RUN_SECONDS), -signal.SIGKILL, "status")
    check(has_end(traces_in(directory)[0]), "no end of the trace")


@case
def stop_and_continue_at_once(directory):
    """Whatever comes between the two, all goes on in the end."""
    wrapped = Wrapped(directory)
    for to in (wrapped.pid, -wrapped.pid):
        for _ in range(50):
            os.kill(to, signal.SIGTSTP)
            os.kill(to, signal.SIGCONT)
        going_both(wrapped, "in the end")
        equal(set(wrapped.heard()), {"got %d" % signal.SIGCONT}, "heard")
    wrapped.end()


def probe_of(wrapped):
    """The command's other child."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="ascii") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == wrapped.pid and int(pid) != wrapped.program:
            return int(pid)
    raise Failure("the command has no other child")


@case
def what_the_command_stopped_goes_on(directory):
    """Between a stop and SIGCONT of the group the command may have sent the stop
    on, when the program has had both already: as if the group but for the
    program were sent SIGCONT."""
    wrapped = Wrapped(directory)
    for _ in range(5):
        os.kill(wrapped.pid, signal.SIGTSTP)
        stopped_both(wrapped, "before")
        os.kill(probe_of(wrapped), signal.SIGCONT)
        os.kill(wrapped.pid, signal.SIGCONT)
        going_both(wrapped, "in the end")
        equal(wrapped.heard(), ["got %d" % signal.SIGCONT], "heard")
        # one that the whole group has had is sent once
        os.kill(wrapped.pid, signal.SIGTSTP)
        stopped_both(wrapped, "before a group's")
        os.killpg(wrapped.pid, signal.SIGCONT)
        going_both(wrapped, "after a group's")
        equal(wrapped.heard(), ["got %d" % signal.SIGCONT], "heard once")
    wrapped.end()


@case
def ends_by_the_signal(directory):
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGALRM, signal.SIGSEGV, signal.SIGTERM):
        process = subprocess.Popen(
            [GNOMON, "run", "-q", "-o", os.path.join(directory, "%p.trace"),
             program("killable"), os.path.join(directory, "counts")],
            env=environment(), stdout=subprocess.PIPE, cwd=directory,
            start_new_session=True)
        equal(process.stdout.readline(), b"ready\n", "start")
        os.kill(process.pid, number)
        equal(process.wait(RUN_SECONDS), -number, "status")
    equal([name for name in os.listdir(directory) if "core" in name], [],
          "cores")


@case
def a_command_that_is_killed(directory):
    """The program goes on, and is recorded to its end."""
    wrapped = Wrapped(directory)
    group = bare(["pgrep", "-g", str(wrapped.pid)]).out.split()
    wrapped.process.kill()
    wrapped.process.wait()
    os.kill(wrapped.program, signal.SIGINT)
    equal(wrapped.lines.until("got 2"), ["got 2"], "heard")
    equal(wrapped.lines.rest, b"", "more")
    wrapped.process.stdin.write(b"0\n")
    wrapped.process.stdin.close()
    check(wait_for(lambda: all(
        int(pid) == wrapped.program or not os.path.exists("/proc/" + pid)
        for pid in group)), "what helps the command is still there")
    settle(directory)
    check(has_end(traces_in(directory)[0]), "no end of the trace")


# ---- a terminal ----


def shell(directory, terminal, commands, words, arguments):
    """A session's leader, with its terminal: starts the command as a job in
    the foreground, tells what becomes of it, and does as it is told."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.dup2(terminal, 0)
        os.dup2(words, 1)
        os.execve(GNOMON, [GNOMON, "run", "-q", "-o",
                           os.path.join(directory, "%p.trace"),
                           program("signalled"), *arguments], environment())
    with contextlib.suppress(PermissionError):  # it has done so, and more
        os.setpgid(job, job)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(terminal, os.getpgrp())
        os.write(words, b"stopped %d\n" % os.WSTOPSIG(status))
        os.read(commands, 1)
        os.tcsetpgrp(terminal, job)
        os.killpg(job, signal.SIGCONT)
    os.write(words, b"ended %d\n" % status)


class Session:
    def __init__(self, directory, *arguments):
        self.keys, terminal = pty.openpty()
        commands, self.commands = os.pipe()
        words, written = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.keys)
            try:
                shell(directory, terminal, commands, written, arguments)
            finally:
                os._exit(0)
        os.close(terminal)
        os.close(written)
        self.lines = Lines(words)
        self.program = int(self.lines.until("ready ")[-1].split()[1])
        self.command = os.getpgid(self.program)

    def heard(self):
        os.kill(self.command, MARK)
        return self.lines.until("got %d" % MARK)[:-1]


@case
def from_the_keyboard(directory):
    session = Session(directory)
    for _ in range(3):
        for key, number in ((b"\x03", signal.SIGINT),
                            (b"\x1c", signal.SIGQUIT)):
            os.write(session.keys, key)
            heard = [session.lines.next()]
            equal(heard + session.heard(), ["got %d" % number], "key")
    fcntl.ioctl(session.keys, termios.TIOCSWINSZ,
                struct.pack("HHHH", 33, 44, 0, 0))
    equal(session.heard(), ["got %d" % signal.SIGWINCH], "window")
    os.kill(session.command, signal.SIGINT)
    equal(session.heard(), ["got 2"], "alone")
    os.write(session.keys, b"5\n")
    equal(session.lines.next(), "ended %d" % (5 << 8), "end")
    os.waitpid(session.pid, 0)


@case
def stopped_from_the_keyboard(directory):
    session = Session(directory)
    for _ in range(3):
        os.write(session.keys, b"\x1a")
        equal(session.lines.next(), "stopped %d" % signal.SIGTSTP, "Ctrl-Z")
        becomes(session.program, True, "program")
        os.write(session.commands, b"f")
        equal(session.lines.next(), "got %d" % signal.SIGCONT, "fg")
        equal(session.heard(), [], "more")
    os.write(session.keys, b"6\n")
    equal(session.lines.next(), "ended %d" % (6 << 8), "end")
    os.waitpid(session.pid, 0)


@case
def a_terminal_that_is_gone(directory):
    """Its session's leader is told, and ends: then the foreground is."""
    session = Session(directory, "stays")
    os.close(session.keys)
    equal(set(session.lines.next() for _ in range(2)),
          {"got %d" % signal.SIGHUP, "got %d" % signal.SIGCONT}, "hang-up")
    os.waitpid(session.pid, 0)
    equal(session.heard(), [], "more")
    os.kill(session.program, signal.SIGKILL)


@case
def in_a_shell(directory):
    """bash, interactive: Ctrl-Z, bg, fg, Ctrl-C."""
    need("bash")
    pid, keys = pty.fork()
    if pid == 0:
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                  environment(PS1="", TERM="dumb"))
    said = Lines(keys)
    said.rest = b""

    def type_in(text):
        os.write(keys, text)

    type_in(b"stty -echo; bind 'set enable-bracketed-paste off'\n")
    type_in(b"echo be''gin\n")
    said.until("begin")
    type_in(b"cd %s; %s run -q sleep 1000\n" % (directory.encode(),
                                                GNOMON.encode()))
    check(wait_for(lambda: len(traces_in(directory)) == 1), "no trace")
    check(os.tcgetpgrp(keys) != pid, "it has no terminal")
    type_in(b"\x1a")
    lines = said.until("[1]+")
    check("Stopped" in lines[-1], "Ctrl-Z: %r" % lines)
    type_in(b"bg; jobs; fg\n")
    lines = said.until("[1]+  Running")
    check("Running" in lines[-1], "bg: %r" % lines)
    check(wait_for(lambda: os.tcgetpgrp(keys) != pid), "fg")
    type_in(b"\x03")
    check(wait_for(lambda: os.tcgetpgrp(keys) == pid), "Ctrl-C")
    type_in(b"echo status $?\n")
    lines = said.until("status")
    equal(lines[-1].strip(), "status 130", "%r" % lines)
    type_in(b"exit\n")
    os.waitpid(pid, 0)
    os.close(keys)


main()
