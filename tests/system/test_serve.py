#!/usr/bin/python3
"""`gnomon serve`: its answers equal the output of the commands."""

import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from gnomon_test import (GNOMON, bare, case, check, equal, gnomon, main, program,
                         recorded, traces_in, wait_for)
from served import (Server, descendants, holds_file, planted, printed,
                    query)

# Calls, and the commands whose JSON they are.
SAME = [
    ("report", ["report", "--json"]),
    ("report?by=function&sort=peak&top=3",
     ["report", "--json", "--by=function", "--sort=peak", "--top=3"]),
    ("report?tree=top-down&sort=total",
     ["report", "--json", "--tree=top-down", "--sort=total"]),
    ("report?sizes&size-min=100",
     ["report", "--json", "--sizes", "--size-min=100"]),
    ("report?from=10%25&to=60%25&thread=known_answers&thread=other",
     ["report", "--json", "--from=10%", "--to=60%", "--thread=known_answers",
      "--thread=other"]),
    ("report?timeline&by=file", ["report", "--json", "--timeline",
                                 "--by=file"]),
    ("report?by=mapping", ["report", "--json", "--by=mapping"]),
    ("report?by=function&no-own-peaks&full-names&size-max=64",
     ["report", "--json", "--by=function", "--no-own-peaks", "--full-names",
      "--size-max=64"]),
    ("report?function=leak&alive-at=50%25&by=block",
     ["report", "--json", "--function=leak", "--alive-at=50%", "--by=block"]),
    ("flame?no-timeline", ["flamegraph", "--json", "--no-timeline"]),
    ("report?by=thread&no-own-peaks&no-heap&from=20%25",
     ["report", "--json", "--by=thread", "--no-own-peaks", "--no-heap",
      "--from=20%"]),
    ("info?sizes", ["info", "--json", "--sizes"]),
    ("flame?cost=peak", ["flamegraph", "--json", "--cost=peak"]),
    ("graph?by=library", ["graph", "--format=json", "--by=library"]),
    ("check?max-live=0", ["check", "--json", "--max-live=0"]),
]


@case
def answers_are_what_commands_print(directory):
    trace = planted(directory)
    # Read from its events; then asked of an index that is open.
    for index in [False, True]:
        if index:
            gnomon("report", "--index", trace)
        with Server(trace) as server:
            base = server.trace()
            for call, words in SAME:
                equal(server.json(base + call), printed(*words, trace),
                      "%s, index: %s" % (call, index))
            equal(server.json(base + "annotate?of=main"),
                  printed("annotate", "--json", "--only-roots", trace,
                          "main"), "annotate")


@case
def all_traces_are_listed(directory):
    trace = planted(directory)
    holding = os.path.join(directory, "no.trace")
    with open(holding, "wb") as out:
        out.write(b"nothing of ours")
    with Server(trace, holding) as server:
        first, second = sorted(server.traces(), key=lambda t: t["error"] or "")
        equal((first["name"], first["program"], first["live"], first["whole"]),
              (os.path.basename(trace), "known_answers", False, None), "trace")
        equal(first["size_bytes"], os.path.getsize(trace), "size")
        check(second["error"], "no trace, and nothing said")
        check(first["id"] != second["id"], "ids")
        server.json("/api/v1/traces/%s/report" % first["id"])
        equal([t["whole"] for t in server.traces() if not t["error"]], [True],
              "read")
        said = server.json("/api/v1/traces/%s/report" % second["id"], 400)
        check("no.trace" in said["error"], said)
    with Server(trace) as again:
        equal(again.traces()[0]["id"], first["id"], "the id, later")


@case
def sql_is_answered(directory):
    with Server(planted(directory)) as server:
        url = server.trace() + "sql"
        one = server.json(url + "?" + query(
            statement="select count(*) as n from blocks"))
        equal(one["columns"], ["n"], "columns")
        check(one["rows"][0]["n"] > 0, one)
        equal(server.json(url, method="POST", body="select 7 as seven")["rows"],
              [{"seven": 7}], "by POST")
        check("summary" in one and "summary" not in server.json(
            url + "?no-summary&statement=select+1"), "the summary")
        for statement, word in [
                ("select\n  nope from blocks", "line 2, column 3"),
                ("attach '/etc/passwd' as x", "cannot be changed"),
                ("select load_extension('x')", "SQL: "),
                ("select 1\0; select 2", "NUL"), ("\0", "NUL"),
                ("", "statement: the parameter is missing")]:
            said = server.json(url, 400, method="POST", body=statement)
            check(word in said["error"], "%r: %s" % (statement, said))
        table = server.ask(url + ".csv?statement=select+1+as+a,2+as+b")
        equal(table.body.split(), [b"a,b", b"1,2"], "csv")


