"""bench_inputs.py: the programs of part "programs" and their inputs.

Inputs are generated, the same in every run; each program takes about a second
on its own.
"""

import random
import shutil
import subprocess

JSON_OBJECTS = 30000

JQ_FILTER = r"""
map(select(.value > 200) | {id, name, kind, total: (.parts | map(.n) | add),
    tags: (.tags | sort | join(","))})
| group_by(.kind)
| map({kind: .[0].kind, count: length, total: (map(.total) | add),
    names: (map(.name | ascii_upcase) | unique | length),
    longest: (max_by(.tags | length) | .tags)})
"""

SQLITE_SCRIPT = r"""
create table item(id integer primary key, name text, kind integer, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 260000)
insert into item select i, 'item ' || (i * 7919 % 100003), i % 97,
    (i * 31 % 1000) / 7.0 from n;
create index item_name on item(name);
create index item_kind on item(kind, value);
create table kind(id integer primary key, label text);
insert into kind select distinct kind, 'kind ' || kind from item;
select label, count(*), round(sum(value), 2), max(name) from item
    join kind on kind.id = item.kind group by label order by 3 desc limit 5;
select count(*) from item where name like '%99%' and value > 50;
select substr(name, 1, 7) as p, group_concat(id) from item where kind = 5
    group by p order by p limit 3;
update item set name = upper(name) where kind < 20;
select count(distinct name) from item;
delete from item where kind > 60;
select count(*), total(value) from item where name between 'a' and 'z';
"""

PERL_SCRIPT = r"""
use strict;
my (%count, %where, @lines);
my @words = map { my $n = $_; join "", map { chr 97 + int($n / $_ ** 3) % 26 }
    1 .. 3 + $n % 7 } map { $_ * 7919 } 1 .. 5000;
my $draw = 1;
for my $i (1 .. 60000) {
    my @picked = map { $draw = ($draw * 69069 + 12345) & 0xffffffff;
        $words[($draw >> 12) % @words] } 1 .. 8;
    push @lines, "$i: " . join(" ", @picked);
}
for my $line (@lines) {
    my ($number, $text) = $line =~ /^(\d+): (.*)/;
    while ($text =~ /([a-z]+)/g) {
        push @{$where{$1}}, $number if $count{$1}++ < 20;
    }
    $text =~ s/\b([a-z])/\U$1/g;
    $line = reverse $text;
}
my $sum = 0;
for my $word (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count) {
    $sum += length sprintf "%-20s %6d %s", $word, $count{$word},
        join ",", @{$where{$word}};
    delete $where{$word} if $count{$word} % 2;
}
my @sorted = sort @lines;
print "$sum ", scalar(keys %where), " $sorted[0]\n";
"""

PYTHON_SCRIPT = r"""
import json, re
class Node:
    def __init__(self, key, parent):
        self.key, self.parent, self.children = key, parent, []
def build(depth, parent, out):
    node = Node(f"n{len(out)}", parent)
    out.append(node)
    if depth:
        node.children = [build(depth - 1, node, out) for _ in range(4)]
    return node
total = 0
for turn in range(6):
    nodes = []
    build(7, None, nodes)
    table = {node.key: [child.key for child in node.children]
             for node in nodes}
    text = json.dumps(table)
    total += sum(len(value) for value in json.loads(text).values())
    total += len(re.findall(r'"n\d*7": \[[^\]]*\]', text))
    words = sorted(text.split(), key=lambda word: (len(word), word))
    total += len("".join(word.strip('",[]{}:') for word in words))
print(total)
"""

LUA_SCRIPT = r"""
local words = {}
local draw = 1
local function random(n)
    draw = (draw * 69069 + 12345) % 4294967296
    return draw // 4096 % n + 1
end
for i = 1, 3000 do words[i] = "word" .. i * 7919 % 100003 end
local function node(depth)
    if depth == 0 then return {value = random(1000), tag = words[random(#words)]} end
    return {left = node(depth - 1), right = node(depth - 1), depth = depth}
end
local function total(tree)
    if tree.value then return tree.value end
    return total(tree.left) + total(tree.right)
end
local sum, index = 0, {}
for turn = 1, 40 do
    sum = sum + total(node(12))
    local rows = {}
    for i = 1, 6000 do
        rows[i] = {id = i, name = words[random(#words)], at = {x = i, y = turn}}
    end
    table.sort(rows, function(a, b)
        return a.name < b.name or a.name == b.name and a.id < b.id
    end)
    for _, row in ipairs(rows) do
        local list = index[row.name]
        if not list then list = {} index[row.name] = list end
        list[#list + 1] = row.name .. ":" .. row.id .. ":" .. turn
        if #list > 30 then index[row.name] = nil end
    end
end
local count = 0
for _, list in pairs(index) do count = count + #table.concat(list, ",") end
print(sum, count)
"""

RUBY_SCRIPT = r"""
Row = Struct.new(:id, :name, :value)
draw = 1
random = lambda { |n| draw = (draw * 69069 + 12345) & 0xffffffff; (draw >> 12) % n }
words = (1..4000).map { |i| "word#{i * 7919 % 100_003}" }
def distance(a, b)
  row = (0..b.size).to_a
  a.each_char.with_index do |char, i|
    last, row[0] = row[0], i + 1
    b.each_char.with_index do |other, j|
      last, row[j + 1] = row[j + 1],
        char == other ? last : [last, row[j], row[j + 1]].min + 1
    end
  end
  row.last
end
sum = 0
18.times do |turn|
  rows = (1..6000).map { |i| Row.new(i, words[random.(words.size)], random.(1000)) }
  groups = rows.group_by(&:name)
  sum += groups.map { |_, list| list.sum(&:value) }.max
  lines = rows.sort_by { |row| [row.value, row.id] }
              .map { |row| "#{row.id};#{row.name.upcase};#{row.value};#{turn}" }
  text = lines.join("\n")
  sum += text.scan(/D(\d+);/).size
  back = text.each_line.map { |line| line.chomp.split(";") }
  table = Hash.new(0)
  back.each { |fields| table[fields[1]] += fields[2].to_i }
  best = table.sort_by { |name, value| [-value, name] }.first(40)
  sum += best.each_cons(2).sum { |(a, _), (b, _)| distance(a, b) * turn }
end
puts sum
"""

