#!/usr/bin/python3
# TIMEOUT: 120
"""--free-stacks: the freeing functions, compared with the program's own
counts."""

from gnomon_test import *

STACKS = ("--free-stacks",)
FREERS = ("plain", "sized", "aligned", "array", "moved", "cross", "handler")


def printed(done):
    return {key: int(value) for key, value in
            (line.split() for line in done.out.splitlines())}


def json_of(trace, *words, statuses=(0,)):
    return json.loads(gnomon("report", "--json", "--top", "0", trace, *words,
                             statuses=statuses).out)


def freer_of(stack):
    """The freer_… of a stack, innermost first; "" if there is none."""
    for frame in stack:
        if (frame["function"] or "").startswith("freer_"):
            return frame["function"]
    return ""


def by_freer(document):
    """{function: [blocks, bytes]} of freed_by."""
    sums = {}
    for row in document["freed_by"]:
        one = sums.setdefault(freer_of(row["stack"]), [0, 0])
        one[0] += row["blocks"]
        one[1] += row["bytes"]
    return sums


def add_up(document):
    """Rows, whole and each row's own agree."""
    frees = document["summary"]["frees"]
    equal(sum(row["blocks"] for row in document["freed_by"]), frees,
          "blocks of all who freed")
    of_rows = {}
    for row in document["rows"]:
        check(row["freed_by_stacks"] >= len(row["freed_by"]), "stacks")
        if row["freed_by_stacks"] == len(row["freed_by"]):
            equal(sum(one["blocks"] for one in row["freed_by"]),
                  row["frees"], "frees of a row")
        for one in row["freed_by"]:
            of_rows[one["context"]] = (of_rows.get(one["context"], 0)
                                       + one["blocks"])
    return of_rows


def agree_with(done, trace):
    counted = printed(done)
    document = json_of(trace)
    sums = by_freer(document)
    for name in FREERS:
        check(counted["freed_" + name] > 0, name)
        equal(sums.get("freer_" + name), [counted["freed_" + name],
                                          counted["bytes_" + name]], name)
    return document


def main_trace(done):
    return max(done.traces, key=os.path.getsize)


@case
def by_function(directory):
    done = recorded([program("freers")], directory, options=STACKS,
                    env=environment(GNOMON_DEBUG_ORACLE=1))
    equal(done.status, 0, "status, stderr: " + done.err)
    trace = main_trace(done)
    document = agree_with(done, trace)
    of_rows = add_up(document)
    for row in document["freed_by"]:
        equal(of_rows[row["context"]], row["blocks"], "pairs of a stack")
    add_up(json_of(trace, "--by", "function"))
    counters = info(trace)
    equal(int(find_key(counters, "oracle_differences")), 0, "differences")
    check(int(find_key(counters, "oracle_checks")) >= 2 *
          document["summary"]["frees"], "not all captures were checked")
    # the child of fork has a trace, and its own stacks of frees
    child = min(done.traces, key=os.path.getsize)
    equal(by_freer(json_of(child))["freer_array"], [10, 1200], "child")


@case
def other_ways_of_capture(directory):
    for how in ("validate", "off"):
        done = recorded([program("freers")], directory,
                        options=STACKS + ("--shadow-stack", how, "-f"),
                        env=environment(GNOMON_DEBUG_ORACLE=1))
        agree_with(done, main_trace(done))
        equal(int(find_key(info(main_trace(done)), "oracle_differences")), 0,
              "differences")
        for trace in done.traces:
            os.unlink(trace)


@case
def filters(directory):
    done = recorded([program("freers")], directory, options=STACKS)
    trace = main_trace(done)
    document = json_of(trace)
    for row in document["freed_by"][:6]:
        few = json_of(trace, "--free-context", str(row["context"]))
        for key, value in (("allocations", row["blocks"]),
                           ("frees", row["blocks"]),
                           ("total_bytes", row["bytes"]),
                           ("live_blocks", 0)):
            equal(few["summary"][key], value, key)
        equal([one["context"] for one in few["freed_by"]], [row["context"]],
              "who freed")
    # of stacks that allocated: who freed their blocks
    some = json_of(trace, "--passes-through", "^make_all")
    check(some["freed_by"], "nobody freed")
    equal(sum(one["blocks"] for one in some["freed_by"]),
          some["summary"]["frees"], "frees of make_all's blocks")
    text = gnomon("report", "--all", trace).out
    check("FREED BY" in text and "freer_moved" in text, text)


