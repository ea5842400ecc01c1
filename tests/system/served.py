"""A `gnomon serve` for tests, and clients of it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import urllib.parse

from browser import browsed
from gnomon_test import GNOMON, check, equal, recorded, program, traces_in


class Server:
    """with Server(directory) as server: …"""

    def __init__(self, *arguments, env=None, command=GNOMON):
        self.command = command
        self.arguments = [str(word) for word in arguments]
        self.env = env

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.command, "serve", "--port", "0", *self.arguments], env=self.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        match = re.match(r"http://(\[.*\]|[^:]*):(\d+)/(\?token=(.*))?",
                         self.url)
        check(match, "no address: %r, %s" % (
            self.url, "" if self.process.poll() is None
            else self.process.stderr.read()))
        self.host = match[1].strip("[]").replace("0.0.0.0", "127.0.0.1")
        self.port, self.token = int(match[2]), match[4]
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait()
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        check(status == 0, "the server: status %d: %s" % (status, said))

    def ask(self, path, method="GET", body=None, **headers):
        """The answer, read: .status, .body, .headers."""
        connection = http.client.HTTPConnection(self.host, self.port,
                                                timeout=300)
        if self.token:
            headers.setdefault("Authorization", "Bearer " + self.token)
        connection.request(method, path, body, {
            name.replace("_", "-"): value for name, value in headers.items()
            if value is not None})
        answer = connection.getresponse()
        answer.body = answer.read()
        connection.close()
        return answer

    def json(self, path, status=200, **more):
        answer = self.ask(path, **more)
        equal(answer.status, status, "%s: %r" % (path, answer.body[:300]))
        return json.loads(answer.body)

    def traces(self):
        return self.json("/api/v1/traces")["traces"]

    def trace(self, n=0):
        """The beginning of the URLs of a trace."""
        return "/api/v1/traces/%s/" % self.traces()[n]["id"]

    def sent(self, data, until):
        """What comes for bytes, until these come behind its head."""
        with socket.create_connection((self.host, self.port),
                                      timeout=300) as client:
            client.sendall(data)
            got = b""
            while until not in got.partition(b"\r\n\r\n")[2]:
                piece = client.recv(65536)
                check(piece, "it was closed: %r" % got)
                got += piece
            return got

    def readers(self):
        """Processes that the server has started, and theirs."""
        return descendants(self.process.pid)


def walked(server, may_fail=False, **runs):
    """What the steps of each run read: [address, *steps] (tests/ui/serve.mjs)."""
    said = browsed("serve.mjs", {
        "url": server.url,
        "runs": {name: run if isinstance(run, dict) else
                 {"hash": run[0], "list": run[1:]}
                 for name, run in runs.items()}}, may_fail=may_fail)
    return {name: said[name] for name in runs}


def everything(client):
    got = b""
    while True:
        try:
            piece = client.recv(65536)
        except ConnectionResetError:
            return got
        if not piece:
            return got
        got += piece


def descendants(pid):
    found = []
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as children:
            for child in map(int, children.read().split()):
                found += [child] + descendants(child)
    except OSError:
        pass
    return found


def query(**words):
    return urllib.parse.urlencode(
        {name.replace("_", "-"): value for name, value in words.items()},
        doseq=True)


def planted(directory):
    """A trace with known leaks."""
    recorded([program("known_answers")], directory)
    traces = traces_in(directory)
    equal(len(traces), 1, "traces")
    return traces[0]


def printed(*words):
    """What the command says, as JSON."""
    done = subprocess.run([GNOMON, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)


def holds_file(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path
