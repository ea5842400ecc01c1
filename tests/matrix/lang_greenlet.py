"""lang_greenlet.py: greenlets that switch at different C depths: stack slices
are copied away and back, under frames of C functions that call back into
Python. Each allocates, some are thrown into, killed, or collected unfinished.
Prints what happened."""

import functools
import gc
import re
import sys
import threading

from greenlet import GreenletExit, getcurrent, greenlet

log = []
counts = {}


def count(key, n=1):
    counts[key] = counts.get(key, 0) + n


def pause(value):
    """Allocates, switches to the parent, allocates again."""
    before = bytearray(600 + value % 900)
    got = getcurrent().parent.switch(value)
    after = bytearray(700 + value % 800)
    count("switches")
    count("bytes", len(before) + len(after))
    return got or 0


# Through C frames, and back into Python from there. Each calls next_() once
# or several times and adds up what it returns.
def by_sorted(next_):
    found = []
    sorted([3, 1, 2], key=lambda x: found.append(next_()) or x)
    return sum(found)


def by_reduce(next_):
    return functools.reduce(lambda a, b: a + next_(), [0, 1, 2])


def by_map(next_):
    return sum(list(map(lambda _: next_(), range(2))))


def by_sub(next_):
    found = []
    re.sub("[ab]", lambda m: found.append(next_()) or "x", "a-b")
    return sum(found)


def by_cmp(next_):
    found = []
    sorted([2, 1], key=functools.cmp_to_key(
        lambda a, b: found.append(next_()) or a - b))
    return sum(found)


class Counted:
    def __init__(self, next_):
        self.next_ = next_

    def __eq__(self, other):
        self.next_()
        return False

    def __hash__(self):
        return 7

    def __getitem__(self, index):
        if index > 1:
            raise IndexError
        return self.next_()


def by_eq(next_):
    return [Counted(next_), Counted(next_)].count(0)


def by_iteration(next_):
    return sum(Counted(next_))


WAYS = (by_sorted, by_reduce, by_map, by_sub, by_cmp, by_eq, by_iteration)


def descend(depth, way, value):
    if depth == 0:
        return pause(value)
    block = bytearray(520 + depth)
    below = WAYS[way % len(WAYS)](lambda: descend(depth - 1, way + 1, value))
    count("frames")
    return below + len(block) % 2


def drain(green, value):
    """Switches to it until it is done; how often it came back."""
    times = 0
    while not green.dead:
        value = green.switch(value or 0)
        times += 1
    count("drained", times)
    return value


def round_robin():
    """Many at different depths, switched in an order that is not theirs."""
    greens = [greenlet(lambda n, d=depth: descend(d, d, n))
              for depth in (0, 1, 2, 3, 4, 1, 2, 3)]
    order = 1
    for green in greens:
        green.switch(order)
    alive = list(greens)
    while alive:
        order = (order * 75 + 74) % 65537
        green = alive[order % len(alive)]
        green.switch(order % 3)
        if green.dead:
            alive.remove(green)
            count("finished")


def nested(depth):
    """A greenlet that makes a greenlet, each a few C frames further in."""
    if depth == 0:
        return sum(bytearray(b"x" * 900)) % 10

    def inside():
        return functools.reduce(lambda a, b: nested(depth - 1), [0, 1])

    green = greenlet(inside)
    result = green.switch()
    count("nested")
    return result + 1


class Stop(Exception):
    pass


def thrown():
    def body(n):
        try:
            return descend(3, n, n)
        except Stop as stop:
            count("stopped")
            # Once more, from inside the handler.
            pause(5)
            return str(stop)
        finally:
            count("finally")

    for n in range(40):
        green = greenlet(body)
        green.switch(n)
        for _ in range(n % 3):
            green.switch(0)
        result = green.throw(Stop("number %d" % n))
        count("after_throw", result)
        result = green.switch(0)
        log.append(result)


def killed():
    def body(n):
        try:
            descend(4, n, n)
        except GreenletExit:
            count("killed")
            raise
        finally:
            bytearray(3000)
            count("cleaned")

    for n in range(40):
        green = greenlet(body)
        green.switch(n)
        if n % 2:
            green.throw()               # GreenletExit
        else:
            del green                   # collected: killed as well
    # In a cycle: found by the collector, which runs in a C frame of its own.
    for n in range(20):
        green = greenlet(body)
        cycle = [green]
        cycle.append(cycle)
        green.switch(n)
        del green, cycle
        if n % 5 == 4:
            gc.collect()
    gc.collect()


def error_inside():
    def body():
        by_map(lambda: by_sub(lambda: 1 // 0))

    for _ in range(20):
        try:
            greenlet(body).switch()
        except ZeroDivisionError:
            count("errors")


def in_threads():
    """Each thread has greenlets of its own; some are left unfinished."""
    def run(number):
        greens = [greenlet(lambda n, d=depth: descend(d, d + number, n))
                  for depth in (1, 2, 3)]
        for green in greens:
            green.switch(number)
        drain(greens[0], 0)
        drain(greens[2], 0)
        threads_done.append(number)

    threads_done = []
    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
        thread.join()
    count("threads", len(threads_done))


def main():
    for depth in range(6):
        for way in range(len(WAYS)):
            drain(greenlet(lambda n, d=depth, w=way: descend(d, w, n)), way)
    for _ in range(20):
        round_robin()
    count("result", nested(30))
    thrown()
    killed()
    error_inside()
    in_threads()
    for key in sorted(counts):
        print(key, counts[key])
    print(len(log), log[-1])
    sys.stdout.flush()


main()
