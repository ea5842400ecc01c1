"""Shared by the tests of pprof's format: a profile as `go tool pprof` (of each
installed Go) and protoc read it."""

import collections
import gzip
import os
import re
import subprocess
import tempfile

from gnomon_test import RUN_SECONDS, bare, check, environment, equal, need

TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "cli", "export", "pprof")


# ---- go tool pprof ----

def gos():
    """Each Go that is here, Debian's first."""
    found = []
    for folder in ["/usr/bin", "/usr/local/go/bin",
                   *os.environ.get("PATH", "").split(":")]:
        go = os.path.realpath(os.path.join(folder, "go"))
        if os.access(go, os.X_OK) and go not in found:
            found.append(go)
    return found


def pprof(*words, go=None, **changes):
    """What it prints; it must have nothing to complain of."""
    need("go")
    # It keeps what it gets by HTTP.
    with tempfile.TemporaryDirectory(prefix="gnomon-pprof.") as kept:
        done = bare([go or gos()[0], "tool", "pprof", *words],
                    environment(PPROF_TMPDIR=kept, GOTOOLCHAIN="local",
                                **changes))
    equal(done.status, 0, "%s: %s" % (words, done.err))
    return done.out


Raw = collections.namedtuple("Raw", "types default samples text")


def raw(path, *words, **more):
    """The types, the default one, and the values of each sample."""
    text = pprof("-raw", "-symbolize=none", *words, path, **more)
    head = re.search(r"\nSamples:\n(.*)\n", text)
    types = head[1].split()
    return Raw([name.split("/")[0] for name in types],
               [name.split("/")[0] for name in types if "[dflt]" in name],
               [tuple(map(int, line.split(":")[0].split())) for line in
                re.findall(r"^ +(?:-?\d+ +)*-?\d+:.*$", text[head.end():
                           text.index("\nLocations\n")], re.M)], text)


def sums(got):
    return [sum(sample[i] for sample in got.samples)
            for i in range(len(got.types))]


def totals(path, *words, **more):
    return sums(raw(path, *words, **more))


def top_total(path, *words, **more):
    text = pprof("-top", "-unit=B", "-symbolize=none", *words, path, **more)
    return int(re.search(r" of (\d+)B? total", text)[1])


# ---- protoc ----

def unescaped(text):
    """A text as protoc writes it: octal, and the usual ones."""
    plain = re.sub(rb"\\([0-7]{3}|.)", lambda match: {
        b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(
            match[1], bytes([int(match[1], 8)]) if len(match[1]) == 3
            else match[1]), text.encode())
    return plain.decode("utf-8")


def decoded(path):
    """The message as dictionaries of lists."""
    need("protoc")
    with gzip.open(path) as file:
        done = subprocess.run(
            ["protoc", "--decode=pprof.Profile", "-I", PROTO,
             os.path.join(PROTO, "profile.proto")], input=file.read(),
            capture_output=True, check=True, timeout=RUN_SECONDS)
    equal(done.stderr, b"", "protoc")
    stack = [collections.defaultdict(list)]
    for line in done.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            stack.append(collections.defaultdict(list))
            stack[-2][line[:-2]].append(stack[-1])
        else:
            key, value = line.split(": ", 1)
            stack[-1][key].append(
                unescaped(value[1:-1]) if value[0] == '"' else
                int(value) if value[-1].isdigit() else value == "true")
    equal(len(stack), 1, "depth at the end")
    return stack[0]


def one(message, key, otherwise=0):
    """A field that is left out if it is 0."""
    value, = message.get(key) or [otherwise]
    return value


def checked(profile, types=TYPES, threads=False):
    """What the format demands of any profile. Returns its texts."""
    texts = profile["string_table"]
    equal(texts[0], "", "the first text")
    equal(len(set(texts)), len(texts), "texts that are there once")
    known = {}
    for kind in ("mapping", "location", "function"):
        known[kind] = {one(message, "id"): message
                       for message in profile[kind]}
        equal(len(known[kind]), len(profile[kind]), "ids of each " + kind)
        check(0 not in known[kind], "an id of 0: " + kind)
    for location in profile["location"]:
        check(one(location, "mapping_id") in known["mapping"],
              "a location's mapping: %s" % location)
        for line in location["line"]:
            check(one(line, "function_id") in known["function"],
                  "a line's function: %s" % line)
    for function in profile["function"]:
        check(texts[one(function, "name")] and
              texts[one(function, "system_name")], "names: %s" % function)
    equal([texts[one(kind, "type")] for kind in profile["sample_type"]],
          list(types), "types")
    equal([texts[one(kind, "unit")] for kind in profile["sample_type"]],
          ["bytes" if "space" in kind else "count" for kind in types],
          "units")
    stacks = set()
    for sample in profile["sample"]:
        equal(len(sample["value"]), len(types), "values of a sample")
        check(all(n in known["location"] for n in sample["location_id"]),
              "a sample's locations: %s" % sample)
        stacks.add(tuple(sample["location_id"]))
    check(threads or len(stacks) == len(profile["sample"]), "equal stacks")
    return texts
