#!/usr/bin/python3
"""Control of a recording: start, stop, clear and snapshots, by the command, the
control socket, signals and time. The targets count their operations; the counts
of each recording agree exactly."""

import socket

from gnomon_test import *

LONG = 600      # seconds a target may live, should a test die


class Steered:
    """The target under the recorder, told what to do. The recorder is there;
    not so with a prefix, whose programs have traces, too."""

    def __init__(self, directory, *options, env=None, prefix=()):
        self.directory = directory
        env = dict(env or environment(), LD_PRELOAD=LIBRARY,
                   GNOMON_OUTPUT=os.path.join(directory, "%p.trace"))
        for option in options:
            name, _, value = option.partition("=")
            env["GNOMON_" + name.upper().replace("-", "_")] = value or "1"
        self.process = subprocess.Popen(
            ["timeout", str(LONG), *prefix, program("scripted")]
            if prefix else [program("scripted")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=env, bufsize=0)
        self.pid = self.process.pid
        self.said = b""
        self.wait_ok()
        if not prefix:
            wait_begun(self.trace)

    @property
    def trace(self):
        return os.path.join(self.directory, "%d.trace" % self.pid)

    def wait_ok(self):
        """What it says up to its ok."""
        said = b""
        while not said.endswith(b"ok\n"):
            more = self.process.stdout.read(4096)
            check(more, "the target has ended: " + said.decode())
            said += more
        self.said += said
        return said.decode()

    def tell(self, line):
        self.process.stdin.write(line.encode())

    def do(self, *lines):
        for line in lines:
            self.tell(line)
            said = self.wait_ok()
        return said

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(RUN_SECONDS), 0, "the target's status")
        check(b"cut short" not in self.said, "a read was cut short")
        settle(self.directory)

    def ask(self, *words, status=0):
        done = gnomon(words[0], *words[1:], str(self.pid),
                      statuses=(status,))
        return done


