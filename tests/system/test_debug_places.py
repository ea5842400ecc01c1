#!/usr/bin/python3
"""Search paths of debug information: each is tested with real files."""

import os
import re
import shutil
import signal
import socket
import subprocess

from gnomon_test import (RUN_SECONDS, case, check, environment, equal, gnomon,
                         main, need, need_file, need_map_files, need_mounts,
                         program, recorded)
from symbolized import (addresses_in, build, build_id, has_lines, run,
                        sections, symbolize)


def strip(path, debug, link=None):
    """Debug information into a file of its own."""
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    run(["objcopy", "--only-keep-debug", path, debug])
    run(["objcopy", "--strip-all",
         *(["--add-gnu-debuglink=" + debug] if link else []), path])


# ---- places ----

class Stripped:
    """A program whose debug information is somewhere else."""

    def __init__(self, directory, debug, link=False, *flags):
        self.path = build(directory, "-g", *flags)
        self.whole = self.path + ".whole"
        shutil.copy(self.path, self.whole)
        self.addresses = addresses_in(self.path, 60)
        self.id = build_id(self.path)
        self.debug = debug.replace("ID", os.path.join(self.id[:2],
                                                      self.id[2:]))
        strip(self.path, self.debug, link)

    def found(self, *options, env=None):
        return has_lines(self.path, self.addresses, *options, env=env)


@case
def debug_file_given(directory):
    target = Stripped(directory, os.path.join(directory, "x", "any.debug"))
    check(not target.found(), "found without being told")
    check(target.found("-d", target.debug), "-d FILE")
    # The stripped file has the same build-id.
    check(target.found("-d", target.path, "-d", target.debug),
          "-d of a file without symbols before it")
    named = os.path.join(directory, "x", "target.debug")
    os.rename(target.debug, named)
    check(target.found("-d", os.path.join(directory, "x")), "-d DIR")


@case
def build_id_trees(directory):
    tree = os.path.join(directory, "tree")
    target = Stripped(directory,
                      os.path.join(tree, ".build-id", "ID.debug"))
    check(target.found("-d", tree), "-d DIR with .build-id")
    check(target.found("-d", os.path.join(tree, ".build-id")),
          "-d .build-id")


@case
def system_root(directory):
    root = os.path.join(directory, "root")
    target = Stripped(directory, os.path.join(
        root, "usr", "lib", "debug", ".build-id", "ID.debug"))
    inside = os.path.join(root, "opt", "target")
    os.makedirs(os.path.dirname(inside))
    os.rename(target.path, inside)
    ours, _ = symbolize("/opt/target", target.addresses, "-r", root, "-b",
                        target.id)
    check(any(file.endswith("source.cc") for frames in ours.values()
              for _, file, _, _ in frames), ours)
    ours, messages = symbolize("/opt/target", target.addresses, "-b",
                               target.id)
    check("/opt/target" in messages and target.id in messages and
          "--sysroot" in messages, messages)
    equal(len(messages.splitlines()), 1, messages)


@case
def debug_links(directory):
    for place in (".", ".debug"):
        target = Stripped(directory, os.path.join(
            directory, place, "target.debug"), True)
        check(target.found(), place)
        os.unlink(target.debug)
        check(not target.found(), "found though it is gone")


@case
def wrong_file(directory):
    target = Stripped(directory, os.path.join(directory, "x", "d.debug"))
    wrong = os.path.join(directory, "other")
    os.mkdir(wrong)
    other = build(wrong, "-g", "-DOTHER", "-O1")
    shutil.copy(other, target.path)
    ours, messages = symbolize(target.path, target.addresses, "-b",
                               target.id)
    equal({frame[0] for frames in ours.values() for frame in frames}, {"??"},
          "guessed names")
    equal(len(messages.splitlines()), 1, messages)
    check(target.id in messages and build_id(other) in messages and
          "-d" in messages, messages)
    # The right one somewhere else is enough.
    equal(symbolize(target.path, target.addresses, "-b", target.id, "-d",
                    target.whole)[1], "", "messages")


