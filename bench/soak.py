#!/usr/bin/python3
"""soak.py: redis-server under load for a long time, recorded in the modes for
long runs: sampled, culled, and in full within a limit.

   soak.py --build DIR [--minutes 30] [--json FILE]

All modes run at once, each with a server and a redis-benchmark of its own, and a
client that remembers what it has set and checks the answers. Checked all the
time:

   ours      resident memory of the library's own mappings in redis: flat
   recorder  private memory of the recorder: flat
   trace     all files of the trace: within --limit, or growing slowly
   redis     allocations of redis itself: flat, or the first two may grow
   results   every answer right; redis reports no errors
   drops     none

The last line is "soak: ok", or the failed checks; the status says the same.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

MIB = 1 << 20
LIMIT = 64 * MIB
# What is pushed is popped: lists of lrange_100 would grow for ever, and with
# them what the recorder has to know of live blocks.
LOAD = "set,get,incr,lpush,rpop,sadd,hset,zadd"
KEYS = 5000
LOOK_S = 2
RANGES_S = 30
MODES = {
    "sampled": {"GNOMON_SAMPLE": "512k"},
    "culled": {"GNOMON_CULL": "10s"},
    "limited": {"GNOMON_LIMIT": str(LIMIT)},
}
# After the first third, each may take so much more.
GROWTH = 1.15
GROWTH_BYTES = 4 * MIB


def recorder_of(pid):
    """The process that records this one; None: there is none."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/comm" % name, encoding="utf-8") as file:
                if file.read() != "gnomon-recorder\n":
                    continue
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if file.read().split(b"\0")[1:2] == [b"%d" % pid]:
                    return int(name)
    return None