def socket_name(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return b"\0gnomon.%d.%s" % (pid, fields[19].encode())


class Client:
    """A connection to the control socket itself, which is there a moment after
    its program."""

    def __init__(self, pid):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(RUN_SECONDS)
        check(wait_for(lambda: self.connect(pid)), "no socket")

    def connect(self, pid):
        try:
            self.socket.connect(socket_name(pid))
            return True
        except ConnectionRefusedError:
            return False

    def send(self, data):
        self.socket.sendall(data, socket.MSG_NOSIGNAL)

    def line(self):
        answer = b""
        while not answer.endswith(b"\n"):
            more = self.socket.recv(8192)
            check(more, "cut off after %r" % answer)
            answer += more
        return answer[:-1].split(b"\t")

    def ask(self, request):
        self.send(request.encode() + b"\n")
        return self.line()[0].decode()


def counts(trace):
    report = Report(trace)
    equal(report.summary["dropped"], 0, "dropped")
    equal(report.summary["unpaired"], 0, "unpaired")
    sums = report.sums()
    return (sums["allocations"], sums["frees"], sums["live_blocks"],
            sums["total_bytes"], report.summary["foreign_frees"])


@case
def counts_agree_from_start_to_stop(directory):
    target = Steered(directory, "off")
    target.do("keep 100", "churn 50")
    check("recording started" in target.ask("start").out, "start says so")
    target.ask("start", status=1)
    target.do("keep 30", "drop 10", "churn 5")
    check("recording stopped" in target.ask("stop").out, "stop says so")
    target.ask("stop", status=1)
    equal(counts(target.trace), (35, 5, 30, 30 * 40 + 5 * 24, 10), "first")
    target.do("keep 7", "drop 100", "churn 1000")
    equal(counts(target.trace), (35, 5, 30, 30 * 40 + 5 * 24, 10), "stopped")
    target.ask("start")
    # 20 of the first recording are left, 7 from between
    target.do("drop 5", "move 20", "keep 3", "drop 21")
    target.ask("stop")
    equal(counts(target.trace), (23, 20, 3, 20 * 80 + 3 * 40, 5 + 20 + 1),
          "second")
    target.end()
    equal(counts(target.trace)[:3], (23, 20, 3), "at the end")


@case
def clear_begins_anew(directory):
    target = Steered(directory)
    target.do("keep 100", "churn 9")
    target.ask("clear")
    target.do("keep 10", "drop 60")
    target.end()
    equal(counts(target.trace), (10, 0, 10, 400, 60), "after the clear")


@case
def delay_and_duration(directory):
    patiently(directory, delayed, ("1s", "4s", "16s", "64s"))


def delayed(directory, seconds):
    """What it does before, and what it does meanwhile, may take no longer."""
    target = Steered(directory, "delay=" + seconds, "duration=" + seconds)
    target.do("keep 10")
    client = Client(target.pid)
    check(wait_for(lambda: client.ask("start") == "no"), "starts by itself")
    target.do("keep 5")

    def stopped():
        client.send(b"sync\n")
        return client.line()[1] == b"0"
    check(wait_for(stopped), "stops by itself")
    target.do("keep 100")
    target.end()
    equal(counts(target.trace)[0], 5, "in between")


@case
def snapshots_have_names(directory):
    target = Steered(directory)
    target.do("keep 100")
    check("@warm" in target.ask("snapshot", "warm").out, "its name")
    again = target.ask("snapshot", "warm").out
    name = re.search(r"@(warm\.\d+)", again).group(1)
    number = re.search(r"@(\d+)", target.ask("snapshot").out).group(1)
    document = json.loads(gnomon("snapshot", "--json", str(target.pid)).out)
    equal((document["done"], document["recording"]), (True, True), "JSON")
    target.ask("snapshot", "12", status=2)
    target.ask("snapshot", "a\tb", status=2)
    done = target.ask("snapshot", "a" * 300, status=2)
    check("too long (at most 255 bytes)" in done.err, done.err)
    target.do("keep 11")
    target.end()
    for at in ("warm", name, number):
        done = gnomon("report", "--from", "@" + at, "--json", target.trace)
        equal(json.loads(done.out)["summary"]["allocations"], 11, "@" + at)


@case
def control_name_with_line_feeds(directory):
    target = Steered(directory)
    for name in ("zz\nstop", "zz\n", "\nstop", "a\x7f"):
        done = target.ask("snapshot", name, status=2)
        check("control characters" in done.err, done.err)
    # nor by who asks without the command
    for lines in (b"snapshot zz\nstop\n", b"sync\nstop", b"sync\nclear\n"):
        client = Client(target.pid)
        client.send(lines)
        answer = client.line()
        equal((answer[0], answer[1]), (b"error", b"1"), str(lines))
        check(b"more than one line" in answer[4], str(answer))
        equal(client.socket.recv(64), b"", "is cut off")
    client = Client(target.pid)
    client.send(b"s" * 600)
    check(b"at most 255 bytes" in client.line()[4], "too long")
    client = Client(target.pid)
    equal([client.ask("sync") for _ in range(3)], ["ok"] * 3, "one by one")
    target.ask("start", status=1)
    quiet = gnomon("snapshot", "-q", "zz", str(target.pid))
    equal((quiet.out, quiet.err), ("", ""), "-q")
    target.end()
    names = gnomon("info", target.trace).out
    check("zz" in names and "zz." not in names, names)


@case
def signals_do_what_is_asked(directory):
    target = Steered(directory, "off",
                     "signal=USR1=toggle,SIGRTMIN+5=clear,USR2=snapshot")
    client = Client(target.pid)

    def on():
        client.send(b"sync\n")
        return client.line()[1] == b"1"
    target.do("keep 4")
    os.kill(target.pid, signal.SIGUSR1)
    check(wait_for(on), "on")
    target.do("keep 6")
    os.kill(target.pid, signal.SIGRTMIN + 5)
    os.kill(target.pid, signal.SIGUSR2)
    client.ask("sync")
    client.ask("sync")
    target.do("keep 3", "drop 7")
    os.kill(target.pid, signal.SIGUSR1)
    check(wait_for(lambda: not on()), "off")
    target.do("keep 1000")
    target.end()
    equal(counts(target.trace), (3, 0, 3, 120, 7), "counts")


@case
def run_forwards_control_signals(directory):
    trace = os.path.join(directory, "run.trace")
    process = subprocess.Popen(
        [GNOMON, "run", "-q", "--off", "--signal", "USR1=toggle",
         "--signal", "USR2=snapshot", "-o", trace, program("scripted")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
        env=environment())
    equal(process.stdout.read(3), b"ok\n", "the target")
    client = Client(behind(process.pid))
    process.send_signal(signal.SIGUSR2)
    process.send_signal(signal.SIGUSR1)

    def on():
        client.send(b"sync\n")
        return client.line()[1] == b"1"
    check(wait_for(on), "on")
    process.stdin.write(b"keep 3")
    equal(process.stdout.read(3), b"ok\n", "the target")
    process.stdin.close()
    equal(process.wait(RUN_SECONDS), 0, "status")
    equal(counts(trace)[0], 3, "counts")


@case
def a_thousand_quick_toggles(directory):
    target = Steered(directory, "signal=USR1=toggle")
    target.do("crowd 4")
    for _ in range(1000):
        os.kill(target.pid, signal.SIGUSR1)
        time.sleep(0.0005)
    target.do("churn 1")
    client = Client(target.pid)
    client.ask("stop")
    equal(client.ask("start"), "ok", "starts after that")
    target.do("keep 12")
    target.end()
    equal(counts(target.trace)[0], 12, "the last one")


@case
def starts_and_stops_under_load(directory):
    target = Steered(directory, "off")
    client = Client(target.pid)
    target.tell("crowd 4")
    target.wait_ok()
    for _ in range(200):
        equal(client.ask("start"), "ok", "start")
        equal(client.ask("stop"), "ok", "stop")
    target.do("keep 5")
    equal(client.ask("start"), "ok", "start")
    target.do("keep 77", "drop 5")
    target.end()
    equal(counts(target.trace)[2], 77, "live")
    whole = json.loads(gnomon("report", "--from", "start", "--json",
                              target.trace).out)["summary"]
    check(whole["allocations"] > 77, "there is more from before")
    equal(whole["dropped"], 0, "dropped")


@case
def a_handler_of_its_own_stays(directory):
    target = Steered(directory, "signal=USR1=toggle")
    target.do("own")
    os.kill(target.pid, signal.SIGUSR1)
    check(wait_for(lambda: "handled 1" in target.do("handled")), "called")
    target.ask("start", status=1)
    target.end()


@case
def an_ignored_signal_stays_ignored(directory):
    target = Steered(directory, "signal=USR1=toggle",
                     prefix=("env", "--ignore-signal=USR1"))
    os.kill(target.pid, signal.SIGUSR1)
    target.do("churn 1")
    target.process.stdin.close()
    equal(target.process.wait(RUN_SECONDS), 0, "status")
    check(b"--signal" in target.process.stderr.read(), "said")
    settle(directory)


@case
def stopped_program_is_as_fast_as_before(directory):
    target = Steered(directory, "off")

    def cost():
        said = target.do("churn 1000", "count 100")
        return int(re.search(r"instructions (\d+)", said).group(1))
    before = cost()
    for _ in range(3):
        target.ask("start")
        recorded_one = cost()
        target.ask("stop")
    after = cost()
    target.end()
    check(100 < before < recorded_one / 1.5, "%d instructions, recorded %d" % (
        before, recorded_one))
    check(after < before * 1.1, "%d instructions before, %d after" % (
        before, after))


@case
def child_begins_dormant_as_its_parent_did(directory):
    target = Steered(directory, "off")
    target.ask("start")
    target.do("fork 10", "churn 3")
    target.end()
    equal(counts(target.trace)[0], 3, "the parent")
    others = [trace for trace in traces_in(directory)
              if trace != target.trace]
    equal(len(others), 1, "traces of the child")
    equal(Report(others[0]).summary["allocations"], 0, "the child is dormant")


@case
def strangers_are_refused(directory):
    need_root("become somebody else")
    target = Steered(directory)
    command = os.path.join(directory, "gnomon")     # ours may be in a home
    shutil.copy(GNOMON, command)
    os.chmod(directory, 0o755)
    command = [command, "stop", str(target.pid)]
    done = bare(command, user=65534, group=65534, extra_groups=[])
    equal(done.status, 2, "status")
    check("another user" in done.err or "run this as" in done.err, done.err)
    target.ask("stop")
    target.end()


@case
def messages_say_what_to_do(directory):
    for arguments, wanted in (
            (["start", "0"], "id of one process"),
            (["stop"], "id of one process"),
            (["clear", "12x"], "id of one process"),
            (["stop", "4194305"], "no such process"),
            (["start", str(os.getpid())], "is not recorded")):
        done = gnomon(*arguments, statuses=(2,))
        check(wanted in done.err, done.err)


@case
def a_recorder_that_is_coming_is_waited_for(directory):
    """By the command, and by who reads; not if nothing is to come."""
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
        directory, "%p.trace"))
    for words in (("stop",), ("snapshot",), ("report",)):
        process = subprocess.Popen([program("scripted")], env=env,
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, cwd=directory)
        gnomon(*words, str(process.pid), statuses=(0, 3), cwd=directory)
        process.communicate(timeout=RUN_SECONDS)
    settle(directory)
    started = time.monotonic()
    for _ in range(10):
        done = gnomon("stop", str(os.getpid()), statuses=(2,))
        check("is not recorded" in done.err, done.err)
    check(time.monotonic() - started < 10, "waited for nothing")


