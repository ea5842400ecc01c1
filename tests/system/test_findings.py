#!/usr/bin/python3
"""The findings of `gnomon report`: a sentence names the planted fault with its
place and its numbers; all findings fit on one screen."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

from gnomon_test import *
from real_programs import real_program

SCREEN = 45
# By mode: the function, the finding's kind, the table.
MODES = {
    "leak": ("leak_request", "leak", "LIVE AT THE END"),
    "peak": ("hold_table", "peak", "PEAK"),
    "churn": ("churn_text", "churn", "TEMPORARY"),
    "growth": ("grow_cache", "leak", "LIVE AT THE END"),
    "fragmentation": ("spread_out", "fragmentation", "LIVE AT THE END"),
}
KINDS = {"leak", "growth", "peak", "churn", "fragmentation", "missing"}


def planted(directory, mode):
    where = os.path.join(directory, mode)
    os.mkdir(where)
    return recorded([program("findings"), mode], where)


def sentences(text):
    """Those of a report in words, each in one line."""
    part = text.split("\n\n")[1]
    return [" ".join(one.split()) for one in re.split(r"^  [*!] ", part,
                                                      flags=re.M)[1:]]


def found(trace, *words):
    return json.loads(gnomon("report", trace, "--json", *words).out)["findings"]


def of_kind(findings, kind):
    one, = [finding for finding in findings if finding["kind"] == kind]
    return one


@case
def planted_defect_is_the_first_finding(directory):
    for mode, (function, kind, table) in MODES.items():
        done = planted(directory, mode)
        text = gnomon("report", done.trace).out
        first = found(done.trace)[0]
        equal((first["kind"], first["matters"], first["function"].split("(")[0]),
              (kind, True, function), mode)
        said = sentences(text)
        equal(said[0], first["sentence"], mode)
        check("`%s` findings.cc:%d" % (function, first["line"]) in said[0], said)
        check(re.search(r"\n%s:.*\n\n   1\. .*\n +%s  findings.cc:\d+"
                        % (table, function), text), text)


@case
def numbers_are_those_of_the_program(directory):
    done = planted(directory, "leak")
    leak = of_kind(found(done.trace), "leak")
    equal((leak["numbers"]["live_blocks"], leak["numbers"]["live_bytes"]),
          (done.expected["blocks"], done.expected["bytes"]), "leak")
    check(leak["sentence"].startswith("204K in 2,666 blocks leaked by "
                                      "`leak_request` findings.cc:"), leak)
    done = planted(directory, "peak")
    peak = of_kind(found(done.trace), "peak")
    equal(peak["numbers"]["peak_bytes"], done.expected["bytes"], "peak")
    done = planted(directory, "churn")
    churn = of_kind(found(done.trace), "churn")
    equal(churn["numbers"]["temporary"], done.expected["blocks"], "churn")
    done = planted(directory, "growth")
    findings = found(done.trace)
    growth = of_kind(findings, "growth")
    check("it grew steadily, by " in of_kind(findings, "leak")["sentence"],
          findings)
    # what the first step of sixteen had is no growth
    check(.9 * done.expected["bytes"] <= growth["numbers"]["grown_bytes"] <=
          done.expected["bytes"], growth)
    done = planted(directory, "fragmentation")
    pages = of_kind(found(done.trace), "fragmentation")
    equal(pages["numbers"]["live_bytes"], done.expected["bytes"], "live")
    # each block has a page of its own, or lies on two
    check(done.expected["blocks"] * 4096 - 4096 <=
          pages["numbers"]["kept_bytes"] <= done.expected["blocks"] * 4500,
          pages)


@case
def queries_show_what_is_said(directory):
    for mode in MODES:
        done = planted(directory, mode)
        for finding in found(done.trace):
            words = ["--%s%s" % (name, "=" + value if value else "")
                     for name, value in finding["query"].items()]
            shown = json.loads(gnomon("report", done.trace, "--json",
                                      *words).out)
            for figure, row in (("live_bytes", "live_bytes"),
                                ("peak_bytes", "peak_bytes"),
                                ("temporary", "temporary")):
                if figure in finding["numbers"] and \
                        "function" in finding["query"]:
                    equal(sum(one[row] for one in shown["rows"]),
                          finding["numbers"][figure], "%s of %s" % (mode, words))


@case
def no_finding_where_nothing_is_wrong(directory):
    done = planted(directory, "nothing")
    equal(sentences(gnomon("report", done.trace).out), ["nothing stands out"],
          "findings")
    check(not any(one["matters"] for one in found(done.trace)), "JSON")
    out = gnomon("report", done.trace, "--function", "^no such$").out
    equal(sentences(out), ["nothing passes the filters"], "filtered")


@case
def what_is_missing_comes_first(directory):
    done = recorded([program("churn"), "300000"], directory,
                    options=["--overflow", "drop", "--ring", "4k"])
    first = found(done.trace)[0]
    equal(first["kind"], "missing", "lost events")
    check(re.match(r"[\d,]+ events? lost, ", first["sentence"]), first)
    text = gnomon("report", done.trace).out
    check("\n  ! " in text and sentences(text)[0] == first["sentence"], text)


@case
def a_table_that_is_chosen_is_alone(directory):
    trace = planted(directory, "leak").trace
    for words in (["--sort", "live"], ["--by", "function"], ["--sizes"],
                  ["--tree", "top-down"], ["--pages"], ["--timeline"]):
        out = gnomon("report", trace, *words).out
        check("\n  * " not in out and "\n  allocations  " in out, words)
        document = json.loads(gnomon("report", trace, "--json", *words).out)
        check("findings" not in document, words)
    equal({one["kind"] for one in found(trace)} - KINDS, set(), "kinds")


@case
def option_all_prints_every_section(directory):
    trace = planted(directory, "leak").trace
    out = gnomon("report", trace, "--all").out
    for title in ("LIVE AT THE END", "PEAK", "TOTAL", "COUNT", "TEMPORARY"):
        check("\n%s: " % title in out, title)
    for word in ("mapped", "unpaired", "damaged", "lifetimes", "frees"):
        check("\n  %-11s  " % word in out, word)
    check("\n  * " not in out and "__libc_start_call_main" in
          gnomon("report", trace, "--all", "--by", "stack").out, out)
    for words in (["--json", "--all"], ["--csv", "--runtime-frames"]):
        gnomon("report", trace, *words, statuses=(2,))


@case
def runtime_frames_are_folded(directory):
    trace = planted(directory, "leak").trace
    site = ["--sort", "live", "--by", "stack", "--function", "leak_request"]
    whole = gnomon("report", trace, "--runtime-frames", *site).out
    check("_M_invoke" in whole and "start_thread" in whole, whole)
    for words in (site, ["--tree", "top-down", *site[4:]],
                  ["--tree", "bottom-up", *site[4:]]):
        out = gnomon("report", trace, *words).out
        check(re.search(r"\n *\.\.\. \d+ runtime frames\n", out), out)
        for name in ("_M_invoke", "start_thread", "clone3", "invoke.h",
                     "std_function.h", "_State_impl"):
            check(name not in out, "%s: %s" % (name, out))
        check("leak_request" in out, out)
    out = gnomon("report", trace).out
    check("runtime frames" in out and "_M_invoke" not in out, out)
    check("_M_invoke" in gnomon("report", trace, "--json", *site).out,
          "JSON has all")


@case
def real_programs_fit_on_a_screen(directory):
    for name in ("sqlite3", "python3", "perl", "cc1plus"):
        where = os.path.join(directory, name)
        os.mkdir(where)
        argv, changes = real_program(name, where, 0)
        recorded(argv, where, env=environment(**changes))
        for trace in traces_in(where):
            lines = gnomon("report", trace).out.splitlines()
            check(len(lines) <= SCREEN, "%s: %d lines" % (name, len(lines)))
            check(all(len(line) <= 79 or "gnomon report " in line
                      for line in lines), "\n".join(lines))
            check(lines[-1].startswith("more: gnomon report --all "), lines[-1])


def on_terminal(columns, arguments, status=0, **changes):
    """What is printed on a terminal of so many columns."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0,
                                                       0))
    env = environment(TERM="xterm", LC_ALL="C.UTF-8", **changes)
    done = subprocess.Popen([GNOMON, *arguments], stdout=inner, env=env,
                            stderr=subprocess.DEVNULL)
    os.close(inner)
    out = b""
    while True:
        try:
            more = os.read(outer, 65536)
        except OSError:		# the other end is closed
            break
        if not more:
            break
        out += more
    os.close(outer)
    equal(done.wait(), status, "status")
    return out.decode().replace("\r\n", "\n")


