"""The programs, in the order of the document. Each table file adds its own by
batch(), or by the decorator work() where a run is more than one command."""

import shutil

catalogue = []


class Program:
    """One row of the document.

    name, group; package: Debian's, whose version is shown
    work: Place -> Outcome
    needs: the commands it calls
    least: the first level of sameness worth comparing at
    stacks: the share that has to be whole; less than usual and
    unpaired: the share of events that may lack their counterpart; more than
        none only where `note` says why
    load: what a server is under
    timed: whether its time says anything
    countable: whether it does the same work each time
    known: (pattern, what bare runs have instead, sentence) where a recorded
        run's output is known to differ, and that is no harm
    """

    def __init__(self, name, group, package, work, needs=(), least=0,
                 stacks=0.99, note="", load="", timed=True, known=None,
                 countable=True, unpaired=0):
        self.name, self.group, self.package = name, group, package
        self.work, self.needs, self.least = work, needs, least
        self.stacks, self.note, self.load = stacks, note, load
        self.unpaired = unpaired
        self.timed, self.known = timed, known
        self.countable = countable and timed and not load

    def missing(self):
        return [each for each in self.needs if not shutil.which(
            each, path="/usr/sbin:/usr/bin:/sbin:/bin")
            and not shutil.which(each)]


def batch(name, group, package, argv, prepare=None, stdin=b"", hide=(),
          user=None, env=None, **more):
    """A command that runs to its end. argv: its words, or Place -> words.
    hide: beginnings of the names of files that are no result."""
    def run(place):
        if prepare:
            prepare(place)
        words = argv(place) if callable(argv) else argv
        if user:
            place.give_to(user)
        done = place.run(words, stdin=stdin, user=user, env=env)
        done.files = place.left(hide)
        return done
    if not callable(argv):
        more.setdefault("needs", [argv[0]])
    catalogue.append(Program(name, group, package, run, **more))


def work(name, group, package, **more):
    """Decorator of a function Place -> Outcome."""
    def take(function):
        catalogue.append(Program(name, group, package, function, **more))
        return function
    return take
