"""The expected contents of reports, computed only from the definitions in
docs/notes/figures.md: lists of blocks, and loops over all of them at every
step. Slow, short, and independent of the C code.

    trace = Trace(window=3)             and what happened in it
    judged = Query(trace, filters, temporary=0)
    judged.groups(("thread", "size"))   {key: figures}, of any product of keys
    judged.summary(), judged.timeline(), judged.timelines(("thread",)) …
    merged([judged, …], ("function",))  of several traces
"""

import collections
import itertools
import math

TICK_NS = 10
BLOCK_ONE = 1 << 16     # of samples, whose sums have a fixed point
BYTE_ONE = 1 << 8
STEPS_MAX = 2048        # of a timeline
SAMPLE_BETWEEN = 1 << 12
END_OF_TIME = 1 << 64

# kinds of events, as in scripts for trace_script
ALLOC, FREE, BEGIN, DONE, FAILED, FREED, UNSEEN = (
    "alloc", "free", "begin", "done", "failed", "freed", "unseen")

# how blocks end
BY_FREE, BY_MOVE, LOST = "freed", "moved", "lost"

Event = collections.namedtuple(
    "Event", "stamp ring generation index lane thread kind address size "
    "context")
Thread = collections.namedtuple("Thread", "number tid start")
Control = collections.namedtuple("Control", "stamp what")


class Trace:
    """What is in the file. Contexts are tuples of frames, the innermost first:
    (return address, mark), which two contexts share only if they are one.
    Functions, of code in no file, and libraries are (start, size, name)."""

    def __init__(self, window=0, sample=0, partial=False):
        self.window, self.sample, self.partial = window, sample, partial
        self.threads, self.events, self.controls = [], [], []
        self.functions, self.libraries = [], []
        self.contexts = {0: ()}         # by id
        self.cut = None                 # outermost frames that are none:
                                        # what is around them is not known
        self.end = 0                    # tick of the last SYNC

    def is_cut(self, stack):
        return self.cut is not None and (
            not stack or stack[-1][0] in self.cut)

    def library(self, frame):
        """Its name, or None."""
        for start, size, name in self.libraries:
            if start <= frame[0] < start + size:
                return name
        return None

    def function(self, frame):
        """Its name, or None; in a library, which has no symbols, the place."""
        for start, size, name in self.libraries:
            if start <= frame[0] < start + size:
                return "%s+0x%x" % (name, frame[0] - start)
        for start, size, name in self.functions:
            if start <= frame[0] - 1 < start + size:
                return name
        return None

    def in_order(self):
        return sorted(self.events, key=lambda e: (
            e.stamp, e.ring, e.generation, e.index))


class Block:
    def __init__(self, event):
        self.address, self.size = event.address, event.size
        self.birth, self.thread = event.stamp, event.thread
        self.context = event.context
        self.moving = False             # a realloc of it is under way
        self.chain, self.position = None, 1
        self.begun = None               # step, as the next one
        self.ended = None
        self.end = None                 # stamp
        self.how = None
        self.number = None              # among its thread's allocations
        self.between = None             # other allocations up to its end


class Chain:
    """A block that was reallocated, and what became of it."""

    def __init__(self, block):
        self.first, self.blocks = block, [block]
        self.end = None                 # stamp; None: it lives


class Moving:
    """A realloc that has begun, of one lane."""

    def __init__(self, address):
        self.address = address
        self.block = None               # known, and not released yet
        self.released = False           # its address was allocated again
        self.chain = None               # then
        self.dropped = False            # nothing waits for the block


Step = collections.namedtuple("Step", "block begins at")


class Waiting:
    """An event whose counterpart has not come."""

    def __init__(self, event, kind, chain=None, known=False):
        self.event, self.kind, self.chain = event, kind, chain
        self.known = known              # a free: a block was at its address