@case
def the_recorder_stands_for_its_program(directory):
    target = Steered(directory)
    recorder = recorder_of(target.trace)
    for words in ((str(recorder),), (str(target.pid), str(recorder)),
                  (str(recorder), str(target.pid))):
        check("%d: snapshot" % target.pid in
              gnomon("snapshot", *words).out, str(words))
    check("%d: recording stopped" % target.pid in
          gnomon("stop", str(recorder), str(target.pid)).out, "stop")
    done = gnomon("snapshot", str(target.pid), str(os.getpid()),
                  statuses=(2,))
    check("id of one process" in done.err, done.err)
    os.kill(recorder, signal.SIGKILL)
    check(wait_for(lambda: not os.path.exists("/proc/%d" % recorder)), "dead")
    done = target.ask("snapshot", status=2)
    check("its recorder is gone" in done.err and target.trace in done.err,
          done.err)
    target.process.stdin.close()
    target.process.wait(RUN_SECONDS)
    text = Report(target.trace).summary["exit"]
    check("its recorder was killed" in str(text), text)


@case
def how_a_program_ended_whose_recorder_was_killed(directory):
    trace = os.path.join(directory, "a.trace")
    process = subprocess.Popen(
        [GNOMON, "run", "-q", "-o", trace, "sh", "-c",
         "read line; exit 3"], stdin=subprocess.PIPE, env=environment())
    check(wait_for(lambda: os.path.exists(trace) and
                   os.path.getsize(trace) > 100), "records")
    os.kill(recorder_of(trace), signal.SIGKILL)
    process.communicate(b"go\n", RUN_SECONDS)
    equal(process.returncode, 3, "status")
    text = json.loads(gnomon("report", "--json", trace).out)
    check("exited with status 3" in str(text["summary"]["exit"]),
          text["summary"]["exit"])


