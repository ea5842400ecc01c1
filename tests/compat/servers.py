"""Servers under load. Each runs in the foreground, recorded or not; the load
comes from a client that is not, and must end without an error. A server is
ended as its manual says, and its status is compared."""

import contextlib
import os
import re
import signal
import socket
import time

from catalogue import work
from place import (Broken, Outcome, free_port, listens, wait, wait_for)

READY_SECONDS = 25
END_SECONDS = 25
LOAD_SECONDS = 3


def server(name, package, needs, load, **more):
    return work(name, "Servers under load", package, needs=needs, load=load,
                **more)


@contextlib.contextmanager
def running(place, argv, ready, **options):
    """The server, once ready() is true; ended by SIGTERM if the body did not
    end it. Its output goes to two files beside the work."""
    out, err = (os.path.join(place.base, name) for name in ("out", "err"))
    with open(out, "wb") as output, open(err, "wb") as errors:
        process = place.start(argv, out=output, err=errors, **options)
    if not wait_for(lambda: process.poll() is not None or ready(),
                    READY_SECONDS) or process.poll() is not None:
        with open(err, "rb") as errors:
            raise Broken("%s did not start: %s: %s" % (
                argv[0], process.poll(), errors.read()[-500:]))
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    wait(process, END_SECONDS)


def outcome(place, process, answers, rate, hide=("",)):
    texts = []
    for name in ("out", "err"):
        with open(os.path.join(place.base, name), "rb") as file:
            texts.append(file.read())
    return Outcome(process.returncode, answers + b"\n--\n" + texts[0],
                   texts[1], None, rate=rate)


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Broken("the load says %r" % text[-300:])
    return float(found.group(1))


def wrk(place, url):
    text = place.help(["wrk", "-t1", "-c16", "-d%ds" % LOAD_SECONDS,
                       url]).out
    if b"Non-2xx" in text or b"Socket errors" in text:
        raise Broken("wrk: %r" % text)
    return number(rb"Requests/sec:\s*([\d.]+)", text)


def connects(path):
    with socket.socket(socket.AF_UNIX) as probe:
        return os.path.exists(path) and probe.connect_ex(path) == 0


REDIS_LOAD = "set,get,incr,lpush,lrange_100,sadd,hset,zadd,mset"


@server("redis-server", "redis-server", ["redis-server", "redis-benchmark"],
        "redis-benchmark", least=1)
def redis(place):
    path = place.path("socket")
    with running(place, ["redis-server", "--port", "0", "--unixsocket", path,
                         "--save", "", "--dir", place.directory],
                 lambda: connects(path)) as process:
        begin = time.monotonic()
        place.help(["redis-benchmark", "-s", path, "-n", "20000", "-c", "10",
                    "-q", "-P", "4", "-t", REDIS_LOAD])
        rate = 1 / (time.monotonic() - begin)
        script = "local t = {} for i = 1, 3000 do t[i] = tostring(i) end " \
            "return #t"
        answers = b"".join(
            place.help(["redis-cli", "-s", path, *words]).out for words in (
                ["eval", script, "0"], ["bgsave"], ["dbsize"],
                ["memory", "doctor"], ["lrange", "mylist", "0", "2"]))
        place.run(["redis-cli", "-s", path, "shutdown", "nosave"],
                  recorded=False)
        wait(process, END_SECONDS)
    return outcome(place, process, answers, rate)


NGINX = """daemon off; worker_processes 2; pid nginx.pid; error_log stderr;
%s
events { worker_connections 128; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2;
fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5; gzip on;
types { text/html html; }
server { listen 127.0.0.1:%d; root .; location /hello { return 200 "hello\\n"; }
location /proxy { proxy_pass http://127.0.0.1:%d/hello; } } }
"""


@contextlib.contextmanager
def nginx(place, recorded=True):
    port = free_port()
    place.file("index.html", "<p>text</p>\n" * 500)
    place.file("nginx.conf", NGINX % (
        "user nobody nogroup;" if os.geteuid() == 0 else "", port, port))
    os.chmod(place.directory, 0o755)
    with running(place, ["nginx", "-p", place.directory, "-e", "stderr", "-c",
                         place.path("nginx.conf")], lambda: listens(port),
                 recorded=recorded) as process:
        yield port, process


