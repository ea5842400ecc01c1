#!/usr/bin/python3
"""Settings for operators: the log, the owner of files, libraries without their
own pools."""

import datetime
import fcntl
import pwd

from gnomon_test import *

PROGRAM = ["/usr/bin/sqlite3", ":memory:", "select 42;"]
LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\d+) "
                  r"(error|warn|info|debug) (.+)")


def log_of(directory, level, argv=PROGRAM, by="run", more=()):
    path = os.path.join(directory, "log-" + level)
    options = ("--log", level, "--log-file", path, *more)
    env = environment()
    if by == "preload":
        env = environment(GNOMON_LOG=level, GNOMON_LOG_FILE=path)
        options = ()
    done = recorded(argv, directory, by=by, env=env, options=options)
    equal(done.status, 0, "status: " + done.err)
    lines = [LINE.fullmatch(line) for line in
             open(path, encoding="utf-8").read().splitlines()] \
        if os.path.exists(path) else []
    check(all(lines), "lines: %s" % lines)
    return lines


@case
def levels(directory):
    count = {}
    for level in ("off", "error", "warn", "info", "debug"):
        lines = log_of(directory, level)
        count[level] = len(lines)
        kinds = {line[3] for line in lines}
        order = ["error", "warn", "info", "debug"]
        check(all(level != "off" and order.index(kind) <= order.index(level)
                  for kind in kinds), "%s: %s" % (level, kinds))
    equal((count["off"], count["error"], count["warn"]), (0, 0, 0), "quiet")
    check(3 < count["info"] < count["debug"], str(count))


@case
def what_is_said(directory):
    before = time.time()
    lines = log_of(directory, "debug", by="preload")
    after = time.time()
    trace = traces_in(directory)[0]
    text = [line[4] for line in lines]
    check("records: /usr/bin/sqlite3" in text, text)
    check("trace: " + trace in text, text)
    check("ends: exit" in text, text)
    check("events: %d" % info(trace)["events"] in text, text)
    check(any(line.startswith("image: ") and "libsqlite3" in line
              for line in text), text)
    pid = re.search(r"\.(\d+)\.trace", trace)[1]
    check(all(line[2] == pid for line in lines), "pid")
    # The calendar is the recorder's own.
    for line in lines:
        stamp = datetime.datetime.strptime(
            line[1], "%Y-%m-%dT%H:%M:%S.%fZ").replace(
                tzinfo=datetime.timezone.utc).timestamp()
        check(before - 0.01 <= stamp <= after + 5, line[1])


@case
def on_standard_error(directory):
    done = recorded([program("memory_steps"), "steps", "50"], directory,
                    options=("--log", "info"))
    check("gnomon: info records: " in done.err, done.err)


WRITER = """
import os, sys, time
for i in range(400):
    os.write(2, b"line %04d of the program\\n" % i)
    if i % 40 == 0:
        __import__(sys.argv[1 + i // 40])
        time.sleep(0.03)
"""
MODULES = ["json", "decimal", "ctypes", "sqlite3", "zlib", "bz2", "lzma",
           "ssl", "readline", "hashlib"]


@case
def a_file_as_standard_error_keeps_every_line(directory):
    for name, opened in (("written", "wb"), ("appended", "ab")):
        path = os.path.join(directory, name)
        with open(path, opened) as err:
            done = subprocess.run(
                [GNOMON, "run", "-q", "--log", "debug", "--report",
                 "--snapshot-every", "10ms",
                 "-o", os.path.join(directory, name + ".trace"),
                 "/usr/bin/python3", "-c", WRITER, *MODULES],
                stderr=err, env=environment(), timeout=RUN_SECONDS,
                check=False)
        equal(done.returncode, 0, "status")
        with open(path, encoding="utf-8") as text:
            lines = text.read().split("\n")
        equal([line for line in lines if line.startswith("line ")],
              ["line %04d of the program" % i for i in range(400)], name)
        said = [line for line in lines if line.startswith("gnomon: ")]
        check(len(said) > 20, "%d lines of the log" % len(said))
        check(all(re.match(r"gnomon: (info|debug) \w[^:]*(: |$)", line)
                  for line in said), said)
        between = lines[lines.index("line 0000 of the program"):
                        lines.index("line 0399 of the program")]
        check(all(line.startswith(("line ", "gnomon: ")) for line in between),
              "%s: whole lines" % name)


@case
def a_log_that_cannot_be_written(directory):
    path = os.path.join(directory, "no", "log")
    done = recorded(["/bin/true"], directory,
                    options=("--log", "info", "--log-file", path))
    equal((done.status, done.traces), (125, []), done.err)
    check(path in done.err and "--log-file" in done.err, done.err)
    done = recorded(["/bin/true"], directory, by="preload",
                    env=environment(GNOMON_LOG="error", GNOMON_LOG_FILE=path))
    equal(done.status, 0, "status")
    check(path in done.err and "cannot write the log" in done.err, done.err)