@case
def what_was_given_is_wrong(directory):
    """-d with a file of another build, and with nothing at all."""
    path = os.path.join(directory, "program")
    shutil.copy(program("copied"), path)
    trace = recorded([path], directory).trace
    number = build_id(path)
    os.unlink(path)
    wrong = build(directory, "-g", "-DOTHER", "-O1")
    shutil.copy(wrong, path + ".other")
    told = gnomon("report", trace, "-d", path + ".other").err
    check(number in told and "program.other: given with -d, but not for "
          "program: its build-id is " + build_id(wrong) in told, told)
    for option in ("-d", "--sysroot"):
        nowhere = os.path.join(directory, "nowhere")
        told = gnomon("report", trace, option, nowhere).err
        check("%s: given with %s, cannot be read" % (nowhere, option) in told,
              told)
    told = gnomon("report", trace, "-d", program("copied")).err
    equal(told, "", "the right one")


@case
def wrong_debug_file(directory):
    target = Stripped(directory, os.path.join(directory, "target.debug"),
                      True)
    wrong = os.path.join(directory, "other")
    os.mkdir(wrong)
    shutil.copy(build(wrong, "-g", "-DOTHER", "-O1"), target.debug)
    check(not target.found(), "debug file of another build was taken")


@case
def shared_by_dwz(directory):
    need("dwz", "llvm-symbolizer")
    paths = [build(directory, "-g", "-D", "X%d" % i, name="t%d" % i)
             for i in range(2)]
    wanted = symbolize(paths[0], addresses_in(paths[0]))[0]
    addresses = addresses_in(paths[0])
    shared = os.path.join(directory, "shared.debug")
    run(["dwz", "-m", shared, "-M", "shared.debug", *paths], cwd=directory)
    check(".gnu_debugaltlink" in sections(paths[0]), "dwz made no link")
    equal(symbolize(paths[0], addresses), (wanted, ""), "beside")
    away = os.path.join(directory, "away")
    os.mkdir(away)
    os.rename(shared, os.path.join(away, "shared.debug"))
    equal(symbolize(paths[0], addresses, "-d", away), (wanted, ""), "-d")
    _, messages = symbolize(paths[0], addresses)
    check("shared.debug" in messages and "-d" in messages, messages)
    equal(len(messages.splitlines()), 1, messages)
    # With the link alone there is nothing that is missing.
    run(["strip", "--strip-all", "--keep-section=.gnu_debugaltlink",
         paths[0]])
    listed = sections(paths[0])
    check(".gnu_debugaltlink" in listed and ".debug_info" not in listed,
          listed)
    equal(symbolize(paths[0], addresses)[1], "", "messages about a link")


@case
def compressed_symbol_table(directory):
    """.gnu_debugdata, as some distributions make it."""
    need("xz")
    path = build(directory, "-g")
    addresses = addresses_in(path, 60)
    mini = os.path.join(directory, "mini")
    run(["objcopy", "--only-keep-debug", path, mini])
    run(["objcopy", "--strip-debug", mini])
    run(["xz", mini])
    run(["strip", "--strip-all", path])
    equal({frames[0][0] for frames in
           symbolize(path, addresses)[0].values()}, {"??"}, "stripped")
    run(["objcopy", "--add-section", ".gnu_debugdata=" + mini + ".xz", path])
    names = {frames[0][0] for frames in
             symbolize(path, addresses)[0].values()}
    check("main" in names and "??" not in names, names)


# ---- debuginfod ----