@case
def two_traces_are_compared(directory):
    old = planted(directory)
    new = os.path.join(directory, "new.trace")
    shutil.copy(old, new)
    with Server(old, new) as server:
        ids = {t["name"]: t["id"] for t in server.traces()}
        call = "/api/v1/diff?" + query(old=ids[os.path.basename(old)],
                                       new=ids["new.trace"])
        equal(server.json(call), printed("diff", "--json", old, new), "diff")
        said = server.json("/api/v1/diff?old=%s" % ids["new.trace"], 404)
        check("no such trace" in said["error"], said)


@case
def exports_are_files(directory):
    trace = planted(directory)
    with Server(trace) as server:
        for form in ["pprof", "collapsed", "speedscope", "heaptrack", "replay",
                     "json", "ndjson", "csv", "dhat", "massif", "callgrind",
                     "firefox"]:
            got = server.ask(server.trace() + "export/" + form)
            equal(got.status, 200, form)
            check(got.getheader("Content-Disposition").startswith(
                "attachment; filename="), form)
            out = os.path.join(directory, "out")
            gnomon("export", "--format", form, "-o", out, trace)
            with open(out, "rb") as there:
                equal(len(got.body), len(there.read()), form)
            os.unlink(out)
        for form, word in [("flamegraph.svg", b"<svg"), ("graph.svg", b"<svg"),
                           ("flamegraph.html", b"<html"),
                           ("graph.html", b"<html")]:
            got = server.ask(server.trace() + "export/" + form)
            check(word in got.body, form)


@case
def known_answers_cost_nothing(directory):
    trace = planted(directory)
    with Server(trace) as server:
        url = server.trace() + "report?top=1"
        first = server.ask(url)
        tag = first.getheader("ETag")
        check(tag, "no ETag")
        again = server.ask(url, If_None_Match=tag)
        equal((again.status, again.body), (304, b""), "known")
        equal(server.ask(url, If_None_Match='"other"').status, 200, "other")
        equal(server.ask(url).body, first.body, "kept")
        check(server.ask(server.trace() + "report?top=2").getheader("ETag") !=
              tag, "another call")
        os.utime(trace)
        new = server.ask(server.trace() + "report?top=1", If_None_Match=tag)
        equal(new.status, 200, "another generation")
        tag = new.getheader("ETag")
    # It may show sources where the one before did not.
    with Server(trace, "--source-root", directory) as server:
        equal(server.ask(url, If_None_Match=tag).status, 200,
              "another server")


@case
def answers_are_compressed(directory):
    with Server(planted(directory)) as server:
        url = server.trace() + "report?top=0"
        plain = server.ask(url)
        equal(plain.getheader("Content-Encoding"), None, "plain")
        packed = server.ask(url, Accept_Encoding="br, gzip;q=0.8")
        equal(packed.getheader("Content-Encoding"), "gzip", "gzip")
        equal(gzip.decompress(packed.body), plain.body, "what it is")
        packed = server.ask(url, Accept_Encoding="gzip, zstd")
        equal(packed.getheader("Content-Encoding"), "zstd", "zstd")
        equal(subprocess.run(["zstd", "-dc"], input=packed.body,
                             stdout=subprocess.PIPE, check=True).stdout,
              plain.body, "what it is")
        for refused in ["gzip;q=0", "zstd;q=0.0, identity"]:
            equal(server.ask(url, Accept_Encoding=refused).getheader(
                "Content-Encoding"), None, refused)


def busy(server):
    """The URL of a call that takes as long as it is let."""
    return server.trace() + "sql?" + query(
        statement="with recursive n(i) as (select 1 union all select i + 1 "
        "from n) select count(*) from n")


def begin(server, url):
    client = socket.create_connection((server.host, server.port))
    client.sendall(("GET %s HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (
        url, server.host, server.port)).encode())
    return client


def work(server):
    return server.json("/api/v1/work")["work"]


def runs(server):
    """Whether processes run besides readers."""
    return [pid for reader in
            [c for c in descendants(server.process.pid)] for pid in
            descendants(reader)]


@case
def clients_that_leave_end_their_work(directory):
    with Server(planted(directory)) as server:
        client = begin(server, busy(server))
        check(wait_for(lambda: any(w["running"] for w in work(server))),
              "it does not run")
        check(wait_for(lambda: runs(server)), "no process")
        client.close()
        check(wait_for(lambda: not work(server)), "it is still there")
        check(wait_for(lambda: not runs(server)), "its process is")