@case
def hostile_clients_hold_nobody_up(directory):
    target = Steered(directory)
    silent = [Client(target.pid) for _ in range(6)]
    silent[0].send(b"sto")
    silent[1].send(b"x" * 5000)
    silent[2].send(b"\0\n")
    equal(silent[2].line()[0], b"error", "control characters")
    silent[3].send(b"marker \xff\xfe\n" * 50)
    silent[4].socket.close()
    equal(Client(target.pid).ask("stop"), "ok", "another one is served")
    target.do("churn 100")
    # nobody reads the answers: at last they do not fit
    try:
        for _ in range(2000):
            silent[5].socket.settimeout(0.2)
            silent[5].send(b"sync\n" * 100)
    except OSError:
        pass
    time.sleep(1.1)
    crowd = [Client(target.pid) for _ in range(8)]
    equal(crowd[-1].ask("start"), "ok", "in a crowd")
    target.do("keep 9")
    target.end()
    equal(counts(target.trace)[0], 9, "counts")


@case
def where_sockets_are_forbidden_there_is_none(directory):
    for name, arguments, wanted in (("forbidden", [], "1"),
                                    ("allowed", ["allow"], None)):
        part = os.path.join(directory, name)
        os.mkdir(part)
        done = recorded([program("socketless"), *arguments], part,
                        by="preload")
        equal((done.status, done.err), (0, ""), name)
        made = 0
        for trace in done.traces:
            sums = Report(trace).sums("tgt_make$")
            made += sums["allocations"]
            error = find_key(info(trace), "control_error")
            if sums["allocations"]:
                equal(error and str(error), wanted, name + " socket")
        equal(made, 20, name + " allocations")