@case
def debuginfod_cache(directory):
    target = Stripped(directory, os.path.join(directory, "x", "d.debug"))
    home = os.path.join(directory, "home")
    for cache, name in (
            (os.path.join(directory, "cache"), "DEBUGINFOD_CACHE_PATH"),
            (os.path.join(home, ".cache", "debuginfod_client"), None)):
        place = os.path.join(cache, target.id)
        os.makedirs(place)
        shutil.copy(target.debug, os.path.join(place, "debuginfo"))
        env = environment(HOME=home, DEBUGINFOD_URLS=None)
        env.pop("XDG_CACHE_HOME", None)
        env.pop("DEBUGINFOD_CACHE_PATH", None)
        check(name is None or not target.found(env=env), "found elsewhere")
        if name:
            env[name] = cache
        check(target.found(env=env), cache)
        check(target.found("-n", env=env), "its cache needs no network")
        shutil.rmtree(place)
        check(not target.found(env=env), "found though it is gone")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """debuginfod for the files of one directory."""

    def __init__(self, directory, files):
        self.port = free_port()
        self.process = subprocess.Popen(
            ["debuginfod", "-F", "-d", os.path.join(directory, "index"),
             "-p", str(self.port), files], cwd=directory,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment(DEBUGINFOD_URLS=None))
        self.lines = []

    def __enter__(self):
        return self

    def wait_until_scanned(self):
        for line in self.process.stdout:
            self.lines.append(line)
            if re.search(r"fdcache|served|file_s|groom|scanned", line) and \
                    "scanned" in line:
                return
        raise AssertionError("ended: " + "".join(self.lines))

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@case
def debuginfod_server(directory):
    need("debuginfod")
    need_file("/usr/lib/*/libdebuginfod.so.1")
    files = os.path.join(directory, "files")
    target = Stripped(directory, os.path.join(files, "d.debug"))
    cache = os.path.join(directory, "cache")
    with Server(directory, files) as server:
        env = environment(
            DEBUGINFOD_URLS="http://127.0.0.1:%d" % server.port,
            DEBUGINFOD_CACHE_PATH=cache, DEBUGINFOD_TIMEOUT=20)
        server.wait_until_scanned()
        check(not target.found("-n", env=env), "asked against the user's will")
        check(not os.path.exists(os.path.join(cache, target.id)),
              "the cache was filled")
        check(target.found(env=env), "served")
    check(target.found("-n", env=env), "not kept in the cache")


@case
def debuginfod_out_of_reach(directory):
    need_file("/usr/lib/*/libdebuginfod.so.1")
    target = Stripped(directory, os.path.join(directory, "x", "d.debug"))
    env = environment(DEBUGINFOD_URLS="http://127.0.0.1:%d" % free_port(),
                      DEBUGINFOD_CACHE_PATH=os.path.join(directory, "c"),
                      DEBUGINFOD_TIMEOUT=5)
    _, messages = symbolize(target.path, target.addresses, env=env)
    equal(len(messages.splitlines()), 1, messages)
    check("debuginfod" in messages and "127.0.0.1" in messages, messages)


# ---- processes that live ----

def waiting(argv, **options):
    return subprocess.Popen(argv, stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, **options)


def mapped(pid, name):
    with open("/proc/%d/maps" % pid) as maps:
        return name in maps.read()


@case
def process_in_its_own_mount_namespace(directory):
    need_mounts()
    path = build(directory, "-g")
    addresses = addresses_in(path, 60)
    number = build_id(path)
    hidden = os.path.join(directory, "hidden")
    os.mkdir(hidden)
    script = ("mount -t tmpfs none %s && cp %s %s/target && echo ready && "
              "exec %s/target wait" % (hidden, path, hidden, hidden))
    process = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", script], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    inside = os.path.join(hidden, "target")
    try:
        equal(process.stdout.readline(), b"ready\n", "start")
        # From exec on; until then it is the shell's process.
        while not mapped(process.pid, inside):
            check(process.poll() is None, "it ended")
        check(not os.path.exists(inside), "it is visible from here")
        ours, messages = symbolize(inside, addresses, "-b", number, "-p",
                                   str(process.pid))
        equal(messages, "", "messages")
        check(any(file.endswith("source.cc") for frames in ours.values()
                  for _, file, _, _ in frames), ours)
    finally:
        process.communicate(b"\n", timeout=RUN_SECONDS)
    _, messages = symbolize(inside, addresses, "-b", number, "-p",
                            str(process.pid))
    check("container" in messages and number in messages, messages)


@case
def process_whose_file_is_deleted(directory):
    need_map_files()
    path = build(directory, "-g")
    addresses = addresses_in(path, 60)
    number = build_id(path)
    process = waiting([path, "wait"])
    try:
        while not mapped(process.pid, path):
            check(process.poll() is None, "it ended")
        os.unlink(path)
        ours, messages = symbolize(path, addresses, "-b", number, "-p",
                                   str(process.pid))
        equal(messages, "", "messages")
        check(any(file.endswith("source.cc") for frames in ours.values()
                  for _, file, _, _ in frames), ours)
    finally:
        process.communicate(b"\n", timeout=RUN_SECONDS)


main()
