"""Interpreters, their own test modules, compilers and their helpers."""

import os
import shutil

from catalogue import batch
from real_programs import CXX, PERL, PYTHON, SQL

NODE = """
const {Worker} = require('worker_threads'), zlib = require('zlib');
function work(n) {
  const m = new Map();
  for (let i = 0; i < n; i++) m.set('k' + i, {v: i, s: 'x'.repeat(i % 50)});
  return JSON.parse(JSON.stringify([...m])).length;
}
let total = 0;
for (let i = 0; i < 300; i++) total += work(300) +
  zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(9000, i))).length;
const w = new Worker('require("worker_threads").parentPort.postMessage(' +
  '[...Array(50000).keys()].map(String).join("").length)', {eval: true});
w.on('message', n => console.log(total, n, require('child_process')
  .execFileSync('echo', ['child']).toString().trim()));
"""

RUBY = """
words = (1..40000).map { |i| (i * 7919).to_s(16) }
counts = words.group_by(&:size).transform_values(&:count)
t = 4.times.map { |n| Thread.new { words.each_slice(1000).map(&:join).size } }
puts counts.inspect, t.sum(&:value), words.join.scan(/a.b/).size
f = Fiber.new { 100.times { |i| Fiber.yield i.to_s * 10 } }
puts 100.times.map { f.resume }.join.size, `echo child`
exit 3
"""

PHP = """
$words = array_map(fn($i) => dechex($i * 7919), range(1, 40000));
$counts = array_count_values(array_map('strlen', $words));
ksort($counts);
echo json_encode($counts), strlen(gzcompress(implode($words))), "\\n";
echo preg_match_all('/a.b/', implode($words)), "\\n";
"""

LUA = """
local t, n = {}, 0
for i = 1, 60000 do t[i] = string.format("%x", i * 7919) .. ("x"):rep(i % 30) end
for _, s in ipairs(t) do if s:find("a.b") then n = n + 1 end end
local co = coroutine.wrap(function() for i = 1, 1000 do
  coroutine.yield(tostring(i):rep(5)) end end)
for _ = 1, 1000 do n = n + #co() end
print(n, #table.concat(t))
"""

GUILE = """(use-modules (ice-9 threads) (srfi srfi-1))
(define (work n) (string-length (string-concatenate
  (map (lambda (i) (number->string (* i 7919) 16)) (iota n)))))
(display (par-map work (list 1000 2000 3000))) (newline)
(display (call/cc (lambda (k) (fold (lambda (x s) (if (> s 1000) (k s)
  (+ s x))) 0 (iota 1000))))) (newline)
"""

R_SCRIPT = """x <- sapply(1:20000, function(i) (i * 7919) %% 1009)
m <- matrix(x[1:10000], 100); print(summary(x)); print(dim(m %*% t(m)))
print(coef(lm(x ~ seq_along(x)))); print(head(sort(table(paste0('a', x %% 7)))))
"""

PROLOG = """:- initialization(main).
queens(N, Qs) :- numlist(1, N, Ns), permutation(Ns, Qs), safe(Qs).
safe([]). safe([Q|Qs]) :- no_attack(Q, Qs, 1), safe(Qs).
no_attack(_, [], _).
no_attack(Q, [Q1|Qs], D) :- Q =\\= Q1 + D, Q =\\= Q1 - D, D1 is D + 1,
    no_attack(Q, Qs, D1).
main :- queens(8, Qs), print(Qs), nl, findall(X, between(1, 50000, X), L),
    atomic_list_concat(L, A), atom_length(A, Len), print(Len), nl, halt(4).
"""

TCL = """
for {set i 0} {$i < 40000} {incr i} { dict set d k$i [string repeat x $i%40] }
puts [dict size $d]; puts [llength [lsort [dict keys $d]]]
puts [exec echo child]; exit 5
"""


def language(name, package, argv, prepare=None, **more):
    batch(name, "Languages", package, argv, prepare, **more)


language("python3", "python3.11", ["python3", "-c", PYTHON % 10000],
         env={"PYTHONMALLOC": "malloc"})
