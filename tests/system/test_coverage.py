#!/usr/bin/python3
# TIMEOUT: 240
"""Real programs, most of them larger than those of test_stacks: nearly all
stacks are complete or end in code made at run time. None differs from a full
walk, or from the C runtime's unwinder where that works."""

import collections
import contextlib

from gnomon_test import *
from real_programs import *
from stack_samples import *

BOTTOM, JIT = 0, 11		# enum gt_stop
WHOLE = 0.9999
# Code of V8's own has no tables: by frame pointers, where they can be believed.
# How long its interpreter runs is a matter of what else runs, so it compiles at
# once (--always-sparkplug); a script of -e would be interpreted longer.
NODE_WHOLE = 0.97
SAMPLE_PERIOD = {"git": 50}  # others: 1000; it allocates little

NODE = """
function work(n) {
  const m = new Map();
  for (let i = 0; i < n; i++) m.set('k' + i, {v: i, s: 'x'.repeat(i %% 50)});
  return JSON.parse(JSON.stringify([...m])).length;
}
function deep(n) { return n ? deep(n - 1) + 1 : work(100); }
class Box { constructor(n) { this.n = n; } get size() { return work(this.n); } }
let total = 0;
for (let i = 0; i < %d; i++)
  total += work(100) + deep(i %% 40) + new Box(20).size;
const zlib = require('zlib'), crypto = require('crypto');
for (let i = 0; i < %d; i++) {
  total += zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(9000, i))).length;
  crypto.createHash('sha256').update('x' + i).digest('hex');
  total += [3, 1, 2].sort((a, b) => a - b)[0] + 'abcabc'.replace(/b/g,
    () => 'xy').length + new Intl.NumberFormat('en').format(i).length;
}
async function later(n) { await null; return n ? later(n - 1) : work(50); }
later(30).then(n => console.log(total + n));
"""

REDIS_LOAD = "set,get,lpush,lrange_100,sadd,hset,zadd,mset"


def node(directory, scale):
    need("node")
    script = os.path.join(directory, "script.js")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NODE % (20 * scale, 30 * scale))
    return ["node", "--always-sparkplug", script], {}


def gdb(scale):
    need("gdb")
    commands = ["maint set worker-threads 0", "info functions malloc",
                "info types .", "ptype struct capture_thread"] * scale
    return (["gdb", "-q", "-batch", "-nx", LIBRARY] +
            [word for each in commands for word in ("-ex", each)], {})


def batch(name, directory, scale):
    if name == "node":
        return node(directory, scale)
    if name == "gdb":
        return gdb(scale)
    return real_program(name, directory)


@contextlib.contextmanager
def redis(directory, env):
    """A server on a socket in the directory; gives the socket's path."""
    need("redis-benchmark", "redis-cli", "redis-check-rdb")
    # One binary under many names; as a server it may not be installed.
    server = os.path.join(directory, "redis-server")
    os.symlink(shutil.which("redis-check-rdb"), server)
    socket = os.path.join(directory, "socket")
    process = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", socket, "--save", "",
         "--appendonly", "no", "--dir", directory, "--activedefrag", "no"],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        check(wait_for(lambda: os.path.exists(socket)), "no socket")
        yield socket
        bare(["redis-cli", "-s", socket, "shutdown", "nosave"])
        equal(process.wait(RUN_SECONDS), 0, "status of the server")
    finally:
        process.kill()
        process.wait()


def run_redis(directory, env, scale):
    with redis(directory, env) as socket:
        done = bare(["redis-benchmark", "-s", socket, "-n", str(2000 * scale),
                     "-c", "10", "-q", "-P", "4", "-t", REDIS_LOAD])
        equal(done.status, 0, "redis-benchmark: " + done.err)
        script = "local t = {} for i = 1, 3000 do t[i] = tostring(i) end " \
            "return #t"
        done = bare(["redis-cli", "-s", socket, "eval", script, "0"])
        equal(done.out.strip(), "3000", "a script")


def trace_of(name, directory, scale=1, preload=(), **env):
    """Runs it recorded; the trace of the process that did most."""
    changes = {
        "LD_PRELOAD": ":".join([*preload, LIBRARY]),
        "GNOMON_OUTPUT": os.path.join(directory, "%e.%p.trace"), **env}
    if name == "redis":
        run_redis(directory, environment(**changes), scale)
    else:
        argv, more = batch(name, directory, scale)
        done = bare(argv, environment(**changes, **more))
        equal(done.status, 0, "status, stderr: " + done.err)
    settle(directory)
    return max(traces_in(directory), key=os.path.getsize)


def ends_of(trace):
    """Allocations by the reason why the stack ends."""
    ends = collections.Counter()
    for count, root, *_ in contexts(trace):
        ends[root] += count
    return ends


def make_whole(name, scale):
    def whole(directory):
        ends = ends_of(trace_of(name, directory, scale))
        total = sum(ends.values())
        check(total > 500, "only %d allocations" % total)
        good = ends[BOTTOM] + ends[JIT]
        least = NODE_WHOLE if name == "node" else WHOLE
        check(good >= least * total, "%d of %d stacks are whole: %s" % (
            good, total, dict(ends)))
    whole.__name__ = name + "_whole"
    return whole


def make_same(name, scale):
    """Stacks against the C runtime's unwinder. That sees no
    further than the first code without a table."""
    def same(directory):
        output = os.path.join(directory, "stacks")
        trace = trace_of(name, directory, scale,
                         [program("libcompare.so")],
                         COMPARE_OUTPUT=output, COMPARE_PERIOD=SAMPLE_PERIOD.get(name, 1000))
        compare(trace, output, prefixes=name == "node")
    same.__name__ = name + "_as_the_runtime_sees_it"
    return same


def make_oracle(name, scale):
    def oracle(directory):
        counters = info(trace_of(name, directory, scale,
                                 GNOMON_DEBUG_ORACLE=1))["counters"]
        check(counters["oracle_checks"] > 500, "checks")
        equal(counters["oracle_differences"], 0, "differences")
    oracle.__name__ = name + "_oracle"
    return oracle


for each in ("python3", "perl", "cc1plus", "sqlite3", "git", "gdb"):
    case(make_whole(each, 1))
case(make_whole("node", 5))
case(make_whole("redis", 10))
for each in ("git", "gdb"):
    case(make_same(each, 1))
case(make_same("node", 5))
case(make_same("redis", 10))
for each in ("git", "gdb", "node", "redis"):
    case(make_oracle(each, 1))

main()