@case
def colours_bars_and_width(directory):
    trace = planted(directory, "leak").trace
    plain = gnomon("report", trace).out
    check("\033" not in plain and "\u2588" not in plain, plain)
    shown = on_terminal(80, ["report", trace])
    check("\033[" in shown and "\u2588" in shown, shown)
    bare_text = re.sub(r"\033\[[\d;]*m", "", shown)
    check(max(map(len, bare_text.splitlines())) <= 79, bare_text)
    wide = re.sub(r"\033\[[\d;]*m", "", on_terminal(160, ["report", trace]))
    check(sentences(wide) == sentences(plain) and
          max(map(len, wide.splitlines())) > 79, wide)
    equal(on_terminal(80, ["report", "--color=never", trace]), plain, "never")
    shown = on_terminal(80, ["report", trace], NO_COLOR="1")
    check("\033" not in shown and "\u2588" in shown, shown)
    check("\033[" in gnomon("report", "--color=always", trace).out, "always")
    check("\033[" in gnomon("report", trace,
                            env=environment(CLICOLOR_FORCE="1")).out, "forced")
    path = os.path.join(directory, "file")
    gnomon("report", trace, "-o", path)
    with open(path, encoding="utf-8") as file:
        equal(file.read(), plain, "a file")


@case
def pictures_are_not_for_terminals(directory):
    trace = planted(directory, "leak").trace
    equal(on_terminal(80, ["flamegraph", trace], status=2), "", "a picture")
    shown = on_terminal(80, ["flamegraph", "-o", "-", trace])
    check("<svg" in shown, shown[:200])


