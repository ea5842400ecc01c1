"""Random traces for comparisons: invented small programs with difficult cases
for pairing, peaks and sums. A trace is a function of its seed."""

import random

from brute_model import (ALLOC, BEGIN, DONE, FAILED, FREE, FREED, UNSEEN,
                         STEPS_MAX, Control, Event, Thread, Trace)

NESTED = 2              # of a thread's flags: its second ring
FIRST_ID = 16           # of contexts
CUT = 12                # the parent of frames around which some are missing
PLACES = 7              # addresses at which blocks lie
CODE = [0x1000 * i + 0x10 for i in range(1, 7)]     # return addresses
FUNCTIONS = [(0x1000, 0x800, "one"), (0x2000, 0x1800, "two"),
             (0x4000, 0x800, "one")]
LIBRARIES = [(0x5000, 0x1000, "liba.so"), (0x6000, 0x1000, "libb.so")]
SIZES = [0, 1, 8, 16, 16, 24, 100, 100, 127, 128, 4096, 1 << 20,
         (1 << 32) - 1, 1 << 32, 1 << 40]
# as the format numbers them
CONTROLS = {"start": 1, "stop": 2, "clear": 3}


class Ring:
    """A thread's way to the recorder, as long as the thread uses it."""

    def __init__(self, number, generation, thread, lane):
        self.number, self.generation = number, generation
        self.thread, self.lane = thread, lane
        self.stamp = thread.start
        self.realloc = None     # (address, size, context) that has begun
        self.count = 0