REDIS_SCRIPT = r"""
# Commands for a server that is about to listen at the socket $1; ends it.
tries=0
until redis-cli -s "$1" ping >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ $tries -lt 500 ] || exit 1
	sleep 0.02
done
redis-benchmark -s "$1" -q -n 60000 -r 20000 -c 20 -P 16 -d 40 \
	-t set,get,incr,lpush,rpush,lpop,sadd,hset,spop,zadd,mset >/dev/null
status=$?
redis-cli -s "$1" shutdown nosave >/dev/null 2>&1
exit $status
"""

CXX_SOURCE = r"""
#include <iostream>
#include <map>
#include <regex>
#include <string>

int main(int argc, char **argv)
{
    std::regex pattern("([a-z]+)-([0-9]+)");
    std::map<std::string, int> seen;
    for (int i = 1; i < argc; i++) {
        std::string text = argv[i];
        std::sregex_iterator it(text.begin(), text.end(), pattern), end;
        for (; it != end; ++it)
            seen[(*it)[1]] += std::stoi((*it)[2]);
    }
    for (auto &entry : seen)
        std::cout << std::regex_replace(entry.first, pattern, "$1") << "\n";
}
"""


class Program:
    """One program to record: its command and input. `beside`: a command that
    is started before it, and that ends it."""

    def __init__(self, name, command, stdin=None, env=None, beside=None):
        self.name = name
        self.command = command
        self.stdin = stdin
        self.env = env or {}
        self.beside = beside


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


def write_json(path):
    """Objects with strings, numbers and lists: some 8 MB."""
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("[\n")
        for i in range(JSON_OBJECTS):
            tags = ", ".join(f'"tag{draw.randrange(500)}"'
                             for _ in range(draw.randrange(1, 6)))
            parts = ", ".join(f'{{"n": {draw.randrange(1000)}, "of": "{i}"}}'
                              for _ in range(draw.randrange(1, 5)))
            end = "" if i == JSON_OBJECTS - 1 else ","
            stream.write(
                f'{{"id": {i}, "name": "object {draw.randrange(9999)}", '
                f'"kind": "kind{draw.randrange(40)}", '
                f'"value": {draw.randrange(1000)}, "tags": [{tags}], '
                f'"parts": [{parts}]}}{end}\n')
        stream.write("]\n")
    return path


def preprocess(bench):
    """The C++ source without its includes, so that the compiler proper runs
    alone, and the path of that compiler."""
    source = write_text(bench.path("regex.cc"), CXX_SOURCE)
    output = bench.path("regex.ii")
    subprocess.run(["g++", "-E", "-o", output, source], check=True)
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True,
                              capture_output=True, text=True).stdout.strip()
    return compiler, output


def jq(bench):
    return Program("jq", ["jq", JQ_FILTER, write_json(bench.path("in.json"))])


def sqlite3(bench):
    return Program("sqlite3", ["sqlite3", ":memory:"],
                   stdin=write_text(bench.path("in.sql"), SQLITE_SCRIPT))


def perl(bench):
    return Program("perl", ["perl", write_text(bench.path("in.pl"),
                                               PERL_SCRIPT)])


def python3(bench):
    return Program("python3", ["/usr/bin/python3",
                               write_text(bench.path("in.py"),
                                          PYTHON_SCRIPT)],
                   env={"PYTHONMALLOC": "malloc"})


def cc1plus(bench):
    compiler, source = preprocess(bench)
    return Program("cc1plus", [compiler, "-quiet", "-O1", "-fpreprocessed",
                               source, "-o", "/dev/null"])


def lua(bench):
    return Program("lua", ["lua5.4", write_text(bench.path("in.lua"),
                                                LUA_SCRIPT)])


def ruby(bench):
    return Program("ruby", ["ruby", write_text(bench.path("in.rb"),
                                               RUBY_SCRIPT)])


def redis(bench):
    """At a socket in the scratch directory, and for so many commands."""
    socket = bench.path("redis.socket")
    return Program("redis", ["redis-server", "--port", "0", "--unixsocket",
                             socket, "--save", "", "--appendonly", "no"],
                   beside=["sh", write_text(bench.path("in.sh"),
                                            REDIS_SCRIPT), socket])


MAKERS = {"jq": jq, "sqlite3": sqlite3, "perl": perl, "python3": python3,
          "cc1plus": cc1plus, "lua": lua, "ruby": ruby, "redis": redis}
# What of these need not be on a machine: the commands that they want.
OPTIONAL = {"lua": ["lua5.4"], "ruby": ["ruby"],
            "redis": ["redis-server", "redis-benchmark", "redis-cli"]}
FIRST = ("jq", "sqlite3", "perl", "python3", "cc1plus")


def absent(name):
    """Whether a program that can be done without is not here."""
    return not all(map(shutil.which, OPTIONAL.get(name, ())))


def prepare(bench, names=FIRST):
    """The programs, with their inputs written to the scratch directory."""
    return [MAKERS[name](bench) for name in names if not absent(name)]
