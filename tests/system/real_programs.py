"""Real programs with fixed workloads, for tests over whole runs."""

import os
import subprocess

from gnomon_test import need

SQL = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
insert into t select i, hex(i * 7919) || 'text', i / 3.0 from n;
create index tb on t(b);
select count(*), sum(length(b)) from t where b like '%%A%%';
select b, count(*) from t group by substr(b, 1, 2) order by 2 desc limit 5;
"""

PYTHON = """
import json, re, collections, decimal
words = [str(i * 7919) for i in range(%d)]
text = json.dumps({w: [w, i] for i, w in enumerate(words)})
back = json.loads(text)
counts = collections.Counter(re.findall(r'\\d\\d', text))
print(len(back), sorted(counts.items())[:5],
      sum(decimal.Decimal(w) / 7 for w in words[:2000]))
"""

PERL = """
my %%h;
for my $i (1 .. %d) { my $k = sprintf("%%x", $i * 7919); $h{$k} .= $k x 3; }
my $n = grep { /a.*b/ } sort keys %%h;
print scalar(keys %%h), " $n\\n";
"""

CXX = "#include <regex>\nint main() { return std::regex(\"a\").flags() > 99; }"
CXX_SMALL = "#include <string>\nint main() { return std::string(\"a\") > \"b\"; }"


def real_program(name, directory, scale=1):
    """(argv, changes of the environment) of some seconds' work at most; the
    results of two runs are equal. Of scale 0, cc1plus has less to do."""
    if name == "sqlite3":
        need("sqlite3")
        return ["sqlite3", ":memory:", one_line(SQL % (40000 * scale))], {}
    if name == "python3":
        return (["/usr/bin/python3", "-c", PYTHON % (20000 * scale)],
                {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"})
    if name == "perl":
        need("perl")
        return (["perl", "-e", one_line(PERL % (100000 * scale))],
                {"PERL_HASH_SEED": "0"})
    if name == "jq":
        need("jq")
        return ["jq", "-n", "[range(%d) | {a: ., b: (. * 7919 | tostring)}] | "
                "map(.b | length) | add" % (40000 * scale)], {}
    if name == "cc1plus":
        need("g++")
        source = os.path.join(directory, "regex.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(CXX if scale > 0 else CXX_SMALL)
        return [ask_compiler("-print-prog-name=cc1plus"), "-quiet",
                "-imultiarch", ask_compiler("-print-multiarch"),
                "-D_GNU_SOURCE", "-O0", source, "-o",
                os.path.join(directory, "regex.s")], {}
    if name == "bash":
        return ["bash", "-c", "declare -A a; for i in {1..3000}; do "
                "a[$i]=$((i * 7919)); done; echo ${#a[@]} ${a[77]} "
                "$(echo x | tr x y) $(seq 5 | wc -l)"], {}
    if name == "git":
        need("git")
        return ["git", "-C", make_repository(directory), "log", "--stat",
                "-p"], {"GIT_PAGER": "cat", "HOME": directory}
    if name == "g++":
        need("g++")
        source = os.path.join(directory, "small.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <string>\nint main() "
                       "{ return std::string(\"x\").size() - 1; }\n")
        return ["g++", "-o", os.path.join(directory, "small"), source], {}
    raise ValueError(name)


def one_line(script):
    """heaptrack cannot read its own record of an argument with line ends."""
    return " ".join(script.split())


def ask_compiler(question):
    return subprocess.run(["g++", question], capture_output=True, text=True,
                          check=True).stdout.strip()


def make_repository(directory):
    place = os.path.join(directory, "repository")
    if os.path.exists(place):
        return place
    os.mkdir(place)
    env = dict(os.environ, HOME=directory, GIT_AUTHOR_NAME="a",
               GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
               GIT_COMMITTER_EMAIL="a@b",
               GIT_AUTHOR_DATE="2020-01-01T00:00:00Z",
               GIT_COMMITTER_DATE="2020-01-01T00:00:00Z")

    def git(*arguments):
        subprocess.run(["git", "-C", place, *arguments], env=env, check=True,
                       capture_output=True)

    git("init", "-q")
    for number in range(12):
        with open(os.path.join(place, "file"), "a", encoding="utf-8") as file:
            file.write("line %d\n" % number * 20)
        git("add", "file")
        git("commit", "-q", "-m", "commit %d" % number)
    return place
