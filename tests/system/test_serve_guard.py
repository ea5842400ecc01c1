#!/usr/bin/python3
"""Access to `gnomon serve`: which clients may connect, which files they can
read, and the effect of many, slow, large and malformed requests."""

import contextlib
import os
import resource
import select
import socket
import subprocess
import time

from gnomon_test import GNOMON, Disk, case, check, equal, main, wait_for
from served import Server, everything, holds_file, planted, query

SECRET = "nobody-may-see-this"


def memory(pid, word="VmRSS"):
    with open("/proc/%d/status" % pid) as status:
        for line in status:
            if line.startswith(word + ":"):
                return int(line.split()[1]) << 10
    return 0


def alive(server):
    equal(server.ask("/api/v1/traces").status, 200, "it does not answer")


@case
def other_names_and_sites_are_refused(directory):
    with Server(planted(directory)) as server:
        here = "%s:%d" % (server.host, server.port)
        url = "/api/v1/traces"
        for host in ["localhost", "127.0.0.1:99", "[::1]:80", "LOCALHOST:1",
                     here]:
            equal(server.ask(url, Host=host).status, 200, host)
        for host in ["evil.example", "evil.example:%d" % server.port,
                     "localhost.evil.example", "127.0.0.1.evil.example",
                     "10.0.0.1", "[::2]", "127.0.0.1:x", "127.0.0.1:1:2", "[",
                     "a" * 300, "@127.0.0.1", ":80", "[127.0.0.1"]:
            equal(server.ask(url, Host=host).status, 421, host)
        for origin in ["http://" + here, "https://" + here]:
            equal(server.ask(url, Origin=origin, Host=here).status, 200,
                  origin)
        for origin in ["http://evil.example", "null", "http://" + here + ".x",
                       "http://127.0.0.1:1", "file://", ""]:
            equal(server.ask(url, Origin=origin, Host=here).status, 403,
                  origin)
        for site in ["cross-site", "same-site"]:
            equal(server.ask(url, Sec_Fetch_Site=site).status, 403, site)
            # A link may lead to the page.
            equal(server.ask("/", Sec_Fetch_Site=site).status, 200, site)
        for site in ["same-origin", "none"]:
            equal(server.ask(url, Sec_Fetch_Site=site).status, 200, site)
        equal(server.ask(server.trace() + "sql", method="POST", body="select 1",
                         Origin="http://evil.example").status, 403, "POST")
        equal(server.ask("/api/v1/work/x", method="DELETE",
                         Origin="http://evil.example").status, 403, "DELETE")


@case
def headers_keep_pages_apart(directory):
    with Server(planted(directory)) as server:
        for path in ["/", "/api/v1/traces", "/nothing", server.trace() +
                     "report", "/debug/pprof/heap"]:
            got = server.ask(path)
            policy = got.getheader("Content-Security-Policy")
            check("default-src 'none'" in policy, path)
            check("unsafe" not in policy and "*" not in policy, policy)
            check("frame-ancestors 'none'" in policy, policy)
            equal(got.getheader("X-Content-Type-Options"), "nosniff", path)
            equal(got.getheader("Referrer-Policy"), "no-referrer", path)
            equal([h for h, _ in got.getheaders()
                   if h.lower().startswith("access-control")], [], path)