@case
def tickets_end_work(directory):
    with Server(planted(directory), "--workers", "1") as server:
        url = busy(server)
        old = begin(server, url + "&ticket=view-1")
        check(wait_for(lambda: any(w["running"] for w in work(server))),
              "it does not run")
        equal(work(server)[0]["ticket"], "view-1", "ticket")
        # One worker: this would wait for ever.
        new = server.ask(server.trace() + "report?ticket=view-1")
        equal(new.status, 200, "the newer call")
        check(old.recv(100).startswith(b"HTTP/1.1 409"), "the older one")
        old.close()
        old = begin(server, url + "&ticket=b")
        check(wait_for(lambda: work(server)), "it is not there")
        equal(server.ask("/api/v1/work/b", method="DELETE").status, 204,
              "ended")
        check(old.recv(100).startswith(b"HTTP/1.1 409"), "told")
        old.close()
        equal(server.ask("/api/v1/work/b", method="DELETE").status, 404,
              "nothing")
        equal(server.ask(server.trace() + "report?ticket=a%20b").status, 400,
              "no ticket")
        check(wait_for(lambda: not runs(server)), "a process is left")


@case
def work_has_limits(directory):
    trace = planted(directory)
    with Server(trace, "--timeout", "1s") as server:
        said = server.json(busy(server), 504)
        check("--timeout" in said["error"], said)
        equal(server.ask(server.trace() + "report").status, 200, "after it")
    with Server(trace, "--memory", "200M") as server:
        said = server.ask(server.trace() + "sql?" + query(
            statement="select length(group_concat(hex(zeroblob(100000000))))"))
        check(said.status in (400, 503), said.status)


@case
def so_many_traces_are_read_at_once(directory):
    trace = planted(directory)
    for i in range(15):
        shutil.copy(trace, os.path.join(directory, "%d.trace" % i))
    with Server(directory, "--workers", "1") as server:
        clients = [begin(server, "/api/v1/traces/%s/report" % t["id"])
                   for t in server.traces()]
        most = 0
        while work(server):
            with open("/proc/%d/task/%d/children" % (
                    (server.process.pid,) * 2)) as children:
                most = max(most, len(children.read().split()))
        # Some are kept when they have been read.
        check(0 < most < 10, "%d processes" % most)
        for client in clients:
            check(client.recv(20).startswith(b"HTTP/1.1 200"), "an answer")
            client.close()


@case
def one_call_at_once_is_one_job(directory):
    with Server(planted(directory), "--workers", "1") as server:
        blocked = begin(server, busy(server))
        check(wait_for(lambda: work(server)), "it does not run")
        url = server.trace() + "report?top=7"
        clients = [begin(server, url) for _ in range(20)]
        check(wait_for(lambda: len(work(server)) == 21), "they do not wait")
        blocked.close()
        for client in clients:
            check(client.recv(20).startswith(b"HTTP/1.1 200"), "an answer")
            client.close()


def listen(server):
    client = http.client.HTTPConnection(server.host, server.port, timeout=300)
    client.request("GET", "/api/v1/events")
    return client.getresponse()


def event(stream, kind):
    while True:
        line = stream.readline().decode().strip()
        if line == "event: " + kind:
            return json.loads(stream.readline().decode()[len("data: "):])


@case
def new_traces_are_told(directory):
    with Server(directory) as server:
        equal(server.traces(), [], "none yet")
        stream = listen(server)
        equal(stream.getheader("Content-Type"), "text/event-stream", "type")
        trace = planted(directory)
        told = event(stream, "trace")
        equal([t["id"] for t in server.traces()], [told["id"]], "which")
        check(wait_for(lambda: not server.traces()[0]["live"]), "it ended")
        before = server.traces()[0]["generation"]
        os.utime(trace)
        while event(stream, "trace")["generation"] == before:
            pass
        stream.close()
        os.unlink(trace)
        equal(server.traces(), [], "gone")


@case
def only_what_is_new_is_told(directory):
    with open(planted(directory), "rb") as whole:
        beginning = whole.read(4096)
    for i in range(700):
        with open(os.path.join(directory, "%d.trace" % i), "wb") as out:
            out.write(beginning)
    with Server(directory) as server:
        ids = {t["name"]: t["id"] for t in server.traces()}
        equal(len(ids), 701, "traces")
        for _ in range(2):
            stream = listen(server)
            os.utime(os.path.join(directory, "42.trace"))
            equal(event(stream, "trace")["id"], ids["42.trace"], "which")