language("perl", "perl", ["perl", "-e", PERL % 50000])
language("ruby", "ruby3.1", ["ruby", "-e", RUBY])
language("node", "nodejs", ["node", "-e", NODE])
language("php", "php8.2-cli", ["php", "-n", "-r", PHP])
language("lua", "lua5.4", ["lua5.4", "-e", LUA])
language("guile", "guile-3.0", ["guile", "--no-auto-compile", "-c", GUILE])
language("R", "r-base-core", ["R", "--vanilla", "-s", "-e",
                              "; ".join(R_SCRIPT.strip().splitlines())],
         needs=["R"])
language("swi-prolog", "swi-prolog-nox", ["swipl", "-q", "q.pl"],
         lambda place: place.file("q.pl", PROLOG))
language("tcl", "tcl8.6", ["tclsh"], stdin=TCL.encode())
language("java -version", "openjdk-17-jre-headless", ["java", "-version"])
language("java: keytool", "openjdk-17-jre-headless",
         ["keytool", "-genkeypair", "-alias", "a", "-keyalg", "RSA",
          "-keystore", "store", "-storepass", "secret", "-dname", "CN=a",
          "-keypass", "secret"], needs=["keytool"], countable=False)
language("pandoc", "pandoc", ["pandoc", "-t", "html", "text.md"],
         lambda place: place.file("text.md", "# A\n\n*b* [c](d) `e`\n\n"
                                  "| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 60), stacks=0.2,
         note="Haskell's compiler emits no unwind tables: stacks end where "
         "they reach its code.")
language("sqlite3", "sqlite3", ["sqlite3", ":memory:", SQL % 40000])
language("gnuplot", "gnuplot-nox",
         ["gnuplot", "-e", "set terminal svg; set output 'a.svg'; "
          "set samples 2000; plot sin(x)/x, besj0(x)"])


def module(name, *tests, **more):
    """Modules of CPython's own test suite."""
    batch("python3 -m test: " + name, "Languages", "python3.11",
          ["python3", "-m", "unittest", "-q", *tests],
          env={"PYTHONMALLOC": "malloc"}, needs=["python3"], least=1,
          hide=["@test"], **more)


module("json", "test.test_json")
module("re", "test.test_re")
module("threading", "test.test_threading.ThreadJoinOnShutdown",
       "test.test_threading.SubinterpThreadingTests",
       "test.test_threading.LockTests", "test.test_threading.SemaphoreTests",
       "test.test_threading.BarrierTests")
module("subprocess", "-k", "preexec", "-k", "pass_fds", "-k", "signal", "-k",
       "exception", "test.test_subprocess")
module("multiprocessing", "test.test_multiprocessing_fork.WithProcessesTestPool",
       "test.test_multiprocessing_fork.WithProcessesTestQueue",
       "test.test_multiprocessing_spawn.WithProcessesTestLock",
       "test.test_multiprocessing_fork.WithProcessesTestLock",
       "test.test_multiprocessing_fork.WithThreadsTestPool",
       countable=False)		# its pools poll
module("asyncio", "test.test_asyncio.test_locks",
       "test.test_asyncio.test_queues", "test.test_asyncio.test_unix_events")
module("posix", "test.test_posix", "test.test_signal.PosixTests",
       "test.test_signal.WakeupSignalTests")
module("ctypes", "test.test_ctypes", "test.test_mmap", "test.test_context")


def sources(place):
    place.file("regex.cc", CXX)
    place.file("hello.c", "#include <stdio.h>\n"
               "int main(void) { return printf(\"hello\\n\") != 6; }\n")
    place.file("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\n"
               "project(p C CXX)\nadd_executable(hello hello.c)\n"
               "add_executable(regex regex.cc)\n")
    place.file("Makefile", "all: a.o b.o c.o\n\tar rcsD all.a $^\n"
               "%.o: hello.c\n\t$(CC) -O2 -c -o $@ $<\n")


def building(name, package, argv, prepare=sources, **more):
    batch(name, "Building and debugging", package, argv, prepare, **more)


building("g++", "g++-12", ["g++", "-O1", "-o", "regex", "regex.cc"])
building("g++ -flto", "g++-12", ["g++", "-O2", "-flto=2", "-o", "regex",
                                 "regex.cc"])
building("clang++", "clang-14", ["clang++", "-O1", "-o", "regex", "regex.cc"])
building("make", "make", ["make", "-j2"])
building("cmake and ninja", "cmake",
         ["sh", "-c", "cmake -G Ninja -B out . && ninja -C out -j2 hello"],
         needs=["cmake", "ninja"], least=1, hide=["out/"])
building("rustc", "rustc", ["rustc", "-O", "a.rs"], lambda place: place.file(
    "a.rs", "fn main() { println!(\"{}\", (1..9).map(|i| i * i)"
    ".collect::<Vec<_>>().len()); }"))
building("go", "golang-go", ["go", "run", "a.go"], lambda place: place.file(
    "a.go", "package main\nfunc main() { println(len(make([]int, 9))) }\n"),
    hide=[".cache", "go"], least=1, stacks=0,
    note="Go takes its own memory from mmap, not malloc. The few allocations "
    "are the C library's and cgo's; their stacks end in code without unwind "
    "tables. The programs that it builds are statically linked, and not "
    "recorded.")
building("cppcheck", "cppcheck", ["cppcheck", "-q", "--enable=all",
                                  "--suppress=missingIncludeSystem", "."])
building("gdb", "gdb", ["gdb", "-q", "-batch", "-nx", "-ex", "break main",
                        "-ex", "run", "-ex", "backtrace", "-ex", "next",
                        "-ex", "info proc", "-ex", "continue", "./hello"],
         lambda place: (sources(place), place.help(
             ["gcc", "-g", "-o", "hello", "hello.c"])), least=1,
         countable=False,	# its own work: one library more to read
         known=(rb"<main_entry>", b"<main>",
                "In a backtrace beyond main, the C library's start function calls "
                "gnomon's main_entry instead of main: it removes gnomon's "
                "variables from the environment before main begins."))
building("objdump", "binutils", ["sh", "-c",
                                 "objdump -d /usr/bin/bash | tail -3"])


def repository(place):
    """A clone of the repository this file is in, or one made of its files:
    large enough to be packed by threads."""
    source = place.path("source")
    os.mkdir(source)
    here = os.path.dirname(os.path.abspath(__file__))
    env = {"GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
           "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}
    place.file(".gitconfig", "[user]\nname = a\nemail = a@b\n"
               "[protocol \"file\"]\nallow = always\n[gc]\nauto = 0\n")
    place.help(["git", "-C", source, "init", "-q", "-b", "main"])
    root = os.path.dirname(os.path.dirname(here))
    for number in range(12):
        for folder in ("cli", "unwind", "preload", "tests"):
            shutil.copytree(os.path.join(root, folder), os.path.join(
                source, folder + str(number)), ignore=shutil.ignore_patterns(
                    "__pycache__"))
        place.help(["git", "-C", source, "add", "."])
        place.help(["git", "-C", source, "commit", "-q", "-m",
                    "commit %d" % number], env=env)


def versioning(name, package, argv, prepare, **more):
    batch(name, "Building and debugging", package, argv, prepare, **more)


versioning("git clone", "git", ["git", "clone", "--no-local", "-q",
                                "source", "copy"], repository,
           hide=["source", "copy/.git"])
versioning("git repack", "git", ["git", "-C", "source", "repack", "-adfq",
                                 "--threads=2"], repository, hide=["source"])
versioning("git log", "git", ["git", "-C", "source", "--no-pager", "log",
                              "--stat", "-3"], repository, hide=["source"])
versioning("hg", "mercurial", ["sh", "-c", "hg init r && cd r && "
                               "cp ../hello.c . && hg add -q && hg commit -q "
                               "-u a -d '0 0' -m m && hg log -p"], sources,
           needs=["hg"], hide=["r"])
versioning("svn", "subversion",
           ["sh", "-c", "svnadmin create r && svn mkdir -q -m m file://$PWD/r/"
            "t && svn checkout -q file://$PWD/r w && cp hello.c w/t && "
            "svn add -q w/t/hello.c && svn commit -q -m n w && svn ls -R "
            "file://$PWD/r"], sources, needs=["svn", "svnadmin"],
           hide=["r", "w", ".subversion"])