@case
def places_and_their_stacks(directory):
    """The place is who called the wrapper of free; each of its stacks has its
    share."""
    done = recorded([program("freeing_wrapper")], directory, options=STACKS)
    trace = main_trace(done)
    text = gnomon("report", "--all", trace).out
    text = text[text.index("FREED BY"):]
    first = text[text.index("1. "):].split("2. ")[0].splitlines()
    check("in 30 blocks" in first[0], first)
    equal([[word for word in line.split() if "block" in word or
            word.isdigit()][0] for line in first if " - " in line],
          ["10"] * 3, "\n".join(first))
    for caller in ("first_caller", "second_caller", "third_caller"):
        check(any(caller in line for line in first), "\n".join(first))
    check(not any("xfree" in line for line in first), "\n".join(first))
    stacks = gnomon("report", trace, "--by", "stack").out
    equal(stacks[stacks.index("FREED BY"):].count("(context "), 3, stacks)


@case
def without_stacks(directory):
    done = recorded([program("freers")], directory)
    trace = main_trace(done)
    document = json_of(trace)
    check("freed_by" not in document, "freed_by")
    check("freed_by" not in document["rows"][0], "freed_by of a row")
    check("FREED BY" not in gnomon("report", "--all", trace).out, "a table")
    refused = gnomon("report", trace, "--free-context", "20", statuses=(2,))
    check("--free-stacks" in refused.err, refused.err)
    dump = bare([program("trace_dump"), trace, "frees"]).out.split()
    equal(dump[1:], ["0"], "stacks")


@case
def of_a_moment(directory):
    """Blocks that were there at a moment, and who freed them later."""
    done = recorded([program("freers"), "grow"], directory, options=STACKS)
    blocks = json_of(done.trace, "--by", "block", "--alive-at", "70%",
                     "--size-min", "1000", "--size-max", "1000")
    freers = {row["context"]: freer_of(row["stack"])
              for row in blocks["freed_by"]}
    equal(len(blocks["rows"]), 50, "blocks")
    for row in blocks["rows"]:
        equal(freers[row["freed_by_context"]], "freer_late", "who freed")


@case
def rewritten(directory):
    """The same is told by traces that were made of it."""
    done = recorded([program("freers")], directory, options=STACKS)
    trace = main_trace(done)
    wanted = by_freer(json_of(trace))
    whole = json_of(trace)["freed_by"]
    for words in (("repack",), ("strip", "--lifetime", "1ms"),
                  ("strip", "--temporary", "3")):
        other = os.path.join(directory, "other.trace")
        gnomon(*words, trace, "-f", "-o", other)
        document = json_of(other)
        equal(by_freer(document), wanted, " ".join(words))
        add_up(document)
        again = os.path.join(directory, "again.trace")
        gnomon("strip", "--lifetime", "1h", other, "-f", "-o", again)
        equal(by_freer(json_of(again)), wanted, "stripped once more")
    gnomon("anonymize", trace, "-f", "-o", other, "--key", "a key")
    equal([(row["context"], row["blocks"], row["bytes"])
           for row in json_of(other)["freed_by"]],
          [(row["context"], row["blocks"], row["bytes"]) for row in whole],
          "anonymized")


@case
def killed(directory):
    """Program and recorder at once, in mid-run: what the program had published
    is there, freed by its own functions."""
    counts = os.path.join(directory, "counts")
    env = environment(LD_PRELOAD=LIBRARY, GNOMON_FREE_STACKS=1,
                      GNOMON_OUTPUT=os.path.join(directory, "%e.trace"))
    for seconds in (0.02, 0.05, 0.1):
        process = subprocess.Popen([program("killable"), counts], env=env,
                                   stdout=subprocess.PIPE)
        equal(process.stdout.readline(), b"ready\n", "start")
        trace = wait_begun(os.path.join(directory, "killable.trace"))
        time.sleep(seconds)
        for pid in (process.pid, wait_recorder(process.pid)):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        document = json_of(trace, statuses=(0, 3))
        with open(counts, "rb") as file:
            words = struct.unpack("<8Q", file.read())
        for thread in range(4):
            freed = sum(row["blocks"] for row in document["freed_by"]
                        if row["stack"] and row["stack"][0]["function"]
                        == "killable_thread_%d" % thread)
            check(0 <= freed - words[4 + thread] <= 1,
                  "thread %d: %d published, %d in the trace" % (
                      thread, words[4 + thread], freed))
        os.unlink(trace)


main()
