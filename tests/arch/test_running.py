#!/usr/bin/python3
# TIMEOUT: 300
"""A port: `gnomon run` of programs for the target, which qemu runs if need be,
and programs that become others or start them."""

from port import *
from privileges import *

CHAIN = os.path.join(TARGET_PROGRAMS, "exec_chain")
BASIC = os.path.join(TARGET_PROGRAMS, "basic")
OWN = os.path.join(BUILD, "gnomon-recorder")


def run(directory, *words, command=GNOMON, **variables):
    """`gnomon run`, and what it wrote."""
    done = subprocess.run(
        [command, "run", "-o", os.path.join(directory, "a.trace"), *words],
        env=environment(**variables), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=RUN_SECONDS)
    return Done(done.returncode, done.stdout, done.stderr, directory)


def need_emulator():
    if not EMULATOR:
        raise Skip("no emulator: the target is this machine")


@case
def a_program_for_the_target(directory):
    done = run(directory, BASIC)
    equal(done.status, 0, "status: " + done.err)
    check("recorded in" in done.err, done.err)
    agree(done.expected, Report(done.trace))


@case
def an_emulator_with_its_program(directory):
    need_emulator()
    done = run(directory, "--", *EMULATOR, BASIC)
    equal(done.status, 0, "status: " + done.err)
    agree(done.expected, Report(done.trace))