class Story:
    """From events to blocks that begin and end, step by step."""

    def __init__(self, trace, view, view_was_known):
        self.trace, self.view = trace, view
        self.view_was_known = view_was_known
        self.live, self.waiting, self.moving = {}, [], {}
        self.blocks, self.steps = [], []
        self.unpaired = self.repaired = self.foreign = 0
        self.gap, self.off = trace.partial or trace.sample > 0, False
        self.allocated = collections.Counter()  # by thread
        self.first = None               # where a timeline begins
        self.at = None                  # stamp of the event that is taken
        self.last = 0                   # of the last one
        self.controls = sorted(trace.controls, key=lambda c: c.stamp)
        for event in trace.in_order():
            self.take(event)
        self.control(END_OF_TIME)
        for lane in list(self.moving):
            self.leave(lane, self.last, False)
        while self.waiting:
            self.give_up()
        for block in self.blocks:
            if block.how is None:
                block.end = self.last   # for what has to have some end

    def counts(self, block):
        """Not one from before the view."""
        return block.birth >= self.view

    # ---- blocks ----

    def step(self, block, begins):
        self.steps.append(Step(block, begins, self.at))
        return len(self.steps) - 1

    def birth(self, event, chain):
        block = Block(event)
        self.allocated[event.thread] += 1
        block.number = self.allocated[event.thread]
        if self.trace.sample:
            self.allocated[event.thread] += SAMPLE_BETWEEN
        self.live[event.address] = block
        self.blocks.append(block)
        block.begun = self.step(block, True)
        if chain:
            chain.blocks.append(block)
            block.chain, block.position = chain, len(chain.blocks)
        self.settle_free(event, block)

    def finish(self, block, stamp, how):
        """Returns the chain that goes on."""
        del self.live[block.address]
        block.moving = False
        block.end, block.how = stamp, how
        block.between = self.allocated[block.thread] - block.number
        block.ended = self.step(block, False)
        if not self.counts(block):
            self.foreign += how != LOST and stamp >= self.view
            return None
        if how == BY_MOVE:
            block.chain = block.chain or Chain(block)
            return block.chain
        if block.chain:
            block.chain.end = stamp
        return None

    # ---- what waits ----

    def waits(self, address, *kinds):
        for entry in self.waiting:
            if entry.event.address == address and entry.kind in kinds:
                return entry
        return None

    def unknown(self, stamp):
        if stamp < self.view:
            return
        if self.gap:
            self.foreign += 1
        else:
            self.unpaired += 1

    def odd(self, stamp):
        self.unpaired += stamp >= self.view

    def give_up(self):
        entry = self.waiting.pop(0)
        event = entry.event
        if entry.kind != ALLOC:
            self.unknown(event.stamp)
            return
        self.odd(event.stamp)
        block = self.live.get(event.address)
        if block and not block.moving:
            self.finish(block, event.stamp, LOST)
        self.allocate(event, entry.chain)

    def is_of(self, entry, event):
        """In a gap, a free that came before an allocation at its address may
        be of an earlier block there, which nobody knew."""
        early = entry.event
        return not self.gap or entry.known or early.stamp > event.stamp or (
            early.stamp == event.stamp and early.lane != event.lane)

    def settle_free(self, event, block):
        """A free, or the begin of a realloc, may wait for this block."""
        while True:
            entry = self.waits(event.address, FREE, BEGIN)
            if not entry:
                return
            self.waiting.remove(entry)
            if self.is_of(entry, event):
                break
            self.unknown(entry.event.stamp)
        self.repaired += 1
        if entry.kind == FREE:
            self.finish(block, entry.event.stamp, BY_FREE)
            return
        moving = self.moving.get(entry.event.lane)
        if moving and not moving.block and not moving.released and \
                moving.address == event.address:
            moving.block, block.moving = block, True

    # ---- events ----

    def take(self, event):
        while self.waiting and (self.waiting[0].event.stamp +
                                self.trace.window < event.stamp):
            self.give_up()
        self.control(event.stamp)
        self.at, self.last = event.stamp, max(self.last, event.stamp)
        if self.first is None:
            self.first = event.stamp
        if event.kind == UNSEEN:
            self.allocated[event.thread] += event.size
        elif self.off:
            pass
        elif event.kind == ALLOC:
            self.allocate(event, None)
        elif event.kind == FREE:
            self.free(event)
        elif event.kind == BEGIN:
            self.begin(event)
        elif event.kind == DONE:
            chain = self.close(event, BY_MOVE)
            self.allocate(event, chain)
        elif event.kind == FREED:
            chain = self.close(event, BY_FREE)
            if chain:
                chain.end = event.stamp
        else:
            self.failed(event)

    def allocate(self, event, chain):
        block = self.live.get(event.address)
        if not block:
            self.birth(event, chain)
        elif not block.moving:
            self.waiting.append(Waiting(event, ALLOC, chain))
        else:
            # the realloc has freed it already, but not said so yet
            moving = next(m for m in self.moving.values() if m.block is block)
            moving.block, moving.released = None, True
            moving.chain = self.finish(block, event.stamp, BY_MOVE)
            self.allocate(event, chain)

    def free(self, event):
        block = self.live.get(event.address)
        if block and not block.moving:
            self.finish(block, event.stamp, BY_FREE)
            self.settle_allocation(event.address)
        elif not block and self.gap:
            self.unknown(event.stamp)
        else:
            self.waiting.append(Waiting(event, FREE, known=bool(block)))

    def settle_allocation(self, address):
        entry = self.waits(address, ALLOC)
        if entry:
            self.waiting.remove(entry)
            self.repaired += 1
            self.allocate(entry.event, entry.chain)

    def begin(self, event):
        if event.lane in self.moving:
            self.odd(event.stamp)
            self.leave(event.lane, event.stamp)
        moving = self.moving[event.lane] = Moving(event.address)
        block = self.live.get(event.address)
        if block and not block.moving:
            moving.block, block.moving = block, True
        elif not block and self.gap:
            moving.dropped = True
        else:
            self.waiting.append(Waiting(event, BEGIN, known=bool(block)))

    def close(self, event, how):
        moving = self.moving.pop(event.lane, None)
        if not moving or moving.dropped:
            self.unknown(event.stamp)
            return None
        if moving.released:
            return moving.chain
        if moving.block:
            return self.finish(moving.block, event.stamp, how)
        entry = self.waits(moving.address, BEGIN)
        if entry:                       # go on waiting, as a free
            self.waiting.remove(entry)
            self.waiting.append(Waiting(
                entry.event._replace(lane=event.lane), FREE,
                known=entry.known))
        return None

    def leave(self, lane, stamp, forget=True):
        """The realloc has changed nothing, as far as is known."""
        moving = self.moving.pop(lane)
        if moving.chain:
            moving.chain.end = stamp
        if moving.block:
            moving.block.moving = False
        elif not moving.released and forget:
            entry = self.waits(moving.address, BEGIN)
            if entry:
                self.waiting.remove(entry)

    def failed(self, event):
        if event.lane in self.moving:
            self.leave(event.lane, event.stamp)
        elif not self.gap:
            self.odd(event.stamp)

    # ---- START, STOP, CLEAR ----

    def control(self, stamp):
        while self.controls and self.controls[0].stamp <= stamp:
            control = self.controls.pop(0)
            if control.what == "stop":
                self.off = True
                continue
            if control.what not in ("start", "clear"):
                continue
            if control.stamp == self.view:
                self.unpaired = self.repaired = self.foreign = 0
            if not self.view_was_known:
                self.first = None
            if control.what == "clear":
                continue
            for block in list(self.live.values()):
                self.finish(block, control.stamp, LOST)
            self.waiting, self.moving = [], {}
            self.off, self.gap = False, True