@server("nginx", "nginx-light", ["nginx", "wrk", "curl"], "wrk", least=1)
def nginx_load(place):
    with nginx(place) as (port, process):
        url = "http://127.0.0.1:%d/" % port
        rate = min(wrk(place, url + "index.html"), wrk(place, url + "proxy"))
        answers = place.help(["curl", "-s", "--compressed",
                              url + "index.html"]).out
    return outcome(place, process, answers, rate)


def client(name, package, argv):
    """A client whose server is a local nginx, not recorded."""
    @work(name, "Clients", package, needs=[argv[0], "nginx"], timed=False,
          least=1)
    def run(place):
        with nginx(place, recorded=False) as (port, _):
            done = place.run([word.replace("URL", "http://127.0.0.1:%d" % port)
                              for word in argv])
        done.files = place.left(["t", "nginx"])
        return done


client("curl", "curl", ["curl", "-sS", "--compressed", "--parallel",
                        "URL/index.html", "-o", "a", "URL/hello", "-o", "b",
                        "URL/nothing", "-o", "c"])
client("wget", "wget", ["wget", "-q", "-O", "a", "URL/index.html"])
client("python3 urllib", "python3.11", [
    "python3", "-c", "import urllib.request as u, concurrent.futures as c\n"
    "with c.ThreadPoolExecutor(4) as e: print(sum(e.map(lambda i: len("
    "u.urlopen('URL/index.html').read()), range(60))))"])
client("wrk", "wrk", ["wrk", "-t2", "-c4", "-d1s", "URL/hello"])


@server("postgres", "postgresql-15", ["/usr/lib/postgresql/15/bin/postgres"],
        "pgbench", least=3)
def postgres(place):
    """As its own user: it refuses to run as root."""
    user = "postgres" if os.geteuid() == 0 else None
    bin_path = "/usr/lib/postgresql/15/bin/"
    data = place.path("data")
    if user:
        place.give_to(user)
    place.help([bin_path + "initdb", "-A", "trust", "-U", "a", "-N", "-D",
                data], user=user)
    connection = ["-h", place.directory, "-U", "a", "-p", "5432"]
    with running(place, [bin_path + "postgres", "-D", data, "-c",
                         "listen_addresses=", "-k", place.directory, "-c",
                         "fsync=off", "-c", "max_parallel_workers=2"],
                 lambda: connects(place.path(".s.PGSQL.5432")),
                 user=user) as process:
        wait_for(lambda: place.run([bin_path + "pg_isready", *connection],
                                   recorded=False).status == 0)
        place.help([bin_path + "pgbench", "-i", "-q", "-s", "2", *connection,
                    "postgres"])
        text = place.help([bin_path + "pgbench", "-c", "4", "-j", "1", "-T",
                           str(LOAD_SECONDS), *connection, "postgres"]).out
        if b"failed transactions: 0 " not in text:
            raise Broken("pgbench: %r" % text)
        answers = place.help([
            bin_path + "psql", *connection, "-At", "-c",
            "select count(*), sum(aid) from pgbench_accounts", "-c",
            "select string_agg(md5(i::text), '') like '%a%' from "
            "generate_series(1, 20000) i", "postgres"]).out
    return outcome(place, process, answers,
                   number(rb"tps = ([\d.]+)", text))


def memcached_load(port):
    """Requests a second, and a digest of the answers."""
    total, end = 0, time.monotonic() + LOAD_SECONDS
    with socket.create_connection(("127.0.0.1", port)) as link:
        stream = link.makefile("rwb")
        while time.monotonic() < end:
            for i in range(200):
                value = b"x" * (total * 7 % 3000)
                stream.write(b"set k%d 0 0 %d\r\n%s\r\nget k%d\r\n" % (
                    i, len(value), value, i))
                stream.flush()
                if stream.readline() != b"STORED\r\n" or \
                        not stream.readline().startswith(b"VALUE") or \
                        stream.read(len(value) + 2) != value + b"\r\n" or \
                        stream.readline() != b"END\r\n":
                    raise Broken("memcached answers otherwise")
                total += 2
    return total / LOAD_SECONDS