def gives_up(directory, way, recorder):
    """The recorder has the privileges that the program has left, and goes on."""
    trace = os.path.join(directory, way + ".trace")
    argv, env = emulated([os.path.join(TARGET_PROGRAMS, "privileges"), way],
                         environment(LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=trace))
    process = subprocess.Popen(argv, env=dict(env, GNOMON_RECORDER=recorder),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line == "now\n":
            break
    else:
        raise Failure("%s: %s" % (way, process.stderr.read()))
    equal(status_of(recorder_of(trace)), status_of(process.pid), way)
    out, err = process.communicate("\n", timeout=RUN_SECONDS)
    equal((process.returncode, err), (0, ""), way)
    settle(directory)
    agree(Done(0, out, "").expected, Report(trace))


@case
def privileges_that_it_gives_up(directory):
    """As calls have other numbers for the target than for this machine."""
    need_root("give up something")
    for way in "setuid", "setres", "init", "raw", "caps":
        gives_up(directory, way, OWN)
    if EMULATOR:
        gives_up(directory, "there", EMULATED_RECORDER)


def both_recorders(directory, name, *words):
    """This machine's and the target's own."""
    path = os.path.join(TARGET_PROGRAMS, name)
    for done in (run(directory, "-f", path, *words),
                 recorded([path, *words], directory, by="preload")):
        equal(done.status, 0, "status: %s %s" % (done.out, done.err))


@case
def dumps_that_it_asks_for(directory):
    """Of stacks, all or those that go through who asks."""
    both_recorders(directory, "dumped")


@case
def numbers_that_it_asks_for(directory):
    """Those of all that it did before, whatever other threads are doing."""
    for _ in range(3):
        both_recorders(directory, "numbers")


@case
def threads_have_its_name(directory):
    """Until they are given one; not the emulator's."""
    for program in (BASIC, matrix_program("thread_ends")):
        done = run(directory, "-f", program)
        equal(done.status, 0, "status: " + done.err)
        names = {name["name"] for thread in info(done.trace)["threads"]
                 for name in thread.get("names", [])}
        equal(names, {os.path.basename(program)}, "names of threads")


@case
def rules_are_made_for_it(directory):
    """For code without unwind tables, as for a program of this machine: by its
    file alone, and by an emulator's command line, where they are there."""
    program = matrix_program("untabled")
    rules = os.path.join(directory, "gnomon", "cfi")
    for words in ([program], [*EMULATOR, program]):
        done = run(directory, "-f", "--shadow-stack", "off", "--", *words,
                   XDG_CACHE_HOME=directory)
        equal(done.status, 0, "status: " + done.err)
        check(os.listdir(rules), "no rules: " + done.err)
        for name in os.listdir(rules):
            os.unlink(os.path.join(rules, name))
        counters = info(os.path.join(directory, "a.trace"))["counters"]
        stops = {key: int(value) for key, value in counters.items()
                 if key.startswith("stop_")}
        bottom = stops.pop("stop_bottom")
        check(100 * sum(stops.values()) <= bottom,
              "%d walks to the end, %s" % (bottom, stops))


@case
def an_end_is_passed_on(directory):
    done = run(directory, matrix_program("terminate"), "noexcept")
    equal(done.status, -signal.SIGABRT, "status: " + done.err)


@case
def what_is_missing_is_said(directory):
    """The library for the target; the emulator."""
    need_emulator()
    place = os.path.join(directory, "here")
    os.mkdir(place)
    for name in ("gnomon", "libgnomon.so"):
        shutil.copy(os.path.join(BUILD, name), place)
    done = run(directory, BASIC, command=os.path.join(place, "gnomon"))
    equal(done.status, 125, "status: " + done.err)
    check(re.search(BASIC + ": is for " + ARCH + ".*/libgnomon.so.* missing: "
                    ".*make ARCH=" + ARCH, done.err), done.err)
    done = run(directory, BASIC, PATH=place)
    equal(done.status, 126, "status: " + done.err)
    check("not found in $PATH" in done.err, done.err)
    equal(done.traces, [], "traces")


@case
def programs_that_cannot_be_recorded(directory):
    """Each is named, with the reason and what to do, and does what it does
    bare."""
    with open(BASIC, "rb") as file:
        whole = file.read()
    source = os.path.join(directory, "nothing.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main(void) { return 7; }\n")
    static = os.path.join(directory, "static")
    done = bare([*os.environ.get("CC", "cc").split(), "-static", "-o", static,
                 source])
    equal(done.status, 0, "compiler: " + done.err)
    done = run(directory, static, XDG_CACHE_HOME=directory)
    equal((done.status, done.traces), (7, []), "a static one: " + done.err)
    check("rules" not in done.err, done.err)
    check(re.search(static + ": .*static.*link it dynamically", done.err),
          done.err)
    cut = os.path.join(directory, "cut")
    with open(cut, "wb") as file:
        file.write(whole[:3000])
    os.chmod(cut, 0o755)
    done = run(directory, cut)
    check(done.status != 0, "one that is cut: " + done.err)
    check(re.search(cut + ": .*shorter than its headers.*again", done.err), done.err)


@case
def another_processor_without_a_port(directory):
    """Neither a shell nor an emulator is said to run it."""
    with open(BASIC, "rb") as file:
        whole = bytearray(file.read())
    order = "big" if whole[5] == 2 else "little"
    whole[18:20] = (258).to_bytes(2, order)
    path = os.path.join(directory, "foreign")
    with open(path, "wb") as file:
        file.write(whole)
    os.chmod(path, 0o755)
    done = run(directory, path)
    equal((done.status, done.traces), (126, []), done.err)
    check(re.search(path + ": is for LoongArch .*no port.*build it for one of "
                    ".*" + ARCH, done.err), done.err)
    check("Exec format error" in done.err, done.err)
    if EMULATOR:
        done = run(directory, EMULATOR[0], path)
        check(re.search(path + ": is for LoongArch .*emulator itself is "
                        "recorded", done.err), done.err)


@case
def a_recorder_of_the_target_is_refused(directory):
    """By the kernel: without the command, it has to be named."""
    need_emulator()
    recorder = os.path.join(TARGET, "gnomon-recorder")
    argv, env = emulated([BASIC], environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(directory, "a.trace")))
    done = bare(argv, dict(env, GNOMON_RECORDER=recorder))
    equal(done.status, 0, "status: " + done.err)
    if traces_in(directory):
        raise Skip("the kernel executes programs of the target")
    check(re.fullmatch("gnomon: the recorder cannot be started: " + recorder +
                       ": .* set GNOMON_RECORDER to this machine's own, or use "
                       "gnomon run\n",
                       done.err), "one message: " + repr(done.err))


@case
def installed_beside_the_command(directory):
    """What is put there for the target is found; others are using what was
    built, so nothing of it may be made again."""
    need_emulator()
    words = ["make", "-s", "-C", os.path.join(os.path.dirname(__file__), "..",
                                              ".."),
             "ARCH=" + ARCH, "O=" + TARGET, "CC=" + os.environ["CC"],
             "PREFIX=/opt"]
    env = environment(MAKEFLAGS=None, MAKELEVEL=None)
    equal(bare([*words, "-q", "all"], env).status, 0, "it is not all built")
    root = os.path.join(directory, "root")
    for goal, where in (("install", directory), ("install-target", root)):
        done = bare([*words, "DESTDIR=" + where, goal], env)
        equal(done.status, 0, "make %s: %s" % (goal, done.err))
    for name in ("libgnomon.so", "gnomon-recorder"):
        equal(elf_kind(os.path.join(root, "opt/lib/gnomon", name)),
              elf_kind(LIBRARY), "in a target's root: " + name)
    equal(bare([*words, "DESTDIR=" + root, "uninstall"], env).status, 0,
          "make uninstall")
    equal([path for path in glob.glob(root + "/**", recursive=True)
           if not os.path.isdir(path)], [], "left in a target's root")
    parts = os.path.join(directory, "opt", "lib", "gnomon")
    os.mkdir(os.path.join(directory, "opt", "bin"))
    command = shutil.copy(GNOMON, os.path.join(directory, "opt", "bin"))
    shutil.copy(os.path.join(BUILD, "libgnomon.so"), parts)
    for name in (None, "gnomon-recorder", "gnomon-recorder-other"):
        if name:
            shutil.copy(os.path.join(BUILD, name), parts)
        done = run(directory, "-f", BASIC, command=command)
        equal(done.status, 0, "status: " + done.err)
        agree(done.expected, Report(os.path.join(directory, "a.trace")))


