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
