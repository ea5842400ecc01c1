#!/usr/bin/python3
# TIMEOUT: 900
"""Programs that overwrite the memory shared with their recorder, or truncate
its file: each loses only its own trace. The program continues and ends with its
own status, the recorder ends by itself, and its trace can be read."""

from gnomon_test import *

STATUS = 7	# of tests/programs/processes/scribble.c
MILLISECONDS = 60


def scribbled(directory, seed, way):
    trace = os.path.join(directory, "%s-%d.trace" % (way, seed))
    done = bare([GNOMON, "run", "--live-dir", directory,
                 "-o", trace, "--",
                 program("scribble"), str(seed), str(MILLISECONDS), way],
                seconds=120)
    what = "%s, seed %d" % (way, seed)
    equal(done.status, STATUS, what + ": status; " + done.err)
    return trace, done, what


def read(trace, what):
    """Whatever is in it, commands come to an end with it, and say so."""
    for command in "report", "info", "check":
        if command == "check":
            argv = [GNOMON, "info", "--json", trace]
        else:
            argv = [GNOMON, command, trace]
        done = bare(argv, preexec_fn=processor(60))
        check(done.status in (0, 3), "%s: %s ended with %d: %s" % (
            what, command, done.status, done.err))


def ended(trace, done, what):
    """Its recorder has closed it, or has said why there is none."""
    if os.path.exists(trace) and os.path.getsize(trace):
        check(has_end(trace), what + ": the trace has no end")
        read(trace, what)
        return
    check("this process is not recorded" in done.err or
          "recording has stopped" in done.err, what + ": " + done.err)


def many(way, seeds):
    def scribbles(directory):
        for seed in range(1, seeds + 1):
            ended(*scribbled(directory, seed, way))
            left = glob.glob(directory + "/*.live")
            check(not left, "%s, seed %d: left: %s" % (way, seed, left))
    scribbles.__name__ = "scribbles_" + way
    return scribbles


for each, seeds in ("careful", 6), ("wild", 6), ("early", 6):
    case(many(each, seeds))


@case
def a_file_that_is_cut(directory):
    for seed in 1, 2:
        trace, done, what = scribbled(directory, seed, "cut")
        check(has_end(trace), what + ": the trace has no end")
        document = info(trace, (0, 3))
        check("cut short" in find_key(document, "message"), what)
        check(Report(trace, (0, 3)).summary["allocations"] > 0, what)
        check("cut short" in done.err, what + ": not told: " + done.err)


@case
def requests_written_over(directory):
    for seed, words in (1, "requests to start or stop"), \
            (2, "how many signals came"):
        trace, _, what = scribbled(directory, seed, "requests")
        check(words in find_key(info(trace, (0, 3)), "message"), what)


@case
def live_file_replaced_by_another(directory):
    trace, done, what = scribbled(directory, 1, "swap")
    path = done.out.strip()
    with open(path) as file:
        equal(file.read(), "precious\n", path)
    os.unlink(path)
    equal(find_key(info(trace), "reason"), "exit", what)


main()