# How recorders differ: in time, in the files of /proc that they see, in their
# compression.
OWN_FACTS = re.compile(r"time|_ns$|tick|pid|^ppid$|^parent$|^start|^live$|"
                       r"^output$|^control$|^host$")


def said(trace):
    """What a trace says that does not depend on who recorded it when."""
    report, document = Report(trace), info(trace)
    rows = sorted((json.dumps([[frame.get(key) for key in (
        "function", "file", "line", "module")] for frame in row["stack"]]),
        row["count"], row["total_bytes"], row["live_blocks"],
        row["live_bytes"], row["peak_bytes"], row["temporary"])
                  for row in report.rows)
    blocks = sorted((row["address"], row["size"]) for row in
                    Report(trace, by="block").rows)
    images = sorted((image["path"], image["bias"], image["build_id"])
                    for image in document["images"])
    facts = {key: value for key, value in document["info"].items()
             if not OWN_FACTS.search(key)}
    return {"rows": rows, "blocks": blocks, "images": images, "facts": facts,
            "events": document["events"]}


RECORDINGS = ({}, {"GNOMON_FREE_STACKS": "1"},
              {"GNOMON_DEPTH": "2", "GNOMON_MIN_SIZE": "100"})


def recorded_by(which, words, place, **options):
    os.mkdir(place)
    trace = os.path.join(place, "a.trace")
    argv, env = emulated(words, environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=trace, **options))
    done = bare(argv, dict(env, GNOMON_RECORDER=which))
    equal(done.status, 0, "status: " + done.err)
    settle(place)
    return done, trace


@case
def whose_recorder_it_is(directory):
    """This machine's, whatever the byte order, and the target's own say the
    same of a program."""
    need_emulator()
    for number, options in enumerate(RECORDINGS):
        own, other = [said(recorded_by(which, [BASIC], os.path.join(
            directory, "%d-%d" % (number, i)), **options)[1])
                      for i, which in enumerate((OWN, EMULATED_RECORDER))]
        for key, value in own.items():
            equal(value, other[key], "%s: %s" % (options, key))


@case
def second_rings_by_this_machines_recorder(directory):
    """Of handlers that interrupt hooks."""
    need_emulator()
    _, trace = recorded_by(OWN, [os.path.join(TARGET_PROGRAMS, "signals")],
                           os.path.join(directory, "one"))
    adds_up(Report(trace))
    check(int(info(trace)["counters"]["nested_events"]), "no second ring")


@case
def a_recorder_that_is_not_there(directory):
    """That of the other byte order, beside this machine's."""
    need_emulator()
    own = shutil.copy(OWN, directory)
    if elf_kind(own)[1] == elf_kind(LIBRARY)[1]:
        raise Skip("the byte order is this machine's")
    argv, env = emulated([BASIC], environment(
        LD_PRELOAD=LIBRARY, GNOMON_OUTPUT=os.path.join(directory, "b.trace")))
    done = bare(argv, dict(env, GNOMON_RECORDER=own))
    equal(done.status, 0, "refused: " + done.err)
    check("another architecture" in done.err, done.err)


@case
def a_damaged_mapping(directory):
    """Words of the target that cannot be: its recorder ends, and says so."""
    port = ARCH.replace("mips64el", "mips64")
    tests = os.path.join(os.path.dirname(__file__), "..")
    root = os.path.join(tests, "..")
    path = os.path.join(directory, "scribble")
    done = bare([*os.environ["CC"].split(), "-O1", "-D_GNU_SOURCE",
                 "-I" + root, "-I" + os.path.join(root, "arch"),
                 "-I" + os.path.join(root, "arch", port), "-o", path,
                 "-I" + os.path.join(tests, "programs"),
                 os.path.join(tests, "programs", "processes", "scribble.c"),
                 "-lpthread"])
    equal(done.status, 0, done.err)
    damages = 0
    for way in "careful", "wild", "early":
        for seed in "1", "2", "3":
            done = run(directory, "-f", "--live-dir", directory, "--", path,
                       seed, "60", way)
            equal(done.status, 7, "%s %s: %s" % (way, seed, done.err))
            trace = os.path.join(directory, "a.trace")
            check("is damaged" in done.err or "not recorded" in done.err or
                  has_end(trace), "%s %s: %s" % (way, seed, done.err))
            if os.path.exists(trace) and os.path.getsize(trace):
                damages += "is damaged (" in gnomon(
                    "report", trace, statuses=(0, 3)).err
    check(damages, "nothing was damaged")
    equal(glob.glob(directory + "/*.live"), [], "left")


