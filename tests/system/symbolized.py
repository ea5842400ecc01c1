"""Shared by the tests of symbols: programs with debug information, and look-ups
with tests/tools/symbolize.c and llvm-symbolizer."""

import atexit
import os
import random
import re
import shutil
import subprocess
import tempfile

from gnomon_test import RUN_SECONDS, check, environment, equal, program

SYMBOLIZE = program("symbolize")

SOURCE = r"""
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {
struct counter {
	virtual ~counter() {}
	int add(int by)
	{
		auto twice = [&](int x) { return std::to_string(x + by); };

		return (int)(twice(by).size() + twice(2 * by).size());
	}
};
}

template <class T> __attribute__((noinline)) T largest(T first)
{
	std::vector<T> all;

	for (int i = 0; i < 9; i++)
		all.push_back(first + i);
	std::sort(all.begin(), all.end(), [](T a, T b) { return a > b; });
	return all[0];
}

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> words;
	counter c;

	for (int i = 0; i < argc + 10; i++)
		words[std::to_string(i)].push_back(i);
	if (argc > 1)
		getchar();
	return (c.add(argc) + largest(1) + (int)largest(2.5) +
		(int)words.size()) == 0;
}
"""

# Addresses that are compared in each program.
ADDRESSES = 400


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def run(argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True,
                          timeout=RUN_SECONDS,
                          **options)
    equal((done.returncode, done.stderr.strip()), (0, ""), " ".join(argv))
    return done.stdout


def compiled(directory, compiler, flags):
    source = write(directory, "source.cc", SOURCE)
    path = os.path.join(directory, "target")
    run([compiler, "-O2", "-Wl,--build-id", "-o", path, source, *flags],
        cwd=directory)
    return path


# Programs by compiler and flags: each is made once, and copied.
made = {}


def build(directory, *flags, compiler="g++", name="target"):
    """Split files stand where they were made, so each has its own."""
    if "-gsplit-dwarf" in flags:
        return compiled(directory, compiler, flags)
    key = (compiler, flags)
    if key not in made:
        place = tempfile.mkdtemp(prefix="gnomon-built.")
        atexit.register(shutil.rmtree, place)
        made[key] = compiled(place, compiler, flags)
    return shutil.copy(made[key], os.path.join(directory, name))


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)",
                     run(["readelf", "-n", path]))[1]


def sections(path):
    return run(["readelf", "-SW", path])


def addresses_in(path, count=ADDRESSES):
    """Random ones in functions of the program's own."""
    choose = random.Random(count)
    functions = re.findall(
        r": ([0-9a-f]{8,16}) +(\d+) FUNC .* (_Z\w+|main)$",
        run(["readelf", "-sW", path]), re.M)
    # of 32 bits: ARM, which marks Thumb's functions by bit 0
    ranges = [(int(start, 16) & (~1 if len(start) == 8 else -1), int(size))
              for start, size, _ in functions
              if int(start, 16) and int(size)]
    check(ranges, "no functions in " + path)
    found = set()
    while len(found) < min(count, sum(size for _, size in ranges) // 2):
        start, size = choose.choice(ranges)
        found.add(start + choose.randrange(size))
    return sorted(found)


def symbolize(path, addresses, *options, env=None):
    """Frames by address: (function, file, line, column); and messages."""
    done = subprocess.run(
        [SYMBOLIZE, *options, path], capture_output=True, text=True,
        errors="replace",
        input="".join("%#x\n" % address for address in addresses),
        env=env or environment(DEBUGINFOD_URLS=None), timeout=RUN_SECONDS)
    equal(done.returncode, 0, "status, stderr: " + done.stderr)
    result = {}
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            frames = result.setdefault(int(line, 16), [])
            continue
        function, place = line.rsplit("\t", 1)
        file, number, column = place.rsplit(":", 2)
        frames.append((function, file, int(number), int(column)))
    return result, done.stderr


def normal(path):
    return os.path.normpath(path)


def llvm(path, addresses):
    """The same by llvm-symbolizer; names as the linker has them."""
    out = run(["llvm-symbolizer", "--no-demangle", "-a", "--obj=" + path],
              input="".join("%#x\n" % address for address in addresses))
    result = {}
    for block in out.strip().split("\n\n"):
        lines = block.splitlines()
        result[int(lines[0], 16)] = [
            (lines[i], *lines[i + 1].rsplit(":", 2))
            for i in range(1, len(lines), 2)]
    return result


def compare(path, *options, like=None, inlined=True):
    """All of a program's lines and inlined functions."""
    addresses = addresses_in(like or path)
    ours, messages = symbolize(path, addresses, *options)
    theirs = llvm(like or path, addresses)
    equal(messages, "", "messages")
    for address in addresses:
        equal([(normal(file), line, column)
               for _, file, line, column in ours[address]],
              [(normal(file), int(line), int(column))
               for _, file, line, column in theirs[address]],
              "lines at %#x of %s" % (address, path))
        check(all(frame[0] != "??" for frame in ours[address]),
              "no name at %#x" % address)
    if inlined:
        check(sum(len(frames) > 1 for frames in ours.values()) >
              len(addresses) // 4, "hardly anything inlined")
    one_by_one, _ = symbolize(path, addresses, "-1", *options)
    equal(one_by_one, ours, "one by one")
    return ours


def has_lines(path, addresses, *options, env=None):
    ours, _ = symbolize(path, addresses, *options, env=env)
    return any(file.endswith("source.cc") for frames in ours.values()
               for _, file, _, _ in frames)
