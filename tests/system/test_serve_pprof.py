#!/usr/bin/python3
"""/debug/pprof of `gnomon serve`: as collectors scrape it, by `go tool pprof`."""

import gzip
import os
import socket
import subprocess
import threading
import time

from gnomon_test import (GNOMON, case, check, equal, gnomon, main, program,
                         traces_in, wait_for)
from pprof_profile import gos, pprof, raw, sums
from served import Server, planted


def totals(got):
    return dict(zip(got.types, sums(got)))


@case
def profiles_are_what_export_writes(directory):
    trace = planted(directory)
    out = os.path.join(directory, "out.pb.gz")
    gnomon("export", "--format", "pprof", "-o", out, trace)
    with Server(trace) as server:
        for go in gos():
            heap = raw("http://%s:%d/debug/pprof/heap" % (
                server.host, server.port), go=go)
            allocs = raw("http://%s:%d/debug/pprof/allocs" % (
                server.host, server.port), go=go)
            equal((heap.default, allocs.default),
                  (["inuse_space"], ["alloc_space"]), "defaults")
            wanted = totals(raw(out, go=go))
            equal(totals(heap), wanted, "heap")
            equal(totals(allocs), wanted, "allocs")
            top = pprof("-top", "http://%s:%d/debug/pprof/heap" % (
                server.host, server.port), go=go)
            check("inuse_space" in top, top)
        answer = server.ask("/debug/pprof/heap?debug=0&gc=1")
        equal(answer.getheader("Content-Type"), "application/octet-stream",
              "type")
        check(gzip.decompress(answer.body), "no gzip")


@case
def the_newest_trace_or_the_one_named(directory):
    old, new = (os.path.join(directory, name) for name in ("old", "new"))
    for folder in (old, new):
        os.mkdir(folder)
    old, new = planted(old), planted(new)
    os.utime(old, (1, 1))
    with Server(old, new) as server:
        ids = {t["path"]: t["id"] for t in server.traces()}
        newest = server.ask("/debug/pprof/heap").body
        equal(server.ask("/debug/pprof/heap?trace=" + ids[new]).body, newest,
              "the newest")
        check(server.ask("/debug/pprof/heap?trace=" + ids[old]).body != newest,
              "the other")
        for path, status in [("heap?trace=nothing", 404), ("profile", 404),
                             ("heap?seconds=0", 400), ("heap?seconds=x", 400),
                             ("heap?seconds=1", 400), ("heap?debug=1", 400),
                             ("heap?output=/tmp/x", 400)]:
            equal(server.ask("/debug/pprof/" + path).status, status, path)


class Steered:
    """A program that allocates as it is told, recorded."""

    def __init__(self, directory):
        self.process = subprocess.Popen(
            [GNOMON, "run", "-o", os.path.join(directory, "live.trace"), "--",
             program("scripted")], cwd=directory, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        equal(self.process.stdout.readline().strip(), "ok", line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@case
def what_happened_within(directory):
    target = Steered(directory)
    try:
        target.do("keep 1000")
        check(wait_for(lambda: traces_in(directory)), "no trace")
        with Server(directory) as server:
            check(wait_for(lambda: server.traces() and
                           server.traces()[0]["live"]), "not live")
            got = []
            scrape = threading.Thread(target=lambda: got.append(server.ask(
                "/debug/pprof/heap?seconds=4&function=tgt_keep")))
            scrape.start()
            # What it tells begins when it was asked, to the millisecond.
            time.sleep(1)
            target.do("keep 300")
            scrape.join()
            equal(got[0].status, 200, got[0].body[:300])
            path = os.path.join(directory, "got.pb.gz")
            with open(path, "wb") as out:
                out.write(got[0].body)
            equal(totals(raw(path))["inuse_objects"], 300, "within")
            whole = server.ask("/debug/pprof/heap?function=tgt_keep").body
            with open(path, "wb") as out:
                out.write(whole)
            equal(totals(raw(path))["inuse_objects"], 1300, "in all")
    finally:
        target.end()


@case
def clients_that_leave_are_forgotten(directory):
    target = Steered(directory)
    try:
        target.do("keep 10")
        check(wait_for(lambda: traces_in(directory)), "no trace")
        with Server(directory) as server:
            check(wait_for(lambda: server.traces() and
                           server.traces()[0]["live"]), "not live")
            with socket.create_connection((server.host, server.port)) as one:
                one.sendall(b"GET /debug/pprof/heap?seconds=2 HTTP/1.1\r\n"
                            b"Host: localhost\r\n\r\n")
            equal(server.ask("/debug/pprof/heap?seconds=3").status, 200,
                  "another one")
    finally:
        target.end()


if __name__ == "__main__":
    main()
