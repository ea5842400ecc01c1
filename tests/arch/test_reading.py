#!/usr/bin/python3
# TIMEOUT: 300
"""A port: this machine's command reads what was recorded on the target: names of
programs and libraries under a sysroot, the machine code of functions."""

from port import *


def recorded_program(name, directory, **variables):
    """Recorded into the directory, from a place of its own there; it and its
    trace."""
    place = os.path.join(directory, "bin")
    os.mkdir(place)
    path = shutil.copy(os.path.join(TARGET_PROGRAMS, name), place)
    done = recorded([path], directory, by="preload",
                    env=environment(**variables))
    equal(done.status, 0, "status, stderr: " + done.err)
    return path, done.trace


@case
def names_come_from_a_sysroot(directory):
    """Of a program that is only there, with the folders it had."""
    path, trace = recorded_program("basic", directory, GNOMON_EMBED="none")
    root = os.path.join(directory, "root")
    os.makedirs(root + os.path.dirname(path))
    os.rename(path, root + path)
    done = gnomon("report", trace, "--top", "0")
    check("churn" not in done.out, "names without a file: " + done.out)
    check("--sysroot" in done.err, "no advice: " + done.err)
    for arguments in (["report", "--top", "0"],
                      ["export", "--format", "collapsed", "--cost", "count"]):
        done = gnomon(*arguments, trace, "--sysroot", root)
        check("churn" in done.out, "%s: no names: %s %s" % (
            arguments[0], done.out, done.err))
    # another program there has another build-id
    shutil.copy(os.path.join(TARGET_PROGRAMS, "cancel"), root + path)
    done = gnomon("report", trace, "--top", "0", "--sysroot", root)
    check("churn" not in done.out and "build-id" in done.err,
          "another file's names: %s %s" % (done.out, done.err))


# A recorder that begins when the program is gone.
LATE = """#!/bin/sh
while grep -q . /proc/$1/maps 2>/dev/null; do sleep 0.01; done
exec %s "$@"
"""


def late_recorders(place):
    """What is there to run programs of the target, with such recorders; one of
    them."""
    other = os.path.join(place, ARCH)
    os.makedirs(os.path.join(other, "emulated"))
    for name in ("gnomon", "libgnomon.so"):
        shutil.copy(os.path.join(BUILD, name), place)
    os.symlink(LIBRARY, os.path.join(other, "libgnomon.so"))
    path = os.path.join(place, "gnomon-recorder")
    with open(path, "w", encoding="utf-8") as script:
        script.write(LATE % EMULATED_RECORDER)
    os.chmod(path, 0o755)
    shutil.copy(path, os.path.join(other, "emulated"))
    return path


@case
def names_of_what_an_emulator_opened(directory):
    """A prefix leads it from the path that the program has to a file: that is in
    the trace, also of a program that ends before anybody looks."""
    if "-L" not in EMULATOR:
        raise Skip("no emulator: no prefix either")
    prefix = os.path.realpath(EMULATOR[EMULATOR.index("-L") + 1])
    program = os.path.join(TARGET_PROGRAMS, "basic")
    pattern = os.path.join(directory, "%s.trace")
    recorder = late_recorders(os.path.join(directory, "late"))
    command = os.path.join(directory, "late", "gnomon")
    alone = environment(QEMU_SET_ENV="LD_PRELOAD=" + LIBRARY,
                        QEMU_LD_PREFIX=prefix, GNOMON_RECORDER=recorder,
                        GNOMON_OUTPUT=pattern % "alone")
    for name, words, env in (
            ("alone", [EMULATOR[0], program], alone),
            ("run", [command, "run", "-o", pattern % "run", "--", *EMULATOR,
                     program], environment())):
        done = bare(words, env)
        equal(done.status, 0, name + ": status: " + done.err)
        settle(directory)
        trace = pattern % name
        paths = [image["path"] for image in info(trace)["images"]]
        libraries = [path for path in paths if "libc." in path]
        check(libraries and all(path.startswith(prefix + "/")
                                for path in libraries),
              "%s: paths of libc: %s of %s" % (name, libraries, paths))
        done = gnomon("report", trace, "--json", "--by", "stack", "--top", "0")
        check("libc_start" in done.out and "--sysroot" not in done.err,
              "%s: no names: %s %s" % (name, done.out, done.err))


# Calls of a function by its name.
CALLS = {"aarch64": "bl", "arm": "blx?", "x86_64": "call",
         "mips64": "jalr|bal|jal", "mips64el": "jalr|bal|jal"}


@case
def functions_are_disassembled(directory):
    """What the cost stands at is the call, in code that makes sense. It has the
    name of what it calls, also of another file's."""
    _, trace = recorded_program("basic", directory)
    for function, called in (("make", "tgt_malloc"), ("tgt_malloc", "malloc")):
        is_call_in(trace, function, called)


def is_call_in(trace, function, called):
    done = gnomon("annotate", trace, function, "--disassembly", "--cost",
                  "count", "--all", "--json")
    listing = find_key(json.loads(done.out), "instructions")
    check(listing, "no instructions: " + done.out)
    costs = [each for each in listing if "returns_to" in each]
    equal(len(costs), 1, "instructions with a cost: %s" % costs)
    check(re.match(r"(%s) %s$" % (CALLS[ARCH], called), costs[0]["text"]),
          "not a call of %s: %s" % (called, costs[0]))
    odd = [each for each in listing if each["text"].startswith(".byte")]
    check(not odd, "not decoded: %s" % odd)


main()
