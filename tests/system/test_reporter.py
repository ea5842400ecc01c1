#!/usr/bin/python3
"""Reports at the end of the program, printed by the command that the recorder
starts."""

from gnomon_test import *

LEAK = ["/usr/bin/sqlite3", ":memory:", "select 42;"]


def with_report(directory, argv, by, **variables):
    env = environment(**{"GNOMON_" + name: value
                         for name, value in variables.items()})
    options = []
    if by == "run":
        options = ["--" + name.lower() + ("=" + value if value else "")
                   for name, value in variables.items()]
        env = environment()
    done = recorded(argv, directory, by=by, env=env, options=options)
    equal(done.status, 0, "status: " + done.err)
    return done


def wait_for_text(path, text):
    """The library's report may come after the program's end."""
    wait_for(lambda: os.path.exists(path) and
             text in open(path, encoding="utf-8").read())


@case
def at_the_end_on_standard_error(directory):
    for by in ("run", "preload"):
        part = os.path.join(directory, by)
        os.mkdir(part)
        done = with_report(part, LEAK, by, REPORT="", TOP="1")
        equal(done.out, "42\n", "the program's own output")
        trace = traces_in(part)[0]
        wanted = gnomon("report", "--top", "1", trace).out
        check(wanted in done.err, "%s: %s\n\nin place of\n\n%s" % (
            by, done.err, wanted))


@case
def into_a_file_one_table_each(directory):
    path = os.path.join(directory, "report")
    with_report(directory, LEAK, "preload", REPORT=path, TOP="1",
                SORT="count,temporary")
    wait_for_text(path, "TEMPORARY")
    text = open(path, encoding="utf-8").read()
    trace = traces_in(directory)[0]
    equal(text, "".join(gnomon("report", "--sort", key, "--top", "1",
                               trace).out for key in ("count", "temporary")),
          "tables")
    equal(os.stat(path).st_mode & 0o777, 0o600, "mode")


@case
def folded_stacks(directory):
    path = os.path.join(directory, "folded")
    with_report(directory, LEAK, "run", REPORT=path, FLAMEGRAPH="")
    trace = traces_in(directory)[0]
    lines = open(path, encoding="utf-8").read().splitlines()
    equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
          Report(trace).summary["live_bytes"], "live bytes")


@case
def nothing_where_nothing_is_live(directory):
    done = with_report(directory, [program("all_freed")], "preload",
                       REPORT="")
    trace = traces_in(directory)[0]
    equal(Report(trace).summary["live_blocks"], 0, "live")
    equal(done.err, "", "standard error")
    path = os.path.join(directory, "report")
    with_report(directory, [program("all_freed")], "preload", REPORT=path)
    wait_for_text(path, "live")
    check(os.path.getsize(path) > 100, "a file says what there was")


@case
def without_the_command(directory):
    """Library and recorder alone, in a place where no command is."""
    place = os.path.join(directory, "lib")
    os.mkdir(place)
    library = shutil.copy(LIBRARY, place)
    shutil.copy(os.path.join(BUILD, "gnomon-recorder"), place)
    env = environment(LD_PRELOAD=library, GNOMON_REPORT="", PATH="/nowhere",
                      GNOMON_OUTPUT=os.path.join(directory, "a.trace"))
    done = bare(LEAK, env)
    equal((done.status, done.out), (0, "42\n"), "the program")
    check("GNOMON_COMMAND" in done.err, done.err)


@case
def wrong_report_options_are_refused(directory):
    for option in ("--sort=size", "--sort=live,", "--sort=", "--top=x",
                   "--top=-1"):
        done = bare([GNOMON, "run", "--report", option, "true"])
        equal(done.status, 125, "status of " + option)
        check(option[2:].split("=")[0] in done.err, done.err)


main()