@case
def pipe_that_nobody_reads(directory):
    """The log goes to standard error, and the trace is complete."""
    path = os.path.join(directory, "pipe")
    os.mkfifo(path)
    for by in "run", "preload":
        part = os.path.join(directory, by)
        os.mkdir(part)
        done = recorded(PROGRAM, part, by=by,
                        env=environment(GNOMON_LOG="info",
                                        GNOMON_LOG_FILE=path),
                        options=("--log", "info", "--log-file", path))
        equal((done.status, done.out), (0, "42\n"), done.err)
        check(path in done.err and "cannot write the log" in done.err,
              done.err)
        check("info records: " in done.err, done.err)
        check(info(traces_in(part)[0])["end"], "the trace")


@case
def pipe_whose_reader_stops(directory):
    """Lines are dropped while the pipe is full."""
    path = os.path.join(directory, "pipe")
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    size = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ)
    writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    equal(os.write(writer, bytes(size)), size, "fills the pipe")
    options = ("--log", "debug", "--log-file", path)
    done = recorded(PROGRAM, directory, options=options)
    equal(done.status, 0, done.err)
    equal(os.read(reader, 2 * size), bytes(size), "in the pipe")
    check(info(traces_in(directory)[0])["end"], "the trace")
    # What the reader reads is the recorder's, from its start to its end.
    os.close(reader)
    os.close(writer)
    with subprocess.Popen(["/usr/bin/cat", path],
                          stdout=subprocess.PIPE) as reader:
        done = recorded(PROGRAM, directory, options=options)
        said = reader.communicate(timeout=10)[0].decode()
    equal(done.status, 0, done.err)
    check("info records: " in said and "info ends: exit" in said, said)


@case
def long_log_is_rotated(directory):
    for _ in range(12):
        log_of(directory, "debug", more=("--log-file-max", "2k"))
    path = os.path.join(directory, "log-debug")
    check(os.path.getsize(path) < 2500, "size %d" % os.path.getsize(path))
    check(2048 <= os.path.getsize(path + ".1") < 2500, "size of the older")
    equal(len([name for name in os.listdir(directory)
               if name.startswith("log-")]), 2, "files")


@case
def given_away(directory):
    need_root("give files away")
    passwd = pwd.getpwnam("daemon")
    for by, option in (("run", "daemon"), ("preload", "daemon:%d" % 4)):
        part = os.path.join(directory, by)
        os.mkdir(part)
        done = recorded(PROGRAM, part, by=by, options=("--chown", option),
                        env=environment(GNOMON_CHOWN=option))
        equal((done.status, done.err if by == "preload" else ""), (0, ""),
              "the program")
        status = os.stat(traces_in(part)[0])
        equal((status.st_uid, status.st_gid, status.st_mode & 0o777),
              (passwd.pw_uid, passwd.pw_gid if by == "run" else 4, 0o600),
              "owner")


@case
def unknown_owner_is_reported(directory):
    done = recorded(PROGRAM, directory, by="preload",
                    env=environment(GNOMON_CHOWN="nobody.of.this.name"))
    equal((done.status, done.out), (0, "42\n"), "the program")
    check("no such user" in done.err and "not recorded" in done.err, done.err)
    equal(done.err.count("\n"), 1, "messages")
    equal(len(traces_in(directory)), 0, "traces")


SHOW = "import os; print([os.environ.get(n) for n in " \
    "('GLIBCXX_FORCE_NEW', 'PYTHONMALLOC', 'G_SLICE')])"


@case
def option_no_pools_sets_variables(directory):
    counts = {}
    for name, by, value in (("with", "run", "0"), ("without", "run", "1"),
                            ("alone", "preload", "1")):
        part = os.path.join(directory, name)
        os.mkdir(part)
        done = recorded(["/usr/bin/python3", "-c", SHOW], part, by=by,
                        env=environment(GNOMON_NO_POOLS=value))
        equal(done.status, 0, done.err)
        equal(done.out.strip(), "['1', 'malloc', 'always-malloc']"
              if value == "1" else "[None, None, None]", "variables")
        counts[name] = Report(traces_in(part)[0]).summary["allocations"]
    # Python's own pools serve most of what it allocates.
    check(counts["without"] > 3 * counts["with"] and
          counts["alone"] > 3 * counts["with"], str(counts))


@case
def option_no_pools_keeps_set_variables(directory):
    done = recorded(["/usr/bin/python3", "-c", SHOW], directory,
                    options=("--no-pools",),
                    env=environment(PYTHONMALLOC="pymalloc"))
    equal(done.out.strip(), "['1', 'pymalloc', 'always-malloc']", "variables")


main()