@case
def tokens_are_needed(directory):
    trace = planted(directory)
    with Server(trace, "--token", "a-long-secret") as server:
        url = "/api/v1/traces"
        for headers in [{}, {"Authorization": "Bearer a-long-secre"},
                        {"Authorization": "Bearer a-long-secret2"},
                        {"Authorization": "Bearer "},
                        {"Authorization": "Basic a-long-secret"},
                        {"Cookie": "gnomon-%d=x" % server.port},
                        {"Cookie": "gnomon-1=a-long-secret"}]:
            headers.setdefault("Authorization", None)
            for path in [url, "/", "/debug/pprof/heap", url + "?token=x"]:
                equal(server.ask(path, **headers).status, 401, headers)
        equal(server.ask(url).status, 200, "Bearer")
        equal(server.ask(url + "?token=a-long-secret",
                         Authorization=None).status, 200, "a parameter")
        page = server.ask("/?token=a-long-secret", Authorization=None)
        equal((page.status, page.getheader("Location")), (303, "/"),
              "out of the address")
        cookie = page.getheader("Set-Cookie")
        check("HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
        equal(server.ask(url, Authorization=None, Cookie="a=b; " +
                         cookie.split(";")[0]).status, 200, "the cookie")
    with Server(trace, "--bind", "0.0.0.0") as server:
        check(server.token and len(server.token) >= 32, server.url)
        equal(server.ask(url).status, 200, "made up")
        equal(server.ask(url, Authorization=None).status, 401, "without")
        equal(server.ask(url, Host="10.1.2.3:80").status, 200, "an address")
        equal(server.ask(url, Host="evil.example").status, 421, "a name")
    with Server(trace, "--bind", "0.0.0.0", "--host", "box.example") as server:
        equal(server.ask(url, Host="box.example").status, 200, "its name")
    kept = holds_file(directory, "token", "kept-in-a-file\n")
    with Server(trace, "--token-file", kept) as server:
        equal(server.ask(url, Authorization="Bearer kept-in-a-file").status,
              200, "of a file")
        equal(server.ask(url, Authorization=None).status, 401, "without")
    long = holds_file(directory, "long", "a" * 300 + "\n")
    for words, why in [(["--token", "short"], "a short token"),
                       (["--token-file", long], "only a part of it is read"),
                       (["--port", "70000"], "a port of another number")]:
        done = subprocess.run([GNOMON, "serve", "--port", "0", *words, trace],
                              stdout=subprocess.DEVNULL, timeout=60,
                              stderr=subprocess.DEVNULL, check=False)
        equal(done.returncode, 2, why)


@case
def files_of_others_cannot_be_read(directory):
    trace = planted(directory)
    secret = holds_file(directory, "secret", SECRET)
    os.mkdir(os.path.join(directory, "traces"))
    with Server(trace, os.path.join(directory, "traces")) as server:
        base = server.trace()
        for path in ["/../secret", "/%2e%2e/secret", "/..%2fsecret",
                     "//" + secret, secret, "/serve.html/../../secret",
                     "/api/v1/traces/../../secret",
                     "/api/v1/traces/%s/report" % secret.replace("/", "%2f"),
                     base + "../secret", base + "export/../../secret",
                     base + "source?file=" + secret]:
            got = server.ask(path)
            check(got.status in (400, 404), (path, got.status))
            check(SECRET not in got.body.decode("utf-8", "replace"), path)
        out = os.path.join(directory, "written")
        for words in [{"output": out}, {"debug-path": directory},
                      {"sysroot": directory}, {"index": ""}, {"o": out},
                      {"source-root": directory}, {"junit": out},
                      {"baseline": trace}, {"suppressions": secret},
                      {"file": secret}, {"-f": secret}, {"--output": out},
                      {"merge": ""}, {"quiet": ""}, {"help": ""}]:
            for call in ["report", "annotate", "check", "export/pprof", "sql",
                         "flame", "info", "graph"]:
                got = server.ask(base + call + "?" + query(
                    function="main", statement="select 1", **words)
                    if call in ("annotate", "sql") else
                    base + call + "?" + query(**words))
                equal(got.status, 400, (call, words, got.body[:200]))
        equal(server.ask("/api/v1/diff?" + query(
            old=trace, new=secret)).status, 404, "paths are no ids")
        check(not os.path.exists(out), "something was written")
        for statement in ["attach '%s' as x" % out, ".output " + out,
                          ".read " + secret, "select readfile('%s')" % secret,
                          "create table t(a)", "vacuum into '%s'" % out,
                          "select load_extension('%s')" % secret]:
            got = server.ask(base + "sql", method="POST", body=statement)
            check(SECRET not in got.body.decode(), statement)
        check(not os.path.exists(out), "something was written")
        alive(server)


@case
def sources_are_read_under_their_roots_alone(directory):
    trace = planted(directory)
    with Server(trace) as server:
        got = server.json(server.trace() + "annotate?of=main&all")
        check("run_phases();" not in str(got), "a source that was not named")
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with Server(trace, "--source-root", here) as server:
        got = server.json(server.trace() + "annotate?of=main&all")
        check("run_phases();" in str(got), "not found under its root")
        path = os.path.realpath(os.path.join(
            here, "tests/programs/answers/known_answers.cc"))
        got = server.json(server.trace() + "source?" + query(file=path) +
                          "&from=200&to=210")
        equal([line["line"] for line in got["lines"]], list(range(200, 211)),
              "lines")
        check("run_phases();" in str(got["lines"]), got)
        # It is there, but no code of the trace was made of it.
        for other in [os.path.join(here, "Makefile"), "/etc/passwd",
                      path + "/../known_answers.cc", "known_answers.cc", ""]:
            equal(server.ask(server.trace() + "source?" + query(
                file=other)).status, 400, other)
    other = os.path.join(directory, "root", "tests", "programs",
                         "answers")
    os.makedirs(other)
    os.symlink(os.path.join(here, "tests/programs/answers/known_answers.cc"),
               os.path.join(other, "known_answers.cc"))
    with Server(trace, "--source-root", os.path.join(directory, "root")) as \
            server:
        got = server.json(server.trace() + "annotate?of=main&all")
        check("run_phases();" not in str(got), "a link leads out of the root")


@case
def malformed_requests_are_refused(directory):
    with Server(planted(directory)) as server:
        head = b"GET /api/v1/traces HTTP/1.1\r\nHost: localhost\r\n"
        for data in [b"\r\n\r\n", b"GET\r\n\r\n", b"\0\0\0\0\r\n\r\n",
                     b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                     b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     head + b"Host: evil.example\r\nConnection: close\r\n\r\n",
                     head + b"Content-Length: x\r\n\r\n",
                     head + b"Content-Length: 99999999999999999999\r\n\r\n",
                     head + b"no colon\r\n\r\n",
                     head + b"X: " + b"a" * 100000 + b"\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9]:
            with socket.create_connection((server.host, server.port),
                                          timeout=300) as client:
                # The server may have refused and gone before all of it came.
                with contextlib.suppress(OSError):
                    client.sendall(data)
                    client.shutdown(socket.SHUT_WR)
                got = everything(client)
            check(b" 200 " not in got.split(b"\r\n")[0] or
                  b"Host: evil" in data, (data[:60], got[:60]))
        for path in ["/api/v1/traces/", "/api/v1/traces//", "/api/v1/",
                     "/api/v1/nothing", "/api/v2/traces", server.trace(),
                     server.trace() + "nothing", server.trace() + "export/",
                     "/api/v1/diff", "/api/v1/traces/000000000000/report"]:
            equal(server.ask(path).status, 404, path)
        for path in ["report?%00=1", "report?by=%ff", "report?%ff",
                     "report?by=a%00b", "report?" + "&".join(
                         "x%d" % i for i in range(300))]:
            equal(server.ask(server.trace() + path).status, 400, path)
        for method in ["PUT", "POST", "PATCH", "DELETE", "OPTIONS"]:
            check(server.ask("/api/v1/traces", method=method).status in
                  (404, 405), method)
        for method, path, allowed in [
                ("POST", "/api/v1/traces", "GET, HEAD"),
                ("HEAD", "/api/v1/events", "GET"),
                ("POST", "/api/v1/events", "GET"),
                ("GET", "/api/v1/work/x", "DELETE"),
                ("PUT", server.trace() + "sql", "GET, HEAD, POST"),
                ("POST", server.trace() + "report", "GET, HEAD"),
                ("POST", "/debug/pprof/heap", "GET, HEAD"),
                ("OPTIONS", "/", "GET, HEAD")]:
            got = server.ask(path, method=method)
            equal((got.status, got.getheader("Allow")), (405, allowed), path)
        for target in [b"*", b"x", b"http://localhost/api/v1/traces"]:
            check(b" 400 " in server.sent(
                b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                until=b"not a path").split(b"\r\n")[0], target)
        equal(server.ask(server.trace() + "sql", method="POST",
                         body="x" * (2 << 20)).status, 413, "a large body")
        deep = "select " + "not " * 5000 + "1"
        equal(server.ask(server.trace() + "sql", method="POST",
                         body=deep).status, 400, "deep")
        alive(server)


@case
def slow_clients_hold_nobody_up(directory):
    with Server(planted(directory)) as server:
        slow = []
        for _ in range(100):
            client = socket.create_connection((server.host, server.port))
            client.sendall(b"GET /api/v1/traces HTTP/1.1\r\nHost: loc")
            slow.append(client)
        silent = [socket.create_connection((server.host, server.port))
                  for _ in range(100)]
        begun = time.monotonic()
        alive(server)
        check(time.monotonic() - begun < 60, "it was held up")
        # One that sends a byte every second is cut off nevertheless.
        end = time.monotonic() + 300
        client = slow[0]
        client.settimeout(1)
        while time.monotonic() < end:
            try:
                client.sendall(b"a")
                if client.recv(100) == b"":
                    break
            except socket.timeout:
                continue
            except OSError:
                break
        check(time.monotonic() < end, "it is waited for")
        for client in slow + silent:
            client.close()
        alive(server)


@case
def a_thousand_at_once(directory):
    need = 1300
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (
        hard if hard < need else max(soft, need), hard))
    with Server(planted(directory)) as server:
        base = server.trace()
        server.json(base + "report")
        clients = []
        for i in range(1000):
            client = socket.create_connection((server.host, server.port),
                                              timeout=600)
            client.sendall(("GET %sreport?top=%d HTTP/1.1\r\n"
                            "Host: localhost\r\nConnection: close\r\n\r\n" % (
                                base, i % 50)).encode())
            clients.append(client)
        most, statuses = 0, {}
        for client in clients:
            got = everything(client)
            status = got[9:12].decode()
            statuses[status] = statuses.get(status, 0) + 1
            most = max(most, memory(server.process.pid))
            client.close()
        check(set(statuses) <= {"200", "503"}, statuses)
        check(statuses["200"] >= 900, statuses)
        check(most < 128 << 20, "it has %d bytes" % most)
        alive(server)


def readable(clients):
    return select.select(clients, [], [], 0)[0]


@case
def bodies_that_wait_are_bounded(directory):
    endless = ("with recursive n(i) as (select 1 union all select i + 1 from "
               "n) select count(*) from n")
    with Server(planted(directory), "--workers", "1") as server:
        url = server.trace() + "sql"
        clients = []
        for i in range(150):
            body = ("%s -- %d" % (endless, i)).ljust(900000).encode()
            client = socket.create_connection((server.host, server.port),
                                              timeout=300)
            client.sendall(("POST %s HTTP/1.1\r\nHost: localhost\r\n"
                            "Content-Length: %d\r\n\r\n" % (
                                url, len(body))).encode() + body)
            clients.append(client)
        # As many wait as may be held, whichever they are. The others are told.
        check(wait_for(lambda: len(readable(clients)) >= 150 - 38),
              "%d are told" % len(readable(clients)))
        said = [client.recv(20)[:12] for client in readable(clients)]
        equal(set(said), {b"HTTP/1.1 503"}, "said")
        most = memory(server.process.pid)
        check(most < 200 << 20, "it has %d bytes" % most)
        for client in clients:
            client.close()
        check(wait_for(lambda: not server.json("/api/v1/work")["work"]),
              "they are left")
        equal(server.ask(url, method="POST", body="select 1").status, 200,
              "later")


@case
def answers_that_are_not_taken_are_bounded(directory):
    with Server(planted(directory), "--cache", "1M") as server:
        base = server.trace()
        held = []
        for i in range(60):
            client = socket.create_connection((server.host, server.port))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(("GET %sexport/json?by=block&size-min=%d HTTP/1.1"
                            "\r\nHost: localhost\r\n\r\n" % (base, i)).encode())
            held.append(client)
        alive(server)
        check(wait_for(lambda: not server.json("/api/v1/work")["work"]),
              "they are not made")
        check(memory(server.process.pid, "RssAnon") < 64 << 20, "memory")
        for client in held:
            client.close()
        check(wait_for(lambda: len(os.listdir(
            "/proc/%d/fd" % server.process.pid)) < 60), "they are kept")


def rows(count):
    """The URL's end of a download of so many half megabytes."""
    return "sql.csv?" + query(
        statement="with recursive n(i) as (select 1 union all select i + 1 "
        "from n limit %d) select hex(zeroblob(250000)) from n" % count)


@case
def downloads_without_room_are_no_good_answers(directory):
    with Disk(os.path.join(directory, "small"), 1 << 20) as disk:
        trace = planted(directory)
        with Server(trace, env=dict(os.environ, TMPDIR=disk.place)) as server:
            equal(server.ask(server.trace() + rows(1)).status, 200, "it fits")
            said = server.json(server.trace() + rows(9), 503)
            check("cannot write the result" in said["error"], said)
            equal(server.ask(server.trace() + rows(1)).status, 200, "after it")
    with Server(trace, env=dict(os.environ, TMPDIR="/proc")) as server:
        equal(server.ask(server.trace() + rows(9)).status, 200, "in memory")
        said = server.json(server.trace() + rows(600), 503)
        check("larger" in said["error"], said)


@case
def files_of_the_page_take_no_more_each_time(directory):
    with Server(planted(directory), "--cache", "0") as server:
        def maps():
            server.ask("/", Accept_Encoding="gzip")
            with open("/proc/%d/maps" % server.process.pid) as lines:
                return len(lines.readlines())
        before = maps()
        for _ in range(30):
            server.ask("/serve.js", Accept_Encoding="zstd")
        check(maps() < before + 10, "mappings: %d, then %d" % (before, maps()))


def settled(pid):
    """The numbers of the process's descriptors, once connections that ended
    are closed there, too."""
    numbers, last = None, ()
    while numbers != last:
        last = numbers
        time.sleep(0.3)
        numbers = set(map(int, os.listdir("/proc/%d/fd" % pid)))
    return numbers


@case
def without_descriptors_nothing_is_called_good(directory):
    with Server(planted(directory)) as server:
        url = server.trace() + "report"
        wanted = server.ask(url).body
        used = settled(server.process.pid)
        free = min(set(range(1000)) - used)
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        # One for the connection.
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE,
                         (free + 1, limits[1]))
        got = server.ask(url)
        check(got.status == 503 or got.body == wanted,
              (got.status, len(got.body)))
        equal(server.ask("/nothing").status, 503, "no body")
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
        equal(server.ask(url).body, wanted, "later")


if __name__ == "__main__":
    main()
