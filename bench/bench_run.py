"""bench_run.py: places, processes and medians: what every part needs.

Commands run under bench-run (bench/run_counted.c), which measures them from
outside. Variants that are compared run in turns, forwards and backwards, and
each value is the median of its runs: a slow minute of the machine then meets
all of them.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
SCRATCH_NEEDED = 2 << 30
TIME_LIMIT_S = 300


class Failed(Exception):
    """A run that should have succeeded did not. status: its exit status, None
    if there is none."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Late(Failed):
    """A run did not end in its time. It was killed, with what it started."""


class Bench:
    """Where things are, and how much is to be measured."""

    def __init__(self, out, quick):
        self.out = os.path.abspath(out)
        self.quick = quick
        self.library = os.path.join(self.out, "libgnomon.so")
        self.command = os.path.join(self.out, "gnomon")
        self.scratch = tempfile.mkdtemp(prefix="gnomon-bench.",
                                        dir=scratch_base())
        self.serial = 0

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def tool(self, name):
        return os.path.join(self.out, "bench", name)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def new_path(self, name):
        """A path that no run had before."""
        self.serial += 1
        return self.path(f"{self.serial}.{name}")

    def repeat(self, full, quick=1):
        return quick if self.quick else full

    def run_program(self, program, env=None, command=None, adopt=False):
        """Runs a program of bench_inputs.py, or the command that runs it, with
        what it wants beside it."""
        command = command or program.command
        env = {**program.env, **(env or {})}
        if not program.beside:
            return self.run(command, env, program.stdin, adopt=adopt)
        with subprocess.Popen(program.beside, env=environment(),
                              stdin=subprocess.DEVNULL,
                              start_new_session=True) as beside:
            try:
                measured = self.run(command, env, program.stdin, adopt=adopt)
                if beside.wait(timeout=TIME_LIMIT_S) != 0:
                    raise Failed(f"{' '.join(program.beside)}: status "
                                 f"{beside.returncode}", beside.returncode)
            finally:
                if beside.poll() is None:
                    os.killpg(beside.pid, signal.SIGKILL)
        return measured

    def run(self, command, env=None, stdin=None, stdout=None, limit=None,
            adopt=False):
        """Runs a command; what bench-run measured, or Failed. `env` is set
        by env(1), so that bench-run is not preloaded itself. `limit`: seconds
        that it may take, or Late. `adopt`: what it leaves behind is waited for,
        and measured in "adopted"."""
        result = self.new_path("run.json")
        setting = [f"{name}={value}" for name, value in (env or {}).items()]
        if setting:
            command = ["env", *setting, *command]
        with open(stdin or os.devnull, "rb") as source, \
                open(stdout or os.devnull, "wb") as sink, \
                tempfile.TemporaryFile(dir=self.scratch) as errors:
            status = finish([self.tool("bench-run"),
                             *(["--adopt"] if adopt else []), result, *command],
                            limit or TIME_LIMIT_S, env=environment(),
                            stdin=source, stdout=sink, stderr=errors)
            errors.seek(0)
            text = errors.read().decode(errors="replace")
        if status != 0:
            raise Failed(f"{' '.join(command)}: status {status}: "
                         f"{text.strip()[-400:]}", status)
        with open(result, encoding="ascii") as stream:
            measured = json.load(stream)
        os.unlink(result)
        for taken in [measured] + ([measured["adopted"]] if adopt else []):
            taken["cpu_ns"] = taken["user_ns"] + taken["system_ns"]
        measured["stderr"] = text
        return measured

    def run_json(self, command, env=None, limit=None):
        """Runs a command that prints one JSON document."""
        out = self.new_path("out.json")
        self.run(command, env=env, stdout=out, limit=limit)
        with open(out, encoding="utf-8") as stream:
            document = json.load(stream)
        os.unlink(out)
        return document

    def ask(self, *arguments):
        """`gnomon … --json` about a finished trace."""
        return self.run_json([self.command, *arguments, "--json"])

    def recorded(self, trace, command):
        """The command that runs another one and records it. It returns when
        the trace is complete."""
        return [self.command, "run", "-q", "-o", trace, "--", *command]

    def trace_info(self, trace):
        """What the trace says about its own recording."""
        info = self.ask("info", trace)
        facts = {key: find_int(info, key, 0) for key in (
            "events", "dropped", "ring_waits", "writer_cpu_ns", "tier_path",
            "tier_join", "tier_full", "tier_plain", "nested_lost",
            "barriers_placed", "barriers_met")}
        facts["bytes"] = os.path.getsize(trace)
        return facts


def finish(command, limit, **places):
    """The exit status of a command that has a process group of its own. What
    is in the group is killed if it takes longer than `limit` seconds."""
    with subprocess.Popen(command, start_new_session=True,
                          **places) as process:
        try:
            return process.wait(timeout=limit)
        except BaseException as why:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(why, subprocess.TimeoutExpired):
                raise Late(f"{' '.join(command)}: more than {limit} s") \
                    from None
            raise


def scratch_base():
    """Memory rather than a disk, whose moods are not what is measured."""
    try:
        free = os.statvfs("/dev/shm")
        if os.access("/dev/shm", os.W_OK) and \
                free.f_bavail * free.f_frsize >= SCRATCH_NEEDED:
            return "/dev/shm"
    except OSError:
        pass
    return None


def environment():
    """Ours, without what would make runs differ or profile the driver."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("GNOMON_", "LD_", "PYTHON", "PERL"))}
    env.update({"LC_ALL": "C.UTF-8", "PERL_HASH_SEED": "0",
                "PYTHONHASHSEED": "0"})
    return env


def heaptrack_env(output=os.devnull):
    """heaptrack's library alone: what it costs inside the process, without
    the interpreter and compressor that its script puts behind it."""
    return {"LD_PRELOAD": HEAPTRACK, "DUMP_HEAPTRACK_OUTPUT": output}


def interleave(variants, rounds, measure):
    """{variant: [measure(variant), …]}, measured in turns."""
    results = {variant: [] for variant in variants}
    for index in range(rounds):
        order = variants if index % 2 == 0 else variants[::-1]
        for variant in order:
            results[variant].append(measure(variant))
    return results


def median(rows, key):
    """The median of a key over rows; None if any row lacks it."""
    values = [row.get(key) for row in rows]
    if not values or None in values:
        return None
    return statistics.median(values)


def spread(rows, key):
    """(largest - smallest) / median."""
    values = [row[key] for row in rows]
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def find(document, key, default=None):
    """The first value of a key at any depth of a JSON document."""
    if isinstance(document, dict):
        if key in document:
            return document[key]
        document = list(document.values())
    if isinstance(document, list):
        for item in document:
            found = find(item, key)
            if found is not None:
                return found
    return default


def find_int(document, key, default=None):
    value = find(document, key)
    return default if value is None else int(value)


def note(text):
    """Progress, for whoever waits at a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