@case
def a_trace_is_seen_growing(directory):
    target = subprocess.Popen(
        [GNOMON, "run", "-o", os.path.join(directory, "live.trace"), "--",
         program("scripted")], cwd=directory, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        check(wait_for(lambda: traces_in(directory)), "no trace")
        with Server(directory) as server:
            check(wait_for(lambda: server.traces() and
                           server.traces()[0]["live"]), "not live")
            server.json(server.trace() + "report")
            with Server(server.traces()[0]["pid"]) as other:
                equal([t["id"] for t in other.traces()],
                      [t["id"] for t in server.traces()], "by its process")
            target.stdin.close()
            target.wait()
            check(wait_for(lambda: not server.traces()[0]["live"]), "ended")
            summary = server.json(server.trace() + "report")["summary"]
            equal(summary, printed("report", "--json",
                                   traces_in(directory)[0])["summary"],
                  "all of it")
    finally:
        target.kill()
        target.wait()


@case
def a_damaged_trace_says_so(directory):
    trace = planted(directory)
    with open(trace, "r+b") as out:
        out.truncate(os.path.getsize(trace) * 2 // 3)
    with Server(trace) as server:
        got = server.ask(server.trace() + "report")
        equal(got.status, 200, "status")
        said = json.loads(got.getheader("Gnomon-Messages"))
        check(any("cut" in line or "end" in line or "damage" in line
                  for line in said), said)
        equal(server.traces()[0]["whole"], False, "whole")


@case
def readers_that_die_are_replaced(directory):
    with Server(planted(directory)) as server:
        url = server.trace()
        server.json(url + "report")
        readers = server.readers()
        check(readers, "no reader")
        for pid in readers:
            os.kill(pid, 9)
        check(wait_for(lambda: server.ask(url + "report?top=3").status == 200),
              "no other one")
    check(wait_for(lambda: not any(os.path.exists("/proc/%d" % pid)
                                   for pid in readers)), "they are left")


@case
def the_server_takes_its_processes_along(directory):
    with Server(planted(directory)) as server:
        client = begin(server, busy(server))
        check(wait_for(lambda: runs(server)), "it does not run")
        all_of_it = server.readers()
        server.process.kill()
        server.process.wait()
        check(wait_for(lambda: not any(os.path.exists("/proc/%d" % pid)
                                       for pid in all_of_it)), "left")
        client.close()
        server.process = subprocess.Popen(["true"], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE)
        server.process.wait()


@case
def what_is_not_there_is_refused(directory):
    for operand, why in (("nosuch.trace", "check its name"),
                         ("4000000", "neither a file")):
        done = gnomon("serve", os.path.join(directory, operand)
                      if "." in operand else operand, statuses=(2,))
        check(why in done.err, done.err)


@case
def requests_that_come_at_the_end_are_refused(directory):
    with Server(planted(directory)) as server:
        base = server.trace()
        clients = [begin(server, "/api/v1/traces") for _ in range(10)]
        for client in clients:
            check(client.recv(65536).startswith(b"HTTP/1.1 200"), "accepted")
        # It finds the signal and the requests at once.
        server.process.send_signal(signal.SIGSTOP)
        for i, client in enumerate(clients):
            path = "/api/v1/events" if i == 0 else base + "report"
            client.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" %
                            path).encode())
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        equal(server.process.wait(), 0, "its status")
        for client in clients:
            client.close()


def signals_of(status):
    """Those that are blocked and ignored, of lines of /proc/PID/status."""
    return [line for line in status if line.startswith(("SigIgn", "SigBlk"))]


@case
def a_browser_is_shown_the_page(directory):
    """It is a program like any other: with the signals of one."""
    trace = planted(directory)
    seen = os.path.join(directory, "seen")
    browser = holds_file(directory, "xdg-open", "#!/bin/sh\n"
                         "echo chatter\n(echo $1; cat /proc/self/status) "
                         "> %s.new\nmv %s.new %s\n" % (seen, seen, seen))
    os.chmod(browser, 0o755)
    env = dict(os.environ, PATH=directory + ":" + os.environ["PATH"])
    server = Server("--open", trace, env=env).__enter__()
    check(wait_for(lambda: os.path.exists(seen)), "it was not started")
    with open(seen) as lines:
        url, *status = lines.read().splitlines()
    equal(url, server.url, "the address")
    equal(signals_of(status), signals_of(bare(
        ["cat", "/proc/self/status"]).out.splitlines()), "signals")
    server.process.send_signal(signal.SIGTERM)
    said = server.process.communicate()
    equal((server.process.returncode, said[0]), (0, ""), "standard output")
    check("chatter" in said[1], said)


if __name__ == "__main__":
    main()