class Program:
    def __init__(self, seed, sample=False, controls=False, cut=False,
                 complete=False):
        self.random = random.Random(seed)
        r = self.random
        self.trace = Trace(
            window=r.choice([0, 0, 2, 20]),
            sample=r.choice([1, 40, 1000, 1 << 20]) if sample else 0,
            partial=r.random() < 0.15)
        self.complete = complete            # nothing is lost or too late
        self.skew = 0 if complete else r.choice([0, 0, 2, 5])
        self.pace = r.choice([2, 10, 10, 300])
        if cut:                     # some stacks lack their outer frames
            self.trace.cut = set(r.sample(CODE, 3))
            self.trace.contexts = {CUT: ()}
        self.places = [0x5000 + 0x40 * i
                       for i in range(r.randint(2, PLACES))]
        self.sizes = r.sample(SIZES, r.randint(1, 4))
        self.with_controls = controls
        self.now = r.choice([0, 5, 1000]) + self.skew
        self.live = {}          # address -> size: what the program has
        self.rings, self.next_tid, self.script = [], 100, []
        self.used = {}          # ring -> generations so far
        self.run()

    # ---- what the script says ----

    def say(self, *words):
        self.script.append(" ".join(map(str, words)))

    def head(self):
        self.say("new")
        self.say("info", "pid", 1)
        self.say("info", "window_ticks", self.trace.window)
        if self.trace.sample:
            self.say("info", "sample", self.trace.sample)
        if self.trace.partial:
            self.say("info", "partial", 1)

    def contexts(self):
        """A tree; now and then two ids for one and the same."""
        r, contexts = self.random, self.trace.contexts
        self.trace.functions = FUNCTIONS[:r.randint(0, len(FUNCTIONS))]
        for start, size, name in self.trace.functions:
            self.say("function", start, size, name)
        self.trace.libraries = LIBRARIES[:r.randint(0, len(LIBRARIES))]
        for i, (start, size, name) in enumerate(self.trace.libraries):
            self.say("library", i, start, size, "/none/" + name)
        root = next(iter(contexts))
        for i in range(FIRST_ID, FIRST_ID + r.randint(1, 8)):
            parent = r.choice([root] + list(contexts))
            if len(contexts[parent]) > 4:
                parent = root
            frame = r.choice(CODE), 0
            if not self.trace.library(frame):
                frame = frame[0], i     # code may have been made anew
            contexts[i] = (frame, *contexts[parent])
            if not contexts[parent]:
                parent = CUT if self.trace.is_cut(contexts[i]) else 0
            self.say("node", i, parent, frame[0])

    # ---- threads ----

    def start(self, ring, tid=None):
        thread = Thread(len(self.trace.threads), tid or self.next_tid,
                        self.now)
        self.next_tid += tid is None
        self.trace.threads.append(thread)
        self.use(ring, thread, 0)

    def use(self, ring, thread, flags):
        generation = self.used.get(ring, -1) + 1
        self.used[ring] = generation
        self.rings.append(Ring(ring, generation, thread,
                               (thread.number, flags)))
        self.say("thread", ring, thread.tid, flags, thread.start, "t")

    def end(self, ring):
        """Its ring, and sometimes its number, are the next one's."""
        gone = [other for other in self.rings
                if other.thread is ring.thread]
        for other in gone:
            self.say("end", other.number, self.now)
            self.rings.remove(other)
        self.now += 1 + 2 * self.skew
        self.start(ring.number, self.random.choice([None, ring.thread.tid]))

    # ---- events ----

    def event(self, ring, kind, address, size=0, context=0):
        stamp = max(ring.stamp, self.now +
                    self.random.randint(-self.skew, self.skew))
        ring.stamp = stamp
        self.trace.events.append(Event(
            stamp, ring.number, ring.generation, ring.count, ring.lane,
            ring.thread, kind, address, size, context))
        ring.count += 1
        if kind in (ALLOC, DONE):
            self.say(kind, ring.number, stamp, address, size, context)
        elif kind == UNSEEN:
            self.say(kind, ring.number, stamp, size)
        else:
            self.say(kind, ring.number, stamp, address, context)

    def context(self):
        return self.random.choice(list(self.trace.contexts))

    def free_place(self):
        places = [place for place in self.places if place not in self.live]
        return self.random.choice(places) if places else None

    def allocate(self, ring):
        place = self.free_place()
        if not self.complete and self.random.random() < 0.04:
            # a free was lost
            place = self.random.choice(self.places)
        if place is None:
            return
        size = self.live[place] = self.random.choice(self.sizes)
        self.event(ring, ALLOC, place, size, self.context())

    def free(self, ring):
        if self.complete and not self.live:
            return
        if self.live and (self.complete or self.random.random() < 0.93):
            place = self.random.choice(list(self.live))
            del self.live[place]
        else:                               # an allocation was lost
            place = self.random.choice(self.places)
            self.live.pop(place, None)
        self.event(ring, FREE, place)

    def begin(self, ring):
        if not self.live and (self.complete or self.random.random() < 0.8):
            return
        place = self.random.choice(list(self.live) or self.places)
        size = self.live.pop(place, 0)
        if self.complete or self.random.random() < 0.97:    # else: lost
            self.event(ring, BEGIN, place)
        ring.realloc = place, size, self.context()
        if self.random.random() < 0.6:
            self.close(ring)

    def close(self, ring):
        """The realloc ends: most in place, or at another one."""
        place, size, context = ring.realloc
        ring.realloc = None
        how, r = self.random.random(), self.random
        if how < 0.05 and not self.with_controls and not self.complete:
            return                          # siglongjmp
        if how < 0.15:
            self.live.setdefault(place, size)
            self.event(ring, FAILED, place)
        elif how < 0.25:
            self.event(ring, FREED, place)
        else:
            to = place if how < 0.6 and place not in self.live else \
                self.free_place()
            if to is None:
                self.live.setdefault(place, size)
                self.event(ring, FAILED, place)
                return
            self.live[to] = r.choice(self.sizes)
            self.event(ring, DONE, to, self.live[to], context)

    def control(self):
        what = self.random.choice(["start", "clear", "clear", "stop"])
        if what != "clear":                 # none is between begin and done
            for ring in self.rings:
                if ring.realloc:
                    self.close(ring)
        self.now += 1 + 2 * self.skew
        self.say("sync", self.now - self.skew)
        self.trace.controls.append(Control(self.now, what))
        self.say("control", CONTROLS[what], self.now, "-")
        if what == "stop":
            self.now += self.random.randint(1, 9)
            self.trace.controls.append(Control(self.now, "start"))
            self.say("control", CONTROLS["start"], self.now, "-")

    def act(self):
        r = self.random
        ring = r.choice(self.rings)
        what = r.random()
        if ring.realloc:
            self.close(ring)
        elif what < 0.45:
            self.allocate(ring)
        elif what < 0.78:
            self.free(ring)
        elif what < 0.92:
            self.begin(ring)
        elif what < 0.94:
            self.event(ring, UNSEEN, 0, r.randint(1, 3))
        elif what < 0.96:
            self.end(ring)
        elif what < 0.98 and self.now > 2 * self.skew:
            self.say("sync", self.now - self.skew)
        elif self.with_controls:
            self.control()

    def edge_of_a_timeline(self):
        """The last event is where steps become twice as long, or before."""
        first = min(event.stamp for event in self.trace.events)
        self.now = max(self.now, first + (STEPS_MAX - self.random.randint(
            0, 1) << self.random.randint(0, 2)))
        self.free(self.rings[0])

    def run(self):
        r = self.random
        self.head()
        self.contexts()
        for ring in range(r.randint(1, 3)):
            self.start(ring)
        if r.random() < 0.3:
            self.use(9, self.rings[0].thread, NESTED)
        for _ in range(r.choice([3, 10, 40, 40, 80])):
            self.now += r.choice([0, 0, 0, 1, 1, r.randint(0, self.pace)])
            self.act()
        if r.random() < 0.15 and self.trace.events:
            self.edge_of_a_timeline()
        self.now += r.randint(1, 20) + 2 * self.skew
        self.trace.end = self.now
        self.say("sync", self.now)
