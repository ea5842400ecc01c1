"""Where and how a program runs: in an empty directory whose path is the same
for each run, with the same environment, in a MODE: bare, recorded, or with an
independent counter preloaded; what came of it.

A piece of work gets a Place and returns an Outcome. It makes its input in
place.directory, runs the program by place.run() or place.start(), and whatever
helps (clients, checks) by place.help(), which is never recorded.
"""

import hashlib
import os
import pwd
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
from gnomon_test import GNOMON, environment, program, wait_for

BARE, RECORDED, COUNTED = range(3)
RUN_SECONDS = 60
FILE_MAX = 64 << 20		# larger ones are compared by size


class Broken(Exception):
    """The work itself went wrong: a client failed, or time ran out."""


class Outcome:
    """What a run gave: status (negative: by that signal), output, error
    output, the files it left, its seconds, or, for what is under load, the
    load's requests in a second."""

    def __init__(self, status, out=b"", err=b"", files=None, seconds=None,
                 rate=None):
        self.status, self.out, self.err = status, out, err
        self.files, self.seconds, self.rate = files or {}, seconds, rate


class Place:
    def __init__(self, base, mode):
        self.base, self.mode = base, mode
        self.directory = os.path.join(base, "work")
        self.traces = os.path.join(base, "traces")
        self.counter = os.path.join(base, "counts")
        self.processes = []
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        if mode == COUNTED:
            with open(self.counter, "wb") as file:
                file.write(bytes(4096))
            os.chmod(self.counter, 0o666)
        if mode == RECORDED:
            shutil.rmtree(self.traces, ignore_errors=True)
            os.mkdir(self.traces)
            os.chmod(self.traces, 0o777)
        self.environment = environment(
            HOME=self.directory, LC_ALL="C.UTF-8", LANG="C.UTF-8",
            TERM="xterm", TZ="UTC", XDG_RUNTIME_DIR=self.directory,
            XDG_CONFIG_HOME=None, XDG_CACHE_HOME=None, XDG_DATA_HOME=None,
            TMPDIR=self.directory, PYTHONHASHSEED="0", PERL_HASH_SEED="0",
            PATH="/usr/sbin:/usr/bin:/sbin:/bin", DISPLAY=None,
            DEBUGINFOD_URLS=None, MAKEFLAGS=None, MAKELEVEL=None)

    def file(self, name, text=""):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def path(self, name):
        return os.path.join(self.directory, name)

    def give_to(self, user):
        """All that is in the directory, from now on that user's."""
        entry = pwd.getpwnam(user)
        for folder, _, names in os.walk(self.directory):
            for name in [folder] + [os.path.join(folder, n) for n in names]:
                os.chown(name, entry.pw_uid, entry.pw_gid,
                         follow_symlinks=False)

    def command(self, argv, env):
        """Words and environment to run it with in this mode."""
        env = {**self.environment, **(env or {})}
        if self.mode == COUNTED:
            env.update(LD_PRELOAD=program("libcounter.so"),
                       COUNTER_FILE=self.counter)
        if self.mode == RECORDED:
            argv = [GNOMON, "run", "-q", "-o",
                    os.path.join(self.traces, "%e.%p.trace"), "--", *argv]
        return list(argv), env

    def counts(self):
        """(allocations, frees, bytes) of what ran here in mode COUNTED."""
        with open(self.counter, "rb") as file:
            return struct.unpack("<3Q", file.read(24))

    def start(self, argv, user=None, env=None, stdin=None, out=None,
              err=None, recorded=True):
        """Starts it in a session of its own; streams go to files."""
        if recorded:
            argv, env = self.command(argv, env)
        else:
            env = {**self.environment, **(env or {})}
        process = subprocess.Popen(
            argv, cwd=self.directory, start_new_session=True, env=env,
            stdin=stdin or subprocess.DEVNULL,
            stdout=out or subprocess.DEVNULL,
            stderr=err or subprocess.DEVNULL, **as_user(user))
        self.processes.append(process)
        return process

    def run(self, argv, stdin=b"", seconds=RUN_SECONDS, user=None, env=None,
            recorded=True):
        """Runs it to its end."""
        with tempfile.TemporaryFile() as given, \
                tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            begin = time.monotonic()
            process = self.start(argv, user, env, given, out, err, recorded)
            status = wait(process, seconds)
            took = time.monotonic() - begin
            out.seek(0)
            err.seek(0)
            return Outcome(status, out.read(), err.read(),
                           files=None, seconds=took)

    def help(self, argv, **options):
        """A helper of the work: never recorded, must succeed."""
        done = self.run(argv, recorded=False, **options)
        if done.status != 0:
            raise Broken("%s: status %s: %s" % (
                argv[0], done.status, (done.out + done.err)[-600:].decode(
                    "utf-8", "replace")))
        return done

    def left(self, hide=()):
        """The files that a run left, by name, with their hashes."""
        found = {}
        for folder, names, files in os.walk(self.directory):
            names.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                short = os.path.relpath(path, self.directory)
                if not short.startswith(tuple(hide) or "\0"):
                    found[short] = file_hash(path)
        return found

    def clean(self):
        """Ends what still runs of what was started here."""
        for process in self.processes:
            if process.poll() is None:
                kill_group(process)
                process.wait()


def as_user(user):
    if not user or os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def file_hash(path):
    if os.path.islink(path):
        return "-> " + os.readlink(path)
    if not os.path.isfile(path):
        return "special"
    if os.path.getsize(path) > FILE_MAX:
        return "%d bytes" % os.path.getsize(path)
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait(process, seconds):
    """Its status. By a pidfd: what Popen.wait() does with a limit is to look
    every now and then, up to 50 ms late."""
    if process.poll() is None:
        handle = os.pidfd_open(process.pid)
        try:
            ended = select.select([handle], [], [], seconds)[0]
        finally:
            os.close(handle)
        if not ended:
            kill_group(process)
            process.wait()
            raise Broken("out of time after %d s" % seconds)
    return process.wait()


def free_port():
    """A port that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