def behind(pid):
    """The target, as a child of those that this process runs."""
    while True:
        with open("/proc/%d/comm" % pid) as name:
            if name.read() == "scripted\n":
                return pid
        with open("/proc/%d/task/%d/children" % (pid, pid)) as children:
            pid = int(children.read().split()[0])


@case
def other_namespaces_are_reached(directory):
    need_root("look into all of them")
    if bare(["unshare", "-Urnpf", "true"]).status:
        raise Skip("no namespaces here")
    for name, prefix in (("net", ("unshare", "-n")),
                         ("pid", ("unshare", "-pf", "--mount-proc")),
                         ("both", ("unshare", "-Urnpf"))):
        part = os.path.join(directory, name)
        os.mkdir(part)
        target = Steered(part, prefix=prefix)
        target.pid = behind(target.pid)
        target.ask("stop")
        target.ask("start")
        target.process.stdin.close()
        equal(target.process.wait(RUN_SECONDS), 0, name)
        # where its end is that of all in there, the recorder is killed, too
        for trace in traces_in(part):
            check(wait_for(lambda path=trace: not writing(path)), trace)
            info(trace, statuses=(0, 3))


@case
def socket_name_survives_exec(directory):
    """By exec the process stays the same, and so does the socket's name."""
    first = Steered(directory, prefix=("env",))
    first.pid = behind(first.pid)
    # env's recorder may be there still
    check("recording stopped" in first.ask("stop").out, "asked")
    first.process.stdin.close()
    equal(first.process.wait(RUN_SECONDS), 0, "status")
    settle(directory)


@case
def socket_name_in_use_is_waited_for(directory):
    """Somebody has it when the recorder begins, and gives it up later: whoever
    asks meanwhile gets his answer."""
    process = subprocess.Popen(
        ["sh", "-c", "read line; exec env LD_PRELOAD=%s GNOMON_OUTPUT=%s %s" %
         (LIBRARY, os.path.join(directory, "a.trace"), program("scripted"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
        bufsize=0)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(socket_name(process.pid))
        process.stdin.write(b"go\n")
        equal(process.stdout.read(3), b"ok\n", "the target")
        # nobody is there yet; a connection is refused
        asking = subprocess.Popen(
            [GNOMON, "stop", str(process.pid)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment())
        time.sleep(0.5)
    out, err = asking.communicate(timeout=RUN_SECONDS)
    equal((asking.returncode, err), (0, b""), "asked")
    check(b"recording stopped" in out, out)
    process.stdin.close()
    equal(process.wait(RUN_SECONDS), 0, "status")
    settle(directory)


main()