@case
def rules_that_are_not_there(directory):
    """A wrong directory is said once."""
    nowhere = os.path.join(directory, "nowhere")
    argv, env = emulated([BASIC], environment(
        LD_PRELOAD=LIBRARY, GNOMON_CFI_DIR=nowhere,
        GNOMON_OUTPUT=os.path.join(directory, "a.trace")))
    done = bare(argv, env)
    equal(done.status, 0, "status: " + done.err)
    equal(done.err.count(nowhere + ": no such file or directory"), 1, done.err)


def words_of(text):
    """Lines that are no variables."""
    return [line for line in text.split("\n") if not line.startswith("  ")]


@case
def programs_of_this_machine_that_it_starts(directory):
    """Their loader cannot load the target's library, and does not complain: of
    a program, and of a script that one runs."""
    need_emulator()
    script = os.path.join(directory, "script")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#! /bin/echo said\n")
    os.chmod(script, 0o755)
    for number, name in enumerate(("/bin/echo", script)):
        argv = [os.path.join(TARGET_PROGRAMS, "starts"), "as", name]
        plain = bare(argv)
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        done = recorded(argv, place, by="preload")
        equal((plain.status, done.status, done.err), (0, 0, plain.err), name)
        equal(words_of(done.out), words_of(plain.out), name)
        check("leaf spawnp" in plain.out and "leaf popen" in plain.out,
              plain.out)


# In a namespace of its own the kernel runs programs for the target by qemu.
REGISTER = """
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 97
printf '%%s' '%s' >/proc/sys/fs/binfmt_misc/register || exit 98
exec "$@"
"""


def registration():
    """The first bytes of ELF files for the target, without their type, as
    binfmt_misc has them."""
    with open(LIBRARY, "rb") as file:
        header = bytearray(file.read(20))
    header[7:18] = bytes(11)
    mask = bytes([255] * 7 + [0] * 11 + [255] * 2)
    text = ["".join("\\x%02x" % byte for byte in bytes(part))
            for part in (header, mask)]
    return ":gnomon:M::%s:%s:%s:" % (*text, shutil.which(EMULATOR[0]))


def within(argv, env, name=None):
    """In a namespace where programs for the target can be executed. name: what
    the program is called by an emulator. What it starts is recorded by hooks
    alone, not by a variable for emulators."""
    if not EMULATOR:
        return bare(argv, env)
    argv, env = emulated(argv, env)
    words = ["-0", name] if name else []
    if "QEMU_SET_ENV" in env:
        words += ["-E", env.pop("QEMU_SET_ENV")]
    argv[len(EMULATOR):len(EMULATOR)] = words
    env["QEMU_LD_PREFIX"] = EMULATOR[EMULATOR.index("-L") + 1]
    return bare(["unshare", "-U", "-r", "-m", "sh", "-c",
                 REGISTER % registration(), "sh", *argv], env)


@case
def programs_that_become_others(directory):
    """By exec and posix_spawn; each is recorded with its own allocation."""
    become_others(directory, None)


@case
def programs_that_become_themselves(directory):
    """By a path that the kernel would say to be the emulator's."""
    need_emulator()
    become_others(directory, "/proc/self/exe")


def become_others(directory, name):
    need("unshare")
    plain = within([CHAIN, "3"], environment(), name)
    if plain.status in (97, 98) or "unshare" in plain.err:
        raise Skip("no binfmt_misc of one's own here: " + plain.err.strip())
    equal(plain.status, 6, "bare: " + plain.err)
    done = within([CHAIN, "3"], environment(
        LD_PRELOAD=LIBRARY,
        GNOMON_OUTPUT=os.path.join(directory, "%e.%p.trace")), name)
    equal(done.status, 6, "recorded: " + done.err)
    settle(directory)
    traces = traces_in(directory)
    equal(len(traces), 4, "traces: %s" % traces)
    sizes = {row["size"] for trace in traces
             for row in json.loads(gnomon(
                 "report", trace, "--json", "--by", "block", "--top", "0",
                 "--fate", "live").out)["rows"]}
    check(sizes >= {16, 32, 48, 64}, "sizes of blocks: %s" % sizes)


main()
