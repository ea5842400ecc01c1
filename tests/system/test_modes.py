#!/usr/bin/python3
"""How each thread's stacks were captured, and the memory and counts for it, as
`gnomon info` reports them."""

from gnomon_test import *

DEFAULT = "nothing speaks against it"
ASKED = "asked for"
HARDWARE = "a hardware shadow stack is active"
SUMMED = ("path_bytes", "path_bytes_max", "path_ways", "path_ways_used",
          "state_bytes", "barriers_placed", "barriers_met")
CHUNK_CAPTURE = 9


def plausible(thread):
    check(thread["path_bytes"] <= thread["path_bytes_max"],
          "path cache over its bound: %s" % thread)
    check(thread["path_ways_used"] <= thread["path_ways"],
          "more ways used than there are: %s" % thread)
    check(thread["path_bytes"] < thread["state_bytes"] < 64 << 20,
          "state: %s" % thread)
    check(thread["path_ways"] * 16 <= thread["path_bytes"],
          "ways without memory: %s" % thread)
    check(thread["barriers_met"] == 0 or thread["barriers_placed"] > 0,
          "barriers met, none placed: %s" % thread)


def described(trace):
    """The document, with all that holds of every recording checked."""
    document = info(trace)
    threads, sums = document["threads"], document["captures"]
    equal(sums["threads"], len(threads), "threads that are described")
    modes = {}
    for thread in threads:
        plausible(thread)
        modes[thread["mode"]] = modes.get(thread["mode"], 0) + 1
    equal(sums["modes"], modes, "threads by mode")
    for key in SUMMED:
        equal(sums[key], sum(thread[key] for thread in threads), key)
    for key in ("barriers_placed", "barriers_met"):
        equal(document["counters"][key], sums[key], "counter " + key)
    return document


def has_shadow_stack():
    done = bare([program("shadow_pointer")])
    return bool(done.expected["active"])


def in_mode(directory, mode, wanted, argv, **env):
    """Each thread runs in one of the wanted (mode, why)."""
    done = recorded(argv, directory, options=["--shadow-stack", mode],
                    env=environment(**env))
    equal(done.status, 0, "status, stderr: " + done.err)
    document = described(done.trace)
    equal(document["info"]["shadow_stack"], mode, "the option")
    if has_shadow_stack() and mode != "off":
        wanted = [("hardware", HARDWARE)]
    for thread in document["threads"]:
        found = thread["mode"], thread["why"]
        check(found in wanted, "thread %d: %s, wanted %s" % (
            thread["tid"], found, wanted))
    return document, done.trace


@case
def auto(directory):
    document, _ = in_mode(directory, "auto",
                          [("barriers", DEFAULT)],
                          [program("churn"), "20000"])
    main, = document["threads"]
    check(main["path_ways"] > 0, "no path cache: %s" % main)


@case
def validate(directory):
    document, _ = in_mode(directory, "validate", [("validate", ASKED)],
                          [program("churn"), "20000"], GNOMON_DEBUG_BARRIER=2)
    main, = document["threads"]
    check(0 < main["path_ways_used"], "nothing remembered: %s" % main)
    equal(main["barriers_placed"], 0, "barriers")


@case
def off(directory):
    document, trace = in_mode(directory, "off", [("off", ASKED)],
                              [program("churn"), "20000"],
                              GNOMON_DEBUG_BARRIER=2)
    main, = document["threads"]
    equal(main["path_ways_used"], 0, "remembered stacks")
    equal(main["barriers_placed"], 0, "barriers")
    text = gnomon("info", trace).out
    check("  mode off: asked for\n" in text, text)
    check("  stacks       off in 1 thread\n" in text, text)


@case
def threads_that_come_and_go(directory):
    """Each is described as it was, although its state is used again."""
    document, trace = in_mode(directory, "validate", [("validate", ASKED)],
                              [program("turnover"), "10", "500"])
    threads = document["threads"]
    equal(len(threads), 8 * 10 + 1, "threads")
    # one that lives 1 ms finds the images being read by another, now and then
    forgetful = [thread for thread in threads
                 if not thread["main"] and not thread["path_ways_used"]]
    check(len(forgetful) <= len(threads) // 4,
          "nothing remembered: %s" % forgetful)
    text = gnomon("info", trace).out
    equal(text.count("  mode validate: asked for\n"), len(threads),
          "descriptions in the text")


@case
def no_memory_for_captures(directory):
    """Threads that come when --memory is nearly used up walk plainly."""
    done = recorded([program("many_threads"), "1000"], directory,
                    options=["--memory", "32M", "--ring", "4k"])
    equal(done.status, 0, "status, stderr: " + done.err)
    document = info(done.trace)
    equal(len(document["threads"]), 1001, "threads")
    check(document["captures"]["modes"].get("plain", 0) > 0,
          "all had memory: %s" % document["captures"])
    equal(document["captures"]["threads"], len(document["threads"]),
          "threads that are described")
    for thread in document["threads"]:
        if thread["mode"] == "plain":
            equal(thread["why"], "no memory left of --memory", "why")
            equal([thread[key] for key in SUMMED], [0] * len(SUMMED), "use")
        else:
            plausible(thread)


@case
def hardware_mode_needs_a_hardware_stack(directory):
    done = recorded([program("shadow_pointer")], directory)
    equal(done.status, 0, "status, stderr: " + done.err)
    for thread in described(done.trace)["threads"]:
        equal(thread["mode"] == "hardware", bool(done.expected["active"]),
              "hardware, by thread %d" % thread["tid"])


@case
def modes_of_a_running_recording(directory):
    """What is not said yet is left out, and said at the end."""
    process = subprocess.Popen(
        [program("killable"), os.path.join(directory, "counts")],
        env=environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(
            directory, "%e.trace")),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    equal(process.stdout.readline(), b"ready\n", "start")
    trace = wait_begun(os.path.join(directory, "killable.trace"))
    check(wait_for(lambda: len(info(trace, (0, 3))["threads"]) > 1),
          "no threads to be seen")
    document = info(trace, statuses=(0, 3))
    equal(document["captures"]["threads"], 0, "threads that are described")
    for thread in document["threads"]:
        check("mode" not in thread, "described already: %s" % thread)
    text = gnomon("info", trace, statuses=(0, 3)).out
    check("\nTHREADS (" in text and " mode " not in text, text)
    process.kill()
    process.wait()
    process.stdout.close()
    settle(directory)
    described(trace)


@case
def trace_cut_before_the_modes(directory):
    """As an older recorder leaves it, or one that was killed."""
    done = recorded([program("churn"), "20000"], directory)
    equal(done.status, 0, "status")
    with open(done.trace, "rb") as file:
        data = file.read()
    start = min(at for at, kind, _ in chunks(data) if kind == CHUNK_CAPTURE)
    with open(done.trace, "wb") as file:
        file.write(data[:start])
    document = info(done.trace, statuses=(0, 3))
    equal(document["captures"]["threads"], 0, "threads that are described")
    check("mode" not in document["threads"][0], "a mode from nowhere")
    gnomon("info", done.trace, statuses=(0, 3))


main()
