"""Whether a recorded run gave what bare runs give.

Two bare runs may differ too: in times, numbers of processes, the order in
which threads print. How far is learnt from them: LEVELS in order, each hiding
more. The first at which all bare runs agree is the one at which the recorded
runs have to.
"""

import re

NUMBER = re.compile(rb"0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*")
ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?>=!]*[ -/]*[@-~]|\][^\x07\x1b]*"
                    rb"(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78A-Z])")
WORD = re.compile(rb"[A-Za-z][A-Za-z_-]+")


def as_it_is(text):
    return text


def without_numbers(text):
    return re.sub(rb"[ \t]+", b" ", NUMBER.sub(b"#", text))


def sorted_lines(text):
    return sorted(without_numbers(text).splitlines())


def words(text):
    return set(WORD.findall(ESCAPE.sub(b" ", text)))


LEVELS = [("same", as_it_is), ("same but for numbers", without_numbers),
          ("same lines", sorted_lines), ("same words", words)]
WORDS = len(LEVELS) - 1


def level_of(texts, least=0):
    """The first level at which all these agree."""
    for level in range(least, WORDS):
        seen = [LEVELS[level][1](text) for text in texts]
        if all(text == seen[0] for text in seen):
            return level
    return WORDS


def agrees(text, bare, level):
    """Whether the text is, at that level, as the bare ones are."""
    view = LEVELS[level][1]
    if level < WORDS:
        return view(text) == view(bare[0])
    always = set.intersection(*map(words, bare))
    return always <= words(text)


def difference(text, bare, level):
    """A few lines that say what differs."""
    view = LEVELS[level][1]
    if level == WORDS:
        missing = set.intersection(*map(words, bare)) - words(text)
        return "missing words: %r" % sorted(missing)[:10]
    if level == WORDS - 1:
        got, wanted = view(text), view(bare[0])
    else:
        got, wanted = (view(text).splitlines(), view(bare[0]).splitlines())
    only = [line for line in got if line not in set(wanted)]
    gone = [line for line in wanted if line not in set(got)]
    return "%d lines for %d; only recorded: %r; only bare: %r" % (
        len(got), len(wanted), only[:4], gone[:4])


class Judgement:
    """What differs (a list of sentences, empty: nothing) and the levels at
    which output and error output were compared."""

    def __init__(self, bare, recorded, least=0):
        self.differences = []
        self.bare, self.recorded, self.least = bare, recorded, least
        self.statuses()
        self.level = max(self.stream("output", "out"),
                         self.stream("error output", "err"))
        self.files()

    def statuses(self):
        wanted = {run.status for run in self.bare}
        for run in self.recorded:
            if run.status not in wanted:
                self.differences.append("status %s instead of %s" % (
                    run.status, "/".join(map(str, sorted(wanted)))))

    def stream(self, name, key):
        bare = [getattr(run, key) for run in self.bare]
        level = level_of(bare, self.least)
        for run in self.recorded:
            text = getattr(run, key)
            if not agrees(text, bare, level):
                self.differences.append("%s: %s" % (
                    name, difference(text, bare, level)))
                break
        return level

    def files(self):
        """Files that two bare runs wrote equally must be equal; of the
        others, those that were always there must be there."""
        names = set.intersection(*(set(run.files) for run in self.bare))
        for name in sorted(names):
            hashes = {run.files[name] for run in self.bare}
            for run in self.recorded:
                if name not in run.files:
                    self.differences.append("no file %s" % name)
                elif len(hashes) == 1 and run.files[name] not in hashes:
                    self.differences.append("file %s differs" % name)
        ever = set.union(*(set(run.files) for run in self.bare))
        if any(set(run.files) != ever for run in self.bare):
            return
        for run in self.recorded:
            more = sorted(set(run.files) - ever)
            if more:
                self.differences.append("more files: %s" % more[:5])