@server("memcached", "memcached", ["memcached"], "a client of ours")
def memcached(place):
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    with running(place, ["memcached", *user, "-l", "127.0.0.1", "-p",
                         str(port), "-U", "0", "-t", "4", "-m", "64"],
                 lambda: listens(port)) as process:
        rate = memcached_load(port)
    return outcome(place, process, b"", rate)


APACHE = """ServerRoot %(d)s
PidFile pid
Listen 127.0.0.1:%(p)d
ServerName localhost
LoadModule mpm_event_module %(m)s/mod_mpm_event.so
LoadModule authz_core_module %(m)s/mod_authz_core.so
LoadModule dir_module %(m)s/mod_dir.so
User nobody
Group nogroup
StartServers 2
DocumentRoot %(d)s
ErrorLog %(d)s/error
"""


@server("apache2", "apache2", ["apache2", "wrk"], "wrk", least=1)
def apache(place):
    port = free_port()
    place.file("index.html", "<p>text</p>\n" * 500)
    place.file("conf", APACHE % {"d": place.directory, "p": port,
                                 "m": "/usr/lib/apache2/modules"})
    os.chmod(place.directory, 0o755)
    with running(place, ["apache2", "-DFOREGROUND", "-f", place.path("conf")],
                 lambda: listens(port)) as process:
        url = "http://127.0.0.1:%d/index.html" % port
        rate = wrk(place, url)
        answers = place.help(["curl", "-s", url]).out
    return outcome(place, process, answers, rate)


@server("lighttpd", "lighttpd", ["lighttpd", "wrk"], "wrk", least=1)
def lighttpd(place):
    port = free_port()
    place.file("index.html", "<p>text</p>\n" * 500)
    place.file("conf", 'server.document-root = "%s"\nserver.port = %d\n'
               'server.bind = "127.0.0.1"\nindex-file.names = ("index.html")\n'
               % (place.directory, port))
    with running(place, ["lighttpd", "-D", "-f", place.path("conf")],
                 lambda: listens(port)) as process:
        url = "http://127.0.0.1:%d/" % port
        rate = wrk(place, url)
        answers = place.help(["curl", "-s", url]).out
    return outcome(place, process, answers, rate)


@server("haproxy", "haproxy", ["haproxy", "nginx", "wrk"],
        "wrk, nginx behind it", least=3)
def haproxy(place):
    port, behind = free_port(), free_port()
    place.file("index.html", "<p>text</p>\n" * 50)
    place.file("nginx.conf", NGINX % (
        "user nobody nogroup;" if os.geteuid() == 0 else "", behind, behind))
    os.chmod(place.directory, 0o755)
    place.file("haproxy", "global\n nbthread 2\ndefaults\n mode http\n"
               " timeout connect 5s\n timeout client 5s\n timeout server 5s\n"
               "frontend f\n bind 127.0.0.1:%d\n default_backend b\n"
               "backend b\n server s 127.0.0.1:%d\n" % (port, behind))
    helper = place.start(["nginx", "-p", place.directory, "-e", "stderr", "-c",
                          place.path("nginx.conf")], recorded=False)
    wait_for(lambda: listens(behind))
    with running(place, ["haproxy", "-db", "-f", place.path("haproxy")],
                 lambda: listens(port)) as process:
        url = "http://127.0.0.1:%d/hello" % port
        rate = wrk(place, url)
        answers = place.help(["curl", "-s", url]).out
    helper.terminate()
    wait(helper, END_SECONDS)
    return outcome(place, process, answers, rate)


@server("mariadbd", "mariadb-server", ["mariadbd", "mariadb-slap"],
        "mariadb-slap", least=3)
