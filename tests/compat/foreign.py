#!/usr/bin/python3
# TIMEOUT: 600
"""Programs of Debian for another architecture, under an emulator, bare and
recorded by `gnomon run`: each is a case, which fails if the program was harmed or
its traces do not add up.

usage: foreign.py ROOT

ROOT has the files of the packages (make check-programs ARCH=...). GNOMON_BUILD,
GNOMON_TARGET and GNOMON_EMULATOR are as for tests/arch.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]
ROOT = sys.argv.pop(1)
from gnomon_test import *
from figures import Figures

WHOLE_MIN = 0.99		# the share of stacks, as of this machine's programs
LINES = "".join("line %d %d\n" % (n, n * 7919 % 1000) for n in range(4000))
SQL = """create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
insert into t select x, x * 7 % 13 from c;
select b, count(*), sum(a) from t group by b;"""
PYTHON = """import sys
d = {i: str(i) * 3 for i in range(20000)}
print(sum(map(len, d.values())))"""
PROGRAMS = {
    "bash": ["bin/bash", "-c", "for i in {1..2000}; do x+=($i); done; "
             "echo ${#x[@]}; (echo sub); y=$(echo z); echo $y"],
    "gawk": ["usr/bin/gawk", "{ s[$3] += $2 } END { n = asorti(s, k); "
             "for (i = 1; i <= n; i++) print k[i], s[k[i]] }", "lines"],
    "grep": ["bin/grep", "-E", "(1|2)+9", "lines"],
    "jq": ["usr/bin/jq", "map(.b | add) | add", "json"],
    "lua": ["usr/bin/lua5.4", "-e", "local t = {} for i = 1, 20000 do "
            "t[i] = ('x'):rep(i % 50) end print(#table.concat(t))"],
    "perl": ["usr/bin/perl", "-e", "$h{$_ % 97} .= chr(65 + $_ % 26) "
             "for 1 .. 20000; print length($h{$_}), qq(\\n) for sort keys %h"],
    "python3": ["usr/bin/python3.11", "-I", "-S", "-c", PYTHON],
    "sed": ["bin/sed", r"s/\([0-9]\)\1/<\1>/g", "lines"],
    "sort": ["usr/bin/sort", "-k3n", "lines"],
    "sqlite3": ["usr/bin/sqlite3", ":memory:", SQL],
    "xz": ["usr/bin/xz", "-kc", "lines"],
}


def prepare(directory):
    for name, text in (("lines", LINES), ("json", json.dumps(
            [{"a": n, "b": [n] * 3} for n in range(1000)]))):
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)


def compare(name, directory):
    argv = [os.path.join(ROOT, PROGRAMS[name][0]), *PROGRAMS[name][1:]]
    if not os.path.exists(argv[0]):
        raise Skip("Debian's package is not there")
    prepare(directory)
    env = environment(QEMU_LD_PREFIX=ROOT, PYTHONHOME=ROOT + "/usr",
                      LC_ALL="C")
    pattern = os.path.join(directory, "%p.trace")
    plain = bare([EMULATOR[0], *argv], env, cwd=directory)
    done = bare([GNOMON, "run", "--quiet", "-o", pattern, "--", *argv], env,
                cwd=directory)
    equal(plain.status, 0, "bare: " + plain.err)
    equal((done.status, done.out, done.err),
          (plain.status, plain.out, plain.err), "recorded")
    settle(directory)
    figures = Figures()
    for trace in traces_in(directory):
        figures.add(trace)
    equal((figures.wrong, figures.dropped, figures.unpaired), ([], 0, 0),
          "faults, dropped, unpaired")
    check(figures.allocations > 0, "nothing is recorded")
    check(figures.share() >= WHOLE_MIN, "%.2f %% of stacks whole: ends %s" % (
        100 * figures.share(), figures.ends))
    print("# %s: %d processes, %d allocations, %.2f %% whole" % (
        name, figures.processes, figures.allocations, 100 * figures.share()))


def add(name):
    def body(directory):
        compare(name, directory)
    body.__name__ = name
    case(body)


for each in PROGRAMS:
    add(each)
main()