def private(pid):
    """Bytes of memory that nobody else has."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as file:
        return sum(int(size) << 10 for size in re.findall(
            r"^Private_(?:Clean|Dirty): +(\d+)", file.read(), re.M))


class Client:
    """Speaks to redis, and remembers what it should say."""

    def __init__(self, path, seed):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.random = random.Random(seed)
        self.strings, self.lists, self.hashes = {}, {}, {}
        self.answers = 0

    def ask(self, *words):
        data = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(data) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word), word) for word in data))
        self.answers += 1
        return self.read()

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if rest == b"-1":
                return None
            return self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        raise ValueError("redis said %r" % line)

    def insist(self, got, wanted, what):
        if got != wanted:
            raise ValueError("%s: %r in place of %r" % (
                what, str(got)[:80], str(wanted)[:80]))

    def step(self):
        key = "own:%d" % self.random.randrange(KEYS)
        what = self.random.randrange(6)
        if what == 0:
            value = "x" * self.random.randrange(1, 4000) + str(
                self.random.random())
            self.insist(self.ask("SET", key, value), "OK", "set")
            self.strings[key] = value
        elif what == 1:
            self.insist(self.ask("GET", key), self.strings.get(key), "get")
        elif what == 2:
            value = str(self.random.random())
            rows = self.lists.setdefault(key, [])
            rows.append(value)
            self.insist(self.ask("RPUSH", "l" + key, value), len(rows),
                        "rpush")
        elif what == 3:
            rows = self.lists.get(key, [])
            self.insist(self.ask("LPOP", "l" + key),
                        rows.pop(0) if rows else None, "lpop")
        elif what == 4:
            field = str(self.random.randrange(50))
            row = self.hashes.setdefault(key, {})
            self.insist(self.ask("HSET", "h" + key, field, key),
                        int(field not in row), "hset")
            row[field] = key
        else:
            self.insist(self.ask("DEL", key), int(key in self.strings), "del")
            self.strings.pop(key, None)


class Server(threading.Thread):
    """One mode, for so many seconds."""

    def __init__(self, mode, build, directory, seconds):
        super().__init__()
        self.mode, self.build = mode, build
        self.directory = os.path.join(directory, mode)
        self.seconds = seconds
        self.wrong, self.looks = [], []
        self.answers = self.requests = 0

    def run(self):
        try:
            os.mkdir(self.directory)
            self.work()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.wrong.append(str(error) or repr(error))

    @property
    def trace(self):
        return os.path.join(self.directory, "redis.trace")

    @contextlib.contextmanager
    def server(self):
        path = os.path.join(self.directory, "socket")
        # One binary under many names; as a server it may not be installed.
        program = os.path.join(self.directory, "redis-server")
        os.symlink(shutil.which("redis-check-rdb"), program)
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("GNOMON_") and key != "LD_PRELOAD"}
        env.update(LD_PRELOAD=os.path.join(self.build, "libgnomon.so"),
                   GNOMON_OUTPUT=self.trace, GNOMON_FOLLOW="none",
                   **MODES[self.mode])
        process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", path, "--save", "",
             "--appendonly", "no", "--dir", self.directory],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        try:
            for _ in range(500):
                if os.path.exists(path):
                    break
                time.sleep(0.02)
            yield process, path
        finally:
            process.kill()
            process.wait()

    def work(self):
        env = {key: value for key, value in os.environ.items()
               if key != "LD_PRELOAD"}
        with self.server() as (process, path):
            client = Client(path, self.mode)
            load = subprocess.Popen(
                ["redis-benchmark", "-s", path, "-c", "20", "-l", "-q", "-r",
                 "10000", "-d", "200", "-t", LOAD], env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            try:
                self.watch(process, client)
            finally:
                load.kill()
                load.wait()
            self.finish(client)
            client.socket.sendall(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
            status = process.wait(60)
            if status != 0:
                self.wrong.append("redis ended with status %d: %s" % (
                    status, process.stderr.read()[-200:]))
        self.read_trace()

    def watch(self, process, client):
        begin = time.monotonic()
        looked = ranged = -RANGES_S
        ranges, recorder = [], None
        while (now := time.monotonic() - begin) < self.seconds:
            for _ in range(50):
                client.step()
            time.sleep(0.01)
            if now - ranged >= RANGES_S:
                ranged = now
                ranges = self.own_ranges() or ranges
                recorder = recorder or recorder_of(process.pid)
            if now - looked >= LOOK_S:
                looked = now
                self.look(process.pid, ranges, now)
                # nobody's memory is not flat: judge() says so
                self.looks[-1]["recorder"] = private(
                    recorder) if recorder else 0
                self.looks[-1]["redis"] = self.used(client)
        self.answers = client.answers

    @staticmethod
    def used(client):
        """What redis has allocated: what the recorder has to know grows with
        it."""
        return int(re.search(r"used_memory:(\d+)",
                             client.ask("INFO", "memory")).group(1))

    def own_ranges(self):
        """Where the recorder's own memory is, by the trace itself."""
        found = self.info()
        return [(row["start"], row["start"] + row["size"])
                for row in (found or {}).get("maps", []) if row["origin"] == "gnomon"]

    def look(self, pid, ranges, now):
        ours = inside = 0
        with open("/proc/%d/smaps" % pid, encoding="utf-8") as file:
            for line in file:
                head = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
                if head:
                    start, end = (int(word, 16) for word in head.groups())
                    inside = any(start < last and first < end
                                 for first, last in ranges)
                elif inside and line.startswith("Rss:"):
                    ours += int(line.split()[1]) << 10
        size = 0
        for name in os.listdir(self.directory):
            if name.startswith("redis.trace"):
                with contextlib.suppress(OSError):
                    size += os.path.getsize(os.path.join(self.directory,
                                                         name))
        self.looks.append({"seconds": now, "ours": ours, "trace": size})
        if self.mode == "limited" and size > LIMIT + 2 * MIB:
            self.wrong.append("%d bytes of trace after %d s" % (size, now))

    def finish(self, client):
        """All that it has to hold, once more."""
        for key in list(client.strings):
            client.insist(client.ask("GET", key), client.strings[key], "get")
        for key, rows in client.lists.items():
            client.insist(client.ask("LRANGE", "l" + key, 0, -1), rows,
                          "lrange")
        stats = client.ask("INFO", "all")
        self.requests = int(re.search(r"total_commands_processed:(\d+)",
                                      stats)[1])
        errors = re.findall(r"errorstat_\S+", stats)
        if errors:
            self.wrong.append("redis counts errors: %s" % errors)

    def read_trace(self):
        for _ in range(600):
            found = self.info()
            if found and not found["being_written"]:
                break
            time.sleep(0.2)
        if not found:
            self.wrong.append("the trace cannot be read")
            return
        if found["dropped"] or found["damaged"]:
            self.wrong.append("%s dropped, %s damaged" % (
                found["dropped"], found["damaged"]))
        self.judge()

    def info(self):
        done = subprocess.run(
            [os.path.join(self.build, "gnomon"), "info", "--json",
             self.trace], capture_output=True, timeout=300)
        return json.loads(done.stdout) if done.stdout else None

    def judge(self):
        third = len(self.looks) // 3
        for whose in "ours", "recorder":
            first = max((look[whose] for look in self.looks[third // 2:third]),
                        default=0)
            last = max((look[whose] for look in self.looks[-third:]),
                       default=0)
            if not first:
                self.wrong.append("memory is not known: " + whose)
            if last > first * GROWTH + GROWTH_BYTES:
                self.wrong.append("memory grew from %d to %d: %s" % (
                    first, last, whose))

    def most(self, whose):
        return max((look[whose] for look in self.looks), default=0)

    def result(self):
        return {"mode": self.mode, "wrong": self.wrong,
                "answers_checked": self.answers, "commands": self.requests,
                "ours_most": self.most("ours"),
                "recorder_most": self.most("recorder"),
                "trace_bytes": self.looks[-1]["trace"] if self.looks else 0,
                "looks": self.looks[::max(1, len(self.looks) // 60)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gnomon-soak.") as directory:
        servers = [Server(mode, os.path.abspath(options.build), directory,
                          60 * options.minutes) for mode in MODES]
        for server in servers:
            server.start()
        for server in servers:
            server.join()
    results = [server.result() for server in servers]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"minutes": options.minutes, "modes": results}, file,
                      indent=1)
    for result in results:
        print("%-8s %9d commands, %8d answers checked; at most %5.1f MiB in "
              "redis, %5.1f in the recorder; trace %6.1f MiB" % (
                  result["mode"], result["commands"],
                  result["answers_checked"], result["ours_most"] / MIB,
                  result["recorder_most"] / MIB,
                  result["trace_bytes"] / MIB))
    wrong = ["%s: %s" % (result["mode"], what) for result in results
             for what in result["wrong"]]
    print("\n".join(wrong) if wrong else "soak: ok")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
