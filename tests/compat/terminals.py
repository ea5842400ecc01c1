"""Programs that live in a terminal: each gets a pseudo-terminal of 24 lines of
80, and is typed to whenever it has been quiet for a while."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time

from catalogue import work
from place import Broken, Outcome, RUN_SECONDS, wait

QUIET_SECONDS = 0.25
FIRST_SECONDS = 20
STEP_SECONDS = 2		# what some keys say nothing to


class Terminal:
    def __init__(self):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, 80, 0, 0))
        self.text = bytearray()

    def read(self, seconds):
        """What comes until then, or nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.master, 65536)
        except OSError:		# EIO: nobody has the other side any more
            data = b""
        self.text += data
        return data

    def settle(self, process, first):
        """Until it has written something and then was quiet."""
        end = time.monotonic() + (FIRST_SECONDS if first else STEP_SECONDS)
        before = len(self.text)
        while time.monotonic() < end and process.poll() is None:
            if not self.read(QUIET_SECONDS) and len(self.text) > before:
                return

    def type(self, keys):
        os.write(self.master, keys)

    def close(self):
        while self.read(0.05):
            pass
        os.close(self.master)


def become_leader(slave):
    """The pseudo-terminal as the controlling one; in the new process."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


def start(place, terminal, argv, env):
    argv, env = place.command(argv, env)
    process = subprocess.Popen(
        argv, cwd=place.directory, env=env, stdin=terminal.slave,
        stdout=terminal.slave, stderr=terminal.slave,
        preexec_fn=lambda: become_leader(terminal.slave))
    os.close(terminal.slave)
    place.processes.append(process)
    return process


def in_terminal(name, package, argv, keys, prepare=None, hide=(), env=None,
                **more):
    """keys: what is typed, one after the other."""
    @work(name, "In a terminal", package, needs=[argv[0]], timed=False, **more)
    def run(place):
        if prepare:
            prepare(place)
        terminal = Terminal()
        process = start(place, terminal, argv, env or {})
        try:
            for number, each in enumerate(keys):
                terminal.settle(process, number == 0)
                if process.poll() is not None:
                    raise Broken("ended before it was told to: %r" %
                                 bytes(terminal.text[-300:]))
                terminal.type(each)
            end = time.monotonic() + RUN_SECONDS / 2
            while process.poll() is None and time.monotonic() < end:
                terminal.read(0.1)
            status = wait(process, 1)
        finally:
            terminal.close()
        return Outcome(status, bytes(terminal.text), b"", place.left(hide))


def a_text(place):
    place.file("text.c", "".join(
        "int function_%d(int a) { return a * %d; }\n" % (i, i)
        for i in range(400)))


in_terminal("vim", "vim", ["vim", "-N", "-u", "NONE", "-i", "NONE", "-n",
                           "-c", "syntax on", "text.c"],
            [b"50G", b"dd", b"5x", b"oa new line\x1b", b"/_77\r", b"u", b"\x12",
             b":%s/int/long/g\r", b":w\r", b":q\r"], a_text, hide=[".vim"])
in_terminal("emacs -nw", "emacs-nox", ["emacs", "-Q", "-nw", "text.c"],
            [b"\x1b>", b"some more text\r", b"\x13_77", b"\r", b"\x18\x13",
             b"\x18\x03"], a_text, least=3, hide=[".emacs.d"])
in_terminal("nano", "nano", ["nano", "-I", "text.c"],
            [b"hello ", b"\x17_77\r", b"\x0b", b"\x0f", b"\r", b"\x18"],
            a_text, hide=[".local"])
in_terminal("less", "less", ["less", "text.c"],
            [b"G", b"/_7$\r", b"?_77\r", b"b", b"q"], a_text,
            env={"LESSHISTFILE": "-"})
in_terminal("top", "procps", ["top", "-p", "1"], [b"c", b"M", b"1", b"q"],
            least=3)
in_terminal("htop", "htop", ["htop", "--no-color", "-p", "1"],
            [b"\x1b[B", b"t", b"q"], least=3, hide=[".config"])
in_terminal("mc", "mc", ["mc", "-u", "-d", "-b", "tree", "tree"],
            [b"\x1b[B", b"\t", b"\x1b[B", b"\x1b0"],
            lambda place: [place.file("tree/%d" % i, "x") for i in range(9)],
            hide=[".config", ".cache", ".local", "mc-"], least=3)
in_terminal("w3m", "w3m", ["w3m", "page.html"], [b" ", b"\t", b"q", b"y"],
            lambda place: place.file("page.html", "<h1>t</h1>" + "".join(
                "<p><a href=%d>link %d</a>" % (i, i) for i in range(200))),
            hide=[".w3m"])
in_terminal("bash -i", "bash", ["bash", "--norc", "--noprofile", "-i"],
            [b"echo $((6*7)) | cat\r", b"sleep 0.2 & wait\r", b"fg\r",
             b"ls /usr/shar\t\r", b"exit 5\r"], env={"PS1": "$ ",
                                                     "HISTFILE": ""},
            least=1)
in_terminal("python3 -i", "python3.11", ["python3", "-q", "-i"],
            [b"import os, sys\r", b"os.getp\t\r", b"sum(range(9))\r",
             b"1/0\r", b"exit(4)\r"], least=1, hide=[".python_history"])
in_terminal("tmux", "tmux",
            ["tmux", "-L", "t", "-f", "/dev/null", "new-session",
             "PS1='$ ' sh"],
            [b"echo hello\r", b"\x02%", b"echo $((6*7))\r", b"\x02o",
             b"echo $((9*9))\r", b"exit\r", b"exit\r"], least=3,
            env={"TMUX_TMPDIR": "."}, hide=["tmux-"])