# ---- figures ----

class Figures(dict):
    """Of a set of blocks, by the names that JSON has."""


def whole(total, one):
    """A sum in fixed point as a whole number, to the nearest."""
    return (total + one // 2) // one


def innermost(say):
    """(whether there is no frame, what is said of the innermost one)"""
    def key(trace, block):
        stack = trace.contexts[block.context]
        return not stack, say(trace, stack[0]) if stack else None
    return key


# exclusive keys: of a block
KEYS = {
    "stack": lambda trace, block: trace.contexts[block.context],
    "site": innermost(lambda trace, frame: trace.function(frame) or frame[0]),
    "function": innermost(Trace.function),
    # no file is known here: then it is the library
    "file": innermost(Trace.library),
    "library": innermost(Trace.library),
    "thread": lambda trace, block: (block.thread.tid,
                                    TICK_NS * block.thread.start),
    "size": lambda trace, block: block.size if block.size < (1 << 32) - 1
    else None,
    "size-class": lambda trace, block: block.size.bit_length(),
    "lifetime-class": lambda trace, block: "lost" if block.how == LOST else
    "live" if block.how is None else
    (TICK_NS * max(block.end - block.birth, 0)).bit_length(),
}
# inclusive keys: of a frame. No file is known here: then it is the library
WITHIN = {"within-function": Trace.function, "within-file": Trace.library,
          "within-library": Trace.library}
# what a context falls apart by, so that parts are rounded one by one
SPLITS = ("thread", "size", "size-class", "lifetime-class")


def number(text):
    return int(text.removesuffix("ns"))


class Query:
    """filters: (word, text) as on the command line, without the dashes."""

    def __init__(self, trace, filters=(), temporary=0):
        self.trace, self.most_between = trace, temporary
        self.words = collections.defaultdict(list)
        for word, text in filters:
            self.words[word].append(text)
        self.stacks = [word for word in self.words if word in STACK_WORDS]
        by_block = [word for word in self.words if word not in STACK_WORDS]
        self.moment = "alive-at" in self.words
        stamps = [control.stamp for control in trace.controls
                  if control.what in ("start", "clear") and
                  control.stamp <= self.until()]
        self.story = Story(trace, max(stamps, default=0), bool(by_block))
        self.counted = [block for block in self.story.blocks
                        if self.story.counts(block)]
        self.selected = [block for block in self.counted if self.keeps(block)]
        if any(word.startswith("group-") for word in self.stacks):
            self.by_context = collections.defaultdict(list)
            for block in self.selected:
                self.by_context[trace.contexts[block.context]].append(block)
        self.kept = [block for block in self.selected
                     if self.judge_stack(block) is True]
        self.peak_step, self.peak_stamp = self.peak(self.counted)

    # ---- time ----

    def duration_ns(self):
        return TICK_NS * max(self.trace.end, max(
            (event.stamp for event in self.trace.events), default=0))

    def stamp(self, text):
        """The first that is not before a moment."""
        if text == "start":
            return 0
        if text.endswith("%"):
            ns = int(float(self.duration_ns()) * (float(text[:-1]) / 100))
        else:
            ns = number(text)
        return -(-ns // TICK_NS)

    def birth_range(self):
        begin = min(map(self.stamp, self.words["from"]), default=0)
        end = max(map(self.stamp, self.words["to"]), default=None)
        if end == 0:
            return 1, 0
        return begin, END_OF_TIME if end is None else end - 1

    def until(self):
        """Beginnings behind the moments that were asked for are none."""
        moments = list(map(self.stamp, self.words["alive-at"] +
                           self.words["alive-at-2"]))
        if self.words["from"]:
            moments.append(self.birth_range()[0])
        if self.words["to"]:
            moments.append(self.birth_range()[1])
        return min(moments, default=END_OF_TIME)

    # ---- which blocks ----

    def within(self, low, high, value):
        return (not self.words[low] or
                value >= min(map(number, self.words[low]))) and (
                not self.words[high] or
                value <= max(map(number, self.words[high])))

    def is_temporary(self, block):
        return block.how in (BY_FREE, BY_MOVE) and \
            block.between <= self.most_between

    def lifetime(self, block):
        """In ticks; of one that lives, until the last event."""
        return max(block.end - block.birth, 0)

    def was_alive(self, word, block):
        return not self.words[word] or any(
            block.birth <= at and (block.how is None or block.end > at)
            for at in map(self.stamp, self.words[word]))

    def chain_of(self, block):
        """(length, place in it, first size, last size, lifetime in ticks,
        whether it lives)"""
        chain = block.chain
        if not chain:
            return (1, 1, block.size, block.size, self.lifetime(block),
                    block.how is None)
        first, last = chain.first, chain.blocks[-1]
        lives = last.how is None
        end = self.story.last if lives else chain.end
        return (len(chain.blocks), block.position, first.size, last.size,
                max((end or 0) - first.birth, 0), lives)

    def is_fated(self, block, chain_lives):
        fates = self.words["fate"]
        return not fates or any((
            "live" in fates and block.how is None,
            "freed" in fates and block.how is not None,
            "temporary" in fates and self.is_temporary(block),
            "chain-live" in fates and chain_lives,
            "group-live" in fates and any(
                other.how is None and self.trace.contexts[other.context] ==
                self.trace.contexts[block.context]
                for other in self.counted)))

    def keeps(self, block):
        low, high = self.birth_range()
        length, place, first, last, chain_lifetime, lives = \
            self.chain_of(block)
        threads = list(map(number, self.words["thread"]))
        return (low <= block.birth <= high and
                (not threads or block.thread.tid in threads) and
                self.within("size-min", "size-max", block.size) and
                self.within("address-min", "address-max", block.address) and
                self.within("lifetime-min", "lifetime-max",
                            TICK_NS * self.lifetime(block)) and
                self.within("chain-length-min", "chain-length-max",
                            length) and
                self.within("chain-position-min", "chain-position-max",
                            place) and
                self.within("first-size-min", "first-size-max", first) and
                self.within("last-size-min", "last-size-max", last) and
                self.within("chain-lifetime-min", "chain-lifetime-max",
                            TICK_NS * chain_lifetime) and
                self.was_alive("alive-at", block) and
                self.was_alive("alive-at-2", block) and
                self.is_fated(block, lives))

    def judge_stack(self, block):
        """Whether it passes; None: with more frames around it, it might."""
        stack = self.trace.contexts[block.context]
        names = list(map(self.trace.function, stack))
        if self.stacks and any(word.startswith("group-")
                               for word in self.stacks):
            group = self.by_context[stack]
            live = [other for other in group
                    if self.moment or other.how is None]
            if not self.within("group-count-min", "group-count-max",
                               self.count(group)) or \
                    not self.within("group-live-min", "group-live-max",
                                    self.count(live)):
                return False
        grows = [all_or(self.words["function"], names),
                 all_or(self.words["passes-through"], names[1:]),
                 all_or(self.words["library"],
                        map(self.trace.library, stack)),
                 self.within("depth-min", "", len(stack))]
        if (self.words["not-function"] and
                all_or(self.words["not-function"], names)) or \
                not self.within("", "depth-max", len(stack)):
            return False
        return True if all(grows) else \
            None if self.trace.is_cut(stack) else False

    # ---- sums ----

    def weight(self, size):
        """(blocks, bytes) that a block stands for, in fixed point."""
        mean = self.trace.sample
        if not mean:
            return BLOCK_ONE, size * BYTE_ONE
        weight = -1 / math.expm1(-float(max(size, 1)) / mean)
        return (int(weight * BLOCK_ONE + 0.5),
                int(weight * float(size) * BYTE_ONE + 0.5))

    def count(self, blocks):
        return whole(sum(self.weight(block.size)[0] for block in blocks),
                     BLOCK_ONE)

    def bytes(self, blocks):
        return whole(sum(self.weight(block.size)[1] for block in blocks),
                     BYTE_ONE)

    def held(self, blocks, step):
        """Those that live behind a step."""
        return [block for block in blocks if block.begun <= step and
                (block.ended is None or block.ended > step)]

    def peak(self, blocks):
        """The first step after which they hold the most bytes, and its
        stamp; (None, 0) where they never hold any."""
        most, step, stamp = 0, None, 0
        for block in blocks:
            now = sum(self.weight(other.size)[1]
                      for other in self.held(blocks, block.begun))
            if now > most:
                most, step, stamp = now, block.begun, block.birth
        return step, stamp

    def freed(self, blocks):
        return [block for block in blocks if block.how in (BY_FREE, BY_MOVE)]

    def live(self, blocks):
        return [block for block in blocks
                if self.moment or block.how is None]

    def ticks(self, blocks):
        """The sum of their lifetimes."""
        return sum(self.lifetime(block) * self.weight(block.size)[0]
                   for block in blocks) / BLOCK_ONE

    def mean_ns(self, blocks):
        count = self.count(blocks)
        return int(self.ticks(blocks) * TICK_NS / count) if count else 0

    def part(self, blocks):
        """Of blocks of one context."""
        freed, live = self.freed(blocks), self.live(blocks)
        peak = [] if self.peak_step is None else \
            self.held(blocks, self.peak_step)
        return Figures(
            count=self.count(blocks), total_bytes=self.bytes(blocks),
            frees=self.count(freed),
            temporary=self.count(filter(self.is_temporary, blocks)),
            live_blocks=self.count(live), live_bytes=self.bytes(live),
            peak_blocks=self.count(peak), peak_bytes=self.bytes(peak),
            ticks=self.ticks(freed),
            first_ns=TICK_NS * blocks[0].birth,
            last_ns=TICK_NS * blocks[-1].birth)

    def parts(self, blocks, by=()):
        """Those of each context, and of each of its parts, apart."""
        parts = collections.defaultdict(list)
        for block in blocks:
            parts[(KEYS["stack"](self.trace, block), *(
                KEYS[key](self.trace, block) for key in by
                if key in SPLITS))].append(block)
        return list(parts.values())

    def figures(self, blocks, by=()):
        """Of any set. In a sample, sums of whole numbers."""
        return sum_up(map(self.part, self.parts(blocks, by)),
                      self.duration_ns())

    def own_peak(self, blocks):
        step, stamp = self.peak(blocks)
        held = [] if step is None else self.held(blocks, step)
        return Figures(own_peak_bytes=self.bytes(held),
                       own_peak_blocks=self.count(held),
                       own_peak_time_ns=TICK_NS * stamp)

    # ---- answers ----

    def partition(self, by):
        """{key: blocks}, of a product of exclusive keys."""
        groups = collections.defaultdict(list)
        for block in self.kept:
            groups[tuple(KEYS[key](self.trace, block)
                         for key in by)].append(block)
        return groups

    def groups(self, by):
        return {key: Figures(self.figures(blocks, by),
                             **self.own_peak(blocks))
                for key, blocks in self.partition(by).items()}

    def overlapping(self, by):
        """{key: figures} of products in which one key is said of every frame
        of a stack: a block is in as many of these sets as it has values of
        that. No own peaks."""
        groups = collections.defaultdict(list)
        for block in self.kept:
            stack = self.trace.contexts[block.context]
            for key in set(itertools.product(*(
                    {WITHIN[key](self.trace, frame) for frame in stack}
                    if key in WITHIN else [KEYS[key](self.trace, block)]
                    for key in by))):
                groups[key].append(block)
        by = [key for key in by if key in KEYS]
        return {key: self.figures(blocks, by)
                for key, blocks in groups.items()}

    def inclusive(self):
        """{function: figures} of all that was allocated in it and in what it
        called."""
        return {name: figures for (name,), figures in
                self.overlapping(("within-function",)).items()}

    def summary(self, by=()):
        figures = self.figures(self.kept, by)
        return Figures(
            allocations=figures["count"], frees=figures["frees"],
            total_bytes=figures["total_bytes"],
            live_bytes=figures["live_bytes"],
            live_blocks=figures["live_blocks"],
            peak_bytes=figures["peak_bytes"],
            peak_blocks=figures["peak_blocks"],
            peak_time_ns=TICK_NS * self.peak_stamp,
            temporary=figures["temporary"],
            unpaired=self.story.unpaired, repaired=self.story.repaired,
            foreign_frees=self.story.foreign,
            duration_ns=self.duration_ns(),
            threads=len(self.trace.threads),
            contexts=len({self.trace.contexts[block.context]
                          for block in self.kept}),
            view_start_ns=TICK_NS * self.story.view)

    # ---- how much it is about ----

    def amount(self, blocks, by=None):
        """As a sum over contexts and keys; without, as one number."""
        live = self.live(blocks)
        figures = by is not None and self.figures(blocks, by)
        amount = collections.Counter(
            allocations=figures["count"], bytes=figures["total_bytes"],
            live_blocks=figures["live_blocks"],
            live_bytes=figures["live_bytes"]) if figures else \
            collections.Counter(
                allocations=self.count(blocks), bytes=self.bytes(blocks),
                live_blocks=self.count(live), live_bytes=self.bytes(live))
        if self.moment:                 # live means another one
            del amount["live_blocks"], amount["live_bytes"]
        return amount

    def coverage(self, by=()):
        judged = {True: [], False: [], None: []}
        for block in self.selected:
            judged[self.judge_stack(block)].append(block)
        left = self.amount(self.counted)
        left.subtract(self.amount(self.selected))
        parts = {"selected": self.amount(judged[True], by),
                 "not_selected": left,
                 "undecidable": self.amount(judged[None], by)}
        left.update(self.amount(judged[False], by))
        whole = collections.Counter()
        for part in parts.values():
            whole.update(part)
        return dict(
            parts, whole=whole, lost={
                "events": 0, "places": 0, "bytes": 0,
                "ends": self.count(block for block in self.counted
                                   if block.how == LOST)},
            unpaired=self.story.unpaired, foreign_frees=self.story.foreign,
            ungrouped=0, estimated=self.trace.sample > 0)

    def blocks(self):
        """Each that is live, as (address, size, tid, stack, birth in ns)."""
        return sorted((block.address, block.size, block.thread.tid,
                       tuple(frame[0] for frame in
                             self.trace.contexts[block.context]),
                       TICK_NS * block.birth)
                      for block in self.live(self.kept))

    def sizes(self):
        """By powers of two: [(least size, figures)]."""
        classes = collections.defaultdict(list)
        for block in self.kept:
            classes[block.size.bit_length()].append(block)
        return [Figures(
            min=1 << bits - 1 if bits else 0, count=self.count(blocks),
            total_bytes=self.bytes(blocks), frees=self.count(
                self.freed(blocks)),
            temporary=self.count(filter(self.is_temporary, blocks)),
            live_blocks=self.count(self.live(blocks)),
            live_bytes=self.bytes(self.live(blocks)),
            lifetime_ns=self.mean_ns(self.freed(blocks)))
            for bits, blocks in sorted(classes.items())]

    def lifetimes(self):
        classes = collections.defaultdict(list)
        for block in self.freed(self.kept):
            classes[(TICK_NS * self.lifetime(block)).bit_length()].append(
                block)
        return [Figures(min_ns=1 << bits - 1 if bits else 0,
                        blocks=self.count(blocks), bytes=self.bytes(blocks))
                for bits, blocks in sorted(classes.items())]

    def chains(self):
        """Of all that began with a block that is kept."""
        chains = {block.chain for block in self.kept if block.chain and
                  block.chain.first is block}
        told = [chain for chain in chains if len(chain.blocks) > 1 and (
            chain.end is not None or chain.blocks[-1].how is None)]
        first = [chain.blocks[0].size for chain in told]
        last = [chain.blocks[-1].size for chain in told]
        lengths = [len(chain.blocks) for chain in told]
        ticks = sum(self.chain_of(chain.first)[4] for chain in told)
        return Figures(
            count=len(told), live=sum(chain.blocks[-1].how is None
                                      for chain in told),
            blocks=sum(lengths), longest=max(lengths, default=0),
            first_bytes=sum(first), last_bytes=sum(last),
            largest_bytes=max(last, default=0),
            lifetime_ns=int(TICK_NS * (ticks / len(told)) if told else 0))

    # ---- over time ----

    def scale(self):
        """(where it begins, shift, number of steps)"""
        first, last, shift = self.story.first, self.story.at, 0
        if first is None:
            return 0, 0, 0
        while (last - first) >> shift >= STEPS_MAX:
            shift += 1
        return first, shift, ((last - first) >> shift) + 1

    def timeline(self, blocks=None):
        """(step in ns, [figures of each step])"""
        first, shift, count = self.scale()
        mine = set(self.kept if blocks is None else blocks)
        inside = collections.defaultdict(list)
        for index, step in enumerate(self.story.steps):
            if step.block in mine:
                inside[(step.at - first) >> shift].append((index, step))
        rows, held = [], []
        for row in range(count):
            if rows and row not in inside:
                rows.append(self.quiet(rows[-1], shift))
                continue
            states = [held] + [self.held(mine, index)
                               for index, _ in inside[row]]
            held = states[-1]
            born = [step.block for _, step in inside[row] if step.begins]
            gone = [step.block for _, step in inside[row] if not step.begins]
            rows.append(Figures(
                time_ns=TICK_NS * (first + (row << shift)),
                live_bytes=self.bytes(held), live_blocks=self.count(held),
                live_bytes_max=max(map(self.bytes, states)),
                live_blocks_max=max(map(self.count, states)),
                allocations=self.count(born),
                allocated_bytes=self.bytes(born),
                frees=self.count(self.freed(gone)),
                freed_bytes=self.bytes(gone),
                temporary=self.count(filter(self.is_temporary, gone))))
        return TICK_NS << shift, rows

    @staticmethod
    def quiet(before, shift):
        """A step in which nothing happens."""
        return Figures(
            before, time_ns=before["time_ns"] + (TICK_NS << shift),
            live_bytes_max=before["live_bytes"],
            live_blocks_max=before["live_blocks"], allocations=0,
            allocated_bytes=0, frees=0, freed_bytes=0, temporary=0)

    def timelines(self, by):
        return {key: self.timeline(blocks)
                for key, blocks in self.partition(by).items()}


def sum_up(parts, end_ns):
    """Of figures with whole numbers, but for the sum of lifetimes."""
    parts = list(parts)
    result = Figures((key, sum(part[key] for part in parts)) for key in (
        "count", "total_bytes", "frees", "temporary", "live_blocks",
        "live_bytes", "peak_blocks", "peak_bytes"))
    ticks = sum(part["ticks"] for part in parts)
    result["first_ns"] = min((part["first_ns"] for part in parts), default=0)
    result["last_ns"] = max((part["last_ns"] for part in parts), default=0)
    result["lifetime_ns"] = int(ticks * TICK_NS / result["frees"]
                                if result["frees"] else 0)
    result["age_ns"] = max(end_ns - result["first_ns"], 0) if parts else 0
    return result


def merged(queries, by):
    """{key: figures} of several traces: sums, each with the peak and the times
    of its own trace; own peaks are bounds."""
    groups = collections.defaultdict(list)
    for query in queries:
        for key, blocks in query.partition(by).items():
            groups[key] += [(query, part) for part in query.parts(blocks)]
    end_ns = max(query.duration_ns() for query in queries)
    result = {}
    for key, parts in groups.items():
        peaks = [query.own_peak(blocks) for query, blocks in parts]
        result[key] = Figures(
            sum_up((query.part(blocks) for query, blocks in parts), end_ns),
            own_peak_bytes=sum(one["own_peak_bytes"] for one in peaks),
            own_peak_blocks=sum(one["own_peak_blocks"] for one in peaks))
    return result


STACK_WORDS = ("function", "library", "not-function", "passes-through",
               "depth-min", "depth-max", "group-count-min",
               "group-count-max", "group-live-min", "group-live-max")


def all_or(wanted, names):
    """Any of them is there, or none is wanted; "^name$" alone is known."""
    names = set(names)
    return not wanted or any(text.strip("^$") in names for text in wanted)