def mariadb(place):
    data, path = place.path("data"), place.path("socket")
    me = "root" if os.geteuid() == 0 else os.environ.get("USER", "root")
    place.help(["mariadb-install-db", "--no-defaults", "--datadir=" + data,
                "--auth-root-authentication-method=normal",
                "--skip-test-db", "--user=" + me])
    with running(place, ["mariadbd", "--no-defaults", "--user=" + me,
                         "--datadir=" + data, "--socket=" + path,
                         "--skip-networking", "--pid-file=" +
                         place.path("pid")], lambda: connects(path)) as process:
        begin = time.monotonic()
        place.help(["mariadb-slap", "--no-defaults", "-S", path, "-u", "root",
                    "--auto-generate-sql", "--concurrency=4",
                    "--number-of-queries=3000",
                    "--auto-generate-sql-load-type=mixed"])
        rate = 1 / (time.monotonic() - begin)
        answers = place.help(["mariadb", "--no-defaults", "-S", path, "-u",
                              "root", "-N", "-e", "select count(*) from "
                              "mysql.help_topic; select md5('a')"]).out
    return outcome(place, process, answers, rate)


UNBOUND = """server:
 interface: 127.0.0.1@%d
 do-daemonize: no
 username: ""
 chroot: ""
 directory: "%s"
 pidfile: ""
 use-syslog: no
 num-threads: 2
 local-zone: "a.test." static
%sremote-control:
 control-enable: no
"""


@contextlib.contextmanager
def unbound(place, recorded=True):
    port = free_port()
    place.file("unbound.conf", UNBOUND % (port, place.directory, "".join(
        ' local-data: "n%d.a.test. A 192.0.2.%d"\n' % (i, i)
        for i in range(200))))
    with running(place, ["unbound", "-d", "-c", place.path("unbound.conf")],
                 lambda: listens(port), recorded=recorded) as process:
        yield port, process


@server("unbound", "unbound", ["unbound", "dig"], "dig", least=3)
def unbound_load(place):
    with unbound(place) as (port, process):
        place.file("batch", "".join("n%d.a.test A\n" % (i % 200)
                                    for i in range(3000)))
        begin = time.monotonic()
        answers = place.help(["dig", "@127.0.0.1", "-p", str(port), "+short",
                              "-f", place.path("batch")]).out
        rate = 3000 / (time.monotonic() - begin)
    return outcome(place, process, answers, rate)


@work("dig", "Clients", "bind9-dnsutils", needs=["dig", "unbound"],
      timed=False, least=1)
def dig(place):
    with unbound(place, recorded=False) as (port, _):
        return place.run(["dig", "@127.0.0.1", "-p", str(port), "+noall",
                          "+answer", "n7.a.test", "n8.a.test", "n9.a.test"])


def http_server(name, package, argv, stop=signal.SIGTERM):
    """One that serves by itself the port given as PORT."""
    @server(name, package, [argv[0], "wrk"], "wrk", least=3)
    def run(place):
        port = free_port()
        place.file("index.html", "<p>text</p>\n" * 50)
        words = [word.replace("PORT", str(port)) for word in argv]
        with running(place, words, lambda: listens(port)) as process:
            url = "http://127.0.0.1:%d/index.html" % port
            rate = wrk(place, url)
            answers = place.help(["curl", "-s", url]).out
            process.send_signal(stop)
        done = outcome(place, process, answers, rate)
        done.err = b""		# a line for each request
        return done


http_server("python3 -m http.server", "python3.11",
            ["python3", "-m", "http.server", "-b", "127.0.0.1", "PORT"])
http_server("node http", "nodejs", [
    "node", "-e", "const b = '<p>text</p>'.repeat(50);"
    "require('http').createServer((q, s) => { s.setHeader('x', q.url); "
    "s.end(JSON.stringify({b, n: [...b].length})); })"
    ".listen(PORT, '127.0.0.1');process.on('SIGTERM', () => process.exit(3))"])
http_server("php -S", "php8.2-cli", ["php", "-S", "127.0.0.1:PORT"])
http_server("ruby webrick", "ruby-webrick", [
    "ruby", "-r", "webrick", "-e", "s = WEBrick::HTTPServer.new(Port: PORT, "
    "BindAddress: '127.0.0.1', DocumentRoot: '.', AccessLog: [], Logger: "
    "WEBrick::Log.new(File::NULL)); trap('TERM') { s.shutdown }; s.start"])
