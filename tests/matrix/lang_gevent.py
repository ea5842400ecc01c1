"""lang_gevent.py: gevent's pools, queues and sockets on 127.0.0.1; greenlets
killed and timed out while they wait. Prints what was counted."""

import functools
import os
import re

import gevent
from gevent import socket
from gevent.event import AsyncResult, Event
from gevent.pool import Pool
from gevent.queue import Queue
from gevent.server import StreamServer
from gevent.threadpool import ThreadPool

counts = {}


def count(key, n=1):
    counts[key] = counts.get(key, 0) + n


def handle(connection, _):
    for line in connection.makefile("rb"):
        count("served")
        # The answer is sent from inside a C function's callback.
        re.sub(b"^", lambda match: connection.sendall(line.upper()) or b"", b"")
    connection.close()


def client(address, number):
    with socket.create_connection(address) as connection:
        stream = connection.makefile("rb")

        def ask(total, n):
            connection.sendall(b"%d-%d %s\n" % (number, n, b"a" * (n * 40)))
            return total + len(stream.readline())
        return functools.reduce(ask, range(20), 0)


def sockets():
    server = StreamServer(("127.0.0.1", 0), handle)
    server.start()
    pool = Pool(12)
    address = ("127.0.0.1", server.server_port)
    lengths = pool.map(lambda number: client(address, number), range(40))
    count("answered", sum(lengths))
    server.stop()


def queue():
    line, results = Queue(3), Queue()

    def worker():
        while True:
            job = line.get()
            if job is None:
                return
            results.put(sum(sorted(
                range(job), key=lambda x: gevent.sleep(0) or -x)))

    workers = [gevent.spawn(worker) for _ in range(5)]
    for job in range(60):
        line.put(job % 9)
    for _ in workers:
        line.put(None)
    gevent.joinall(workers, timeout=30)
    count("jobs", sum(results.get() for _ in range(60)))


class Leave(Exception):
    pass


def deep(depth, event):
    block = bytearray(600 + depth)
    if depth == 0:
        event.wait()
        return 0
    return max(map(lambda _: deep(depth - 1, event), [0])) + len(block)


def killed():
    def body(depth, event):
        try:
            return deep(depth, event)
        except Leave:
            count("left")
            gevent.sleep(0)
            return -1
        finally:
            count("cleaned")

    event = Event()
    greens = [gevent.spawn(body, depth, event) for depth in range(30)]
    gevent.sleep(0)
    for green in greens[::3]:
        green.kill(Leave)
    for green in greens[1::3]:
        green.kill()
    event.set()
    gevent.joinall(greens, timeout=30)
    count("values", sum(green.value for green in greens
                        if isinstance(green.value, int)))
    for _ in range(10):
        try:
            with gevent.Timeout(0.001, Leave):
                deep(10, Event())
        except Leave:
            count("timed_out")


def threads():
    before = set(os.listdir("/proc/self/task"))
    pool = ThreadPool(3)
    count("threads", sum(pool.map(
        lambda n: len(bytearray(5000 + n)), range(50))))
    pool.kill()
    # greenlet 3.2 warns of threads that end together with the interpreter
    for _ in range(1000):
        if set(os.listdir("/proc/self/task")) <= before:
            break
        gevent.sleep(0.001)
    result = AsyncResult()
    gevent.spawn(result.set, 5)
    count("async", result.get(timeout=30))


for step in (sockets, queue, killed, threads):
    step()
for key in sorted(counts):
    print(key, counts[key])