@case
def moments_after_the_end_are_told(directory):
    trace = planted(directory, "leak").trace
    done = gnomon("report", "--from", "1h", trace)
    check("--from is after the end of this trace: it ends after " in done.err,
          done.err)
    done = gnomon("report", "--from", "50%", trace)
    check("--from" not in done.err, done.err)


@case
def unknown_commands_have_suggestions(directory):
    alone = gnomon(statuses=(2,))
    for word in ("gnomon run ./program", "gnomon report", "gnomon serve"):
        check(word in alone.err and alone.out == "", alone.err)
    for words, status, wanted in (
            (["help"], 2, "did you mean `gnomon --help`?"),
            (["help", "diff"], 2, "did you mean `gnomon diff --help`?"),
            (["attach", "1"], 2, "then `gnomon start PID`"),
            (["record", "ls"], 2, "did you mean `gnomon run`?"),
            (["version"], 2, "did you mean `gnomon --version`?"),
            (["reprot"], 2, "did you mean `gnomon report`?"),
            ([program("findings")], 2, "did you mean `gnomon run "),
            (["nonsense"], 2, "`gnomon --help`"),
            (["report", "--srot", "live"], 2, "did you mean --sort?"),
            (["report", "--sort", "liev"], 2, "did you mean live?"),
            (["report", "--size-min", "1Q"], 2, "give SIZE, as 512, 64k"),
            (["report", "--from", "soon"], 2, "as 250ms, 30%, @NAME"),
            (["diff", "--top", "-3"], 2, "give N, a whole number"),
            (["run", "--sampel", "ls"], 125, "did you mean --sample?"),
            (["check", "--max-leak", "0"], 2, "did you mean --max-live?"),
            (["report", "--max-leak", "0"], 2, "unknown option --max-leak"),
            (["report", "--function", "("], 2, "missing closing parenthesis"),
            (["run"], 125, "`gnomon run PROGRAM ")):
        done = gnomon(*words, statuses=(status,))
        equal(done.err.count("gnomon: "), 1, "messages")
        check(wanted in done.err, "%s: %s" % (words, done.err))


main()
